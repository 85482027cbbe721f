"""Pairs each reply with its request.

The oldest request of the same correlation id is meant (a broker answers in order, ids may repeat), but not across a loss
of replies. Older requests that a reply overtakes end without a reply where a loss or unseen acks explain it.

Known weakness: where a client uses one correlation id for requests that it does not wait for, and some of their replies
are lost, the others may be given to the wrong ones.
"""

import cython

from dissectors.kafka.framing.frame_rows import write_ended_request, write_orphan_columns
from dissectors.kafka.framing.in_flight import (
    add_request,
    is_near_correlation,
    needs_other_messages,
    remove_oldest,
    remove_request,
)
from dissectors.kafka.framing.produce_header import produce_acks
from dissectors.kafka.framing.request_headers import is_known_header
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import int16_at, int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def take_request(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, kept: i64) -> cython.int:
    """Writes the columns of a request; unless it expects no reply (Produce with acks=0) it is in flight from now on."""
    row: i64 = f.out_used
    key: i64 = int16_at(f, buffer, at + 4)
    version: i64 = int16_at(f, buffer, at + 6)
    acks: i64 = 1
    f.conn[slot, FRAMING_REQUESTS] += 1
    if f.conn[slot, FRAMING_CHAINED] == 0 and is_known_header(f, buffer, at, kept, f.side[s, SIDE_FRAME_SIZE]):
        if f.conn[slot, FRAMING_PROTOCOL] == PROTOCOL_UNKNOWN:
            f.conn[slot, FRAMING_PROTOCOL] = PROTOCOL_KAFKA
        f.conn[slot, FRAMING_CHAINED] += f.conn[slot, FRAMING_REQUESTS] > 1 and not f.side[s, SIDE_GUESSED]
    f.out[FRAME_EVENT, row] = FRAME_REQUEST_SEEN
    f.out[FRAME_KEY, row] = key
    f.out[FRAME_VERSION, row] = version
    f.out[FRAME_CORRELATION, row] = int32_at(f, buffer, at + 8)
    f.out[FRAME_STATUS, row] = STATUS_PENDING
    f.side[s, SIDE_CORRELATION] = f.out[FRAME_CORRELATION, row]
    if needs_other_messages(key):
        f.conn[slot, CONN_SPECIAL] += 1
        if key == 17 and version == 0:
            f.conn[slot, CONN_TOKENS] = TOKENS_HANDSHAKE_SENT
    elif key == 0:
        acks = produce_acks(f, version, buffer, at, at + kept)
    if acks == 0:
        f.out[FRAME_REQUEST, row] = UNKNOWN
        f.out[FRAME_STATUS, row] = STATUS_NO_REPLY_EXPECTED
    else:
        add_request(f, slot, row, acks == UNKNOWN)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def pair_reply(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, kept: i64) -> cython.bint:
    """Pairs a reply with the oldest request in flight of its correlation id; false: the frame is no reply."""
    row: i64 = f.out_used
    correlation: i64 = int32_at(f, buffer, at + 4)
    before: i64 = -1
    index: i64 = f.conn[slot, CONN_OLDEST_REQUEST]
    f.out[FRAME_CORRELATION, row] = correlation
    f.overtaken = -1
    while index >= 0 and (
        f.requests[index, REQUEST_CORRELATION] != correlation or f.requests[index, REQUEST_KEY] == TOKEN_REQUEST_KEY
    ):
        before = index
        index = f.requests[index, REQUEST_NEXT]
    if index < 0:
        if is_stray_reply(f, slot, s, correlation):
            return False
        f.side[s, SIDE_CORRELATION] = correlation
        write_orphan_columns(f, slot)
        return True
    f.side[s, SIDE_CORRELATION] = correlation
    if f.side[s, SIDE_LOSSES] != f.requests[index, REQUEST_LOSSES]:
        before = request_after_loss(f, s, index, before)
        index = f.conn[slot, CONN_OLDEST_REQUEST] if before < 0 else f.requests[before, REQUEST_NEXT]
    if f.side[s, SIDE_LOSSES] != f.requests[index, REQUEST_LOSSES]:
        f.out[FRAME_END_MARKS, row] |= MARK_BEHIND_LOST
    if before >= 0 and f.conn[slot, FRAMING_REPLIES] == 0 and not f.conn[slot, CONN_FROM_SYN]:
        f.side[s, SIDE_LOSSES] += 1  # replies to what was asked before came by before the first byte that was captured
    f.conn[slot, FRAMING_REPLIES] += 1
    f.out[FRAME_EVENT, row] = FRAME_REPLY_SEEN
    f.out[FRAME_KEY, row] = f.requests[index, REQUEST_KEY]
    f.out[FRAME_VERSION, row] = f.requests[index, REQUEST_VERSION]
    f.out[FRAME_REQUEST, row] = index
    f.out[FRAME_ID, row] = f.requests[index, REQUEST_ID]
    if f.requests[index, REQUEST_KEY] == 17 and f.requests[index, REQUEST_VERSION] == 0 and kept >= 10:
        if int16_at(f, buffer, at + 8) != 0:
            f.conn[slot, CONN_TOKENS] = TOKENS_NONE
        elif f.conn[slot, CONN_TOKENS] != TOKENS_ON:
            f.conn[slot, CONN_TOKENS] = TOKENS_NEXT
    f.overtaken = before
    remove_request(f, slot, before, index)
    return True


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def request_after_loss(f: FramingState, s: i64, index: i64, before: i64) -> i64:
    """The predecessor of the request that a reply answers, where replies were lost after request `index` was sent.

    A client that uses one correlation id again and again waits for each reply: the request that was sent after the loss is meant.
    """
    correlation: i64 = f.requests[index, REQUEST_CORRELATION]
    found: i64 = before
    while index >= 0:
        if (
            f.requests[index, REQUEST_CORRELATION] == correlation
            and f.requests[index, REQUEST_KEY] != TOKEN_REQUEST_KEY
            and f.requests[index, REQUEST_LOSSES] == f.side[s, SIDE_LOSSES]
        ):
            return before
        before = index
        index = f.requests[index, REQUEST_NEXT]
    return found


@cython.cfunc
@cython.exceptval(-1)
def is_stray_reply(f: FramingState, slot: i64, s: i64, correlation: i64) -> cython.bint:
    """Is a reply that no request in flight asked for none at all? Where requests were lost it may be a SASL token of the broker:
    it is a reply only if its correlation id is near others."""
    # Not FRAMING_CLIENT_SIDE: the guess who is the client may have been taken back while this frame came in.
    if f.side[s ^ 1, SIDE_LOSSES] == 0 and not f.conn[slot, CONN_TOKENS]:
        return False
    return not is_near_correlation(f, slot, correlation)


@cython.cfunc
@cython.exceptval(-1)
def begin_settling(f: FramingState, slot: i64) -> cython.int:
    """A reply came before those of older requests: these end without one where a loss or unseen acks explain it."""
    f.settling = slot
    f.settling_losses = f.side[2 * slot + 1 - f.conn[slot, FRAMING_CLIENT_SIDE], SIDE_LOSSES]
    settle(f)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def settle(f: FramingState) -> cython.bint:
    """Ends overtaken requests; false: the output is full, and nothing else may be read before this is done."""
    first: i64
    while f.overtaken >= 0:
        first = f.conn[f.settling, CONN_OLDEST_REQUEST]
        if f.settling_losses <= f.requests[first, REQUEST_LOSSES] and not f.requests[first, REQUEST_ACKS_UNSEEN]:
            break
        if f.out_used >= f.out_size:
            f.why = WHY_OUTPUT_FULL
            return False
        if f.settling_losses > f.requests[first, REQUEST_LOSSES]:
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
def end_status(f: FramingState, slot: i64, index: i64) -> i64:
    """STATUS_ of a request that is still in flight when its connection closes.

    Abandoned: the client closed first, about a request timeout after it had asked.
    """
    reply_side: i64 = 2 * slot + 1 - f.conn[slot, FRAMING_CLIENT_SIDE]
    if f.side[reply_side, SIDE_LOSSES] > f.requests[index, REQUEST_LOSSES]:
        return STATUS_REPLY_LOST
    if not f.conn[slot, CONN_ENDED]:
        return STATUS_PENDING
    if (
        f.conn[slot, CONN_CLIENT_END_TIME] != UNKNOWN
        and f.requests[index, REQUEST_LAST_TIME] != UNKNOWN
        and f.conn[slot, CONN_CLIENT_END_TIME] - f.requests[index, REQUEST_LAST_TIME] >= ABANDON_NS
    ):
        return STATUS_ABANDONED
    return STATUS_CLOSED
