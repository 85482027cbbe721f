"""Every rule fires where it must and is silent where it must not, and its sentence can be read by a person."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_stories import NEW, OLD, controller_lost, refused, sent_away, turned
from finding_stories import HELD_FETCHES, STORIES, Tables, failing, many, opened, produced, queued
from hold_out_stories import sent_again
from impact_stories import between, many_waiting, waiting
from incident_stories import MORE, far, gone, out_of_range
from limit_stories import broken_off, fenced_after
from made_rows import SECOND_NS, START_NS, capture, connection, dataset, exchange
from member_stories import joins, missed, recreated, waiting_to_join
from progress_stories import starting
from protocol_stories import sessions_lost

from analyzer.base.filters import Filters
from analyzer.query.dataset import Dataset
from analyzer.query.findings import SEVERITIES, names, rule, rules
from analyzer.query.questions import NEWEST_RELEASE
from analyzer.query.run_findings import find
from analyzer.report.finding_rows import as_object
from analyzer.report.sentences import command, sentence

JOIN = {"api_key": 11, "api_name": "JoinGroup"}
ASKED = {"exchanges": [exchange(0, latency_ns=11 * SECOND_NS, **JOIN)]}
NAMED = {"entries": [{"exchange": 0, "connection": 1, "side": "request", "topic": "t", "partition": 0}]}
FIRES = [
    pytest.param(name, story, id=f"{name}-{number}")
    for name, (first, _) in STORIES.items()
    for number, story in enumerate((first, *MORE.get(name, ((), ()))[0]))
]
SILENT = [
    pytest.param(name, story, id=f"{name}-{number}")
    for name, (_, silent) in STORIES.items()
    for number, story in enumerate((*silent, *MORE.get(name, ((), ()))[1]))
]


def test_every_rule_has_a_story() -> None:
    assert sorted(STORIES) == names()


def test_each_condition_is_one_answer_about_all_rows() -> None:
    """Also where there are none: a condition without an aggregate would have an answer for each row."""
    with Dataset({}) as empty:
        for each in rules():
            for table, condition in each.conditions:
                assert len(empty.query(f"SELECT {condition} AS found FROM {table}")) == 1, each.name
        assert find(empty) == []


@pytest.mark.parametrize(("name", "story"), FIRES)
def test_fires(name: str, story: Callable[[], Tables], tmp_path: Path) -> None:
    with dataset(
        tmp_path, {"captures": [capture(last_time_ns=capture()["first_time_ns"] + 400 * 10**9)]} | story()
    ) as made:
        found = find(made, [rule(name)])
    assert found
    told = as_object(found[0])
    assert told["sentence"] and "{" not in told["sentence"] and "unknown" not in told["sentence"]
    words = shlex.split(told["look"])
    assert words[0] == "kanalyze" and not [word for word in words if word.startswith("-") and " " in word]
    # What it says can be checked: exchanges that are in the capture, or a connection.
    assert told["evidence"] or told["connection"]
    assert all(each["packet"] for each in told["evidence"])
    json.dumps(told, allow_nan=False)


def test_a_rule_about_a_time_is_not_asked_of_a_shorter_capture(tmp_path: Path) -> None:
    whole = capture()
    with dataset(tmp_path, {"captures": [whole]} | ASKED) as made:
        slow = rule("slow_requests")
        lasts_ns = whole["last_time_ns"] - whole["first_time_ns"]
        assert find(made, [slow._replace(lasts_ns=lasts_ns)])
        assert not find(made, [slow._replace(lasts_ns=lasts_ns + 1)])


@pytest.mark.parametrize(("name", "story"), SILENT)
def test_is_silent(name: str, story: Callable[[], Tables], tmp_path: Path) -> None:
    with dataset(
        tmp_path, {"captures": [capture(last_time_ns=capture()["first_time_ns"] + 400 * 10**9)]} | story()
    ) as made:
        # The rule itself, whatever its condition says.
        assert made.ask(rule(name).sql) == []


@pytest.mark.parametrize(
    ("asked", "ends", "reset", "state"),
    (
        (100, [(4.0, 2000)], None, "are already deleted"),
        (100, [], 1500, "are already deleted"),
        (9000, [(6.0, 500)], None, "are beyond the end"),
        # The end grew beyond it afterwards, or was beyond it in an earlier topic of this name.
        (9000, [(4.0, 9500), (5.5, 0), (60.0, 9900)], 500, "are beyond the end"),
        (9000, [(60.0, 9900)], None, "do not exist"),
        (9000, [], None, "do not exist"),
    ),
)
def test_why_an_offset_is_out_of_range(
    asked: int, ends: list[tuple[float, int]], reset: int | None, state: str, tmp_path: Path
) -> None:
    with dataset(tmp_path, out_of_range(asked, ends, reset)) as made:
        (found,) = find(made, [rule("offset_out_of_range")])
    assert found.row["state"] == state


def killed_and_back(waiting: int, before: int = 0) -> Tables:
    """A broker that comes back after 18 s; so many writes at another one wait 5 s, until it is out of their replicas. `before`: so
    many waited for 3 s while all was well."""
    other = {"connection": 3, "kind": "produce_acks_all", "api_key": 0, "api_name": "Produce", "broker_port": 9093}
    writes = [
        exchange(20 + n, at_ns=START_NS + 2 * SECOND_NS, latency_ns=5 * SECOND_NS, **other) for n in range(waiting)
    ]
    writes += [
        exchange(40 + n, at_ns=START_NS - 4 * SECOND_NS, latency_ns=3 * SECOND_NS, **other) for n in range(before)
    ]
    story = gone(3, back_s=18)
    return {
        "exchanges": [*story["exchanges"], *writes],
        "connections": [*story["connections"], connection(3, broker_port=9093)],
    }


def in_order(*values: str) -> list[int]:
    return [SEVERITIES.index(value) for value in values]


@pytest.mark.parametrize(
    ("name", "lesser", "worse"),
    (
        ("broker_gone", lambda: gone(3, back_s=30), lambda: gone(397)),
        ("broker_gone", lambda: gone(3), lambda: gone(397)),
        ("broker_gone", lambda: killed_and_back(2), lambda: killed_and_back(3)),
        ("broker_gone", lambda: killed_and_back(3, before=1), lambda: killed_and_back(3)),
        ("controller_gone", lambda: controller_lost(3, again=0), lambda: controller_lost(3, again=3)),
        ("broker_gone", missed, lambda: missed(refused=3)),
        ("broker_gone", missed, lambda: missed(waited_s=1.5)),
        ("topic_recreated", lambda: recreated(failed=0), recreated),
        ("skewed_partitions", lambda: produced([100, 110, 1200]), lambda: produced([100, 110, 12_000])),
        ("fenced_producer", lambda: failing(90, many(1, 1)), lambda: failing(90, many(3, 1))),
        (
            "failing",
            lambda: failing(2, many(2, 1, api_name="Produce")),
            lambda: failing(2, many(12, 1, api_name="Produce")),
        ),
        ("head_of_line", lambda: queued(4_000_000_000, 4_900_000_000), lambda: queued(4_000_000_000, 5_000_000_000)),
        ("authorization", lambda: failing(29, many(1, 1, api_key=19)), lambda: failing(29, many(4, 1, api_key=0))),
        ("far_broker", lambda: far(80, 97, 82), lambda: far(80, 100, 82)),
        ("no_leader", lambda: failing(5, many(3, 1), topic="t"), lambda: failing(5, many(3, 1), topic="t") | NAMED),
        ("no_leader", lambda: failing(5, many(3, 1), topic="t"), lambda: failing(5, many(3, 1, topics=1), topic="t")),
        # Metadata of all topics: `topics` are those of the reply.
        (
            "no_leader",
            lambda: failing(5, many(3, 1, topics=10, request_bytes=24), topic="orders"),
            lambda: failing(5, many(3, 1, topics=10, request_bytes=29), topic="orders"),
        ),
        ("failing", lambda: failing(26, many(9, 1, **JOIN)), lambda: failing(26, many(10, 1, **JOIN))),
        ("rereads", lambda: starting([0] * 3, commits=0), lambda: starting([0] * 4, commits=3)),
        ("missing_topic", lambda: failing(3, HELD_FETCHES, topic="t"), lambda: failing(3, many(3, 100), topic="t")),
        ("rereads", lambda: starting([0] * 4, commits=30), lambda: starting([0] * 4, commits=0, refused=30)),
        ("rereads", lambda: starting([0] * 4, commits=3), lambda: starting([0, *[7] * 4], commits=3)),  # 0: a cache
        ("request_too_large", lambda: broken_off(3), lambda: broken_off(10)),
        ("wrong_cluster", turned, lambda: turned(failures=1)),
        ("wrong_cluster", turned, refused),
        ("wrong_cluster", refused, lambda: refused(times=3, back_s=None)),
        ("wrong_cluster", refused, lambda: refused(back_s=31)),
        ("stuck_member", lambda: waiting_to_join(11), lambda: waiting_to_join(11, ("range", "range"))),
        ("stuck_member", lambda: waiting_to_join(11), lambda: joins([11.0], begin_ns=START_NS) | ASKED),
        (
            "stuck_member",
            lambda: joins([11.0], begin_ns=START_NS) | ASKED,
            lambda: waiting_to_join(11, ("range", "range")),
        ),
        ("unexplained", lambda: between(5), lambda: between(11)),
        ("unexplained", lambda: many_waiting([0.6, 0.6, 0.7]), lambda: many_waiting([5, 6, 7])),
        ("lossy_network", sent_again, lambda: sent_again(broker_retransmitted=200)),
    ),
)
def test_severity_falls_with_the_impact(
    name: str, lesser: Callable[[], Tables], worse: Callable[[], Tables], tmp_path: Path
) -> None:
    told = []
    for number, story in enumerate((lesser, worse)):
        with dataset(
            tmp_path / str(number), {"captures": [capture(last_time_ns=START_NS + 400 * SECOND_NS)]} | story()
        ) as made:
            told.append(find(made, [rule(name)])[0].severity)
    first, second = in_order(*told)
    assert first > second


def test_connections_that_stay_open_are_counted(tmp_path: Path) -> None:
    ends = {"captures": [capture(last_time_ns=START_NS + 40 * SECOND_NS)]}
    for close, told in (
        ("fin", "half of them closed within 20.0 s"),
        ("none", "the end of 40 of them was not captured"),
    ):
        with dataset(tmp_path / close, ends | opened([n * 0.9 for n in range(40)], 20, close=close)) as made:
            (found,) = find(made, [rule("connection_storm")])
        assert told in as_object(found)["sentence"]


@pytest.mark.parametrize(
    ("story", "told"),
    (
        (refused, f"10.0.1.1:9092 leads to cluster {NEW}, before to {OLD}; app was refused"),
        (lambda: refused(back_s=3), "once; 1 client went on, after 3.0 s at most"),
        (lambda: refused(times=3, back_s=None), "3 times; app gave up"),
        (lambda: refused(reached=OLD), f"10.0.1.1:9092 is not node 1 of cluster {OLD}, as clients believe"),
        (lambda: refused(reached=None, back_s=None), f"10.0.1.1:9092 is not of cluster {OLD}, as clients believe"),
        (sent_away, f"cluster {OLD} sends its clients to their bootstrap servers; app was refused"),
        (lambda: turned(failures=2), "app was led there without a refusal; 1 client went on"),
        (lambda: turned(failures=2), "2 requests failed there, the first with UNKNOWN_MEMBER_ID"),
        (lambda: turned(advertised="kafka", broker_address="10.0.1.2"), f"kafka:9092 leads to cluster {NEW}"),
    ),
)
def test_what_is_told_of_an_address_that_leads_elsewhere(
    story: Callable[[], Tables], told: str, tmp_path: Path
) -> None:
    with dataset(tmp_path, {"captures": [capture(last_time_ns=START_NS + 400 * SECOND_NS)]} | story()) as made:
        (found,) = find(made, [rule("wrong_cluster")])
    assert told in sentence(found.rule.says, found.row)


def test_the_condition_of_breaks_on_4_is_what_the_newest_release_refuses() -> None:
    """The rule reads every verdict, which takes long; its condition lists the oldest versions that the newest release takes."""
    with Dataset({}) as empty:
        oldest = {
            row["api_key"]: row["oldest"]
            for row in empty.query(
                f"SELECT api_key, oldest FROM release_support WHERE release = '{NEWEST_RELEASE}' AND oldest > 0"
            )
            # Gone; they are sent between brokers only, which is another verdict.
            if not 4 <= row["api_key"] <= 7
        }
        listed = rule("breaks_on_4").conditions[0].sql.removeprefix("bool_or(api_version < ").removesuffix(")")
        keys = ", ".join(f"({key})" for key in range(100))
        told = empty.query(f"SELECT api_key, {listed} AS oldest FROM (VALUES {keys}) AS k(api_key)")
    assert {row["api_key"]: row["oldest"] for row in told if row["oldest"] is not None} == oldest


def test_the_worst_comes_first(tmp_path: Path) -> None:
    tables = failing(19, many(1, 1), topic="t")
    more = failing(7, many(1, 1, first=5))
    merged = {table: [*rows, *more[table]] for table, rows in tables.items() if table != "connections"}
    with dataset(tmp_path, merged | {"connections": tables["connections"]}) as made:
        assert [each.severity for each in find(made)] == ["high", "medium"]


def test_captured_text_cannot_become_a_command_or_a_template() -> None:
    row = {"who": "x; rm -rf /", "evil": "a{who}[b]\x1b[31m"}
    assert command("kanalyze errors[ --client {who}]", row) == "kanalyze errors --client 'x; rm -rf /'"
    assert command("kanalyze errors[ --client {evil}]", row) == "kanalyze errors"
    assert sentence("{evil}", row) == "a{who}[b]\\x1b[31m"


@pytest.mark.parametrize(
    ("open_s", "taken_s", "said"),
    [
        (6.0, None, "open for 6.0 s, longer than its transaction.timeout.ms (5.0 s), so the broker ended it"),
        (6.0, 2.0, "another producer took its place (other)"),
        (4.0, None, "another producer took its place, or its transaction was open for longer"),
    ],
)
def test_a_fenced_producer_is_told_why(open_s: float, taken_s: float | None, said: str, tmp_path: Path) -> None:
    with dataset(tmp_path, fenced_after(open_s, taken_s=taken_s)) as made:
        (found,) = find(made, [rule("fenced_producer")])
    assert said in sentence(found.rule.says, found.row)
    assert ("or its transaction" in sentence(found.rule.says, found.row)) == ("or its transaction" in said)


def test_who_begins_anew_took_no_place(tmp_path: Path) -> None:
    """A late request of a producer whose transaction was too long is refused once more, when another one has begun."""
    story = fenced_after(6, taken_s=6.5)
    story["exchanges"].append(story["exchanges"][1] | {"exchange": 2, "request_time_ns": START_NS + 8 * SECOND_NS})
    story["exchanges"][-1]["response_time_ns"] = START_NS + 8 * SECOND_NS + 1
    story["errors"].append(story["errors"][0] | {"exchange": 2})
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("fenced_producer")])
    assert (found.row["times"], found.row["taken_by"], found.row["open_ns"]) == (2, None, 6 * SECOND_NS)


def test_who_took_its_place_is_known_before_a_first_transaction_too(tmp_path: Path) -> None:
    story = fenced_after(4, taken_s=2)
    story["exchanges"] = [row for row in story["exchanges"] if row["exchange"] != 0]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("fenced_producer")])
    assert sentence(found.rule.says, found.row).endswith(", once: another producer took its place (other)")


@pytest.mark.parametrize(
    ("outer", "inner", "said"),
    [
        ({"broker_held_small": 10}, {}, "the proxy sends its messages in pieces"),
        ({}, {"client_held_small": 10}, "the proxy sends its messages in pieces"),
        ({"client_held_small": 10}, {}, "the client, or a proxy before it, sends its messages in pieces"),
        ({}, {"broker_held_small": 10}, "the broker, or a proxy before it, sends its messages in pieces"),
    ],
)
def test_pieces_that_a_proxy_makes_are_its_own(
    outer: dict[str, int], inner: dict[str, int], said: str, tmp_path: Path
) -> None:
    legs = [
        connection(1, **outer),
        connection(2, client_address="10.0.0.9", broker_address="10.0.1.2", forwarded_from=1, **inner),
    ]
    with dataset(tmp_path, {"connections": legs}) as made:
        (found,) = find(made, [rule("nagle_delay")])
    assert said in sentence(found.rule.says, found.row)


@pytest.mark.parametrize(("who", "said"), [("late", '"late"'), ("web-1", "web-1"), ("10.0.0.1", "10.0.0.1")])
def test_a_client_id_that_is_a_word_is_quoted(who: str, said: str) -> None:
    assert sentence("connections of {who} end", {"who": who}) == f"connections of {said} end"


@pytest.mark.parametrize(
    ("protocols", "said"),
    [
        ((), "until the capture ended"),
        (("range", "range"), "until the capture ended: the other members waited, and none of them consumed"),
        (("cooperative-sticky", "cooperative-sticky"), "until the capture ended: the other members waited"),
    ],
)
def test_members_that_hold_others_up_are_said_to_stop_them_where_they_do(
    protocols: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    with dataset(tmp_path, waiting_to_join(11, protocols)) as made:
        (found,) = find(made, [rule("stuck_member")])
    assert sentence(found.rule.says, found.row).endswith(said)


def test_what_still_waits_has_waited_until_the_end_that_is_asked_for(tmp_path: Path) -> None:
    tables = {"captures": [capture(last_time_ns=START_NS + 400 * SECOND_NS)]} | waiting([0.1], left_s=60)
    with dataset(tmp_path, tables, filters=Filters(to_ns=START_NS + 380 * SECOND_NS)) as made:
        (found,) = find(made, [rule("slow_requests")])
        (listed,) = made.metric("unanswered_list")
    assert found.row["longest_ns"] == listed["waited_ns"] == 40 * SECOND_NS


@pytest.mark.parametrize(
    ("left_s", "link", "severity"),
    [
        (11, {"replies": 5}, "medium"),
        (4, {"replies": 5}, "info"),
        # The replies may have been captured elsewhere, or are what the capture lacks.
        (11, {"replies": 0}, "info"),
        (11, {"replies": 5, "one_way": "client"}, "info"),
        (11, {"replies": 5, "broker_gap_bytes": 90}, "info"),
    ],
)
def test_replies_that_are_missing_count_where_they_could_have_been_seen(
    left_s: float, link: dict[str, Any], severity: str, tmp_path: Path
) -> None:
    story = waiting([0.1], left_s=left_s)
    last = story["exchanges"][-1]
    story["exchanges"] = [last | {"exchange": n, "correlation_id": n} for n in range(3)]
    files = [capture(last_time_ns=START_NS + 400 * SECOND_NS)]
    link = {"close": "none", "last_time_ns": START_NS + 400 * SECOND_NS} | link
    with dataset(tmp_path, story | {"captures": files, "connections": [connection(1, **link)]}) as made:
        (found,) = find(made, [rule("slow_requests")])
    assert found.severity == severity


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (70, "no longer has the fetch sessions that its consumers name: 10 Fetches were refused because of that"),
        (71, "is at another epoch of fetch sessions than its consumers: 10 Fetches were refused because of that"),
    ],
)
def test_a_lost_session_is_not_one_at_another_epoch(code: int, said: str, tmp_path: Path) -> None:
    with dataset(tmp_path, sessions_lost(10, 20, code)) as made:
        (found,) = find(made, [rule("fetch_sessions_lost")])
    assert said in sentence(found.rule.says, found.row)


def test_of_several_clients_none_is_named_alone(tmp_path: Path) -> None:
    story = sessions_lost(20, 20)
    for number, row in enumerate(story["exchanges"]):
        row["client_id"] = f"app-{number % 2}"
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("fetch_sessions_lost")])
    assert found.row["who"] is None and found.row["times"] == 20


def test_commits_that_were_refused_are_none(tmp_path: Path) -> None:
    with dataset(tmp_path, starting([0] * 4, commits=0, refused=20)) as made:
        (found,) = find(made, [rule("rereads")])
    assert sentence(found.rule.says, found.row).endswith("commits of group g: all 20 were refused")
