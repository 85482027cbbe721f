"""How long a request waited before the broker worked on it: for the replies before its own, then for a throttle time.

A broker works on one request of a connection at a time and replies in the order of the requests. So a request waits until
the reply before its own has been sent (ROW_QUEUE). A broker that throttles a client reads nothing from the connection until
the throttle time of its last reply is over (ROW_MUTED; KIP-219). Both are computed here because this stage sees the replies
of a connection in their order; SQL would need a window over all exchanges.

Where the reply before may have been lost nothing is known: both columns stay UNKNOWN, also of the next reply after a loss that was
noticed late, as the lost reply may have told a throttle time; nor where that reply seems to have ended behind this one: a clock was
set back.
"""

import cython

from dissectors.kafka.columns.exchange_columns import *
from dissectors.kafka.columns.exchange_state import ExchangeState, grow_slots
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def slot_of(x: ExchangeState, frames: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    """The slot of a frame's connection; what was remembered of another connection in this slot is forgotten."""
    slot: cython.longlong = frames[FRAME_SLOT, row]
    if slot >= x.slots:
        grow_slots(x, slot + 1)
    if x.last_replies[slot, LAST_REPLY_PART] != frames[FRAME_PART, row]:
        x.last_replies[slot, LAST_REPLY_PART] = frames[FRAME_PART, row]
        x.last_replies[slot, LAST_REPLY_END] = UNKNOWN
        x.last_replies[slot, LAST_REPLY_LOST] = 0
        x.last_replies[slot, LAST_REPLY_MUTED_UNTIL] = UNKNOWN
        x.last_replies[slot, LAST_REPLY_SILENT_TIME] = UNKNOWN
        forget_way(x, slot)
    return slot


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def forget_way(x: ExchangeState, slot: cython.longlong) -> cython.int:
    """Nothing is known of the way of the newest reply."""
    x.last_replies[slot, LAST_REPLY_LAG] = UNKNOWN
    x.last_replies[slot, LAST_REPLY_NUMBER] = UNKNOWN
    x.last_replies[slot, LAST_REPLY_COVERS] = 0
    x.last_replies[slot, LAST_REPLY_IS_HELD] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
def note_reply_end(
    x: ExchangeState,
    frames: cython.longlong[:, ::1],
    row: cython.longlong,
    end: cython.longlong,
    throttle_ms: cython.longlong,
) -> cython.int:
    """Notes that a reply of the connection ended, or that it was lost: then `end` is UNKNOWN."""
    slot: cython.longlong = slot_of(x, frames, row)
    x.last_replies[slot, LAST_REPLY_END] = end
    x.last_replies[slot, LAST_REPLY_LOST] = end == UNKNOWN
    if end == UNKNOWN:
        forget_way(x, slot)
    if throttle_ms > 0 and frames[FRAME_FIRST_TIME, row] != UNKNOWN:
        x.last_replies[slot, LAST_REPLY_MUTED_UNTIL] = max(
            x.last_replies[slot, LAST_REPLY_MUTED_UNTIL],
            frames[FRAME_FIRST_TIME, row] + min(throttle_ms * NS_PER_MS, LATEST_TIME - frames[FRAME_FIRST_TIME, row]),
        )
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def set_waits(
    x: ExchangeState, frames: cython.longlong[:, ::1], row: cython.longlong, index: cython.longlong
) -> cython.int:
    """Sets ROW_QUEUE and ROW_MUTED of the request at `index`, whose reply is frame `row`."""
    slot: cython.longlong = slot_of(x, frames, row)
    request_end: cython.longlong = x.pending[index, ROW_REQUEST_LAST]
    reply_begin: cython.longlong = frames[FRAME_FIRST_TIME, row]
    queue_end: cython.longlong
    # A reply well inside the throttle time shows that the connection was not muted.
    if reply_begin != UNKNOWN and x.last_replies[slot, LAST_REPLY_MUTED_UNTIL] > reply_begin + MUTE_TOLERANCE_NS:
        x.last_replies[slot, LAST_REPLY_MUTED_UNTIL] = UNKNOWN
    if request_end == UNKNOWN or reply_begin < request_end or x.last_replies[slot, LAST_REPLY_LOST]:
        return 0
    if frames[FRAME_END_MARKS, row] & MARK_BEHIND_LOST:
        return 0
    if (
        x.last_replies[slot, LAST_REPLY_END] > reply_begin
        and x.last_replies[slot, LAST_REPLY_END] - reply_begin > SET_BACK_NS
    ):
        return 0
    queue_end = min(max(x.last_replies[slot, LAST_REPLY_END], request_end), reply_begin)
    x.pending[index, ROW_QUEUE] = queue_end - request_end
    x.pending[index, ROW_MUTED] = (
        max(min(x.last_replies[slot, LAST_REPLY_MUTED_UNTIL], reply_begin), queue_end) - queue_end
    )
    return 0
