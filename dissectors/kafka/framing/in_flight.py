"""Requests in flight: those of a connection that wait for their replies, oldest first.

They lie in one pool for all connections, chained by index. The index stands in the rows of a request and of its reply,
so that a later stage can join the two.
"""

import cython

from dissectors.kafka.framing.accounting import note_frame_problem
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import int32_at
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
def is_request_side(f: FramingState, slot: i64, s: i64) -> cython.bint:
    return f.talk[slot, TALK_CLIENT_SIDE] == (s & 1)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def add_request(f: FramingState, slot: i64, row: i64, acks_unseen: cython.bint) -> cython.int:
    """Puts the request of this row behind the connection's other outstanding ones."""
    place: i64 = f.free_place
    f.free_place = f.wait[place, W_NEXT]
    f.free_places -= 1
    f.wait[place, W_CORRELATION] = f.out[FRAME_CORRELATION, row]
    f.wait[place, W_KEY] = TOKEN_WAITS if f.out[FRAME_EVENT, row] == FRAME_TOKEN_SEEN else f.out[FRAME_KEY, row]
    f.wait[place, W_VERSION] = f.out[FRAME_VERSION, row]
    f.wait[place, W_LAST_TIME] = f.out[FRAME_LAST_TIME, row]
    f.wait[place, W_ID] = f.out[FRAME_ID, row]
    f.wait[place, W_LOSSES] = f.side[2 * slot + 1 - f.talk[slot, TALK_CLIENT_SIDE], S_LOSSES]
    f.wait[place, W_ACKS_UNSEEN] = acks_unseen
    append_request(f, slot, place)
    f.out[FRAME_REQUEST, row] = place
    if f.talk[slot, C_WAITING] > MOST_WAITING:
        # Replies of this connection are not in the capture; the oldest request makes room.
        note_frame_problem(f, PROBLEM_TOO_MANY_WAITING, 2 * slot + f.talk[slot, TALK_CLIENT_SIDE], 0, MOST_WAITING)
        f.crowded = True
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def append_request(f: FramingState, slot: i64, place: i64) -> cython.int:
    """Makes `place` the newest outstanding request of the connection."""
    f.wait[place, W_NEXT] = -1
    if f.talk[slot, C_LAST] < 0:
        f.talk[slot, C_FIRST] = place
    else:
        f.wait[f.talk[slot, C_LAST], W_NEXT] = place
    f.talk[slot, C_LAST] = place
    f.talk[slot, C_WAITING] += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def remove_oldest(f: FramingState, slot: i64) -> cython.int:
    remove_request(f, slot, -1, f.talk[slot, C_FIRST])
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def remove_request(f: FramingState, slot: i64, before: i64, place: i64) -> cython.int:
    """Takes `place` out of the connection's chain; `before` is its predecessor or -1."""
    following: i64 = f.wait[place, W_NEXT]
    if before < 0:
        f.talk[slot, C_FIRST] = following
    else:
        f.wait[before, W_NEXT] = following
    if following < 0:
        f.talk[slot, C_LAST] = before
    f.talk[slot, C_WAITING] -= 1
    f.wait[place, W_NEXT] = f.free_place
    f.free_place = place
    f.free_places += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def is_in_flight(f: FramingState, slot: i64, correlation: i64) -> cython.bint:
    """Is a request with this id outstanding?"""
    place: i64 = f.talk[slot, C_FIRST]
    while place >= 0:
        if f.wait[place, W_KEY] != TOKEN_WAITS and f.wait[place, W_CORRELATION] == correlation:
            return True
        place = f.wait[place, W_NEXT]
    return False


@cython.cfunc
@cython.exceptval(-1)
def is_expected_reply_at(f: FramingState, slot: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Do the bytes from `at` look like the reply to an outstanding request?"""
    total: i64
    if end - at < 8:
        return False
    total = 4 + int32_at(f, buffer, at)
    return 8 <= total <= LONGEST_SYNC_FRAME and is_in_flight(f, slot, int32_at(f, buffer, at + 4))


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_token_reply_due(f: FramingState, slot: i64) -> cython.bint:
    first: i64 = f.talk[slot, C_FIRST]
    return first >= 0 and f.wait[first, W_KEY] == TOKEN_WAITS


@cython.cfunc
@cython.exceptval(-1)
def is_near_correlation(f: FramingState, slot: i64, correlation: i64) -> cython.bint:
    """Is this id near one that the connection has used?"""
    s: i64
    last: i64
    for s in range(2 * slot, 2 * slot + 2):
        last = f.side[s, S_CORRELATION]
        if last != UNKNOWN and (-LONGEST_STEP <= correlation - last <= LONGEST_STEP or last >= RESERVED):
            return True
    return correlation >= RESERVED


@cython.cfunc
@cython.exceptval(check=False)
def has_facts_for_others(key: i64) -> cython.bint:
    """JoinGroup and SyncGroup, SaslHandshake and SaslAuthenticate: facts of one need what others told."""
    return key == 11 or key == 14 or key == 17 or key == 36
