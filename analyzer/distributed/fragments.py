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
from dissectors.tcp.payloads import spread

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SEGMENT = 0
CONTEXT = 1  # the header of a segment of a resolved span: a duplicate of it may come
MARKER = 2  # in the place of a resolved span; the payload has its checkpoints
COMPLETE = 3  # the SYN of a complete connection; the payload has its state at its end
ROW_BYTES = 8 * layout.SEGMENT_COLUMNS
MOST_ROWS = 8_192
MOST_BYTES = 32 << 20


def schema() -> pa.Schema:
    """`flow`, `number` (int64), `kind` (int8), `columns`: those of the segments matrix, int64 side by side, `payload`.

    What sorts and carries rows has five values to look at in each, and not thirty.
    """
    import pyarrow as pa

    return pa.schema(
        [
            ("flow", pa.int64()),
            ("number", pa.int64()),
            ("kind", pa.int8()),
            ("columns", pa.binary()),
            ("payload", pa.binary()),
        ]
    )


def writer(path: Path, columns: pa.Schema) -> pq.ParquetWriter:
    """A writer of fragments that leave: without statistics and dictionaries, as the file is read once.

    Rows of numbers are much alike: zstd leaves half the bytes that LZ4 does, in the same time.
    """
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(path, columns, use_dictionary=False, compression="zstd", write_statistics=False)


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


def sent_columns(values: memoryview | array[int], rows: int) -> pa.Array:
    """Column `columns` of so many rows, over the memory of all their values."""
    import pyarrow as pa

    places = array("i", range(0, ROW_BYTES * rows + 1, ROW_BYTES))
    return pa.Array.from_buffers(pa.binary(), rows, [None, pa.py_buffer(places), pa.py_buffer(values)])


def unpack(batch: pa.RecordBatch) -> tuple[memoryview, memoryview]:
    """(block, segments matrix) of a batch, all of its rows. Raises ValueError when the rows are not of this layout."""
    rows = batch.num_rows
    segments = new_matrix(layout.SEGMENT_COLUMNS, rows)
    places, data = _binary(batch.column("columns"))
    sent = data[places[0] : places[rows]]
    if len(sent) != ROW_BYTES * rows:
        raise ValueError(f"{rows} fragments with {len(sent)} bytes of numbers, not {ROW_BYTES} each")
    begins, payload = _binary(batch.column("payload"))
    spread(sent.cast("q"), begins, rows, segments)
    return payload, segments


def _binary(column: pa.Array) -> tuple[memoryview, memoryview]:
    """Where each value begins, and where the last one ends, as int32; and the bytes of all of them."""
    _, places, data = column.buffers()
    ints = memoryview(places).cast("B").cast("i")[column.offset : column.offset + len(column) + 1]
    return ints, memoryview(data or b"").cast("B")
