"""Rows of entries and errors, written from the registers."""

import cython

from dissectors.kafka.columns.walk_state import WalkState
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def write_error(w: WalkState, code: cython.longlong, field: cython.longlong, entity: cython.longlong) -> cython.int:
    """Notes an error code; one that is not 0 gets a row. -2 when errors are full."""
    column: cython.longlong = w.errors_used
    if w.first_error == UNKNOWN or (w.first_error == 0 and code != 0):
        w.first_error = code
    if code == 0:
        return 0
    w.error_count += 1
    if column >= w.errors_size:
        if column >= w.most_rows:
            w.dropped += 1
            return 0
        w.entries_full = False
        return -2
    w.errors[ERROR_FRAME, column] = w.row
    w.errors[ERROR_CODE, column] = code
    w.errors[ERROR_FIELD, column] = field
    w.errors[ERROR_TOPIC, column] = w.registers[ENTRY_TOPIC]
    w.errors[ERROR_TOPIC_ID_HIGH, column] = w.registers[ENTRY_TOPIC_ID_HIGH]
    w.errors[ERROR_TOPIC_ID_LOW, column] = w.registers[ENTRY_TOPIC_ID_LOW]
    w.errors[ERROR_PARTITION, column] = w.registers[ENTRY_PARTITION]
    w.errors[ERROR_ENTITY, column] = UNKNOWN if entity < 0 else w.registers[entity]
    w.errors_used += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def patch_errors(w: WalkState, first: cython.longlong, register: cython.longlong) -> cython.int:
    """Gives a register that was filled after the error code to the error rows from `first` on that miss it."""
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
    if target >= 0:
        for column in range(first, w.errors_used):
            if w.errors[target, column] == UNKNOWN:
                w.errors[target, column] = w.registers[register]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_entry(w: WalkState, forgotten: cython.longlong) -> cython.int:
    """A row of entries from the registers; -2 when entries are full."""
    column: cython.longlong = w.entries_used
    number: cython.longlong
    if column >= w.entries_size:
        if column >= w.most_rows:
            w.dropped += 1
            return 0
        w.entries_full = True
        return -2
    for number in range(ENTRY_TOPIC, ENTRY_COLUMNS):
        w.entries[number, column] = w.registers[number]
    w.entries[ENTRY_FRAME, column] = w.row
    w.entries[ENTRY_FORGOTTEN, column] = forgotten
    w.entries_used += 1
    return 0
