"""The screen fits, whatever there is to show; captured text does nothing to a terminal."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest
from rich.cells import cell_len

from analyzer.cli.watch_screen import Keys
from analyzer.query.findings import rule
from analyzer.query.incidents import Finding
from analyzer.query.readability import PARTLY, WHOLE, Readability, Reason
from analyzer.watch.answers import Answer
from analyzer.watch.findings_log import Told
from analyzer.watch.screen import Scene, Shown, lines, spark
from analyzer.watch.told import Pulse

HOSTILE = "\x1b[2J\u202eorders\n" + "long-" * 60
SECOND = 1_000_000_000


def latency(
    api: str, count: int, p99: int = 5_000_000, kind: str | None = None, reach: str = "broker"
) -> dict[str, Any]:
    return {"api_name": api, "kind": kind, "reach": reach, "count": count, "rate_per_s": count / 7, "errors": count % 3,
            "p50_ns": p99 // 4, "p99_ns": p99, "max_ns": 2 * p99}  # fmt: skip


def throttled(client: str) -> Finding:
    row = dict.fromkeys(re.findall(r"{(\w+)", rule("throttled").says + rule("throttled").do), None) | {
        "weight": 1.0, "first_time_ns": 5 * SECOND, "last_time_ns": 9 * SECOND, "client_id": client,
        "muted_share": 0.4, "who": client,
    }  # fmt: skip
    return Finding(rule("throttled"), "high", row, ())


def scene(findings: int = 2, apis: int = 20, name: str = "orders", whole: bool = True) -> Scene:
    told = [Told(n, throttled(f"{name}{n}"), SECOND) for n in range(1, findings + 1)]
    errors = [{"code": n, "name": f"{name}_ERROR", "api_name": "Fetch", "topic": name, "client_id": name, "unexpected": 3,
               "between_brokers": False, "last_time_ns": n * SECOND} for n in range(8)]  # fmt: skip
    readable = Readability(
        "everything", WHOLE if whole else PARTLY, () if whole else (Reason("limit", {"option": "--x"}),)
    )
    rows = [latency(f"Api{n}", 1000 - n, (n + 1) * 1_000_000) for n in range(apis)]
    rows.append(latency("Fetch", 5000, 500_000_000, "fetch_empty", "wait"))
    slots = [row | {"slot_ns": n * SECOND} for row in rows for n in range(10)]
    throttle = [{"client_id": name, "client_address": "10.0.0.1", "share": 0.38}]
    answer = Answer(0, 10 * SECOND, {}, readable, rows, slots, SECOND, throttle, errors, told, [], pa.table({}), {}, 1)
    pulses = [
        Pulse(0, 0, 0, 0, 0, 0, 0, False, SECOND),
        Pulse(9_000, 7_000_000, 500, 10 * SECOND, 99_000_000, 1, 5, False, 3 * SECOND),
    ]
    return Scene([name], answer, pulses)


def shown(found: Scene, width: int, height: int) -> list[str]:
    return [line.plain for line in lines(found, width, height)]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (60, 12), (200, 60)])
@pytest.mark.parametrize("found", [scene(), scene(30, 60, HOSTILE, False), scene(0, 1), Scene(["-"], None, [Pulse()])])
def test_lines_fit_and_do_nothing(found: Scene, width: int, height: int) -> None:
    for opened in (None, 1, 9):
        found.shown.opened = opened
        text = shown(found, width, height)
        assert len(text) == height
        assert all(cell_len(line) <= width for line in text)
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", "".join(text))
    found.shown.opened = None


def test_at_80_by_24_all_that_matters_is_there() -> None:
    text = "\n".join(shown(scene(), 80, 24))
    for words in ("1 capture file (5 B) overwritten", "250 requests/s", "behind by 99 MB", "orders1", "for 5.0 s", "Api0",
                  "Fetch, no data", "Throttled: orders 38 % of its time", "Errors", "q report"):  # fmt: skip
        assert words in text, text


def test_keys_sort_filter_freeze_open_and_quit() -> None:
    found = scene()
    keys = Keys(found.shown)
    keys.press("s", found)
    assert "sort by p99" in shown(found, 80, 24)[-1]
    assert next(line for line in shown(found, 80, 24) if "Api" in line).strip().startswith("Api19")
    for key in "/api3":
        keys.press(key, found)
    assert "filter: api3_" in shown(found, 80, 24)[-1]
    keys.press("\n", found)
    assert [line.split()[0] for line in shown(found, 80, 24) if line.strip().startswith("Api")] == ["Api3"]
    keys.press("\x1b", found)
    assert found.shown.chosen == ""
    keys.press("f", found)
    assert "FROZEN" in shown(found, 80, 24)[0]
    keys.press("2", found)
    assert any(line.strip().startswith("do ") for line in shown(found, 80, 24))
    keys.press("\x1b", found)
    assert found.shown.opened is None
    keys.press("7", found)
    assert found.shown.opened is None
    keys.press("q", found)
    assert keys.quits


def test_a_sparkline_has_its_points_in_their_places() -> None:
    assert spark({0: 1_000_000, 1: 64_000_000}).rstrip() == "▁█"
    assert spark({2: 5})[:3] == "  ▁"


def test_a_shown_finding_that_is_over_says_so() -> None:
    found = scene()
    assert found.answer is not None
    found.answer.findings[0].over = True
    assert any("high   over" in line for line in shown(found, 80, 24))


def test_nothing_chosen_is_everything() -> None:
    assert Shown().chosen == ""
