"""The row of an exchange: first what the request says, then what its reply adds.

A value that both bodies have comes from the request, with three exceptions (`reply_decides`). Bytes behind the end of a body
(ROW_LEFTOVER) are reported when either body has some.
"""

import cython

from dissectors.kafka.columns.exchange_state import ExchangeState
from dissectors.kafka.columns.exchange_waits import note_reply_end, set_waits
from dissectors.kafka.columns.exchange_ways import note_reply_way, note_request_way
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def blank_row(x: ExchangeState, index: cython.longlong) -> cython.int:
    column: cython.longlong
    for column in range(ROW_COLUMNS):
        x.pending[index, column] = UNKNOWN
    x.pending[index, ROW_TOKEN] = 0
    x.pending[index, ROW_REQUEST_DECODED] = DECODED_NONE
    x.pending[index, ROW_RESPONSE_DECODED] = DECODED_NONE
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def write_request(
    x: ExchangeState,
    frames: cython.longlong[:, ::1],
    values: cython.longlong[:, ::1],
    row: cython.longlong,
    index: cython.longlong,
) -> cython.int:
    """Begins a row with a request. Its status is the frame's until a reply comes."""
    column: cython.longlong
    blank_row(x, index)
    x.pending[index, ROW_EXCHANGE] = frames[FRAME_ID, row]
    x.pending[index, ROW_PART] = frames[FRAME_PART, row]
    x.pending[index, ROW_KEY] = frames[FRAME_KEY, row]
    x.pending[index, ROW_VERSION] = frames[FRAME_VERSION, row]
    x.pending[index, ROW_CORRELATION] = frames[FRAME_CORRELATION, row]
    x.pending[index, ROW_STATUS] = frames[FRAME_STATUS, row]
    x.pending[index, ROW_REQUEST_FIRST] = frames[FRAME_FIRST_TIME, row]
    x.pending[index, ROW_REQUEST_LAST] = frames[FRAME_LAST_TIME, row]
    x.pending[index, ROW_REQUEST_BYTES] = frames[FRAME_LENGTH, row] + 4
    x.pending[index, ROW_REQUEST_NUMBER] = frames[FRAME_NUMBER, row]
    x.pending[index, ROW_REQUEST_DECODED] = frames[FRAME_DECODED, row]
    for column in range(VALUE_COLUMNS):
        x.pending[index, ROW_VALUES + column] = values[column, row]
    note_request_way(x, frames, row, index)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def write_reply(
    x: ExchangeState,
    frames: cython.longlong[:, ::1],
    values: cython.longlong[:, ::1],
    row: cython.longlong,
    index: cython.longlong,
) -> cython.int:
    """Adds a reply to the row of its request: what the request left open, and what the reply knows better."""
    column: cython.longlong
    value: cython.longlong
    write_reply_header(x, frames, row, index)
    set_waits(x, frames, row, index)
    note_reply_way(x, frames, row, index)
    note_reply_end(x, frames, row, frames[FRAME_LAST_TIME, row], values[VALUE_THROTTLE_MS, row])
    x.pending[index, ROW_STATUS] = STATUS_ANSWERED
    for column in range(VALUE_CLIENT_ID + 1, VALUE_LEFTOVER):
        value = values[column, row]
        if value == UNKNOWN:
            continue
        if x.pending[index, ROW_VALUES + column] == UNKNOWN or reply_decides(
            ROW_VALUES + column, value, x.pending[index, ROW_VALUES + column]
        ):
            x.pending[index, ROW_VALUES + column] = value
    value = values[VALUE_LEFTOVER, row]
    if value > 0 or x.pending[index, ROW_LEFTOVER] == UNKNOWN:
        x.pending[index, ROW_LEFTOVER] = value
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def reply_decides(column: cython.longlong, value: cython.longlong, of_request: cython.longlong) -> cython.bint:
    """Whether the reply's value replaces the request's. Counts: the larger one (a Fetch of a session may name no partition).
    Ids: the one that the broker assigned."""
    if column in (ROW_TOPICS, ROW_PARTITIONS, ROW_RECORD_BYTES):
        return value > of_request
    if column == ROW_SESSION_ID:
        return value != 0
    # Text 0 is the empty string: a member joins without an id and the broker assigns one.
    return column == ROW_MEMBER_ID and of_request == 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def write_reply_header(
    x: ExchangeState, frames: cython.longlong[:, ::1], row: cython.longlong, index: cython.longlong
) -> cython.int:
    x.pending[index, ROW_RESPONSE_FIRST] = frames[FRAME_FIRST_TIME, row]
    x.pending[index, ROW_RESPONSE_LAST] = frames[FRAME_LAST_TIME, row]
    x.pending[index, ROW_RESPONSE_BYTES] = frames[FRAME_LENGTH, row] + 4
    x.pending[index, ROW_RESPONSE_NUMBER] = frames[FRAME_NUMBER, row]
    x.pending[index, ROW_RESPONSE_DECODED] = frames[FRAME_DECODED, row]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_orphan(
    x: ExchangeState, frames: cython.longlong[:, ::1], row: cython.longlong, index: cython.longlong
) -> cython.int:
    """The row of a reply without request. Its API is unknown, so the row has no more than the reply's header."""
    blank_row(x, index)
    x.pending[index, ROW_EXCHANGE] = frames[FRAME_ID, row]
    x.pending[index, ROW_PART] = frames[FRAME_PART, row]
    x.pending[index, ROW_CORRELATION] = frames[FRAME_CORRELATION, row]
    x.pending[index, ROW_STATUS] = frames[FRAME_STATUS, row]
    write_reply_header(x, frames, row, index)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def note_whole_request(x: ExchangeState, index: cython.longlong) -> cython.int:
    """A request without a reply that was decoded to its last byte proves that the connection speaks Kafka, where nothing else
    can prove it."""
    if x.pending[index, ROW_REQUEST_DECODED] == DECODED_FULL and x.pending[index, ROW_LEFTOVER] == 0:
        x.whole_requests.add(x.pending[index, ROW_PART])
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def is_odd(x: ExchangeState, index: cython.longlong) -> cython.bint:
    """Whether a body could not be read, a reply is too long, or times run backwards. UNKNOWN is less than every time: only known
    times can be early."""
    request_end: cython.longlong = x.pending[index, ROW_REQUEST_LAST]
    reply_begin: cython.longlong = x.pending[index, ROW_RESPONSE_FIRST]
    reply_end: cython.longlong = x.pending[index, ROW_RESPONSE_LAST]
    return (
        x.pending[index, ROW_REQUEST_DECODED] == DECODED_MALFORMED
        or x.pending[index, ROW_RESPONSE_DECODED] == DECODED_MALFORMED
        or x.pending[index, ROW_REQUEST_DECODED] == DECODED_UNSUPPORTED
        or x.pending[index, ROW_RESPONSE_DECODED] == DECODED_UNSUPPORTED
        or x.pending[index, ROW_RESPONSE_DECODED] == DECODED_TRAILING
        or (request_end != UNKNOWN and request_end < x.pending[index, ROW_REQUEST_FIRST])
        or (reply_begin != UNKNOWN and reply_begin < request_end)
        or (reply_end != UNKNOWN and reply_end < reply_begin)
    )
