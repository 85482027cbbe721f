"""The kind of an exchange as the stage tells it, by the words of the project's semantics; Fetch: test_resolve.py."""

from __future__ import annotations

import pytest
from stage_kinds import KEYS, kind

from analyzer.base import wait_kinds
from analyzer.ingest import raw_tables
from dissectors import layout


@pytest.mark.parametrize(
    ("name", "columns", "expected"),
    [
        ("Produce", {"acks": -1}, "produce_acks_all"),
        ("Produce", {"acks": 1}, "produce_acks_1"),
        ("Produce", {"acks": 0}, "produce_acks_0"),
        ("Produce", {"acks": 2}, "produce_acks_unknown"),
        ("Produce", {}, "produce_acks_unknown"),
        # acks was cut off, but no reply is to come.
        ("Produce", {"status": layout.STATUS_NO_REPLY_EXPECTED}, "produce_acks_0"),
        ("JoinGroup", {"error_code": 0}, "join_wait"),
        ("JoinGroup", {}, "join_wait"),
        ("JoinGroup", {"error_code": 79}, None),
        ("SyncGroup", {}, "sync_wait"),
        ("CreateTopics", {}, "wait"),
        ("DeleteTopics", {}, "wait"),
        ("DeleteRecords", {}, "wait"),
        ("ElectLeaders", {}, "wait"),
        ("BrokerHeartbeat", {}, "wait"),
        ("Envelope", {}, "forwarded"),
        ("Metadata", {"error_code": 3}, None),
        ("ShareFetch", {"error_code": 122}, "fetch_session"),
        ("ShareFetch", {"error_code": 58}, "fetch_error"),
        ("ShareFetch", {}, "fetch_unknown"),
    ],
)
def test_each_kind(name: str, columns: dict[str, int], expected: str | None) -> None:
    assert kind(KEYS[name], **columns) == expected


def test_a_token_has_no_key_and_an_orphan_nothing() -> None:
    assert kind(layout.UNKNOWN, token=1) == "sasl_token"
    assert kind(layout.UNKNOWN, token=0, status=layout.STATUS_ORPHAN_REPLY) is None


def test_the_report_knows_each_kind() -> None:
    numbers = {name: value for name, value in vars(layout).items() if name.startswith("KIND_")}
    assert sorted(numbers.values()) == list(range(len(raw_tables.WAIT_KINDS)))
    assert all(raw_tables.WAIT_KINDS[number] == name.removeprefix("KIND_").lower() for name, number in numbers.items())
    assert set(raw_tables.WAIT_KINDS) <= set(wait_kinds.KINDS)
