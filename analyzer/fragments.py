"""What leaves a split that cannot be finished in it: its TCP segments, as Arrow rows that another process can read.

One row is one segment: the columns of the segments matrix (without its offset, which is the payload's own business) and
`payload`. Rows of a connection keep their order within a split; over splits the packet number orders them, because it
carries the split in its upper bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from dissectors import layout

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = tuple(f"c{column}" for column in range(layout.SEGMENT_COLUMNS))


def schema() -> pa.Schema:
    """One int64 column per column of the segments matrix, and the captured payload."""
    import pyarrow as pa

    return pa.schema([*((name, pa.int64()) for name in COLUMNS), ("payload", pa.binary())])


def pack(block: bytes, segments: memoryview, rows: int) -> pa.RecordBatch:
    """Rows [0, rows) of a segments matrix with their payloads; SEGMENT_OFFSET becomes 0."""
    import pyarrow as pa

    payloads, columns = [], [[segments[column, row] for row in range(rows)] for column in range(layout.SEGMENT_COLUMNS)]
    for row in range(rows):
        offset = columns[layout.SEGMENT_OFFSET][row]
        payloads.append(block[offset : offset + columns[layout.SEGMENT_CAPTURED][row]])
    columns[layout.SEGMENT_OFFSET] = [0] * rows
    arrays = [pa.array(values, pa.int64()) for values in columns]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(payloads, pa.binary())], schema=schema())


def stitch(batches: Iterable[pa.RecordBatch], sink: Callable[[bytes, memoryview, int], None]) -> None:
    """Feeds fragments to a pipeline's `feed`: rows of one connection must come in order of their packet number.

    Connections may come one after the other or mixed: stages keep them apart.
    """
    for batch in batches:
        rows = batch.num_rows
        if rows == 0:
            continue
        segments = layout.matrix(layout.SEGMENT_COLUMNS, rows)
        payloads = batch.column(layout.SEGMENT_COLUMNS).to_pylist()
        for column in range(layout.SEGMENT_COLUMNS):
            for row, value in enumerate(batch.column(column).to_pylist()):
                segments[column, row] = value
        at = 0
        for row, payload in enumerate(payloads):
            segments[layout.SEGMENT_OFFSET, row] = at
            at += len(payload)
        sink(b"".join(payloads), segments, rows)
