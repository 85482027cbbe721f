"""What a cause costs others does not stand before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from finding_stories import failing, many, queued
from hold_out_stories import MS_NS
from impact_stories import asking
from incident_stories import gone
from made_rows import SECOND_NS, START_NS, capture, connection, dataset, error, exchange
from member_stories import crashing, given_again, waiting_to_join

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.finding_rows import as_object

CAPTURES = [capture(last_time_ns=START_NS + 400 * SECOND_NS)]


def test_who_is_turned_away_from_a_full_group_is_why_its_members_wait(tmp_path: Path) -> None:
    asked = [
        exchange(n, at_ns=START_NS + (50 + n // 10) * SECOND_NS, api_key=11, api_name="JoinGroup", group_id="g")
        for n in range(10, 50)
    ]
    story = waiting_to_join(11, ("range", "range"))
    away = {"cluster": "c", "group_id": "g", "group_type": "classic", "event": "join", "error_code": 81}
    news = [away | {"exchange": 10, "connection": 1, "begin_ns": asked[0]["request_time_ns"]}]
    story |= {"exchanges": story["exchanges"] + asked, "group_events": story["group_events"] + news}
    refused = [error(row["exchange"], 81, name="GROUP_MAX_SIZE_REACHED", expected=False) for row in asked]
    with dataset(tmp_path, story | {"errors": refused}) as made:
        (found,) = find(made, [rule("failing"), rule("stuck_member")])
    assert found.rule.name == "failing" and [each.rule.name for each in found.symptoms] == ["stuck_member"]


def test_a_restart_is_felt_where_a_client_looked_for_the_broker_all_the_while(tmp_path: Path) -> None:
    """Back after 40 s: another broker is asked for metadata from then on, until then or until after it."""
    told = []
    for seconds in (38, 60):
        story = gone(3, back_s=40)
        asked = {"connection": 3, "broker_port": 9093}
        story["exchanges"] += [
            exchange(100 + n, at_ns=START_NS + (4 + n) * SECOND_NS // 2, **asked) for n in range(2 * seconds)
        ]
        story["connections"].append(connection(3, broker_port=9093))
        with dataset(tmp_path / str(seconds), story | {"captures": CAPTURES}) as made:
            told += [each.severity for each in find(made, [rule("broker_gone")])]
    assert told == ["medium", "info"]


@pytest.mark.parametrize(("replies", "severity"), [(1, "info"), (2, "info"), (3, "medium")])
def test_a_reply_that_names_many_partitions_without_a_leader_tells_so_once(
    replies: int, severity: str, tmp_path: Path
) -> None:
    """Metadata of all topics, while their broker is restarted: nobody may use them."""
    story = gone(3, back_s=30)
    asked = {"connection": 3, "broker_port": 9093}
    story["exchanges"] += [
        exchange(100 + n, at_ns=START_NS + (6 + n) * SECOND_NS // 2, **asked) for n in range(replies)
    ]
    story["connections"].append(connection(3, broker_port=9093))
    errors = [
        error(100 + n, 5, name="LEADER_NOT_AVAILABLE", topic=f"t-{place}") for n in range(replies) for place in range(5)
    ]
    with dataset(tmp_path, story | {"errors": errors, "captures": CAPTURES}) as made:
        (found,) = find(made, [rule("broker_gone")])
    assert found.severity == severity


def test_a_topic_that_fails_often_when_nothing_starts_is_missing(tmp_path: Path) -> None:
    with dataset(tmp_path, failing(3, many(20, 5), topic="t")) as made:
        (found,) = find(made, [rule("missing_topic")])
    assert found.row["times"] == 20


def test_a_client_that_starts_asks_for_many_things_at_once(tmp_path: Path) -> None:
    told = []
    for seconds in (9, 3):
        story = queued(60 * MS_NS, 110 * MS_NS)
        head = {"api_key": 10, "api_name": "FindCoordinator", "kind": None, "queue_ns": 0, "latency_ns": 500 * MS_NS}
        rows = many(40, seconds, latency_ns=110 * MS_NS, queue_ns=100 * MS_NS, api_key=0, api_name="Produce")
        story["exchanges"] = [exchange(100, at_ns=START_NS, **head), *rows]
        with dataset(tmp_path / str(seconds), story | {"captures": CAPTURES}) as made:
            told += [each.severity for each in find(made, [rule("head_of_line")])]
    assert told == ["medium", "info"]


@pytest.mark.parametrize(
    ("reply", "may_be_quota"),
    [
        ({"response_decoded": "truncated", "throttle_time_ms": None}, True),
        ({"response_decoded": "truncated"}, False),  # the throttle time is before what was cut
        ({"throttle_time_ms": None}, False),  # of an old version
    ],
)
def test_where_throttle_times_are_cut_a_quota_may_make_requests_wait(
    tmp_path: Path, reply: dict[str, Any], may_be_quota: bool
) -> None:
    story = queued(4000 * MS_NS, 5000 * MS_NS)
    story["exchanges"] = [row | reply for row in story["exchanges"]]
    with dataset(tmp_path, story | {"captures": CAPTURES}) as made:
        (found,) = find(made, [rule("head_of_line")])
    assert ("quota" in as_object(found)["sentence"]) == may_be_quota


@pytest.mark.parametrize(
    ("count", "seconds", "decoded", "told"),
    [
        (100, 25, "truncated", [("asks_in_vain", "medium", ["metadata_storm"])]),
        (100, 25, "full", [("metadata_storm", "medium", []), ("asks_in_vain", "info", [])]),  # it has what it asked for
        (12, 25, "truncated", [("asks_in_vain", "info", [])]),
        (100, 250, "truncated", [("asks_in_vain", "info", [])]),  # as something does that watches a cluster
    ],
)
def test_who_asks_all_the_time_and_gets_no_further_is_told_as_that(
    tmp_path: Path, count: int, seconds: int, decoded: str, told: list[tuple[str, str, list[str]]]
) -> None:
    with dataset(tmp_path, asking(count, seconds, response_decoded=decoded) | {"captures": CAPTURES}) as made:
        found = find(made, [rule("metadata_storm"), rule("asks_in_vain")])
    assert [(each.rule.name, each.severity, [symptom.rule.name for symptom in each.symptoms]) for each in found] == told


def test_who_asks_for_a_topic_that_does_not_exist_asks_in_vain_for_that(tmp_path: Path) -> None:
    with dataset(tmp_path, failing(3, many(40, 70), topic="t") | {"captures": CAPTURES}) as made:
        (found,) = find(made, [rule("missing_topic"), rule("asks_in_vain")])
    assert (found.rule.name, [each.rule.name for each in found.symptoms]) == ("missing_topic", ["asks_in_vain"])


@pytest.mark.parametrize("lives", [4, 7])
def test_who_begins_anew_joins_again_once_less_than_it_joins(tmp_path: Path, lives: int) -> None:
    with dataset(tmp_path, crashing(lives, leaves=True)) as made:
        (found,) = find(made, [rule("restarting_member")])
    assert found.row["times"] == lives - 1


@pytest.mark.parametrize(("records", "severity"), [(1, "info"), (9, "info"), (10, "medium")])
def test_what_code_cannot_process_is_no_group_that_falls_behind(tmp_path: Path, records: int, severity: str) -> None:
    """Records that are given for the fourth time, and with them 50 for the second time."""
    story = given_again([2, 3, 4])
    *_, last = story["group_events"]
    story["group_events"] += [last | {"delivery_count": 2}]
    last["redelivered"] = records
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("share_redelivered")])
    assert (found.severity, found.row["most"]) == (severity, 4)


def test_who_waits_at_another_broker_while_one_is_gone_waits_for_it(tmp_path: Path) -> None:
    """A leader waits for the follower that is gone: no cause of its own is told."""
    story, other = gone(3), {"connection": 3, "broker_port": 9093, "api_key": 0, "api_name": "Produce"}
    story["exchanges"] += [
        exchange(
            100 + n, at_ns=START_NS + 3 * SECOND_NS + n, latency_ns=8 * SECOND_NS, kind="produce_acks_all", **other
        )
        for n in range(3)
    ]
    story["connections"].append(connection(3, broker_port=9093))
    with dataset(tmp_path, story | {"captures": CAPTURES}) as made:
        (found,) = find(made, [rule("broker_gone"), rule("slow_requests")])
    assert found.rule.name == "broker_gone" and [each.rule.name for each in found.symptoms] == ["slow_requests"]
