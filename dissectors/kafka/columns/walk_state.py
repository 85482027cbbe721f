"""State of the walk stage: the message at hand, registers and stack of its program, output matrices, interned strings."""

import cython

from dissectors.layout import *

# Never said, unless a length of a message was used without being checked.
OUTSIDE = "a message reaches beyond its bytes"


@cython.cclass
class WalkState:
    """The message being read, the output matrices and what is kept between batches."""

    data: cython.const[cython.uchar][::1]
    frames: cython.longlong[:, ::1]
    values: cython.longlong[:, ::1]
    entries: cython.longlong[:, ::1]
    errors: cython.longlong[:, ::1]
    code: cython.int[::1]
    programs: cython.longlong[::1]
    registers: cython.longlong[::1]
    stack: cython.longlong[::1]
    text_numbers: cython.longlong[::1]
    text_sizes: cython.longlong[::1]
    text_bytes: cython.uchar[::1]

    pos: cython.longlong  # next byte
    end: cython.longlong  # of the bytes that are there
    limit: cython.longlong  # of the message, or of the tagged field around
    outcome: cython.longlong
    row: cython.longlong
    frame_offset: cython.longlong
    first_error: cython.longlong
    error_count: cython.longlong
    once: cython.longlong  # bit per value column that a field inside an array has filled
    entries_used: cython.longlong
    entries_size: cython.longlong
    errors_used: cython.longlong
    errors_size: cython.longlong
    dropped: cython.longlong
    most_rows: cython.longlong
    most_strings: cython.longlong
    most_string_bytes: cython.longlong
    wanted_key: cython.longlong
    wanted_version: cython.longlong
    wanted_direction: cython.longlong
    write_entries: cython.bint
    entries_full: cython.bint  # which of the two WHY_OUTPUT_FULL is about

    source: object  # memoryview of what `data` shows
    nothing: object
    strings = cython.declare(object, visibility="readonly")
    keys = cython.declare(set, visibility="readonly")  # API keys whose messages were read
    code_array: object
    entries_matrix: object
    errors_matrix: object
