"""Rows of facts as Arrow tables. Rows with the same values share them, so that Python sees each value once, not once a row."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from analyzer.ingest.arrow_tables import arrow_table
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.ingest.raw_tables import Field
from dissectors import layout
from dissectors.kafka.columns.frame_picker import FactRows
from dissectors.kafka.columns.frame_picker_limits import FACT_KEYS
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    import pyarrow as pa

# The columns of a table that its rows do not share.
KEYS = ("exchange", "part", "body")


@cache
def fields_of(name: str) -> tuple[Field, ...]:
    """The columns of a table as those of a matrix: keys in the first FACT_KEYS, values behind."""
    columns = FACT_TABLES[name]
    keys = [Field(column, at, kind) for at, (column, kind) in enumerate(columns) if column in KEYS]
    values = [
        Field(column, at, "text" if kind == "string" else kind)
        for at, (column, kind) in enumerate(columns[len(keys) :], FACT_KEYS)
    ]
    return (*keys, *values)


def take_table(name: str, found: FactRows) -> pa.Table:
    """The rows that were added, which are gone then."""
    import pyarrow as pa

    fields = fields_of(name)
    columns = sum(field.name not in KEYS for field in fields)
    distinct = found.distinct
    numbers: dict[str, int] = {}
    shared = new_matrix(columns, len(distinct))
    for row, values in enumerate(distinct):
        for column, value in enumerate(_checked(values, columns)):
            if isinstance(value, str):
                value = numbers.setdefault(value, len(numbers))
            shared[column, row] = layout.UNKNOWN if value is None else value
    rows = found.rows
    matrix = new_matrix(FACT_KEYS + columns, rows)
    found.take(shared, matrix)
    return arrow_table(fields, matrix, rows, pa.array(list(numbers), pa.string()))


def _checked(values: tuple[Any, ...], columns: int) -> tuple[Any, ...]:
    if len(values) != columns:
        raise ValueError(f"a fact of {len(values)} values for {columns} columns")
    return values
