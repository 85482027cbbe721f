"""Who is said to have thrown a static member out of its group, and with which group.instance.id."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import dataset
from member_stories import Tables, one_instance

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


def told(story: Tables, folder: Path) -> tuple[str, str]:
    with dataset(folder, story) as made:
        (found,) = find(made, [rule("instance_fenced")])
    return found.severity, sentence(found.rule.says, found.row)


@pytest.mark.parametrize(
    ("story", "severity", "said"),
    [
        (
            one_instance("mailer-1"),
            "medium",
            "mailer-1 was thrown out of group g, once: mailer-2 joined with its group.instance.id (mate-1)",
        ),
        (
            one_instance("mailer-1", "mailer-1", "mailer-1"),
            "medium",
            "mailer-1 was thrown out of group g, 3 times: mailer-2 joined with its group.instance.id (mate-1)",
        ),
        (
            one_instance("mailer-1", "mailer-2", "mailer-1"),
            "high",
            "mailer-1 and mailer-2 throw each other out of group g, 3 times: both have one group.instance.id (mate-1)",
        ),
        # One release after the other.
        (
            one_instance("mailer-1", "mailer-3"),
            "medium",
            "mailer-1 and 1 other were thrown out of group g, twice: other processes joined with their group.instance.id (mate-1)",
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
def test_who_took_the_place_of_whom(story: Tables, severity: str, said: str, tmp_path: Path) -> None:
    assert told(story, tmp_path) == (severity, said)


def test_two_processes_of_one_name_have_their_addresses(tmp_path: Path) -> None:
    """Java names a static member by its group and id, so both have the same client id."""
    story = one_instance("mailer-1", taken_by="mailer-1")
    for row in story["group_events"]:
        if row["exchange"] == 100:
            row["client_address"] = "10.0.0.2"
    _, said = told(story, tmp_path)
    assert said.startswith("mailer-1 at 10.0.0.1 was thrown out of group g, once: mailer-1 at 10.0.0.2 joined with its")


def test_requests_of_one_member_are_one_time(tmp_path: Path) -> None:
    story = one_instance("mailer-1", "mailer-1", "mailer-1")
    for row in story["group_events"]:
        if row["error_code"]:
            row["member_id"] = "m"
    _, said = told(story, tmp_path)
    assert "thrown out of group g, once: " in said


@pytest.mark.parametrize("api", ["LeaveGroup", "TxnOffsetCommit"])
def test_a_tool_or_a_producer_is_no_member(api: str, tmp_path: Path) -> None:
    story = one_instance("mailer-1")
    for row in story["exchanges"]:
        if row.get("error_code"):
            row["api_name"] = api
    with dataset(tmp_path, story) as made:
        assert find(made, [rule("instance_fenced")]) == []
