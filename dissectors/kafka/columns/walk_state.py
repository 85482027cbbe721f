"""State of the walk stage: the message at hand, registers and stack of its program, output matrices, interned strings."""

import cython

from dissectors.layout import *

# Text of an error that is only raised when a length of a message was used without having been checked.
OUTSIDE = "a message reaches beyond its bytes"


@cython.cclass
class WalkState:
    """The message being read, the output matrices and what is kept between batches.

    `programs[program_index(...)]` is the address of a program in `code`, NO_PROGRAM while it is not built. `stack` holds
    four numbers for each open array or tagged section: elements or tags that are left, the address of the elements or of
    the section's operation, then for an array the error rows before the element (OP_PATCH), for a section `end` and
    `limit` around it. Strings of at most TEXT_BYTES bytes are cached in `text_bytes`, `text_sizes`, `text_numbers`.
    """

    data: cython.const[cython.uchar][::1]
    frames: cython.longlong[:, ::1]
    values: cython.longlong[:, ::1]
    entries: cython.longlong[:, ::1]
    errors: cython.longlong[:, ::1]
    sets: cython.longlong[:, ::1]
    code: cython.int[::1]
    programs: cython.longlong[::1]
    registers: cython.longlong[::1]
    stack: cython.longlong[::1]
    text_numbers: cython.longlong[::1]
    text_sizes: cython.longlong[::1]
    text_bytes: cython.uchar[::1]

    pos: cython.longlong  # of the next byte to read
    end: cython.longlong  # of the bytes that were captured
    limit: cython.longlong  # end of the message, or of the tagged field around
    outcome: cython.longlong  # DECODED_ of the message, when reading it failed
    row: cython.longlong
    frame_offset: cython.longlong
    first_error: cython.longlong
    error_count: cython.longlong
    only_error: cython.longlong  # the error code of a message that has no other
    newest_error: cython.longlong  # row of the error code that was read last; -1: it was 0, or has its message
    once: cython.longlong  # a bit for each value column that a field inside an array has filled (TO_ONCE)
    entries_used: cython.longlong
    entries_size: cython.longlong
    errors_used: cython.longlong
    errors_size: cython.longlong
    sets_used: cython.longlong
    sets_size: cython.longlong
    dropped: cython.longlong  # rows that `most_rows` did not let in
    most_rows: cython.longlong
    most_strings: cython.longlong
    most_string_bytes: cython.longlong
    wanted_key: cython.longlong
    wanted_version: cython.longlong
    wanted_direction: cython.longlong
    write_entries: cython.bint
    write_sets: cython.bint
    full: cython.longlong  # after WHY_OUTPUT_FULL: the FULL_ of the output that is

    source: object  # what `data` is a view of
    nothing: object  # a matrix of one cell, in place of the caller's between two batches
    strings = cython.declare(object, visibility="readonly")
    keys = cython.declare(set, visibility="readonly")  # API keys whose messages were read
    entries_of: object  # (API key, direction), or None for all
    code_array: object
    entries_matrix: object
    errors_matrix: object
    sets_matrix: object
