"""Where a part of a capture begins and ends in the order of time.

A capture that is cut is still put in the order of its times as one: a packet behind a cut may be earlier than packets before
it, and then belongs to the part before. What is *before a cut* are packets that begin before it in the file, and those of the
next WIDE_BYTES that are earlier than the latest of the last WIDE_BYTES before it. Both parts at a cut look at the same bytes
of the file, so each packet is in exactly one part, and all parts in turn are the order of the whole capture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from analyzer.inputs.sources import Source
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.formats.format_detection import HEAD_BYTES, Reader, open_reader
from dissectors.formats.time_order_limits import FOREVER_NS, WIDE_BYTES, WINDOW_NS
from dissectors.matrix import new_matrix

_ROWS = 4_096
# The last packet of a part may end behind it.
_BEYOND_BYTES = 1 << 18


class Times(NamedTuple):
    """Times from `begin` up to `end`, without it, in ns."""

    begin: int
    end: int

    def __and__(self, other: Times) -> Times:
        return Times(max(self.begin, other.begin), min(self.end, other.end))


NEVER = Times(FOREVER_NS, FOREVER_NS)


class Stretch(NamedTuple):
    """Records of a file that begin before offset `until`. Of their packets a part takes those within `taken` (None: all), but
    none within `given`, which are of the part before. `is_own`: the records are counted here."""

    until: int
    taken: Times | None
    given: Times
    is_own: bool = True


def stretches(source: Source, end_of_file: int) -> list[Stretch]:
    """What a part of a file reads, in the order of the file; at least one stretch."""
    own_end = end_of_file if source.end is None else source.end
    if source.cuts is None:
        return [Stretch(own_end, None, NEVER)]
    given = _moved(source, source.cuts.begin) if source.cuts.begin else NEVER
    ends = [own_end]
    taken: list[Times | None] = [None]
    for cut, following in zip(source.cuts.behind, [*source.cuts.behind, end_of_file][1:], strict=True):
        before = taken[-1]
        moved = _moved(source, cut)
        taken.append(moved if before is None else before & moved)
        ends.append(min(following, source.cuts.behind[0] + WIDE_BYTES))
    whole = (Stretch(end, times, given, times is None) for end, times in zip(ends, taken, strict=True))
    return [part for each in whole for part in _divided(each, source.cuts.begin + WIDE_BYTES)]


def _divided(stretch: Stretch, border: int) -> Iterator[Stretch]:
    """Behind `border` nothing is given any more. (A stretch that ends before it begins is empty.)"""
    if stretch.given != NEVER:
        yield stretch._replace(until=min(stretch.until, border))
    if stretch.given == NEVER or stretch.until > border:
        yield stretch._replace(given=NEVER)


def _moved(source: Source, cut: int) -> Times:
    """Times of packets behind the cut that belong before it. They are looked for from where the capture would be cut too, so the
    time of a record that only seems to be one does no harm: both parts find the same."""
    assert source.cuts is not None
    latest = _latest(replace(source, end=cut, begin=max(0, cut - WIDE_BYTES) & -4, exact=False), source.cuts.head)
    return NEVER if latest == layout.UNKNOWN else Times(latest - WINDOW_NS, latest)


def _latest(part: Source, head: bytes) -> int:
    """The latest time of a part since its clock was set back, UNKNOWN without one; not that of a clock that jumped far ahead for
    one packet. Raises InputError."""
    times: list[int] = []
    usual = before = layout.UNKNOWN
    for time in _times(replace(part, head=head if part.begin else b"", done_bytes=0, notes=[])):
        if time == layout.UNKNOWN:
            continue
        if usual != layout.UNKNOWN and time < usual - WINDOW_NS:
            times, usual, before = [], layout.UNKNOWN, layout.UNKNOWN
        usual = max(usual, min(before, time))
        before = time
        times.append(time)
    return max(
        (time for time in times if usual in (layout.UNKNOWN, time) or time <= usual + WINDOW_NS), default=layout.UNKNOWN
    )


def _times(part: Source) -> Iterator[int]:
    """Times of the packets that begin in a part; not of a last one that ends far behind it. Raises InputError."""
    data = bytearray()
    enough = len(part.head) + (part.end or 0) - part.begin + _BEYOND_BYTES
    for block in part.blocks():
        data += block
        if len(data) >= enough:
            break
    try:
        reader = _enter(part, data)
    except DissectError:
        return  # is told where the part itself is read
    if reader is None:
        return
    packets = new_matrix(layout.PACKET_COLUMNS, _ROWS)
    at, why = reader.offset - part.begin + len(part.head), layout.WHY_OUTPUT_FULL
    while why != layout.WHY_DONE:
        rows, at, why = reader.feed(data, at, packets)
        for row in range(rows):
            yield packets[layout.PACKET_TIME, row]


def _enter(part: Source, data: bytearray) -> Reader | None:
    """A reader that goes on at the first record of a part, None where no record begins. Raises DissectError."""
    reader = open_reader(bytes(data[: max(HEAD_BYTES, len(part.head))]))
    reader.until = part.end or 0
    if part.begin:
        reader.feed(part.head, 0, new_matrix(layout.PACKET_COLUMNS, 1))
        at = reader.guess(data, len(part.head), len(data))
        if at < 0:
            return None
        reader.enter(part.begin + at - len(part.head))
    return reader
