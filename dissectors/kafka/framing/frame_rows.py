"""Frame rows: the columns that all frames share, orphans, and requests that end without a reply."""

import cython

from dissectors.kafka.framing.ids import identity
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def write_columns(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, kept: i64, last_time: i64) -> cython.int:
    """Writes the columns that requests, replies and tokens share. Offset and sizes leave the length field out."""
    row: i64 = f.out_used
    f.out[FRAME_SLOT, row] = slot
    f.out[FRAME_PART, row] = f.conn[slot, FRAMING_PART]
    f.out[FRAME_BUFFER, row] = 1 if buffer == OWN_HEAP else 0
    f.out[FRAME_OFFSET, row] = at + 4
    f.out[FRAME_HELD, row] = kept - 4
    f.out[FRAME_LENGTH, row] = f.side[s, SIDE_FRAME_SIZE] - 4
    f.out[FRAME_FIRST_TIME, row] = f.side[s, SIDE_FIRST_TIME]
    f.out[FRAME_LAST_TIME, row] = last_time
    f.out[FRAME_NUMBER, row] = f.side[s, SIDE_NUMBER]
    f.out[FRAME_SEQ, row] = f.side[s, SIDE_SEQ]
    f.out[FRAME_SIDE, row] = s & 1
    f.out[FRAME_DECODED, row] = 0
    f.out[FRAME_BODY, row] = UNKNOWN
    f.out[FRAME_STATUS, row] = STATUS_ANSWERED
    f.out[FRAME_ID, row] = identity(f.conn[slot, FRAMING_FLOW], f.side[s, SIDE_FIRST_TIME], f.side[s, SIDE_SEQ])
    write_way(f, s, row, last_time == UNKNOWN)
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def write_way(f: FramingState, s: i64, row: i64, is_end_lost: cython.bint) -> cython.int:
    """What the packets with the first and the last byte show of their way."""
    f.out[FRAME_LAST_NUMBER, row] = f.side[s, SIDE_LAST_NUMBER]
    f.out[FRAME_LAG, row] = f.side[s, SIDE_WAY]
    f.out[FRAME_HELD_BACK, row] = f.side[s, SIDE_WAY + CHUNK_HELD - CHUNK_LAG]
    f.out[FRAME_MARKS, row] = f.side[s, SIDE_WAY + CHUNK_MARKS - CHUNK_LAG]
    f.out[FRAME_ACK_NUMBER, row] = f.side[s, SIDE_WAY + CHUNK_ACK_NUMBER - CHUNK_LAG]
    f.out[FRAME_ACK_TIME, row] = f.side[s, SIDE_WAY + CHUNK_ACK_TIME - CHUNK_LAG]
    f.out[FRAME_ACK_LAG, row] = f.side[s, SIDE_WAY + CHUNK_ACK_LAG - CHUNK_LAG]
    f.out[FRAME_LAST_LAG, row] = UNKNOWN if is_end_lost else f.end_lag
    f.out[FRAME_COVERS, row] = 0 if is_end_lost else f.end_covers
    f.out[FRAME_END_MARKS, row] = 0 if is_end_lost else f.end_marks | f.side[s, SIDE_REPEATS]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_orphan_columns(f: FramingState, slot: i64) -> cython.int:
    """Writes the columns of an orphan: a reply whose request was not seen."""
    row: i64 = f.out_used
    f.conn[slot, FRAMING_ORPHANS] += 1
    f.out[FRAME_EVENT, row] = FRAME_ORPHAN_SEEN
    f.out[FRAME_KEY, row] = UNKNOWN
    f.out[FRAME_VERSION, row] = UNKNOWN
    f.out[FRAME_REQUEST, row] = UNKNOWN
    f.out[FRAME_STATUS, row] = STATUS_ORPHAN_REPLY
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_ended_request(f: FramingState, slot: i64, index: i64, status: i64) -> cython.int:
    """Writes the row of a request that ends without a reply."""
    row: i64 = f.out_used
    f.out[FRAME_EVENT, row] = FRAME_REQUEST_ENDED
    f.out[FRAME_SLOT, row] = slot
    f.out[FRAME_PART, row] = f.conn[slot, FRAMING_PART]
    f.out[FRAME_REQUEST, row] = index
    f.out[FRAME_STATUS, row] = status
    f.out[FRAME_KEY, row] = (
        TOKEN_KEY if f.requests[index, REQUEST_KEY] == TOKEN_REQUEST_KEY else f.requests[index, REQUEST_KEY]
    )
    f.out[FRAME_HELD, row] = 0
    f.out[FRAME_ID, row] = f.requests[index, REQUEST_ID]
    f.out_used += 1
    return 0
