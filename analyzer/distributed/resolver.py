"""What a run over pieces of a capture, a task, resolves itself, so that only the edges of connections travel.

At a *checkpoint* nothing of a connection is pending, and all that the stages know of it is a row of numbers
(`analyzer.ingest.checkpoints`). What lies between two checkpoints, a *resolved span*, depends on the numbers of the first one
only. Segments up to the first checkpoint leave as fragments, a *marker* with both checkpoints takes the place of the span,
and the segments behind it leave too. `stitch` runs the stages over the fragments; at a marker it checks that its connection matches
the first checkpoint, and resumes at the second one. If it does not match, the marker is refuted: the task is read again, and
all segments of this flow leave.

A span ends where something comes whose meaning depends on more than the checkpoint: the ends of a connection, another TTL
(the connection may be seen at several capture points), a clock that ran back, a problem, a gap that hid a frame boundary,
logins and joins of groups. The next span may begin behind it. Raw rows are kept if they were written between the two
checkpoints of a span.

Of a connection that begins and ends well inside the task all rows are kept, and only its SYN leaves
(`complete_connections`). Which connections these are is known at the end of the task, so until then what may travel is kept
in a file of its own.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.distributed import fragments
from analyzer.distributed.complete_connections import CompleteConnections
from analyzer.distributed.pending_segments import PendingSegments
from analyzer.distributed.raw_row_filter import KeptParts, keep_all_rows, keep_rows, kinds_of_problems
from analyzer.distributed.resolved_spans import (
    RAW_THAT_STAYS,
    STRADDLING,
    STRAY,
    Span,
    SpanEdge,
    append_straddling,
    can_follow,
    marker_rows,
    straddling,
)
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.ingest.pipeline import Pipeline
from analyzer.ingest.summary import Summary
from dissectors import layout
from dissectors.kafka.framing.state_columns import MOST_PROBLEM_ROWS
from dissectors.layout import SPLIT_SHIFT
from dissectors.problems import PROBLEM_CONNECTION_EVICTED, PROBLEM_FRAME_CUT_BY_LIMIT, PROBLEM_HOLE_GIVEN_UP
from dissectors.tcp.state_columns import PROBLEM_ROWS
from dissectors.tls.sessions import MOST_PROBLEMS

if TYPE_CHECKING:
    from analyzer.base.options import Options

FRAGMENTS = "fragments.parquet"
# Checkpoints are looked for after so many segments at most, in large tasks more, and again in the same connection after so many
# new bytes. A look costs as much as some hundred segments, and a small task needs several, or it finds no span.
LOOK_ROWS = 1_024
MOST_LOOK_ROWS = 8_192
BYTES_PER_LOOK_ROW = 1 << 14
FRESH_BYTES = 32 << 10
# Pending segments are settled when there are so many bytes of them.
PENDING_BYTES = 32 << 20
# With more than this, the spans with the most pending bytes are ended.
MOST_PENDING_BYTES = 96 << 20
# Drafts take nearly twice the bytes of the packets that were read. Of a task beyond this size, which may be a compressed capture,
# they are packed: then they take less than half of them.
MOST_PLAIN_BYTES = 256 << 20
# Spans whose markers are made at a time.
MARKERS_AT_ONCE = 1_000
# Raw tables in which the rows of spans are kept, and those in which only rows of complete connections are.
TABLES_OF_SPANS = ("exchanges", "entries", "errors", "queued", *FACT_TABLES)
TABLES_OF_COMPLETE = ("parts", "framed_parts", "problems", "tls", "silences")
# Problems that depend on all connections at the time: memory for unfinished frames, connections, bytes that wait for others.
LIMITS = frozenset((PROBLEM_FRAME_CUT_BY_LIMIT, PROBLEM_CONNECTION_EVICTED, PROBLEM_HOLE_GIVEN_UP))
# A stage that reports fewer problems at a time has dropped none because its table was full, only problems of connections that
# have many.
SMALLEST_PROBLEM_TABLE = min(PROBLEM_ROWS, MOST_PROBLEM_ROWS, MOST_PROBLEMS)


class _OpenSpan:
    """A span under way; `duplicates` are its segments captured twice, by split."""

    def __init__(self, endpoints: dict[int, int], begin: SpanEdge) -> None:
        self.endpoints = endpoints
        self.begin = begin
        self.end: SpanEdge | None = None
        self.duplicates = Counter[int]()


class Resolver:
    """Runs the stages of a task. Writes the fragments, and the raw rows of spans and of complete connections, below `folder`.

    Parts and fragments are numbered from `first` on; of `raw_flows` all segments leave as fragments. `size_bytes`: of the task;
    `strays_apart`: as in `read_task`.
    """

    def __init__(
        self,
        folder: Path,
        options: Options,
        first: int,
        raw_flows: frozenset[int] = frozenset(),
        size_bytes: int = 0,
        strays_apart: bool = False,
    ) -> None:
        self._folder = folder
        self._look_rows = max(LOOK_ROWS, min(size_bytes // BYTES_PER_LOOK_ROW, MOST_LOOK_ROWS))
        self._strays_apart = strays_apart
        self._unfiltered = folder / "unfiltered"
        self._unfiltered.mkdir()
        packed = size_bytes > MOST_PLAIN_BYTES
        self._pipeline = Pipeline(self._unfiltered, options, first_part=first, observer=self, packed=packed)
        self._straddling = self._pipeline.add_table("straddling", STRADDLING)
        self._connections = self._pipeline.connections
        self._first = first
        self._raw_flows = raw_flows
        self._next_number = first  # of the next segment
        self._not_looked = 0  # segments since the last look
        self._pending = PendingSegments(self._unfiltered / FRAGMENTS, packed)
        # Spans under way, spans that ended and whose segments are still pending, and all others, which are settled. The next
        # span of a part begins when the one before is settled.
        self._open: dict[int, _OpenSpan] = {}
        self._ended: dict[int, Span] = {}
        self._settled: list[Span] = []
        # Part -> segments captured twice: since the newest checkpoint, in spans, and in all.
        self._new_duplicates: dict[int, Counter[int]] = {}
        self._span_duplicates: dict[int, Counter[int]] = {}
        self._part_duplicates: dict[int, Counter[int]] = {}
        self._to_end: set[int] = set()  # parts whose span must end
        self._with_problems: set[int] = set()  # parts
        self._cannot_be_complete: set[int] = set()  # parts
        self._none_is_complete = False
        self._complete: CompleteConnections | None = None
        # Of what is kept: raw table -> rows, and problem number -> how often.
        self._rows = Counter[str]()
        self._problems = Counter[int]()

    def feed(self, block: memoryview, segments: memoryview, rows: int) -> None:
        """Takes rows [0, rows) of a segments matrix whose payloads lie in `block`."""
        row = 0
        while row < rows:
            before = row
            row = self._pipeline.feed_some(block, segments, row, min(rows, row + self._look_rows - self._not_looked))
            self._not_looked += row - before
            # The stages stop early where a frame ends that was waited for.
            if row < rows or self._not_looked >= self._look_rows:
                self._look(self._next_number + row - 1, FRESH_BYTES)
                self._not_looked = 0
        self._pending.take(block, segments, rows, self._next_number)
        self._next_number += rows
        if self._pending.bytes > PENDING_BYTES:
            self._settle()

    def finish(self) -> None:
        """The task has ended: completes its files."""
        self._look(self._next_number - 1, 0)
        for part in list(self._open):
            self._end_span(part)
        self._settle()
        self._pending.close()
        edges = (edge.checkpoint for span in self._settled for edge in (span.begin, span.end))
        strays = straddling(edges)
        append_straddling(self._straddling, () if self._strays_apart else strays)
        self._pipeline.finish()
        if self._pipeline.problems_dropped:
            self._cannot_be_complete |= self._with_problems
        columns = array("q") if self._none_is_complete else self._connections.take_complete()
        self._complete = CompleteConnections(
            columns, self._first, self._pending, self._cannot_be_complete, self._raw_flows
        )
        self._write_fragments(self._complete)
        self._keep_rows(self._complete.parts, sorted(strays) if self._strays_apart else [])

    def close(self) -> None:
        """Ends the writer of raw tables."""
        self._pipeline.close()

    def summary(self) -> Summary:
        """Of spans and of complete connections; the summaries of `stitch` are of all else."""
        run = self._pipeline.summary()
        complete = self._complete.parts if self._complete else ()
        kept = [
            *(duplicates for part, duplicates in self._part_duplicates.items() if part in complete),
            *(duplicates for part, duplicates in self._span_duplicates.items() if part not in complete),
        ]
        return Summary(
            api_keys=run.api_keys,
            whole_requests={part for part in run.whole_requests if part in complete},
            limited=self._problems,
            problems_dropped=0,
            duplicates=sum(kept, Counter()),
            saw_several_points=False,
            odd=run.odd,
            rows=self._rows,
            rows_left_out=run.rows_left_out,
        )

    # ---- what the pipeline tells (TaskObserver) ----

    def see_tls(self, parts: Iterable[int]) -> None:
        """TLS connections are never resolved here: their secrets may come in other tasks."""
        self._cannot_be_complete.update(parts)

    def see_problems(self, matrix: memoryview, rows: int, dropped: int) -> None:
        """A problem ends a span. How many problems were dropped only `stitch` can tell, so then no span goes on."""
        for row in range(rows):
            part = matrix[layout.PROBLEM_PART, row]
            self._to_end.add(part)
            self._with_problems.add(part)
            if matrix[layout.PROBLEM_KIND, row] in LIMITS:
                self._cannot_be_complete.add(part)
        if dropped:
            self._to_end.update(self._open)
            self._none_is_complete |= rows >= SMALLEST_PROBLEM_TABLE

    # ---- checkpoints and spans ----

    def _look(self, number: int, fresh_bytes: int) -> None:
        """Looks for checkpoints in the connections with new segments; the last one is segment `number`."""
        for part, split in self._connections.take_duplicates():
            self._new_duplicates.setdefault(part, Counter())[split] += 1
            self._part_duplicates.setdefault(part, Counter())[split] += 1
        for part in (*self._to_end, *self._connections.take_closed()):
            self._end_span(part)
        self._to_end.clear()
        positions: tuple[int, ...] | None = None
        for slot, part, spoiled, pauses in self._connections.take_touched(fresh_bytes):
            if spoiled:
                self._end_span(part)
            checkpoint = self._connections.checkpoint(slot, part) if pauses else None
            if checkpoint is None:
                self._connections.stop_at_boundary(slot)
                continue
            positions = positions or self._positions()
            self._use(slot, part, SpanEdge(checkpoint, positions, number))

    def _positions(self) -> tuple[int, ...]:
        rows = self._pipeline.positions()
        return tuple(rows.get(name, 0) for name in TABLES_OF_SPANS)

    def _use(self, slot: int, part: int, edge: SpanEdge) -> None:
        """A connection is at a checkpoint: its span goes on to here, or one begins here."""
        span = self._open.get(part)
        duplicates = self._new_duplicates.pop(part, None)
        if span is not None and not can_follow(span.begin.checkpoint, edge.checkpoint):
            self._end_span(part)
            span = None
        if span is not None:
            span.end = edge
            if duplicates:
                span.duplicates += duplicates
            self._pending.extend_span(part - self._first, edge.number, edge.checkpoint.time_ns)
        elif part in self._ended or edge.checkpoint.framing[layout.FRAMING_FLOW] in self._raw_flows:
            return
        else:
            self._open[part] = _OpenSpan(self._connections.endpoints(slot), edge)
            self._pending.begin_span(part - self._first, edge.number)
        self._connections.checkpoint_taken(slot, self._open[part].begin.checkpoint.time_ns)

    def _end_span(self, part: int) -> None:
        """The span of a part, if there is one under way, ends at its newest checkpoint."""
        span = self._open.pop(part, None)
        if span is None:
            return
        if span.end is None:
            self._pending.forget_span(part - self._first)
            return
        if span.duplicates:
            self._span_duplicates[part] = self._span_duplicates.get(part, Counter()) + span.duplicates
        self._ended[part] = Span(part, span.endpoints, span.begin, span.end)

    # ---- what leaves ----

    def _settle(self) -> None:
        """Writes or drops the pending segments that are known to travel, or known not to."""
        self._pending.settle([part - self._first for part in self._ended])
        while self._pending.bytes > MOST_PENDING_BYTES:
            for part in self._pending.longest(MOST_PENDING_BYTES // 2):
                self._end_span(part + self._first)
            if not self._ended:
                break
            self._settle_spans()
            self._pending.settle([])
        self._settle_spans()

    def _settle_spans(self) -> None:
        self._settled += self._ended.values()
        for part in self._ended:
            self._pending.forget_span(part - self._first)
        self._ended.clear()

    def _write_fragments(self, complete: CompleteConnections) -> None:
        """Writes what travels: segments of connections that are not complete, a row for each that is, and markers."""
        task = self._first >> SPLIT_SHIFT
        source = self._unfiltered / FRAGMENTS
        with fragments.writer(self._folder / FRAGMENTS, fragments.schema()) as out:
            complete.filter_fragments(source, out, task)
            spans = [span for span in self._settled if span.part not in complete.parts]
            for at in range(0, len(spans), MARKERS_AT_ONCE):
                out.write_table(marker_rows(spans[at : at + MARKERS_AT_ONCE], task))
        source.unlink()

    def _keep_rows(self, complete: Collection[int], strays: list[int]) -> None:
        """Makes raw tables of the rows that belong to a span or to a complete connection. Those of the exchanges `strays` leave
        for tables of their own."""
        kept_bodies: set[int] = set()
        spans = [span for span in self._settled if span.part not in complete]
        parts = KeptParts(spans, complete, self._first, self._connections.next_part)
        # `reported` comes first: its rows name the bodies whose facts are kept in the other tables.
        for name in ("reported", *(name for name in (*TABLES_OF_SPANS, *TABLES_OF_COMPLETE) if name != "reported")):
            source = self._unfiltered / f"raw_{name}.arrows"
            if source.exists():
                table = TABLES_OF_SPANS.index(name) if name in TABLES_OF_SPANS else None
                apart = self._folder / f"{STRAY}{name}.parquet" if strays and name in RAW_THAT_STAYS else None
                target = self._folder / f"raw_{name}.parquet"
                self._rows[name] = keep_rows(source, target, parts.ranges(table), kept_bodies, strays, apart)
                source.unlink()
        self._problems = kinds_of_problems(self._folder / "raw_problems.parquet")
        for other in self._unfiltered.iterdir():
            keep_all_rows(other, self._folder / f"{other.stem}.parquet")
            other.unlink()
        self._unfiltered.rmdir()
