"""Whether a client that goes on asking a broker that leads no more has old metadata, or is given metadata that do not help."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import PRODUCE, failing, many
from made_rows import dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

METADATA = {"api_key": 3, "api_name": "Metadata", "kind": None, "acks": None}


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
