"""What `cross_zone_reads` says about replicas in the zone of a reader: no more than Metadata and the rows do."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import dataset
from zone_stories import Tables, reading, replicated

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


def of_two_topics() -> Tables:
    """All partitions of one topic have a replica there, and no partition of the other."""
    tables = replicated("a,b", "a,b", megabytes=4)
    other = {**tables["topic_ids"][0], "topic_id": "o", "topic": "other", "racks": "b", "whole_racks": "b"}
    entries = [{**row, "topic": "other"} if number == 0 else row for number, row in enumerate(tables["entries"])]
    return tables | {"entries": entries, "topic_ids": [*tables["topic_ids"], other]}


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (replicated("a,b", "a,b"), "where each partition of these topics has a replica"),
        (
            replicated("a,b", "b"),
            "where some partitions of these topics have a replica (whether those that it reads do is not known)",
        ),
        (of_two_topics(), "where some of these topics have replicas"),
        (replicated(None, None), "which has brokers (whether they have a replica is not known)"),
        (reading(rack=""), "which has brokers (whether they have a replica is not known)"),
    ],
)
def test_no_more_is_said_than_is_known(tables: Tables, words: str, tmp_path: Path) -> None:
    with dataset(tmp_path, tables) as made:
        (found,) = find(made, [rule("cross_zone_reads")])
    assert found.row["replicas"] == words
