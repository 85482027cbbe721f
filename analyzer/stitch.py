"""Fragments of all tasks -> the rest of the raw rows: the stages once more, over what tasks could not finish."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import fragments
from analyzer.fragments import CONTEXT, MARKER
from analyzer.pipeline import Pipeline
from analyzer.points import Marker, marker
from analyzer.raw import Field, RawTable
from dissectors import layout
from dissectors.net.tls_keys import KeyLog

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.options import Options

# Which connection a part of a task belongs to: rows of the one are rows of the other.
JOINED = (Field("part", 0, "int64"), Field("joined_to", 1, "int64"))


class Stitcher(Pipeline):
    """The stages of a partition. Takes fragments sorted by (flow, number).

    `refuted` are (task, flow) of spans that did not fit.
    """

    def __init__(self, folder: Path, options: Options, keys: KeyLog, first_part: int) -> None:
        super().__init__(folder, options, keys=keys, first_part=first_part)
        self.refuted: set[tuple[int, int]] = set()
        self._joined: dict[int, int] = {}
        self._tables["joined"] = RawTable(folder / "raw_joined.parquet", JOINED, self._writer)

    def take(self, batch: pa.RecordBatch) -> None:
        """Takes one batch of fragments."""
        kinds = batch.column("kind").to_pylist()
        start = 0
        while start < len(kinds):
            stop = start + 1
            while stop < len(kinds) and kinds[stop] == kinds[start] != MARKER:
                stop += 1
            self._take_alike(batch.slice(start, stop - start), kinds[start])
            start = stop

    def _take_alike(self, batch: pa.RecordBatch, kind: int) -> None:
        block, segments = fragments.unpack(batch)
        if kind == MARKER:
            one = marker(batch.column("payload")[0].as_py())
            if not self._jump(one, segments):
                self.refuted.add((one.task, batch.column("flow")[0].as_py()))
        elif kind == CONTEXT:
            self._streams.remember(segments, batch.num_rows)
        else:
            self.feed(block, segments, batch.num_rows)

    def finish(self) -> None:
        pairs = layout.matrix(2, max(1, len(self._joined)))
        for row, pair in enumerate(self._joined.items()):
            pairs[0, row], pairs[1, row] = pair
        self._tables["joined"].append(pairs, len(self._joined), [])
        super().finish()

    def _jump(self, span: Marker, segments: memoryview) -> bool:
        """Goes on behind a span; False: the connection is not where the span begins."""
        self._settle(segments)
        slot, flip = self._streams.find(segments, 0)
        one, two = span.one, span.two
        if (
            slot < 0
            or not self._streams.fits(slot, one.streams, flip)
            or not self._frames.fits(slot, one.frames, flip)
            or not self._tls_rows.fits(slot, one.tls, flip)
        ):
            return False
        part = self._streams.part(slot)
        if not self._exchanges.fits(slot, part, one.turns) or self._joined.setdefault(span.part, part) != part:
            return False
        self._streams.jump(slot, one.streams, two.streams, flip)
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
