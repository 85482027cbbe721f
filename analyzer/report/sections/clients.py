"""Who talks: clients by address, client id and user."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.report import layout
from analyzer.report.facts import Facts
from analyzer.report.format import client, count, safe, size
from analyzer.report.layout import Column, Row

COMMAND = "kanalyze clients"
COLUMNS = (
    Column("client", least=12),
    Column("address", least=15),
    Column("user", least=8, spare=2),
    Column("software", least=10, spare=4),
    Column("connections", right=True, spare=3),
    Column("requests", right=True),
    Column("sent", right=True, spare=5),
    Column("received", right=True, spare=6),
    Column("errors", right=True),
    Column("throttled", right=True),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per client, the busiest first."""
    rows = facts.rows("clients")
    if not rows:
        return []
    lines = [layout.heading("Clients", width)]
    lines += layout.table(COLUMNS, [_line(row) for row in rows[:limit]], width)
    shown = len(rows) if limit is None else min(limit, len(rows))
    return lines + layout.more(rows[0]["total_rows"] - shown, COMMAND, width)


def _line(row: dict[str, Any]) -> Row:
    software = " ".join(part for part in (row["software_name"], row["software_version"]) if part)
    return Row(
        [
            client(row),
            safe(row["client_address"]),
            safe(row["principal"]),
            safe(software or None),
            count(row["connections"]),
            count(row["requests"]),
            size(row["request_bytes"]),
            size(row["response_bytes"]),
            count(row["errors"]),
            count(row["throttled"]),
        ]
    )
