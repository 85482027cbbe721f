"""Which connections have a slot in all stages, and which are parked while they are idle (`dissectors.parking`).

A connection in its slot costs some 3 KB over all stages, a parked one some 400 bytes. So only `ROOM` connections have slots;
before a batch of segments that may bring more, some of those idle for longest are parked (closed ones end), and what the batch
wants comes back. Nothing that comes out of a stage depends on it.

Connections whose rows wait (openings) stay in their slots: more is known of them than rows of numbers. What is known of TLS
sessions beside such rows goes by part, and stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.parking.parking import Parking
from dissectors.parking.parking_columns import IDLE_CLOSED, IDLE_HALF_OPEN, IDLE_PART, IDLE_SLOT, IDLE_TIME

if TYPE_CHECKING:
    from dissectors.kafka.columns.exchanges import Exchanges
    from dissectors.kafka.framing.framing import Framing
    from dissectors.openings.opening_rows import OpeningRows
    from dissectors.tcp.reassembly import Reassembly
    from dissectors.tls.detection import TlsRows

# Connections with slots, of all processes that share a capture. With fewer open ones at a time none is parked.
ROOM = 32_768
# The cells of parked connections are numbered in 31 bits.
MOST_PARKED = 100_000_000
# Segments that are looked at together: each may want a slot.
ROWS_AT_ONCE = 4096


class IdleConnections:
    """`feed_chunks` takes the rows that reassembly writes to `chunks` when connections end; `jobs` processes share the slots."""

    def __init__(
        self,
        stages: tuple[Reassembly, OpeningRows, TlsRows, Framing, Exchanges],
        chunks: memoryview,
        feed_chunks: Callable[[int], None],
        max_connections: int,
        jobs: int = 1,
    ) -> None:
        self._streams, self._openings, self._tls, self._frames, self._exchanges = stages
        self._chunks = chunks
        self._feed_chunks = feed_chunks
        self._most = max_connections
        self._room = ROOM // jobs
        self._rows_at_once = max(1, min(ROWS_AT_ONCE, self._room // 4))
        self._full_at = self._room  # more slots in use: some are to be freed
        self._parking = Parking(min(max_connections, MOST_PARKED))
        self._keys = new_matrix(1, ROWS_AT_ONCE).cast("B").cast("q")

    @property
    def parked(self) -> int:
        """Connections that have no slot now."""
        return self._parking.count  # type: ignore[no-any-return]

    def make_room(self, segments: memoryview, row: int, stop: int) -> int:
        """Makes slots free for segment rows [row, stop), or for fewer of them; returns the first row that is left."""
        if self._parking.count == 0 and self._streams.live + stop - row <= self._full_at:
            return stop
        stop = min(stop, row + self._rows_at_once)
        if self._streams.live + stop - row > self._full_at:
            self._free_slots()
        if self._parking.count:
            self._streams.flow_keys(segments, row, stop, self._keys)
            self._come_back(self._parking.wanted(self._keys, stop - row))
            self._give_up_parked(self._parking.count + self._streams.live + stop - row - self._most)
        return stop

    def end_closed(self, before_ns: int) -> None:
        """Ends connections that both sides have ended, or that showed only SYNs of one side, idle since before this time."""
        over = (each for each in self._streams.idle() if each[IDLE_CLOSED] or each[IDLE_HALF_OPEN])
        self._give_up([each[IDLE_SLOT] for each in over if each[IDLE_TIME] < before_ns])

    def finish(self, end_all: Callable[[], None]) -> None:
        """The capture has ended: lets all parked connections come back, some at a time. `end_all` ends those in slots."""
        while self._parking.count:
            self._come_back(self._parking.oldest(self._room // 4 + 1))
            end_all()

    def _free_slots(self) -> None:
        """Frees a quarter of the slots: of the connections idle for longest, closed ones end, and others are parked."""
        idle = self._streams.idle()[: max(0, self._streams.live - self._room * 3 // 4)]
        found = [
            each
            for each in idle
            if not each[IDLE_CLOSED] and not self._openings.is_held(each[IDLE_SLOT], each[IDLE_PART])
        ]
        parked = self._parking.park(found, self._groups())
        self._streams.leave([each[IDLE_SLOT] for each in found[:parked]])
        self._give_up([each[IDLE_SLOT] for each in idle if each[IDLE_CLOSED]])
        # Where few may leave, not each batch tries again.
        self._full_at = max(self._room, self._streams.live + self._room // 4)

    def _come_back(self, entries: list[int]) -> list[int]:
        """Returns the slots that they have now."""
        if not entries:
            return []
        slots: list[int] = self._streams.claim(len(entries))
        self._parking.take(entries, slots, self._groups())
        self._streams.enter(slots)
        return slots

    def _give_up_parked(self, too_many: int) -> None:
        """Beyond `--max-connections` parked connections end: half-open ones first, then those idle for longest."""
        if too_many > 0:
            self._give_up(self._come_back(self._parking.oldest(too_many)))

    def _give_up(self, slots: list[int]) -> None:
        why = layout.WHY_DONE if not slots else layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            rows, why = self._streams.give_up(self._chunks, slots)
            self._feed_chunks(rows)

    def _groups(self) -> tuple[Any, ...]:
        slots = self._streams.slots
        others = (self._openings, self._tls, self._frames, self._exchanges)
        return self._streams.slot_state(), *(stage.slot_state(slots) for stage in others)
