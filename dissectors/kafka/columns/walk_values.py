"""Where values go: columns of the message and registers; counts of elements and sizes of records are added up."""

import cython

from dissectors.kafka.columns.operations import *
from dissectors.kafka.columns.walk_bytes import read_length, signed32, signed64
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.layout import *


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def store_value(w: WalkState, to: cython.longlong, value: cython.longlong) -> cython.int:
    """Writes a value to its target (`operations`)."""
    bit: cython.longlong
    if to >= TO_ONCE:
        bit = 1
        bit <<= to - TO_ONCE
        w.values[to - TO_ONCE, w.row] = UNKNOWN if w.once & bit else value
        w.once |= bit
    elif to >= TO_REGISTER:
        w.registers[to - TO_REGISTER] = value
    elif to >= 0:
        w.values[to, w.row] = value
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def add_to_column(w: WalkState, column: cython.longlong, count: cython.longlong) -> cython.int:
    if w.values[column, w.row] == UNKNOWN:
        w.values[column, w.row] = count
    else:
        w.values[column, w.row] += count
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def touch_columns(w: WalkState, bits: cython.longlong) -> cython.int:
    if bits & TOUCH_PARTITIONS:
        add_to_column(w, VALUE_PARTITIONS, 0)
    if bits & TOUCH_RECORDS:
        add_to_column(w, VALUE_RECORD_BYTES, 0)
    return 0


@cython.cfunc
@cython.exceptval(-9)
@cython.boundscheck(False)
def read_count(w: WalkState, form: cython.int, least: cython.longlong, column: cython.longlong) -> cython.longlong:
    """The number of elements of an array, added to a value column. More than the frame has bytes for is malformed: `least` is
    the smallest size of an element."""
    count: cython.longlong = read_length(w, form)
    if count < 0:
        return count
    if count * least > w.limit - w.pos:
        w.outcome = DECODED_MALFORMED
        return FAILED
    if column >= 0:
        add_to_column(w, column, count)
    return count


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def offset_behind_records(w: WalkState, size: cython.longlong) -> cython.longlong:
    """The offset behind the last complete batch in the `size` bytes at `pos`; UNKNOWN without one.

    All formats begin with an offset (int64) and a length (int32) and have the magic at byte 16. A message of magic 0 or 1
    has its own offset there, a compressed one that of the last message inside; a batch of magic 2 has its base offset there
    and last_offset_delta (int32) at byte 23. Only headers are looked at, one step per batch.
    """
    at: cython.longlong = w.pos
    end: cython.longlong = w.pos + size
    last: cython.longlong = -1
    length: cython.longlong
    offset: cython.longlong
    delta: cython.longlong = 0
    while end - at >= BATCH_PREFIX:
        length = signed32(w, at + 8)
        if length < LEAST_MESSAGE or length > end - at - BATCH_PREFIX:
            break
        last = at
        at += BATCH_PREFIX + length
    if last < 0 or w.data[last + 16] > 2:
        return UNKNOWN
    if w.data[last + 16] == 2:
        if at - last < BATCH_HEADER:
            return UNKNOWN
        delta = signed32(w, last + 23)
    offset = signed64(w, last)
    if offset < 0 or offset > HIGHEST_OFFSET or delta < 0:
        return UNKNOWN
    return offset + delta + 1


@cython.cfunc
@cython.exceptval(-1)
def read_records_field(w: WalkState, size: cython.longlong, to: cython.longlong, also: cython.longlong) -> cython.int:
    add_to_column(w, VALUE_RECORD_BYTES, size)
    store_value(w, to, size)
    if also >= 0:
        store_value(w, also, offset_behind_records(w, size))
    return 0
