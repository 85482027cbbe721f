"""Consumers that fetch far ahead of their work: their lag is in what they commit, as `kafka-consumer-groups.sh` counts it."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import committing
from made_rows import dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
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
    assert "falls behind on topic t: the lag of what it commits grew to 9,200 records in 30.0 s (1 partition)" in said
    assert told.row["advice"].startswith(
        "It fetched these records ahead and has not worked on them, or does not commit"
    )


@pytest.mark.parametrize("code", [25, 27])
def test_a_refused_commit_does_not_count(tmp_path: Path, code: int) -> None:
    story = committing([0, 200, 400, 600, 800], ENDS)
    refused = {"exchange": 104, "connection": 1, "side": "response", "code": code, "topic": "t", "partition": 0}
    with dataset(tmp_path, story | {"errors": [refused]}) as found:
        (lag,) = found.metric("lag")
    assert (lag["committed_offset"], lag["commits"]) == (600, 4)
