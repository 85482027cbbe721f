"""Columns for what a person asked to group by: one per dimension of `analyzer.base.settings`, and one for time slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from analyzer.base.settings import NAMES, Settings
from analyzer.base.text import exchange_id
from analyzer.base.wait_kinds import kind_of
from analyzer.report.format import client, endpoint, safe, slot_start
from analyzer.report.text_tables import Column

Cell = Callable[[dict[str, Any]], str]


def api(row: dict[str, Any]) -> str:
    """Produce, acks=all; the name alone where the metric keeps no kinds apart."""
    words = kind_of(row.get("kind")).words
    return safe(row["api_name"]) + (f", {safe(words)}" if words else "")


def broker(row: dict[str, Any]) -> str:
    """2 (10.0.1.2:9092); the address alone where the node id is not known."""
    where = endpoint(safe(row["broker_address"]), row["broker_port"])
    return where if row["broker_id"] is None else f"{row['broker_id']} ({where})"


def subject(row: dict[str, Any]) -> str:
    """group billing; orders; orders and 2 more"""
    if row["group_id"] is not None:
        return f"group {safe(row['group_id'])}"
    more = (row["topics"] or 1) - 1
    return safe(row["topic"]) + (f" and {more:,} more" if more else "")


def _connection(row: dict[str, Any]) -> str:
    return "-" if row["connection"] is None else exchange_id(row["connection"])


def _name(row: dict[str, Any]) -> str:
    return safe(row["client_name"])


def _version(row: dict[str, Any]) -> str:
    return "-" if row["api_version"] is None else f"v{row['api_version']}"


def _error(row: dict[str, Any]) -> str:
    """6 NOT_LEADER_OR_FOLLOWER; a dash where no reply tells."""
    code = row["error_code"]
    if code is None:
        return "-"
    from dissectors.kafka.schema.error_codes import error_code

    return f"{code} {error_code(code).name}" if code else "none"


def _partition(row: dict[str, Any]) -> str:
    """orders-3, as Kafka's own tools write it."""
    return safe(row["topic"]) + ("" if row["partition"] is None else f"-{row['partition']}")


_CELLS: dict[str, tuple[Column, Cell]] = {
    "api": (Column("API", least=12), api),
    "version": (Column("version"), _version),
    "error": (Column("error", least=18), _error),
    "client": (Column("client", least=10), client),
    "app": (Column("application", least=12), lambda row: safe(row["application"])),
    "principal": (Column("user", least=8), lambda row: safe(row["principal"])),
    "broker": (Column("broker", least=14), broker),
    "topic": (Column("topic", least=11), lambda row: safe(row["topic"])),
    "partition": (Column("partition", least=10), _partition),
    "group": (Column("group", least=10), lambda row: safe(row["group_id"])),
    "subject": (Column("topic or group", least=12), subject),
    "connection": (Column("connection"), _connection),
    **{name: (Column(name, least=10), _name) for name in NAMES},
}


def key_columns(settings: Settings, default: Sequence[str]) -> list[tuple[Column, Cell]]:
    """Columns with what fills them: the time slot when there are some, then what `settings` names, else `default`."""
    found = [_CELLS[name] for name in (settings.by or default)]
    if every_ns := settings.every_ns:
        found.insert(0, (Column("from (UTC)"), lambda row: slot_start(row["slot_ns"], every_ns)))
    return found
