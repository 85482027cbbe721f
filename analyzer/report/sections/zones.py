"""Bytes on the wire by the zones of both ends; on parts, by client and by topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from analyzer.report import text_tables
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import client, count, percent, safe, share, size
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze zones"
NOTHING = "No Kafka connections in this capture."
FLOWS = (
    Column("from zone", least=10),
    Column("to zone", least=10),
    Column("who", least=16),
    Column("connections", right=True, spare=2),
    Column("bytes", right=True),
    Column("share", right=True, spare=1),
    Column("cost", right=True, spare=1),
)
CLIENTS = (
    Column("client", least=12),
    Column("address", least=12, spare=3),
    Column("group", least=10, spare=2),
    Column("zone", least=8),
    Column("within", right=True),
    Column("sent across", right=True),
    Column("received across", right=True),
    Column("unknown", right=True),
    Column("cost", right=True, spare=1),
)
TOPICS = (
    Column("topic", least=12),
    Column("who", least=12),
    Column("within", right=True),
    Column("across", right=True),
    Column("unknown", right=True),
)
NOT_KNOWN = (
    "Zones of some bytes are not known: give --names, set broker.rack and client.rack, and write both as the names do "
    "(a client.rack that no broker has tells nothing)."
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The sums, then a line for each pair of zones and direction, what crosses first."""
    rows = facts.rows("zones")
    if not rows:
        return []
    lines = [text_tables.heading("Bytes on the wire by zone", width)]
    lines += text_tables.table_of_filled(FLOWS, [_flow(row) for row in rows[:limit]], width)
    lines += text_tables.more(len(rows) - len(rows[:limit]), facts.ask(f"{COMMAND} --limit 0"), width)
    lines += text_tables.remarks(_sums(rows), width)
    return lines + (text_tables.remarks(NOT_KNOWN, width) if _bytes(rows, "unknown") else [])


def clients(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """A line per client, whose bytes cross most first."""
    rows = facts.rows("zone_clients")
    if not rows:
        return []
    lines = [text_tables.heading("Bytes on the wire of clients, by zone", width)]
    lines += text_tables.table_of_filled(CLIENTS, [_client(row) for row in rows[:limit]], width)
    return lines + text_tables.more(
        rows[0]["total_rows"] - len(rows[:limit]), facts.ask(f"{COMMAND} --part clients --limit 0"), width
    )


def topics(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """A line per topic and direction."""
    rows = facts.rows("zone_topics")
    if not rows:
        return []
    sizes = ("within_bytes", "across_bytes", "unknown_bytes")
    table = [
        Row([safe(row["topic"]), _who(row, row["way"]), *(size(row[name]) for name in sizes)]) for row in rows[:limit]
    ]
    lines = [text_tables.heading("Bytes of records by topic and zone", width), *text_tables.table(TOPICS, table, width)]
    return lines + text_tables.more(
        rows[0]["total_rows"] - len(table), facts.ask(f"{COMMAND} --part topics --limit 0"), width
    )


def _bytes(rows: Rows, way: str) -> int:
    return sum(row["bytes"] for row in rows if row["zone_way"] == way)


def _sums(rows: Rows) -> str:
    """3.1 MB across zones (31 %), 6.9 MB within (69 %), 0 B unknown; 0.02 at this price."""
    total = sum(row["bytes"] for row in rows)
    words = {"across": "across zones", "within": "within a zone", "unknown": "unknown"}
    parts = [f"{size(_bytes(rows, way))} {text} ({percent(_bytes(rows, way), total)})" for way, text in words.items()]
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    return f"{', '.join(parts)}{f'; what crosses costs {money(sum(costs))}' if costs else ''}."


def money(amount: float) -> str:
    """Of a capture the sums are small: 12.30, 0.0042."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.2g}"


def _who(row: dict[str, Any], way: str) -> str:
    return f"{'replication' if row['between_brokers'] else 'clients'}, {way}"


def _flow(row: dict[str, Any]) -> Row:
    way = "requests" if row["way"] == "to_broker" else "replies"
    who = f"{'between brokers' if row['between_brokers'] else 'clients'}, {way}"
    cost = "" if row["cost"] is None else money(row["cost"])
    zones = [safe(row[name]) if row[name] is not None else "unknown" for name in ("from_zone", "to_zone")]
    return Row([*zones, who, count(row["connections"]), size(row["bytes"]), share(row["share"]), cost])


def _client(row: dict[str, Any]) -> Row:
    sizes = [
        size(row[name]) for name in ("within_bytes", "sent_across_bytes", "received_across_bytes", "unknown_bytes")
    ]
    cost = "" if row["cost"] is None else money(row["cost"])
    return Row(
        [client(row), safe(row["client_address"]), safe(row["group_id"]), safe(row["client_zone"]), *sizes, cost]
    )


PARTS: dict[str, Callable[[Facts, int, int | None], list[Text]]] = {
    "flows": render,
    "clients": clients,
    "topics": topics,
}
