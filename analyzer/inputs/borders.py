"""Where a piece of a capture begins and ends in the order of time.

A capture that is cut is still put in the order of its times as one: a packet behind a cut may be earlier than packets before
it, and then belongs to the piece before. What is *before a cut* are packets that begin before it in the file, and those of the
next WIDE_BYTES that are earlier than the latest of the last WIDE_BYTES before it, up to where the clock was set back: nothing
is moved across that. Both pieces at a cut look at the same bytes of the file, so each packet is in exactly one piece, and all
pieces in turn are the order of the whole capture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from analyzer.inputs.sources import Source
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.formats.format_detection import HEAD_BYTES, Reader, open_reader
from dissectors.formats.time_order_limits import FOREVER_NS, WIDE_BYTES, WINDOW_NS
from dissectors.matrix import new_matrix

_ROWS = 4_096
# The last packet of a piece may end behind it.
_BEYOND_BYTES = 1 << 18


class Times(NamedTuple):
    """Times from `begin` up to `end`, without it, in ns."""

    begin: int
    end: int

    def __and__(self, other: Times) -> Times:
        return Times(max(self.begin, other.begin), min(self.end, other.end))


NEVER = Times(FOREVER_NS, FOREVER_NS)


class Stretch(NamedTuple):
    """Records of a file that begin before offset `until`. Of their packets a piece takes those within `taken` (None: all), but
    none within `given`, which are of the piece before. `is_own`: the records are counted here."""

    until: int
    taken: Times | None
    given: Times
    is_own: bool = True


class Border(NamedTuple):
    """What is known at a cut. Of the records that begin behind it, before offset `until`, packets with times in `moved` belong
    before it. Where a reader of the whole file is there: `top`, the latest time of two neighbours, `before`, that of the last
    packet (both UNKNOWN without one)."""

    moved: Times
    until: int
    top: int
    before: int


class Packets(NamedTuple):
    """The times of packets, the first `before` of them before the cut, and for each an offset of the file behind it but not behind
    the beginning of the next."""

    times: list[int]
    ends: list[int]
    before: int

    @property
    def are_in_order(self) -> bool:
        """Whether no packet is earlier than one before it, and each has a time."""
        return self.times == sorted(self.times) and layout.UNKNOWN not in self.times[:1]


def stretches(source: Source, end_of_file: int) -> tuple[Border | None, list[Stretch]]:
    """The border before a piece of a file (None where it begins with the file), and what the piece reads, in the order of the
    file; at least one stretch."""
    own_end = end_of_file if source.end is None else source.end
    if source.cuts is None:
        return None, [Stretch(own_end, None, NEVER)]
    border = _border(source, source.cuts.begin) if source.cuts.begin else None
    ends = [own_end]
    taken: list[Times | None] = [None]
    last = end_of_file
    for cut, following in zip(source.cuts.behind, [*source.cuts.behind, end_of_file][1:], strict=True):
        before = taken[-1]
        behind = _border(source, cut)
        taken.append(behind.moved if before is None else before & behind.moved)
        last = min(last, behind.until)
        ends.append(min(following, last))
    given = border.moved if border else NEVER
    whole = (Stretch(end, times, given, times is None) for end, times in zip(ends, taken, strict=True))
    return border, [one for each in whole for one in _divided(each, border.until if border else 0)]


def _divided(stretch: Stretch, border: int) -> Iterator[Stretch]:
    """Behind `border` nothing is given any more. (A stretch that ends before it begins is empty.)"""
    if stretch.given != NEVER:
        yield stretch._replace(until=min(stretch.until, border))
    if stretch.given == NEVER or stretch.until > border:
        yield stretch._replace(given=NEVER)


def _border(source: Source, cut: int) -> Border:
    """The border at a cut. Records are looked for from where the capture would be cut too, so the time of one that only seems to
    be one does no harm: both pieces find the same. Raises InputError."""
    assert source.cuts is not None
    begin = max(0, cut - WIDE_BYTES) & -4
    head = source.cuts.head if begin else b""
    piece = replace(source, begin=begin, end=cut, exact=False, head=head, done_bytes=0, notes=[])
    until = cut + WIDE_BYTES
    read = _packets(piece, until)
    return border_in_order(read, until) if read.are_in_order else border_of(read, until)


def border_in_order(read: Packets, until: int) -> Border:
    """The border where `are_in_order`, as nearly always: to look at each packet takes a fifteenth of the CPU time of a task."""
    times = read.times[: read.before]
    top, before = ([layout.UNKNOWN] * 2 + times)[-2:]
    is_last = len(times) == len(read.times)
    return Border(_moved(times, top if is_last else before), until, top, before)


def border_of(read: Packets, until: int) -> Border:
    """The border of any packets: looks at one after the other."""
    clock, times = _Clock(), list[int]()
    known: tuple[Times, int, int] | None = None
    before_end = until
    for number, (time, end) in enumerate(zip(read.times, read.ends, strict=True)):
        is_behind = number >= read.before
        if is_behind and known is None and time != layout.UNKNOWN:
            top = clock.top_with(time)
            moved = _moved(times, top)
            # The piece that takes it sees by it whether the packet before the cut was far ahead.
            is_moved = moved.begin <= time < moved.end
            known = (moved, clock.top, min(clock.before, top) if is_moved else clock.before)
        if time != layout.UNKNOWN:
            if clock.is_set_back(time):
                if is_behind:
                    until = before_end
                    break
                times, clock = [], _Clock()
            clock.see(time)
            times.append(time)
        before_end = end
    moved, top, before = known or (_moved(times, clock.top), clock.top, clock.before)
    return Border(moved, until, top, before)


class _Clock:
    """What `TimeOrder` knows of times: the latest of two neighbours, which one packet far ahead does not move, and the last."""

    def __init__(self) -> None:
        self.top = self.before = layout.UNKNOWN

    def is_set_back(self, time: int) -> bool:
        return self.top != layout.UNKNOWN and time < self.top - WINDOW_NS

    def top_with(self, time: int) -> int:
        """`top` when this one follows: it shows whether the last one was far ahead."""
        return max(self.top, min(self.before, time))

    def see(self, time: int) -> None:
        self.top = self.top_with(time)
        self.before = time


def _moved(times: Sequence[int], top: int) -> Times:
    """Times of packets behind others, which may still be sorted among them: before the latest, but not that of a clock that jumped
    far ahead for one packet."""
    latest = max((time for time in times if top == layout.UNKNOWN or time <= top + WINDOW_NS), default=None)
    return NEVER if latest is None else Times(latest - WINDOW_NS, latest)


def _packets(piece: Source, until: int) -> Packets:
    """The packets of a piece, and behind it those that begin before `until`; not a last one that ends far behind `until`.
    Raises InputError."""
    found = Packets([], [], 0)
    data = bytearray()
    enough = len(piece.head) + until - piece.begin + _BEYOND_BYTES
    for block in piece.blocks():
        data += block
        if len(data) >= enough:
            break
    try:
        reader = _enter(piece, data)
    except DissectError:
        return found  # is told where the piece itself is read
    if reader is None:
        return found
    packets = new_matrix(layout.PACKET_COLUMNS, _ROWS)
    values = packets.cast("B").cast("q")
    ahead = piece.begin - len(piece.head)
    at = reader.offset - ahead
    before = 0
    for is_behind in (False, True):
        before = len(found.times)
        reader.until = until if is_behind else piece.end or 0
        why = layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            rows, at, why = reader.feed(data, at, packets)
            times, offsets, sizes = (
                values[_ROWS * column : _ROWS * column + rows].tolist()
                for column in (layout.PACKET_TIME, layout.PACKET_OFFSET, layout.PACKET_CAPTURED)
            )
            found.times.extend(times)
            found.ends.extend(offset + size + ahead for offset, size in zip(offsets, sizes, strict=True))
    return found._replace(before=before)


def _enter(piece: Source, data: bytearray) -> Reader | None:
    """A reader that goes on at the first record of a piece, None where no record begins. Raises DissectError."""
    reader = open_reader(bytes(data[: max(HEAD_BYTES, len(piece.head))]))
    reader.until = piece.end or 0
    if piece.begin:
        reader.feed(piece.head, 0, new_matrix(layout.PACKET_COLUMNS, 1))
        at = reader.guess(data, len(piece.head), len(data))
        if at < 0:
            return None
        reader.enter(piece.begin + at - len(piece.head))
    return reader
