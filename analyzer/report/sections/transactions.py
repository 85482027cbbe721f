"""Transactions by transactional id, and idempotent producers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.report import text_tables
from analyzer.report.causes import FENCINGS, causes
from analyzer.report.cluster_column import with_clusters
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import NONE, client, clock, count, duration, safe, share, size
from analyzer.report.impact import GIVEN_UP_TRANSACTIONS, HELD_TRANSACTIONS
from analyzer.report.text_tables import Column, Row
from dissectors.kafka.schema.error_codes import error_code

COMMAND = "kanalyze transactions"
# What asks for one table alone, by its title.
PART = {
    "Transactions, one by one": " --part list",
    "Idempotent producers": " --part producers",
    "Clients that send batches again": " --part resent",
}
NOTHING = "No transactions and no idempotent producers in this capture."
NOTHING_OF_LOG = "No transactions; of idempotent producers and their batches a log of requests says nothing."

IDS = (
    Column("transactional id", least=14),
    Column("client", least=10, spare=3),
    Column("begun", right=True),
    Column("committed", right=True),
    Column("aborted", right=True),
    Column("taken over", right=True, spare=1),
    Column("open", right=True),
    Column("p50", right=True),
    Column("max", right=True),
    Column("timeout", right=True, spare=4),
    Column("records", right=True, spare=5),
    Column("fenced", right=True),
    Column("errors", right=True, spare=2),
)
LIST = (
    Column("begin (UTC)"),
    Column("transactional id", least=14),
    Column("outcome"),
    Column("duration", right=True),
    Column("client", least=10, spare=1),
    Column("producer", right=True, spare=3),
    Column("epoch", right=True, spare=4),
    Column("records", right=True),
    Column("partitions", right=True, spare=2),
    Column("exchange", spare=5),
)
PRODUCERS = (
    Column("producer id", right=True),
    Column("transactional id", least=12),
    Column("client", least=10, spare=2),
    Column("epochs", spare=4),
    Column("partitions", right=True, spare=5),
    Column("batches", right=True),
    Column("records", right=True, spare=3),
    Column("size", right=True, spare=6),
    Column("resent", right=True),
    Column("gaps", right=True),
    Column("out of order", right=True, spare=1),
    Column("fenced", right=True),
)


RESENT = (
    Column("client", least=10),
    Column("batches", right=True),
    Column("sent again", right=True),
    Column("share", right=True),
    Column("first", spare=1),
    Column("last", spare=2),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per transactional id."""
    rows = facts.rows("transactions")
    if not rows:
        return []
    lines = _table("Transactions", IDS, _id, facts, rows, width, limit)
    notes = "taken over: ended by a new producer with the same id. open: no end in the capture. "
    notes += "p50, max: duration from the first request to the EndTxn reply."
    return lines + text_tables.remarks(notes, width)


def each(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per transaction, in order of time."""
    return _table("Transactions, one by one", LIST, _one, facts, facts.rows("transaction_list"), width, limit)


def producers(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per producer id."""
    rows = facts.rows("producers")
    if not rows:
        return []
    lines = _table("Idempotent producers", PRODUCERS, _producer, facts, rows, width, limit)
    notes = "resent: batches that had been sent before (retries seen on the wire)."
    if any(row["gaps"] is None for row in rows):
        notes += " gaps: unknown where packets were lost or truncated in the capture."
    return lines + text_tables.remarks(notes, width)


def fenced(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per producer that was thrown out, gives up, or waits."""
    return causes(facts, (FENCINGS, GIVEN_UP_TRANSACTIONS, HELD_TRANSACTIONS), width, limit, COMMAND)


def resent(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per client that sends many of its batches again."""
    rows = facts.rows("resent")
    if not rows:
        return []
    lines = _table("Clients that send batches again", RESENT, _resent, facts, rows, width, limit)
    return lines + text_tables.remarks("sent again: copies of batches that no broker had refused.", width)


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Transactional ids, who was fenced, clients that send batches again, then producers."""
    parts = [lines for part in (render, fenced, resent, producers) if (lines := part(facts, width, limit))]
    return [line for at, part in enumerate(parts) for line in ([Text("")] if at else []) + part]


def _table(
    title: str,
    columns: tuple[Column, ...],
    cells: Callable[[dict[str, Any]], Row],
    facts: Facts,
    found: Rows,
    width: int,
    limit: int | None,
) -> list[Text]:
    if not found:
        return []
    columns, shown = with_clusters(columns, [cells(fact) for fact in found[:limit]], found)
    return text_tables.titled(
        title, columns, shown, len(found), facts.ask(f"{COMMAND}{PART.get(title, '')} --limit 0"), width
    )


def _id(row: dict[str, Any]) -> Row:
    still = f" ({duration(row['longest_open_ns'])})" if row["longest_open_ns"] is not None else ""
    timeout = row["transaction_timeout_ms"]
    errors = count(row["failures"])
    if row["failures"] and row["last_error"]:
        errors += f" {error_code(row['last_error']).name}"
    return Row(
        [
            safe(row["transactional_id"]),
            client(row),
            count(row["begun"]),
            count(row["committed"]),
            count(row["aborted"]),
            count(row["taken_over"]),
            count(row["open_at_end"]) + still,
            duration(row["p50_length_ns"]),
            duration(row["max_length_ns"]),
            duration(None if timeout is None else timeout * 1_000_000),
            count(row["records"]),
            count(row["fenced"]),
            errors,
        ]
    )


def _one(row: dict[str, Any]) -> Row:
    return Row(
        [
            clock(row["begin_ns"], 3),
            safe(row["transactional_id"]),
            row["outcome"].replace("_", " "),
            duration(row["length_ns"]),
            client(row),
            NONE if row["producer_id"] is None else str(row["producer_id"]),
            count(row["producer_epoch"]),
            count(row["records"]),
            count(row["partitions"]),
            exchange_id(row["example_exchange"]),
        ]
    )


def _resent(row: dict[str, Any]) -> Row:
    times = (clock(row["first_time_ns"]), clock(row["last_time_ns"]))
    return Row([safe(row["who"]), count(row["sent"]), count(row["resent"]), share(row["resent_share"]), *times])


def _producer(row: dict[str, Any]) -> Row:
    first, last = row["first_epoch"], row["last_epoch"]
    return Row(
        [
            str(row["producer_id"]),
            safe(row["transactional_id"]),
            client(row),
            str(last) if first == last else f"{first}-{last}",
            count(row["partitions"]),
            count(row["batches"]),
            count(row["records"]),
            size(row["bytes"]),
            count(row["duplicates"]),
            count(row["gaps"]),
            count(row["out_of_order"]),
            count(row["fenced"]),
        ]
    )


PARTS: dict[str, Callable[[Facts, int, int | None], list[Text]]] = {
    "transactions": render,
    "list": each,
    "producers": producers,
    "resent": resent,
}
