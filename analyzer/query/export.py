"""Rows as Parquet, CSV and JSON lines, in batches, to a file or a pipe.

A key (`exchange`, `connection`) is a 63-bit number. JSON readers round numbers beyond 2^53, and `kanalyze show` takes 16 hex
digits, so JSON and CSV have keys as that text; Parquet has the number. Rows are streamed: no table is held in memory.

A moment is int64 ns. Many programs make doubles of such numbers, or show them as they are, so files of tables have each moment as
TIMESTAMP too (`in_files`). Nothing of ours reads these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from analyzer.base.tables import TABLES, is_key, moments
from analyzer.base.text import LIKE_ESCAPE, UNSEEN, csv_cell, escape_json, exchange_id

if TYPE_CHECKING:
    import pyarrow

FORMATS = ("parquet", "csv", "jsonl")

_BATCH_ROWS = 16_384
# What `csv_cell` changes, as Arrow's engine of patterns (RE2) has it.
_UNSEEN = "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in UNSEEN)
_SUSPECT = rf"^[=+\-@\x{{ff1d}}\x{{ff0b}}\x{{ff0d}}\x{{ff20}}]|[\x00-\x1f\x7f-\x{{9f}}{_UNSEEN}]|{LIKE_ESCAPE}"
_CSV_TYPES = re.compile(
    r"(TINY|SMALL|BIG|U\w+)?INT(EGER)?|UINTEGER|DOUBLE|FLOAT|DECIMAL.*|BOOLEAN|VARCHAR|DATE|TIMESTAMP.*|TIME"
)


def with_hex_keys(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a table with its keys as JSON and CSV carry them."""
    return {
        name: exchange_id(value) if is_key(name) and isinstance(value, int) else value for name, value in row.items()
    }


def in_files(table: str, form: str, rows: str = "") -> str:
    """SQL of the rows of a table, all of them or `rows`, with the columns that files of it have: those of the table, and behind
    them its moments cut to microseconds. In Parquet these say that they are UTC: else Spark and others take them for local times.
    """
    names = [column.name for column in TABLES[table]]
    times = moments(names, "make_timestamptz" if form == "parquet" else "make_timestamp")
    columns = [*map(quoted, names), *(f"{sql} as {name}" for name, sql in times.items())]
    return f"select {', '.join(columns)} from {rows or table}"


class Engine(Protocol):
    """What runs a SELECT: a dataset, or what runs that of a person over it."""

    def query(self, sql: str) -> list[dict[str, Any]]:
        """All rows."""

    def batches(self, sql: str, *, rows: int) -> pyarrow.RecordBatchReader:
        """The rows as Arrow batches of about `rows`."""


class Rows:
    """The result of a SELECT, not yet computed: names and types of its columns, and its rows in batches on request.

    Raises DatasetError for a statement that cannot be run.
    """

    def __init__(self, engine: Engine, sql: str) -> None:
        self._engine = engine
        # On lines of its own, so that a comment at the end of the statement ends there.
        self._from = f"from (\n{sql.rstrip().rstrip(';')}\n) as result"
        described = engine.query(f"describe select * {self._from}")
        self.names = [str(row["column_name"]) for row in described]
        self.types = [str(row["column_type"]) for row in described]

    def keys(self) -> list[bool]:
        """Which columns are keys, to be shown as hex digits."""
        return [is_key(name) and kind == "BIGINT" for name, kind in zip(self.names, self.types, strict=True)]

    def batches(self, columns: str = "*", limit: int = 0) -> pyarrow.RecordBatchReader:
        """Arrow batches of `columns` (SQL over the result), at most `limit` rows; 0 is no limit."""
        sql = f"select {columns} {self._from}" + (f" limit {limit}" if limit else "")
        return self._engine.batches(sql, rows=_BATCH_ROWS)


def write(rows: Rows, form: str, sink: BinaryIO, limit: int = 0) -> int:
    """Writes rows (at most `limit`; 0: all) to `sink` as parquet, csv, jsonl or json (one array); answers how many."""
    return _WRITERS[form](rows, sink, limit)


def _write_parquet(rows: Rows, sink: BinaryIO, limit: int) -> int:
    import pyarrow.parquet

    reader = rows.batches(limit=limit)
    count = 0
    schema = _in_utc(reader.schema)
    with pyarrow.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_table(pyarrow.Table.from_batches([batch]).cast(schema))
            count += batch.num_rows
    return count


def _in_utc(schema: pyarrow.Schema) -> pyarrow.Schema:
    """The schema with instants in UTC, whatever the zone of this machine is."""
    import pyarrow

    utc = pyarrow.timestamp("us", "UTC")
    return pyarrow.schema([field.with_type(utc) if getattr(field.type, "tz", None) else field for field in schema])


def _write_csv(rows: Rows, sink: BinaryIO, limit: int) -> int:
    reader = rows.batches(", ".join(_csv_columns(rows)), limit)
    sink.write(_csv_header(rows.names))
    count = 0
    for batch in reader:
        sink.write(_csv_bytes(_defused(batch)))
        count += batch.num_rows
    return count


def _csv_header(names: list[str]) -> bytes:
    cells = (csv_cell(name).replace('"', '""') for name in names)
    return ",".join(f'"{cell}"' for cell in cells).encode() + b"\n"


def _csv_bytes(batch: pyarrow.RecordBatch) -> memoryview:
    import pyarrow
    import pyarrow.csv

    buffer = pyarrow.BufferOutputStream()
    pyarrow.csv.write_csv(batch, buffer, pyarrow.csv.WriteOptions(include_header=False))
    return memoryview(buffer.getvalue())


def _csv_columns(rows: Rows) -> Iterator[str]:
    """Keys as hex; integers of 128 bits (sums) as decimals; what CSV has no form for (lists, structs) as DuckDB's
    text.
    """
    for name, kind, key in zip(rows.names, rows.types, rows.keys(), strict=True):
        column = quoted(name)
        if key:
            yield f"printf('%016x', {column}) as {column}"
        elif kind == "HUGEINT":
            yield f"cast({column} as decimal(38, 0)) as {column}"
        elif _CSV_TYPES.fullmatch(kind):
            yield column
        else:
            yield f"cast({column} as varchar) as {column}"


def _defused(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """The batch with text cells that a spreadsheet or terminal would act upon made harmless."""
    import pyarrow
    import pyarrow.compute

    columns = []
    for column in batch.columns:
        if (
            pyarrow.types.is_string(column.type)
            and pyarrow.compute.any(pyarrow.compute.match_substring_regex(column, _SUSPECT)).as_py()
        ):
            cells = [None if text is None else csv_cell(text) for text in column.to_pylist()]
            column = pyarrow.array(cells, column.type)
        columns.append(column)
    return pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)


def _write_jsonl(rows: Rows, sink: BinaryIO, limit: int) -> int:
    count = 0
    for lines in _json_lines(rows, limit):
        sink.write(("\n".join(lines) + "\n").encode())
        count += len(lines)
    return count


def _write_json(rows: Rows, sink: BinaryIO, limit: int) -> int:
    count = 0
    sink.write(b"[")
    for lines in _json_lines(rows, limit):
        sink.write(((",\n" if count else "\n") + ",\n".join(lines)).encode())
        count += len(lines)
    sink.write(b"\n]\n" if count else b"]\n")
    return count


def _json_lines(rows: Rows, limit: int) -> Iterator[list[str]]:
    """A JSON object per row, made by DuckDB; in lists as they come."""
    fields = ", ".join(_json_fields(rows))
    for batch in rows.batches(f"cast(to_json(struct_pack({fields})) as varchar)", limit):
        if batch.num_rows:
            yield [escape_json(line) for line in batch.column(0).to_pylist()]


def _json_fields(rows: Rows) -> Iterator[str]:
    """Keys as hex; NaN and infinities, which JSON does not have, as null."""
    for name, kind, key in zip(rows.names, rows.types, rows.keys(), strict=True):
        column = quoted(name)
        if key:
            yield f"{column} := printf('%016x', {column})"
        elif kind in ("DOUBLE", "FLOAT"):
            yield f"{column} := case when isfinite({column}) then {column} end"
        else:
            yield f"{column} := {column}"


def quoted(name: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


class _Writer(Protocol):
    def __call__(self, rows: Rows, sink: BinaryIO, limit: int) -> int: ...


_WRITERS: dict[str, _Writer] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "jsonl": _write_jsonl,
    "json": _write_json,
}
