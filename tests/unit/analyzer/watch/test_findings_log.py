"""Findings are told once, however often they are found, and are known again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from analyzer.query.findings import rule
from analyzer.query.incidents import Finding
from analyzer.watch.findings_log import FindingsLog


def finding(name: str = "throttled", severity: str = "high", **row: Any) -> Finding:
    return Finding(rule(name), severity, {"weight": 1.0, "first_time_ns": 10, "last_time_ns": 20} | row, ())


def test_a_finding_is_new_once_and_again_after_it_was_over() -> None:
    log = FindingsLog()
    first = finding(who="a")
    assert [told.number for told in log.take([first], 30)] == [1]
    assert log.take([replace(first, row=first.row | {"last_time_ns": 99})], 40) == []
    assert log.all()[0].finding.row["last_time_ns"] == 99
    assert log.take([], 50) == []
    assert log.all()[0].over
    assert [told.number for told in log.take([first], 60)] == [2]


def test_what_it_is_about_tells_findings_apart_and_connections_do_not() -> None:
    log = FindingsLog()
    assert len(log.take([finding(who="a"), finding(who="b")], 30)) == 2
    assert log.take([finding(who="a", connection=5), finding(who="b", connection=6)], 40) == []


def test_a_symptom_stands_below_its_cause() -> None:
    log = FindingsLog()
    symptom, cause = finding("unanswered", who="a"), finding("broker_gone", broker="b")
    log.take([symptom], 30)
    log.take([replace(cause, symptoms=(symptom,))], 40)
    assert [told.finding.rule.name for told in log.all()] == ["broker_gone"]


def test_what_is_over_is_not_running_in_the_report() -> None:
    log = FindingsLog()
    log.take([replace(finding(who="a"), running=True)], 30)
    log.take([finding("failing", "medium", who="b")], 40)
    assert [(each.severity, each.running) for each in log.findings()] == [("high", False), ("medium", None)]


def test_age_counts_from_when_it_began() -> None:
    log = FindingsLog()
    (told,) = log.take([finding(who="a")], 30)
    assert told.age_ns(1_000) == 990
