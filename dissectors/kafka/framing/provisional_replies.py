"""Reads provisional replies: passes over them by length, one after the other.

They begin with a chunk, end where something more likely is found, and go on over a gap inside a frame.
"""

import cython

from dissectors.kafka.framing.in_flight import (
    is_expected_reply_at,
    is_in_flight,
    is_near_correlation,
    is_request_side,
    is_token_reply_due,
)
from dissectors.kafka.framing.pages import begin_frame, clear_frame, drop_frame, frame_end_time, note_arrival
from dissectors.kafka.framing.provisional_frames import (
    accept_provisional,
    correlation_step,
    drop_provisional,
    is_next_correlation,
    is_other_side_silent,
    reject_provisional,
    store_provisional,
    word_at,
)
from dissectors.kafka.framing.provisional_proof import is_api_versions_reply, is_like_zookeeper, is_proven
from dissectors.kafka.framing.request_headers import is_likely_request, is_reply_header
from dissectors.kafka.framing.state import FramingState, i64, make_provisional_pool
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def may_begin_provisional(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can a reply to an unknown request begin at the start of this chunk?"""
    if is_request_side(f, slot, s) or is_token_reply_due(f, slot) or not is_reply_header(f, buffer, at, end):
        return False
    return 4 + int32_at(f, buffer, at) <= LONGEST_PROVISIONAL or is_near_correlation(
        f, slot, int32_at(f, buffer, at + 4)
    )


@cython.cfunc
@cython.exceptval(-1)
def begin_provisional(f: FramingState, slot: i64, s: i64, correlation: i64) -> cython.int:
    """Begins with provisional replies, or goes on with those that a gap interrupted if the correlation id can follow."""
    if not is_next_correlation(f, s, correlation):
        drop_provisional(f, slot, s)
    clear_frame(f, s)
    f.side[s, SIDE_MODE] = MODE_PROVISIONAL
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_provisional(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Passes over a provisional reply, or what the chunk has of it; false: the output is full."""
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    end: i64 = base + chunks[CHUNK_LENGTH, row]
    at: i64 = base + f.chunk_position
    count: i64
    if f.side[s, SIDE_PROVISIONAL_ACCEPTED]:
        return accept_provisional(f, slot, s)
    if is_request_side(f, slot, s) or (
        f.side[s, SIDE_FRAME_POSITION] > 0 and is_reply_inside_provisional(f, slot, s, buffer, at, end)
    ):
        reject_provisional(f, slot, s)
        return True
    if f.side[s, SIDE_FRAME_POSITION] == 0:
        if not is_provisional_start(f, slot, s, buffer, at, end):
            return True
        begin_frame(f, chunks, row, s, f.chunk_position)
        for count in range(WORDS):
            f.side[s, SIDE_WORDS + count] = 0
    note_arrival(f, chunks, row, s)
    at = read_words(f, s, buffer, at, end, 8)
    if f.side[s, SIDE_FRAME_POSITION] < 8 or (
        f.side[s, SIDE_FRAME_SIZE] < 0 and not take_provisional_header(f, slot, s)
    ):
        return True
    at = read_words(f, s, buffer, at, end, 20 if f.side[s, SIDE_FRAME_SIZE] > 20 else f.side[s, SIDE_FRAME_SIZE])
    count = f.side[s, SIDE_FRAME_SIZE] - f.side[s, SIDE_FRAME_POSITION]
    pass_over(f, s, count if count < end - at else end - at)
    if f.side[s, SIDE_FRAME_POSITION] == f.side[s, SIDE_FRAME_SIZE]:
        end_provisional_frame(f, slot, s, frame_end_time(f, s, chunks[CHUNK_TIME, row]), count == end - at)
    return True


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def read_words(f: FramingState, s: i64, buffer: i64, at: i64, end: i64, wanted: i64) -> i64:
    """Reads the first `wanted` bytes of the frame under way into SIDE_WORDS, as far as no gap comes before; returns the offset
    after them."""
    word: i64
    while f.side[s, SIDE_FRAME_KEPT] == f.side[s, SIDE_FRAME_POSITION] < wanted and at < end:
        word = SIDE_WORDS + (f.side[s, SIDE_FRAME_KEPT] >> 2)
        f.side[s, word] = (f.side[s, word] << 8) | byte_at(f, buffer, at)
        f.side[s, SIDE_FRAME_KEPT] += 1
        pass_over(f, s, 1)
        at += 1
    return at


@cython.cfunc
@cython.exceptval(-1)
def pass_over(f: FramingState, s: i64, count: i64) -> cython.int:
    """Counts bytes of the frame under way without keeping them."""
    f.side[s, SIDE_FRAME_POSITION] += count
    f.side[s, SIDE_FRAME_RECEIVED] += count
    f.chunk_position += count
    return 0


@cython.cfunc
@cython.exceptval(-1)
def is_provisional_start(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can the next provisional reply begin at `at`? False: they are accepted or rejected here."""
    if f.side[s, SIDE_PROVISIONAL_COUNT] and is_expected_reply_at(f, slot, buffer, at, end):
        f.side[s, SIDE_PROVISIONAL_ACCEPTED] = 1
        return False
    if (end - at >= 8 and not is_reply_header(f, buffer, at, end)) or (
        f.conn[slot, FRAMING_CLIENT_SIDE] == UNKNOWN and is_likely_request(f, buffer, at, end, True)
    ):
        reject_provisional(f, slot, s)
        return False
    return True


@cython.cfunc
@cython.exceptval(-1)
def take_provisional_header(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Judges length and correlation id of the reply under way; false: provisional replies are accepted or rejected here."""
    size: i64 = 4 + word_at(f, s, 0)
    correlation: i64 = word_at(f, s, 1)
    if not 10 <= size <= LONGEST_GUESSED_FRAME or correlation < -1 or not is_next_correlation(f, s, correlation):
        reject_provisional(f, slot, s)
        return False
    f.side[s, SIDE_FRAME_SIZE] = size
    if f.side[s, SIDE_PROVISIONAL_COUNT] and is_in_flight(f, slot, correlation):
        f.side[s, SIDE_PROVISIONAL_ACCEPTED] = 1
        return False
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_reply_inside_provisional(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Does a chunk that should go on with a provisional reply begin with what is more likely one itself?"""
    if f.chunk_position > 0 or f.side[s, SIDE_FRAME_SIZE] < 0:
        return False
    if is_expected_reply_at(f, slot, buffer, at, end):
        return True
    return (
        f.side[s, SIDE_PROVISIONAL_COUNT] == 0
        and is_reply_header(f, buffer, at, end)
        and at + 4 + int32_at(f, buffer, at) == end
    )


@cython.cfunc
@cython.exceptval(-1)
def take_provisional_gap(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.int:
    """A gap inside a provisional reply costs nothing; one over a boundary begins a search."""
    length: i64 = chunks[CHUNK_LENGTH, row]
    left: i64 = f.side[s, SIDE_FRAME_SIZE] - f.side[s, SIDE_FRAME_POSITION] if f.side[s, SIDE_FRAME_SIZE] > 0 else -1
    last_time: i64 = UNKNOWN
    if 0 <= length < left:
        f.side[s, SIDE_FRAME_POSITION] += length
        return 0
    if chunks[CHUNK_DETAIL, row] == GAP_CUT:
        note_arrival(f, chunks, row, s)
        last_time = frame_end_time(f, s, chunks[CHUNK_TIME, row])
    if left > 0 and length == left:
        end_provisional_frame(f, slot, s, last_time, False)
        return 0
    drop_frame(f, slot, s, SKIP_LOST)
    f.side[s, SIDE_MODE] = MODE_SEARCH
    f.side[s, SIDE_SKIP_REASON] = SKIP_LOST
    f.side[s, SIDE_LOSSES] += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def end_provisional_frame(f: FramingState, slot: i64, s: i64, last_time: i64, at_end: cython.bint) -> cython.int:
    """A provisional reply is complete: it is stored, and all of them are judged."""
    step: i64 = correlation_step(f, s, word_at(f, s, 1))
    if f.provisional_capacity == 0:
        make_provisional_pool(f)
    if f.free_provisional < 0:
        reject_provisional(f, slot, s)
        return 0
    store_provisional(f, s, last_time)
    f.side[s, SIDE_PROVISIONAL_STEPS] += step > 0
    if is_api_versions_reply(f, s):
        f.side[s, SIDE_PROVISIONAL_STEPS] += PROOF_STEPS - 1
    f.side[s, SIDE_PROVISIONAL_BACKWARD] += step < 0
    f.side[s, SIDE_PROVISIONAL_NOT_ZOOKEEPER] += not is_like_zookeeper(f, s)
    f.side[s, SIDE_PROVISIONAL_COUNT] += 1
    f.side[s, SIDE_PROVISIONAL_BYTES] += f.side[s, SIDE_FRAME_RECEIVED]
    clear_frame(f, s)
    f.side[s, SIDE_PROVISIONAL_ACCEPTED] = is_proven(f, slot, s, at_end)
    if f.side[s, SIDE_PROVISIONAL_COUNT] == MOST_PROVISIONAL_OF_SIDE and not f.side[s, SIDE_PROVISIONAL_ACCEPTED]:
        if is_other_side_silent(f, slot, s):
            f.side[s, SIDE_PROVISIONAL_ACCEPTED] = 1  # all that there is of the connection: see `ends_in_replies`
        else:
            reject_provisional(f, slot, s)
    return 0
