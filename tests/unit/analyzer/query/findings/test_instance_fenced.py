"""Who is said to have thrown a static member out of its group, and with which group.instance.id."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import dataset
from member_stories import Tables, one_instance

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


@pytest.mark.parametrize(
    ("story", "severity", "told"),
    [
        (
            one_instance("mailer-1"),
            "medium",
            "mailer-1 was thrown out of group g, once: mailer-2 joined with its group.instance.id (mate-1)",
        ),
        (
            one_instance("mailer-1", "mailer-1", "mailer-1"),
            "high",
            "mailer-1 was thrown out of group g, 3 times: mailer-2 joined with its group.instance.id (mate-1)",
        ),
        (
            one_instance("mailer-1", "mailer-2", "mailer-1"),
            "high",
            "mailer-1 and mailer-2 throw each other out of group g, 3 times: 2 processes have one group.instance.id (mate-1)",
        ),
        # Who joined has an id of its own, or is not told apart: two processes of a host may have one name.
        (
            one_instance("mailer-1", took="mate-2"),
            "medium",
            "mailer-1 was thrown out of group g, once: another process joined with its group.instance.id (mate-1)",
        ),
        (
            one_instance("mailer-1", taken_by="mailer-1"),
            "medium",
            "mailer-1 was thrown out of group g, once: another process joined with its group.instance.id (mate-1)",
        ),
    ],
)
def test_who_took_the_place_of_whom(story: Tables, severity: str, told: str, tmp_path: Path) -> None:
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("instance_fenced")])
    assert (found.severity, sentence(found.rule.says, found.row)) == (severity, told)


def test_each_of_several_members_has_its_own_finding(tmp_path: Path) -> None:
    """Where two ids were taken, and who was refused was not seen to join, nobody is named."""
    story = one_instance("mailer-1", took="mate-2")
    story["group_events"] = [row | {"client_id": f"new-{row['instance_id']}"} for row in story["group_events"]]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("instance_fenced")])
    assert (found.row["taken_by"], found.row["instance_id"]) == (None, None)
