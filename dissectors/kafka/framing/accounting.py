"""Counts of bytes, and rows of problems.

Law: bytes handed on by reassembly = framed + skipped; what is skipped has one reason (SKIP_).
"""

import cython

from dissectors.kafka.framing.free_pages import drop_tail
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def count_skipped(f: FramingState, slot: i64, s: i64, reason: i64, count: i64) -> cython.int:
    """Counts bytes that belong to no frame; a negative `count` takes some back."""
    f.conn[slot, FRAMING_STREAM + (s & 1)] += count
    f.conn[slot, FRAMING_SKIPPED + 2 * reason + (s & 1)] += count
    return 0


@cython.cfunc
@cython.exceptval(-1)
def leave_unread(f: FramingState, slot: i64, protocol: i64) -> cython.int:
    """The connection does not speak Kafka, or nobody can tell that it does: nothing of it is read from here on."""
    s: i64
    f.conn[slot, FRAMING_PROTOCOL] = protocol
    for s in range(2 * slot, 2 * slot + 2):
        f.side[s, SIDE_MODE] = MODE_NOT_KAFKA
        drop_tail(f, s)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def leave_first_bytes(f: FramingState, slot: i64) -> cython.int:
    """The connection begins with what is no Kafka: requests of the side that opened it are looked for behind that."""
    leave_unread(f, slot, PROTOCOL_OTHER)
    if f.conn[slot, CONN_TRIES] < MOST_TRIES:
        f.side[2 * slot, SIDE_MODE] = MODE_BEHIND
    return 0


@cython.cfunc
@cython.exceptval(-1)
def note_frame_problem(f: FramingState, kind: i64, s: i64, size: i64, detail: i64) -> cython.int:
    """Writes a problem of the frame under way on this side."""
    write_problem(f, kind, s, f.side[s, SIDE_NUMBER], f.side[s, SIDE_FIRST_TIME], f.side[s, SIDE_SEQ], size, detail)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def note_chunk_problem(
    f: FramingState, kind: i64, chunks: i64[:, ::1], row: i64, slot: i64, s: i64, size: i64
) -> cython.int:
    """Writes a problem at the current chunk; a connection without a single request has none."""
    if f.conn[slot, FRAMING_REQUESTS] == 0:
        return 0
    write_problem(
        f,
        kind,
        s,
        chunks[CHUNK_NUMBER, row],
        chunks[CHUNK_TIME, row],
        chunks[CHUNK_SEQ, row] + f.chunk_position,
        size,
        UNKNOWN,
    )
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_problem(
    f: FramingState, kind: i64, s: i64, number: i64, time: i64, offset: i64, size: i64, detail: i64
) -> cython.int:
    row: i64 = f.problem_rows
    if row >= MOST_PROBLEM_ROWS:
        f.problems_dropped += 1
        return 0
    f.problems[PROBLEM_KIND, row] = kind
    f.problems[PROBLEM_PART, row] = f.conn[s >> 1, FRAMING_PART]
    f.problems[PROBLEM_NUMBER, row] = number
    f.problems[PROBLEM_TIME, row] = time
    f.problems[PROBLEM_SIDE, row] = s & 1
    f.problems[PROBLEM_OFFSET, row] = offset & LOW_32
    f.problems[PROBLEM_BYTES, row] = size
    f.problems[PROBLEM_DETAIL, row] = detail
    f.problem_rows += 1
    return 0
