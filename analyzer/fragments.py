"""What leaves a split that cannot be finished in it: its TCP segments, as Arrow rows that another process can read.

One row is one segment: the columns of the segments matrix (its offset is 0, the payload being a column of its own) and
`payload`. A packet number carries its split in the upper bits, so numbers order the segments of a connection over all splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from dissectors import layout

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = tuple(f"c{column}" for column in range(layout.SEGMENT_COLUMNS))
_ENDPOINTS = (
    (layout.SEGMENT_SRC_HIGH, layout.SEGMENT_SRC_LOW, layout.SEGMENT_SRC_PORT),
    (layout.SEGMENT_DST_HIGH, layout.SEGMENT_DST_LOW, layout.SEGMENT_DST_PORT),
)


def schema() -> pa.Schema:
    """One int64 column per column of the segments matrix, and the captured payload."""
    import pyarrow as pa

    return pa.schema([*((name, pa.int64()) for name in COLUMNS), ("payload", pa.binary())])


def pack(block: memoryview, segments: memoryview, rows: int) -> pa.RecordBatch:
    """Rows [0, rows) of a segments matrix whose payloads lie in `block`."""
    import pyarrow as pa

    columns = [[segments[column, row] for row in range(rows)] for column in range(layout.SEGMENT_COLUMNS)]
    places = zip(columns[layout.SEGMENT_OFFSET], columns[layout.SEGMENT_CAPTURED], strict=True)
    payloads = [bytes(block[at : at + size]) for at, size in places]
    columns[layout.SEGMENT_OFFSET] = [0] * rows
    arrays = [pa.array(values, pa.int64()) for values in columns]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(payloads, pa.binary())], schema=schema())


def by_connection(fragments: Iterable[pa.RecordBatch]) -> pa.Table:
    """All fragments, those of one 4-tuple together and in the order of the capture."""
    import pyarrow as pa

    table = pa.Table.from_batches(fragments, schema())
    one, other = (zip(*(table.column(at).to_pylist() for at in columns), strict=True) for columns in _ENDPOINTS)
    scopes = table.column(layout.SEGMENT_SCOPE).to_pylist()
    numbers = table.column(layout.SEGMENT_NUMBER).to_pylist()
    keys = [(scope, *sorted(ends), number) for scope, number, *ends in zip(scopes, numbers, one, other, strict=True)]
    return table.take(sorted(range(table.num_rows), key=keys.__getitem__))


def stitch(fragments: pa.Table, sink: Callable[[memoryview, memoryview, int], None]) -> None:
    """Feeds fragments to a pipeline's `feed`. Connections may come one after the other or mixed: the stages keep them apart,
    but the rows of each must be in the order of the capture."""
    for batch in fragments.to_batches(max_chunksize=8_192):
        rows = batch.num_rows
        segments = layout.matrix(layout.SEGMENT_COLUMNS, rows)
        for column in range(layout.SEGMENT_COLUMNS):
            for row, value in enumerate(batch.column(column).to_pylist()):
                segments[column, row] = value
        at = 0
        payloads = batch.column(layout.SEGMENT_COLUMNS).to_pylist()
        for row, payload in enumerate(payloads):
            segments[layout.SEGMENT_OFFSET, row] = at
            at += len(payload)
        sink(memoryview(b"".join(payloads)), segments, rows)
