"""The wait kind of an exchange: what its request waits for at the broker, as far as request and reply tell.

The kind says whether the time until the reply is the broker's own work or was asked for, as the wait of an empty Fetch is
(`analyzer/base/wait_kinds.py` has the meanings). What only earlier exchanges can tell, the history of a fetch session, is
left to `analyzer/query/resolve/fetch_states.sql`, which `exchanges.sql` joins for KIND_FETCH_UNKNOWN alone.
"""

import cython

from dissectors.kafka.columns.wait_kind_rules import *
from dissectors.layout import *


def set_wait_kinds(rows: cython.longlong[:, ::1], start: cython.longlong, used: cython.longlong):
    """Sets ROW_KIND of rows [start, used): a KIND_, or UNKNOWN where no kind is meant for the API."""
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
            # The first join of a member without an id is refused at once; it joins again with the id (KIP-394).
            if rows[ROW_ERROR_CODE, row] != MEMBER_ID_REQUIRED:
                kind = KIND_JOIN_WAIT
        elif key == SYNC_GROUP:
            kind = KIND_SYNC_WAIT
        elif key in (CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS, ELECT_LEADERS, BROKER_HEARTBEAT):
            # The broker replies when the work is done or when the request's own timeout is over.
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
    """Fetches of a KRaft quorum have no session and ask for no least number of bytes; those of a follower have both."""
    if rows[ROW_SESSION_EPOCH, row] == -1 and rows[ROW_MIN_BYTES, row] == 0:
        return KIND_FETCH_RAFT
    return KIND_FETCH_FOLLOWER


@cython.cfunc
@cython.exceptval(-1)
def _fetch(rows: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    error: cython.longlong = rows[ROW_ERROR_CODE, row]
    # Errors of fetch and share sessions: the client opens a new session at once.
    if error in (
        FETCH_SESSION_ID_NOT_FOUND,
        INVALID_FETCH_SESSION_EPOCH,
        FETCH_SESSION_TOPIC_ID_ERROR,
        SHARE_SESSION_NOT_FOUND,
        INVALID_SHARE_SESSION_EPOCH,
    ):
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
    """Whether a Fetch opens or closes a session: epoch 0 opens one when the reply has an id for it, -1 closes the one named."""
    return epoch != UNKNOWN and epoch <= 0 and session != UNKNOWN and session != 0


@cython.cfunc
@cython.exceptval(-1)
def _empty_fetch(rows: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    """Whether an empty reply came when the time was over, or earlier. KIND_FETCH_UNKNOWN where the reply has records or was not
    read to its end, or where a time is not known. A reply at once did not wait, whatever the request's wait was (it may be cut)."""
    request_end: cython.longlong = rows[ROW_REQUEST_LAST, row]
    reply_begin: cython.longlong = rows[ROW_RESPONSE_FIRST, row]
    max_wait_ms: cython.longlong = rows[ROW_MAX_WAIT_MS, row]
    if rows[ROW_RECORD_BYTES, row] != 0 or rows[ROW_RESPONSE_DECODED, row] != DECODED_FULL:
        return KIND_FETCH_UNKNOWN
    if request_end == UNKNOWN or reply_begin == UNKNOWN:
        return KIND_FETCH_UNKNOWN
    if max_wait_ms == UNKNOWN:
        return KIND_FETCH_NOW if reply_begin - request_end <= AT_ONCE_NS else KIND_FETCH_UNKNOWN
    if max_wait_ms <= 0:
        return KIND_FETCH_NOW
    return KIND_FETCH_EMPTY if reply_begin - request_end >= WHOLE_WAIT_NS * max_wait_ms else KIND_FETCH_NOW
