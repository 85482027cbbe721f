"""What the request of an exchange waits for, as far as it and its reply tell: the number of its kind, or none.

A kind says whether a wait is the broker's own or asked for (semantics: kinds of wait). What only other exchanges can say, the
history of a fetch session, is left to `analyzer/query/resolve/judged_exchanges.sql`.
"""

import cython

from dissectors.layout import *

# API keys.
PRODUCE = cython.declare(cython.longlong, 0)
FETCH = cython.declare(cython.longlong, 1)
JOIN_GROUP = cython.declare(cython.longlong, 11)
SYNC_GROUP = cython.declare(cython.longlong, 14)
ENVELOPE = cython.declare(cython.longlong, 58)
SHARE_FETCH = cython.declare(cython.longlong, 78)
# A fetch that waited nine tenths of the time that it may wait, in ns of a ms, waited for all of it.
WHOLE_WAIT_NS = cython.declare(cython.longlong, 900000)
MEMBER_ID_REQUIRED = cython.declare(cython.longlong, 79)


def tell(rows: cython.longlong[:, ::1], start: cython.longlong, used: cython.longlong):
    """Sets ROW_KIND of rows [start, used)."""
    row: cython.longlong
    key: cython.longlong
    kind: cython.longlong
    for row in range(start, used):
        key = rows[ROW_KEY, row]
        kind = UNKNOWN
        if rows[ROW_TOKEN, row] == 1:
            kind = KIND_SASL_TOKEN
        elif key == PRODUCE:
            kind = _produce(rows, row)
        elif key == FETCH and rows[ROW_REPLICA_ID, row] >= 0:
            kind = _fetch_of_broker(rows, row)
        elif key in (FETCH, SHARE_FETCH):
            kind = _fetch(rows, row)
        elif key == JOIN_GROUP:
            # A first join without an id is sent back at once, to come again with one (KIP-394).
            if rows[ROW_ERROR_CODE, row] != MEMBER_ID_REQUIRED:
                kind = KIND_JOIN_WAIT
        elif key == SYNC_GROUP:
            kind = KIND_SYNC_WAIT
        elif key in (19, 20, 21, 43, 63):
            # CreateTopics, DeleteTopics, DeleteRecords, ElectLeaders, BrokerHeartbeat: until it is done, or time is up.
            kind = KIND_WAIT
        elif key == ENVELOPE:
            kind = KIND_FORWARDED
        rows[ROW_KIND, row] = kind


@cython.cfunc
@cython.exceptval(-1)
def _produce(rows: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    acks: cython.longlong = rows[ROW_ACKS, row]
    if rows[ROW_STATUS, row] == STATUS_NO_REPLY_EXPECTED or acks == 0:
        return KIND_PRODUCE_ACKS_0
    if acks == 1:
        return KIND_PRODUCE_ACKS_1
    if acks == -1:
        return KIND_PRODUCE_ACKS_ALL
    return KIND_PRODUCE_ACKS_UNKNOWN


@cython.cfunc
@cython.exceptval(-1)
def _fetch_of_broker(rows: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    """KRaft's own fetches have no session and do not wait for bytes; a follower's have, and do."""
    if rows[ROW_SESSION_EPOCH, row] == -1 and rows[ROW_MIN_BYTES, row] == 0:
        return KIND_FETCH_RAFT
    return KIND_FETCH_FOLLOWER


@cython.cfunc
@cython.exceptval(-1)
def _fetch(rows: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    error: cython.longlong = rows[ROW_ERROR_CODE, row]
    # Session and share session errors: the next request opens a new one.
    if error in (70, 71, 106, 122, 123):
        return KIND_FETCH_SESSION
    if error != UNKNOWN and error != 0:
        return KIND_FETCH_ERROR
    if rows[ROW_THROTTLE_MS, row] > 0 and rows[ROW_RECORD_BYTES, row] == 0:
        return KIND_FETCH_THROTTLED
    if _changes_session(rows[ROW_SESSION_EPOCH, row], rows[ROW_SESSION_ID, row]):
        return KIND_FETCH_SESSION
    return _empty_fetch(rows, row)


@cython.cfunc
@cython.exceptval(check=False)
def _changes_session(epoch: cython.longlong, session: cython.longlong) -> cython.bint:
    """Epoch 0 opens a session when the reply gives it an id; -1 closes the one it names."""
    return epoch != UNKNOWN and epoch <= 0 and session != UNKNOWN and session != 0


@cython.cfunc
@cython.exceptval(-1)
def _empty_fetch(rows: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    """Whether an empty reply came late or early nobody can tell who did not read all of it, or not how long it might wait."""
    asked: cython.longlong = rows[ROW_REQUEST_LAST, row]
    told: cython.longlong = rows[ROW_RESPONSE_FIRST, row]
    may_wait_ms: cython.longlong = rows[ROW_MAX_WAIT_MS, row]
    if rows[ROW_RECORD_BYTES, row] != 0 or rows[ROW_RESPONSE_DECODED, row] != DECODED_FULL:
        return KIND_FETCH_UNKNOWN
    if asked == UNKNOWN or told == UNKNOWN or may_wait_ms == UNKNOWN:
        return KIND_FETCH_UNKNOWN
    return KIND_FETCH_EMPTY if told - asked >= WHOLE_WAIT_NS * may_wait_ms else KIND_FETCH_NOW
