"""What the tests of the command line share: datasets made by hand."""

from __future__ import annotations

from typing import Any


class Stub:
    """Stands in for `analyzer.run.local`: says which inputs and options it was given, hands out a dataset of known rows."""

    def __init__(self) -> None:
        self.inputs: tuple[str, ...] = ()
        self.options: Any = None
        self.views: dict[str, str] = {"connections": kafka_connection()}
        self.warnings: tuple[str, ...] = ()
        self.failed = False
        self.error: BaseException | None = None

    def open_dataset(self, inputs: tuple[str, ...], options: Any, *_: Any) -> Any:
        from analyzer.query.dataset import Dataset

        self.inputs, self.options = inputs, options
        if self.error is not None:
            raise self.error
        return Dataset(self.views, warnings=self.warnings, failed=self.failed)


def exchanges(rows: str) -> str:
    """SQL of an `exchanges` table: the columns that `rows` (a SELECT) has, null for all others."""
    return _table("exchanges", rows)


def kafka_connection() -> str:
    """SQL of a `connections` table with one connection, of which nothing is missing."""
    return _table("connections", "select 7::bigint as connection, true as is_kafka, 'kafka' as protocol")


def _table(name: str, rows: str) -> str:
    from analyzer.base.tables import SQL_TYPES, TABLES

    nothing = ", ".join(f'null::{SQL_TYPES[column.type]} as "{column.name}"' for column in TABLES[name])
    return f"select * from (select {nothing}) where false union all by name ({rows})"
