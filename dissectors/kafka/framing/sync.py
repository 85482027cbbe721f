"""Resynchronisation: the search for a frame boundary after a late start, a gap or an impossible length.

A boundary that was found this way is a guess, until the frame is complete and a plausible header follows it.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped, leave_first_bytes, leave_unread, note_chunk_problem
from dissectors.kafka.framing.direction import (
    begin_frames,
    is_boundary_at,
    is_client_proven,
    take_back_client,
    take_first_bytes,
)
from dissectors.kafka.framing.free_pages import drop_tail
from dissectors.kafka.framing.in_flight import is_expected_reply_at, is_near_correlation, is_request_side
from dissectors.kafka.framing.pages import clear_frame, drop_frame, release_pages
from dissectors.kafka.framing.provisional_frames import is_other_side_silent
from dissectors.kafka.framing.provisional_replies import begin_provisional, may_begin_provisional
from dissectors.kafka.framing.request_headers import is_likely_request, is_reply_header, is_request_at
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import int32_at
from dissectors.kafka.framing.tails import is_amid_small_chunks, keep_tail, search_tail
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
def search_boundary(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Looks for a frame boundary in the rest of the chunk, and skips what lies before it; false: the heap or the arena is full."""
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    at: i64 = f.chunk_position
    start: i64 = at
    waits: cython.bint = is_other_side_to_come(f, slot, s)
    if at == 0 and is_first_chunk(f, slot, s) and take_first_bytes(f, chunks, row, slot, s):
        return True
    if at == 0 and f.side[s, SIDE_TAIL] and not search_tail(f, chunks, row, slot, s):
        return False
    if f.side[s, SIDE_MODE] != MODE_SEARCH:
        return True
    while at < length:
        if is_boundary_at(f, slot, s, buffer, base + at, base + length, at == 0):
            f.side[s, SIDE_SEARCHED] += at - start
            begin_frames(f, slot, s)
            drop_tail(f, s)
            f.side[s, SIDE_GUESSED] = 1 if at == 0 else 2
            break
        if (
            at == 0
            and may_begin_provisional(f, slot, s, buffer, base, base + length)
            and not is_amid_small_chunks(f, chunks, row, slot, s)
        ):
            begin_provisional(f, slot, s, int32_at(f, buffer, base + 4))
            drop_tail(f, s)
            if length < SMALL_CHUNK_BYTES:
                keep_tail(f, chunks, row, slot, s, 0)  # it may be a request, which needs more bytes to be told
            break
        at = length if waits and is_enough_searched(f, slot, s) else at + 1
    count_skipped(f, slot, s, f.side[s, SIDE_SKIP_REASON], at - start)
    f.chunk_position = at
    if at == length:
        keep_tail(f, chunks, row, slot, s, start)
    if f.side[s, SIDE_MODE] == MODE_FRAMES:
        return True
    if not waits:
        f.side[s, SIDE_SEARCHED] += at - start
    elif at > start:
        f.side[s, SIDE_SEARCHED] = (
            1  # something is skipped; what may be searched counts from the first byte of the other side on
        )
    if at == length and f.side[s, SIDE_SEARCHED] > SEARCH_LIMIT_BYTES and f.conn[slot, FRAMING_REQUESTS] == 0:
        leave_unread(f, slot, PROTOCOL_OTHER)
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_other_side_to_come(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Has the other side sent nothing since the capture began? Then this may be the rest of one long message that it listens to,
    and is no evidence against Kafka, however long it is."""
    return not f.conn[slot, CONN_FROM_SYN] and is_other_side_silent(f, slot, s)


@cython.cfunc
@cython.exceptval(-1)
def is_enough_searched(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """From here on a long message is judged where its chunks begin: the search costs much more than the rest of the reading."""
    return f.conn[slot, FRAMING_STREAM + (s & 1)] > SEARCH_LIMIT_BYTES


@cython.cfunc
@cython.exceptval(-1)
def is_first_chunk(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Have no bytes of this side come yet, but for an opening?"""
    side: i64 = s & 1
    return f.conn[slot, FRAMING_STREAM + side] == f.conn[slot, FRAMING_SKIPPED + 2 * SKIP_NOT_KAFKA + side]


@cython.cfunc
@cython.exceptval(-1)
def give_up_guess(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Gives up a guessed frame that is complete if no frame follows it in the chunk; true when it did."""
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    at: i64 = chunks[CHUNK_OFFSET, row] + f.chunk_position
    end: i64 = chunks[CHUNK_OFFSET, row] + chunks[CHUNK_LENGTH, row]
    if is_request_side(f, slot, s):
        if end - at < 14 or is_request_at(f, buffer, at, end, True):
            return False
    elif (
        end - at < 8
        or is_expected_reply_at(f, slot, buffer, at, end)
        or (is_reply_header(f, buffer, at, end) and is_near_correlation(f, slot, int32_at(f, buffer, at + 4)))
    ):
        return False
    drop_frame(f, slot, s, f.side[s, SIDE_SKIP_REASON])
    f.side[s, SIDE_MODE] = MODE_SEARCH
    if is_request_side(f, slot, s) and not is_client_proven(f, slot):
        take_back_client(f, slot, s)
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_frame_inside_guess(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Does a chunk that should go on with a guessed frame begin with a whole request, or with the reply to a request in flight?
    Then the guess was wrong.

    Bodies are full of small numbers: a guess inside a chunk may name any length, and would hide all that follows.
    """
    at: i64 = chunks[CHUNK_OFFSET, row]
    end: i64 = at + chunks[CHUNK_LENGTH, row]
    if f.side[s, SIDE_FRAME_POSITION] == 0:
        return False
    if is_request_side(f, slot, s):
        return (
            is_likely_request(f, chunks[CHUNK_BUFFER, row], at, end, False)
            and at + 4 + int32_at(f, chunks[CHUNK_BUFFER, row], at) == end
        )
    if not is_expected_reply_at(f, slot, chunks[CHUNK_BUFFER, row], at, end):
        return False
    return f.side[s, SIDE_GUESSED] == 2 or at + 4 + int32_at(f, chunks[CHUNK_BUFFER, row], at) == end


@cython.cfunc
@cython.exceptval(-1)
def lose_boundary(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.int:
    """No frame can begin here: what was collected is skipped, and the search begins with the next byte."""
    collected: i64 = f.side[s, SIDE_FRAME_RECEIVED]
    note_chunk_problem(f, PROBLEM_IMPOSSIBLE_LENGTH, chunks, row, slot, s, collected)
    count_skipped(f, slot, s, SKIP_BAD, collected)
    release_pages(f, s)
    clear_frame(f, s)
    if f.conn[slot, FRAMING_REQUESTS] == 0 and f.conn[slot, CONN_FROM_SYN] and not f.conn[slot, CONN_FORCED]:
        leave_first_bytes(f, slot)
        return 0
    if is_request_side(f, slot, s) and not is_client_proven(f, slot):
        take_back_client(f, slot, s)
    f.side[s, SIDE_MODE] = MODE_SEARCH
    f.side[s, SIDE_SKIP_REASON] = SKIP_BAD
    f.side[s, SIDE_LOSSES] += 1
    if f.chunk_position < chunks[CHUNK_LENGTH, row] and collected == 0:
        count_skipped(f, slot, s, SKIP_BAD, 1)
        f.chunk_position += 1
    return 0
