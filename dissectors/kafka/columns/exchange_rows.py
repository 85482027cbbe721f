"""Writes the row of an exchange: the half of the request, then the half of the reply."""

import cython

from dissectors.kafka.columns.exchange_state import ExchangeState
from dissectors.kafka.columns.exchange_waits import note_reply_end, set_waits
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def blank_row(x: ExchangeState, place: cython.longlong) -> cython.int:
    column: cython.longlong
    for column in range(ROW_COLUMNS):
        x.pending[place, column] = UNKNOWN
    x.pending[place, ROW_TOKEN] = 0
    x.pending[place, ROW_REQUEST_DECODED] = DECODED_NONE
    x.pending[place, ROW_RESPONSE_DECODED] = DECODED_NONE
    return 0


@cython.cfunc
@cython.exceptval(-1)
def note_whole_request(x: ExchangeState, place: cython.longlong) -> cython.int:
    """A request without a reply that makes sense to its last byte: proof of Kafka where nothing else is there to prove it."""
    if x.pending[place, ROW_REQUEST_DECODED] == DECODED_FULL and x.pending[place, ROW_LEFTOVER] == 0:
        x.whole_requests.add(x.pending[place, ROW_PART])
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def is_odd(x: ExchangeState, place: cython.longlong) -> cython.bint:
    # UNKNOWN is less than every time: only a known time can be too early.
    asked: cython.longlong = x.pending[place, ROW_REQUEST_LAST]
    told: cython.longlong = x.pending[place, ROW_RESPONSE_FIRST]
    ended: cython.longlong = x.pending[place, ROW_RESPONSE_LAST]
    return (
        x.pending[place, ROW_REQUEST_DECODED] == DECODED_MALFORMED
        or x.pending[place, ROW_RESPONSE_DECODED] == DECODED_MALFORMED
        or (asked != UNKNOWN and asked < x.pending[place, ROW_REQUEST_FIRST])
        or (told != UNKNOWN and told < asked)
        or (ended != UNKNOWN and ended < told)
    )


@cython.cfunc
@cython.exceptval(check=False)
def reply_decides(column: cython.longlong, value: cython.longlong, asked: cython.longlong) -> cython.bint:
    """Counts: the larger (a fetch of a session names no partition). Ids: the one the broker gave."""
    if column in (ROW_TOPICS, ROW_PARTITIONS, ROW_RECORD_BYTES):
        return value > asked
    if column == ROW_SESSION_ID:
        return value != 0
    # Text 0 is the empty string: a member joins without an id and gets one.
    return column == ROW_MEMBER_ID and asked == 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def open_row(
    x: ExchangeState,
    frames: cython.longlong[:, ::1],
    values: cython.longlong[:, ::1],
    i: cython.longlong,
    place: cython.longlong,
) -> cython.int:
    """The request's half of a row; its status is what frames says until a reply comes."""
    column: cython.longlong
    blank_row(x, place)
    x.pending[place, ROW_EXCHANGE] = frames[FRAME_ID, i]
    x.pending[place, ROW_PART] = frames[FRAME_PART, i]
    x.pending[place, ROW_KEY] = frames[FRAME_KEY, i]
    x.pending[place, ROW_VERSION] = frames[FRAME_VERSION, i]
    x.pending[place, ROW_CORRELATION] = frames[FRAME_CORRELATION, i]
    x.pending[place, ROW_STATUS] = frames[FRAME_STATUS, i]
    x.pending[place, ROW_REQUEST_FIRST] = frames[FRAME_FIRST_TIME, i]
    x.pending[place, ROW_REQUEST_LAST] = frames[FRAME_LAST_TIME, i]
    x.pending[place, ROW_REQUEST_BYTES] = frames[FRAME_LENGTH, i] + 4
    x.pending[place, ROW_REQUEST_NUMBER] = frames[FRAME_NUMBER, i]
    x.pending[place, ROW_REQUEST_DECODED] = frames[FRAME_DECODED, i]
    for column in range(VALUE_LEFTOVER + 1):
        x.pending[place, ROW_CLIENT_ID + column] = values[column, i]
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def join_reply_header(
    x: ExchangeState, frames: cython.longlong[:, ::1], i: cython.longlong, place: cython.longlong
) -> cython.int:
    x.pending[place, ROW_RESPONSE_FIRST] = frames[FRAME_FIRST_TIME, i]
    x.pending[place, ROW_RESPONSE_LAST] = frames[FRAME_LAST_TIME, i]
    x.pending[place, ROW_RESPONSE_BYTES] = frames[FRAME_LENGTH, i] + 4
    x.pending[place, ROW_RESPONSE_NUMBER] = frames[FRAME_NUMBER, i]
    x.pending[place, ROW_RESPONSE_DECODED] = frames[FRAME_DECODED, i]
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def join_reply(
    x: ExchangeState,
    frames: cython.longlong[:, ::1],
    values: cython.longlong[:, ::1],
    i: cython.longlong,
    place: cython.longlong,
) -> cython.int:
    """The reply's half: what the request left open, and the few columns where the reply knows better."""
    column: cython.longlong
    value: cython.longlong
    join_reply_header(x, frames, i, place)
    set_waits(x, frames, i, place)
    note_reply_end(x, frames, i, frames[FRAME_LAST_TIME, i], values[VALUE_THROTTLE_MS, i])
    x.pending[place, ROW_STATUS] = STATUS_ANSWERED
    for column in range(VALUE_CLIENT_ID + 1, VALUE_LEFTOVER):
        value = values[column, i]
        if value == UNKNOWN:
            continue
        if x.pending[place, ROW_CLIENT_ID + column] == UNKNOWN or reply_decides(
            ROW_CLIENT_ID + column, value, x.pending[place, ROW_CLIENT_ID + column]
        ):
            x.pending[place, ROW_CLIENT_ID + column] = value
    value = values[VALUE_LEFTOVER, i]
    if value > 0 or x.pending[place, ROW_LEFTOVER] == UNKNOWN:
        x.pending[place, ROW_LEFTOVER] = value
    return 0


@cython.cfunc
@cython.exceptval(-1)
def open_orphan_row(
    x: ExchangeState, frames: cython.longlong[:, ::1], i: cython.longlong, place: cython.longlong
) -> cython.int:
    """A reply without request: its key is unknown, so nothing but its header is told."""
    blank_row(x, place)
    x.pending[place, ROW_EXCHANGE] = frames[FRAME_ID, i]
    x.pending[place, ROW_PART] = frames[FRAME_PART, i]
    x.pending[place, ROW_CORRELATION] = frames[FRAME_CORRELATION, i]
    x.pending[place, ROW_STATUS] = frames[FRAME_STATUS, i]
    join_reply_header(x, frames, i, place)
    return 0
