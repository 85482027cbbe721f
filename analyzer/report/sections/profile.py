"""Classes of requests, ranked by the time that clients waited for them: what a query digest is for a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rich.text import Text

from analyzer.base.wait_kinds import BROKER
from analyzer.report import log_parts, text_tables
from analyzer.report.dimension_columns import Cell, key_columns
from analyzer.report.facts import Facts
from analyzer.report.format import count, duration, rate, share, size
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze profile"
DEFAULT = ("api", "client", "subject")
# Without its names a class is nothing: numbers go first.
LEAST = {"API": 18, "topic or group": 14}
NUMBERS = (
    Column("time", right=True),
    Column("sending", right=True, spare=3),
    Column("share", right=True),
    Column("count", right=True, spare=1),
    Column("rate/s", right=True, spare=6),
    Column("mean", right=True, spare=2),
    Column("p95", right=True, spare=7),
    Column("p99", right=True),
    Column("max", right=True, spare=4),
    Column("V/M", right=True, spare=5),
    Column("bytes", right=True, spare=3),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per class, the costliest first; waits by design last, without a time."""
    rows = facts.rows("profile")
    if not rows:
        return []
    keys = key_columns(facts.settings, DEFAULT)
    wide = [replace(column, least=LEAST.get(column.title, column.least)) for column, _ in keys]
    columns = [Column("#", right=True), *wide, *NUMBERS]
    lines = [text_tables.heading("Request classes by the time that clients waited for them, the longest first", width)]
    cells = [cell for _, cell in keys]
    lines += text_tables.table(columns, [_line(at, cells, row) for at, row in enumerate(rows[:limit], 1)], width)
    shown = len(rows) if limit is None else min(limit, len(rows))
    lines += text_tables.more(rows[0]["total_rows"] - shown, facts.ask(f"{COMMAND} --limit 0"), width)
    text = "time: sum of what sending took and of latencies, concurrent requests counted separately; waits by design are not "
    text += "counted and come last. "
    text += "V/M: variance to mean of the latency in seconds."
    lines += text_tables.remarks(text, width)
    if of_log := log_parts.table(facts, width, limit, COMMAND):
        lines += [Text(""), *of_log]
    return lines


def _line(place: int, keys: Sequence[Cell], row: dict[str, Any]) -> Row:
    counts = row["reach"] == BROKER
    return Row(
        [
            str(place),
            *(cell(row) for cell in keys),
            duration(row["waited_ns"]),
            duration(row["sending_ns"]),
            share(row["share"]),
            count(row["count"]),
            rate(row["rate_per_s"]),
            duration(None if row["mean_ns"] is None else round(row["mean_ns"])),
            duration(row["p95_ns"]),
            duration(row["p99_ns"]),
            duration(row["max_ns"]),
            _spread(row["variance_to_mean_s"]),
            size(row["bytes"]),
        ],
        "" if counts else text_tables.DIM,
    )


def _spread(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value >= 0.005 else "0.00" if value == 0 else "<0.01"


PARTS = {"log": partial(log_parts.alone, command=COMMAND)}
