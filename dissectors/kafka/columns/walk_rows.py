"""Rows of entries, errors and sets, written from the registers.

A function that writes a row returns NO_ROOM when the output is full: the message is read again when there is more room.
"""

import cython

from dissectors.kafka.columns.batch_format import *
from dissectors.kafka.columns.operations import *
from dissectors.kafka.columns.role_columns import NEVER_ECHO
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.kafka.columns.walk_text import register_text, text_number
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def write_error(w: WalkState, code: cython.longlong, field: cython.longlong, entity: cython.longlong) -> cython.int:
    """Takes the error code of field number `field`; one that is not 0 gets a row. `entity` is a register, or -1."""
    column: cython.longlong = w.errors_used
    w.newest_error = -1
    if w.first_error == UNKNOWN or (w.first_error == 0 and code != 0):
        w.first_error = code
    if code == 0:
        return 0
    w.error_count += 1
    if column >= w.errors_size:
        if column >= w.most_rows:
            w.dropped += 1
            return 0
        w.full = FULL_ERRORS
        return NO_ROOM
    register_text(w, ENTRY_TOPIC)
    if entity >= 0:
        register_text(w, entity)
    w.errors[ERROR_FRAME, column] = w.row
    w.errors[ERROR_CODE, column] = code
    w.errors[ERROR_FIELD, column] = field
    w.errors[ERROR_TOPIC, column] = w.registers[ENTRY_TOPIC]
    w.errors[ERROR_TOPIC_ID_HIGH, column] = w.registers[ENTRY_TOPIC_ID_HIGH]
    w.errors[ERROR_TOPIC_ID_LOW, column] = w.registers[ENTRY_TOPIC_ID_LOW]
    w.errors[ERROR_PARTITION, column] = w.registers[ENTRY_PARTITION]
    w.errors[ERROR_ENTITY, column] = UNKNOWN if entity < 0 else w.registers[entity]
    w.errors[ERROR_MESSAGE, column] = UNKNOWN
    w.newest_error = column
    w.errors_used += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_message(w: WalkState, size: cython.longlong, may_echo: cython.longlong) -> cython.int:
    """Writes the string of `size` bytes at `pos` into the row of the error code before it. `may_echo`: of some codes alone."""
    column: cython.longlong = w.newest_error
    w.newest_error = -1
    if column >= 0 and size > 0 and (may_echo == 0 or w.errors[ERROR_CODE, column] in NEVER_ECHO):
        w.errors[ERROR_MESSAGE, column] = text_number(w, w.pos, size)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def patch_errors(w: WalkState, first: cython.longlong, register: cython.longlong) -> cython.int:
    """Writes a register into the error rows from `first` on that lack it: its field came behind their error code."""
    column: cython.longlong
    target: cython.longlong = -1
    if register == ENTRY_TOPIC:
        target = ERROR_TOPIC
    elif register == ENTRY_TOPIC_ID_HIGH:
        target = ERROR_TOPIC_ID_HIGH
    elif register == ENTRY_TOPIC_ID_LOW:
        target = ERROR_TOPIC_ID_LOW
    elif register == ENTRY_PARTITION:
        target = ERROR_PARTITION
    elif register >= REGISTER_ENTITY:
        target = ERROR_ENTITY
    if target >= 0 and first < w.errors_used:
        if target in (ERROR_TOPIC, ERROR_ENTITY):
            register_text(w, register)
        for column in range(first, w.errors_used):
            if w.errors[target, column] == UNKNOWN:
                w.errors[target, column] = w.registers[register]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_entry(w: WalkState, forgotten: cython.longlong) -> cython.int:
    """Writes a row of entries from the registers."""
    column: cython.longlong = w.entries_used
    number: cython.longlong
    if column >= w.entries_size:
        if column >= w.most_rows:
            w.dropped += 1
            return 0
        w.full = FULL_ENTRIES
        return NO_ROOM
    register_text(w, ENTRY_TOPIC)
    for number in range(ENTRY_TOPIC, ENTRY_COLUMNS):
        w.entries[number, column] = w.registers[number]
    w.entries[ENTRY_FRAME, column] = w.row
    w.entries[ENTRY_FORGOTTEN, column] = forgotten
    w.entries_used += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_set(w: WalkState, size: cython.longlong) -> cython.int:
    """Writes a row for the records field of `size` bytes at `pos`, if it has room for the beginning of a batch."""
    column: cython.longlong = w.sets_used
    if size <= MAGIC_OFFSET:
        return 0
    if column >= w.sets_size:
        if column >= w.most_rows:
            w.dropped += 1
            return 0
        w.full = FULL_SETS
        return NO_ROOM
    register_text(w, ENTRY_TOPIC)
    w.sets[SET_FRAME, column] = w.row
    w.sets[SET_OFFSET, column] = w.pos
    w.sets[SET_BYTES, column] = size
    w.sets[SET_TOPIC, column] = w.registers[ENTRY_TOPIC]
    w.sets[SET_TOPIC_ID_HIGH, column] = w.registers[ENTRY_TOPIC_ID_HIGH]
    w.sets[SET_TOPIC_ID_LOW, column] = w.registers[ENTRY_TOPIC_ID_LOW]
    w.sets[SET_PARTITION, column] = w.registers[ENTRY_PARTITION]
    w.sets_used += 1
    return 0
