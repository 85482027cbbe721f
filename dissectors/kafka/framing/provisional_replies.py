"""Reads provisional replies: passes over them by length, one after the other.

A row of them begins where a chunk does, ends where something more likely is found, and goes on over a gap inside a frame.
"""

import cython

from dissectors.kafka.framing.headers import is_likely_request, is_reply_header
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
    word_at,
)
from dissectors.kafka.framing.provisional_proof import is_api_versions_reply, is_like_zookeeper, is_proven
from dissectors.kafka.framing.state import FramingState, i64, make_provisional_pool
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def may_begin_provisional(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """May a reply without request begin at the start of this chunk?"""
    if is_request_side(f, slot, s) or is_token_reply_due(f, slot) or not is_reply_header(f, buffer, at, end):
        return False
    return 4 + int32_at(f, buffer, at) <= LONGEST_FIRST_TRIAL or is_near_correlation(
        f, slot, int32_at(f, buffer, at + 4)
    )


@cython.cfunc
@cython.exceptval(-1)
def begin_provisional(f: FramingState, slot: i64, s: i64, correlation: i64) -> cython.int:
    """Begins a trial, or goes on with one that a gap interrupted when the id fits."""
    if not is_next_correlation(f, s, correlation):
        drop_provisional(f, slot, s)
    clear_frame(f, s)
    f.side[s, S_MODE] = M_TRIAL
    return 0


@cython.cfunc
@cython.exceptval(-1)
def provisional_bytes(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Passes over a frame of the trial, or the part of it that is in the chunk; false: the output is full."""
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    end: i64 = base + chunks[CHUNK_LENGTH, row]
    at: i64 = base + f.resume
    count: i64
    if f.side[s, S_TRIAL_SURE]:
        return accept_provisional(f, slot, s)
    if is_request_side(f, slot, s) or (f.side[s, S_PASSED] > 0 and is_provisional_outdone(f, slot, s, buffer, at, end)):
        reject_provisional(f, slot, s)
        return True
    if f.side[s, S_PASSED] == 0:
        if not provisional_start(f, slot, s, buffer, at, end):
            return True
        begin_frame(f, chunks, row, s, f.resume)
        for count in range(TRIAL_WORDS):
            f.side[s, S_WORDS + count] = 0
    note_arrival(f, chunks, row, s)
    at = read_words(f, s, buffer, at, end, 8)
    if f.side[s, S_PASSED] < 8 or (f.side[s, S_TOTAL] < 0 and not provisional_header(f, slot, s)):
        return True
    at = read_words(f, s, buffer, at, end, 20 if f.side[s, S_TOTAL] > 20 else f.side[s, S_TOTAL])
    count = f.side[s, S_TOTAL] - f.side[s, S_PASSED]
    pass_over(f, s, count if count < end - at else end - at)
    if f.side[s, S_PASSED] == f.side[s, S_TOTAL]:
        end_provisional_frame(f, slot, s, frame_end_time(f, s, chunks[CHUNK_TIME, row]), count == end - at)
    return True


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def read_words(f: FramingState, s: i64, buffer: i64, at: i64, end: i64, wanted: i64) -> i64:
    """Reads the first `wanted` bytes of the frame under way into its words, as far as they come without a hole."""
    word: i64
    while f.side[s, S_HELD] == f.side[s, S_PASSED] < wanted and at < end:
        word = S_WORDS + (f.side[s, S_HELD] >> 2)
        f.side[s, word] = (f.side[s, word] << 8) | byte_at(f, buffer, at)
        f.side[s, S_HELD] += 1
        pass_over(f, s, 1)
        at += 1
    return at


@cython.cfunc
@cython.exceptval(-1)
def pass_over(f: FramingState, s: i64, count: i64) -> cython.int:
    """Bytes of the frame under way that are counted and not kept."""
    f.side[s, S_PASSED] += count
    f.side[s, S_FRAMED] += count
    f.resume += count
    return 0


@cython.cfunc
@cython.exceptval(-1)
def provisional_start(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """May the next frame of the trial begin at `at`? False: the trial is won, or lost, here."""
    if f.side[s, S_TRIAL_COUNT] and is_expected_reply_at(f, slot, buffer, at, end):
        f.side[s, S_TRIAL_SURE] = 1
        return False
    if (end - at >= 8 and not is_reply_header(f, buffer, at, end)) or (
        f.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN and is_likely_request(f, buffer, at, end, True)
    ):
        reject_provisional(f, slot, s)
        return False
    return True


@cython.cfunc
@cython.exceptval(-1)
def provisional_header(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Length and id of the trial's next frame are there; false: the trial is won, or lost, here."""
    total: i64 = 4 + word_at(f, s, 0)
    correlation: i64 = word_at(f, s, 1)
    if not 10 <= total <= LONGEST_SYNC_FRAME or correlation < -1 or not is_next_correlation(f, s, correlation):
        reject_provisional(f, slot, s)
        return False
    f.side[s, S_TOTAL] = total
    if f.side[s, S_TRIAL_COUNT] and is_in_flight(f, slot, correlation):
        f.side[s, S_TRIAL_SURE] = 1
        return False
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_provisional_outdone(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Inside a frame of the trial a chunk begins with what is more likely a reply."""
    if f.resume > 0 or f.side[s, S_TOTAL] < 0:
        return False
    if is_expected_reply_at(f, slot, buffer, at, end):
        return True
    return (
        f.side[s, S_TRIAL_COUNT] == 0
        and is_reply_header(f, buffer, at, end)
        and at + 4 + int32_at(f, buffer, at) == end
    )


@cython.cfunc
@cython.exceptval(-1)
def provisional_gap(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.int:
    """Inside a frame a gap costs nothing; over a boundary it interrupts the trial."""
    length: i64 = chunks[CHUNK_LENGTH, row]
    left: i64 = f.side[s, S_TOTAL] - f.side[s, S_PASSED] if f.side[s, S_TOTAL] > 0 else -1
    last_time: i64 = UNKNOWN
    if 0 <= length < left:
        f.side[s, S_PASSED] += length
        return 0
    if chunks[CHUNK_DETAIL, row] == GAP_CUT:
        note_arrival(f, chunks, row, s)
        last_time = frame_end_time(f, s, chunks[CHUNK_TIME, row])
    if left > 0 and length == left:
        end_provisional_frame(f, slot, s, last_time, False)
        return 0
    drop_frame(f, slot, s, SKIP_LOST)
    f.side[s, S_MODE] = M_SEARCH
    f.side[s, S_REASON] = SKIP_LOST
    f.side[s, S_LOSSES] += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def end_provisional_frame(f: FramingState, slot: i64, s: i64, last_time: i64, at_end: cython.bint) -> cython.int:
    """A frame of the trial is complete: it is kept, and all of them are judged."""
    place: i64
    step: i64 = correlation_step(f, s, word_at(f, s, 1))
    if f.trials == 0:
        make_provisional_pool(f)
    place = f.free_trial
    if place < 0:
        reject_provisional(f, slot, s)
        return 0
    f.free_trial = f.trial[place, T_NEXT]
    f.trial[place, T_TIME] = f.side[s, S_TIME]
    f.trial[place, T_LAST_TIME] = last_time
    f.trial[place, T_NUMBER] = f.side[s, S_NUMBER]
    f.trial[place, T_SEQ] = f.side[s, S_SEQ]
    f.trial[place, T_TOTAL] = f.side[s, S_TOTAL]
    f.trial[place, T_FRAMED] = f.side[s, S_FRAMED]
    f.trial[place, T_CORRELATION] = word_at(f, s, 1)
    f.trial[place, T_NEXT] = -1
    if f.side[s, S_TRIAL_FIRST] < 0:
        f.side[s, S_TRIAL_FIRST] = place
    else:
        f.trial[f.side[s, S_TRIAL_LAST], T_NEXT] = place
    f.side[s, S_TRIAL_STEPS] += step > 0
    if is_api_versions_reply(f, s):
        f.side[s, S_TRIAL_STEPS] += TRIAL_PROOF - 1
    f.side[s, S_TRIAL_BACK] += step < 0
    f.side[s, S_TRIAL_UNLIKE] += not is_like_zookeeper(f, s)
    f.side[s, S_TRIAL_LAST] = place
    f.side[s, S_TRIAL_COUNT] += 1
    f.side[s, S_TRIAL_BYTES] += f.side[s, S_FRAMED]
    clear_frame(f, s)
    f.side[s, S_TRIAL_SURE] = is_proven(f, slot, s, at_end)
    if f.side[s, S_TRIAL_COUNT] == LONGEST_TRIAL and not f.side[s, S_TRIAL_SURE]:
        if is_other_side_silent(f, slot, s):
            f.side[s, S_TRIAL_SURE] = 1  # as far as this connection goes: see `_ends_in_replies`
        else:
            reject_provisional(f, slot, s)
    return 0
