"""Rows as Parquet, CSV and JSON lines, in batches, to a file, a pipe or a dataset.

A key (`exchange`, `connection`) is a 63-bit number. JSON readers round numbers beyond 2^53, and `kanalyze show` takes 16 hex
digits, so JSON and CSV have keys as that text; Parquet has the number. Rows are streamed: no table is held in memory.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from analyzer.base.storage.addresses import Address, StorageError, is_storage_uri, parse_address
from analyzer.base.storage.objects import object_writer, remove_object
from analyzer.base.tables import TABLES, is_key
from analyzer.base.text import csv_cell, escape_json, exchange_id
from analyzer.query.exported import MANIFEST
from analyzer.query.table_directories import folder
from analyzer.version import VERSION

if TYPE_CHECKING:
    import pyarrow

    from analyzer.query.dataset import Dataset

FORMATS = ("parquet", "csv", "jsonl")

_BATCH_ROWS = 16_384
_SUSPECT = (
    r"^[=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
    r"|[\x00-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}]"
)
_CSV_TYPES = re.compile(
    r"(TINY|SMALL|BIG|U\w+)?INT(EGER)?|UINTEGER|DOUBLE|FLOAT|DECIMAL.*|BOOLEAN|VARCHAR|DATE|TIMESTAMP.*|TIME"
)


def with_hex_keys(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a table with its keys as JSON and CSV carry them."""
    return {
        name: exchange_id(value) if is_key(name) and isinstance(value, int) else value for name, value in row.items()
    }


class Rows:
    """The result of a SELECT, not yet computed: names and types of its columns, and its rows in batches on request.

    Raises DatasetError for a statement that cannot be run.
    """

    def __init__(self, dataset: Dataset, sql: str) -> None:
        self._dataset = dataset
        # On lines of its own, so that a comment at the end of the statement ends there.
        self._from = f"from (\n{sql.strip().rstrip(';')}\n) as result"
        described = dataset.query(f"describe select * {self._from}")
        self.names = [str(row["column_name"]) for row in described]
        self.types = [str(row["column_type"]) for row in described]

    def keys(self) -> list[bool]:
        """Which columns are keys, to be shown as hex digits."""
        return [is_key(name) and kind == "BIGINT" for name, kind in zip(self.names, self.types, strict=True)]

    def batches(self, columns: str = "*", limit: int = 0) -> pyarrow.RecordBatchReader:
        """Arrow batches of `columns` (SQL over the result), at most `limit` rows; 0 is no limit."""
        sql = f"select {columns} {self._from}" + (f" limit {limit}" if limit else "")
        return self._dataset.batches(sql, rows=_BATCH_ROWS)


def write(rows: Rows, form: str, sink: BinaryIO, limit: int = 0) -> int:
    """Writes rows (at most `limit`; 0: all) to `sink` as parquet, csv, jsonl or json (one array); answers how many."""
    return _WRITERS[form](rows, sink, limit)


def check_free(to: Path | str) -> None:
    """Raises FileExistsError when a directory, here or in object storage, holds anything; NotADirectoryError when it, or
    what it shall lie in, is a file; StorageError when storage does not answer.
    """
    if not is_storage_uri(str(to)):
        there = next((path for path in (Path(to), *Path(to).parents) if path.exists()), None)
        if there and not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is a file; name a new directory", str(there))
    if folder(to).names():
        raise FileExistsError(errno.EEXIST, "is not empty; name a new directory", str(to))


def export(dataset: Dataset, to: Path | str, form: str) -> dict[str, int]:
    """Writes every table into a directory, here or in object storage, a file each, and last of all the manifest that makes
    it a dataset.

    Answers the rows of each table. `FileExistsError` when the directory holds anything, `NotADirectoryError` when it is a
    file, StorageError when storage does not take it. What a failed run wrote is removed.
    """
    check_free(to)
    if isinstance(to, str) and is_storage_uri(to):
        return _export_to(_Bucket(parse_address(to)), dataset, form)
    return _export_to(_Directory(Path(to)), dataset, form)


def _export_to(target: _Directory | _Bucket, dataset: Dataset, form: str) -> dict[str, int]:
    written = []
    try:
        counts = {}
        for table in TABLES:
            written.append(f"{table}.{form}")
            with target.writing(written[-1]) as sink:
                counts[table] = write(Rows(dataset, f"select * from {table}"), form, sink)
        written.append(MANIFEST)
        with target.writing(MANIFEST) as sink:
            sink.write(manifest(dataset, form, counts).encode())
    except BaseException:
        for name in written:
            target.remove(name)
        target.leave()
        raise
    return counts


class _Directory:
    """A new directory of this machine; one that was there and empty is kept when the export fails."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._existed = path.exists()
        path.mkdir(parents=True, exist_ok=True)

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        return (self._path / name).open("wb")

    def remove(self, name: str) -> None:
        (self._path / name).unlink(missing_ok=True)

    def leave(self) -> None:
        if not self._existed:
            self._path.rmdir()


class _Bucket:
    """A place in object storage: it is there when something lies in it."""

    def __init__(self, at: Address) -> None:
        self._at = at

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        return object_writer(self._at.inside(name))

    def remove(self, name: str) -> None:
        """As far as storage lets us: what ended the export is what a person must hear."""
        with suppress(StorageError):
            remove_object(self._at.inside(name))

    def leave(self) -> None:
        pass


def manifest(dataset: Dataset, form: str, counts: dict[str, int]) -> str:
    """What an exported directory says of itself: who wrote it, from which inputs, in which format, rows per table."""
    inputs = [row["path"] for row in dataset.query("select path from captures order by file")]
    return json.dumps({"kanalyze": VERSION, "format": form, "inputs": inputs, "tables": counts}, indent=2) + "\n"


def _write_parquet(rows: Rows, sink: BinaryIO, limit: int) -> int:
    import pyarrow.parquet

    reader = rows.batches(limit=limit)
    count = 0
    with pyarrow.parquet.ParquetWriter(sink, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


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
