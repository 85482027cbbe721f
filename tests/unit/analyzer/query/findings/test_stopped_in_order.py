"""Whether a broker that is gone was stopped in order: the controller allowed that just before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from broker_stories import STOPS, told
from incident_stories import gone
from made_rows import connection, dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(
    ("event", "stopped"),
    (
        ({}, "stopped in order"),
        # It asked, and the capture has no answer that allows it.
        ({"broker_state": STOPS}, None),
        ({"client_address": "10.0.1.7"}, None),
    ),
)
def test_a_stop_that_was_granted_is_told(event: dict[str, Any], stopped: str | None, tmp_path: Path) -> None:
    (granted,) = told(STOPS, [2.4], granted=True)["broker_events"]
    events = [granted | {"client_address": "10.0.1.1", "connection": 1} | event]
    with dataset(tmp_path, gone(5) | {"broker_events": events}) as made:
        (found,) = find(made, [rule("broker_gone")])
    assert found.row["stopped"] == stopped


@pytest.mark.parametrize(
    ("granted_s", "started_s", "stopped"),
    (
        # It was stopped in order, started again, and is gone a second time.
        (0.5, 1, None),
        # It is gone, was started again, and stopped before anybody asked.
        (2.4, 2.2, None),
        # It was stopped, and starts.
        (2.4, 3, "stopped in order"),
    ),
)
def test_a_stop_before_or_after_another_start_is_another_one(
    granted_s: float, started_s: float, stopped: str | None, tmp_path: Path
) -> None:
    (granted,) = told(STOPS, [granted_s], granted=True)["broker_events"]
    (started,) = told("starting", [started_s])["broker_events"]
    events = [row | {"client_address": "10.0.1.1", "connection": 1} for row in (granted, started | {"exchange": 1})]
    with dataset(tmp_path, gone(5) | {"broker_events": events}) as made:
        (found,) = find(made, [rule("broker_gone")])
    assert found.row["stopped"] == stopped


@pytest.mark.parametrize(("broker_id", "stopped"), [(3, "stopped in order"), (4, None), (None, None)])
def test_of_several_brokers_on_a_host_it_is_the_one_of_that_id(
    broker_id: int | None, stopped: str | None, tmp_path: Path
) -> None:
    (granted,) = told(STOPS, [2.4], granted=True)["broker_events"]
    story = gone(5) | {"broker_events": [granted | {"client_address": "10.0.1.1", "connection": 1}]}
    story["connections"] += [
        connection(70 + n, broker_address="10.0.1.1", broker_port=9092 + n, broker_id=n) for n in (1, 2)
    ]
    for link in story["connections"]:
        if (link["broker_address"], link["broker_port"]) == ("10.0.1.1", 9092):
            link["broker_id"] = broker_id
    with dataset(tmp_path, story) as made:
        assert [found.row["stopped"] for found in find(made, [rule("broker_gone")])] == [stopped]
