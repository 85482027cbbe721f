"""Fragments of all tasks -> the other raw rows: the stages run once more, over what tasks could not resolve."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.distributed import fragments
from analyzer.distributed.complete_connections import CompleteConnection, complete_connection
from analyzer.distributed.fragments import COMPLETE, CONTEXT, MARKER, SEGMENT
from analyzer.distributed.resolved_spans import STRADDLING, Marker, append_straddling, marker, straddling
from analyzer.ingest.pipeline import Pipeline
from analyzer.ingest.raw_tables import Field
from analyzer.ingest.summary import Summary
from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tls.keys import KeyLog

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.base.options import Options

# Raw table: rows of a task's `part` are rows of the stitched connection `joined_to`.
JOINED = (Field("part", 0, "int64"), Field("joined_to", 1, "int64"))
# Kinds of neighbouring rows that are taken together, in bytes with the kind of each row.
_RUNS = re.compile(b"%c+|%c+|." % (SEGMENT, CONTEXT), re.DOTALL)


class Stitcher:
    """Runs the stages of a partition. Takes fragments sorted by (flow, number).

    `refuted` are (task, flow) of spans whose first checkpoint does not match, and of connections that are not complete.
    """

    def __init__(self, folder: Path, options: Options, keys: KeyLog, first_part: int) -> None:
        self.refuted: set[tuple[int, int]] = set()
        self._pipeline = Pipeline(folder, options, keys=keys, first_part=first_part)
        self._connections = self._pipeline.connections
        self._joined_table = self._pipeline.add_table("joined", JOINED)
        self._straddling_table = self._pipeline.add_table("straddling", STRADDLING)
        self._joined: dict[int, int] = {}  # part of a task -> part here
        self._straddling: set[int] = set()  # exchanges
        # The flow of the newest row. If that row is of kind COMPLETE and the first one of its flow, it is held back: it matters
        # only when other rows of this flow follow.
        self._flow: int | None = None
        self._held_back: pa.RecordBatch | None = None
        # Part -> task and flow of complete connections that were restored. Of those of the newest flow: task -> the time until
        # which a segment may be a duplicate of one of theirs.
        self._restored: dict[int, tuple[int, int]] = {}
        self._duplicates_until: dict[int, int] = {}

    def take(self, batch: pa.RecordBatch) -> None:
        """Takes one batch of fragments."""
        kinds = bytes(batch.column("kind").to_pylist())
        flows = batch.column("flow").to_pylist()
        block, segments = fragments.unpack(batch)
        for start, stop in (run.span() for run in _RUNS.finditer(kinds)):
            self._begin_flow(flows[start])
            if kinds[start] == COMPLETE:
                self._meet_complete(batch.slice(start, 1), flows[start])
            elif kinds[start] == MARKER:
                self._meet_marker(batch.column("payload")[start].as_py(), segments, start, flows[start])
            else:
                self._refute_where_duplicates_may_be(segments, start, flows[start:stop])
                if kinds[start] == CONTEXT:
                    self._connections.remember(segments, start, stop)
                else:
                    self._feed(block, segments, stop, start)
            if flows[stop - 1] != flows[start]:
                self._duplicates_until.clear()
            self._flow = flows[stop - 1]

    def finish(self) -> None:
        """All fragments were taken: completes the files."""
        self._begin_flow(None)
        pairs = new_matrix(2, max(1, len(self._joined)))
        for row, pair in enumerate(self._joined.items()):
            pairs[0, row], pairs[1, row] = pair
        self._joined_table.append(pairs, len(self._joined), [])
        append_straddling(self._straddling_table, self._straddling)
        self._pipeline.finish()

    def close(self) -> None:
        """Ends the writer of raw tables."""
        self._pipeline.close()

    def summary(self) -> Summary:
        """What the run over the fragments tells beside its tables."""
        return self._pipeline.summary()

    def _begin_flow(self, flow: int | None) -> None:
        """The next row is of this flow."""
        held_back, self._held_back = self._held_back, None
        if flow != self._flow:
            self._duplicates_until.clear()
        elif held_back is not None and flow is not None:
            self._take_complete(held_back, flow)

    def _meet_complete(self, batch: pa.RecordBatch, flow: int) -> None:
        """A row of kind COMPLETE."""
        if flow == self._flow:
            self._take_complete(batch, flow)
        else:
            self._held_back = batch

    def _meet_marker(self, payload: bytes, segments: memoryview, row: int, flow: int) -> None:
        span = marker(payload)
        if not self._resume(span, segments, row):
            self.refuted.add((span.task, flow))

    def _feed(self, block: memoryview, segments: memoryview, rows: int, row: int = 0) -> None:
        self._pipeline.feed(block, segments, rows, row)
        for part in self._connections.take_disturbed():
            self.refuted.add(self._restored[part])

    # ---- spans ----

    def _resume(self, span: Marker, segments: memoryview, row: int) -> bool:
        """Goes on behind a span; False: the connection is not where the span begins. Row `row` of `segments` has its addresses and
        ports."""
        self._pipeline.drain()
        slot, flip = self._connections.find(segments, row)
        if slot < 0 or not self._connections.matches(slot, span.begin, flip):
            return False
        part = self._connections.part(slot)
        if self._joined.setdefault(span.part, part) != part:
            return False
        self._connections.resume(slot, span.begin, span.end, flip)
        self._straddling |= straddling((span.begin, span.end))
        return True

    # ---- complete connections ----

    def _take_complete(self, batch: pa.RecordBatch, flow: int) -> None:
        """Goes on behind a complete connection whose flow has other rows too."""
        found = complete_connection(batch.column("payload")[0].as_py())
        if not self._restore(found, fragments.unpack(batch)[1], flow):
            self.refuted.add((found.task, flow))

    def _restore(self, found: CompleteConnection, segments: memoryview, flow: int) -> bool:
        """False: the connection does not begin where the task says, or duplicates of it may lie in another one."""
        near = [task for task, until in self._duplicates_until.items() if task != found.task and until > found.since_ns]
        if near:
            self.refuted.update((task, flow) for task in near)
            return False
        self._pipeline.drain()
        slot, _ = self._connections.find(segments)
        if slot >= 0 and not layout.UNKNOWN < self._connections.last_time_ns(slot) <= found.since_ns:
            return False
        self._feed(memoryview(b""), segments, 1)
        slot, _ = self._connections.find(segments)
        if not self._connections.restore_complete(slot, segments[layout.SEGMENT_NUMBER, 0], found.state):
            return False
        self._restored[self._connections.part(slot)] = found.task, flow
        until = self._duplicates_until.get(found.task, found.until_ns)
        self._duplicates_until[found.task] = max(found.until_ns, until)
        return True

    def _refute_where_duplicates_may_be(self, segments: memoryview, first: int, flows: list[int]) -> None:
        """A segment that comes soon after a complete connection may be a duplicate of one of its segments, which are not here."""
        for row, flow in enumerate(flows if self._duplicates_until else (), first):
            if flow != self._flow:
                break
            time = segments[layout.SEGMENT_TIME, row]
            self.refuted.update((task, flow) for task, until in self._duplicates_until.items() if time < until)
