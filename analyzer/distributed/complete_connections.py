"""Complete connections: they begin and end inside one task, which keeps their rows. Of their segments only the SYN travels.

A complete connection begins with a SYN without ACK and is closed by its ends, and it lies so far inside the task that segments
of it before or behind the task are unlikely. `stitch` proves that there are none: where the flow has no other rows there is
nothing to do. Else the SYN is fed to the stages, where it must begin a connection; that connection is put into the state that
the task saw at its end (`Connections.restore_complete`), and any later segment of it refutes the task.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Container, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed.fragments import COMPLETE
from analyzer.distributed.pending_rows import PendingRows, of_batch, picked
from dissectors import layout
from dissectors.tcp.payloads import judge_complete
from dissectors.tcp.pending_columns import FATE_LEAVES, FATE_STANDS
from dissectors.tcp.state_columns import DUPLICATE_NS

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from analyzer.distributed.pending_segments import PendingSegments

# A connection is over when nothing followed its end for so long: the last ACK and answers to a reset have come by then.
QUIET_NS = 100_000_000
# Bytes of fragments that are filtered together.
BYTES_AT_ONCE = 8 << 20
# A batch that has waited may be much larger, and what leaves is copied.
ROWS_AT_ONCE = 1 << 15


class CompleteConnection(NamedTuple):
    """A complete connection as it travels: its task, its state at its end (COMPLETE_ columns), and the times between which any
    other segment of its flow may be a duplicate of one of its segments."""

    task: int
    since_ns: int
    until_ns: int
    state: list[int]


def complete_connection(payload: bytes) -> CompleteConnection:
    """What the payload of a row of kind COMPLETE says."""
    return CompleteConnection(*json.loads(payload))


class CompleteConnections:
    """Those of one task, whose parts are numbered from `first_part` on. `columns`: COMPLETE_ columns, one connection after the
    other. Left out are the parts `excluded`, and all connections of `raw_flows`.
    """

    def __init__(
        self,
        columns: array[int],
        first_part: int,
        pending: PendingSegments,
        excluded: Container[int],
        raw_flows: Container[int],
    ) -> None:
        self._columns = columns
        self._first_part = first_part
        # Segments of this capture come too late by up to `late_ns`, and so may duplicates.
        self._near_ns = DUPLICATE_NS + pending.late_ns
        self._at: dict[int, int] = {}
        since, until = pending.first_ns + self._near_ns, pending.latest_ns - QUIET_NS - pending.late_ns
        for at in range(0, len(columns), layout.COMPLETE_COLUMNS):
            begin, end = columns[at + layout.COMPLETE_FIRST_TIME], columns[at + layout.COMPLETE_LAST_TIME]
            if (
                layout.UNKNOWN not in (begin, end)
                and since <= begin
                and end <= until
                and columns[at + layout.COMPLETE_PART] not in excluded
                and columns[at + layout.COMPLETE_FLOW] not in raw_flows
            ):
                self._at[columns[at + layout.COMPLETE_PART]] = at

    @property
    def parts(self) -> Collection[int]:
        """The parts that are complete connections."""
        return self._at.keys()

    def payload(self, part: int, task: int) -> bytes:
        """The payload of the row of kind COMPLETE."""
        state = self._columns[self._at[part] : self._at[part] + layout.COMPLETE_COLUMNS].tolist()
        since = state[layout.COMPLETE_FIRST_TIME] - self._near_ns
        until = state[layout.COMPLETE_LAST_TIME] + self._near_ns
        return json.dumps(CompleteConnection(task, since, until, state), separators=(",", ":")).encode()

    def filter_fragments(self, source: Path, target: pq.ParquetWriter, task: int) -> None:
        """Copies the fragments of other parts; of each complete connection only the first segment, as a row of kind COMPLETE."""
        import pyarrow as pa

        # By part, as fragments count them: the number of its first segment, -1 where it is not complete.
        firsts = array("q", [-1]) * (1 + max((part - self._first_part for part in self._at), default=0))
        for part, at in self._at.items():
            firsts[part - self._first_part] = self._columns[at + layout.COMPLETE_NUMBER]
        with pa.OSFile(str(source)) as data, pa.ipc.open_stream(data) as stream:
            for batches in _together(stream):
                fates = [memoryview(bytearray(batch.rows)) for batch in batches]
                for batch, found in zip(batches, fates, strict=True):
                    judge_complete(batch.columns, memoryview(firsts), found)
                left = picked(batches, fates, FATE_LEAVES)
                for at in range(0, left.rows, ROWS_AT_ONCE):
                    target.write_table(left.some(at, min(at + ROWS_AT_ONCE, left.rows)).leaving())
                if (stand := picked(batches, fates, FATE_STANDS)).rows:
                    target.write_table(self._complete_rows(stand, task))

    def _complete_rows(self, firsts: PendingRows, task: int) -> pa.Table:
        """The first segments of connections as rows of kind COMPLETE."""
        import pyarrow as pa

        payloads = [self.payload(part + self._first_part, task) for part in firsts.column(layout.SEGMENT_PART)]
        given = {"kind": pa.array([COMPLETE] * firsts.rows, pa.int8()), "payload": pa.array(payloads, pa.binary())}
        rows = firsts.leaving()
        return pa.Table.from_arrays(
            [given.get(name, rows.column(name)) for name in rows.column_names], schema=rows.schema
        )


def _together(stream: Iterable[pa.RecordBatch]) -> Iterator[list[PendingRows]]:
    """The batches of a draft, some together: what is left of them is written as one."""
    waiting: list[PendingRows] = []
    for batch in stream:
        waiting.append(of_batch(batch))
        if sum(each.bytes for each in waiting) >= BYTES_AT_ONCE:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
