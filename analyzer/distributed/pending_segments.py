"""The newest segments of a task, of which it is not known yet whether they travel."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.distributed import fragments
from analyzer.distributed.fragments import CONTEXT, int64_array
from analyzer.ingest.raw_writer import draft
from dissectors import layout
from dissectors.tcp.payloads import times
from dissectors.tcp.state_columns import DUPLICATE_NS, RECENT_SEGMENTS

if TYPE_CHECKING:
    import pyarrow as pa

NEVER = (1 << 63) - 1


class PendingSegments:
    """Takes segments. Those that may travel go to the file at `path`, a `draft` of `fragments.waiting_schema`; parts are counted
    from 0 here.

    Inside a span no segment travels, but of the last ones before its end, and before the end of the task, the headers do:
    duplicates of them may follow.
    `first_ns` and `latest_ns` are times of segments; `late_ns` says how much earlier than the latest one before it a segment was.
    """

    def __init__(self, path: Path, packed: bool) -> None:
        self.bytes = 0
        self._batches: list[pa.RecordBatch] = []
        self._file = draft(path, fragments.waiting_schema(), packed)
        # By part: numbers of the segments at which its span begins and ends, and the time from which on duplicates of a segment
        # in it may still come.
        self._begin = array("q")
        self._end = array("q")
        self._since = array("q")
        self.late_ns = 0
        self.first_ns = NEVER
        self.latest_ns = -NEVER

    def take(self, block: memoryview, segments: memoryview, rows: int, first: int) -> None:
        """Takes rows [0, rows) of a segments matrix, numbered from `first` on, whose payloads lie in `block`."""
        begin, self.latest_ns, late = times(segments, rows, self.latest_ns)
        self.late_ns = max(self.late_ns, late)
        if begin != layout.UNKNOWN:
            self.first_ns = min(self.first_ns, begin)
        self._batches.append(fragments.wait(block, segments, rows, first))
        self.bytes += self._batches[-1].nbytes

    def begin_span(self, part: int, number: int) -> None:
        """A span of a part begins behind segment `number`."""
        while len(self._begin) <= part:
            self._begin.append(NEVER)
            self._end.append(NEVER)
            self._since.append(NEVER)
        self._begin[part], self._end[part], self._since[part] = number, number, NEVER

    def extend_span(self, part: int, number: int, time_ns: int) -> None:
        """The span of a part goes on to segment `number`, which was captured at `time_ns`."""
        self._end[part], self._since[part] = number, time_ns - DUPLICATE_NS

    def forget_span(self, part: int) -> None:
        """No span of this part is under way: all its segments travel."""
        self._begin[part] = self._end[part] = self._since[part] = NEVER

    def settle(self, ended: Iterable[int]) -> None:
        """Writes what travels, and drops what does not. `ended` are parts whose span has ended."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self._batches:
            return
        table = pa.Table.from_batches(self._batches)
        number = table.column("number")
        parts = table.column("part")
        known = pc.if_else(pc.less(parts, len(self._begin)), parts, None)
        begin, end, since = (
            pc.fill_null(pc.take(int64_array(array("q", each)), known), NEVER)
            for each in (self._begin, self._end, self._since)
        )
        is_ended = pc.is_in(parts, pa.array(ended, pa.int64()))
        before = pc.less_equal(number, begin)
        inside = pc.and_not(pc.less_equal(number, end), before)
        after = pc.invert(pc.or_(before, inside))
        late = pc.add(table.column("time"), self.late_ns)
        recent = pc.greater(number, pc.subtract(end, RECENT_SEGMENTS))
        # The next task may begin with duplicates of whatever came last in this one, whose times may run behind.
        newest = pc.greater(number, pc.subtract(pc.max(number), RECENT_SEGMENTS))
        context = pc.and_(inside, pc.or_(newest, pc.and_(recent, pc.greater_equal(late, since))))
        self._write(table.filter(pc.or_(before, pc.and_(after, is_ended))))
        self._write(_headers(table.filter(pc.and_(context, is_ended))))
        pending = pa.concat_tables(
            [table.filter(pc.and_not(after, is_ended)), _headers(table.filter(pc.and_not(context, is_ended)))]
        )
        self._batches = pending.combine_chunks().to_batches()
        self.bytes = pending.nbytes

    def longest(self, bytes_left: int) -> list[int]:
        """The parts with the most pending bytes; without them about `bytes_left` would be pending."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table = pa.Table.from_batches(self._batches)
        sizes = pa.table({"part": table.column("part"), "bytes": pc.binary_length(table.column("payload"))})
        sums = sizes.group_by("part").aggregate([("bytes", "sum")]).sort_by([("bytes_sum", "descending")])
        found, left = [], self.bytes
        for part, size in zip(*(column.to_pylist() for column in (sums["part"], sums["bytes_sum"])), strict=True):
            if left <= bytes_left:
                break
            found.append(part)
            left -= size
        return found

    def _write(self, table: pa.Table) -> None:
        if table.num_rows:
            self._file.write_table(table)

    def close(self) -> None:
        """Completes the file."""
        self._file.close()


def _headers(table: pa.Table) -> pa.Table:
    """The same rows without payload, as rows of kind CONTEXT."""
    import pyarrow as pa

    rows = table.num_rows
    kinds = pa.array([CONTEXT], pa.int8()).take(pa.nulls(rows, pa.int32()).fill_null(0))
    table = table.set_column(table.column_names.index("kind"), "kind", kinds)
    return table.set_column(table.column_names.index("payload"), "payload", pa.nulls(rows, pa.binary()).fill_null(b""))
