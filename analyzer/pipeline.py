"""Segments in, raw rows out: reassembly, framing, bodies and pairing, one batch after the other.

The same object serves a run over whole captures and the stitching of fragments: both feed it segments in capture order.
"""

from __future__ import annotations

from array import array
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import raw
from dissectors import layout
from dissectors.kafka.exchanges import Exchanges, label
from dissectors.kafka.frames import Frames
from dissectors.kafka.schema import known_keys
from dissectors.kafka.walk import Walker
from dissectors.net.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Callable

    # Sees every batch of frames with their bytes: (frames, rows, block, heap).
    FrameHook = Callable[[memoryview, int, memoryview, bytearray], None]

    from analyzer.options import Options

# Rows of a batch: so many that the steps between the stages cost nothing, so few that a batch stays in the processor's cache.
# The 8 keep the columns of a matrix from lying a power of two apart: they would fight for the same cache lines.
CHUNK_ROWS = 8_192 + 8
FRAME_ROWS = 8_192 + 8
OUT_ROWS = 32_768 + 8
PART_ROWS = 8_192
LABELS = 3  # columns that `label` adds


class Pipeline:
    """All stages from segments to raw rows, which grow in `folder` as raw_NAME.parquet.

    `hook` sees each batch of frames while their bytes are there. Raises OSError when the folder's disk is full.
    """

    def __init__(self, folder: Path, options: Options, hook: FrameHook | None = None) -> None:
        self._hook = hook
        self._streams = Streams(max_connections=options.max_connections, max_held_bytes=options.max_reassembly_bytes)
        newest, flexible = version_limits()
        self._frames = Frames(
            newest, flexible, options.max_frame_bytes, options.max_reassembly_bytes, frozenset(options.ports)
        )
        self._walker = Walker(write_entries=options.with_entries)
        self._exchanges = Exchanges()
        self._chunks = layout.matrix(layout.CHUNK_COLUMNS, CHUNK_ROWS)
        self._frame_rows = layout.matrix(layout.FRAME_COLUMNS, FRAME_ROWS)
        self._values = layout.matrix(layout.VALUE_COLUMNS, FRAME_ROWS)
        self._writer = raw.Writer()
        self._tables = {
            "exchanges": raw.RawTable(folder / "raw_exchanges.parquet", raw.EXCHANGES, self._writer),
            "entries": raw.RawTable(folder / "raw_entries.parquet", raw.ENTRIES, self._writer),
            "errors": raw.RawTable(folder / "raw_errors.parquet", raw.ERRORS, self._writer),
            "problems": raw.RawTable(folder / "raw_problems.parquet", raw.PROBLEMS, self._writer),
            "parts": raw.RawTable(folder / "raw_parts.parquet", raw.PARTS, self._writer),
            "talks": raw.RawTable(folder / "raw_talks.parquet", raw.TALKS, self._writer),
        }
        self._out = {
            "exchanges": _Output(layout.ROW_COLUMNS, OUT_ROWS),
            "entries": _Output(layout.ENTRY_COLUMNS + LABELS, OUT_ROWS if options.with_entries else 1),
            "errors": _Output(layout.ERROR_COLUMNS + LABELS, 1024),
        }
        self.problems_by_kind: Counter[int] = Counter()
        self.problems_dropped = 0
        self._ending = False

    @property
    def whole_requests(self) -> set[int]:
        """Numbers of the parts in which a request was decoded to its last byte."""
        return self._exchanges.whole_requests

    def api_keys(self) -> set[int]:
        """API keys whose messages were read."""
        return self._walker.keys

    def feed(self, block: memoryview, segments: memoryview, rows: int) -> None:
        """Takes rows [0, rows) of a segments matrix whose payloads lie in `block`."""
        row = 0
        while row < rows:
            row, chunks, _ = self._streams.feed(block, segments, rows, row, self._chunks)
            self._feed_chunks(block, chunks)

    def finish(self) -> None:
        """The capture has ended: what is still open leaves as it is, and the files are completed."""
        self._ending = True
        why = layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            chunks, why = self._streams.finish(self._chunks)
            self._feed_chunks(memoryview(b""), chunks)
        for name in self._out:
            self._flush(name)
        for table in self._tables.values():
            table.complete()
        self._writer.close()

    def close(self) -> None:
        """Gives up the run: the writer ends, files may be incomplete."""
        self._writer.close()

    def _feed_chunks(self, block: memoryview, rows: int) -> None:
        """Frames of the chunks, their bodies, finished exchanges: round by round until the chunks are used up."""
        row, why = 0, layout.WHY_DONE
        while row < rows or why != layout.WHY_DONE:
            row, frames, why = self._frames.feed(
                block, self._streams.heap, self._chunks, rows, row, self._streams.slots, self._frame_rows
            )
            if frames:
                self._read_bodies(block, frames)
        self._take_parts()

    def _read_bodies(self, block: memoryview, rows: int) -> None:
        heap = self._frames.heap_memory
        entries, errors = self._walker.walk(block, heap, self._frame_rows, rows, self._values)
        if self._hook:
            self._hook(self._frame_rows, rows, block, heap)
        if entries:
            self._label("entries", self._walker.rows_of_entries(), entries, layout.ENTRY_COLUMNS)
        if errors:
            self._label("errors", self._walker.rows_of_errors(), errors, layout.ERROR_COLUMNS)
        row = 0
        while row < rows:
            out = self._out["exchanges"]
            row, out.rows, _ = self._exchanges.feed(
                self._frame_rows, self._values, row, rows, self._frames.places, out.matrix, out.rows, out.size
            )
            if out.rows == out.size:
                self._flush("exchanges")
        if self._walker.strings_full():
            for name in self._out:
                self._flush(name)
            texts = list(self._walker.texts())
            self._walker.clear_strings()
            self._exchanges.renumber(texts, self._walker.strings.number)

    def _label(self, name: str, matrix: memoryview, rows: int, columns: int) -> None:
        out = self._out[name]
        if out.rows + rows > out.size:
            self._flush(name)
            out.reserve(rows)
        out.rows = label(self._frame_rows, matrix, rows, columns, out.matrix, out.rows)

    def _flush(self, name: str) -> None:
        out = self._out[name]
        self._tables[name].append(out.matrix, out.rows, self._walker.texts())
        out.rows = 0

    def _take_parts(self) -> None:
        """Connections that closed: their rows go out when there are many, or at the end."""
        for name, rows, take in (
            ("parts", self._streams.part_rows, self._streams.take_parts),
            ("talks", self._frames.talk_rows, self._frames.take_talks),
        ):
            if rows >= PART_ROWS or (rows and self._ending):
                matrix, rows = take()
                self._tables[name].append(matrix, rows, [])
        for matrix, rows, dropped in (self._frames.take_problems(), self._streams.take_problems()):
            self._tables["problems"].append(matrix, rows, [])
            self.problems_by_kind.update(matrix[layout.PROBLEM_KIND, row] for row in range(rows))
            self.problems_dropped += dropped


class _Output:
    """A matrix that fills up and is emptied into a raw table, which copies."""

    def __init__(self, columns: int, size: int) -> None:
        self.columns = columns
        self.size = size
        self.rows = 0
        self.matrix = layout.matrix(columns, size)

    def reserve(self, rows: int) -> None:
        """Makes an empty output large enough for one batch of `rows`."""
        if rows > self.size:
            self.size = rows
            self.matrix = layout.matrix(self.columns, rows)


def version_limits() -> tuple[array[int], array[int]]:
    """The newest and the first flexible version by API key; -1 where there is no such key."""
    known = known_keys()
    newest = [known[key].versions.last if key in known else -1 for key in range(max(known) + 1)]
    flexible = [known[key].flexible_from if key in known else -1 for key in range(max(known) + 1)]
    return array("q", newest), array("q", flexible)
