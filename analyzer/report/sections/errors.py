"""Errors by code, API, topic and client: failures first, what belongs to normal operation last and dimmed."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer import expected
from analyzer.report import layout
from analyzer.report.facts import Facts
from analyzer.report.format import client, clock, count, safe
from analyzer.report.layout import Column, Row

COMMAND = "kanalyze errors"
COLUMNS = (
    Column("error", least=18),
    Column("API", least=10),
    Column("topic", least=10),
    Column("client", least=10),
    Column("count", right=True),
    Column("first", spare=4),
    Column("last", spare=3),
    Column("remark", spare=1),
)


def is_expected(row: dict[str, Any]) -> bool:
    """True when every code of the row belongs to normal operation: by the tables, else by how long it lasted."""
    if row["expected"] + row["unjudged"] < row["count"]:
        return False
    lasted_ns = row["last_time_ns"] - row["first_time_ns"]
    return row["unjudged"] == 0 or expected.is_expected(row["api_name"], row["code"], lasted_ns)


def name(row: dict[str, Any]) -> str:
    """1 OFFSET_OUT_OF_RANGE; a code that nobody knows is "999 unknown"."""
    return f"{row['code']} {safe(row['name'] or 'unknown')}"


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per code, API, topic and client."""
    rows = sorted(facts.rows("errors"), key=is_expected)
    if not rows:
        return []
    lines = [layout.heading("Errors", width)]
    lines += layout.table(COLUMNS, [_line(row) for row in rows[:limit]], width)
    shown = len(rows) if limit is None else min(limit, len(rows))
    return lines + layout.more(rows[0]["total_rows"] - shown, COMMAND, width)


def _line(row: dict[str, Any]) -> Row:
    normal = is_expected(row)
    about = row["topic"] if row["topic"] is not None else row["entity"]
    return Row(
        [
            name(row),
            safe(row["api_name"]),
            safe(about),
            client(row),
            count(row["count"]),
            clock(row["first_time_ns"]),
            clock(row["last_time_ns"]),
            "normal" if normal else "retriable" if row["retriable"] else "",
        ],
        layout.DIM if normal else "",
    )
