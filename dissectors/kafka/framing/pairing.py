"""Pairs each reply with its request.

The oldest request of the same correlation id is meant (a broker answers in order, ids may repeat), but not across a loss
of replies. Older requests that a reply overtakes end without a reply where a loss or unseen acks explain it.

Known weakness: where a client uses one correlation id for requests that it does not wait for, and some of their replies
are lost, the others may be given to the wrong ones.
"""

import cython

from dissectors.kafka.framing.frame_rows import write_ended_request, write_orphan_columns
from dissectors.kafka.framing.headers import is_known_header
from dissectors.kafka.framing.in_flight import (
    add_request,
    has_facts_for_others,
    is_near_correlation,
    remove_oldest,
    remove_request,
)
from dissectors.kafka.framing.produce_header import produce_acks
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import int16_at, int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def take_request(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, held: i64) -> cython.int:
    row: i64 = f.out_used
    key: i64 = int16_at(f, buffer, at + 4)
    version: i64 = int16_at(f, buffer, at + 6)
    acks: i64 = 1
    f.talk[slot, TALK_REQUESTS] += 1
    if f.talk[slot, TALK_CHAINED] == 0 and is_known_header(f, buffer, at, held, f.side[s, S_TOTAL]):
        if f.talk[slot, TALK_PROTOCOL] == PROTOCOL_UNKNOWN:
            f.talk[slot, TALK_PROTOCOL] = PROTOCOL_KAFKA
        f.talk[slot, TALK_CHAINED] += f.talk[slot, TALK_REQUESTS] > 1 and not f.side[s, S_GUESSED]
    f.out[FRAME_EVENT, row] = FRAME_REQUEST_SEEN
    f.out[FRAME_KEY, row] = key
    f.out[FRAME_VERSION, row] = version
    f.out[FRAME_CORRELATION, row] = int32_at(f, buffer, at + 8)
    f.out[FRAME_STATUS, row] = STATUS_PENDING
    f.side[s, S_CORRELATION] = f.out[FRAME_CORRELATION, row]
    if has_facts_for_others(key):
        f.talk[slot, C_SPECIAL] += 1
        if key == 17 and version == 0:
            f.talk[slot, C_TOKENS] = TOKENS_ASKED
    elif key == 0:
        acks = produce_acks(f, version, buffer, at, at + held)
    if acks == 0:
        f.out[FRAME_REQUEST, row] = UNKNOWN
        f.out[FRAME_STATUS, row] = STATUS_NO_REPLY_EXPECTED
    else:
        add_request(f, slot, row, acks == UNKNOWN)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def pair_reply(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, held: i64) -> cython.bint:
    """Pairs a reply with the oldest outstanding request of its correlation id; false: this is no reply at all."""
    row: i64 = f.out_used
    correlation: i64 = int32_at(f, buffer, at + 4)
    before: i64 = -1
    place: i64 = f.talk[slot, C_FIRST]
    f.out[FRAME_CORRELATION, row] = correlation
    f.overtaken = -1
    while place >= 0 and (f.wait[place, W_CORRELATION] != correlation or f.wait[place, W_KEY] == TOKEN_WAITS):
        before = place
        place = f.wait[place, W_NEXT]
    if place < 0:
        if is_stray_reply(f, slot, s, correlation):
            return False
        f.side[s, S_CORRELATION] = correlation
        write_orphan_columns(f, slot)
        return True
    f.side[s, S_CORRELATION] = correlation
    if f.side[s, S_LOSSES] != f.wait[place, W_LOSSES]:
        before = request_after_loss(f, s, place, before)
        place = f.talk[slot, C_FIRST] if before < 0 else f.wait[before, W_NEXT]
    f.talk[slot, TALK_REPLIES] += 1
    f.out[FRAME_EVENT, row] = FRAME_REPLY_SEEN
    f.out[FRAME_KEY, row] = f.wait[place, W_KEY]
    f.out[FRAME_VERSION, row] = f.wait[place, W_VERSION]
    f.out[FRAME_REQUEST, row] = place
    f.out[FRAME_ID, row] = f.wait[place, W_ID]
    if f.wait[place, W_KEY] == 17 and f.wait[place, W_VERSION] == 0 and held >= 10:
        if int16_at(f, buffer, at + 8) != 0:
            f.talk[slot, C_TOKENS] = TOKENS_NONE
        elif f.talk[slot, C_TOKENS] != TOKENS_ON:
            f.talk[slot, C_TOKENS] = TOKENS_NEXT
    f.overtaken = before
    remove_request(f, slot, before, place)
    return True


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def request_after_loss(f: FramingState, s: i64, place: i64, before: i64) -> i64:
    """The predecessor of the request that a reply is for, when replies are missing since request `place` was sent.

    Clients that use one id again and again wait for each reply: then the request that was sent after the loss is meant.
    """
    correlation: i64 = f.wait[place, W_CORRELATION]
    found: i64 = before
    while place >= 0:
        if (
            f.wait[place, W_CORRELATION] == correlation
            and f.wait[place, W_KEY] != TOKEN_WAITS
            and f.wait[place, W_LOSSES] == f.side[s, S_LOSSES]
        ):
            return before
        before = place
        place = f.wait[place, W_NEXT]
    return found


@cython.cfunc
@cython.exceptval(-1)
def is_stray_reply(f: FramingState, slot: i64, s: i64, correlation: i64) -> cython.bint:
    """Where requests are missing, what nobody asked for may be the answer to a SASL token: believed if its id fits in."""
    # The other side, not the client's: a guess of who that is may have been taken back while this frame came in.
    if f.side[s ^ 1, S_LOSSES] == 0 and not f.talk[slot, C_TOKENS]:
        return False
    return not is_near_correlation(f, slot, correlation)


@cython.cfunc
@cython.exceptval(-1)
def begin_settling(f: FramingState, slot: i64) -> cython.int:
    """A reply came before those of older requests. Where a gap or unseen acks explain it, they are settled."""
    f.settling = slot
    f.settling_losses = f.side[2 * slot + 1 - f.talk[slot, TALK_CLIENT_SIDE], S_LOSSES]
    settle(f)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def settle(f: FramingState) -> cython.bint:
    """Goes on with `_overtaken`; false: the output is full, and nothing else may be read before this is done."""
    first: i64
    while f.overtaken >= 0:
        first = f.talk[f.settling, C_FIRST]
        if f.settling_losses <= f.wait[first, W_LOSSES] and not f.wait[first, W_ACKS_UNSEEN]:
            break
        if f.out_used >= f.out_size:
            f.why = WHY_OUTPUT_FULL
            return False
        if f.settling_losses > f.wait[first, W_LOSSES]:
            write_ended_request(f, f.settling, first, STATUS_REPLY_LOST)
        else:
            write_ended_request(f, f.settling, first, STATUS_NO_REPLY_EXPECTED)
        remove_oldest(f, f.settling)
        if first == f.overtaken:
            f.overtaken = -1
    f.settling = -1
    return True


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def end_status(f: FramingState, slot: i64, place: i64) -> i64:
    reply_side: i64 = 2 * slot + 1 - f.talk[slot, TALK_CLIENT_SIDE]
    if f.side[reply_side, S_LOSSES] > f.wait[place, W_LOSSES]:
        return STATUS_REPLY_LOST
    if not f.talk[slot, C_ENDED]:
        return STATUS_PENDING
    if (
        f.talk[slot, C_END_TIME] != UNKNOWN
        and f.wait[place, W_LAST_TIME] != UNKNOWN
        and f.talk[slot, C_END_TIME] - f.wait[place, W_LAST_TIME] >= ABANDON_NS
    ):
        return STATUS_ABANDONED
    return STATUS_CLOSED
