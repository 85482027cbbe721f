"""Inputs -> batches of TCP segments, in one order of time.

Inputs come one after the other in the order of their first packets. Where the times of two overlap, their segments are
merged by time, as one connection may be in both; packet numbers stay those of each file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analyzer.inputs.input import ALL_CONNECTIONS, PACKET_ROWS, Input, Matrices, Shard, new_matrices
from analyzer.inputs.readings import Reading, tap_of
from analyzer.inputs.sources import Piece, Source
from dissectors.packet.ip_fragments import Fragments
from dissectors.tcp.merge import Merge

if TYPE_CHECKING:
    from analyzer.inputs.packet_rows import SecretSink

    # Takes rows [0, rows) of a segments matrix whose payloads lie in the block.
    SegmentSink = Callable[[memoryview, memoryview, int], None]

BLOCK_BYTES = 1 << 20
# Of overlapping inputs at most so many are read at the same time, each with a smaller block of its own; the others wait.
MOST_AT_ONCE = 64
BLOCK_BYTES_AT_ONCE = 1 << 18
ROWS_AT_ONCE = 2_048 + 8
FOREVER = (1 << 63) - 1


class Engine:
    """Reads inputs; their segments go to `sink`, numbered (split, packet). `taps`, `decode_as`: as in `Options`.
    Of connections only those of `shard` are read."""

    def __init__(
        self,
        sink: SegmentSink,
        block_bytes: int | None = None,
        secrets: SecretSink | None = None,
        taps: Sequence[tuple[str, str]] = (),
        shard: Shard = ALL_CONNECTIONS,
        decode_as: Sequence[tuple[int, str]] = (),
    ) -> None:
        self._sink = sink
        self._secrets = secrets
        self._block_bytes = block_bytes or BLOCK_BYTES
        self._taps = taps
        self._shard = shard
        self._decode_as = decode_as
        self._fragments = Fragments()
        self._matrices: list[Matrices] = []  # those that no input uses
        self._small_matrices: list[Matrices] = []
        self._progress: Callable[[int], None] | None = None

    def read(self, split: int, source: Source, progress: Callable[[int], None] | None = None) -> Reading:
        """Reads one input to its end, or to where it is damaged.

        `progress` is called with the number of bytes of each block.
        """
        self._progress = progress
        reading = Reading(split, source, file=split, tap=tap_of(source.name, self._taps))
        self._read_in_order([reading])
        return reading

    def read_all(self, sources: Sequence[Source], progress: Callable[[int], None] | None = None) -> list[Reading]:
        """Reads inputs that are in the order of their `first_time_ns`, tap by tap: input n becomes split n."""
        self._progress = progress
        readings = [Reading(n, source, file=n, tap=tap_of(source.name, self._taps)) for n, source in enumerate(sources)]
        for tap in dict.fromkeys(reading.tap for reading in readings):
            self._read_in_order([reading for reading in readings if reading.tap == tap])
        return readings

    def read_pieces(
        self, pieces: Sequence[Piece], capture_points: Sequence[str] = (), progress: Callable[[int], None] | None = None
    ) -> list[Reading]:
        """Reads pieces of one capture point that are in the order of time; `capture_points`: see `Task`."""
        self._progress = progress
        readings = [Reading(p.number, p.source, file=p.file, tap=tap_of(p.source.name, self._taps)) for p in pieces]
        self._read_in_order(readings, capture_points)
        return readings

    def _read_in_order(self, readings: Sequence[Reading], known: Sequence[str] = ()) -> None:
        waiting = deque(readings)
        newest = list(known)  # name of the newest input of each capture point
        while waiting:
            begins = _begin(waiting[1]) if len(waiting) > 1 else FOREVER
            one = self._open(waiting.popleft(), newest, [])
            while one.advance():
                if one.latest is not None and one.latest > begins:
                    self._merge([one], waiting, newest)
                    break
                self._sink(one.block, one.segments, one.rows)
                one.row = one.rows
            else:
                self._close(one)

    def _merge(self, active: list[Input], waiting: deque[Reading], newest: list[str]) -> None:
        """Reads inputs together for as long as the times of two of them overlap."""
        merge = Merge()
        while active:
            begins = _begin(waiting[0]) if waiting and len(active) < MOST_AT_ONCE else FOREVER
            first = min(active, key=_next_time)
            if first.time >= begins:
                late = self._open(waiting.popleft(), newest, active)
                if late.advance():
                    active.append(late)
                else:
                    self._close(late)
                continue
            until = min((one.time for one in active if one is not first), default=FOREVER)
            first.row = merge.add(first.block, first.segments, first.row, first.rows, min(until, begins))
            if merge.full:
                self._flush(merge)
            if not first.advance():
                active.remove(first)
                self._close(first)
        self._flush(merge)

    def _flush(self, merge: Merge) -> None:
        if merge.rows:
            self._sink(memoryview(merge.block), merge.segments, merge.rows)
            merge.clear()

    def _open(self, reading: Reading, newest: list[str], active: Sequence[Input]) -> Input:
        """Begins an input, and gives it a capture point. Of those that no active input has, it gets the one whose newest input
        has the most similar name: rotated files of two hosts stay apart. `newest` gets the name of the input."""
        taken = {one.reading.capture_point for one in active}
        free = [point for point in range(len(newest)) if point not in taken]
        name = reading.source.name
        point = max(free, key=lambda point: (_alike(newest[point], name), -point), default=len(newest))
        reading.capture_point = point
        newest[point : point + 1] = [name]
        few = not active
        pool = self._matrices if few else self._small_matrices
        matrices = pool.pop() if pool else new_matrices(PACKET_ROWS if few else ROWS_AT_ONCE)
        block_bytes = self._block_bytes if few else min(self._block_bytes, BLOCK_BYTES_AT_ONCE)
        return Input(
            reading, matrices, block_bytes, self._fragments, self._secrets, self._progress, self._shard, self._decode_as
        )

    def _close(self, one: Input) -> None:
        large = one.matrices.packets.shape[1] == PACKET_ROWS  # type: ignore[index]
        (self._matrices if large else self._small_matrices).append(one.matrices)


def _begin(reading: Reading) -> int:
    """The time of its first packet. An input without one waits until the others have ended."""
    known = reading.source.first_time_ns
    return FOREVER if known is None else known


def _alike(one: str, other: str) -> int:
    """The length of the common beginning of two names."""
    pairs = zip(one, other, strict=False)
    return next((length for length, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _next_time(one: Input) -> int:
    return one.time
