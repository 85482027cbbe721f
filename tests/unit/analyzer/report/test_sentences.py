"""Findings as sentences."""

from __future__ import annotations

import pytest

from analyzer.query.findings import rule
from analyzer.report.sentences import sentence


@pytest.mark.parametrize(("who", "begins"), [("10.0.0.1", "10.0.0.1 gets"), ("till-1", "10.0.0.1 (till-1) gets")])
def test_the_address_of_a_client_without_an_id_is_said_once(who: str, begins: str) -> None:
    says = rule("advertised_unreachable").says
    row = dict.fromkeys(("clients", "more", "times", "own_host", "asked_again", "told_by"))
    told = sentence(says, row | {"who": who, "client_address": "10.0.0.1", "advertised": "10.99.0.1:9092"})
    assert told == f"{begins} the advertised address 10.99.0.1:9092"
