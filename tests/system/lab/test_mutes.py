"""Throttle mutes against what was written down of the packets, and against the broker's clock."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import median, median_high
from typing import Any

import pytest
from program import found_capture

from analyzer.base.options import Options
from analyzer.run.local import open_dataset

MUTES = """
select m.*, x.api_name, x.client_id, x.api_key, x.latency_ns, x.response_time_ns
from mutes as m join exchanges as x on x.exchange = m.exchange
"""


def rows_of(name: str, sql: str) -> list[dict[str, Any]]:
    capture = found_capture(name)
    with open_dataset([str(path) for path in capture.files], Options()) as dataset:
        return dataset.query(sql)


@pytest.mark.parametrize(("name", "applies"), [("broker_11", False), ("broker_24", True), ("broker_28", True)])
def test_mutes_are_those_that_were_seen_on_the_wire(name: str, applies: bool, shared: Path) -> None:
    truth = json.loads((shared / "captures" / "lab" / "TRUTH.json").read_text())[name]["throttle_on_the_wire"]
    found = defaultdict(list)
    for row in rows_of(name, MUTES):
        assert row["applies"] is applies
        found[f"{row['api_name'].upper()} {row['client_id']}"].append(row)
    assert found.keys() == truth.keys()
    for who, seen in truth.items():
        mine = found[who]
        assert len(mine) == seen["exchanges"]
        throttles = [row["throttle_time_ms"] for row in mine]
        assert [min(throttles), max(throttles)] == [seen["throttle_time_ms"][0], seen["throttle_time_ms"][2]]
        assert median_high(throttles) == seen["throttle_time_ms"][1]
        waits = [row["latency_ns"] / 1e6 for row in mine]
        assert [min(waits), max(waits)] == pytest.approx([seen["wire_ms"][0], seen["wire_ms"][2]], abs=0.1)


@pytest.mark.parametrize("name", ["broker_24", "broker_28", "throttle"])
def test_a_muted_request_is_answered_when_the_mute_ends(name: str) -> None:
    """The request after a throttled reply, where it waited: what is left of its wait without the mute is the broker's work."""
    rows = rows_of(name, "select muted_ns, latency_ns, service_ns from exchanges where muted_ns > 100000000")
    assert len(rows) >= 3
    assert median(row["service_ns"] for row in rows) < 10_000_000
    assert all(row["muted_ns"] <= row["latency_ns"] for row in rows)


def test_an_old_broker_keeps_nothing_mute() -> None:
    rows = rows_of(
        "broker_11",
        "select max(muted_ns) as muted, count(*) filter (where muted_ns is null) as unknown "
        "from exchanges where status = 'answered'",
    )
    assert rows == [{"muted": 0, "unknown": 0}]
    assert all(row["held_ns"] is None and row["sent_inside"] is None for row in rows_of("broker_11", MUTES))


def test_windows_say_how_long_requests_waited_in_them() -> None:
    """held_ns (from the windows) and muted_ns (from the stage that pairs messages) are told by different code."""
    rows = rows_of("throttle", "select connection, sum(held_ns) as held from mutes group by connection")
    waited = rows_of(
        "throttle", "select connection, sum(queue_ns + muted_ns) as waited from exchanges group by connection"
    )
    most = {row["connection"]: row["waited"] for row in waited}
    assert sum(row["held"] for row in rows) > 15_000_000_000
    for row in rows:
        assert row["held"] <= (most[row["connection"]] or 0) + 5_000_000
