"""Raw rows made by hand, as the views of analyzer/query/resolve read them: what a row does not say is null."""

from __future__ import annotations

from typing import Any

from made_rows import counted

from analyzer.base.tables import SQL_TYPES
from analyzer.ingest import raw_tables
from analyzer.ingest.facts.fact_tables import FACT_TABLES, no_rows
from analyzer.query import resolve
from analyzer.query.dataset import Dataset
from analyzer.run.raw_views import COMPUTED_ONCE
from dissectors import layout
from dissectors.kafka.columns.wait_kinds import set_wait_kinds
from dissectors.matrix import new_matrix

Rows = list[dict[str, Any]]
START_NS = 1_795_261_415_000_000_000
MS = 1_000_000
SECOND = 1_000_000_000

PARTS = {
    "part": "BIGINT",
    "tap": "VARCHAR",
    "connection": "BIGINT",
    "is_kafka": "BOOLEAN",
    "client_side": "BIGINT",
    "client_address": "VARCHAR",
    "client_port": "BIGINT",
    "broker_address": "VARCHAR",
    "broker_port": "BIGINT",
    "seen_from": "VARCHAR",
    "first_time_ns": "BIGINT",
    "last_time_ns": "BIGINT",
    "close": "VARCHAR",
    "one_way": "VARCHAR",
    "is_closed_elsewhere": "BOOLEAN",
    "syn_ack_ns": "BIGINT",
    "tls": "BOOLEAN",
    "ack_ns": "BIGINT",
    "client_gaps": "BIGINT",
    "broker_gaps": "BIGINT",
}

WAYS = {
    "part": "BIGINT",
    "is_beside": "BOOLEAN",
    "is_quiet": "BOOLEAN",
    "to_broker_ns": "BIGINT",
    "sure_to_broker_ns": "BIGINT",
    "byte_ns": "BIGINT",
    "to_client_ns": "BIGINT",
    "broker_lag_ns": "BIGINT",
    "broker_lag_least_ns": "BIGINT",
    "client_lag_least_ns": "BIGINT",
    "client_lag_ns": "BIGINT",
    "trusts_ids": "BOOLEAN",
}


def part(number: int = 1, **values: Any) -> dict[str, Any]:
    """A Kafka connection of a client to a broker on another host that outlives the test."""
    row: dict[str, Any] = {"part": number, "tap": "1", "connection": 100 + number, "is_kafka": True, "client_side": 0}
    row |= {
        "client_address": "10.0.0.1",
        "client_port": 50_000 + number,
        "broker_address": "10.0.1.1",
        "broker_port": 9092,
    }
    return row | {"last_time_ns": START_NS + 3_600 * SECOND, "close": "fin"} | values


def exchange(number: int, at_ms: float, reply_ms: float | None, **values: Any) -> dict[str, Any]:
    """A request of one packet at `at_ms`, answered by one at `reply_ms` (None: not), ms after the start."""
    asked = START_NS + round(at_ms * MS)
    row = {"exchange": number, "part": 1, "api_key": 3, "api_version": 12, "client_id": "app", "token": False}
    row |= {"request_time_ns": asked, "request_end_ns": asked, "request_decoded": "full", "status": "pending"}
    if reply_ms is not None:
        told = START_NS + round(reply_ms * MS)
        row |= {"response_time_ns": told, "response_end_ns": told, "status": "answered", "response_decoded": "full"}
        row |= {"throttle_time_ms": 0, "error_code": 0, "queue_ns": 0, "muted_ns": 0}
    return row | values


def entry(number: int, side: str, partition: int = 0, **values: Any) -> dict[str, Any]:
    row = {"exchange": number, "part": 1, "side": side, "topic": "orders", "partition": partition}
    return row | ({"forgotten": False} if side == "request" else {}) | values


def error(number: int, code: int, api_key: int, **values: Any) -> dict[str, Any]:
    return {"exchange": number, "part": 1, "side": "response", "code": code, "api_key": api_key, "field": 0} | values


def offer(produce: int, part_number: int = 1) -> dict[str, Rows]:
    """What the broker of a part offers: Produce up to this version."""
    return {
        "reported": [{"exchange": 1, "part": part_number, "body": 1, "time_ns": START_NS}],
        "version_facts": [{"body": 1, "api_key": 0, "min_version": 0, "max_version": produce}],
    }


# One input, whole and of four seconds, whose clock does not jump.
SPLITS = "SELECT 0 AS split, 0 AS file, 0 AS packets_before"
CAPTURES = f"SELECT {START_NS + 4 * SECOND} AS last_time_ns"
JUMPS = "SELECT 0 AS file, 0 AS packet, 0 AS until, 0 AS before_ns, 0 AS after_ns WHERE false"


def dataset(parts: Rows | None = None, ways: Rows | None = None, **tables: Rows) -> Dataset:
    """The final tables of these raw rows (`exchanges`, `entries`, `errors`, `problems`, FACT_TABLES). `ways`: of `part_ways`."""
    types = {
        "exchanges": _types(raw_tables.EXCHANGES),
        "entries": _types(raw_tables.ENTRIES),
        "errors": _types(raw_tables.ERRORS),
        "problems": _types(raw_tables.PROBLEMS),
    }
    exchanges = counted(tables.get("exchanges", []), tables.get("errors", []))
    tables["exchanges"] = [row | {"own_kind": kind(row)} for row in exchanges]
    made = {f"raw_{name}": _table(columns, tables.get(name, [])) for name, columns in types.items()}
    for name, columns in FACT_TABLES.items():
        known = {column: SQL_TYPES[kind] for column, kind in columns}
        made[f"raw_{name}"] = _table(known, tables[name]) if tables.get(name) else no_rows(name)
    keys = {row["api_key"] for row in tables["exchanges"]}
    made |= {"parts": _table(PARTS, parts or [part()]), "part_ways": _table(WAYS, ways or []), "raw_splits": SPLITS}
    made |= {
        "all_captures": CAPTURES,
        "raw_jumps": JUMPS,
        "jumped_parts": "SELECT CAST(0 AS BIGINT) AS part WHERE false",
    }
    # Computed once what a run computes once, and the rows: a view stands in the text of each view that reads it.
    return Dataset(resolve.views(keys, seen_again=False) | made, materialized=(*made, *COMPUTED_ONCE), threads=1)


def kind(row: dict[str, Any]) -> str | None:
    """The kind that the stage tells of an exchange."""
    matrix = new_matrix(layout.ROW_COLUMNS, 1)
    for column in range(layout.ROW_COLUMNS):
        matrix[column, 0] = layout.UNKNOWN
    for name, at, words, _ in raw_tables.EXCHANGES:
        value = row.get(name)
        if value is not None and (isinstance(words, tuple) or not isinstance(value, str)):
            matrix[at, 0] = words.index(value) if isinstance(words, tuple) else value
    set_wait_kinds(matrix, 0, 1)
    number = matrix[layout.ROW_KIND, 0]
    return None if number == layout.UNKNOWN else raw_tables.WAIT_KINDS[number]


def _types(fields: tuple[raw_tables.Field, ...]) -> dict[str, str]:
    found = {}
    for field in fields:
        if field.type == "packet":
            found |= {f"{field.name}_split": "BIGINT", f"{field.name}_number": "BIGINT"}
        else:
            found[field.name] = SQL_TYPES.get(field.type if isinstance(field.type, str) else "", "VARCHAR")
    return found


def _table(types: dict[str, str], rows: Rows) -> str:
    for row in rows:
        assert row.keys() <= types.keys(), row.keys() - types.keys()
    lines = [f"({', '.join(_value(row.get(name)) for name in types)})" for row in rows or [{}]]
    cast = ", ".join(f'CAST("{name}" AS {kind}) AS "{name}"' for name, kind in types.items())
    names = ", ".join(f'"{name}"' for name in types)
    return f"SELECT {cast} FROM (VALUES {', '.join(lines)}) AS made({names}){'' if rows else ' WHERE false'}"


def _value(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
