"""Whether a client that goes on asking a broker that leads no more has old metadata, or is given metadata that do not help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from finding_stories import PRODUCE, at, failing, from_two_hosts, many
from made_rows import connection, dataset, error, exchange
from pace import at_most

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

METADATA = {"api_key": 3, "api_name": "Metadata", "kind": None, "acks": None}


NOTHING = "for 19.5 s (40 times)"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (0, ": its metadata stays out of date"),
        (2, ": its metadata stays out of date"),
        (6, ", and was given metadata 6 times meanwhile"),  # as behind a proxy that leads to another broker
    ],
)
def test_metadata_that_was_asked_for_is_not_old(asked: int, says: str, tmp_path: Path) -> None:
    story = failing(6, many(40, 20, **PRODUCE), topic="t", partition=0)
    story["exchanges"] += many(asked, 18, first=100, **METADATA)
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("leader_loop")])
    assert sentence(found.rule.says, found.row).endswith(says)


@pytest.mark.parametrize(
    ("of_another", "says"),
    [
        ({"client_address": "10.0.0.2"}, ": its metadata stays out of date"),  # another process of that name
        ({"connection": 2, "broker_address": "10.0.9.9"}, NOTHING),  # this one, in another cluster
    ],
)
def test_metadata_of_others_is_not_counted(of_another: dict[str, Any], says: str, tmp_path: Path) -> None:
    story = failing(6, many(40, 20, **PRODUCE), topic="t", partition=0)
    story["exchanges"] += many(6, 18, first=100, **METADATA, **of_another)
    story["connections"] = [connection(1, cluster="c"), connection(2, cluster="d", broker_address="10.0.9.9")]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("leader_loop")])
    assert sentence(found.rule.says, found.row).endswith(says)


def test_of_two_processes_of_one_name_neither_is_judged(tmp_path: Path) -> None:
    rows = from_two_hosts(many(40, 20, **PRODUCE))
    with dataset(tmp_path, failing(6, rows, topic="t", partition=0)) as made:
        (found,) = find(made, [rule("leader_loop")])
    assert sentence(found.rule.says, found.row).endswith(NOTHING)


def test_many_partitions_and_much_metadata_are_not_compared_one_with_all(tmp_path: Path) -> None:
    """Two refusals of each of 40,000 partitions, and as many replies to Metadata: to look at every pair takes half a minute."""
    count = 40_000
    rows = [exchange(n, at_ns=at(11 * n), error_count=count, error_code=6, **PRODUCE) for n in range(2)]
    refused = {"name": "NOT_LEADER_OR_FOLLOWER", "topic": "t"}
    errors = [error(n, 6, partition=partition, **refused) for n in range(2) for partition in range(count)]
    story = {
        "exchanges": rows + many(count, 11, first=100, **METADATA),
        "errors": errors,
        "connections": [connection(1)],
    }
    with dataset(tmp_path, story) as made, at_most(16):
        assert find(made, [rule("leader_loop")])
