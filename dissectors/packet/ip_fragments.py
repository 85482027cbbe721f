"""Reassembles IP fragments (RFC 791, RFC 8200), and pieces of STT, within limits of memory and time.

Plain Python, because TCP is rarely fragmented. Where fragments overlap, the byte that came first counts. When a limit is
reached, incomplete datagrams are given up, the oldest one first.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from dissectors.layout import UNKNOWN

MOST_BYTES = 4 << 20
MOST_DATAGRAMS = 1_024
# Linux waits 30 s for the rest of a datagram. In a capture without times this number of later fragments counts instead.
LONGEST_NS = 30_000_000_000
LONGEST_FRAGMENTS = 65_536
LARGEST_DATAGRAM = 65_535
# A datagram of 65,535 bytes in fragments of IPv4's smallest MTU has fewer pieces.
MOST_PIECES = 1_400
# Keys that are remembered of datagrams that were given up.
MOST_KEYS = 4_096

Key = tuple[int, ...]


@dataclass(slots=True)
class Datagram:
    """The fragments of one datagram so far: `starts` are the offsets of `pieces` (bytes on the wire, bytes captured), in order
    and without overlap.

    `total` is the datagram's length, None until its last fragment has come; `protocol` is None until its first has come.
    `packets` counts its fragments since the input `epoch` began.
    """

    time: int
    serial: int
    epoch: int
    total: int | None = None
    protocol: int | None = None
    packets: int = 0
    covered: int = 0
    held_bytes: int = 0
    overlaps: bool = False
    starts: list[int] = field(default_factory=list)
    pieces: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, begin: int, length: int, data: bytes) -> None:
        """Adds the bytes of the fragment [begin, begin + length) that have not come before; `data` is what was captured."""
        at, end = begin, begin + length
        index = bisect_right(self.starts, at)
        if index and self.starts[index - 1] + self.pieces[index - 1][0] > at:
            at = self.starts[index - 1] + self.pieces[index - 1][0]
            self.overlaps = True
        while at < end:
            stop = min(end, self.starts[index]) if index < len(self.starts) else end
            if stop > at:
                piece = data[at - begin : stop - begin]
                self.starts.insert(index, at)
                self.pieces.insert(index, (stop - at, piece))
                self.covered += stop - at
                self.held_bytes += len(piece)
                index += 1
            if stop < end:
                self.overlaps = True
                stop = self.starts[index] + self.pieces[index][0]
                index += 1
            at = stop

    def payload(self) -> bytes:
        """The datagram's bytes up to the first one that was not captured."""
        got = []
        for length, data in self.pieces:
            got.append(data)
            if len(data) < length:
                break
        return b"".join(got)


class Fragments:
    """Datagrams that wait for fragments.

    `given_up` counts datagrams that never became complete, `overlapping` those whose fragments overlapped, `impossible`
    fragments that fit no datagram. `held_bytes` is the memory that waiting fragments take.
    """

    def __init__(self, most_bytes: int = MOST_BYTES, most_datagrams: int = MOST_DATAGRAMS) -> None:
        self.given_up = 0
        self.overlapping = 0
        self.impossible = 0
        self.held_bytes = 0
        self._most_bytes = most_bytes
        self._most_datagrams = most_datagrams
        self._serial = 0
        self._waiting: dict[Key, Datagram] = {}
        self._lost: set[Key] = set()

    @property
    def incomplete(self) -> frozenset[Key]:
        """Keys of datagrams that wait for fragments or were given up: the rest may be in another part of the capture."""
        return frozenset(self._lost.union(self._waiting))

    def __len__(self) -> int:
        return len(self._waiting)

    def add(
        self, key: Key, epoch: int, time: int, extent: tuple[int, int, bool], data: bytes, protocol: int, unit: int = 8
    ) -> Datagram | None:
        """Takes one fragment; returns its datagram if that is complete now, else None.

        `extent` is (offset, bytes on the wire, whether more fragments follow); `data` are the bytes captured. `protocol` is
        used when the offset is 0. All fragments but the last have a multiple of `unit` bytes. `epoch` is a number of the
        input: `packets` of the datagram counts since it began.
        """
        begin, length, more = extent
        self._serial += 1
        self._forget(time)
        known = self._waiting.get(key)
        total = known.total if known else None
        highest = known.starts[-1] + known.pieces[-1][0] if known and known.starts else 0
        wrong = begin + length > (LARGEST_DATAGRAM if total is None else total) or (more and length % unit != 0)
        if wrong or length == 0 or (not more and (highest > begin + length or total not in (None, begin + length))):
            self.impossible += 1
            return None
        if known is None:
            known = self._waiting[key] = Datagram(time, self._serial, epoch)
        if known.epoch != epoch:
            known.epoch, known.packets = epoch, 0
        known.packets += 1
        before = known.held_bytes
        known.add(begin, length, data)
        self.held_bytes += known.held_bytes - before
        if begin == 0 and known.protocol is None:
            known.protocol = protocol
        if not more:
            known.total = begin + length
        if known.covered == known.total:
            self._drop(key)
            self.overlapping += known.overlaps
            return known
        self._bound(key, known)
        return None

    def _forget(self, time: int) -> None:
        """Gives up datagrams that are too old. They are in the order of their first fragments."""
        while self._waiting:
            key, oldest = next(iter(self._waiting.items()))
            aged = UNKNOWN not in (time, oldest.time) and time - oldest.time > LONGEST_NS
            if not aged and self._serial - oldest.serial < LONGEST_FRAGMENTS:
                return
            self._give_up(key)

    def _bound(self, key: Key, newest: Datagram) -> None:
        if len(newest.pieces) > MOST_PIECES:
            self._give_up(key)
        while len(self._waiting) > self._most_datagrams or self.held_bytes > self._most_bytes:
            self._give_up(next(iter(self._waiting)))

    def _give_up(self, key: Key) -> None:
        self.given_up += 1
        if len(self._lost) < MOST_KEYS:
            self._lost.add(key)
        self.overlapping += self._drop(key).overlaps

    def _drop(self, key: Key) -> Datagram:
        known = self._waiting.pop(key)
        self.held_bytes -= known.held_bytes
        return known
