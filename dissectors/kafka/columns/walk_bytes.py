"""Primitive types of Kafka's protocol: integers, varints and lengths, read from the message at hand.

Integers of fixed size are only checked against the buffer: OP_FIXED has checked the bytes that are left for all its fields.

Sources: protocol guide; KIP-482 (compact lengths).
"""

import cython

from dissectors.kafka.columns.operations import *
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_state import OUTSIDE, WalkState
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(check=False)
def too_short(w: WalkState, size: cython.longlong) -> cython.longlong:
    """Sets and returns the outcome when fewer than `size` bytes are left: malformed when the frame ends before them,
    truncated when only the captured bytes do."""
    w.outcome = DECODED_MALFORMED if size > w.limit - w.pos else DECODED_TRUNCATED
    return w.outcome


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def byte_at(w: WalkState, at: cython.longlong) -> cython.longlong:
    return w.data[at]


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def unsigned16(w: WalkState, at: cython.longlong) -> cython.longlong:
    if at < 0 or at + 2 > len(w.data):
        raise IndexError(OUTSIDE)
    high: cython.longlong = w.data[at]
    return (high << 8) | w.data[at + 1]


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def unsigned32(w: WalkState, at: cython.longlong) -> cython.longlong:
    if at < 0 or at + 4 > len(w.data):
        raise IndexError(OUTSIDE)
    first: cython.longlong = w.data[at]
    second: cython.longlong = w.data[at + 1]
    third: cython.longlong = w.data[at + 2]
    return (first << 24) | (second << 16) | (third << 8) | w.data[at + 3]


@cython.cfunc
@cython.inline
@cython.exceptval(-4611686018427387905, check=True)
def signed32(w: WalkState, at: cython.longlong) -> cython.longlong:
    value: cython.longlong = unsigned32(w, at)
    return (value ^ SIGN_32) - SIGN_32


@cython.cfunc
@cython.inline
@cython.exceptval(-4611686018427387905, check=True)
def signed64(w: WalkState, at: cython.longlong) -> cython.longlong:
    return signed32(w, at) * 65536 * 65536 + unsigned32(w, at + 4)


@cython.cfunc
@cython.exceptval(-9)
def read_varint(w: WalkState) -> cython.longlong:
    """An unsigned varint of 32 bits, or FAILED."""
    value: cython.longlong = 0
    byte: cython.longlong
    count: cython.longlong
    for count in range(5):
        if w.pos + count >= w.end:
            too_short(w, count + 1)
            return FAILED
        byte = w.data[w.pos + count]
        value |= (byte & 127) << (7 * count)
        if byte < 128:
            if value >> 32:
                break
            w.pos += count + 1
            return value
    w.outcome = DECODED_MALFORMED
    return FAILED


@cython.cfunc
@cython.inline
@cython.exceptval(-9)
@cython.boundscheck(False)
def read_length(w: WalkState, form: cython.int) -> cython.longlong:
    """A length or count, -1 for null, FAILED when it is not there or below -1. `pos` moves behind it."""
    size: cython.longlong
    if form == FORM_COMPACT:
        if w.pos < w.end and byte_at(w, w.pos) < 128:
            size = byte_at(w, w.pos)
            w.pos += 1
            return size - 1
        size = read_varint(w)
        return FAILED if size == FAILED else size - 1
    if form == FORM_INT16:
        if w.end - w.pos < 2:
            too_short(w, 2)
            return FAILED
        size = (unsigned16(w, w.pos) ^ 32768) - 32768
        w.pos += 2
    else:
        if w.end - w.pos < 4:
            too_short(w, 4)
            return FAILED
        size = signed32(w, w.pos)
        w.pos += 4
    if size < -1:
        w.outcome = DECODED_MALFORMED
        return FAILED
    return size
