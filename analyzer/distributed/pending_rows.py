"""Segments of a task in the form in which they wait until it is known whether they travel, a few batches at a time or in a draft.

Most do not travel. So a row is one piece of memory with all columns, which is left out once and not once for each column, and
only what travels becomes a row of `fragments.schema`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed import fragments
from analyzer.distributed.fragments import CONTEXT, SEGMENT
from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tcp import payloads
from dissectors.tcp.pending_columns import NO_FATE, PENDING_COLUMNS, PENDING_KIND, PENDING_NUMBER
from dissectors.tcp.reassembly import flows

if TYPE_CHECKING:
    import pyarrow as pa

ROW_BYTES = 8 * PENDING_COLUMNS


@cache
def schema() -> pa.Schema:
    """Of a draft: `columns` (all of a row, int64 side by side) and `payload`."""
    import pyarrow as pa

    return pa.schema([("columns", pa.binary(ROW_BYTES)), ("payload", pa.binary())])


class PendingRows(NamedTuple):
    """Some rows. `columns`: int64, row after row; `places`: int32, where the payload of each begins, one more than rows."""

    rows: int
    columns: memoryview
    places: memoryview
    payload: memoryview

    @property
    def bytes(self) -> int:
        return self.columns.nbytes + self.payload.nbytes

    def batch(self) -> pa.RecordBatch:
        """The same memory as a batch of `schema`."""
        import pyarrow as pa

        columns, places, payload = (pa.py_buffer(each) for each in (self.columns, self.places, self.payload))
        arrays = [
            pa.Array.from_buffers(schema().field(0).type, self.rows, [None, columns]),
            pa.Array.from_buffers(pa.binary(), self.rows, [None, places, payload]),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema())

    def column(self, number: int) -> memoryview:
        """The values of a column, a view with steps."""
        return self.columns[number::PENDING_COLUMNS]

    def some(self, start: int, stop: int) -> PendingRows:
        """Rows [start, stop)."""
        columns = self.columns[start * PENDING_COLUMNS : stop * PENDING_COLUMNS]
        return PendingRows(stop - start, columns, self.places[start : stop + 1], self.payload)

    def leaving(self) -> pa.Table:
        """The rows, at least one, as they travel (`fragments.schema`)."""
        import pyarrow as pa

        rows = self.rows
        sent = array("q", bytes(rows * fragments.ROW_BYTES))
        payloads.strip(self.columns, rows, memoryview(sent))
        segments, found = new_matrix(layout.SEGMENT_COLUMNS, rows), array("q", bytes(8 * rows))
        payloads.spread(memoryview(sent), self.places, rows, segments)
        flows(segments, 0, rows, memoryview(found))
        numbers = fragments.int64_array(array("q", self.column(PENDING_NUMBER)))
        kinds = pa.array(array("b", self.column(PENDING_KIND)), pa.int8())
        columns = [
            fragments.int64_array(found),
            numbers,
            kinds,
            fragments.sent_columns(sent, rows),
            self.batch().column(1),
        ]
        return pa.Table.from_arrays(columns, schema=fragments.schema())


def of_segments(block: memoryview, segments: memoryview, rows: int, first: int) -> PendingRows:
    """Rows [0, rows) of a segments matrix whose payloads lie in `block`, numbered from `first` on."""
    made = _room(rows, payloads.payload_bytes(segments, rows))
    payloads.wait(block, segments, rows, first, SEGMENT, made.columns, made.places, made.payload)
    return made


def of_batch(batch: pa.RecordBatch) -> PendingRows:
    """The rows of a batch of a draft, over its memory."""
    _, columns = batch.column(0).buffers()
    _, places, payload = batch.column(1).buffers()
    return PendingRows(
        batch.num_rows,
        memoryview(columns).cast("B")[: batch.num_rows * ROW_BYTES].cast("q"),
        memoryview(places).cast("B")[: 4 * (batch.num_rows + 1)].cast("i"),
        memoryview(payload or b"").cast("B"),  # without payloads there may be no buffer
    )


def picked(batches: Sequence[PendingRows], fates: Sequence[memoryview], fate: int, bare: int = NO_FATE) -> PendingRows:
    """The rows with one fate, and the headers of those with the fate `bare`."""
    sizes = [payloads.measure(each.places, given, fate, bare) for each, given in zip(batches, fates, strict=True)]
    made = _room(sum(rows for rows, _ in sizes), sum(size for _, size in sizes))
    row = 0
    for each, given in zip(batches, fates, strict=True):
        row = payloads.pick(
            each.columns,
            each.places,
            each.payload,
            given,
            fate,
            bare,
            CONTEXT,
            row,
            made.columns,
            made.places,
            made.payload,
        )
    return made


def _room(rows: int, size: int) -> PendingRows:
    """Room for so many rows with so many bytes of payload; all but the first place is still to be written."""
    import pyarrow as pa

    columns, places, payload = (
        memoryview(pa.allocate_buffer(each)).cast("B") for each in (rows * ROW_BYTES, 4 * (rows + 1), size)
    )
    places[:4] = bytes(4)
    return PendingRows(rows, columns.cast("q"), places.cast("i"), payload)
