"""What a request waited for before the broker worked on it: the replies before its own, and a throttle time.

A broker works on one request of a connection at a time, so a request waits for the replies to those before it, and for the
end of a throttle time (KIP-219). Both are told here, where the replies of a connection pass in their order.
"""

import cython

from dissectors.kafka.columns.exchange_state import ExchangeState, grow_connections
from dissectors.layout import *

# The throttle time is whole milliseconds: a reply may come that much before its end.
MUTE_TOLERANCE_NS = cython.declare(cython.longlong, 5000000)
MS = cython.declare(cython.longlong, 1000000)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def connection_of(x: ExchangeState, frames: cython.longlong[:, ::1], i: cython.longlong) -> cython.longlong:
    """The slot of a frame's connection, its turns forgotten when another connection had it."""
    slot: cython.longlong = frames[FRAME_SLOT, i]
    if slot >= x.slots:
        grow_connections(x, slot + 1)
    if x.turns[slot, TURN_PART] != frames[FRAME_PART, i]:
        x.turns[slot, TURN_PART] = frames[FRAME_PART, i]
        x.turns[slot, TURN_END] = UNKNOWN
        x.turns[slot, TURN_LOST] = 0
        x.turns[slot, TURN_MUTED_UNTIL] = UNKNOWN
    return slot


@cython.cfunc
@cython.exceptval(-1)
def note_reply_end(
    x: ExchangeState,
    frames: cython.longlong[:, ::1],
    i: cython.longlong,
    end: cython.longlong,
    throttle_ms: cython.longlong,
) -> cython.int:
    """Notes that a reply of the connection ended, or that it was lost: then `end` is UNKNOWN."""
    slot: cython.longlong = connection_of(x, frames, i)
    x.turns[slot, TURN_END] = end
    x.turns[slot, TURN_LOST] = end == UNKNOWN
    if throttle_ms > 0:
        x.turns[slot, TURN_MUTED_UNTIL] = max(
            x.turns[slot, TURN_MUTED_UNTIL], frames[FRAME_FIRST_TIME, i] + throttle_ms * MS
        )
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def set_waits(
    x: ExchangeState, frames: cython.longlong[:, ::1], i: cython.longlong, place: cython.longlong
) -> cython.int:
    """How long the request of this reply waited for the reply before it, then for the end of a throttle time."""
    slot: cython.longlong = connection_of(x, frames, i)
    asked: cython.longlong = x.pending[place, ROW_REQUEST_LAST]
    told: cython.longlong = frames[FRAME_FIRST_TIME, i]
    free: cython.longlong
    # A reply well inside the throttle time shows that the connection was not mute.
    if x.turns[slot, TURN_MUTED_UNTIL] > told + MUTE_TOLERANCE_NS:
        x.turns[slot, TURN_MUTED_UNTIL] = UNKNOWN
    if asked == UNKNOWN or told < asked or x.turns[slot, TURN_LOST]:
        return 0
    free = min(max(x.turns[slot, TURN_END], asked), told)
    x.pending[place, ROW_QUEUE] = free - asked
    x.pending[place, ROW_MUTED] = max(min(x.turns[slot, TURN_MUTED_UNTIL], told), free) - free
    return 0
