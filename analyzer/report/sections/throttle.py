"""Who is throttled: by client and API."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.report import layout
from analyzer.report.facts import Facts
from analyzer.report.format import client, count, duration, milliseconds, percent, safe, share
from analyzer.report.layout import Column, Row

COMMAND = "kanalyze throttle"
COLUMNS = (
    Column("client", least=12),
    Column("address", least=15, spare=3),
    Column("user", least=8, spare=2),
    Column("API", least=12),
    Column("replies", right=True, spare=5),
    Column("throttled", right=True),
    Column("of replies", right=True, spare=4),
    Column("sum", right=True, spare=1),
    Column("longest", right=True),
    Column("share of time", right=True),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per client and API, the longest throttled first."""
    rows = facts.rows("throttle")
    if not rows:
        return []
    lines = [layout.heading("Throttling", width)]
    lines += layout.table(COLUMNS, [_line(row) for row in rows[:limit]], width)
    lines += layout.more(len(rows[limit:]) if limit is not None else 0, COMMAND, width)
    notes = ["Share of time: that of the client's worst connection, over all its APIs."]
    if unknown := sum(row["unknown"] for row in rows):
        notes.append(f"{count(unknown)} replies do not say whether they were throttled.")
    return lines + layout.remarks(" ".join(notes), width)


def _line(row: dict[str, Any]) -> Row:
    return Row(
        [
            client(row),
            safe(row["client_address"]),
            safe(row["principal"]),
            safe(row["api_name"]),
            count(row["replies"]),
            count(row["throttled"]),
            percent(row["throttled"], row["replies"]),
            milliseconds(row["throttle_time_ms"]),
            milliseconds(row["max_throttle_time_ms"]),
            f"{share(row['share'])} ({duration(row['throttled_ns'])})" if row["share"] is not None else "unknown",
        ]
    )
