"""What packets show of the way of a request and its reply: the evidence from which `query/resolve` tells whose time it was.

Of the request it is the packet with its last byte, of the reply the packet with its first one; before them the reply before,
and an ACK without data that the broker sent in between. What they tell is described in `dissectors.tcp.timing`.
"""

import cython

from dissectors.kafka.columns.exchange_columns import *
from dissectors.kafka.columns.exchange_state import ExchangeState
from dissectors.kafka.columns.exchange_waits import slot_of
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_request_way(
    x: ExchangeState, frames: cython.longlong[:, ::1], row: cython.longlong, index: cython.longlong
) -> cython.int:
    """Notes the way of the request at `index`, frame `row`."""
    slot: cython.longlong = slot_of(x, frames, row)
    silent: cython.longlong = x.last_replies[slot, LAST_REPLY_SILENT_TIME]
    begin: cython.longlong = frames[FRAME_FIRST_TIME, row]
    x.pending[index, ROW_REQUEST_LAG] = frames[FRAME_LAST_LAG, row]
    x.pending[index, ROW_LAST_NUMBER] = frames[FRAME_LAST_NUMBER, row]
    x.pending[index, ROW_MARKS] = frames[FRAME_END_MARKS, row] & MARK_IDLE
    if frames[FRAME_END_MARKS, row] & MARK_REPEAT:
        x.pending[index, ROW_MARKS] = MARK_ASKED_AGAIN
    if silent != UNKNOWN and begin != UNKNOWN and begin - silent < SILENT_WORK_NS:
        x.pending[index, ROW_MARKS] |= MARK_BEHIND_SILENT
    if frames[FRAME_STATUS, row] == STATUS_NO_REPLY_EXPECTED:
        x.last_replies[slot, LAST_REPLY_SILENT_TIME] = frames[FRAME_LAST_TIME, row]
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_reply_way(
    x: ExchangeState, frames: cython.longlong[:, ::1], row: cython.longlong, index: cython.longlong
) -> cython.int:
    """Adds the way of the reply, frame `row`, to the row of its request, behind `set_waits` and before `note_reply_end`."""
    slot: cython.longlong = slot_of(x, frames, row)
    asked: cython.longlong = x.pending[index, ROW_LAST_NUMBER]
    marks: cython.longlong = frames[FRAME_MARKS, row]
    x.pending[index, ROW_REPLY_LAG] = frames[FRAME_LAG, row]
    x.pending[index, ROW_REPLY_HELD] = frames[FRAME_HELD_BACK, row]
    if frames[FRAME_LENGTH, row] > LARGE_REPLY:
        x.pending[index, ROW_REPLY_END_LAG] = frames[FRAME_LAST_LAG, row]
    if x.pending[index, ROW_MARKS] == UNKNOWN:
        x.pending[index, ROW_MARKS] = 0
    if marks & MARK_PEER_REPEATED:
        x.pending[index, ROW_MARKS] = x.pending[index, ROW_MARKS] & ~MARK_IDLE | MARK_ASKED_AGAIN
    if x.pending[index, ROW_QUEUE] > 0:
        x.pending[index, ROW_BEFORE_LAG] = x.last_replies[slot, LAST_REPLY_LAG]
        if x.last_replies[slot, LAST_REPLY_IS_HELD]:
            x.pending[index, ROW_MARKS] |= MARK_BEHIND_HELD
        if asked != UNKNOWN and x.last_replies[slot, LAST_REPLY_COVERS] >= asked:
            x.pending[index, ROW_MARKS] |= MARK_COVERED
    if frames[FRAME_NUMBER, row] == x.last_replies[slot, LAST_REPLY_NUMBER]:
        marks |= MARK_SHARED
    if asked != UNKNOWN and frames[FRAME_ACK_NUMBER, row] >= asked:
        x.pending[index, ROW_ACK_TIME] = frames[FRAME_ACK_TIME, row]
        x.pending[index, ROW_ACK_LAG] = frames[FRAME_ACK_LAG, row]
        x.pending[index, ROW_MARKS] |= marks & MARK_PROMPT
    elif marks & MARK_NEAR and frames[FRAME_ACK_TIME, row] > x.pending[index, ROW_REQUEST_LAST]:
        x.pending[index, ROW_ACK_TIME] = frames[FRAME_ACK_TIME, row]
        x.pending[index, ROW_MARKS] |= MARK_NEAR
    x.pending[index, ROW_MARKS] |= marks & (MARK_REPEAT | MARK_JUMP | MARK_SHARED)
    x.last_replies[slot, LAST_REPLY_LAG] = frames[FRAME_LAST_LAG, row]
    x.last_replies[slot, LAST_REPLY_NUMBER] = frames[FRAME_LAST_NUMBER, row]
    x.last_replies[slot, LAST_REPLY_COVERS] = frames[FRAME_COVERS, row]
    x.last_replies[slot, LAST_REPLY_IS_HELD] = marks & (MARK_REPEAT | MARK_SHARED | MARK_HELD) != 0
    return 0
