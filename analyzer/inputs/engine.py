"""Inputs -> batches of TCP segments, in one order of time.

A run over whole captures hands its segments straight to the pipeline; a run over a part of them does so too, and what it
cannot finish leaves as fragments (`analyzer.distributed.tasks`).

Inputs come one after the other in the order of their first packets. Where the times of two overlap, their segments are
merged by time, as one connection may be in both; packet numbers stay those of each file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analyzer.inputs.readings import ALL_CONNECTIONS, PACKET_ROWS, Input, Matrices, Reading, Shard, new_matrices, tap_of
from analyzer.inputs.sources import Piece, Source
from dissectors.packet.ip_fragments import Fragments
from dissectors.tcp.merge import Merge

if TYPE_CHECKING:
    from analyzer.inputs.readings import SecretSink

    # Takes rows [0, rows) of a segments matrix whose payloads lie in the block.
    SegmentSink = Callable[[memoryview, memoryview, int], None]

BLOCK_BYTES = 1 << 20
# Inputs that are read at the same time, each with a smaller block of its own; what overlaps with more must wait.
MOST_AT_ONCE = 64
BLOCK_BYTES_AT_ONCE = 1 << 18
ROWS_AT_ONCE = 2_048 + 8
FOREVER = (1 << 63) - 1


class Engine:
    """Reads inputs; segments go to `sink`, numbered (split, packet). `taps`: (name, glob of inputs) pairs, the first fits."""

    def __init__(
        self,
        sink: SegmentSink,
        block_bytes: int = BLOCK_BYTES,
        secrets: SecretSink | None = None,
        taps: Sequence[tuple[str, str]] = (),
        shard: Shard = ALL_CONNECTIONS,
    ) -> None:
        self._sink = sink
        self._secrets = secrets
        self._block_bytes = block_bytes
        self._taps = taps
        self._shard = shard
        self._fragments = Fragments()
        self._matrices: list[Matrices] = []  # not in use
        self._small_matrices: list[Matrices] = []
        self._progress: Callable[[int], None] | None = None

    def read(self, split: int, source: Source, progress: Callable[[int], None] | None = None) -> Reading:
        """Reads one input to its end, or to where it is damaged.

        `progress` hears how many bytes each block brought.
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
        self, pieces: Sequence[Piece], places: Sequence[str] = (), progress: Callable[[int], None] | None = None
    ) -> list[Reading]:
        """Reads pieces of one place of capture that are in the order of time; `places` are the names of the newest inputs of
        the places before them."""
        self._progress = progress
        readings = [Reading(p.number, p.source, file=p.file, tap=tap_of(p.source.name, self._taps)) for p in pieces]
        self._read_in_order(readings, places)
        return readings

    def _read_in_order(self, readings: Sequence[Reading], known: Sequence[str] = ()) -> None:
        waiting = deque(readings)
        places = list(known)  # the newest input of each place
        while waiting:
            begins = _begin(waiting[1]) if len(waiting) > 1 else FOREVER
            one = self._open(waiting.popleft(), places, [])
            while one.advance():
                if one.latest is not None and one.latest > begins:
                    self._merge([one], waiting, places)
                    break
                self._sink(one.block, one.segments, one.rows)
                one.row = one.rows
            else:
                self._close(one)

    def _merge(self, active: list[Input], waiting: deque[Reading], places: list[str]) -> None:
        """Reads inputs together for as long as the times of two of them overlap."""
        merge = Merge()
        while active:
            begins = _begin(waiting[0]) if waiting and len(active) < MOST_AT_ONCE else FOREVER
            first = min(active, key=_next_time)
            if first.time >= begins:
                late = self._open(waiting.popleft(), places, active)
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

    def _open(self, reading: Reading, places: list[str], active: Sequence[Input]) -> Input:
        """Begins an input. Of the places that no other input has just now it gets the one whose last input was named most
        like it: files of two hosts, both rotated, keep to their own."""
        taken = {one.reading.place for one in active}
        free = [place for place in range(len(places)) if place not in taken]
        name = reading.source.name
        reading.place = max(free, key=lambda place: (_alike(places[place], name), -place), default=len(places))
        places[reading.place : reading.place + 1] = [name]
        few = not active
        pool = self._matrices if few else self._small_matrices
        matrices = pool.pop() if pool else new_matrices(PACKET_ROWS if few else ROWS_AT_ONCE)
        block_bytes = self._block_bytes if few else min(self._block_bytes, BLOCK_BYTES_AT_ONCE)
        return Input(reading, matrices, block_bytes, self._fragments, self._secrets, self._progress, self._shard)

    def _close(self, one: Input) -> None:
        large = one.matrices.packets.shape[1] == PACKET_ROWS  # type: ignore[index]
        (self._matrices if large else self._small_matrices).append(one.matrices)


def _begin(reading: Reading) -> int:
    """When an input begins; it waits for the others to end when nobody knows."""
    known = reading.source.first_time_ns
    return FOREVER if known is None else known


def _alike(one: str, other: str) -> int:
    """How many characters two names have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _next_time(one: Input) -> int:
    return one.time
