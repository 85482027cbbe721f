"""Fragments of all tasks -> the rest of the raw rows: the stages once more, over what tasks could not finish."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.distributed import fragments
from analyzer.distributed.checkpoints import Marker, marker
from analyzer.distributed.complete_connections import Whole, whole
from analyzer.distributed.fragments import CONTEXT, MARKER, WHOLE
from analyzer.ingest.pipeline import Pipeline
from analyzer.ingest.raw_tables import Field, RawTable
from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tls.keys import KeyLog

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.base.options import Options

# Which connection a part of a task belongs to: rows of the one are rows of the other.
JOINED = (Field("part", 0, "int64"), Field("joined_to", 1, "int64"))


class Stitcher(Pipeline):
    """The stages of a partition. Takes fragments sorted by (flow, number).

    `refuted` are (task, flow) of spans that did not fit, and of connections that were not whole.
    """

    def __init__(self, folder: Path, options: Options, keys: KeyLog, first_part: int) -> None:
        super().__init__(folder, options, keys=keys, first_part=first_part)
        self.refuted: set[tuple[int, int]] = set()
        self._joined: dict[int, int] = {}
        # The flow of the newest row; if that is of kind WHOLE and the first of its flow, it waits for the next one's flow.
        self._flow: int | None = None
        self._waiting: pa.RecordBatch | None = None
        # By part: the task and the flow of connections that are buried. Of those of the newest flow, by task: until when what
        # comes may be a copy.
        self._buried: dict[int, tuple[int, int]] = {}
        self._until: dict[int, int] = {}
        self._tables["joined"] = RawTable(folder / "raw_joined.parquet", JOINED, self._writer)

    def take(self, batch: pa.RecordBatch) -> None:
        """Takes one batch of fragments."""
        kinds = batch.column("kind").to_pylist()
        flows = batch.column("flow").to_pylist()
        start = 0
        while start < len(kinds):
            stop = start + 1
            while stop < len(kinds) and kinds[stop] == kinds[start] not in (MARKER, WHOLE):
                stop += 1
            self._begin_flow(flows[start])
            self._take_alike(batch.slice(start, stop - start), kinds[start], flows[start:stop])
            if flows[stop - 1] != flows[start]:
                self._until.clear()
            self._flow = flows[stop - 1]
            start = stop

    def _begin_flow(self, flow: int | None) -> None:
        """The next row is of this flow."""
        waiting, self._waiting = self._waiting, None
        if flow != self._flow:
            self._until.clear()
        elif waiting is not None and flow is not None:
            self._take_whole(waiting, flow)

    def _take_alike(self, batch: pa.RecordBatch, kind: int, flows: list[int]) -> None:
        if kind == WHOLE:
            if flows[0] == self._flow:
                self._take_whole(batch, flows[0])
            else:
                self._waiting = batch
            return
        block, segments = fragments.unpack(batch)
        if kind == MARKER:
            one = marker(batch.column("payload")[0].as_py())
            if not self._jump(one, segments):
                self.refuted.add((one.task, flows[0]))
            return
        self._look_for_copies(segments, flows)
        if kind == CONTEXT:
            self._streams.remember(segments, batch.num_rows)
        else:
            self.feed(block, segments, batch.num_rows)

    def feed(self, block: memoryview, segments: memoryview, rows: int) -> None:
        super().feed(block, segments, rows)
        for part in self._streams.take_disturbed():
            self.refuted.add(self._buried[part])

    def finish(self) -> None:
        self._begin_flow(None)
        pairs = new_matrix(2, max(1, len(self._joined)))
        for row, pair in enumerate(self._joined.items()):
            pairs[0, row], pairs[1, row] = pair
        self._tables["joined"].append(pairs, len(self._joined), [])
        super().finish()

    def _take_whole(self, batch: pa.RecordBatch, flow: int) -> None:
        """Goes on behind a connection that a task resolved whole, where its flow has other rows."""
        one = whole(batch.column("payload")[0].as_py())
        if not self._bury(one, fragments.unpack(batch)[1], flow):
            self.refuted.add((one.task, flow))

    def _bury(self, one: Whole, segments: memoryview, flow: int) -> bool:
        """False: the connection did not begin where the task thought so, or what came before may have copies in it."""
        near = [task for task, until in self._until.items() if task != one.task and until > one.since_ns]
        if near:
            self.refuted.update((task, flow) for task in near)
            return False
        self._settle(segments)
        slot, _ = self._streams.find(segments, 0)
        if (
            slot >= 0
            and not layout.UNKNOWN < self._streams.checkpoint(slot)[layout.TCP_CHECKPOINT_TIME] <= one.since_ns
        ):
            return False
        self.feed(memoryview(b""), segments, 1)
        slot, _ = self._streams.find(segments, 0)
        if not self._streams.adopt_complete(slot, segments[layout.SEGMENT_NUMBER, 0], one.ends):
            return False
        self._buried[self._streams.part_of(slot)] = one.task, flow
        self._until[one.task] = max(one.until_ns, self._until.get(one.task, one.until_ns))
        return True

    def _look_for_copies(self, segments: memoryview, flows: list[int]) -> None:
        """What comes so soon behind a connection that is buried may be a copy of one of its segments, which are not here."""
        for row, flow in enumerate(flows if self._until else ()):
            if flow != self._flow:
                break
            time = segments[layout.SEGMENT_TIME, row]
            self.refuted.update((task, flow) for task, until in self._until.items() if time < until)

    def _jump(self, span: Marker, segments: memoryview) -> bool:
        """Goes on behind a span; False: the connection is not where the span begins."""
        self._settle(segments)
        slot, flip = self._streams.find(segments, 0)
        one, two = span.one, span.two
        if (
            slot < 0
            or not self._streams.matches(slot, one.streams, flip)
            or not self._frames.fits(slot, one.frames, flip)
            or not self._tls_rows.fits(slot, one.tls, flip)
        ):
            return False
        part = self._streams.part_of(slot)
        if not self._exchanges.fits(slot, part, one.turns) or self._joined.setdefault(span.part, part) != part:
            return False
        self._streams.resume(slot, one.streams, two.streams, flip)
        self._tls_rows.jump(slot, one.tls, two.tls, flip)
        self._exchanges.jump(slot, two.turns)
        before, now = self._frames.jump(slot, one.frames, two.frames, flip)
        for place in before:
            if self._collector:
                self._collector.wait(place, None)
        for place, (row, waiting) in zip(now, two.waits, strict=True):
            self._exchanges.wait(place, part, row, self._walker.strings.number)
            if self._collector:
                self._collector.wait(place, waiting)
        return True

    def _settle(self, segments: memoryview) -> None:
        """Lets out what a full output held back."""
        why = layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            _, chunks, why = self._streams.feed(memoryview(b""), segments, 0, 0, self._chunks)
            self._feed_chunks(memoryview(b""), chunks)
