"""Provisional replies as they are stored, accepted and rejected.

Replies whose requests are not in the capture are held back as numbers until there is proof that they are replies.
Accepted, they leave as rows of orphans, without their bodies; rejected, their bytes count as skipped.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped
from dissectors.kafka.framing.frame_rows import write_columns, write_orphan_columns
from dissectors.kafka.framing.ids import identity
from dissectors.kafka.framing.pages import append_bytes, drop_frame
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def word_at(f: FramingState, s: i64, number: i64) -> i64:
    value: i64 = f.side[s, S_WORDS + number]
    return value - TWO_32 if value >= TWO_31 else value


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def correlation_step(f: FramingState, s: i64, correlation: i64) -> i64:
    """How far an id is from that of the trial's last frame: 0 for the first, and into or out of the reserved ones."""
    last: i64 = f.side[s, S_TRIAL_LAST]
    if last < 0:
        return 0
    last = f.trial[last, T_CORRELATION]
    return 0 if (last >= RESERVED) != (correlation >= RESERVED) else correlation - last


@cython.cfunc
@cython.exceptval(-1)
def is_next_correlation(f: FramingState, s: i64, correlation: i64) -> cython.bint:
    """Does an id go on from that of the trial's last frame? Java clients take one for ApiVersions and send it before
    others, so one step may go back."""
    step: i64 = correlation_step(f, s, correlation)
    return 0 <= step <= LONGEST_STEP or (-LONGEST_STEP <= step < 0 and f.side[s, S_TRIAL_BACK] == 0)


@cython.cfunc
@cython.exceptval(-1)
def is_other_side_silent(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Is there nothing of the other side?"""
    return (
        f.talk[slot, TALK_REQUESTS] == 0
        and f.talk[slot, TALK_STREAM + 1 - (s & 1)] == 0
        and f.side[s ^ 1, S_TRIAL_COUNT] == 0
    )


@cython.cfunc
@cython.exceptval(-1)
def drop_provisional(f: FramingState, slot: i64, s: i64) -> cython.int:
    """Forgets the frames of a trial, if there is one; their bytes count as skipped."""
    place: i64 = f.side[s, S_TRIAL_FIRST]
    following: i64
    if place < 0:
        return 0
    count_skipped(f, slot, s, f.side[s, S_REASON], f.side[s, S_TRIAL_BYTES])
    while place >= 0:
        following = f.trial[place, T_NEXT]
        f.trial[place, T_NEXT] = f.free_trial
        f.free_trial = place
        place = following
    clear_provisional(f, s)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def clear_provisional(f: FramingState, s: i64) -> cython.int:
    f.side[s, S_TRIAL_FIRST] = -1
    f.side[s, S_TRIAL_LAST] = -1
    f.side[s, S_TRIAL_COUNT] = 0
    f.side[s, S_TRIAL_BYTES] = 0
    f.side[s, S_TRIAL_UNLIKE] = 0
    f.side[s, S_TRIAL_STEPS] = 0
    f.side[s, S_TRIAL_BACK] = 0
    f.side[s, S_TRIAL_SURE] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
def reject_provisional(f: FramingState, slot: i64, s: i64) -> cython.int:
    """The trial is lost: its bytes were searched in vain."""
    f.side[s, S_SEARCHED] += f.side[s, S_TRIAL_BYTES] + f.side[s, S_FRAMED]
    drop_frame(f, slot, s, f.side[s, S_REASON])
    drop_provisional(f, slot, s)
    f.side[s, S_MODE] = M_SEARCH
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_provisional(f: FramingState, slot: i64, s: i64, place: i64) -> cython.int:
    """The row of one frame of a trial. Its bytes are gone: there is nothing in it that could be read without its key."""
    row: i64 = f.out_used
    write_columns(f, slot, s, OWN_HEAP, -4, 4, f.trial[place, T_LAST_TIME])
    f.out[FRAME_LENGTH, row] = f.trial[place, T_TOTAL] - 4
    f.out[FRAME_FIRST_TIME, row] = f.trial[place, T_TIME]
    f.out[FRAME_NUMBER, row] = f.trial[place, T_NUMBER]
    f.out[FRAME_SEQ, row] = f.trial[place, T_SEQ]
    f.out[FRAME_ID, row] = identity(f.talk[slot, TALK_FLOW], f.trial[place, T_TIME], f.trial[place, T_SEQ])
    write_orphan_columns(f, slot)
    f.out[FRAME_CORRELATION, row] = f.trial[place, T_CORRELATION]
    f.out[FRAME_DECODED, row] = DECODED_HEADER
    f.side[s, S_CORRELATION] = f.trial[place, T_CORRELATION]
    f.talk[slot, TALK_STREAM + (s & 1)] += f.trial[place, T_FRAMED]
    f.talk[slot, TALK_FRAMED + (s & 1)] += f.trial[place, T_FRAMED]
    f.out_used += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def keep_header(f: FramingState, s: i64) -> cython.int:
    """The trial was won by the header of a frame that lies across two chunks: now its bytes are wanted."""
    i: i64
    count: i64 = f.side[s, S_HELD]
    f.side[s, S_HELD] = 0
    if count == f.side[s, S_PASSED] and f.heap_used + count <= f.heap_size:
        for i in range(count):
            f.heap[f.heap_used + i] = cython.cast(
                cython.uchar, (f.side[s, S_WORDS + (i >> 2)] >> (8 * (3 - (i & 3)))) & 255
            )
        f.side[s, S_PASSED] = 0
        append_bytes(f, OWN_HEAP, f.heap_used, count, s)
        f.side[s, S_PASSED] = count
    return 0


@cython.cfunc
@cython.exceptval(-1)
def accept_provisional(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """The frames of the trial leave as rows; false: the output is full, come again."""
    following: i64
    place: i64 = f.side[s, S_TRIAL_FIRST]
    f.side[s, S_TRIAL_SURE] = 1
    if f.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN:
        f.talk[slot, TALK_CLIENT_SIDE] = 1 - (s & 1)
    if f.talk[slot, TALK_PROTOCOL] == PROTOCOL_UNKNOWN:
        f.talk[slot, TALK_PROTOCOL] = PROTOCOL_KAFKA
    while place >= 0:
        if f.out_used + 2 > f.out_size:
            f.why = WHY_OUTPUT_FULL
            return False
        write_provisional(f, slot, s, place)
        following = f.trial[place, T_NEXT]
        f.trial[place, T_NEXT] = f.free_trial
        f.free_trial = place
        place = following
        f.side[s, S_TRIAL_FIRST] = place
    clear_provisional(f, s)
    if f.side[s, S_MODE] == M_TRIAL:
        f.side[s, S_MODE] = M_FRAMES
        f.side[s, S_SEARCHED] = 0
        f.side[s, S_GUESSED] = 0
        keep_header(f, s)
    return True
