"""Where bytes of a TLS connection are in its content: sequence numbers of what was sent -> those of what was said.

Content is shorter than what carried it, and a handshake is none. So each side of a connection keeps its last segments with their
places in both streams. Content that was lost has its size in both, and stays a hole.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from typing import NamedTuple

from dissectors import layout

_LOW_32 = 0xFFFFFFFF
# Sides of connections that are known at a time, and segments of a side that may be sent again or acknowledged.
_MOST_SIDES = 200_000
_MOST_SEGMENTS = 512

Flow = tuple[int, ...]


class Content(NamedTuple):
    """Decrypted bytes that one packet brought: the sequence number of the first, where they are stored, how many."""

    seq: int
    place: int
    size: int


class Placed(NamedTuple):
    """A segment: its first byte and the one behind its last, as sent (`begin`, `end`) and as said (`first`, `behind`)."""

    begin: int
    end: int
    first: int
    behind: int
    contents: tuple[Content, ...]


class Side:
    """What one side of a connection sent. Positions are sequence numbers that do not wrap."""

    def __init__(self, number: int, flow: Flow, seq: int) -> None:
        self.number = number
        self.flow = flow
        self.end = self.behind = seq
        self.ended = False
        self._placed: list[Placed] = []

    def position(self, seq: int) -> int:
        """The position of a sequence number, as sent: the nearest one."""
        return _near(seq, self.end)

    def begins_at(self, seq: int) -> bool:
        """Whether it has said nothing yet, and will begin there."""
        return not self._placed and self.position(seq) == self.end

    def add(self, begin: int, size: int, contents: tuple[Content, ...]) -> tuple[int, tuple[Content, ...]]:
        """Takes a segment; `contents`: what was decrypted of it. Returns (sequence number, contents) of what is said in its place:
        a segment that is sent again says again what it said."""
        end = begin + size
        if size <= 1 and begin == self.end - 1 and self._placed:
            return self.behind - 1, ()  # it keeps the connection alive (RFC 9293, 3.8.4)
        if not size or (not contents and begin < self.end):
            first, behind = self.said(begin), self.said(end)
            return first, self._again(first, behind)
        moved = tuple(each._replace(seq=_near(each.seq, self.behind)) for each in contents)
        first, behind = (moved[0].seq, moved[-1].seq + moved[-1].size) if moved else (self.behind, self.behind)
        new = Placed(begin, end, first, behind, moved)
        self._placed.insert(bisect_right(self._placed, new[:1]) if begin < self.end else len(self._placed), new)
        if len(self._placed) > 2 * _MOST_SEGMENTS:
            del self._placed[:_MOST_SEGMENTS]
        self.end = max(self.end, end)
        self.behind = max(self.behind, behind)
        return first, moved

    def distance(self, seq: int) -> int:
        """How far a sequence number is from what was said last."""
        return abs(_near(seq & _LOW_32, self.behind) - self.behind)

    def lose(self, until: int) -> None:
        """What would be said up to a sequence number is not known."""
        self.behind = max(self.behind, _near(until & _LOW_32, self.behind))

    def said(self, position: int) -> int:
        """Where a byte that was sent is in what was said."""
        if position >= self.end:
            return self.behind + (1 if self.ended and position > self.end else 0)
        at = bisect_right(self._placed, (position + 1,)) - 1
        if at < 0:
            # Before all that is known: a byte before the first one is as far before it here.
            first = self._placed[0] if self._placed else Placed(self.end, self.end, self.behind, self.behind, ())
            return first.first - (first.begin - position)
        found = self._placed[at]
        return min(found.first + position - found.begin, found.behind)

    def _again(self, first: int, behind: int) -> tuple[Content, ...]:
        found = []
        for placed in self._placed:
            for seq, place, size in placed.contents if placed.first < behind and placed.behind > first else ():
                begin, end = max(seq, first), min(seq + size, behind)
                if begin < end:
                    found.append(Content(begin, place + begin - seq, end - begin))
        return tuple(found)


class Sides:
    """The sides of all connections, of whose packets the segments come in the order of time."""

    def __init__(self) -> None:
        self._sides: OrderedDict[Flow, Side] = OrderedDict()
        self._numbers = 0

    def of(self, segments: memoryview, row: int) -> tuple[Side, int]:
        """(the side that sent a segment, position of the segment's first byte). A SYN that was not seen begins a new side."""
        flow = tuple(segments[column, row] for column in FLOW)
        seq, begins = segments[layout.SEGMENT_SEQ, row], segments[layout.SEGMENT_FLAGS, row] & layout.TCP_SYN
        seq = (seq + bool(begins)) & _LOW_32
        side = self._sides.get(flow)
        if side is None or (begins and not side.begins_at(seq)):
            self._numbers += 1
            side = Side(self._numbers, flow, seq)
            self._sides[flow] = side
            if len(self._sides) > _MOST_SIDES:
                self._sides.popitem(last=False)
        self._sides.move_to_end(flow)
        return side, side.position(seq)

    def other(self, segments: memoryview, row: int) -> Side | None:
        """The side to which a segment was sent, where it sent something itself."""
        return self._sides.get(tuple(segments[column, row] for column in _REVERSE))


def _near(seq: int, position: int) -> int:
    return position + ((seq - position + (1 << 31)) & _LOW_32) - (1 << 31)


FLOW = (
    layout.SEGMENT_SRC_HIGH,
    layout.SEGMENT_SRC_LOW,
    layout.SEGMENT_SRC_PORT,
    layout.SEGMENT_DST_HIGH,
    layout.SEGMENT_DST_LOW,
    layout.SEGMENT_DST_PORT,
    layout.SEGMENT_TAP,
)
_REVERSE = (*FLOW[3:6], *FLOW[:3], FLOW[6])
