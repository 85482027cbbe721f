"""One incident is one, however long it goes on and whatever is found of it."""

from __future__ import annotations

from typing import Any

from analyzer.query.findings import rule
from analyzer.query.incidents import Finding
from analyzer.watch.incident_times import Incident, Incidents

SECOND = 1_000_000_000
APART = 600 * SECOND


def finding(begin: int, end: int, severity: str = "high", name: str = "throttled", **row: Any) -> Finding:
    return Finding(
        rule(name), severity, {"weight": 1.0, "first_time_ns": begin * SECOND, "last_time_ns": end * SECOND} | row, ()
    )


def test_what_touches_in_time_is_one() -> None:
    incidents = Incidents("high", APART)
    first = incidents.take([finding(10, 20)], 21 * SECOND)
    assert first is not None
    assert incidents.take([finding(10, 30), finding(25, 40, name="broker_gone")], 41 * SECOND) is first
    assert first.end_ns == 40 * SECOND


def test_what_begins_later_is_another() -> None:
    incidents = Incidents("high", APART)
    first = incidents.take([finding(10, 20)], 21 * SECOND)
    assert incidents.take([finding(10, 20), finding(100, 110)], 111 * SECOND) is not first


def test_a_long_one_does_not_hide_what_comes_when_its_extract_is_long_written() -> None:
    incidents = Incidents("high", APART)
    first = incidents.take([finding(10, 20)], 21 * SECOND)
    assert incidents.take([finding(10, 900)], 901 * SECOND) is first
    assert incidents.take([finding(10, 900), finding(890, 900, name="broker_gone")], 902 * SECOND) is not first


def test_what_is_milder_is_none() -> None:
    assert Incidents("high", APART).take([finding(10, 20, "medium")], 21 * SECOND) is None
    assert Incidents("medium", APART).take([finding(10, 20, "medium")], 21 * SECOND) is not None


def test_after_a_restart_the_incident_is_known() -> None:
    known = Incident(10 * SECOND, 20 * SECOND, 21 * SECOND, written=True)
    taken = Incidents("high", APART, known).take([finding(10, 60)], 61 * SECOND)
    assert taken is known and taken.written
