"""In which states brokers were, and what the rules make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from broker_stories import STOPS, Tables, at, beating, each_2s, told
from made_rows import capture, connection, dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

CONTROLLER = "10.0.1.9"


def with_silent(story: Tables, controller: str) -> Tables:
    """Broker 4 beside it sends no heartbeat for 30 s, and broker 5 goes on; both talk with this controller."""
    moments = {4: [*each_2s(0, 12), *each_2s(42, 58)], 5: each_2s(0, 58)}
    for number, (broker, when) in enumerate(moments.items(), start=1):
        place = {"connection": 10 + broker, "client_address": f"10.0.1.{broker}"}
        beats = beating(when)["exchanges"]
        row = place | {"client_id": str(broker), "broker_address": controller}
        story["exchanges"] += [beat | row | {"exchange": 1000 * number + n} for n, beat in enumerate(beats)]
        link = {"close": "none", "last_time_ns": story["connections"][0]["last_time_ns"], "role": "controller"}
        row = place | link | {"broker_address": controller, "broker_port": 9093}
        story["connections"].append(connection(10 + broker, **row))
    return story


@pytest.mark.parametrize(("controller", "silent"), (("10.0.1.9", "4 (10.0.1.4)"), ("10.0.2.9", None)))
def test_only_a_broker_of_the_same_controller_holds_up_a_stop(
    controller: str, silent: str | None, tmp_path: Path
) -> None:
    """Connections to controllers do not tell their cluster."""
    story = told(STOPS, each_2s(10, 46), granted=True)
    for row in (*story["connections"], *story["broker_events"]):
        row |= {"cluster": None, **({"broker_address": CONTROLLER} if "broker_address" in row else {})}
    story["connections"][0] |= {"broker_port": 9093}
    with dataset(tmp_path, with_silent(story, controller)) as made:
        (found,) = find(made, [rule("shutdown_held")])
    assert found.row["silent"] == silent


@pytest.mark.parametrize(("event", "tool"), (("heartbeat", "quorum"), ("controlled_shutdown", "under-replicated")))
def test_what_holds_a_stop_up_depends_on_the_controller(event: str, tool: str, tmp_path: Path) -> None:
    story = told(STOPS, each_2s(10, 46))
    for row in story["broker_events"]:
        row["event"] = event
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("shutdown_held")])
    assert tool in found.row["advice"]


def test_a_failed_log_directory_is_told_once(tmp_path: Path) -> None:
    """Also while the broker stops."""
    story = told("running", each_2s(10, 30), dirs=1)
    more = {"broker_state": STOPS, "offline_log_dirs": 2}
    story["broker_events"] += [row | more for row in told(STOPS, each_2s(32, 40))["broker_events"]]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("log_dir_offline")])
    assert found.row["offline_log_dirs"] == 2


def test_the_cluster_is_that_of_the_broker(tmp_path: Path) -> None:
    story = told("starting", each_2s(10, 30))
    rows: list[dict[str, Any]] = [*story["connections"], *story["broker_events"]]
    for row in rows:
        row["cluster"] = None
    story["connections"].append(connection(2, broker_address="10.0.1.3", cluster="c"))
    with dataset(tmp_path, story) as made:
        (row,) = made.metric("broker_states")
    assert row["cluster"] == "c"


def test_what_another_capture_point_saw_does_not_end_a_silence(tmp_path: Path) -> None:
    story = beating([*each_2s(0, 20), *each_2s(32, 58)])
    again = [row | {"connection": 10, "exchange": 500 + n} for n, row in enumerate(story["exchanges"])]
    story["exchanges"] += again
    story["connections"].append(story["connections"][0] | {"connection": 10, "tap": "another"})
    with dataset(tmp_path, story) as made:
        rows = made.metric("broker_states")
    assert [row["broker_state"] for row in rows] == ["silent"]


@pytest.mark.parametrize(
    ("state", "until_s", "severity", "said"),
    (
        ("fenced", 30, "medium", "was kept out of it (fenced) for 20.0 s"),
        ("starting", 200, "info", "did not ask to be in service yet, for 3 min 10 s, up to the end of the capture"),
    ),
)
def test_a_broker_that_starts_is_not_yet_kept_out(
    state: str, until_s: float, severity: str, said: str, tmp_path: Path
) -> None:
    story = told(state, each_2s(10, until_s))
    story["captures"] = [capture(last_time_ns=at(200))]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("not_in_service")])
    assert found.severity == severity and sentence(found.rule.says, found.row).endswith(said)


@pytest.mark.parametrize(("moments", "running"), (([*each_2s(0, 20), *each_2s(32, 58)], False), (each_2s(0, 30), True)))
def test_a_silence_is_over_where_a_heartbeat_came(moments: list[float], running: bool, tmp_path: Path) -> None:
    story = beating(moments)
    story["exchanges"] = [row | {"response_file": 0} for row in story["exchanges"]]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("heartbeats_missed")])
    assert found.running is running
