"""Segments in, raw rows out: reassembly, framing, bodies and pairing, one batch after the other.

The same object serves a run over whole captures and the stitching of fragments: both feed it segments in capture order.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.ingest import raw_tables, tls_facts
from analyzer.ingest.facts.collect import Collector, kinds_for
from dissectors import layout
from dissectors.kafka.columns.exchanges import Exchanges, label, set_apart
from dissectors.kafka.columns.wait_kinds import tell as tell_kinds
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.framing.frames import Frames
from dissectors.kafka.schema.lookup import known_keys
from dissectors.matrix import new_matrix
from dissectors.problems import PROBLEM_CONNECTION_EVICTED, PROBLEM_HOLE_GIVEN_UP
from dissectors.tcp.reassembly import Reassembly
from dissectors.tls.detection import TlsRows
from dissectors.tls.keys import KeyLog
from dissectors.tls.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    # Sees every batch of frames with their bytes: (frames, rows, block, heap).
    FrameHook = Callable[[memoryview, int, memoryview, bytearray], None]

    from analyzer.base.options import Options
    from analyzer.ingest.facts.batches import Batches
    from dissectors.tls.sessions import TlsFacts

# Rows of a batch: so many that the steps between the stages cost nothing, so few that a batch stays in the processor's cache.
# The 8 keep the columns of a matrix from lying a power of two apart: they would fight for the same cache lines.
CHUNK_ROWS = 8_192 + 8
FRAME_ROWS = 8_192 + 8
OUT_ROWS = 32_768 + 8
PART_ROWS = 8_192
MOST_HELD_PER_SIDE = 16 << 20
LABELS = 3  # columns that `label` adds


@dataclass(slots=True)
class Summary:
    """What a run tells beside its tables. Those of runs that shared the connections of a capture can be added.

    `api_keys` of messages that were read; `whole_requests`: parts in which a request was decoded to its last byte;
    `limited`: problem number -> how often; `problems_dropped`: those that no table lists; `duplicates`: split -> segments
    captured twice; `saw_several_points`: a connection was captured at several points of its way; `odd`: a body was
    malformed or the clock ran back within an exchange; `rows`: raw table -> rows.
    """

    api_keys: set[int]
    whole_requests: set[int]
    limited: Counter[int]
    problems_dropped: int
    duplicates: Counter[int]
    saw_several_points: bool
    odd: bool
    rows: Counter[str]

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.api_keys | other.api_keys,
            self.whole_requests | other.whole_requests,
            self.limited + other.limited,
            self.problems_dropped + other.problems_dropped,
            self.duplicates + other.duplicates,
            self.saw_several_points or other.saw_several_points,
            self.odd or other.odd,
            self.rows + other.rows,
        )


class Pipeline:
    """All stages from segments to raw rows, which grow in `folder` as raw_NAME.parquet.

    `hook` sees each batch of frames while their bytes are there. `keys` are the secrets of TLS connections; what is added
    to them later counts for connections that begin later. `in_task`: see `Reassembly`. Raises OSError when the
    folder's disk is full.
    """

    def __init__(
        self,
        folder: Path,
        options: Options,
        hook: FrameHook | None = None,
        keys: KeyLog | None = None,
        first_part: int = 0,
        in_task: bool = False,
    ) -> None:
        self._hook = hook
        self._tls_rows = TlsRows()
        self.keys = keys if keys is not None else KeyLog()
        self._tls = Sessions(self._tls_rows, self.keys)
        self._tls_facts: list[TlsFacts] = []
        # What waits for earlier bytes is less than what waits for the rest of its frame: both together keep to the limit.
        kept_bytes = options.max_reassembly_bytes // 4
        self._streams = Reassembly(
            reorder_segments=options.reorder_packets,
            reorder_ns=options.reorder_ns,
            max_connections=options.max_connections,
            max_buffered_bytes_per_side=max(MOST_HELD_PER_SIDE, options.max_reassembly_bytes // 16),
            max_buffered_bytes=kept_bytes,
            first_part=first_part,
            in_task=in_task,
        )
        newest, flexible = version_limits()
        self._frames = Frames(
            newest,
            flexible,
            options.max_frame_bytes,
            options.max_reassembly_bytes - kept_bytes,
            frozenset(options.ports),
        )
        self._walker = Walker(write_entries=options.with_entries)
        self._exchanges = Exchanges()
        self._chunks = new_matrix(layout.CHUNK_COLUMNS, CHUNK_ROWS)
        self._frame_rows = new_matrix(layout.FRAME_COLUMNS, FRAME_ROWS)
        self._values = new_matrix(layout.VALUE_COLUMNS, FRAME_ROWS)
        self._writer = raw_tables.Writer()
        self._tables = {
            "exchanges": raw_tables.RawTable(
                folder / "raw_exchanges.parquet", raw_tables.wanted(raw_tables.EXCHANGES, options.seldom), self._writer
            ),
            "entries": raw_tables.RawTable(folder / "raw_entries.parquet", raw_tables.ENTRIES, self._writer),
            "errors": raw_tables.RawTable(folder / "raw_errors.parquet", raw_tables.ERRORS, self._writer),
            "problems": raw_tables.RawTable(folder / "raw_problems.parquet", raw_tables.PROBLEMS, self._writer),
            "parts": raw_tables.RawTable(folder / "raw_parts.parquet", raw_tables.PARTS, self._writer),
            "talks": raw_tables.RawTable(folder / "raw_talks.parquet", raw_tables.TALKS, self._writer),
            "tls": raw_tables.RawTable(folder / "raw_tls.parquet", tls_facts.FIELDS, self._writer),
        }
        self._facts = _facts(folder, options, self._writer)
        self._collector = next((facts for facts in self._facts if isinstance(facts, Collector)), None)
        self._out = {
            "exchanges": _Output(layout.ROW_COLUMNS, OUT_ROWS),
            "entries": _Output(layout.ENTRY_COLUMNS + LABELS, OUT_ROWS if options.with_entries else 1),
            "errors": _Output(layout.ERROR_COLUMNS + LABELS, 1024),
        }
        # Exchanges that were not answered, failed or were throttled get row groups of their own: many questions are about
        # these few, and Parquet's statistics tell the engine that no others have any. Not in a task, which tells by their
        # places which of its rows stay.
        self._notable = None if in_task else _Output(layout.ROW_COLUMNS, 2 * OUT_ROWS)
        self.problems_by_kind: Counter[int] = Counter()
        self.problems_dropped = 0
        self._ending = False

    def summary(self) -> Summary:
        """What the run tells beside its tables."""
        limited = Counter(self.problems_by_kind)
        # Problems of these numbers are counted, those that the table does not list too.
        limited[PROBLEM_CONNECTION_EVICTED] = self._streams.evicted
        limited[PROBLEM_HOLE_GIVEN_UP] = self._streams.holes_given_up
        return Summary(
            api_keys=set(self._walker.keys),
            whole_requests=set(self._exchanges.whole_requests),
            limited=limited,
            problems_dropped=self.problems_dropped,
            duplicates=Counter(self._streams.duplicates),
            saw_several_points=self._streams.views > 1,
            odd=bool(self._exchanges.odd),
            rows=Counter({name: table.rows for name, table in self._tables.items()}),
        )

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
        self._flush_all()
        for table in self._tables.values():
            table.complete()
        for facts in self._facts:
            facts.finish()
        self._writer.close()

    def close(self) -> None:
        """Gives up the run: the writer ends, files may be incomplete."""
        self._writer.close()

    def _feed_chunks(self, block: memoryview, rows: int) -> None:
        """What was sent in clear first, then the content of TLS connections: those rows are of other slots, or later."""
        heap = self._streams.heap
        rows, taken = self._tls_rows.sort(block, heap, self._chunks, rows, self._streams.slots)
        self._read_frames(block, heap, self._chunks, rows)
        if taken:
            chunks, rows = self._tls.feed(taken, block, heap)
            self._read_frames(memoryview(self._tls.heap), self._tls.heap, chunks, rows)
        self._take_parts()

    def _read_frames(self, block: memoryview, heap: bytearray, chunks: memoryview, rows: int) -> None:
        """Frames of the chunks, their bodies, finished exchanges: round by round until the chunks are used up."""
        row, why = 0, layout.WHY_DONE
        while row < rows or why != layout.WHY_DONE:
            row, frames, why = self._frames.feed(block, heap, chunks, rows, row, self._streams.slots, self._frame_rows)
            if frames:
                self._read_bodies(block, frames)

    def _read_bodies(self, block: memoryview, rows: int) -> None:
        heap = self._frames.heap_memory
        entries, errors = self._walker.walk(block, heap, self._frame_rows, rows, self._values)
        if self._hook:
            self._hook(self._frame_rows, rows, block, heap)
        for facts in self._facts:
            facts.take(self._frame_rows, rows, block, heap)
        if entries:
            self._label("entries", self._walker.rows_of_entries(), entries, layout.ENTRY_COLUMNS)
        if errors:
            self._label("errors", self._walker.rows_of_errors(), errors, layout.ERROR_COLUMNS)
        row = 0
        while row < rows:
            out = self._out["exchanges"]
            before = out.rows
            row, out.rows, _ = self._exchanges.feed(
                self._frame_rows, self._values, row, rows, self._frames.places, out.matrix, out.rows, out.size
            )
            tell_kinds(out.matrix, before, out.rows)
            if out.rows == out.size:
                self._flush("exchanges")
        if self._walker.strings_full():
            self._flush_all()
            texts = list(self._walker.texts())
            self._walker.clear_strings()
            self._exchanges.renumber(texts, self._walker.strings.number)

    def _label(self, name: str, matrix: memoryview, rows: int, columns: int) -> None:
        out = self._out[name]
        if out.rows + rows > out.size:
            self._flush(name)
            out.reserve(rows)
        out.rows = label(self._frame_rows, matrix, rows, columns, out.matrix, out.rows)

    def _flush_all(self) -> None:
        for name in self._out:
            self._flush(name)
        if self._notable is not None:
            self._append("exchanges", self._notable)

    def _flush(self, name: str) -> None:
        out = self._out[name]
        # Where all rows fit one row group there is nothing to leave out.
        if name == "exchanges" and self._notable is not None and (self._tables[name].rows or not self._ending):
            if self._notable.rows >= OUT_ROWS:
                self._append(name, self._notable)
            out.rows, self._notable.rows = set_apart(out.matrix, out.rows, self._notable.matrix, self._notable.rows)
        self._append(name, out)

    def _append(self, name: str, out: _Output) -> None:
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
        self._take_tls_facts()
        for stage in (self._frames, self._streams, self._tls):
            matrix, rows, dropped = stage.take_problems()
            if rows or dropped:
                self._take_problems(matrix, rows, dropped)

    def _take_problems(self, matrix: memoryview, rows: int, dropped: int) -> None:
        self._tables["problems"].append(matrix, rows, [])
        self.problems_by_kind.update(matrix[layout.PROBLEM_KIND, row] for row in range(rows))
        self.problems_dropped += dropped

    def _take_tls_facts(self) -> None:
        self._tls_facts += self._tls.take_facts()
        if len(self._tls_facts) >= PART_ROWS or (self._tls_facts and self._ending):
            self._tables["tls"].append(*tls_facts.raw_rows(self._tls_facts))
            self._tls_facts = []


def _facts(folder: Path, options: Options, writer: raw_tables.Writer) -> list[Collector | Batches]:
    """What reads message bodies for the wanted tables."""
    if not options.with_facts:
        return []

    def write(name: str, table: pa.Table) -> None:
        writer.write_table(folder / f"raw_{name}.parquet", table)

    kinds = kinds_for(options.wants("group_events", "assignments"), options.wants("transaction_events"))
    found: list[Collector | Batches] = [Collector(kinds, write)]
    if options.wants("batches"):
        from analyzer.ingest.facts.batches import Batches

        found.append(Batches(write))
    return found


class _Output:
    """A matrix that fills up and is emptied into a raw table, which copies."""

    def __init__(self, columns: int, size: int) -> None:
        self.columns = columns
        self.size = size
        self.rows = 0
        self.matrix = new_matrix(columns, size)

    def reserve(self, rows: int) -> None:
        """Makes an empty output large enough for one batch of `rows`."""
        if rows > self.size:
            self.size = rows
            self.matrix = new_matrix(self.columns, rows)


def version_limits() -> tuple[array[int], array[int]]:
    """The newest and the first flexible version by API key; -1 where there is no such key."""
    known = known_keys()
    newest = [known[key].versions.last if key in known else -1 for key in range(max(known) + 1)]
    flexible = [known[key].flexible_from if key in known else -1 for key in range(max(known) + 1)]
    return array("q", newest), array("q", flexible)
