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
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer import fragments
from analyzer.facts.tables import FACT_TABLES
from analyzer.kept_rows import ranges, sift_file
from analyzer.pipeline import Pipeline, Summary
from analyzer.points import Point, Span, goes_on, markers
from analyzer.raw import SPLIT_SHIFT
from analyzer.window import Window
from dissectors import layout

if TYPE_CHECKING:
    from analyzer.options import Options

FRAGMENTS = "fragments.parquet"
# Connections are looked at after so many segments at most, and each one again after so many new bytes.
LOOK_ROWS = 1_024
FRESH_BYTES = 8 << 10
# Segments whose end is open are looked through when there are so many bytes of them.
WINDOW_BYTES = 32 << 20
# With more the longest of them leave raw.
MOST_BYTES = 96 << 20
# Tables of which rows are kept; in tasks nothing else has rows.
TABLES = ("exchanges", "entries", "errors", *FACT_TABLES)


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
        self._copies: dict[int, Counter[int]] = {}
        self._all_copies = Counter[int]()
        self._odd: set[int] = set()
        self._window = Window(folder / FRAGMENTS)
        self._rows = Counter[str]()

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
        self._keep_rows()

    def summary(self) -> Summary:
        """Only of spans: of all else the partitions tell."""
        whole = super().summary()
        return Summary(whole.api_keys, set(), Counter(), 0, self._all_copies, False, whole.odd, self._rows)

    # ---- points of rest ----

    def _take_parts(self) -> None:
        """Connections leave with the last of their fragments; a problem ends a span."""
        self._streams.take_parts()
        self._frames.take_talks()
        self._tls.take_facts()
        for stage in (self._frames, self._streams, self._tls):
            matrix, rows, dropped = stage.take_problems()
            self._odd.update(matrix[layout.PROBLEM_PART, row] for row in range(rows))
            if dropped:
                self._odd.update(self._open)

    def _look(self, number: int, fresh_bytes: int) -> None:
        """Looks at the connections of which segments came, `number` being that of the last one."""
        for part, split in self._streams.take_copies():
            self._copies.setdefault(part, Counter())[split] += 1
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
        return Point(self._streams.rest(slot), frames, turns, tls, waits)

    def _positions(self) -> tuple[int, ...]:
        rows = {name: self._tables[name].rows + out.rows for name, out in self._out.items()}
        for facts in self._facts:
            rows |= facts.positions
        return tuple(rows.get(name, 0) for name in TABLES)

    def _aim(self, slot: int) -> None:
        """Asks to be stopped at the end of the frame under way."""
        missing = self._frames.to_boundary(slot)
        if missing is not None:
            self._streams.aim(slot, *missing)

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
            self._open[part] = _Open(self._streams.ends(slot), point)
            self._window.begins(part - self._first, point.number)
        self._streams.rested(slot, self._open[part].one.time_ns)

    def _end(self, part: int) -> None:
        """The span of a part, if there is one under way, ends at its newest point of rest."""
        under_way = self._open.pop(part, None)
        if under_way is None:
            return
        if under_way.two is None:
            self._window.has_none(part - self._first)
            return
        self._all_copies += under_way.copies
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
        if self._over:
            self._window.write(markers(self._over.values(), self._first >> SPLIT_SHIFT))
            self._done += self._over.values()
            for part in self._over:
                self._window.has_none(part - self._first)
            self._over.clear()

    def _keep_rows(self) -> None:
        """Rewrites the raw tables without the rows that were not written between the two points of a span."""
        kept_bodies: set[int] = set()
        ordered = sorted(self._done, key=lambda span: (span.part, span.one.number))
        for name in ("told", *(name for name in TABLES if name != "told")):
            source = self._unsifted / f"raw_{name}.parquet"
            if source.exists():
                which = ranges(ordered, self._first, self._streams.next_part, TABLES.index(name))
                self._rows[name] = sift_file(source, self._folder / source.name, which, kept_bodies)
                source.unlink()
        for rest in self._unsifted.iterdir():
            rest.rename(self._folder / rest.name)
        self._unsifted.rmdir()
