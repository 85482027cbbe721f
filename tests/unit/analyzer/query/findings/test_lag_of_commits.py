"""Consumers that fetch far ahead of their work: their lag is in what they commit, as `kafka-consumer-groups.sh` counts it."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import committing
from made_rows import SECOND_NS, START_NS, connection, dataset
from pace import at_most

from analyzer.base.filters import Filters
from analyzer.query.findings import rule
from analyzer.query.run_findings import find, find_all
from analyzer.report.facts import Facts
from analyzer.report.sections import groups
from analyzer.report.sentences import sentence

ENDS = [2000, 4000, 6000, 8000, 10_000]


def test_a_consumer_that_works_slower_than_it_fetches_falls_behind(tmp_path: Path) -> None:
    with dataset(tmp_path, committing([0, 200, 400, 600, 800], ENDS)) as found:
        (told,) = find(found, [rule("lag_growing")])
        (lag,) = found.metric("lag")
        (group,) = found.metric("groups")
        (*_, line) = (line.plain for line in groups.table(Facts(found), 120, None))
    assert (lag["lag"], lag["committed_offset"], lag["committed_lag"], group["committed_lag"]) == (0, 800, 9200, 9200)
    assert "0 / 9,200" in line
    said = sentence(told.rule.says, told.row)
    assert "falls behind on topic t: the lag of what it commits grew to 9,200 records in 15.0 s (1 partition)" in said
    assert told.row["advice"].startswith(
        "It fetched these records ahead and has not worked on them, or does not commit"
    )


def test_another_group_of_clients_of_this_name_is_apart(tmp_path: Path) -> None:
    """As of one host whose programs keep the client id of their library, or behind one address."""
    slow, fast = committing([0, 200, 400, 600, 800], ENDS), committing([1800, 3800, 5800, 7800, 9800], ENDS)
    commits = [row | {"group_id": "h"} for row in fast["exchanges"] if row["exchange"] >= 100]
    for row in (*commits, *fast["entries"]):
        row["exchange"] += 100
    for row in commits:
        row["request_time_ns"] += SECOND_NS
    story = slow | {"exchanges": slow["exchanges"] + commits, "entries": slow["entries"] + fast["entries"]}
    with dataset(tmp_path, story) as found:
        (told,) = find(found, [rule("lag_growing")])
    assert (told.row["last_lag"], told.row["partitions"]) == (9200, 1)


@pytest.mark.parametrize(
    ("committed", "ends"),
    [
        ([0, 2000, 4000, 6000, 8000], ENDS),  # as fast as it comes, in small steps
        ([0, 0, 4000, 4000, 8000], ENDS),  # and in large ones
        ([0, 3000, 5000, 7000, 9000], [8000, 10_000, 12_000, 14_000, 16_000]),  # behind by always as much
        ([0, 1500, 2600, 3700, 4800], ENDS),  # behind by more each time, and by less than it works on
        (
            [10_000, 20_000, 20_100, 20_200, 20_300],
            [0, 10_000, 20_000, 20_100, 20_450],
        ),  # all, and less comes than before
    ],
)
def test_who_keeps_up_with_what_comes_is_not_told(committed: list[int], ends: list[int], tmp_path: Path) -> None:
    """The commits go on to the end of the capture, where 10 s would tell it."""
    with dataset(tmp_path, committing(committed, ends)) as found:
        assert find(found, [rule("lag_growing")]) == []
        assert found.metric("groups")[0]["committed_lag"] >= 100


@pytest.mark.parametrize(
    ("hosts", "reader", "told"),
    [
        (["10.0.1.1"], "another", 1),
        (["10.0.1.1", "10.0.1.2"], "another", 0),
        (["10.0.1.1", "10.0.1.2"], None, 1),  # the client that commits reads them itself
    ],
)
def test_where_no_cluster_is_known_one_broker_or_one_client_tells(
    hosts: list[str], reader: str | None, told: int, tmp_path: Path
) -> None:
    """Two may be of two clusters, with a topic of this name each: the end of one says nothing of the other. A client has one."""
    story = committing([0, 200, 400, 600, 800], ENDS)
    for row in story["fetch_positions"]:
        row["cluster"] = None
    for row in story["exchanges"]:
        if reader and row["api_name"] == "Fetch":
            row["client_id"] = reader
    links = [connection(n, broker_address=host) for n, host in enumerate(hosts, 1)]
    with dataset(tmp_path, story | {"connections": links}) as found:
        assert len(find(found, [rule("lag_growing")])) == told


@pytest.mark.parametrize("code", [25, 27])
def test_a_refused_commit_does_not_count(tmp_path: Path, code: int) -> None:
    story = committing([0, 200, 400, 600, 800], ENDS)
    refused = {"exchange": 104, "connection": 1, "side": "response", "code": code, "topic": "t", "partition": 0}
    with dataset(tmp_path, story | {"errors": [refused]}) as found:
        (lag,) = found.metric("lag")
    assert (lag["committed_offset"], lag["commits"]) == (600, 4)


def test_a_storm_of_commits_is_the_cause_of_what_it_delays(tmp_path: Path) -> None:
    """One commit for each record, 20/s, where 400/s come."""
    with dataset(tmp_path, committing(list(range(400)), [20 * n for n in range(400)], 0.05)) as found:
        storm = next(each for each in find_all(found) if each.rule.name == "commit_storm")
    assert [each.rule.name for each in storm.symptoms] == ["lag_growing"]


def test_commits_of_one_of_many_partitions_each_cost_little(tmp_path: Path) -> None:
    story, many, parts = committing([0, 200, 400, 600, 800], ENDS), 20_000, 1_600
    commit = next(row for row in story["exchanges"] if row["exchange"] == 100)
    commits = [
        commit | {"exchange": 1000 + n, "request_time_ns": commit["request_time_ns"] + 40 * SECOND_NS * n // many}
        for n in range(many)
    ]
    said = [
        story["entries"][0] | {"exchange": 1000 + n, "partition": n % parts, "offset": n * 800 // many}
        for n in range(many)
    ]
    read = [row | {"partition": part} for row in story["fetch_positions"] for part in range(parts)]
    asked = [row for row in story["exchanges"] if row["exchange"] < 100]
    tables = story | {"exchanges": asked + commits, "entries": said, "fetch_positions": read}
    with dataset(tmp_path, tables) as found, at_most(2):
        (told,) = find(found, [rule("lag_growing")])
    assert told.row["partitions"] == parts


def test_what_is_committed_after_the_time_that_was_asked_for_does_not_count(tmp_path: Path) -> None:
    asked = Filters(from_ns=START_NS, to_ns=START_NS + 12 * SECOND_NS)
    with dataset(tmp_path, committing([0, 200, 400, 600, 9800], ENDS), filters=asked) as found:
        (lag,) = found.metric("lag")
    assert (lag["committed_offset"], lag["committed_lag"], lag["commits"]) == (400, 5600, 3)
