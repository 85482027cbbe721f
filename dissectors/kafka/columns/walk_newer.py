"""Messages that are newer than their schema: what proves itself at the beginning of the body, or nothing (`newer_versions`)."""

import cython

from dissectors.kafka.columns.operations import *
from dissectors.kafka.columns.walk_bytes import read_length, read_varint, signed32, unsigned16
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_rows import write_error
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.kafka.columns.walk_text import read_text
from dissectors.kafka.columns.walk_values import store_value
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-9)
def pass_tags(w: WalkState) -> cython.longlong:
    """Moves `pos` behind a section of tagged fields; FAILED when it is not there."""
    count: cython.longlong = read_varint(w)
    size: cython.longlong
    if count == FAILED or count * 2 > w.end - w.pos:
        return FAILED
    while count > 0:
        if read_varint(w) == FAILED:
            return FAILED
        size = read_varint(w)
        if size == FAILED or size > w.end - w.pos:
            return FAILED
        w.pos += size
        count -= 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def is_name(w: WalkState, size: cython.longlong) -> cython.bint:
    """Are the `size` bytes at `pos` letters, digits, dots and hyphens, with a letter or digit at both ends?"""
    byte: cython.longlong
    number: cython.longlong
    for number in range(size):
        byte = w.data[w.pos + number]
        if 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122:
            continue
        if byte not in (45, 46) or number == 0 or number == size - 1:
            return False
    return True


@cython.cfunc
@cython.exceptval(-9)
@cython.boundscheck(False)
def take_field(w: WalkState, pc: cython.longlong, store: cython.bint) -> cython.longlong:
    """Moves `pos` behind the field of an OP_NEWER whose words begin at `pc`, and may store it. FAILED when it is not plausible, and
    NO_ROOM when errors are full."""
    kind: cython.int = w.code[pc]
    size: cython.longlong = 2 if kind == NEWER_ERROR else 4
    value: cython.longlong
    if kind == NEWER_TEXT:
        size = read_length(w, FORM_COMPACT)
        value = size
    elif size > w.end - w.pos:
        return FAILED
    elif kind == NEWER_ERROR:
        value = (unsigned16(w, w.pos) ^ 32768) - 32768
    else:
        value = signed32(w, w.pos)
    if value < w.code[pc + 2] or value > w.code[pc + 3] or size > w.end - w.pos:
        return FAILED
    if kind == NEWER_TEXT and not is_name(w, size):
        return FAILED
    if store:
        if kind == NEWER_TEXT:
            read_text(w, size, w.code[pc + 1], -1)
        elif kind == NEWER_THROTTLE:
            store_value(w, w.code[pc + 1], value)
        elif value != 0 and write_error(w, value, w.code[pc + 1], -1) < 0:
            return NO_ROOM
    w.pos += size
    return 0


@cython.cfunc
@cython.exceptval(-9)
def is_plausible_length(w: WalkState, follows: cython.longlong) -> cython.longlong:
    size: cython.longlong
    if follows == FOLLOWS_ANYTHING:
        return True
    size = read_length(w, FORM_COMPACT)
    if size == FAILED:
        return False
    return size <= w.end - w.pos and (size >= 0 or follows == FOLLOWS_NULLABLE)


@cython.cfunc
@cython.exceptval(-9)
@cython.boundscheck(False)
def read_newer(w: WalkState, pc: cython.longlong) -> cython.longlong:
    """Runs the OP_NEWER at `pc`, the last operation of its program: all fields are stored, or none. Returns a DECODED_ or
    FULL_OUTPUT."""
    fields: cython.longlong = w.code[pc + 3]
    begin: cython.longlong
    number: cython.longlong
    if w.code[pc + 1] != 0 and pass_tags(w) == FAILED:
        return DECODED_UNSUPPORTED
    begin = w.pos
    for number in range(fields):
        if take_field(w, pc + 4 + 4 * number, False) == FAILED:
            return DECODED_UNSUPPORTED
    if fields == 0 or not is_plausible_length(w, w.code[pc + 2]):
        return DECODED_UNSUPPORTED
    w.pos = begin
    for number in range(fields):
        if take_field(w, pc + 4 + 4 * number, True) == NO_ROOM:
            return FULL_OUTPUT
    return DECODED_UNSUPPORTED
