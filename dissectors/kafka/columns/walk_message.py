"""Reads the message of one frame: finds its program, runs it, and leaves in the columns only what is true."""

import cython

from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_program import run_program
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.layout import *


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def program_index(key: cython.longlong, version: cython.longlong, direction: cython.longlong) -> cython.longlong:
    """Where the program of a message is noted. Keys and versions beyond the table have the header alone: a known key in the
    form of its newest versions, unknown keys one form for all."""
    if key >= KEYS:
        key = KEYS - 1
    if version >= VERSIONS:
        version = VERSIONS - 1
    return (key * VERSIONS + version) * 2 + direction


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def blank_values(w: WalkState, row: cython.longlong) -> cython.int:
    column: cython.longlong
    for column in range(VALUE_COLUMNS):
        w.values[column, row] = UNKNOWN
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def has_message(w: WalkState, row: cython.longlong) -> cython.int:
    """Whether a frame row has bytes of a message whose API is known; an orphan reply without one is a header."""
    event: cython.longlong = w.frames[FRAME_EVENT, row]
    held: cython.longlong = w.frames[FRAME_HELD, row]
    if event > FRAME_ORPHAN_SEEN or held <= 0:
        return 0
    if w.frames[FRAME_KEY, row] < 0 or w.frames[FRAME_VERSION, row] < 0:
        w.frames[FRAME_BODY, row] = UNKNOWN
        w.frames[FRAME_DECODED, row] = DECODED_HEADER if held >= 4 else DECODED_TRUNCATED
        return 0
    return 1


@cython.cfunc
@cython.exceptval(-1)
def want_program(
    w: WalkState, key: cython.longlong, version: cython.longlong, direction: cython.longlong
) -> cython.longlong:
    w.wanted_key = key
    w.wanted_version = version
    w.wanted_direction = direction
    return WHY_NEED_PROGRAM


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def run_on_row(w: WalkState, row: cython.longlong, place: cython.longlong) -> cython.longlong:
    """Runs a program over the frame of a row; gives a DECODED_ or FULL_OUTPUT and leaves only what is true."""
    outcome: cython.longlong
    number: cython.longlong
    client: cython.longlong
    w.row = row
    w.frame_offset = w.frames[FRAME_OFFSET, row]
    w.pos = w.frame_offset
    w.end = w.pos + w.frames[FRAME_HELD, row]
    w.limit = w.pos + w.frames[FRAME_LENGTH, row]
    if w.pos < 0 or w.end > len(w.data) or w.limit < w.end:
        raise ValueError(f"frame row {row} points outside its buffer")
    w.first_error = UNKNOWN
    w.error_count = 0
    w.once = 0
    w.frames[FRAME_BODY, row] = UNKNOWN
    outcome = run_program(w, place)
    if outcome == DECODED_FULL:
        if w.first_error != UNKNOWN:
            w.values[VALUE_ERROR_CODE, row] = w.first_error
            w.values[VALUE_ERROR_COUNT, row] = w.error_count
        return outcome
    for number in range(REGISTERS):
        w.registers[number] = UNKNOWN
    if outcome == DECODED_TRUNCATED:
        # Sums are not complete; error codes that were cut off need not be 0.
        w.values[VALUE_TOPICS, row] = UNKNOWN
        w.values[VALUE_PARTITIONS, row] = UNKNOWN
        w.values[VALUE_RECORD_BYTES, row] = UNKNOWN
        if w.first_error != 0:
            w.values[VALUE_ERROR_CODE, row] = w.first_error
        # Nor is what was seen once sure to come only once.
        for number in range(VALUE_COLUMNS):
            if (w.once >> number) & 1:
                w.values[number, row] = UNKNOWN
    elif outcome == DECODED_MALFORMED:
        client = w.values[VALUE_CLIENT_ID, row]
        blank_values(w, row)
        w.values[VALUE_CLIENT_ID, row] = client
    return outcome


@cython.cfunc
@cython.exceptval(-1)
def read_as_version_0(
    w: WalkState,
    row: cython.longlong,
    place: cython.longlong,
    fallback: cython.longlong,
    errors_before: cython.longlong,
) -> cython.longlong:
    """A broker refuses an unknown ApiVersions version by a body of version 0 that says so (KIP-511)."""
    outcome: cython.longlong
    w.errors_used = errors_before
    blank_values(w, row)
    outcome = run_on_row(w, row, fallback)
    if outcome == FULL_OUTPUT or (
        outcome == DECODED_FULL
        and w.values[VALUE_LEFTOVER, row] == 0
        and w.values[VALUE_ERROR_CODE, row] == UNSUPPORTED_VERSION
    ):
        return outcome
    w.errors_used = errors_before
    blank_values(w, row)
    return run_on_row(w, row, place)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def read_message(w: WalkState, row: cython.longlong) -> cython.longlong:
    """Walks the message of a frame row; gives a WHY_."""
    key: cython.longlong = w.frames[FRAME_KEY, row]
    version: cython.longlong = w.frames[FRAME_VERSION, row]
    direction: cython.longlong = 0 if w.frames[FRAME_EVENT, row] == FRAME_REQUEST_SEEN else 1
    place: cython.longlong = w.programs[program_index(key, version, direction)]
    fallback: cython.longlong = NO_PROGRAM
    outcome: cython.longlong
    entries_before: cython.longlong = w.entries_used
    errors_before: cython.longlong = w.errors_used
    dropped_before: cython.longlong = w.dropped
    if place == NO_PROGRAM:
        return want_program(w, key, version, direction)
    if key == API_VERSIONS and direction == 1 and version > 0:
        fallback = w.programs[program_index(key, 0, 1)]
        if fallback == NO_PROGRAM:
            return want_program(w, key, 0, 1)
    outcome = run_on_row(w, row, place)
    if fallback != NO_PROGRAM and (outcome != DECODED_FULL or w.values[VALUE_LEFTOVER, row] != 0):
        outcome = read_as_version_0(w, row, place, fallback, errors_before)
    if outcome == FULL_OUTPUT:
        w.entries_used = entries_before
        w.errors_used = errors_before
        w.dropped = dropped_before
        return WHY_OUTPUT_FULL
    w.frames[FRAME_DECODED, row] = outcome
    if outcome == DECODED_MALFORMED:
        w.entries_used = entries_before
        w.errors_used = errors_before
        w.dropped = dropped_before
    return WHY_DONE
