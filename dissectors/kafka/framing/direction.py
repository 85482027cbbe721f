"""Who is the client, and whether this is Kafka: guesses from content, and how they are taken back.

`--ports` and the SYN overrule content. A guess is proved by a reply that matches or by a header right behind a frame.
"""

import cython

from dissectors.kafka.framing.accounting import leave_first_bytes, leave_unread
from dissectors.kafka.framing.in_flight import is_expected_reply_at, is_request_side, remove_oldest
from dissectors.kafka.framing.other_protocols import is_gssapi, is_tls, is_zookeeper, text_answer
from dissectors.kafka.framing.pages import clear_frame, drop_frame
from dissectors.kafka.framing.provisional_frames import drop_provisional
from dissectors.kafka.framing.request_headers import (
    is_likely_request,
    is_one_frame,
    is_request_at,
    is_small_header,
    may_be_request,
)
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def is_client_proven(f: FramingState, slot: i64) -> cython.bint:
    """Is it more than a guess who is the client?"""
    return (
        f.conn[slot, FRAMING_REPLIES] > 0
        or f.conn[slot, FRAMING_CHAINED] > 0
        or f.conn[slot, CONN_FROM_SYN] != 0
        or f.conn[slot, CONN_FORCED] != 0
    )


@cython.cfunc
@cython.exceptval(-1)
def take_back_client(f: FramingState, slot: i64, s: i64) -> cython.int:
    """Takes back the guess that side `s` is the client's, and the requests that were read from it.

    None of them has had a reply, which would have proved the guess, so all are in flight, and no exchange of theirs has left: they
    end nowhere. Only requests that expect no reply are exchanges already, and stay.
    """
    drop_frame(f, slot, s, SKIP_UNSYNCED)
    drop_provisional(f, slot, s)
    f.side[s, SIDE_MODE] = MODE_SEARCH
    while f.conn[slot, CONN_OLDEST_REQUEST] >= 0:
        remove_oldest(f, slot)
        f.conn[slot, FRAMING_REQUESTS] -= 1
    if f.conn[slot, FRAMING_REQUESTS] <= 0:
        f.conn[slot, FRAMING_REQUESTS] = 0
        f.conn[slot, FRAMING_SKIPPED + 2 * SKIP_UNSYNCED + (s & 1)] += f.conn[slot, FRAMING_FRAMED + (s & 1)]
        f.conn[slot, FRAMING_FRAMED + (s & 1)] = 0
    f.conn[slot, FRAMING_CLIENT_SIDE] = UNKNOWN
    return 0


@cython.cfunc
@cython.exceptval(-1)
def is_boundary_at(
    f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64, first: cython.bint
) -> cython.bint:
    """Can a frame begin at `at`, and another one where it ends (if that is here)? `first`: `at` is the start of a chunk.

    It may settle who is the client, or take that back.
    """
    size: i64
    if f.conn[slot, FRAMING_CLIENT_SIDE] == UNKNOWN and f.conn[slot, CONN_FROM_SYN] and (s & 1) == 1:
        # The sender of the SYN is the client, though its first request was lost.
        f.conn[slot, FRAMING_CLIENT_SIDE] = 0
    if f.conn[slot, FRAMING_CLIENT_SIDE] == UNKNOWN or is_request_side(f, slot, s):
        return is_likely_request(f, buffer, at, end, first)
    if is_expected_reply_at(f, slot, buffer, at, end):
        size = 4 + int32_at(f, buffer, at)
        if not first and at + size > end and int32_at(f, buffer, at + 4) < SMALL_CORRELATION:
            return False  # nothing tells it from numbers of a body
        return at + size + 8 > end or is_expected_reply_at(f, slot, buffer, at + size, end)
    if first and not is_client_proven(f, slot) and is_likely_request(f, buffer, at, end, True):
        # Nothing has proved yet who is the client, and here a request begins: it was the wrong side.
        take_back_client(f, slot, 2 * slot + 1 - (s & 1))
        return True
    return False


@cython.cfunc
@cython.exceptval(-1)
def begin_frames(f: FramingState, slot: i64, s: i64) -> cython.int:
    """A frame begins with the next byte of this side; unless known, its sender is the client from now on."""
    if f.conn[slot, FRAMING_CLIENT_SIDE] == UNKNOWN:
        f.conn[slot, FRAMING_CLIENT_SIDE] = s & 1
    f.side[s, SIDE_MODE] = MODE_FRAMES
    f.side[s, SIDE_LOSSES] += f.side[s, SIDE_SEARCHED] > 0  # whole frames may have been skipped
    f.side[s, SIDE_SEARCHED] = 0
    f.side[s, SIDE_GUESSED] = 0
    clear_frame(f, s)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_first_bytes(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Judges the first bytes of a direction; true when they settled its mode. It takes no bytes."""
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    end: i64 = base + chunks[CHUNK_LENGTH, row]
    forced: cython.bint = f.conn[slot, CONN_FORCED] != 0 and f.conn[slot, CONN_FROM_SYN] != 0
    if not forced and is_tls(f, buffer, base, end):
        leave_unread(f, slot, PROTOCOL_TLS)
        return True
    if not f.conn[slot, CONN_FROM_SYN] or f.side[s, SIDE_LOSSES]:
        return False
    if (s & 1) == 1 and not is_request_side(f, slot, s):
        f.conn[slot, FRAMING_ANSWER] = text_answer(f, buffer, base, end)
        if f.conn[slot, FRAMING_ANSWER] != UNKNOWN:
            f.side[s, SIDE_MODE] = MODE_NOT_KAFKA
            return True
    if f.conn[slot, FRAMING_CLIENT_SIDE] == UNKNOWN and (s & 1) == 0:
        # Fewer bytes than a header needs are believed for now: the whole header is judged when it is there.
        if is_gssapi(f, buffer, base, end):
            f.conn[slot, CONN_TOKENS] = TOKENS_NEXT
            begin_frames(f, slot, s)
        elif is_zookeeper(f, buffer, base, end):
            leave_unread(f, slot, PROTOCOL_OTHER)
        elif not (
            is_request_at(f, buffer, base, end, False)
            or is_one_frame(f, buffer, base, end)
            or (end - base < 14 and may_be_request(f, buffer, base, end))
        ):
            leave_first_bytes(f, slot)
        else:
            begin_frames(f, slot, s)
        return True
    if f.conn[slot, FRAMING_CLIENT_SIDE] != UNKNOWN:
        if is_request_side(f, slot, s) and not (
            end - base < 14 or is_small_header(f, buffer, base) or is_gssapi(f, buffer, base, end)
        ):
            if forced:
                return False  # `--ports` says Kafka, these bytes do not: it is looked for everywhere behind them
            leave_first_bytes(f, slot)
            return True
        begin_frames(f, slot, s)
        return True
    return False
