"""Segments in, raw rows out: reassembly, openings, TLS, framing, bodies and pairing, one batch after the other.

A run over whole captures feeds it segments in capture order; so do a run over pieces of a capture, a task
(`analyzer.distributed.resolver`) and the stitching of fragments (`analyzer.distributed.stitch`), which also use `connections`.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.memory import LEAST_CONNECTIONS, connections_at_a_time
from analyzer.ingest import raw_tables, tls_facts
from analyzer.ingest.checkpoints import Connections
from analyzer.ingest.facts.batches import Batches
from analyzer.ingest.facts.collect import Collector, kinds_for
from analyzer.ingest.idle_connections import IdleConnections
from analyzer.ingest.raw_writer import RawTable, Writer
from analyzer.ingest.row_matrix import RowMatrix
from analyzer.ingest.summary import Summary
from dissectors import layout
from dissectors.kafka.columns.exchanges import Exchanges, set_apart
from dissectors.kafka.columns.wait_kinds import set_wait_kinds
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.columns.walk_limits import MOST_ROWS_OF_A_MESSAGE
from dissectors.kafka.framing.framing import Framing
from dissectors.kafka.schema.lookup import version_limits
from dissectors.matrix import new_matrix
from dissectors.openings.opening_rows import OpeningRows
from dissectors.openings.openings import Openings
from dissectors.problems import PROBLEM_CONNECTION_EVICTED, PROBLEM_HOLE_GIVEN_UP, PROBLEM_SEGMENT_GIVEN_UP
from dissectors.tcp.reassembly import Reassembly
from dissectors.tls.detection import TlsRows
from dissectors.tls.keys import KeyLog
from dissectors.tls.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # See every batch: of frames with their bytes (frames, rows, block, heap), of chunks (block, heap, chunks, rows).
    FrameHook = Callable[[memoryview, int, memoryview, bytearray], None]
    ChunkHook = Callable[[memoryview, bytearray, memoryview, int], None]

    from analyzer.base.options import Options
    from analyzer.ingest.checkpoints import TaskObserver
    from dissectors.tls.content_rows import TakeContent
    from dissectors.tls.sessions import TlsFacts

# Rows of a batch: so many that the calls between stages cost nothing, so few that a batch stays in the processor's cache.
# With the 8 more, columns of a matrix do not lie a power of two apart, where they would compete for the same cache lines.
CHUNK_ROWS = 8_192 + 8
FRAME_ROWS = 8_192 + 8
OUT_ROWS = 32_768 + 8
PART_ROWS = 8_192
# A side may buffer so many bytes out of order whatever the limit for all is.
LEAST_BUFFERED_PER_SIDE = 16 << 20


class Pipeline:
    """All stages from segments to raw rows, which grow in `folder` as raw_NAME.parquet.

    `hook` sees each batch of frames while their bytes are there, `chunk_hook` of chunks, `content_hook` what is decrypted. `keys`:
    secrets of TLS connections; a later one counts for connections that begin later. With an `observer` (in a task) raw
    rows are drafts (`Writer`, raw_NAME.arrows), `packed` or not, in the order in which they were made, and TLS connections leave
    none. With `parks` idle connections leave their slots: nobody may ask `connections` then. Raises OSError when the folder's disk
    is full.
    """

    def __init__(
        self,
        folder: Path,
        options: Options,
        hook: FrameHook | None = None,
        keys: KeyLog | None = None,
        first_part: int = 0,
        observer: TaskObserver | None = None,
        packed: bool = False,
        parks: bool = False,
        chunk_hook: ChunkHook | None = None,
        content_hook: TakeContent | None = None,
    ) -> None:
        self._hook = hook
        self._chunk_hook = chunk_hook or (lambda *_: None)
        self._observer = observer
        self._opening_rows = OpeningRows()
        self._openings = Openings(self._opening_rows)
        self._tls_rows = TlsRows(notes_silences=observer is None)
        self.keys = keys if keys is not None else KeyLog()
        self._tls = Sessions(self._tls_rows, self.keys, content_hook)
        self._tls_facts: list[TlsFacts] = []
        # Buffered bytes are those that wait for earlier bytes, a quarter of the limit, and those of unfinished frames.
        out_of_order_bytes = options.max_reassembly_bytes // 4
        max_connections = options.max_connections or connections_at_a_time(bool(options.tls_key_logs))
        if not (parks or options.max_connections):
            # Each takes five times as much, and other tasks run beside this one.
            max_connections = max(LEAST_CONNECTIONS, max_connections // 10)
        self._streams = Reassembly(
            reorder_segments=options.reorder_packets,
            reorder_ns=options.reorder_ns,
            max_connections=max_connections,
            max_buffered_bytes_per_side=max(LEAST_BUFFERED_PER_SIDE, options.max_reassembly_bytes // 16),
            max_buffered_bytes=out_of_order_bytes,
            first_part=first_part,
            in_task=observer is not None,
        )
        newest, flexible = version_limits()
        self._frames = Framing(
            newest,
            flexible,
            options.max_frame_bytes,
            options.max_reassembly_bytes - out_of_order_bytes,
            frozenset(options.ports),
        )
        most_rows = MOST_ROWS_OF_A_MESSAGE if options.with_facts else 0  # where no table is wanted nobody reads them
        self._walker = Walker(options.with_facts, options.wants("batches"), options.entries_of, most_rows=most_rows)
        self._exchanges = Exchanges()
        self._no_segments = new_matrix(layout.SEGMENT_COLUMNS, 1)
        self._chunks = new_matrix(layout.CHUNK_COLUMNS, CHUNK_ROWS)
        self._frame_rows = new_matrix(layout.FRAME_COLUMNS, FRAME_ROWS)
        self._values = new_matrix(layout.VALUE_COLUMNS, FRAME_ROWS)
        self._writer = Writer(drafts=observer is not None, packed=packed, discards=not options.with_facts)
        self._folder = folder
        self._tables: dict[str, RawTable] = {}
        for name, fields in (
            ("exchanges", raw_tables.wanted(raw_tables.EXCHANGES, options.seldom)),
            ("entries", raw_tables.wanted(raw_tables.ENTRIES, options.seldom)),
            ("errors", raw_tables.ERRORS),
            ("problems", raw_tables.PROBLEMS),
            ("queued", raw_tables.QUEUED),
            ("silences", raw_tables.SILENCES),
            ("parts", raw_tables.PARTS),
            ("framed_parts", raw_tables.FRAMED_PARTS),
            ("tls", tls_facts.FIELDS),
        ):
            self.add_table(name, fields)
        self._collector = self._new_collector(options)
        self._batches = Batches(folder, self._writer, options.seldom) if options.wants("batches") else None
        self.connections = Connections(
            self._streams,
            self._opening_rows,
            self._tls_rows,
            self._frames,
            self._exchanges,
            self._walker,
            self._collector,
        )
        self._idle = None
        if parks:
            stages = (self._streams, self._opening_rows, self._tls_rows, self._frames, self._exchanges)
            self._idle = IdleConnections(
                stages, self._chunks, partial(self._feed_chunks, memoryview(b"")), max_connections, options.jobs
            )
        self._out = {
            "exchanges": RowMatrix(layout.ROW_COLUMNS, OUT_ROWS),
            "entries": RowMatrix(layout.ENTRY_COLUMNS + layout.LABEL_COLUMNS, OUT_ROWS if options.with_facts else 1),
            "errors": RowMatrix(layout.ERROR_COLUMNS + layout.LABEL_COLUMNS, OUT_ROWS),
        }
        # Exchanges that were not answered, failed or were throttled get row groups of their own: many questions are about these
        # few, and the statistics of all other row groups say that they have none. Not in a task, where the position of a row
        # says whether it is kept.
        self._notable = None if observer else RowMatrix(layout.ROW_COLUMNS, 2 * OUT_ROWS)
        self.problems_by_kind: Counter[int] = Counter()
        self.problems_dropped = 0
        self._ending = False

    def _new_collector(self, options: Options) -> Collector | None:
        """The reader of facts that the wanted tables need."""
        if not options.with_facts:
            return None
        tables = (("group_events", "assignments"), ("transaction_events",), ("broker_events",))
        kinds = kinds_for(*(options.wants(*names) for names in tables))
        return Collector(kinds, lambda name, table: self._writer.write_table(self._path(name), table))

    def _path(self, name: str) -> Path:
        return self._writer.path(self._folder, name)

    def add_table(self, name: str, fields: Sequence[raw_tables.Field]) -> RawTable:
        """One more raw table, which is completed with the others."""
        return self._tables.setdefault(name, RawTable(self._path(name), fields, self._writer))

    def summary(self) -> Summary:
        """What the run tells beside its tables."""
        limited = Counter(self.problems_by_kind)
        # The stage counts problems of these kinds, those that the table does not list too.
        limited[PROBLEM_CONNECTION_EVICTED] = self._streams.evicted
        limited[PROBLEM_HOLE_GIVEN_UP] = self._streams.holes_given_up
        limited[PROBLEM_SEGMENT_GIVEN_UP] = self._streams.segments_given_up
        return Summary(
            api_keys=set(self._walker.keys),
            whole_requests=set(self._exchanges.whole_requests),
            limited=limited,
            problems_dropped=self.problems_dropped,
            duplicates=Counter(self._streams.duplicates),
            saw_several_points=self._streams.views > 1,
            odd=bool(self._exchanges.odd),
            rows=self._rows(),
            rows_left_out=self._walker.rows_dropped() > 0,
        )

    def _rows(self) -> Counter[str]:
        return Counter({name: table.rows for name, table in self._tables.items()})

    def positions(self) -> dict[str, int]:
        """Raw table -> rows so far, those of it that are not written yet too."""
        rows = {name: self._tables[name].rows + out.rows for name, out in self._out.items()}
        rows["queued"] = self._tables["queued"].rows + self._streams.queued_rows
        if self._collector:
            rows |= self._collector.positions
        if self._batches:
            rows["batches"] = self._batches.rows
        return rows

    def feed(self, block: memoryview, segments: memoryview, rows: int, row: int = 0) -> None:
        """Takes rows [row, rows) of a segments matrix whose payloads lie in `block`."""
        while row < rows:
            stop = self._idle.make_room(segments, row, rows) if self._idle else rows
            row = self.feed_some(block, segments, row, stop)

    def feed_some(self, block: memoryview, segments: memoryview, row: int, stop: int) -> int:
        """Takes rows [row, stop), or fewer of them; returns the first row that is left."""
        row, chunks, _ = self._streams.feed(block, segments, stop, row, self._chunks)
        self._feed_chunks(block, chunks)
        return row

    def drain(self) -> None:
        """Hands on the bytes that reassembly holds only because its output was full."""
        nothing, why = memoryview(b""), layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            _, chunks, why = self._streams.feed(nothing, self._no_segments, 0, 0, self._chunks)
            self._feed_chunks(nothing, chunks)

    def finish(self) -> None:
        """The capture has ended: open connections leave their rows as they are, and the files are completed."""
        self._ending = True
        self._end_all()
        if self._idle:
            self._idle.finish(self._end_all)
        self._flush_all()
        for table in self._tables.values():
            table.complete()
        if self._collector:
            self._collector.finish()
        self._writer.close()

    def end_closed(self, before_ns: int) -> None:
        """Connections that have ended leave their slots, and attempts that came to nothing, if they have been idle since."""
        if self._idle:
            self._idle.end_closed(before_ns)

    def turn_over(self, folder: Path) -> tuple[Counter[str], set[int]]:
        """Completes the files of all rows so far; those from now on grow in `folder`, where facts of bodies are told anew. No
        thread is left. Returns the rows by raw table, and the parts in which a request was decoded to its last byte."""
        self._ending = True
        self._take_parts()
        self._flush_all()
        self._ending = False
        if self._collector:
            self._collector.finish()
            self._collector.forget_bodies()
        self._writer.close()
        rows, whole = self._rows(), set(self._exchanges.whole_requests)
        self._exchanges.whole_requests.clear()
        self.move(folder)
        return rows, whole

    def move(self, folder: Path) -> None:
        """Rows from now on grow in `folder`; none were written to where they grew before."""
        self._folder = folder
        for table in (*self._tables.values(), *((self._batches,) if self._batches else ())):
            table.move(folder)

    def _end_all(self) -> None:
        """Connections in slots leave their rows as they are."""
        why = layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            chunks, why = self._streams.finish(self._chunks)
            self._feed_chunks(memoryview(b""), chunks)

    def close(self) -> None:
        """Ends the writer. Before `finish` this gives up the run, and files may be incomplete."""
        self._writer.close()
        # The observer holds this object: without a cycle the memory of the stages is free as soon as nobody needs them.
        self._observer = None
        self._idle = None

    def _feed_chunks(self, block: memoryview, rows: int) -> None:
        """What comes from reassembly, then what was held back until it was clear how its connection begins: rows of other slots,
        or later ones."""
        heap, slots = self._streams.heap, self._streams.slots
        self._chunk_hook(block, heap, self._chunks, rows)
        rows, taken = self._opening_rows.separate(block, heap, self._chunks, rows, slots)
        self._read_streams(block, heap, self._chunks, rows)
        if taken:
            chunks, rows = self._openings.feed(taken, block, heap)
            self._read_streams(memoryview(self._openings.heap), self._openings.heap, chunks, rows)
        self._take_parts()

    def _read_streams(self, block: memoryview, heap: bytearray, chunks: memoryview, rows: int) -> None:
        """Frames of what was sent in clear, then of the content of TLS connections, whose rows are of other slots or later."""
        rows, taken = self._tls_rows.separate(block, heap, chunks, rows, self._streams.slots)
        self._read_frames(block, heap, chunks, rows)
        if taken:
            chunks, rows = self._tls.feed(taken, block, heap)
            self._read_frames(memoryview(self._tls.heap), self._tls.heap, chunks, rows)

    def _read_frames(self, block: memoryview, heap: bytearray, chunks: memoryview, rows: int) -> None:
        """Cuts chunks into frames and reads their bodies, in rounds until the chunks are used up."""
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
        if self._collector:
            self._collector.take(self._frame_rows, rows, block, heap)
        if self._batches:
            self._batches.take(self._frame_rows, block, heap, self._walker)
        if entries:
            self._label("entries", self._walker.rows_of_entries(), entries, layout.ENTRY_COLUMNS)
        if errors:
            self._label("errors", self._walker.rows_of_errors(), errors, layout.ERROR_COLUMNS)
        row = 0
        while row < rows:
            out = self._out["exchanges"]
            before = out.rows
            row, out.rows, _ = self._exchanges.feed(
                self._frame_rows, self._values, row, rows, self._frames.request_capacity, out.matrix, out.rows, out.size
            )
            set_wait_kinds(out.matrix, before, out.rows)
            if out.rows == out.size:
                self._flush("exchanges")
        if self._walker.strings_full():
            self._flush_all()
            texts = [*self._walker.texts()]
            self._walker.clear_strings()
            self._exchanges.renumber(texts, self._walker.strings.number)

    def _label(self, name: str, matrix: memoryview, rows: int, columns: int) -> None:
        self._out[name].label(self._frame_rows, matrix, rows, columns, partial(self._flush, name))

    def _flush_all(self) -> None:
        for name in self._out:
            self._flush(name)
        if self._notable is not None:
            self._append("exchanges", self._notable)
        if self._batches:
            self._batches.flush(self._walker.texts())

    def _flush(self, name: str) -> None:
        out = self._out[name]
        # Where all rows fit into one row group there is no group to skip.
        if name == "exchanges" and self._notable is not None and (self._tables[name].rows or not self._ending):
            if self._notable.rows >= OUT_ROWS:
                self._append(name, self._notable)
            out.rows, self._notable.rows = set_apart(out.matrix, out.rows, self._notable.matrix, self._notable.rows)
        self._append(name, out)

    def _append(self, name: str, out: RowMatrix) -> None:
        rows, out.rows = out.rows, 0
        self._tables[name].append(out.matrix, rows, self._walker.texts())

    def _take_parts(self) -> None:
        """Problems and facts of TLS go out at once, other rows when there are many, or at the end."""
        for name, rows, take in (
            ("parts", self._streams.part_rows, self._streams.take_parts),
            ("framed_parts", self._frames.framed_part_rows, self._frames.take_framed_parts),
            ("queued", self._streams.queued_rows, self._streams.take_queued),
            ("silences", self._tls_rows.silence_rows, self._tls_rows.take_silences),
        ):
            if rows >= PART_ROWS or (rows and self._ending):
                matrix, rows = take()
                self._tables[name].append(matrix, rows, [])
        self._take_tls_facts()
        for stage in (self._frames, self._streams, self._tls):
            if any((taken := stage.take_problems())[1:]):
                self._take_problems(*taken)

    def _take_problems(self, matrix: memoryview, rows: int, dropped: int) -> None:
        self._tables["problems"].append(matrix, rows, [])
        self.problems_by_kind.update(matrix[layout.PROBLEM_KIND, row] for row in range(rows))
        self.problems_dropped += dropped
        if self._observer:
            self._observer.see_problems(matrix, rows, dropped)

    def _take_tls_facts(self) -> None:
        facts = self._tls.take_facts()
        if self._observer:
            self._observer.see_tls(each.part for each in facts)
            return
        self._tls_facts += facts
        if len(self._tls_facts) >= PART_ROWS or (self._tls_facts and self._ending):
            self._tables["tls"].append(*tls_facts.raw_rows(self._tls_facts))
            self._tls_facts = []
