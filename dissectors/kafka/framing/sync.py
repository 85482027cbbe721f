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
from dissectors.kafka.framing.in_flight import is_expected_reply_at, is_near_correlation, is_request_side
from dissectors.kafka.framing.pages import append_bytes, clear_frame, drop_frame, release_pages
from dissectors.kafka.framing.provisional_frames import is_other_side_silent
from dissectors.kafka.framing.provisional_replies import begin_provisional, may_begin_provisional
from dissectors.kafka.framing.request_headers import is_likely_request, is_reply_header, is_request_at
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at
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
            f.side[s, SIDE_GUESSED] = 1 if at == 0 else 2
            break
        if at == 0 and may_begin_provisional(f, slot, s, buffer, base, base + length):
            begin_provisional(f, slot, s, int32_at(f, buffer, base + 4))
            if length <= TAIL_BYTES:
                keep_tail(f, chunks, row, s, 0)  # it may be a request, which needs more bytes to be told
            break
        at = length if waits and is_enough_searched(f, slot, s) else at + 1
    count_skipped(f, slot, s, f.side[s, SIDE_SKIP_REASON], at - start)
    f.chunk_position = at
    if at == length:
        keep_tail(f, chunks, row, s, start)
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
def keep_tail(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64, start: i64) -> cython.int:
    """Remembers the last bytes of a chunk that was searched in vain from `start` on: a header may begin in them. The first bytes of
    a stream are collected, however few a chunk has."""
    end: i64 = chunks[CHUNK_LENGTH, row]
    count: i64 = end - start if end - start < TAIL_BYTES else TAIL_BYTES
    before: i64 = f.side[s, SIDE_TAIL] & (TAIL_JOINED - 1)
    i: i64
    high: i64 = 0
    low: i64 = 0
    if before and before + count <= TAIL_BYTES:
        high = f.side[s, SIDE_TAIL_HIGH]
        low = f.side[s, SIDE_TAIL_LOW]
    else:
        before = 0
        f.side[s, SIDE_TAIL_TIME] = chunks[CHUNK_TIME, row]
        f.side[s, SIDE_TAIL_NUMBER] = chunks[CHUNK_NUMBER, row]
    for i in range(end - count, end):
        high = ((high << 8) | (low >> 48)) & LOW_63
        low = ((low << 8) | byte_at(f, chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row] + i)) & LOW_56
    f.side[s, SIDE_TAIL] = (TAIL_JOINED if before else 0) | before + count
    f.side[s, SIDE_TAIL_HIGH] = high
    f.side[s, SIDE_TAIL_LOW] = low
    f.side[s, SIDE_TAIL_END] = (chunks[CHUNK_SEQ, row] + end) & LOW_32
    return 0


@cython.cfunc
@cython.exceptval(-1)
def search_tail(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Looks for a header that begins in the last bytes of the previous chunk and goes on in this one; false: no room for it.

    Of bytes that came in several chunks it can only begin with the first: the times of the others are not known.
    """
    count: i64 = f.side[s, SIDE_TAIL] & (TAIL_JOINED - 1)
    judged: i64 = 1 if f.side[s, SIDE_TAIL] & TAIL_JOINED else count
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    reach: i64 = length if length < TAIL_REACH_BYTES else TAIL_REACH_BYTES
    at: i64 = f.heap_used
    i: i64
    found: i64 = -1
    whole: cython.bint = is_whole_stream(f, slot, s)
    if f.side[s, SIDE_TAIL_END] != chunks[CHUNK_SEQ, row]:
        f.side[s, SIDE_TAIL] = 0
        return True
    if at + count + reach > f.heap_size:
        f.heap_needed = count + reach
        f.why = WHY_HEAP_FULL
        return False
    for i in range(count):
        f.heap[at + i] = tail_byte(f, s, count - 1 - i)
    for i in range(reach):
        f.heap[at + count + i] = byte_at(f, buffer, base + i)
    for i in range(judged):
        if is_boundary_at(f, slot, s, OWN_HEAP, at + i, at + count + reach, whole and i == 0):
            if 4 + int32_at(f, OWN_HEAP, at + i) <= count - i:
                continue  # a reply of a few bytes that came byte by byte: it has been skipped as a whole
            if i + 4 + int32_at(f, OWN_HEAP, at + i) + 14 <= count + reach:
                return begin_in_tail(f, slot, s, at + i, count - i)  # it was judged by the header that follows, too
            if found < 0:
                found = i
    if found >= 0 and not is_boundary_at(f, slot, s, buffer, base, base + length, True):
        return begin_in_tail(f, slot, s, at + found, count - found)
    if not whole:
        f.side[s, SIDE_TAIL] = 0
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_request_torn(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Is what was taken for a provisional reply, and this chunk behind it, a request whose header they share? Where `why` is set
    there is no room to tell, and this must be asked again."""
    count: i64 = f.side[s, SIDE_TAIL] & (TAIL_JOINED - 1)
    at: i64 = f.heap_used
    reach: i64 = chunks[CHUNK_LENGTH, row]
    i: i64
    if reach > TAIL_REACH_BYTES:
        reach = TAIL_REACH_BYTES
    if (
        f.conn[slot, FRAMING_CLIENT_SIDE] != UNKNOWN
        or f.side[s, SIDE_PROVISIONAL_COUNT]
        or f.side[s, SIDE_FRAME_POSITION] != count
        or f.side[s, SIDE_TAIL_END] != chunks[CHUNK_SEQ, row]
    ):
        return False
    if at + count + reach > f.heap_size:
        f.heap_needed = count + reach
        f.why = WHY_HEAP_FULL
        return False
    for i in range(count):
        f.heap[at + i] = tail_byte(f, s, count - 1 - i)
    for i in range(reach):
        f.heap[at + count + i] = byte_at(f, chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row] + i)
    return is_likely_request(f, OWN_HEAP, at, at + count + reach, True)


@cython.cfunc
@cython.exceptval(-1)
def is_whole_stream(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Are the bytes of the tail all that came of this side, but for an opening?"""
    side: i64 = s & 1
    opening: i64 = f.conn[slot, FRAMING_SKIPPED + 2 * SKIP_NOT_KAFKA + side]
    return f.conn[slot, FRAMING_STREAM + side] == opening + (f.side[s, SIDE_TAIL] & (TAIL_JOINED - 1))


@cython.cfunc
def tail_byte(f: FramingState, s: i64, back: i64) -> cython.uchar:
    """The byte of the tail with `back` bytes behind it."""
    value: i64 = f.side[s, SIDE_TAIL_LOW] if back < 7 else f.side[s, SIDE_TAIL_HIGH]
    return cython.cast(cython.uchar, (value >> (8 * (back % 7))) & 255)


@cython.cfunc
@cython.exceptval(-1)
def begin_in_tail(f: FramingState, slot: i64, s: i64, at: i64, count: i64) -> cython.bint:
    """Begins a frame with the last `count` bytes of the tail, which lie at `at` on the heap. They no longer count as skipped."""
    i: i64
    begin_frames(f, slot, s)
    if not append_bytes(f, OWN_HEAP, at, count, s):
        f.side[s, SIDE_MODE] = MODE_SEARCH
        f.why = WHY_ARENA_FULL
        return False
    count_skipped(f, slot, s, f.side[s, SIDE_SKIP_REASON], -count)
    f.side[s, SIDE_GUESSED] = 2
    f.side[s, SIDE_FRAME_POSITION] = count
    f.side[s, SIDE_FRAME_RECEIVED] = count
    f.side[s, SIDE_FIRST_TIME] = f.side[s, SIDE_TAIL_TIME]
    f.side[s, SIDE_LAST_TIME] = f.side[s, SIDE_TAIL_TIME]
    f.side[s, SIDE_NUMBER] = f.side[s, SIDE_TAIL_NUMBER]
    f.side[s, SIDE_SEQ] = (f.side[s, SIDE_TAIL_END] - count) & LOW_32
    for i in range(count if count < 4 else 4):
        f.side[s, SIDE_LENGTH_FIELD] = (f.side[s, SIDE_LENGTH_FIELD] << 8) | f.heap[at + i]
    if count >= 4:
        f.side[s, SIDE_FRAME_SIZE] = 4 + f.side[s, SIDE_LENGTH_FIELD]  # `is_boundary_at` has judged it
    f.side[s, SIDE_TAIL] = 0
    return True


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
