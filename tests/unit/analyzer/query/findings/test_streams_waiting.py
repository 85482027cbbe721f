"""What keeps a streams group from its work, by what its coordinator says."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import dataset
from member_stories import kept_from_work

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

STALE, MISSING = "STALE_TOPOLOGY", "MISSING_SOURCE_TOPICS"


@pytest.mark.parametrize(
    ("said", "severity", "begins"),
    [
        (MISSING, "medium", "streams group g does not do its work: its coordinator says MISSING_SOURCE_TOPICS"),
        (STALE, "info", "streams group g has members of an older version: its coordinator says STALE_TOPOLOGY"),
        (f"{STALE}, {MISSING}", "medium", "streams group g does not do its work: its coordinator says STALE_TOPOLOGY"),
    ],
)
def test_members_of_an_older_version_work_on(tmp_path: Path, said: str, severity: str, begins: str) -> None:
    with dataset(tmp_path, kept_from_work([0, 5, 10, 15], said)) as made:
        (found,) = find(made, [rule("streams_waiting")])
    assert found.severity == severity
    assert sentence(found.rule.says, found.row).startswith(begins)


def test_what_lasts_is_told_and_not_what_was_over_at_once(tmp_path: Path) -> None:
    with dataset(tmp_path, kept_from_work([0, 5, 40, 45, 50, 55])) as made:
        (found,) = find(made, [rule("streams_waiting")])
    assert found.row["last_time_ns"] - found.row["first_time_ns"] == 15 * 10**9
    assert found.row["weight"] == 4
