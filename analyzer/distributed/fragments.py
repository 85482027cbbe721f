"""Fragments: what a task cannot resolve itself, as Arrow rows that another process can read.

A row of `kind` SEGMENT is one TCP segment: the columns of the segments matrix and its payload. Rows are shuffled by `flow`, a
hash of scope and both endpoints, which is the same in every process and for both directions. `number` orders the rows of a
flow over all splits. The other kinds tell what a task has resolved itself (`analyzer.distributed.resolver`,
`analyzer.distributed.complete_connections`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dissectors import layout
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SEGMENT = 0
CONTEXT = 1  # the header of a segment of a resolved span: a duplicate of it may come
MARKER = 2  # stands for a resolved span; the payload has its checkpoints
COMPLETE = 3  # the SYN of a complete connection; the payload has its state at its end
# Columns of the segments matrix that travel: not the offset of the payload and the part, which mean something in one process.
SENT = array("q", sorted({*range(layout.SEGMENT_COLUMNS)} - {layout.SEGMENT_OFFSET, layout.SEGMENT_PART}))


def name_of(column: int) -> str:
    """The name of a column of the segments matrix."""
    return f"c{column}"


COLUMNS = tuple(map(name_of, SENT))
MOST_ROWS = 8_192
MOST_BYTES = 32 << 20


def schema() -> pa.Schema:
    """`flow`, `number` (int64), `kind` (int8), one int64 column per sent column of the segments matrix, `payload`."""
    import pyarrow as pa

    return pa.schema(
        [
            ("flow", pa.int64()),
            ("number", pa.int64()),
            ("kind", pa.int8()),
            *((name, pa.int64()) for name in COLUMNS),
            ("payload", pa.binary()),
        ]
    )


def writer(path: Path, columns: pa.Schema) -> pq.ParquetWriter:
    """A writer of fragments that leave: without statistics and dictionaries, as the file is read once."""
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(path, columns, use_dictionary=False, compression="lz4", write_statistics=False)


def int64_array(values: array[int] | memoryview) -> pa.Array:
    """An Arrow array over the memory of `values`."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def pieces(fragments: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of fragments in batches of bounded size, as the stages take them."""
    for batch in fragments:
        start = 0
        while start < batch.num_rows:
            rows = min(MOST_ROWS, batch.num_rows - start)
            while rows > 1 and batch.slice(start, rows).column(batch.num_columns - 1).nbytes > MOST_BYTES:
                rows //= 2
            yield batch.slice(start, rows)
            start += rows


def unpack(batch: pa.RecordBatch) -> tuple[memoryview, memoryview]:
    """(block, segments matrix) of a batch, all of its rows."""
    import pyarrow as pa

    rows = batch.num_rows
    segments = new_matrix(layout.SEGMENT_COLUMNS, rows)
    flat = segments.cast("B")
    payload = batch.column("payload")
    _, offset_buffer, data = payload.buffers()
    offsets = pa.Array.from_buffers(pa.int32(), rows, [None, offset_buffer], offset=payload.offset).cast(pa.int64())
    columns = [(column, batch.column(name)) for column, name in zip(SENT, COLUMNS, strict=True)]
    for column, values in [*columns, (layout.SEGMENT_OFFSET, offsets)]:
        at = 8 * values.offset
        flat[8 * rows * column : 8 * rows * (column + 1)] = memoryview(values.buffers()[1]).cast("B")[
            at : at + 8 * rows
        ]
    return memoryview(data).cast("B") if data else memoryview(b""), segments
