"""Reads the message of one frame: finds its program, runs it, and leaves in the columns only what is certain.

A malformed message leaves no more than its client id and no rows. A truncated one (the capture kept only its first bytes)
leaves what was read, its rows too, but no counts and sums, which would be too small, and no error code 0, as a later one
may not be 0: unless the message has this one alone. One that is newer than its schema leaves what `walk_newer` takes.

A request with bytes left over leaves everything: brokers read it by the schema as well, and pass over what is left (librdkafka's
Metadata requests for all topics have three bytes too many). A reply with bytes left over does not fit its version, and nobody
can say where it begins to differ: it leaves nothing. But for one zero byte: then it ends in two empty sections of tagged fields, as
replies of librdkafka's mock cluster do, and leaves all but its throttle time.
"""

import cython

from dissectors.kafka.columns.operations import *
from dissectors.kafka.columns.walk_bytes import unsigned16
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_program import run_program
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.layout import *


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def program_index(key: cython.longlong, version: cython.longlong, direction: cython.longlong) -> cython.longlong:
    """Index of a message in `programs`. Keys and versions beyond the table share the last index: no schema knows them, so
    their program reads the header only."""
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
    """Whether a frame row holds bytes of a message whose API is known. Of a reply without request only the header is known."""
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
    """Stops the batch: the caller must add the program."""
    w.wanted_key = key
    w.wanted_version = version
    w.wanted_direction = direction
    return WHY_NEED_PROGRAM


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def run_on_row(w: WalkState, row: cython.longlong, address: cython.longlong) -> cython.longlong:
    """Runs the program at `address` over the frame of a row; returns a DECODED_ or FULL_OUTPUT."""
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
    w.only_error = UNKNOWN
    w.once = 0
    w.frames[FRAME_BODY, row] = UNKNOWN
    outcome = run_program(w, address)
    if outcome == DECODED_FULL:
        note_errors(w, row)
        return outcome
    for number in range(REGISTERS):
        w.registers[number] = UNKNOWN
    if outcome == DECODED_TRUNCATED:
        w.values[VALUE_TOPICS, row] = UNKNOWN
        w.values[VALUE_PARTITIONS, row] = UNKNOWN
        w.values[VALUE_RECORD_BYTES, row] = UNKNOWN
        if w.first_error != 0 or w.only_error == 0:
            w.values[VALUE_ERROR_CODE, row] = w.first_error
        # A field inside an array that was seen once may come again in the bytes that are missing.
        for number in range(VALUE_COLUMNS):
            if (w.once >> number) & 1:
                w.values[number, row] = UNKNOWN
    elif outcome == DECODED_MALFORMED:
        client = w.values[VALUE_CLIENT_ID, row]
        blank_values(w, row)
        w.values[VALUE_CLIENT_ID, row] = client
    elif outcome == DECODED_UNSUPPORTED:
        w.values[VALUE_ERROR_CODE, row] = w.first_error
    elif outcome == DECODED_TRAILING:
        leave_what_fits(w, row)
    return outcome


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_errors(w: WalkState, row: cython.longlong) -> cython.int:
    """The error codes of a message that was read to its end."""
    if w.first_error != UNKNOWN:
        w.values[VALUE_ERROR_CODE, row] = w.first_error
        w.values[VALUE_ERROR_COUNT, row] = w.error_count
    return 0


@cython.cfunc
@cython.exceptval(-1)
def leave_what_fits(w: WalkState, row: cython.longlong) -> cython.int:
    """Of a message with bytes left over. A reply whose FRAME_BODY becomes UNKNOWN leaves nothing."""
    leftover: cython.longlong = w.values[VALUE_LEFTOVER, row]
    if w.frames[FRAME_EVENT, row] != FRAME_REQUEST_SEEN:
        if leftover != 1 or w.pos >= w.end or w.data[w.pos] != 0:
            blank_values(w, row)
            w.values[VALUE_LEFTOVER, row] = leftover
            w.frames[FRAME_BODY, row] = UNKNOWN
            return 0
        w.values[VALUE_THROTTLE_MS, row] = UNKNOWN
    return note_errors(w, row)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_refusal(w: WalkState, row: cython.longlong) -> cython.bint:
    """Does a reply to ApiVersions begin with the error that refuses the version (KIP-511)? Its body is of version 0 then. So is one
    with another error that holds nothing but that and an empty array, as of a proxy that does not know the version: no other
    version is so short."""
    at: cython.longlong = w.frames[FRAME_OFFSET, row] + CORRELATION_BYTES
    if w.frames[FRAME_HELD, row] < CORRELATION_BYTES + 2 or at < 0 or at + 2 > len(w.data):
        return False
    if unsigned16(w, at) == UNSUPPORTED_VERSION:
        return True
    if w.frames[FRAME_LENGTH, row] != CORRELATION_BYTES + 6 or w.frames[FRAME_HELD, row] != CORRELATION_BYTES + 6:
        return False
    if at + 6 > len(w.data):
        return False
    return unsigned16(w, at) != 0 and unsigned16(w, at + 2) == 0 and unsigned16(w, at + 4) == 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def leave_refusal(w: WalkState, row: cython.longlong) -> cython.int:
    """Of a refusal whose rest is no body of version 0, as that of librdkafka's mock cluster, the error is certain."""
    w.values[VALUE_ERROR_CODE, row] = UNSUPPORTED_VERSION
    w.values[VALUE_ERROR_COUNT, row] = 1
    w.frames[FRAME_BODY, row] = UNKNOWN
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def read_message(w: WalkState, row: cython.longlong) -> cython.longlong:
    """Reads the message of a frame row; returns a WHY_. Its rows of entries, errors and sets are all there or none."""
    key: cython.longlong = w.frames[FRAME_KEY, row]
    version: cython.longlong = w.frames[FRAME_VERSION, row]
    direction: cython.longlong = 0 if w.frames[FRAME_EVENT, row] == FRAME_REQUEST_SEEN else 1
    address: cython.longlong = w.programs[program_index(key, version, direction)]
    outcome: cython.longlong
    refused: cython.bint = False
    entries_before: cython.longlong = w.entries_used
    errors_before: cython.longlong = w.errors_used
    sets_before: cython.longlong = w.sets_used
    dropped_before: cython.longlong = w.dropped
    if key == API_VERSIONS and direction == 1 and is_refusal(w, row):
        refused = True
        version = 0
        address = w.programs[program_index(key, version, direction)]
    if address == NO_PROGRAM:
        return want_program(w, key, version, direction)
    outcome = run_on_row(w, row, address)
    if outcome == FULL_OUTPUT:
        w.entries_used = entries_before
        w.errors_used = errors_before
        w.sets_used = sets_before
        w.dropped = dropped_before
        return WHY_OUTPUT_FULL
    if refused and outcome in (DECODED_MALFORMED, DECODED_TRAILING):
        # Its row of errors, which came first, stays.
        outcome = DECODED_TRAILING
        leave_refusal(w, row)
    elif outcome == DECODED_MALFORMED or (outcome == DECODED_TRAILING and w.frames[FRAME_BODY, row] == UNKNOWN):
        w.entries_used = entries_before
        w.errors_used = errors_before
        w.sets_used = sets_before
        w.dropped = dropped_before
    w.frames[FRAME_DECODED, row] = outcome
    return WHY_DONE
