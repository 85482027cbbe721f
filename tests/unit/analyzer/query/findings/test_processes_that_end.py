"""What is said of processes that end and begin again, by what their connections show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from finding_stories import at
from hold_out_stories import coming_and_going
from incident_stories import left
from made_rows import connection, dataset, exchange
from member_stories import crashing, waiting_to_join
from thread_stories import given_up

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(
    ("beside", "is_patience"),
    [
        ({}, False),  # a connection without a request in flight ends with each
        ({"close_time_ns": at(100)}, True),
        ({"client_id": "another"}, True),
        ({"closed_by": "broker"}, True),
        ({"first_time_ns": at(90)}, True),  # by the process that comes after
    ],
)
def test_whose_connections_all_end_has_not_given_up(beside: dict[str, Any], is_patience: bool, tmp_path: Path) -> None:
    story = given_up([10.0, 10.1, 9.9])
    client_id = beside.get("client_id", "app")
    for n, link in enumerate(story["connections"][:3]):
        other = {key: link[key] for key in ("close", "closed_by", "close_time_ns", "last_time_ns")}
        other |= {"first_time_ns": at(-1)} | {key: value for key, value in beside.items() if key != "client_id"}
        story["connections"].append(connection(50 + n, **other))
        story["exchanges"].append(exchange(50 + n, connection=50 + n, at_ns=at(-1), client_id=client_id))
    with dataset(tmp_path, story) as made:
        assert bool(find(made, [rule("gives_up")])) == is_patience


@pytest.mark.parametrize(
    ("lives", "asked", "severity"),
    [
        (5, {}, "medium"),
        (4, {}, "info"),
        (5, {"api_key": 13, "api_name": "LeaveGroup"}, "info"),  # what was in it was cut off
    ],
)
def test_who_restarts_and_never_leaves_is_in_trouble(
    lives: int, asked: dict[str, Any], severity: str, tmp_path: Path
) -> None:
    story = crashing(lives)
    for row in story["group_events"]:
        row["member_id"] = None  # of a capture that is cut short
    story["exchanges"].append(exchange(90, **({"connection": 1, "at_ns": at(9)} | asked)))
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("restarting_member")])
    assert (found.severity, found.row["times"]) == (severity, lives - 1)


@pytest.mark.parametrize(
    ("apart_s", "each", "severity"),
    [
        (5, None, "medium"),
        (60, None, "info"),  # a job that begins each minute
        (5, "another instance", None),
    ],
)
def test_a_static_member_that_comes_back_at_once_each_time_is_in_trouble(
    apart_s: int, each: str | None, severity: str | None, tmp_path: Path
) -> None:
    """It leaves without a word by design, and keeps its name."""
    story = crashing(5)
    for row in story["group_events"]:
        moment = at(row["connection"] * apart_s) + row["begin_ns"] - at(5 * row["connection"])
        row |= {"instance_id": f"mail-{row['connection'] if each else 0}", "begin_ns": moment, "time_ns": moment}
    for link in story["connections"]:
        link["last_time_ns"] = at(link["connection"] * apart_s + 4.8)
    with dataset(tmp_path, story) as made:
        found = find(made, [rule("restarting_member"), rule("member_crashes")])
    assert [(each.rule.name, each.severity) for each in found] == [("restarting_member", severity)] * bool(severity)


def test_a_static_member_of_a_newer_group_would_say_that_it_leaves(tmp_path: Path) -> None:
    story = crashing(4, newer="full")
    story["group_events"] = [row | {"instance_id": "mail-0"} for row in story["group_events"]]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("member_crashes")])
    assert found.row["times"] == 3


def test_a_late_reply_does_not_make_a_life_longer(tmp_path: Path) -> None:
    """The broker answers a JoinGroup of a process that was killed when the next two have joined."""
    story = crashing(5)
    for n, link in enumerate(story["connections"]):
        link |= {"closed_by": "client", "close_time_ns": at(5 * n + 4.8), "last_time_ns": at(5 * n + 12)}
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("restarting_member")])
    assert found.row["times"] == 4


def test_whose_connections_the_broker_ends_is_the_same_process(tmp_path: Path) -> None:
    """As with a JoinGroup of a version that the broker cannot read."""
    story = crashing(5)
    for n, link in enumerate(story["connections"]):
        link |= {"closed_by": "broker", "close_time_ns": at(5 * n + 4.8)}
    with dataset(tmp_path, story) as made:
        assert not find(made, [rule("restarting_member")])


@pytest.mark.parametrize(
    ("told", "fires"),
    [
        ({}, True),
        ({"sent_generation": 3}, False),  # it was a member already
        ({"member_id": "app-0"}, False),
        ({"group_type": "classic"}, False),
    ],
)
def test_the_first_heartbeat_of_a_newer_member_is_its_join_where_packets_are_cut(
    told: dict[str, Any], fires: bool, tmp_path: Path
) -> None:
    story = crashing(4, newer="truncated")
    for row in story["group_events"]:
        row |= {"event": "heartbeat"} | told
    with dataset(tmp_path, story) as made:
        found = find(made, [rule("restarting_member")])
    assert [(each.row["times"], each.severity) for each in found] == [(3, "info")] * fires


@pytest.mark.parametrize(
    ("ended", "status", "is_cause"), [(3, "closed", True), (2, "closed", False), (3, "abandoned", False)]
)
def test_a_group_waits_for_members_that_ended_while_they_waited(
    ended: int, status: str, is_cause: bool, tmp_path: Path
) -> None:
    """Each is killed before its JoinGroup is answered, and the others wait until the sessions of all have run out."""
    story, waits = crashing(4), waiting_to_join(59, ("range",))
    for row in story["group_events"]:
        row["member_id"] = None  # of a capture that is cut short
    for link in story["connections"]:
        link |= {"cluster": "c", "closed_by": "client", "close_time_ns": link["last_time_ns"]}
    asked = {"api_key": 11, "api_name": "JoinGroup", "group_id": "g", "status": status}
    lost = [exchange(50 + n, connection=n, at_ns=at(5 * n + 3), **asked) for n in range(ended)]
    waiting = {"exchange": 90, "connection": 80}
    together = {
        "captures": waits["captures"],
        "exchanges": story["exchanges"] + lost + [row | waiting for row in waits["exchanges"]],
        "group_events": story["group_events"] + [row | waiting for row in waits["group_events"]],
        "connections": [*story["connections"], connection(80, cluster="c")],
    }
    with dataset(tmp_path, together) as made:
        found = find(made, [rule("restarting_member"), rule("stuck_member")])
    told = [(each.rule.name, [symptom.rule.name for symptom in each.symptoms]) for each in found]
    cause = [("restarting_member", ["stuck_member"])]
    assert told == (cause if is_cause else [("stuck_member", []), ("restarting_member", [])])


@pytest.mark.parametrize(
    ("reason", "fires"),
    [("consumer poll timeout has expired.", True), ("the consumer is being closed", False), (None, False)],
)
def test_who_joined_before_the_capture_says_itself_why_it_leaves(
    reason: str | None, fires: bool, tmp_path: Path
) -> None:
    story = left(6, 6.5, reason=reason, rebalance_timeout_ms=None)
    story["group_events"] = [row for row in story["group_events"] if row["event"] == "leave"]
    with dataset(tmp_path, story) as made:
        found = find(made, [rule("poll_gap")])
    assert [(each.row["times"], each.row["interval_ms"]) for each in found] == [(1, None)] * fires


def test_members_that_come_and_go_are_apart_by_their_joins(tmp_path: Path) -> None:
    """Not by the time until the last one left, divided by them."""
    with dataset(tmp_path, coming_and_going(5, apart_s=6)) as made:
        (found,) = find(made, [rule("unsteady_member")])
    assert found.row["apart_ns"] == 6 * 10**9
