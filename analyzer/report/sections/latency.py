"""Latency by API and kind: what the broker takes first, waits by design last and never as slow."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.kinds import BROKER, MIXED, WAIT, kind_of
from analyzer.report import layout
from analyzer.report.facts import Facts
from analyzer.report.format import count, duration, rate, safe
from analyzer.report.layout import Column, Row

COMMAND = "kanalyze latency"
COLUMNS = (
    Column("API", least=26),
    Column("count", right=True),
    Column("rate/s", right=True, spare=3),
    Column("p50", right=True),
    Column("p90", right=True),
    Column("p99", right=True),
    Column("max", right=True),
    Column("errors", right=True, spare=1),
    Column("throttled", right=True, spare=2),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per API and kind, the most frequent first in each class."""
    rows = facts.rows("latency")
    if not rows:
        return []
    by_reach: dict[str, list[dict[str, Any]]] = {BROKER: [], MIXED: [], WAIT: []}
    for row in rows:
        by_reach[kind_of(row["kind"]).reach].append(row)
    # Waits by design come last, and only so many of them that they do not push the others off the screen.
    shown = by_reach[BROKER][:limit]
    for reach in (MIXED, WAIT):
        shown += by_reach[reach][: None if limit is None else max(limit // 2, 1)]
    lines = [layout.heading("Latency (request's last byte to reply's first)", width)]
    lines += layout.table(COLUMNS, [_line(row) for row in shown], width)
    return lines + layout.more(len(rows) - len(shown), COMMAND, width)


def _line(row: dict[str, Any]) -> Row:
    kind = kind_of(row["kind"])
    name = safe(row["api_name"]) + (f", {safe(kind.words)}" if kind.words else "")
    seen = [name, count(row["count"]), rate(row["rate_per_s"])]
    if kind.reach == WAIT:
        median = f": median {duration(row['p50_ns'])}" if row["p50_ns"] is not None else ""
        return Row(seen, layout.DIM, f"(waits by design{median})")
    times = [duration(row[name]) for name in ("p50_ns", "p90_ns", "p99_ns", "max_ns")]
    counts = [count(row["errors"]), count(row["throttled"])]
    return Row(seen + times + counts, layout.DIM if kind.reach == MIXED else "")
