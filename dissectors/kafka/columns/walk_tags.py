"""Tagged fields (KIP-482): finds those of a section that the schema knows and skips the others.

While a tagged field is read, `end` and `limit` are its own end. Tag 1 may come before tag 0: order is not checked.
"""

import cython

from dissectors.kafka.columns.walk_bytes import read_varint, too_short
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-9)
@cython.boundscheck(False)
def next_tag(w: WalkState, base: cython.longlong, start: cython.longlong) -> cython.longlong:
    """Address of the next known tag's operations, or the address behind the section (then its stack level holds -1), or
    FAILED."""
    pc: cython.longlong = w.stack[base + 1]
    known: cython.longlong = w.code[pc + 2]
    tag: cython.longlong
    size: cython.longlong
    number: cython.longlong
    w.end = w.stack[base + 2]
    w.limit = w.stack[base + 3]
    while w.stack[base] > 0:
        w.stack[base] -= 1
        tag = read_varint(w)
        if tag == FAILED:
            return FAILED
        size = read_varint(w)
        if size == FAILED:
            return FAILED
        if size > w.end - w.pos:
            too_short(w, size)
            return FAILED
        for number in range(known):
            if w.code[pc + 3 + 2 * number] == tag:
                w.end = w.pos + size
                w.limit = w.end
                return start + w.code[pc + 4 + 2 * number]
        w.pos += size
    w.stack[base] = -1
    return start + w.code[pc + 1]


@cython.cfunc
@cython.exceptval(-9)
def open_tags(w: WalkState, base: cython.longlong, pc: cython.longlong, start: cython.longlong) -> cython.longlong:
    """Opens the tagged section of the operation at `pc`; returns where the program goes on, as `next_tag` does."""
    count: cython.longlong = read_varint(w)
    if count == FAILED:
        return FAILED
    if count * 2 > w.limit - w.pos:
        w.outcome = DECODED_MALFORMED
        return FAILED
    w.stack[base] = count
    w.stack[base + 1] = pc
    w.stack[base + 2] = w.end
    w.stack[base + 3] = w.limit
    return next_tag(w, base, start)
