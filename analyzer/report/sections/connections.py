"""Connections that stand out: never answered, cut off, with lost bytes, much sent again, reset."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.report import layout
from analyzer.report.facts import Facts
from analyzer.report.format import client, count, endpoint, safe, share, size, things
from analyzer.report.layout import Column, Row

COMMAND = "kanalyze connections"
COLUMNS = (
    Column("client", least=10),
    Column("from", least=14, spare=2),
    Column("to", least=14),
    Column("requests", right=True, spare=1),
    Column("what stands out", least=40),
)
RETRANSMITTED_SHARE = 0.01


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per connection; those that were only reset, which clients also do in peace, are counted in one line."""
    rows = facts.rows("connections_of_note")
    if not rows:
        return []
    found = [(row, words) for row in rows if (words := _what(row)) != ["reset"]]
    lines = [layout.heading("Connections that stand out", width)]
    if found:
        table = [_line(row, words) for row, words in found[:limit]]
        lines += layout.table(COLUMNS, table, width)
    hidden = rows[0]["total_rows"] - len(rows) + (len(found[limit:]) if limit is not None else 0)
    lines += layout.more(hidden, COMMAND, width)
    if resets := len(rows) - len(found):
        text = (
            f"{things(resets, 'more connection' if found else 'connection')} closed by a reset, nothing else to note."
        )
        lines += layout.remarks(text, width)
    return lines


def _what(row: dict[str, Any]) -> list[str]:
    parts = []
    if row["never_answered"]:
        parts.append("never answered")
    elif row["unanswered"]:
        parts.append(f"{things(row['unanswered'], 'request')} cut off")
    if row["gaps"]:
        parts.append(f"{things(row['gaps'], 'gap')} ({size(row['gap_bytes'])})")
    if row["packets"] >= 100 and (row["retransmitted_share"] or 0) > RETRANSMITTED_SHARE:
        parts.append(f"{share(row['retransmitted_share'])} of packets sent again")
    if row["reset"]:
        parts.append("reset")
    return parts


def _line(row: dict[str, Any], words: list[str]) -> Row:
    return Row(
        [
            client(row),
            endpoint(safe(row["client_address"]), row["client_port"]),
            endpoint(safe(row["broker_address"]), row["broker_port"]),
            count(row["requests"]),
            ", ".join(words),
        ]
    )
