"""The newest segments of a task: whether they travel is not known yet."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path

from analyzer.distributed import pending_rows
from analyzer.distributed.pending_rows import PendingRows, picked
from analyzer.ingest.raw_writer import draft
from dissectors import layout
from dissectors.tcp.payloads import add_up, judge, times
from dissectors.tcp.pending_columns import FATE_LEAVES, FATE_LEAVES_BARE, FATE_WAITS, FATE_WAITS_BARE
from dissectors.tcp.state_columns import DUPLICATE_NS, RECENT_SEGMENTS

NEVER = (1 << 63) - 1


class PendingSegments:
    """Takes segments. Those that may travel go to the file at `path`, a `draft` of `pending_rows.schema`; parts are counted
    from 0 here.

    Inside a span no segment travels, but of the last ones before its end, and before the end of the task, the headers do:
    duplicates of them may follow.
    `first_ns` and `latest_ns` are times of segments; `late_ns` says how much earlier than the latest one before it a segment was.
    """

    def __init__(self, path: Path, packed: bool) -> None:
        self.bytes = 0
        self._batches: list[PendingRows] = []
        self._file = draft(path, pending_rows.schema(), packed)
        # By part: numbers of the segments at which its span begins and ends, and the time from which on duplicates of a segment
        # in it may still come.
        self._begin = array("q")
        self._end = array("q")
        self._since = array("q")
        self._newest = -1  # number of a segment
        self.late_ns = 0
        self.first_ns = NEVER
        self.latest_ns = -NEVER

    def take(self, block: memoryview, segments: memoryview, rows: int, first: int) -> None:
        """Takes rows [0, rows) of a segments matrix, numbered from `first` on, whose payloads lie in `block`."""
        begin, self.latest_ns, late = times(segments, rows, self.latest_ns)
        self.late_ns = max(self.late_ns, late)
        if begin != layout.UNKNOWN:
            self.first_ns = min(self.first_ns, begin)
        self._newest = first + rows - 1
        self._batches.append(pending_rows.of_segments(block, segments, rows, first))
        self.bytes += self._batches[-1].bytes

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
        if not self._batches:
            return
        begin, end, since = (memoryview(each) for each in (self._begin, self._end, self._since))
        over = bytearray(len(self._begin))
        for part in ended:
            over[part] = True
        # The next task may begin with duplicates of whatever came last in this one, whose times may run behind.
        newest = self._newest - RECENT_SEGMENTS
        fates = [memoryview(bytearray(batch.rows)) for batch in self._batches]
        for batch, found in zip(self._batches, fates, strict=True):
            judge(batch.columns, begin, end, since, over, self.late_ns, RECENT_SEGMENTS, newest, found)
        leaving = picked(self._batches, fates, FATE_LEAVES, FATE_LEAVES_BARE)
        if leaving.rows:
            self._file.write_batch(leaving.batch())
        left = picked(self._batches, fates, FATE_WAITS, FATE_WAITS_BARE)
        self._batches, self.bytes = [left], left.bytes

    def longest(self, bytes_left: int) -> list[int]:
        """The parts with the most pending bytes; without them about `bytes_left` would be pending."""
        sizes = array("q", bytes(8 * len(self._begin)))
        for batch in self._batches:
            add_up(batch.columns, batch.places, batch.rows, memoryview(sizes))
        found, left = [], self.bytes
        for part in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
            if left <= bytes_left or not sizes[part]:
                break
            found.append(part)
            left -= sizes[part]
        return found

    def close(self) -> None:
        """Completes the file."""
        self._file.close()
