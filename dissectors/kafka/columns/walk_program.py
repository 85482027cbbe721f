"""Runs a program over a message: one branch for each operation, the most frequent ones first.

Of neighbouring fields of fixed size those are read that the capture kept whole. The stack has a level for each array and
tagged section that is open (`WalkState`); `base` is the index of the innermost one.
"""

import cython

from dissectors.kafka.columns.operations import *
from dissectors.kafka.columns.walk_bytes import (
    byte_at,
    read_length,
    signed32,
    signed64,
    too_short,
    unsigned16,
    unsigned32,
)
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_newer import read_newer
from dissectors.kafka.columns.walk_rows import patch_errors, write_entry, write_error, write_message, write_set
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.kafka.columns.walk_tags import next_tag, open_tags
from dissectors.kafka.columns.walk_text import read_text
from dissectors.kafka.columns.walk_values import read_count, read_records_field, store_value, touch_columns
from dissectors.layout import *


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def load_field(w: WalkState, pc: cython.longlong) -> cython.int:
    """Reads one field of an OP_FIXED, whose bytes have been checked; NO_ROOM when errors are full."""
    load: cython.int = w.code[pc]
    at: cython.longlong = w.pos + w.code[pc + 1]
    to: cython.longlong = w.code[pc + 2]
    value: cython.longlong
    if load == LOAD_INT32:
        store_value(w, to, signed32(w, at))
    elif load == LOAD_OFFSET:
        value = signed64(w, at)
        store_value(w, to, value if -HIGHEST_OFFSET <= value <= HIGHEST_OFFSET else UNKNOWN)
    elif load == LOAD_INT64:
        store_value(w, to, signed64(w, at))
    elif load == LOAD_INT16:
        store_value(w, to, (unsigned16(w, at) ^ 32768) - 32768)
    elif load in (LOAD_ERROR, LOAD_ROW_ERROR, LOAD_ONLY_ERROR):
        value = (unsigned16(w, at) ^ 32768) - 32768
        if load == LOAD_ONLY_ERROR:
            w.only_error = value
        if load == LOAD_ROW_ERROR and (w.registers[ENTRY_ERROR_CODE] == UNKNOWN or w.registers[ENTRY_ERROR_CODE] == 0):
            w.registers[ENTRY_ERROR_CODE] = value
        return write_error(w, value, to, w.code[pc + 3])
    elif load == LOAD_UUID:
        store_value(w, to, signed64(w, at))
        store_value(w, to + 1, signed64(w, at + 8))
    elif load == LOAD_INT8:
        store_value(w, to, (byte_at(w, at) ^ 128) - 128)
    elif load == LOAD_UINT8:
        store_value(w, to, byte_at(w, at))
    elif load == LOAD_UINT16:
        store_value(w, to, unsigned16(w, at))
    elif load == LOAD_UINT32:
        store_value(w, to, unsigned32(w, at))
    else:
        raise ValueError(f"load {load} in a program")
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def load_bytes(load: cython.longlong) -> cython.longlong:
    if load == LOAD_UUID:
        return 16
    if load in (LOAD_INT64, LOAD_OFFSET):
        return 8
    if load in (LOAD_INT32, LOAD_UINT32):
        return 4
    return 1 if load in (LOAD_INT8, LOAD_UINT8) else 2


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def load_captured_fields(w: WalkState, pc: cython.longlong) -> cython.longlong:
    """Reads the fields of an OP_FIXED that the capture has cut; returns the outcome of the message, or FULL_OUTPUT."""
    number: cython.longlong = w.code[pc + 2]
    outcome: cython.longlong = too_short(w, w.code[pc + 1])
    pc += 3
    while outcome == DECODED_TRUNCATED and number > 0:
        if w.code[pc + 1] + load_bytes(w.code[pc]) <= w.end - w.pos and load_field(w, pc) < 0:
            return FULL_OUTPUT
        pc += 4
        number -= 1
    return outcome


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def leave_at_records(w: WalkState, size: cython.longlong, to: cython.longlong) -> cython.longlong:
    """Records that the capture has cut: what is before them is a row of entries all the same, without the offset behind them.
    Returns the outcome of the message, or FULL_OUTPUT."""
    outcome: cython.longlong = too_short(w, size)
    if outcome == DECODED_TRUNCATED and to >= TO_REGISTER:
        store_value(w, to, size)
        if write_entry(w, 0) < 0:
            return FULL_OUTPUT
    return outcome


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def run_program(w: WalkState, start: cython.longlong) -> cython.longlong:
    """Runs the program at address `start` on the bytes from `pos` on; returns a DECODED_ or FULL_OUTPUT.

    `operations` describes the operations and their operands.
    """
    pc: cython.longlong = start
    base: cython.longlong = 0  # of the innermost level of the stack
    op: cython.int
    size: cython.longlong
    number: cython.longlong
    w.stack[2] = w.errors_used
    w.newest_error = -1
    while True:
        op = w.code[pc]
        if op == OP_FIXED:
            size = w.code[pc + 1]
            if size > w.end - w.pos:
                return load_captured_fields(w, pc)
            number = w.code[pc + 2]
            pc += 3
            while number > 0:
                if load_field(w, pc) < 0:
                    return FULL_OUTPUT
                pc += 4
                number -= 1
            w.pos += size
        elif op == OP_SIZED:
            size = read_length(w, w.code[pc + 1])
            if size == FAILED:
                return w.outcome
            if size > w.end - w.pos:
                return (
                    leave_at_records(w, size, w.code[pc + 3]) if w.code[pc + 2] >= USE_RECORDS else too_short(w, size)
                )
            if w.code[pc + 2] == USE_TEXT:
                if size >= 0:
                    read_text(w, size, w.code[pc + 3], w.code[pc + 4])
            elif w.code[pc + 2] == USE_MESSAGE:
                write_message(w, size, w.code[pc + 3])
            elif w.code[pc + 2] != USE_NOTHING:
                read_records_field(w, max(size, 0), w.code[pc + 3], w.code[pc + 4])
                if w.code[pc + 2] == USE_SET and write_set(w, size) < 0:
                    return FULL_OUTPUT
            if size > 0:
                w.pos += size
            pc += 5
        elif op == OP_NEXT:
            number = w.code[pc + 1]
            pc += 2
            while number > 0:
                w.registers[w.code[pc]] = UNKNOWN
                pc += 1
                number -= 1
            w.stack[base] -= 1
            if w.stack[base] > 0:
                pc = w.stack[base + 1]
                w.stack[base + 2] = w.errors_used
            else:
                base -= 4
        elif op == OP_TAGS:
            if w.pos < w.end and byte_at(w, w.pos) == 0:
                w.pos += 1
                pc = start + w.code[pc + 1]
            else:
                base += 4
                pc = open_tags(w, base, pc, start)
                if pc < 0:
                    return w.outcome
                if w.stack[base] < 0:
                    base -= 4
        elif op == OP_ARRAY:
            size = read_count(w, w.code[pc + 1], w.code[pc + 2], w.code[pc + 3])
            if size == FAILED:
                return w.outcome
            if size >= 0 and w.code[pc + 4] != 0:
                touch_columns(w, w.code[pc + 4])
            if size > 0:
                base += 4
                w.stack[base] = size
                w.stack[base + 1] = pc + 6
                w.stack[base + 2] = w.errors_used
                pc += 6
            else:
                pc = start + w.code[pc + 5]
        elif op == OP_ITEMS:
            number = w.code[pc + 2]
            size = read_count(w, w.code[pc + 1], number, w.code[pc + 3])
            if size == FAILED:
                return w.outcome
            if size > 0:
                if size * number > w.end - w.pos:
                    return too_short(w, size * number)
                w.pos += size * number
            pc += 4
        elif op == OP_ROW:
            if write_entry(w, w.code[pc + 1]) < 0:
                return FULL_OUTPUT
            pc += 2
        elif op == OP_TAG_END:
            # A newer version of Kafka may have appended fields to a tagged struct: they are skipped.
            w.pos = w.end
            pc = next_tag(w, base, start)
            if pc < 0:
                return w.outcome
            if w.stack[base] < 0:
                base -= 4
        elif op == OP_NULLABLE:
            if w.pos >= w.end:
                return too_short(w, 1)
            if byte_at(w, w.pos) >= 128:
                pc = start + w.code[pc + 1]
            else:
                pc += 2
            w.pos += 1
        elif op == OP_PATCH:
            number = w.code[pc + 1]
            pc += 2
            while number > 0:
                patch_errors(w, w.stack[base + 2], w.code[pc])
                pc += 1
                number -= 1
        elif op == OP_BODY:
            w.frames[FRAME_BODY, w.row] = w.pos - w.frame_offset
            pc += 1
        elif op == OP_DEFAULT:
            if w.values[w.code[pc + 1], w.row] == UNKNOWN:
                w.values[w.code[pc + 1], w.row] = w.code[pc + 2]
            pc += 3
        elif op == OP_UNSUPPORTED:
            return DECODED_UNSUPPORTED
        elif op == OP_NEWER:
            return read_newer(w, pc)
        elif op == OP_END:
            number = w.code[pc + 1]
            pc += 2
            while number > 0:
                w.registers[w.code[pc]] = UNKNOWN
                pc += 1
                number -= 1
            w.values[VALUE_LEFTOVER, w.row] = w.limit - w.pos
            return DECODED_FULL if w.limit == w.pos else DECODED_TRAILING
        else:
            raise ValueError(f"operation {op} in a program")
