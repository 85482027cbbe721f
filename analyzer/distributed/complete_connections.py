"""Connections that live and die inside one task: their rows are the task's, and of their segments only the first header travels.

Such a connection began with a bare SYN and was over by itself, and nothing of it is likely to lie before the task or behind
it. That nothing does is for `stitch` to see: where the flow has nothing else there is nothing to look at. Else the SYN is taken
like any other; it has to begin a connection, which is *buried* then: whatever else comes of it refutes.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Container
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed import fragments
from analyzer.distributed.fragments import MOST_ROWS, WHOLE
from analyzer.distributed.pending_segments import COPY_NS
from dissectors import layout

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from analyzer.distributed.pending_segments import Window

# An end that nothing followed for so long is one: the last ACK and what answers a reset have come by then.
QUIET_NS = 100_000_000


class Whole(NamedTuple):
    """A connection as it travels: the number of its task, the times between which nothing else of its flow may come, as it
    could be a copy, and what it was when it was over (WHOLE_ columns)."""

    task: int
    since_ns: int
    until_ns: int
    ends: list[int]


def whole(payload: bytes) -> Whole:
    """What the payload of a row of kind WHOLE says."""
    return Whole(*json.loads(payload))


class Wholes:
    """Those of one task, whose parts are numbered from `first_part` on. `columns`: WHOLE_ columns, one connection after the other.

    `apart` are parts that are left out because what is known of them is not all, `flows` those that leave raw.
    """

    def __init__(
        self, columns: array[int], first_part: int, window: Window, apart: Container[int], flows: Container[int]
    ) -> None:
        self._columns = columns
        self._first_part = first_part
        # What may come so much too late may also be a copy.
        self._near_ns = COPY_NS + window.late_ns
        self._at: dict[int, int] = {}
        since, until = window.first_ns + self._near_ns, window.latest_ns - QUIET_NS - window.late_ns
        for at in range(0, len(columns), layout.COMPLETE_COLUMNS):
            begin, end = columns[at + layout.COMPLETE_FIRST_TIME], columns[at + layout.COMPLETE_LAST_TIME]
            if (
                layout.UNKNOWN not in (begin, end)
                and since <= begin
                and end <= until
                and columns[at + layout.COMPLETE_PART] not in apart
                and columns[at + layout.COMPLETE_FLOW] not in flows
            ):
                self._at[columns[at + layout.COMPLETE_PART]] = at

    @property
    def parts(self) -> Collection[int]:
        """Their parts."""
        return self._at.keys()

    def payload(self, part: int, task: int) -> bytes:
        """A row of kind WHOLE carries it."""
        ends = self._columns[self._at[part] : self._at[part] + layout.COMPLETE_COLUMNS].tolist()
        since = ends[layout.COMPLETE_FIRST_TIME] - self._near_ns
        until = ends[layout.COMPLETE_LAST_TIME] + self._near_ns
        return json.dumps(Whole(task, since, until, ends), separators=(",", ":")).encode()

    def sift_fragments(self, source: Path, target: pq.ParquetWriter, task: int) -> None:
        """Copies the fragments of all other parts, and the first header of each of these."""
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow.parquet import ParquetFile

        parts = pa.array([part - self._first_part for part in self._at], pa.int64())
        numbers = pa.array([self._columns[at + layout.COMPLETE_NUMBER] for at in self._at.values()], pa.int64())
        with ParquetFile(source) as file:
            for batch in file.iter_batches(MOST_ROWS):
                inside = pc.is_in(batch.column("part"), parts)
                first = pc.and_(inside, pc.is_in(batch.column(fragments.name_of(layout.SEGMENT_NUMBER)), numbers))
                for rows in (batch.filter(pc.invert(inside)), self._named(batch.filter(first), task)):
                    if rows.num_rows:
                        target.write_batch(rows.drop_columns(["part"]))

    def _named(self, firsts: pa.RecordBatch, task: int) -> pa.RecordBatch:
        """The first segments of connections as rows of kind WHOLE."""
        import pyarrow as pa

        payloads = [self.payload(part + self._first_part, task) for part in firsts.column("part").to_pylist()]
        given = {"kind": pa.array([WHOLE] * len(payloads), pa.int8()), "payload": pa.array(payloads, pa.binary())}
        columns = [given.get(name, firsts.column(name)) for name in firsts.schema.names]
        return pa.RecordBatch.from_arrays(columns, schema=firsts.schema)
