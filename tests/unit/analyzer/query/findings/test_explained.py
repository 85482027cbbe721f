"""Findings that others explain become their symptoms: about the same, at the same time, the cause first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analyzer.query.findings import names, rule, rules
from analyzer.query.incidents import SLACK_NS, SUBJECTS, Finding, grouped, is_running

CAUSE, SYMPTOM = "missing_topic", "metadata_storm"


def finding(name: str, severity: str = "medium", /, **row: Any) -> Finding:
    return Finding(rule(name), severity, {"weight": 1, "first_time_ns": 0, "last_time_ns": 10} | row, ())


def told(*found: Finding) -> list[tuple[str, list[str]]]:
    return [(each.rule.name, [symptom.rule.name for symptom in each.symptoms]) for each in grouped(found)]


def test_every_rule_explains_rules_that_exist() -> None:
    for each in rules():
        assert {explained.rule for explained in each.explains} <= set(names()) - {each.name}, each.name


def test_processes_that_end_as_they_were_thrown_out_are_no_crashes() -> None:
    crashes = [finding("member_crashes", who=who, group_id="g") for who in ("mailer-1", "mailer-2")]
    fight = finding("instance_fenced", "high", who=None, group_id="g")
    assert told(*crashes, fight) == [("instance_fenced", ["member_crashes", "member_crashes"])]


@pytest.mark.parametrize(
    ("cause", "symptom"), [("idle_killed", "lossy_network"), ("restarting_member", "connection_storm")]
)
def test_what_a_client_does_or_suffers_stands_below_its_reason(cause: str, symptom: str) -> None:
    own = {"who": "app", "client_address": "10.0.0.1"}
    assert told(finding(symptom, **own), finding(cause, **own)) == [(cause, [symptom])]


def test_writes_queue_behind_those_that_wait_for_a_follower_wherever_it_is() -> None:
    """Of several brokers on one host it is not known which one is meant."""
    dropped = finding("out_of_sync", broker=None, host=None, client_address=None)
    assert told(finding("head_of_line", "info", who="app", api_name="Produce"), dropped) == [
        ("out_of_sync", ["head_of_line"])
    ]


def test_a_symptom_stands_below_its_cause() -> None:
    assert told(finding(SYMPTOM, who="app"), finding(CAUSE, who="app")) == [(CAUSE, [SYMPTOM])]


@pytest.mark.parametrize(
    "row",
    (
        {"who": "other"},
        {},
        {"who": "app", "topic": "another"},
        {"who": "app", "first_time_ns": 11 + SLACK_NS, "last_time_ns": 12 + SLACK_NS},
    ),
    ids=("another client", "nothing to compare", "another topic", "later"),
)
def test_about_something_else_it_stays_apart(row: dict[str, Any]) -> None:
    assert told(finding(SYMPTOM, **row), finding(CAUSE, who="app", topic="t")) == [(CAUSE, []), (SYMPTOM, [])]


def test_a_connection_is_compared_where_there_is_nothing_else() -> None:
    one, other = finding(CAUSE, connection=1), finding(SYMPTOM, connection=2)
    assert told(one, other) == [(CAUSE, []), (SYMPTOM, [])]
    assert told(finding(CAUSE, connection=1, who="a"), finding(SYMPTOM, connection=2, who="a")) == [(CAUSE, [SYMPTOM])]


def test_another_error_of_the_same_client_is_an_incident_of_its_own() -> None:
    login = finding("failing", who="a", api_name="SaslHandshake", name="ILLEGAL_SASL_STATE")
    write = finding("failing", who="a", api_name="Produce", name="CORRUPT_MESSAGE")
    cause = finding("wrong_protocol", who="a")
    assert told(cause, login, write) == [("wrong_protocol", ["failing"]), ("failing", [])]


def test_a_host_is_compared_instead_of_its_ports() -> None:
    gone, other = finding("broker_gone", broker="h:1", host="h"), finding("refused_connections", broker="h:2", host="h")
    assert told(gone, other) == [("broker_gone", ["refused_connections"])]
    without_host = finding("refused_connections", broker="h:2")
    assert told(gone, without_host) == [("broker_gone", []), ("refused_connections", [])]


def test_some_causes_are_felt_everywhere() -> None:
    assert told(finding("broker_gone", broker="b:1"), finding("head_of_line", broker="c:1", name="Produce")) == [
        ("broker_gone", ["head_of_line"])
    ]


def test_who_waits_behind_its_own_poll_waits_for_no_other_broker() -> None:
    gone, behind = finding("broker_gone", broker="b:1"), finding("head_of_line", broker="c:1", name="Fetch")
    assert told(gone, behind) == [("broker_gone", []), ("head_of_line", [])]


def test_nothing_is_felt_in_another_cluster() -> None:
    gone, waits = finding("broker_gone", broker="b:1"), finding("slow_requests", broker="c:1", who="app")
    same = told(replace(gone, cluster="one"), replace(waits, cluster="one"))
    assert same == told(gone, replace(waits, cluster="one")) == [("broker_gone", ["slow_requests"])]
    apart = told(replace(gone, cluster="one"), replace(waits, cluster="two"))
    assert apart == [("broker_gone", []), ("slow_requests", [])]


def test_a_cause_without_harm_explains_no_harm_elsewhere() -> None:
    back, stalled = finding("broker_gone", "info", broker="b:1"), finding("broker_stalled", "high", broker="c:1")
    assert told(back, stalled) == [("broker_stalled", []), ("broker_gone", [])]
    same = finding("broker_stalled", "high", broker="b:1")
    assert told(back, same) == [("broker_gone", ["broker_stalled"])]


def test_what_a_symptom_explains_belongs_to_its_cause() -> None:
    chain = [
        finding("poll_gap", group_id="g"),
        finding("rebalance_loop", group_id="g"),
        finding("stuck_member", group_id="g"),
    ]
    assert told(*chain) == [("poll_gap", ["rebalance_loop", "stuck_member"])]


@pytest.mark.parametrize(
    ("cause", "explained"),
    [
        (finding("failing", who="app"), True),
        (finding("failing", "info", who="app"), False),  # what did no harm explains none
        (finding("failing", who="other"), False),
        (finding("slow_transfers", who="app"), False),  # knows no cause either
        (finding("breaks_on_4", who="app"), False),  # nobody waits for the future
        (finding("failing", who="app", broker="b:2"), False),
    ],
)
def test_impact_stands_below_any_cause_of_the_same(cause: Finding, explained: bool) -> None:
    names_told = [name for name, _ in told(finding("slow_requests", who="app", broker="b:1"), cause)]
    assert ("slow_requests" not in names_told) is explained


def test_a_cause_that_the_finding_explains_itself_leaves_the_next_one() -> None:
    circle = finding("refused_connections", who="a"), finding("unreachable", who="a")
    assert told(*circle) == [("refused_connections", ["unreachable"])]
    first, second, third = (finding(name, who="a") for name in ("no_leader", "failing", "slow_requests"))
    assert told(third, second, first) == [("no_leader", ["slow_requests"]), ("failing", [])]


def test_nothing_is_lost_and_nothing_is_told_twice() -> None:
    every = [finding(name, who="a", **dict.fromkeys(set(SUBJECTS) - {"who"}, "same")) for name in names()]
    shown = [each for cause in grouped(every) for each in (cause, *cause.symptoms)]
    assert sorted(each.rule.name for each in shown) == names()


def test_an_incident_is_as_severe_as_its_cause_says() -> None:
    (incident,) = grouped([finding(CAUSE, who="a"), finding(SYMPTOM, "high", who="a")])
    assert incident.severity == "medium"


SECOND_NS = 1_000_000_000


@pytest.mark.parametrize(
    ("began", "ended", "of", "wanted"),
    [
        (10, 20, 25, False),
        (10, 20, 3000, False),
        (2985, 2995, 3000, None),  # a stall of 10 s that ended 5 s before the end of an hour, or goes on
        (2980, 2999, 3000, True),
        (2000, 2975, 3000, True),
        (0, 2960, 3000, False),
        (2995, 2995, 3000, None),
    ],
)
def test_what_lasted_goes_on_is_over_or_is_not_known(began: int, ended: int, of: int, wanted: bool | None) -> None:
    row = {"first_time_ns": began * SECOND_NS, "last_time_ns": ended * SECOND_NS}
    assert is_running(row, 0, of * SECOND_NS) is wanted


def test_an_incident_is_over_when_all_of_it_is() -> None:
    def goes_on(*running: bool | None) -> bool | None:
        times = {"first_time_ns": 1, "last_time_ns": 2}
        found = [
            replace(finding(name, who="a", **times), running=each)
            for name, each in zip((CAUSE, SYMPTOM), running, strict=True)
        ]
        (incident,) = grouped(found)
        return incident.running

    assert goes_on(False, False) is False
    assert goes_on(False, True) is True
    assert goes_on(None, True) is True
    assert goes_on(None, False) is None
    assert goes_on(False, None) is None


def test_a_client_that_starts_again_and_again_stands_before_the_small_delays_of_others() -> None:
    small = [finding(name, "info", who="other") for name in ("head_of_line", "far_broker", "lossy_network")]
    assert (
        next(name for name, _ in told(*small, finding("restarting_member", "info", who="app"))) == "restarting_member"
    )
