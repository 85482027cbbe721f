"""Requests in flight: those of a connection that wait for their replies, oldest first.

They lie in one pool for all connections, each chain linked by index. The index is in the row of a request and in that of
its reply (FRAME_REQUEST), so that a later stage can join the two. Bare SASL tokens wait for their answers in the same chain.
"""

import cython

from dissectors.kafka.framing.accounting import note_frame_problem
from dissectors.kafka.framing.request_headers import may_begin_body
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import int32_at
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
def is_request_side(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Is this the client's side, as far as that is known?"""
    return f.conn[slot, FRAMING_CLIENT_SIDE] == (s & 1)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def add_request(f: FramingState, slot: i64, row: i64, acks_unseen: cython.bint) -> cython.int:
    """Puts the request of this frame row behind the connection's others in flight."""
    index: i64 = f.free_request
    f.free_request = f.requests[index, REQUEST_NEXT]
    f.free_requests -= 1
    f.requests[index, REQUEST_CORRELATION] = f.out[FRAME_CORRELATION, row]
    f.requests[index, REQUEST_KEY] = (
        TOKEN_REQUEST_KEY if f.out[FRAME_EVENT, row] == FRAME_TOKEN_SEEN else f.out[FRAME_KEY, row]
    )
    f.requests[index, REQUEST_VERSION] = f.out[FRAME_VERSION, row]
    f.requests[index, REQUEST_LAST_TIME] = f.out[FRAME_LAST_TIME, row]
    f.requests[index, REQUEST_ID] = f.out[FRAME_ID, row]
    f.requests[index, REQUEST_LOSSES] = f.side[2 * slot + 1 - f.conn[slot, FRAMING_CLIENT_SIDE], SIDE_LOSSES]
    f.requests[index, REQUEST_ACKS_UNSEEN] = acks_unseen
    append_request(f, slot, index)
    f.out[FRAME_REQUEST, row] = index
    if f.conn[slot, CONN_IN_FLIGHT] > MOST_IN_FLIGHT:
        # The replies of this connection are not in the capture: the oldest request makes room, in `finish_frame`.
        note_frame_problem(f, PROBLEM_TOO_MANY_WAITING, 2 * slot + f.conn[slot, FRAMING_CLIENT_SIDE], 0, MOST_IN_FLIGHT)
        f.crowded = True
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def append_request(f: FramingState, slot: i64, index: i64) -> cython.int:
    """Makes `index` the newest request in flight of the connection."""
    f.requests[index, REQUEST_NEXT] = -1
    if f.conn[slot, CONN_NEWEST_REQUEST] < 0:
        f.conn[slot, CONN_OLDEST_REQUEST] = index
    else:
        f.requests[f.conn[slot, CONN_NEWEST_REQUEST], REQUEST_NEXT] = index
    f.conn[slot, CONN_NEWEST_REQUEST] = index
    f.conn[slot, CONN_IN_FLIGHT] += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def remove_oldest(f: FramingState, slot: i64) -> cython.int:
    remove_request(f, slot, -1, f.conn[slot, CONN_OLDEST_REQUEST])
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def remove_request(f: FramingState, slot: i64, before: i64, index: i64) -> cython.int:
    """Takes `index` out of the connection's chain and gives it back to the pool; `before` is its predecessor or -1."""
    following: i64 = f.requests[index, REQUEST_NEXT]
    if before < 0:
        f.conn[slot, CONN_OLDEST_REQUEST] = following
    else:
        f.requests[before, REQUEST_NEXT] = following
    if following < 0:
        f.conn[slot, CONN_NEWEST_REQUEST] = before
    f.conn[slot, CONN_IN_FLIGHT] -= 1
    f.requests[index, REQUEST_NEXT] = f.free_request
    f.free_request = index
    f.free_requests += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def is_in_flight(f: FramingState, slot: i64, correlation: i64) -> cython.bint:
    """Is a request with this correlation id in flight?"""
    index: i64 = f.conn[slot, CONN_OLDEST_REQUEST]
    while index >= 0:
        if (
            f.requests[index, REQUEST_KEY] != TOKEN_REQUEST_KEY
            and f.requests[index, REQUEST_CORRELATION] == correlation
        ):
            return True
        index = f.requests[index, REQUEST_NEXT]
    return False


@cython.cfunc
@cython.exceptval(-1)
def is_expected_reply_at(f: FramingState, slot: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Do a plausible length and the correlation id of a request in flight begin at `at`? False with fewer than 8 bytes."""
    size: i64
    if end - at < 8 or not may_begin_body(f, buffer, at + 8, end):
        return False
    size = 4 + int32_at(f, buffer, at)
    return 8 <= size <= LONGEST_GUESSED_FRAME and is_in_flight(f, slot, int32_at(f, buffer, at + 4))


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_token_reply_due(f: FramingState, slot: i64) -> cython.bint:
    """Is the oldest in flight a bare SASL token?"""
    first: i64 = f.conn[slot, CONN_OLDEST_REQUEST]
    return first >= 0 and f.requests[first, REQUEST_KEY] == TOKEN_REQUEST_KEY


@cython.cfunc
@cython.exceptval(-1)
def is_near_correlation(f: FramingState, slot: i64, correlation: i64) -> cython.bint:
    """Is this correlation id near the newest one of either side?

    Java clients number SASL requests from RESERVED_CORRELATION on: such ids are near any.
    """
    s: i64
    last: i64
    for s in range(2 * slot, 2 * slot + 2):
        last = f.side[s, SIDE_CORRELATION]
        if last != UNKNOWN and (
            -NEAR_CORRELATION <= correlation - last <= NEAR_CORRELATION or last >= RESERVED_CORRELATION
        ):
            return True
    return correlation >= RESERVED_CORRELATION


@cython.cfunc
@cython.exceptval(check=False)
def needs_other_messages(key: i64) -> cython.bint:
    """Does what this message tells (a group, a login) need what earlier ones told? JoinGroup, SyncGroup, SaslHandshake and
    SaslAuthenticate."""
    return key == 11 or key == 14 or key == 17 or key == 36
