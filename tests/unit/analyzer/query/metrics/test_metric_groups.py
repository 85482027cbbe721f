"""Groups: rebalances against the broker's own log of the lab's groups, rules that the lab does not show against made rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import broker_log
import pytest
from made_rows import START_NS, Rows, connection, dataset, exchange

MS = 1_000_000
# What the lab's clients did, as its log has it: group, epochs, cause, who, members that came and went.
CLASSIC = [
    ("shop-eager", 1, 1, "joined", "shop-m0", 1, 0),
    ("shop-eager", 2, 2, "joined", "shop-m1", 1, 0),
    ("shop-eager", 3, 3, "joined", "shop-m2", 1, 0),
    ("shop-coop", 1, 1, "joined", "shop-coop0", 1, 0),
    # Two generations for a newcomer, and a third one for another that came while partitions were handed on.
    ("shop-coop", 2, 4, "joined", "shop-coop1", 2, 1),
    ("shop-eager", 4, 4, "left", "shop-m1", 0, 2),
    ("shop-coop", 5, 5, "left", "shop-coop2", 0, 1),
    # Its static member is replaced later and starts nothing.
    ("shop-static", 1, 1, "joined", "shop-static1", 1, 0),
    ("shop-crash", 1, 1, "joined", "shop-rk2", 3, 0),
    ("shop-crash", 2, 2, "silent", "shop-rk1", 0, 1),
    ("shop-crash", 3, 3, "left", "shop-rk2", 0, 1),
]
CONSUMER = [
    ("shop-next", "joined", "shop-n0", 8),
    ("shop-next", "joined", "shop-n1", 4),
    ("shop-next", "joined", "shop-rx", 4),
    ("shop-next-rk", "joined", "shop-rk80", 4),
    ("shop-next-rk", "joined", "shop-rk81", 2),
    ("shop-next-rk", "silent", "shop-rk81", 1),
    ("shop-next-rk", "left", "shop-rk82", 2),
]


def step(number: int, event: str, at_ms: int, member: str = "a", **values: Any) -> dict[str, Any]:
    """A step that takes 1 ms."""
    row = {
        "exchange": number,
        "connection": 1,
        "begin_ns": START_NS + at_ms * MS,
        "time_ns": START_NS + (at_ms + 1) * MS,
    }
    row |= {"group_id": "g", "group_type": "classic", "event": event, "error_code": 0}
    row |= {"client_id": member, "client_address": "10.0.0.1", "member_id": f"{member}-1"}
    if event == "join":
        row |= {"protocol": "range"}
    if event == "heartbeat":
        row |= {"error_code": 27}
    return row | values


def generation(first: int, at_ms: int, number: int, *members: str, **values: Any) -> Rows:
    """Every member joins, then every member syncs."""
    joins = [step(first + at, "join", at_ms + at, who, generation=number, **values) for at, who in enumerate(members)]
    many = len(members)
    return joins + [
        step(first + many + at, "sync", at_ms + many + at, who, sent_generation=number)
        for at, who in enumerate(members)
    ]


def rebalances(folder: Path, events: Rows, exchanges: Rows | None = None, **tables: Rows) -> Rows:
    rows = exchanges or []
    known = {row["exchange"] for row in rows}
    rows = rows + [
        exchange(number, at_ns=START_NS, client_id="x") for number in {each["exchange"] for each in events} - known
    ]
    made = {"exchanges": rows, "connections": [connection(1)], "group_events": events} | tables
    with dataset(folder, made) as opened:
        return opened.metric("rebalances")


def told(rows: Rows, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in rows]


@pytest.mark.slow
def test_classic_groups_of_the_lab(shared: Path, tmp_path: Path) -> None:
    with dataset(tmp_path, broker_log.tables(broker_log.read(shared, "groups_classic"))) as opened:
        rows = opened.metric("rebalances")
        groups = {row["group_id"]: row for row in opened.metric("groups")}
        members = told(opened.metric("group_members"), "group_id", "instance_id", "joins", "gone")
    # Replaced by another process of the same instance id, and removed by an admin who names the instance only.
    assert ("shop-static", "s1", 2, True) in members
    found = [
        (*each[:6], row["left_members"] + row["lost_members"])
        for row in rows
        for each in told([row], "group_id", "first_generation", "last_generation", "cause", "client_id", "joined")
    ]
    assert found == CLASSIC
    assert all(0 < row["duration_ns"] < 1_100 * MS and row["complete"] for row in rows)
    silent = next(row for row in rows if row["cause"] == "silent")
    # session.timeout.ms of that member is 6 s.
    assert 6_000 * MS <= silent["unheard_ns"] < 6_100 * MS
    assert {name: row["state"] for name, row in groups.items()} == dict.fromkeys(groups, "empty")
    assert {name: row["rebalances"] for name, row in groups.items()} == {
        "shop-eager": 4,
        "shop-coop": 3,
        "shop-static": 1,
        "shop-crash": 3,
    }


@pytest.mark.slow
def test_commits_are_those_of_the_log(shared: Path, tmp_path: Path) -> None:
    logs = broker_log.read(shared, "groups_classic")
    commits = [log["request"]["groupId"] for log in logs if log["requestHeader"]["requestApiKey"] == 8]
    with dataset(tmp_path, broker_log.tables(logs)) as opened:
        groups = {row["group_id"]: row["commits"] for row in opened.metric("groups")}
    assert groups == {name: commits.count(name) for name in groups}
    assert sum(groups.values()) == 421


def test_consumer_groups_of_the_lab(shared: Path, tmp_path: Path) -> None:
    with dataset(tmp_path, broker_log.tables(broker_log.read(shared, "groups_848"))) as opened:
        rows = opened.metric("rebalances")
    assert told(rows, "group_id", "cause", "client_id", "moved_partitions") == CONSUMER
    silent = next(row for row in rows if row["cause"] == "silent")
    assert 6_000 * MS <= silent["unheard_ns"] < 6_100 * MS


def test_share_groups_hold_partitions_together(shared: Path, tmp_path: Path) -> None:
    with dataset(tmp_path, broker_log.tables(broker_log.read(shared, "groups_share"))) as opened:
        rows = opened.metric("rebalances")
    assert {row["group_type"] for row in rows} == {"share"}
    # Its only member leaves and another one comes seven seconds later: two stories, none of seven seconds.
    assert max(row["duration_ns"] for row in rows if row["group_id"] == "shop-sg-2") < 2_000 * MS


@pytest.mark.slow
def test_a_cooperative_change_is_one_rebalance_also_where_no_reason_is_told(tmp_path: Path) -> None:
    cooperative = {"protocol": "cooperative-sticky"}
    events = generation(0, 0, 1, "a", **cooperative)
    events += [step(9, "heartbeat", 1_000, "a")]
    events += generation(10, 1_010, 2, "b", "a", **cooperative) + generation(20, 1_020, 3, "a", "b", **cooperative)
    assert told(rebalances(tmp_path / "a", events), "first_generation", "last_generation") == [(1, 1), (2, 3)]
    eager = [each | ({"protocol": "range"} if each["event"] == "join" else {}) for each in events]
    assert len(rebalances(tmp_path / "b", eager)) == 3
    later = generation(20, 9_000, 3, "a", "b", **cooperative)
    assert len(rebalances(tmp_path / "c", events[: -len(later)] + later)) == 3


def test_a_static_member_that_comes_back_starts_nothing(tmp_path: Path) -> None:
    static = {"instance_id": "i-1"}
    again = [step(8, "join", 2_000, "a", member_id="a-2", generation=1, **static)]
    again += [step(9, "sync", 2_010, "a", member_id="a-2", sent_generation=1)]
    (row,) = rebalances(tmp_path, generation(0, 0, 1, "a", **static) + again)
    assert row["duration_ns"] == 2 * MS


@pytest.mark.slow
def test_a_member_that_loses_its_connection_is_told_from_one_that_falls_silent(tmp_path: Path) -> None:
    events = [*generation(0, 0, 1, "a", "b"), step(9, "heartbeat", 3_000, "b"), *generation(10, 3_010, 2, "b")]
    events = [each | ({"connection": 2} if each["client_id"] == "a" else {}) for each in events]
    rows = [exchange(each["exchange"], connection=each["connection"]) for each in events]
    rows += [
        exchange(50, connection=2, api_key=12, group_id="g", member_id="a-1", at_ns=START_NS + 1_000 * MS)
    ]  # its last word

    def cause(folder: str, **values: Any) -> dict[str, Any]:
        ends = {"last_time_ns": START_NS + 1_001 * MS} | values
        found = rebalances(tmp_path / folder, events, rows, connections=[connection(1), connection(2, **ends)])
        return found[-1]

    lost = cause("a", close="rst")
    assert (lost["cause"], lost["client_id"], lost["unheard_ns"]) == ("connection_lost", "a", 2_010 * MS)
    assert cause("b", close="none")["cause"] == "silent"
    assert cause("c", close="none", client_gaps=1)["cause"] == "unknown"


def test_a_member_that_asks_again_on_its_own_is_named_with_its_reason(tmp_path: Path) -> None:
    events = [*generation(0, 0, 1, "a", "b"), step(9, "heartbeat", 1_005, "b")]
    events += generation(10, 1_000, 2, "a", "b")
    events = [each | ({"reason": "topics changed"} if each["exchange"] == 10 else {}) for each in events]
    row = rebalances(tmp_path, events)[-1]
    assert (row["cause"], row["client_id"], row["reason"]) == ("rejoined", "a", "topics changed")


def test_a_capture_begun_in_the_middle_takes_nobody_for_new_who_was_heard_before(tmp_path: Path) -> None:
    events = [step(9, "heartbeat", 900, "a"), *generation(10, 1_000, 41, "a")]
    rows = [exchange(9, api_key=12, group_id="g", member_id="a-1", at_ns=START_NS + 900 * MS)]
    assert told(rebalances(tmp_path, events, rows), "cause", "first_generation") == [("unknown", 41)]


def test_a_generation_that_never_stood_belongs_to_the_next(tmp_path: Path) -> None:
    events = [step(1, "join", 0, generation=1), step(2, "sync", 10, sent_generation=1, error_code=27)]
    events += generation(10, 20, 2, "a")
    assert told(rebalances(tmp_path, events), "first_generation", "last_generation", "complete") == [(1, 2, True)]


@pytest.mark.slow
def test_how_long_nobody_fetched(tmp_path: Path) -> None:
    events = [*generation(0, 0, 1, "a"), step(9, "leave", 2_000, "b"), step(8, "heartbeat", 2_050, "a")]
    events += generation(10, 2_100, 2, "a")

    def fetch(number: int, at_ms: int, lasts_ms: int) -> dict[str, Any]:
        made = {"api_key": 1, "client_id": "a", "replica_id": -1}
        return exchange(number, at_ns=START_NS + at_ms * MS, latency_ns=lasts_ms * MS, **made)

    rows = [fetch(50, 500, 1_400), fetch(51, 1_950, 100), fetch(52, 2_400, 10), fetch(53, 9_000, 10)]
    found = rebalances(tmp_path / "a", events, rows)
    # From the end of the fetch at 2,050 ms to the next one at 2,400 ms.
    assert told(found, "cause", "pause_ns") == [("joined", None), ("left", 350 * MS)]
    # Nobody fetched for a while before already: that is no fault of the rebalance, which begins at 2,000 ms.
    idle = rebalances(tmp_path / "c", events, [rows[0], *rows[2:]])
    assert idle[-1]["pause_ns"] == 400 * MS
    covered = rebalances(tmp_path / "b", events, [*rows, fetch(54, 2_040, 500)])
    assert covered[-1]["pause_ns"] == 0


def test_a_consumer_group_rebalances_until_the_new_owner_fetches(tmp_path: Path) -> None:
    consumer = {"group_type": "consumer"}
    events = [
        step(1, "join", 0, "a", assigned_partitions=1, sent_generation=0, generation=1, **consumer),
        step(2, "join", 1_000, "b", assigned_partitions=0, sent_generation=0, generation=2, **consumer),
        step(3, "heartbeat", 1_500, "a", error_code=0, assigned_partitions=0, generation=2, **consumer),
        step(4, "heartbeat", 2_000, "b", error_code=0, assigned_partitions=1, generation=2, **consumer),
    ]
    held = {"group_id": "g", "group_type": "consumer", "topic": "t", "partition": 0, "client_address": "10.0.0.1"}
    assignments = [
        held | {"exchange": 1, "time_ns": START_NS + MS, "member_id": "a-1", "client_id": "a", "generation": 1},
        held | {"exchange": 4, "time_ns": START_NS + 2_001 * MS, "member_id": "b-1", "client_id": "b", "generation": 2},
    ]
    rows = [exchange(60, api_key=1, client_id="b", at_ns=START_NS + 2_300 * MS)]
    positions = [{"exchange": 60, "connection": 1, "topic": "t", "partition": 0, "time_ns": START_NS + 2_310 * MS}]
    found = rebalances(tmp_path, events, rows, assignments=assignments, fetch_positions=positions)
    assert told(found, "cause", "client_id", "duration_ns", "pause_ns") == [
        ("joined", "a", MS, None),
        ("joined", "b", 1_300 * MS, 799 * MS),
    ]


def test_each_lost_member_counts_though_its_id_is_cut_off(tmp_path: Path) -> None:
    cut = {"member_id": None}
    events = [step(n, "join", n, f"m{n}", generation=1, connection=n + 1, **cut) for n in range(3)]
    events += [step(9, "join", 90_000, "m0", generation=2, **cut)]
    with dataset(tmp_path, {"exchanges": [], "connections": [], "group_events": events}) as opened:
        assert [row["lost_members"] for row in opened.metric("rebalances")] == [2]


def test_members_whose_id_is_cut_off_are_told_apart_by_their_connections(tmp_path: Path) -> None:
    """Who leaves is not lost as well, and one generation ends before the next."""
    cut = {"member_id": None}
    events = [
        *(step(0, "join", 0, generation=1, **cut), step(1, "sync", 10, sent_generation=1)),
        *(
            step(2, "heartbeat", 5_000),
            step(3, "join", 5_001, generation=2, **cut),
            step(4, "sync", 5_010, sent_generation=2),
        ),
        step(5, "leave", 9_000, **cut),
        *(
            step(6, "join", 9_500, generation=3, connection=2, **cut),
            step(7, "sync", 9_510, sent_generation=3, connection=2),
        ),
    ]
    with dataset(tmp_path, {"exchanges": [], "connections": [], "group_events": events}) as opened:
        found = opened.metric("rebalances")
    assert [(row["cause"], row["duration_ns"] // MS, row["left_members"] + row["lost_members"]) for row in found] == [
        ("joined", 11, 0),
        ("unknown", 10, 0),
        ("left", 511, 1),
    ]


@pytest.mark.parametrize(("last", "state", "members"), [(0, "stable", 2), (1, "stable", 1), (2, "empty", 0)])
def test_state_at_the_end(last: int, state: str, members: int, tmp_path: Path) -> None:
    events = generation(0, 0, 1, "a", "b")
    if last:
        events += [step(8, "leave", 900, "b"), step(9, "heartbeat", 990, "a"), *generation(10, 1_000, 2, "a")]
    if last == 2:
        events += [step(20, "leave", 2_000, "a")]
    with dataset(tmp_path, {"exchanges": [], "connections": [], "group_events": events}) as opened:
        (row,) = opened.metric("groups")
    assert (row["state"], row["members"], row["members_seen"]) == (state, members, 2)


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("MISSING_SOURCE_TOPICS", "not ready"),
        ("STALE_TOPOLOGY, MISSING_INTERNAL_TOPICS", "not ready"),
        ("ASSIGNMENT_DELAYED", "stable"),  # it has its topics
        (None, "stable"),
    ],
)
def test_a_streams_group_without_its_topics_is_not_ready(said: str | None, state: str, tmp_path: Path) -> None:
    """As a broker has it (KIP-1071); the last reply counts."""
    joined = step(1, "join", 0, group_type="streams", generation=1, group_status="INCORRECTLY_PARTITIONED_TOPICS")
    beat = step(2, "heartbeat", 5_000, group_type="streams", generation=2, error_code=0, group_status=said)
    with dataset(tmp_path, {"exchanges": [], "connections": [], "group_events": [joined, beat]}) as opened:
        assert [row["state"] for row in opened.metric("groups")] == [state]


@pytest.mark.parametrize(
    "join", [{"member_id": None}, {"member_id": "", "error_code": 23}], ids=("its reply is cut", "it was refused")
)
def test_a_group_of_which_no_member_has_a_name_is_not_called_empty(join: dict[str, Any], tmp_path: Path) -> None:
    with dataset(
        tmp_path, {"exchanges": [], "connections": [], "group_events": [step(0, "join", 0, **join)]}
    ) as opened:
        (row,) = opened.metric("groups")
    assert (row["state"], row["members"], row["members_seen"]) == (None, None, 0)


@pytest.mark.parametrize(("beats_ms", "state", "members"), [(800, "empty", 0), (1_200, None, None)])
def test_a_heartbeat_after_the_last_known_member_left_is_of_another(
    beats_ms: int, state: str | None, members: int | None, tmp_path: Path
) -> None:
    events = [*generation(0, 0, 1, "a"), step(8, "leave", 1_000, "a")]
    beat = {
        "api_key": 12,
        "api_name": "Heartbeat",
        "group_id": "g",
        "member_id": "b-1",
        "client_id": "b",
        "error_code": 0,
    }
    rows = [exchange(20, at_ns=START_NS + beats_ms * MS, **beat)]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "group_events": events}) as opened:
        (row,) = opened.metric("groups")
    assert (row["state"], row["members"]) == (state, members)


def test_a_join_without_a_reply_says_that_the_group_rebalances_still(tmp_path: Path) -> None:
    waiting = step(30, "join", 3_000, "c", error_code=None, member_id="")
    events = [*generation(0, 0, 1, "a"), waiting]
    with dataset(tmp_path, {"exchanges": [], "connections": [], "group_events": events}) as opened:
        assert [row["state"] for row in opened.metric("groups")] == ["rebalancing"]


def test_errors_of_normal_operation_are_no_failures(tmp_path: Path) -> None:
    codes = (0, 79, 27, 14, 25, 25)
    events = [step(at, "join", at, error_code=code) for at, code in enumerate(codes)]
    rows = [exchange(40 + at, api_key=8, group_id="g", error_code=code) for at, code in enumerate((0, 27, 22, 25))] + [
        exchange(50, api_key=28, group_id="g", error_code=0)
    ]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "group_events": events}) as opened:
        (row,) = opened.metric("groups")
    assert (row["failures"], row["last_failure"]) == (2, 25)
    assert (row["commits"], row["failed_commits"], row["commits_in_transactions"]) == (5, 2, 1)


def test_a_group_that_only_commits_is_one_too(tmp_path: Path) -> None:
    rows = [exchange(1, api_key=8, group_id="tool", error_code=0)]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)]}) as opened:
        assert told(opened.metric("groups"), "group_id", "group_type", "state") == [("tool", "offsets", "offsets")]


def test_requests_alone_do_not_tell_how_a_group_is(tmp_path: Path) -> None:
    events = [step(1, "join", 0, generation=-1, error_code=None), step(2, "sync", 5, error_code=None)]
    commit = exchange(3, api_key=8, api_name="OffsetCommit", group_id="g", status="reply_lost", error_code=None)
    rows = [exchange(each["exchange"], at_ns=START_NS, client_id="x") for each in events] + [commit]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "group_events": events}) as opened:
        (row,) = opened.metric("groups")
    told_of = ("group_type", "state", "members", "rebalances", "commits", "failed_commits", "failures")
    assert told([row], *told_of) == [("classic", None, None, None, 1, None, None)]


def test_a_group_that_only_lives_is_a_group_of_unknown_members(tmp_path: Path) -> None:
    beats = [exchange(number, api_key=12, api_name="Heartbeat", group_id="g", error_code=0) for number in range(3)]
    with dataset(tmp_path, {"exchanges": beats, "connections": [connection(1)]}) as opened:
        (row,) = opened.metric("groups")
    assert told([row], "group_type", "state", "members", "rebalances", "commits") == [("classic", None, None, 0, 0)]


@pytest.mark.parametrize("kind", [None, "of tomorrow"])
def test_a_group_of_a_type_that_nobody_knows_is_a_row(kind: str | None, tmp_path: Path) -> None:
    events = [each | {"group_type": kind} for each in generation(1, 0, 1, "a", "b")]
    rows = [exchange(each["exchange"], at_ns=START_NS, client_id="x", group_id="g") for each in events]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "group_events": events}) as opened:
        (row,) = opened.metric("groups")
        assert row["group_id"] == "g" and row["group_type"] in (kind, "offsets")
        assert opened.metric("rebalances") == [] and list(opened.metric("group_members"))


def test_a_member_is_seen_by_its_heartbeats_and_commits(tmp_path: Path) -> None:
    """Only what failed of them is an event."""
    base = {"group_id": "g", "cluster": None, "group_type": "classic", "client_id": "app", "client_address": "10.0.0.1"}
    steps = [
        {"exchange": n, "event": event, "member_id": member, "error_code": 0, "begin_ns": at, "time_ns": at}
        for n, (event, member, at) in enumerate(
            [("join", "stays", START_NS), ("join", "goes", START_NS + 1), ("leave", "goes", START_NS + 9 * MS)]
        )
    ]
    beats = [
        exchange(10 + n, at_ns=START_NS + 20 * MS * n, api_key=api_key, group_id="g", member_id=member, error_code=0)
        for n, (api_key, member) in enumerate([(12, "stays"), (8, "stays"), (12, "goes")])
    ]
    rows = [exchange(n, at_ns=START_NS) for n in range(3)] + beats
    made = {"exchanges": rows, "connections": [connection(1)], "group_events": [base | step for step in steps]}
    with dataset(tmp_path, made) as opened:
        seen = {row["member_id"]: row["last_time_ns"] for row in opened.metric("group_members")}
    assert seen == {"stays": beats[1]["response_end_ns"], "goes": START_NS + 9 * MS}
