"""The rows in which stages hand tables on: (table, task, batch), a batch being some thousand rows of that table as Arrow IPC.

One stage gives rows of twenty tables and is run once; each table is a filter and `unpacked`. Batches are small because a
worker, Java and Arrow each hold some of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.distributed import fragments
from analyzer.distributed.stitch import JOINED
from analyzer.ingest import raw_tables, tls_facts
from analyzer.ingest.arrow_tables import arrow_table
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.ingest.raw_tables import Field

SHAPE = "table string, task bigint, batch binary"
BATCH_ROWS = 8_192
BATCH_BYTES = 1 << 20
# Besides raw tables: what leaves for the stitch, and what a run tells of itself.
FRAGMENTS = "fragments"
# Of zstd: a twentieth less than what comes without asking, for a tenth of a second in a task of 256 MB.
FRAGMENTS_LEVEL = 6
OUTCOME = "outcome"
OF_RUNS: dict[str, tuple[Field, ...]] = {
    "exchanges": raw_tables.EXCHANGES,
    "entries": raw_tables.ENTRIES,
    "errors": raw_tables.ERRORS,
    "problems": raw_tables.PROBLEMS,
    "parts": raw_tables.PARTS,
    "talks": raw_tables.TALKS,
    "tls": tls_facts.FIELDS,
    "joined": JOINED,
}
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


@cache
def schema(table: str) -> pa.Schema:
    """Columns of a raw table (its name without `raw_`), or of the fragments, as plain Arrow types. KeyError: no such table."""
    import pyarrow as pa

    if table == FRAGMENTS:
        return fragments.schema()
    if table in FACT_TABLES:
        return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in FACT_TABLES[table]])
    fields = OF_RUNS[table]
    columns = 2 + max(field.at for field in fields)
    made = arrow_table(fields, new_matrix(columns, 1), 0, pa.array([], pa.string()))
    return pa.schema([(field.name, _plain(field.type)) for field in made.schema])


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


def packed(path: Path, table: str) -> Iterator[tuple[bytes, int]]:
    """The rows of a Parquet file in batches, each with how many rows it holds. Fragments go over the network, so these are
    packed tighter."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = schema(table)
    codec = pa.Codec("zstd", FRAGMENTS_LEVEL) if table == FRAGMENTS else "lz4"
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            for piece in _pieces(conform(batch, columns)):
                yield _bytes(piece, codec), piece.num_rows


def row(table: str, task: int, data: bytes) -> pa.RecordBatch:
    """One row of SHAPE."""
    import pyarrow as pa

    arrays = [pa.array([table], pa.string()), pa.array([task], pa.int64()), pa.array([data], pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["table", "task", "batch"])


def unpacked(batches: Iterable[pa.RecordBatch], table: str) -> Iterator[pa.RecordBatch]:
    """The rows of the table out of rows whose only column is `batch`."""
    import pyarrow as pa

    columns = schema(table)
    for packs in batches:
        for data in packs.column(0):
            with pa.ipc.open_stream(data.as_buffer()) as stream:
                for batch in stream:
                    yield conform(batch, columns)


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch, halved until each piece is small; a single row may be any size."""
    if batch.num_rows > 1 and batch.nbytes > BATCH_BYTES:
        half = batch.num_rows // 2
        yield from _pieces(batch.slice(0, half))
        yield from _pieces(batch.slice(half))
    elif batch.num_rows:
        yield batch


def _bytes(batch: pa.RecordBatch, compression: pa.Codec | str = "lz4") -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _plain(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _array(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type.equals(kind) else column.cast(kind)
