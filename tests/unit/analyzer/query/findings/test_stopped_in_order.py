"""Whether a broker that is gone was stopped in order: the controller allowed that just before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from broker_stories import STOPS, told
from incident_stories import gone
from made_rows import dataset

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
