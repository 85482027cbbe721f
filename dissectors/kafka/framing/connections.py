"""Begin and end of connections: a slot is prepared, a side ends, a slot is freed and its FRAMING_ row written."""

import cython

from dissectors.kafka.framing.accounting import count_skipped, leave_unread, note_frame_problem
from dissectors.kafka.framing.frame_rows import write_ended_request
from dissectors.kafka.framing.free_pages import drop_tail
from dissectors.kafka.framing.ids import identity
from dissectors.kafka.framing.in_flight import remove_oldest
from dissectors.kafka.framing.pages import clear_frame, drop_frame
from dissectors.kafka.framing.pairing import end_status
from dissectors.kafka.framing.provisional_frames import accept_provisional, drop_provisional
from dissectors.kafka.framing.provisional_proof import ends_in_replies
from dissectors.kafka.framing.state import FramingState, grow_framed_parts, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def open_connection(f: FramingState, chunks: i64[:, ::1], row: i64) -> cython.int:
    """Takes an OPEN row: the slot begins anew."""
    slot: i64 = chunks[CHUNK_SLOT, row]
    column: i64
    s: i64
    for column in range(CONN_COLUMNS):
        f.conn[slot, column] = 0
    f.conn[slot, FRAMING_PART] = chunks[CHUNK_DETAIL, row]
    f.conn[slot, FRAMING_CLIENT_SIDE] = UNKNOWN
    f.conn[slot, FRAMING_FLOW] = chunks[CHUNK_SEQ, row]
    f.conn[slot, FRAMING_CONNECTION] = identity(chunks[CHUNK_SEQ, row], chunks[CHUNK_TIME, row], 0)
    f.conn[slot, CONN_OLDEST_REQUEST] = -1
    f.conn[slot, CONN_NEWEST_REQUEST] = -1
    f.conn[slot, CONN_CLIENT_END_TIME] = UNKNOWN
    f.conn[slot, CONN_FROM_SYN] = chunks[CHUNK_OFFSET, row]
    f.conn[slot, FRAMING_OPENING] = UNKNOWN
    f.conn[slot, FRAMING_ANSWER] = UNKNOWN
    f.conn[slot, FRAMING_PROXIED_FOR] = UNKNOWN
    f.conn[slot, FRAMING_PROXIED_FOR + 1] = UNKNOWN
    for s in range(2 * slot, 2 * slot + 2):
        for column in range(SIDE_COLUMNS):
            f.side[s, column] = 0
        clear_frame(f, s)
        f.side[s, SIDE_SKIP_REASON] = SKIP_UNSYNCED
        f.side[s, SIDE_CORRELATION] = UNKNOWN
        f.side[s, SIDE_PROVISIONAL_FIRST] = -1
        f.side[s, SIDE_PROVISIONAL_LAST] = -1
    if f.broker_ports:
        force_direction(f, slot, chunks[CHUNK_LENGTH, row] >> 16, chunks[CHUNK_LENGTH, row] & 0xFFFF)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def force_direction(f: FramingState, slot: i64, port0: i64, port1: i64) -> cython.int:
    """`--ports`: the side with one of these ports is the broker; a connection without them is left unread."""
    if port1 in f.broker_ports:
        f.conn[slot, FRAMING_CLIENT_SIDE] = 0
    elif port0 in f.broker_ports:
        f.conn[slot, FRAMING_CLIENT_SIDE] = 1
    else:
        leave_unread(f, slot, PROTOCOL_UNKNOWN)
        return 0
    f.conn[slot, CONN_FORCED] = 1
    f.conn[slot, FRAMING_PROTOCOL] = PROTOCOL_KAFKA
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_opening(f: FramingState, chunks: i64[:, ::1], row: i64) -> cython.int:
    """Takes an OPENING row: bytes of a side that came before Kafka. The last address named counts."""
    slot: i64 = chunks[CHUNK_SLOT, row]
    count_skipped(f, slot, 2 * slot + chunks[CHUNK_SIDE, row], SKIP_NOT_KAFKA, chunks[CHUNK_LENGTH, row])
    f.conn[slot, FRAMING_OPENED + chunks[CHUNK_SIDE, row]] += chunks[CHUNK_LENGTH, row]
    f.conn[slot, FRAMING_OPENING] = chunks[CHUNK_DETAIL, row]
    if chunks[CHUNK_SEQ, row] != UNKNOWN:
        f.conn[slot, FRAMING_PROXIED_FOR] = chunks[CHUNK_OFFSET, row]
        f.conn[slot, FRAMING_PROXIED_FOR + 1] = chunks[CHUNK_SEQ, row]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def end_side(f: FramingState, chunks: i64[:, ::1], row: i64) -> cython.int:
    """Takes an END row: this side sends no more."""
    slot: i64 = chunks[CHUNK_SLOT, row]
    ended: i64 = f.conn[slot, CONN_ENDED]
    if ended == 0 and chunks[CHUNK_SIDE, row] == f.conn[slot, FRAMING_CLIENT_SIDE]:
        f.conn[slot, CONN_CLIENT_END_TIME] = chunks[CHUNK_TIME, row]
    f.conn[slot, CONN_ENDED] = ended | (1 << chunks[CHUNK_SIDE, row])
    return 0


@cython.cfunc
@cython.exceptval(-1)
def close_connection(f: FramingState, chunks: i64[:, ::1], row: i64) -> cython.bint:
    """Frees a slot: requests in flight end with a status, unfinished frames are counted, the FRAMING_ row is written."""
    slot: i64 = chunks[CHUNK_SLOT, row]
    s: i64
    column: i64
    for s in range(2 * slot, 2 * slot + 2):
        if ends_in_replies(f, slot, s) and not accept_provisional(f, slot, s):
            return False
    while f.conn[slot, CONN_OLDEST_REQUEST] >= 0:
        if f.out_used + 2 > f.out_size:
            f.why = WHY_OUTPUT_FULL
            return False
        write_ended_request(
            f, slot, f.conn[slot, CONN_OLDEST_REQUEST], end_status(f, slot, f.conn[slot, CONN_OLDEST_REQUEST])
        )
        remove_oldest(f, slot)
    if f.framed_part_rows == f.framed_part_size:
        grow_framed_parts(f)
    for s in range(2 * slot, 2 * slot + 2):
        if f.side[s, SIDE_FRAME_RECEIVED] > 0:
            note_frame_problem(
                f, PROBLEM_UNFINISHED_FRAME, s, f.side[s, SIDE_FRAME_SIZE], f.side[s, SIDE_FRAME_RECEIVED]
            )
        drop_frame(f, slot, s, SKIP_UNFINISHED)
        drop_provisional(f, slot, s)
        drop_tail(f, s)
    for column in range(FRAMING_COLUMNS):
        f.framed_parts[column, f.framed_part_rows] = f.conn[slot, column]
    f.framed_part_rows += 1
    return True
