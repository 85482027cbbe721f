"""A broker that refused connections while it started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from finding_stories import Tables, at, refused
from made_rows import connection, dataset, exchange

from analyzer.query.findings import rule
from analyzer.query.run_findings import find

FOLLOWS = {"role": "follower", "client_address": "10.0.1.1", "broker_address": "10.0.1.2", "seen_from": "syn"}


def refused_later(*links: dict[str, Any]) -> Tables:
    """A broker that answers a client first, and refuses one 5 s into the capture; beside it these connections."""
    story = refused(None)
    story["connections"][0]["replies"] = 1
    story["connections"][1] |= {"first_time_ns": at(5), "last_time_ns": at(5)}
    story["connections"] += [connection(3 + n, **({"replies": 9} | link)) for n, link in enumerate(links)]
    story["exchanges"].append(exchange(3, at_ns=at(10)))
    return story


@pytest.mark.parametrize(
    ("asked_s", "link", "severity"),
    [
        (9, {}, "info"),
        (3, {}, "medium"),  # before it refused one
        (9, {"role": "client"}, "medium"),  # a client on the same machine
        (9, {"seen_from": "midstream"}, "medium"),  # when it connected is not known
        (9, {"replies": 0}, "medium"),
    ],
)
def test_a_broker_that_asks_others_afterwards_is_back(
    asked_s: float, link: dict[str, Any], severity: str, tmp_path: Path
) -> None:
    story = refused_later(FOLLOWS | {"first_time_ns": at(asked_s)} | link)
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("refused_connections")])
    assert found.row["severity"] == severity


def test_of_two_brokers_at_an_address_nobody_knows_which_is_back(tmp_path: Path) -> None:
    story = refused_later(FOLLOWS | {"first_time_ns": at(9)}, {"broker_port": 9093})
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("refused_connections")])
    assert found.row["severity"] == "medium"
