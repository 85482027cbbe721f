"""Which packets hold a byte of a stream: every copy of it is written alike, whether it was sent again, late, or in pieces.

Each direction of a connection keeps where its last segments are in the spool. What is written for a position of the stream goes to
all of them; a segment that comes later takes over what was written for its bytes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from itertools import islice
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

from analyzer.redact.directions import LOW_32, Direction, Held
from dissectors import layout
from dissectors.layout import SPLIT_SHIFT
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    from analyzer.redact.counts import Counts
    from analyzer.redact.packet_spool import Pieces, Places, Spool

# Segments that are known at a time, all connections together (some 300 bytes each); and of one direction those whose bytes are
# written already: copies of a segment come soon after it.
MOST_SEGMENTS = 300_000
_KEPT_SEGMENTS, _KEPT_BYTES = 64, 65_536
# Directions that began, and have sent nothing yet: a flood of attempts has millions that never will. One that is forgotten counts
# as met in mid-flight when it speaks, so that less is understood of its first bytes: `Direction.forgotten`.
MOST_SILENT = 100_000
# A bit for each that was forgotten, found by a hash: 16 MB; a page of it exists when something was forgotten there. Of ten
# million one in fourteen that was met in mid-flight would count as forgotten too.
_FORGOTTEN_BITS = 1 << 27


class Streams:
    """Takes segments in the order of time, then bytes to write."""

    def __init__(self, spool: Spool, places: Places, counts: Counts) -> None:
        self._spool = spool
        self._places = places
        self._counts = counts
        self.pieces: dict[int, Pieces] = {}
        self._directions: dict[bytes, Direction] = {}
        self._of_packet: dict[int, Direction] = {}
        self._silent: OrderedDict[bytes, int] = OrderedDict()  # flow -> sequence number behind its SYN
        self._forgotten = new_matrix(1, _FORGOTTEN_BITS // 64).cast("B")

    def add(self, segments: memoryview, rows: int) -> None:
        """Takes rows [0, rows) of a batch of segments."""
        for row in range(rows):
            size = segments[layout.SEGMENT_CAPTURED, row]
            begins = segments[layout.SEGMENT_FLAGS, row] & layout.TCP_SYN
            if size <= 0 and not begins:
                continue
            flow = _FLOW_KEY.pack(*(segments[column, row] for column in _FLOW))
            seq = segments[layout.SEGMENT_SEQ, row]
            direction = self._directions.get(flow)
            if begins:
                seq = (seq + 1) & LOW_32
                if direction is None or direction.position(seq) != direction.newest or direction.held:
                    self._begin(flow, seq)
                    direction = None
            if size > 0:
                self._add(direction or self._speak(flow, seq), segments[layout.SEGMENT_NUMBER, row], seq, size)
        if len(self._of_packet) > MOST_SEGMENTS:
            self._forget_oldest()

    def _begin(self, flow: bytes, seq: int) -> None:
        """A SYN, behind which the stream has this sequence number: what was known of the flow is of an earlier connection."""
        self._directions.pop(flow, None)
        self._silent.pop(flow, None)
        self._silent[flow] = seq
        if len(self._silent) > MOST_SILENT:
            at, bit = _bit_of(self._silent.popitem(last=False)[0])
            self._forgotten[at] |= bit

    def _speak(self, flow: bytes, seq: int) -> Direction:
        """The first byte of a direction came."""
        first = self._silent.pop(flow, None)
        direction = self._directions[flow] = Direction(flow, seq if first is None else first)
        direction.begins = first is not None
        at, bit = _bit_of(flow)
        direction.forgotten = first is None and bool(self._forgotten[at] & bit)
        return direction

    def _add(self, direction: Direction, number: int, seq: int, size: int) -> None:
        start = direction.position(seq)
        if number in self.pieces:
            pieces = self.pieces.pop(number)
        else:
            place = self._places.get(number >> SPLIT_SHIFT, number & (1 << SPLIT_SHIFT) - 1)
            if not place:
                return
            pieces = ((0, size, place),)
        self._of_packet[number] = direction
        for before, length, place in pieces:
            self._hold(direction, (start + before, min(length, size - before), place, number))
        direction.end = max(direction.end, start + size)
        direction.newest = max(direction.newest, start)

    def _hold(self, direction: Direction, new: Held) -> None:
        start, size, place, _ = new
        if start < direction.end:
            for other, length, there, _ in self._overlapping(direction, start, start + size):
                begin, end = max(start, other), min(start + size, other + length)
                known = self._spool.read(there + begin - other, end - begin)
                if any(known):
                    self._spool.write(place + begin - start, known)
        if direction.held and new < direction.held[-1]:
            insort(direction.held, new)
        else:
            direction.held.append(new)
        direction.longest = max(direction.longest, size)

    def _overlapping(self, direction: Direction, begin: int, end: int) -> list[Held]:
        held = direction.held
        first, behind = bisect_left(held, (begin - direction.longest,)), bisect_left(held, (end,))
        return [each for each in held[first:behind] if each[0] + each[1] > begin]

    def of_packet(self, number: int) -> Direction | None:
        """The direction to which the payload of a packet belongs; None when it was forgotten, or never known."""
        return self._of_packet.get(number)

    def write(self, direction: Direction, begin: int, data: bytes | bytearray) -> None:
        """Writes bytes of the stream from position `begin` on into all packets that hold them."""
        end, view = begin + len(data), memoryview(data)
        for start, size, place, _ in self._overlapping(direction, begin, end):
            first, last = max(start, begin), min(start + size, end)
            self._spool.write(place + first - start, view[first - begin : last - begin])
            self._counts.patched_bytes += last - first

    def is_done(self, direction: Direction, until: int) -> None:
        """Nothing before position `until` will be written any more, but for copies that come soon."""
        held = direction.held
        if len(held) < 2 * _KEPT_SEGMENTS:
            return
        last = bisect_left(held, (until - _KEPT_BYTES - direction.longest,))
        for _, _, _, number in held[: min(last, len(held) - _KEPT_SEGMENTS)]:
            self._of_packet.pop(number, None)
        del held[: max(0, min(last, len(held) - _KEPT_SEGMENTS))]

    def _forget_oldest(self) -> None:
        """Memory is full: packets that came long ago are not written any more."""
        oldest = list(islice(self._of_packet.items(), MOST_SEGMENTS // 8))
        forgotten = {number for number, _ in oldest}
        for number in forgotten:
            del self._of_packet[number]
        for direction in {id(each): each for _, each in oldest}.values():
            direction.held = [each for each in direction.held if each[3] not in forgotten]

    def forget(self, direction: Direction) -> None:
        """The connection is over."""
        if self._directions.get(direction.flow) is direction:
            del self._directions[direction.flow]

    def directions(self) -> list[Direction]:
        """Those whose connections are not over."""
        return list(self._directions.values())


def _bit_of(flow: bytes) -> tuple[int, int]:
    """(byte, mask)"""
    at, bit = divmod(crc32(flow) % _FORGOTTEN_BITS, 8)
    return at, 1 << bit


_FLOW = (
    layout.SEGMENT_SRC_HIGH,
    layout.SEGMENT_SRC_LOW,
    layout.SEGMENT_SRC_PORT,
    layout.SEGMENT_DST_HIGH,
    layout.SEGMENT_DST_LOW,
    layout.SEGMENT_DST_PORT,
    layout.SEGMENT_SCOPE,
    layout.SEGMENT_TAP,
)
# As numbers they would take four times as much, for each direction of each open connection.
_FLOW_KEY = Struct(f"={len(_FLOW)}q")
