"""Gaps: inside a frame of known length they cost its tail; over a boundary, all up to the next plausible header."""

import cython

from dissectors.kafka.framing.accounting import note_chunk_problem
from dissectors.kafka.framing.frames import deliver_frame
from dissectors.kafka.framing.pages import drop_frame, frame_end_time, has_room_to_finish, note_arrival
from dissectors.kafka.framing.provisional_frames import accept_provisional
from dissectors.kafka.framing.provisional_replies import take_provisional_gap
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
def take_gap(f: FramingState, chunks: i64[:, ::1], row: i64) -> cython.bint:
    """Bytes that were never captured. Inside a frame of known length they cost its tail; else the boundary is lost.

    False: no space for the frame that they end, and this must be called again.
    """
    slot: i64 = chunks[CHUNK_SLOT, row]
    s: i64 = 2 * slot + chunks[CHUNK_SIDE, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    left: i64
    waiting: i64
    cut: cython.bint
    last_time: i64 = UNKNOWN
    if f.side[s, SIDE_PROVISIONAL_ACCEPTED] and not accept_provisional(f, slot, s):
        return False
    if f.side[s, SIDE_MODE] != MODE_FRAMES:
        if f.side[s, SIDE_MODE] == MODE_PROVISIONAL:
            take_provisional_gap(f, chunks, row, slot, s)
        else:
            f.side[s, SIDE_LOSSES] += 1
        return True
    if chunks[CHUNK_DETAIL, row] == GAP_CUT:
        # The packet was captured, but not these bytes of it: its time is the time of the frame's tail.
        note_arrival(f, chunks, row, s)
        last_time = frame_end_time(f, s, chunks[CHUNK_TIME, row])
    left = f.side[s, SIDE_FRAME_SIZE] - f.side[s, SIDE_FRAME_POSITION] if f.side[s, SIDE_FRAME_SIZE] > 0 else -1
    if left > 0 and length >= left and not has_room_to_finish(f, s, 0):
        return False
    if 0 <= length < left:
        f.side[s, SIDE_FRAME_POSITION] += length
        return True
    if left > 0:
        waiting = f.conn[slot, CONN_IN_FLIGHT]
        deliver_frame(f, slot, s, last_time)
        if f.conn[slot, CONN_IN_FLIGHT] > waiting and chunks[CHUNK_DETAIL, row] != GAP_CUT:
            note_end_unseen(f, slot)
        if length == left:
            return True
    else:
        drop_frame(f, slot, s, SKIP_LOST)
    f.side[s, SIDE_MODE] = MODE_SEARCH
    f.side[s, SIDE_SKIP_REASON] = SKIP_LOST
    f.side[s, SIDE_LOSSES] += 1
    cut = chunks[CHUNK_DETAIL, row] == GAP_CUT
    note_chunk_problem(f, PROBLEM_BOUNDARY_CUT if cut else PROBLEM_BOUNDARY_LOST, chunks, row, slot, s, length)
    return True


@cython.cfunc
@cython.exceptval(-1)
def note_end_unseen(f: FramingState, slot: i64) -> cython.int:
    """Nobody saw when the newest request ended: its reply may lie in a loss of the other side that was noted before."""
    newest: i64 = f.conn[slot, CONN_NEWEST_REQUEST]
    if f.requests[newest, REQUEST_LOSSES] > 0:
        f.requests[newest, REQUEST_LOSSES] -= 1
    return 0
