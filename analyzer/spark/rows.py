"""The rows in which stages hand tables on: (table, task, batch).

A file (the Parquet file of a table) is some rows that follow one another, each with a piece of its bytes: nothing between two
processes decodes what the one wrote and the other reads. Fragments alone, which are sorted between two stages, become rows of
their own for that (`stages.unpacked`). Pieces and batches are small because a worker, Java and Arrow each hold some at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SHAPE = "table string, task bigint, batch binary"
BATCH_ROWS = 8_192
BATCH_BYTES = 1 << 20
PIECE_BYTES = 1 << 20
# What leaves for the stitch, and what a run says about itself. Files of raw tables have their names; those for the driver, final
# tables and what is in them, rows that move and that there are some have a word before the name. SUMS: how many rows sums of
# exchanges would have; STATE: pieces of what is kept of open connections, with the name of a table and a place in it.
FRAGMENTS = "fragments"
OUTCOME = "outcome"
TOLD = "told/"
FINAL = "final/"
WRITTEN = "written/"
SUMS = "sums"
SOME_MOVE = "moves/"
STATES = "states"
STATE = "state/"
MOVED = "moved/"
SPARK_TYPES = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "string": "string",
    "bool": "boolean",
    "double": "double",
    "binary": "binary",
}


def ddl(columns: pa.Schema) -> str:
    """The same columns as Spark writes them."""
    return ", ".join(f"`{field.name}` {SPARK_TYPES[str(field.type)]}" for field in columns)


def conform(batch: pa.RecordBatch, columns: pa.Schema) -> pa.RecordBatch:
    """The batch with exactly these columns: Spark matches them by their place, whatever they are called."""
    import pyarrow as pa

    if batch.schema.equals(columns):
        return batch
    arrays = [_array(batch.column(field.name), field.type) for field in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=columns)


def schema() -> pa.Schema:
    """SHAPE as Arrow has it."""
    import pyarrow as pa

    return pa.schema([("table", pa.string()), ("task", pa.int64()), ("batch", pa.binary())])


def row(table: str, task: int, data: bytes) -> pa.RecordBatch:
    """One row of SHAPE."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([table]), pa.array([task]), pa.array([data])], schema=schema())


def tuples(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, int, bytes]]:
    """The rows of batches of SHAPE, one at a time."""
    for batch in batches:
        for place in range(batch.num_rows):
            yield tuple(column[place].as_py() for column in batch.columns)


def of_file(table: str, task: int, data: bytes | Path) -> Iterator[pa.RecordBatch]:
    """The rows of a file."""
    if isinstance(data, bytes):
        for begin in range(0, len(data), PIECE_BYTES):
            yield row(table, task, data[begin : begin + PIECE_BYTES])
        return
    with data.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield row(table, task, piece)


def files(found: Iterable[tuple[str, int, bytes]]) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    """(table, task, pieces) of each file out of the rows of several; the pieces are to be read before the next file."""
    for (table, task), pieces in groupby(found, key=lambda each: each[:2]):
        yield table, task, (piece for _, _, piece in pieces)


def keep(pieces: Iterable[bytes], path: Path) -> Path:
    """Writes a file of these pieces."""
    with path.open("wb") as out:
        out.writelines(pieces)
    return path


def pieces_of(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch, halved until each piece is small; a single row may be any size."""
    if batch.num_rows > 1 and batch.nbytes > BATCH_BYTES:
        half = batch.num_rows // 2
        yield from pieces_of(batch.slice(0, half))
        yield from pieces_of(batch.slice(half))
    elif batch.num_rows:
        yield batch


def _array(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type.equals(kind) else column.cast(kind)
