"""What a run over a part of a capture resolves itself, so that only the edges of connections travel.

A *point of rest* of a connection lies between two of its segments: nothing is kept, no hole is open, both sides stand at a
sure boundary of frames, it is proved to be Kafka. All that the stages know of the connection there is a row of numbers. What
lies between two such points, a *span*, depends on the first one's numbers only: segments up to it leave as fragments, a
*marker* with both rows of numbers stands for the span, and the segments behind it leave too. `stitch` runs over the
fragments; at a marker it looks whether the connection is where the task thought it was, and goes on behind the span. If it is
not, the marker is refuted: then the task is read again, and leaves all of this connection raw.

A span ends where something comes whose meaning depends on more: the ends of a connection, another TTL (it may be seen at
several places), a clock that ran back, a problem, a gap that hid a boundary, logins and joins of groups. Behind it the next
one may begin. Raw rows are kept if they were written between the two points of a span.

Of a connection that began and was over well inside the task all rows are kept, and only its SYN leaves
(`complete_connections`). Which ones these are is known at the end, so until then what may travel is kept in a file of its
own.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.distributed import fragments
from analyzer.distributed.checkpoints import Point, Span, goes_on, markers
from analyzer.distributed.complete_connections import Wholes
from analyzer.distributed.pending_segments import Window
from analyzer.distributed.raw_row_filter import kinds_of_problems, ranges, sift_file
from analyzer.ingest.facts.tables import FACT_TABLES
from analyzer.ingest.pipeline import Pipeline, Summary
from dissectors import layout
from dissectors.layout import SPLIT_SHIFT
from dissectors.problems import PROBLEM_CONNECTION_EVICTED, PROBLEM_FRAME_CUT_BY_LIMIT, PROBLEM_HOLE_GIVEN_UP

if TYPE_CHECKING:
    from analyzer.base.options import Options

FRAGMENTS = "fragments.parquet"
# Connections are looked at after so many segments at most, and each one again after so many new bytes.
LOOK_ROWS = 512
FRESH_BYTES = 4 << 10
# Segments whose end is open are looked through when there are so many bytes of them.
WINDOW_BYTES = 32 << 20
# With more the longest of them leave raw.
MOST_BYTES = 96 << 20
# Markers are made of so many spans at a time.
MARKERS = 1_000
# Tables of which rows are kept, those of spans first.
TABLES = ("exchanges", "entries", "errors", *FACT_TABLES)
OF_WHOLES = ("parts", "talks", "problems", "tls")
# Problems that depend on what else there is at the time: memory for unfinished frames, connections, bytes waiting for others.
LIMITS = frozenset((PROBLEM_FRAME_CUT_BY_LIMIT, PROBLEM_CONNECTION_EVICTED, PROBLEM_HOLE_GIVEN_UP))
# A stage drops problems when its table is full, the smallest of which has so many rows (PROBLEM_ROWS of `streams`), or of a
# connection that has many.
MOST_PROBLEMS = 1_024


class _Open:
    """A span under way; `copies` are its segments captured twice, by input."""

    def __init__(self, ends: dict[int, int], one: Point) -> None:
        self.ends = ends
        self.one = one
        self.two: Point | None = None
        self.copies = Counter[int]()


class Resolver(Pipeline):
    """The stages of a task. Writes the fragments and the raw rows of spans below `folder`.

    `first` is what parts and fragments are numbered from, `raw_flows` are the flows of which all leaves as fragments.
    """

    def __init__(self, folder: Path, options: Options, first: int, raw_flows: frozenset[int] = frozenset()) -> None:
        self._folder = folder
        self._unsifted = folder / "unsifted"
        self._unsifted.mkdir()
        super().__init__(self._unsifted, options, first_part=first, in_task=True)
        self._first = first
        self._raw_flows = raw_flows
        self._taken = first  # number of the next segment
        self._open: dict[int, _Open] = {}
        self._over: dict[int, Span] = {}  # by part: the next span of a part begins when this one has left
        self._done: list[Span] = []
        # By part: segments captured twice since the newest point of rest, those in spans, and all of them.
        self._copies: dict[int, Counter[int]] = {}
        self._span_copies: dict[int, Counter[int]] = {}
        self._part_copies: dict[int, Counter[int]] = {}
        self._odd: set[int] = set()
        self._window = Window(self._unsifted / FRAGMENTS)
        self._rows = Counter[str]()
        self._wholes: Wholes | None = None
        self._problems = Counter[int]()  # of those that are whole, by number
        self._no_wholes = False
        self._apart: set[int] = set()  # parts that cannot be resolved whole
        self._troubled: set[int] = set()  # parts that have problems

    def feed(self, block: memoryview, segments: memoryview, rows: int) -> None:
        row = 0
        while row < rows:
            stop = min(rows, row + LOOK_ROWS)
            row, chunks, _ = self._streams.feed(block, segments, stop, row, self._chunks)
            self._feed_chunks(block, chunks)
            self._look(self._taken + row - 1, FRESH_BYTES)
        parts = fragments.column(segments, layout.SEGMENT_PART, 0, rows)
        self._window.take(fragments.pack(block, segments, rows, first=self._taken), parts)
        self._taken += rows
        if self._window.bytes > WINDOW_BYTES:
            self._leave()

    def finish(self) -> None:
        self._look(self._taken - 1, 0)
        for part in list(self._open):
            self._end(part)
        self._leave()
        self._window.close()
        super().finish()
        if self.problems_dropped:
            self._apart |= self._troubled
        columns = array("q") if self._no_wholes else self._streams.take_complete()
        self._wholes = Wholes(columns, self._first, self._window, self._apart, self._raw_flows)
        self._write_fragments(self._wholes)
        self._keep_rows(self._wholes.parts)

    def summary(self) -> Summary:
        """Only of spans and of whole connections: of all else the partitions tell."""
        run = super().summary()
        wholes = self._wholes.parts if self._wholes else ()
        kept = [
            *(copies for part, copies in self._part_copies.items() if part in wholes),
            *(copies for part, copies in self._span_copies.items() if part not in wholes),
        ]
        return Summary(
            api_keys=run.api_keys,
            whole_requests={part for part in run.whole_requests if part in wholes},
            limited=self._problems,
            problems_dropped=0,
            duplicates=sum(kept, Counter()),
            saw_several_points=False,
            odd=run.odd,
            rows=self._rows,
        )

    # ---- points of rest ----

    def _take_tls_facts(self) -> None:
        """Secrets may come in other tasks."""
        self._apart.update(facts.part for facts in self._tls.take_facts())

    def _take_problems(self, matrix: memoryview, rows: int, dropped: int) -> None:
        """A problem ends a span. Of those that were dropped only the stitch can tell how many there are."""
        super()._take_problems(matrix, rows, dropped)
        for row in range(rows):
            part = matrix[layout.PROBLEM_PART, row]
            self._odd.add(part)
            self._troubled.add(part)
            if matrix[layout.PROBLEM_KIND, row] in LIMITS:
                self._apart.add(part)
        if dropped:
            self._odd.update(self._open)
            self._no_wholes |= rows >= MOST_PROBLEMS

    def _look(self, number: int, fresh_bytes: int) -> None:
        """Looks at the connections of which segments came, `number` being that of the last one."""
        for part, split in self._streams.take_duplicates():
            self._copies.setdefault(part, Counter())[split] += 1
            self._part_copies.setdefault(part, Counter())[split] += 1
        for part in (*self._odd, *self._streams.take_closed()):
            self._end(part)
        self._odd.clear()
        positions: tuple[int, ...] | None = None
        for slot, part, spoiled, rests in self._streams.take_touched(fresh_bytes):
            if spoiled:
                self._end(part)
            point = self._point(slot, part) if rests else None
            if point is None:
                self._aim(slot)
                continue
            positions = positions or self._positions()
            self._rest(slot, part, point._replace(positions=positions, number=number))

    def _point(self, slot: int, part: int) -> Point | None:
        if not self._frames.is_at_rest(slot):
            return None
        turns, tls = self._exchanges.rest(slot, part), self._tls_rows.rest(slot)
        if turns is None or tls is None:
            return None
        frames, places = self._frames.rest(slot)
        texts = self._walker.texts() if places else []
        waits: list[tuple[list[Any], tuple[Any, ...] | None]] = []
        for place in places:
            row = self._exchanges.waiting(place, texts)
            collector = self._collector
            asked = collector.waiting(place, row[layout.ROW_EXCHANGE]) if collector else None
            waits.append((row, asked))
        return Point(self._streams.checkpoint(slot), frames, turns, tls, waits)

    def _positions(self) -> tuple[int, ...]:
        rows = {name: self._tables[name].rows + out.rows for name, out in self._out.items()}
        for facts in self._facts:
            rows |= facts.positions
        return tuple(rows.get(name, 0) for name in TABLES)

    def _aim(self, slot: int) -> None:
        """Asks to be stopped at the end of the frame under way."""
        missing = self._frames.to_boundary(slot)
        if missing is not None:
            self._streams.stop_after(slot, *missing)

    def _rest(self, slot: int, part: int, point: Point) -> None:
        """A connection is at a point of rest: its span goes on to here, or one begins here."""
        under_way = self._open.get(part)
        copies = self._copies.pop(part, None)
        if under_way is not None and not goes_on(under_way.one, point):
            self._end(part)
            under_way = None
        if under_way is not None:
            under_way.two = point
            under_way.copies += copies or Counter()
            self._window.reaches(part - self._first, point.number, point.time_ns)
        elif part in self._over or point.frames[layout.TALK_FLOW] in self._raw_flows:
            return
        else:
            self._open[part] = _Open(self._streams.endpoints(slot), point)
            self._window.begins(part - self._first, point.number)
        self._streams.begin_span(slot, self._open[part].one.time_ns)

    def _end(self, part: int) -> None:
        """The span of a part, if there is one under way, ends at its newest point of rest."""
        under_way = self._open.pop(part, None)
        if under_way is None:
            return
        if under_way.two is None:
            self._window.has_none(part - self._first)
            return
        if under_way.copies:
            self._span_copies[part] = self._span_copies.get(part, Counter()) + under_way.copies
        self._over[part] = Span(part, under_way.ends, under_way.one, under_way.two)

    # ---- what leaves ----

    def _leave(self) -> None:
        """Segments of which it is settled whether they travel leave the window."""
        self._window.sift([part - self._first for part in self._over])
        while self._window.bytes > MOST_BYTES:
            for part in self._window.longest(MOST_BYTES // 2):
                self._end(part + self._first)
            if not self._over:
                break
            self._part_with_spans()
            self._window.sift([])
        self._part_with_spans()

    def _part_with_spans(self) -> None:
        self._done += self._over.values()
        for part in self._over:
            self._window.has_none(part - self._first)
        self._over.clear()

    def _write_fragments(self, wholes: Wholes) -> None:
        """Writes what travels: the window's rows of parts that are not whole, a row for each that is, and markers."""
        task = self._first >> SPLIT_SHIFT
        source = self._unsifted / FRAGMENTS
        with fragments.writer(self._folder / FRAGMENTS, fragments.schema()) as out:
            wholes.sift_fragments(source, out, task)
            spans = [span for span in self._done if span.part not in wholes.parts]
            for at in range(0, len(spans), MARKERS):
                out.write_table(markers(spans[at : at + MARKERS], task))
        source.unlink()

    def _keep_rows(self, wholes: Collection[int]) -> None:
        """Rewrites the raw tables without the rows that were neither written between the two points of a span nor for a
        connection that is whole."""
        kept_bodies: set[int] = set()
        spans = [span for span in self._done if span.part not in wholes]
        for name in ("told", *(name for name in (*TABLES, *OF_WHOLES) if name != "told")):
            source = self._unsifted / f"raw_{name}.parquet"
            if source.exists():
                table = TABLES.index(name) if name in TABLES else None
                which = ranges(spans, wholes, self._first, self._streams.next_part, table)
                self._rows[name] = sift_file(source, self._folder / source.name, which, kept_bodies)
                source.unlink()
        self._problems = kinds_of_problems(self._folder / "raw_problems.parquet")
        for rest in self._unsifted.iterdir():
            rest.rename(self._folder / rest.name)
        self._unsifted.rmdir()
