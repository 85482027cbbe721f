"""Rows that leave the stage: chunks, parts, problems."""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.problems import *
from dissectors.tcp.flow_hash import flow_hash
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def chunk_row(
    tcp: TcpState,
    kind: cython.longlong,
    s: cython.longlong,
    offset: cython.longlong,
    length: cython.longlong,
    time: cython.longlong,
    number: cython.longlong,
    seq: cython.longlong,
    detail: cython.longlong,
) -> cython.int:
    """A row about side `s` (2 * slot + side); its bytes, if any, are in the block."""
    row: cython.longlong = tcp.used
    tcp.out[CHUNK_KIND, row] = kind
    tcp.out[CHUNK_SLOT, row] = s >> 1
    tcp.out[CHUNK_SIDE, row] = s & 1
    tcp.out[CHUNK_BUFFER, row] = 0
    tcp.out[CHUNK_OFFSET, row] = offset
    tcp.out[CHUNK_LENGTH, row] = length
    tcp.out[CHUNK_TIME, row] = time
    tcp.out[CHUNK_NUMBER, row] = number
    tcp.out[CHUNK_SEQ, row] = seq & LOW
    tcp.out[CHUNK_DETAIL, row] = detail
    tcp.used = row + 1
    return 0


@cython.cfunc
def open_row(tcp: TcpState, slot: cython.longlong):
    """Written before the first other row of the part, when it is settled which side is which."""
    row: cython.longlong = tcp.used
    tcp.conn[slot, C_MODE] |= MODE_OPENED
    chunk_row(
        tcp,
        CHUNK_OPEN,
        2 * slot,
        1 if tcp.conn[slot, C_SYN] else 0,
        tcp.conn[slot, C_A_PORT] * 65536 + tcp.conn[slot, C_B_PORT],
        tcp.conn[slot, C_FIRST_TIME],
        tcp.conn[slot, C_FIRST_NUMBER],
        0,
        tcp.conn[slot, C_PART],
    )
    tcp.out[CHUNK_SEQ, row] = flow_hash(
        cython.cast(cython.ulonglong, tcp.conn[slot, C_LANE]),
        tcp.conn[slot, C_SCOPE],
        tcp.conn[slot, C_A_HIGH],
        tcp.conn[slot, C_A_LOW],
        tcp.conn[slot, C_A_PORT],
        tcp.conn[slot, C_B_HIGH],
        tcp.conn[slot, C_B_LOW],
        tcp.conn[slot, C_B_PORT],
    )


@cython.cfunc
def stream_row(
    tcp: TcpState,
    kind: cython.longlong,
    s: cython.longlong,
    offset: cython.longlong,
    length: cython.longlong,
    time: cython.longlong,
    number: cython.longlong,
    detail: cython.longlong,
):
    """A chunk row at the side's place in its stream, which it moves on by `length`."""
    if tcp.conn[s >> 1, C_MODE] & MODE_OPENED == 0:
        open_row(tcp, s >> 1)
    chunk_row(tcp, kind, s, offset, length, time, number, tcp.side[s, S_NEXT], detail)
    tcp.side[s, S_NEXT] += length
    if kind == CHUNK_DATA:
        tcp.side[s, S_STREAM] += length
    elif kind == CHUNK_GAP:
        tcp.side[s, S_GAPS] += 1
        tcp.side[s, S_GAP_BYTES] += length


@cython.cfunc
def problem_row(tcp: TcpState, kind: cython.longlong, s: cython.longlong, seq: cython.longlong, size: cython.longlong):
    """Something odd about side `s`, seen at its newest segment; a handful a side, lest they bury the rest."""
    row: cython.longlong = tcp.problem_rows
    tcp.side[s, S_PROBLEMS] += 1
    if row == PROBLEM_ROWS or (tcp.side[s, S_PROBLEMS] > PROBLEMS_PER_SIDE and kind != PROBLEM_CONNECTION_EVICTED):
        tcp.problems_dropped += 1
        return
    if tcp.problems_memory is None:
        tcp.problems_memory = new_matrix(PROBLEM_COLUMNS, PROBLEM_ROWS)
        tcp.problems = tcp.problems_memory
    tcp.problems[PROBLEM_KIND, row] = kind
    tcp.problems[PROBLEM_PART, row] = tcp.conn[s >> 1, C_PART]
    tcp.problems[PROBLEM_NUMBER, row] = tcp.conn[s >> 1, C_LAST_NUMBER]
    tcp.problems[PROBLEM_TIME, row] = tcp.conn[s >> 1, C_LAST_TIME]
    tcp.problems[PROBLEM_SIDE, row] = s & 1
    tcp.problems[PROBLEM_OFFSET, row] = seq & LOW
    tcp.problems[PROBLEM_BYTES, row] = size
    tcp.problems[PROBLEM_DETAIL, row] = 0
    tcp.problem_rows = row + 1


@cython.cfunc
def part_row(tcp: TcpState, slot: cython.longlong):
    row: cython.longlong = tcp.part_rows
    d: cython.longlong
    column: cython.longlong
    syn: cython.longlong = tcp.conn[slot, C_SYN_TIME]
    syn_ack: cython.longlong = tcp.conn[slot, C_SYN_ACK_TIME]
    if row >= tcp.part_room:
        grow_parts(tcp)
    tcp.parts[PART_NUMBER, row] = tcp.conn[slot, C_PART]
    tcp.parts[PART_SCOPE, row] = tcp.conn[slot, C_SCOPE]
    tcp.parts[PART_A_HIGH, row] = tcp.conn[slot, C_A_HIGH]
    tcp.parts[PART_A_LOW, row] = tcp.conn[slot, C_A_LOW]
    tcp.parts[PART_B_HIGH, row] = tcp.conn[slot, C_B_HIGH]
    tcp.parts[PART_B_LOW, row] = tcp.conn[slot, C_B_LOW]
    tcp.parts[PART_A_PORT, row] = tcp.conn[slot, C_A_PORT]
    tcp.parts[PART_B_PORT, row] = tcp.conn[slot, C_B_PORT]
    tcp.parts[PART_FIRST_TIME, row] = tcp.conn[slot, C_FIRST_TIME]
    tcp.parts[PART_LAST_TIME, row] = tcp.conn[slot, C_LAST_TIME]
    tcp.parts[PART_FIRST_NUMBER, row] = tcp.conn[slot, C_FIRST_NUMBER]
    tcp.parts[PART_LAST_NUMBER, row] = tcp.conn[slot, C_LAST_NUMBER]
    tcp.parts[PART_SYN, row] = tcp.conn[slot, C_SYN]
    tcp.parts[PART_CLOSE, row] = tcp.conn[slot, C_CLOSE]
    tcp.parts[PART_LANE, row] = tcp.conn[slot, C_LANE]
    tcp.parts[PART_ORIGIN, row] = tcp.conn[slot, C_ORIGIN]
    tcp.parts[PART_POINT, row] = tcp.conn[slot, C_POINT]
    tcp.parts[PART_SYN_ACK, row] = time_between(syn, syn_ack)
    tcp.parts[PART_ACK, row] = time_between(syn_ack, tcp.conn[slot, C_ACK_TIME])
    tcp.parts[PART_RTT, row] = UNKNOWN
    if tcp.parts[PART_SYN_ACK, row] != UNKNOWN and tcp.parts[PART_ACK, row] != UNKNOWN:
        tcp.parts[PART_RTT, row] = tcp.parts[PART_SYN_ACK, row] + tcp.parts[PART_ACK, row]
    for d in range(2):
        for column in range(S_DUPLICATES - S_PACKETS + 1):
            tcp.parts[PART_PACKETS + 2 * column + d, row] = tcp.side[2 * slot + d, S_PACKETS + column]
        tcp.parts[PART_START_SEQ + d, row] = UNKNOWN
        if tcp.side[2 * slot + d, S_STATE] & SIDE_STARTED:
            tcp.parts[PART_START_SEQ + d, row] = tcp.side[2 * slot + d, S_START] & LOW
    tcp.part_rows = row + 1


@cython.cfunc
@cython.exceptval(check=False)
def time_between(begin: cython.longlong, end: cython.longlong) -> cython.longlong:
    """UNKNOWN unless both are known and in order."""
    if begin == UNKNOWN or end == UNKNOWN or end < begin:
        return UNKNOWN
    return end - begin


@cython.cfunc
def grow_parts(tcp: TcpState):
    column: cython.longlong
    row: cython.longlong
    rows: cython.longlong = tcp.part_rows
    old: cython.longlong[:, ::1] = tcp.parts_memory
    tcp.part_room = max(64, 2 * rows)
    tcp.parts_memory = new_matrix(PART_COLUMNS, tcp.part_room)
    tcp.parts = tcp.parts_memory
    for column in range(PART_COLUMNS):
        for row in range(rows):
            tcp.parts[column, row] = old[column, row]


@cython.cfunc
def take_parts(tcp: TcpState):
    """(matrix of PART_ columns, rows) of the slots freed since the last call."""
    taken, rows = tcp.parts_memory, tcp.part_rows
    tcp.parts_memory = None
    tcp.part_rows = 0
    tcp.part_room = 0
    return new_matrix(PART_COLUMNS, 1) if taken is None else taken, rows


@cython.cfunc
def take_problems(tcp: TcpState):
    """(matrix of PROBLEM_ columns, rows, rows dropped beyond the limit) since the last call.

    PROBLEM_OFFSET is a TCP sequence number.
    """
    taken, rows, dropped = tcp.problems_memory, tcp.problem_rows, tcp.problems_dropped
    tcp.problems_memory = None
    tcp.problem_rows = 0
    tcp.problems_dropped = 0
    return new_matrix(PROBLEM_COLUMNS, 1) if taken is None else taken, rows, dropped
