"""Rows that leave the stage: chunks, parts, problems.

A chunk row moves the side on in its stream: SIDE_NEXT and the counts of bytes and gaps change here and in the fast path alone.
The OPEN row of a part is written before its first other row, so the sides may be swapped until then.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.problems import *
from dissectors.tcp.extremes import bring_extremes_back
from dissectors.tcp.flow_hash import flow_hash
from dissectors.tcp.lags import way_count, way_percentile
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
    row: cython.longlong = tcp.chunk_rows
    tcp.chunks[CHUNK_KIND, row] = kind
    tcp.chunks[CHUNK_SLOT, row] = s >> 1
    tcp.chunks[CHUNK_SIDE, row] = s & 1
    tcp.chunks[CHUNK_BUFFER, row] = 0
    tcp.chunks[CHUNK_OFFSET, row] = offset
    tcp.chunks[CHUNK_LENGTH, row] = length
    tcp.chunks[CHUNK_TIME, row] = time
    tcp.chunks[CHUNK_NUMBER, row] = number
    tcp.chunks[CHUNK_SEQ, row] = seq & LOW_32
    tcp.chunks[CHUNK_DETAIL, row] = detail
    tcp.chunk_rows = row + 1
    return 0


@cython.cfunc
def open_row(tcp: TcpState, slot: cython.longlong):
    """The OPEN row of a part. From here on it is settled which side is which."""
    row: cython.longlong = tcp.chunk_rows
    tcp.conn[slot, CONN_MODE] |= MODE_OPENED
    chunk_row(
        tcp,
        CHUNK_OPEN,
        2 * slot,
        1 if tcp.conn[slot, CONN_SYN] else 0,
        tcp.conn[slot, CONN_A_PORT] * 65536 + tcp.conn[slot, CONN_B_PORT],
        tcp.conn[slot, CONN_FIRST_TIME],
        tcp.conn[slot, CONN_FIRST_NUMBER],
        0,
        tcp.conn[slot, CONN_PART],
    )
    tcp.chunks[CHUNK_SEQ, row] = flow_hash(
        cython.cast(cython.ulonglong, tcp.conn[slot, CONN_NETWORK] << 32 | tcp.conn[slot, CONN_VIEW]),
        tcp.conn[slot, CONN_TAP],
        tcp.conn[slot, CONN_A_HIGH],
        tcp.conn[slot, CONN_A_LOW],
        tcp.conn[slot, CONN_A_PORT],
        tcp.conn[slot, CONN_B_HIGH],
        tcp.conn[slot, CONN_B_LOW],
        tcp.conn[slot, CONN_B_PORT],
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
    """A chunk row at SIDE_NEXT, which moves on by `length`; before it the OPEN row, when that is not written yet."""
    if tcp.conn[s >> 1, CONN_MODE] & MODE_OPENED == 0:
        open_row(tcp, s >> 1)
    chunk_row(tcp, kind, s, offset, length, time, number, tcp.side[s, SIDE_NEXT], detail)
    tcp.side[s, SIDE_NEXT] += length
    if kind == CHUNK_DATA:
        tcp.side[s, SIDE_STREAM] += length
    elif kind == CHUNK_GAP:
        tcp.side[s, SIDE_GAPS] += 1
        tcp.side[s, SIDE_GAP_BYTES] += length


@cython.cfunc
def problem_row(tcp: TcpState, kind: cython.longlong, s: cython.longlong, seq: cython.longlong, size: cython.longlong):
    """A problem of side `s`, at the newest segment of the connection."""
    problem_of_packet(tcp, kind, s, seq, size, tcp.conn[s >> 1, CONN_LAST_TIME], tcp.conn[s >> 1, CONN_LAST_NUMBER])


@cython.cfunc
def problem_of_packet(
    tcp: TcpState,
    kind: cython.longlong,
    s: cython.longlong,
    seq: cython.longlong,
    size: cython.longlong,
    time: cython.longlong,
    number: cython.longlong,
):
    """A problem of side `s`, at a packet. Of a side only the first few are written, so that one broken connection does not fill
    the table."""
    row: cython.longlong = tcp.problem_rows
    tcp.side[s, SIDE_PROBLEMS] += 1
    if row == PROBLEM_ROWS or (tcp.side[s, SIDE_PROBLEMS] > PROBLEMS_PER_SIDE and kind != PROBLEM_CONNECTION_EVICTED):
        tcp.problems_dropped += 1
        return
    if tcp.problems_memory is None:
        tcp.problems_memory = new_matrix(PROBLEM_COLUMNS, PROBLEM_ROWS)
        tcp.problems = tcp.problems_memory
    tcp.problems[PROBLEM_KIND, row] = kind
    tcp.problems[PROBLEM_PART, row] = tcp.conn[s >> 1, CONN_PART]
    tcp.problems[PROBLEM_NUMBER, row] = number
    tcp.problems[PROBLEM_TIME, row] = time
    tcp.problems[PROBLEM_SIDE, row] = s & 1
    tcp.problems[PROBLEM_OFFSET, row] = seq & LOW_32
    tcp.problems[PROBLEM_BYTES, row] = size
    tcp.problems[PROBLEM_DETAIL, row] = 0
    tcp.problem_rows = row + 1


@cython.cfunc
def part_row(tcp: TcpState, slot: cython.longlong):
    """The part's row, as its slot is freed."""
    row: cython.longlong = tcp.part_rows
    d: cython.longlong
    column: cython.longlong
    syn: cython.longlong = tcp.conn[slot, CONN_SYN_TIME]
    syn_ack: cython.longlong = tcp.conn[slot, CONN_SYN_ACK_TIME]
    if row >= tcp.part_room:
        grow_parts(tcp)
    if tcp.in_task:
        bring_extremes_back(tcp, slot)
    tcp.parts[PART_NUMBER, row] = tcp.conn[slot, CONN_PART]
    tcp.parts[PART_A_HIGH, row] = tcp.conn[slot, CONN_A_HIGH]
    tcp.parts[PART_A_LOW, row] = tcp.conn[slot, CONN_A_LOW]
    tcp.parts[PART_B_HIGH, row] = tcp.conn[slot, CONN_B_HIGH]
    tcp.parts[PART_B_LOW, row] = tcp.conn[slot, CONN_B_LOW]
    tcp.parts[PART_A_PORT, row] = tcp.conn[slot, CONN_A_PORT]
    tcp.parts[PART_B_PORT, row] = tcp.conn[slot, CONN_B_PORT]
    tcp.parts[PART_FIRST_TIME, row] = tcp.conn[slot, CONN_FIRST_TIME]
    tcp.parts[PART_LAST_TIME, row] = tcp.conn[slot, CONN_LAST_TIME]
    tcp.parts[PART_FIRST_NUMBER, row] = tcp.conn[slot, CONN_FIRST_NUMBER]
    tcp.parts[PART_LAST_NUMBER, row] = tcp.conn[slot, CONN_LAST_NUMBER]
    tcp.parts[PART_SYN, row] = tcp.conn[slot, CONN_SYN]
    tcp.parts[PART_CLOSE, row] = tcp.conn[slot, CONN_CLOSE]
    tcp.parts[PART_END_SIDE, row] = tcp.conn[slot, CONN_END] - 1 if tcp.conn[slot, CONN_END] else UNKNOWN
    tcp.parts[PART_END_TIME, row] = known(tcp.conn[slot, CONN_END_TIME])
    tcp.parts[PART_VIEW, row] = tcp.conn[slot, CONN_VIEW]
    tcp.parts[PART_ORIGIN, row] = tcp.conn[slot, CONN_INTERFACE]
    tcp.parts[PART_POINT, row] = tcp.conn[slot, CONN_CAPTURE_POINT]
    tcp.parts[PART_TAP, row] = tcp.conn[slot, CONN_TAP]
    tcp.parts[PART_NETWORK, row] = tcp.conn[slot, CONN_NETWORK]
    tcp.parts[PART_SYN_ACK, row] = time_between(syn, syn_ack)
    tcp.parts[PART_ACK, row] = time_between(syn_ack, tcp.conn[slot, CONN_ACK_TIME])
    tcp.parts[PART_RTT, row] = UNKNOWN
    if tcp.parts[PART_SYN_ACK, row] != UNKNOWN and tcp.parts[PART_ACK, row] != UNKNOWN:
        tcp.parts[PART_RTT, row] = tcp.parts[PART_SYN_ACK, row] + tcp.parts[PART_ACK, row]
    for d in range(2):
        for column in range(PART_COUNTS):
            tcp.parts[PART_PACKETS + 2 * column + d, row] = tcp.side[2 * slot + d, SIDE_COUNTS + column]
        tcp.parts[PART_START_SEQ + d, row] = UNKNOWN
        if tcp.side[2 * slot + d, SIDE_STATE] & STATE_STARTED:
            tcp.parts[PART_START_SEQ + d, row] = tcp.side[2 * slot + d, SIDE_START] & LOW_32
        tcp.parts[PART_TTL + d, row] = tcp.side[2 * slot + d, SIDE_TTL]
        tcp.parts[PART_LAG_LEAST + d, row] = known(tcp.side[2 * slot + d, SIDE_LAG_LEAST])
        tcp.parts[PART_LAG_BOUND + d, row] = known(tcp.side[2 * slot + d, SIDE_LAG_BOUND])
        tcp.parts[PART_WAY_LEAST + d, row] = known(tcp.side[2 * slot + d, SIDE_WAY_LEAST])
        tcp.parts[PART_WAY_COUNT + d, row] = way_count(tcp, 2 * slot + d)
        tcp.parts[PART_WAY_P50 + d, row] = way_percentile(tcp, 2 * slot + d, 50)
        tcp.parts[PART_WAY_P95 + d, row] = way_percentile(tcp, 2 * slot + d, 95)
        tcp.parts[PART_MSS + d, row] = known(tcp.side[2 * slot + d, SIDE_MSS])
        tcp.parts[PART_WSCALE + d, row] = UNKNOWN
        if tcp.side[2 * slot + d, SIDE_WSCALE]:
            tcp.parts[PART_WSCALE + d, row] = tcp.side[2 * slot + d, SIDE_WSCALE] - 2
        tcp.parts[PART_MOST_UNACKED + d, row] = tcp.side[2 * slot + d, SIDE_MOST_UNACKED]
    tcp.part_rows = row + 1


@cython.cfunc
@cython.exceptval(check=False)
def known(value: cython.longlong) -> cython.longlong:
    """A value whose 0 says that it is not known."""
    return value if value else UNKNOWN


@cython.cfunc
@cython.exceptval(check=False)
def time_between(begin: cython.longlong, end: cython.longlong) -> cython.longlong:
    """ns between two times; UNKNOWN unless both are known and in order."""
    if begin == UNKNOWN or end == UNKNOWN or end < begin:
        return UNKNOWN
    return end - begin


@cython.cfunc
def grow_parts(tcp: TcpState):
    tcp.part_room = max(72, 2 * tcp.part_rows + 8)  # no power of two: columns would share cache lines
    tcp.parts_memory = with_room(tcp.parts_memory, PART_COLUMNS, tcp.part_rows, tcp.part_room)
    tcp.parts = tcp.parts_memory


@cython.cfunc
def with_room(old, columns: cython.longlong, rows: cython.longlong, room: cython.longlong):
    """A matrix with `room` rows that begins with the `rows` rows of `old`."""
    column: cython.longlong
    row: cython.longlong
    memory = new_matrix(columns, room)
    before: cython.longlong[:, ::1] = old
    after: cython.longlong[:, ::1] = memory
    for column in range(columns if rows else 0):
        for row in range(rows):
            after[column, row] = before[column, row]
    return memory


@cython.cfunc
@cython.boundscheck(False)
def queued_row(tcp: TcpState, s: cython.longlong, segment: cython.longlong):
    """The row of a segment of side `s` that waited in a queue before the capture."""
    row: cython.longlong = tcp.queued_rows
    if row >= tcp.queued_room:
        tcp.queued_room = max(1_000, 2 * row + 8)
        tcp.queued_memory = with_room(tcp.queued_memory, QUEUED_COLUMNS, row, tcp.queued_room)
        tcp.queued = tcp.queued_memory
    tcp.queued[QUEUED_PART, row] = tcp.conn[s >> 1, CONN_PART]
    tcp.queued[QUEUED_FROM_HIGH, row] = tcp.segments[SEGMENT_SRC_HIGH, segment]
    tcp.queued[QUEUED_FROM_LOW, row] = tcp.segments[SEGMENT_SRC_LOW, segment]
    tcp.queued[QUEUED_FROM_PORT, row] = tcp.segments[SEGMENT_SRC_PORT, segment]
    tcp.queued[QUEUED_NUMBER, row] = tcp.segments[SEGMENT_NUMBER, segment]
    tcp.queued[QUEUED_TIME, row] = tcp.segments[SEGMENT_TIME, segment]
    tcp.queued[QUEUED_BYTES, row] = tcp.segments[SEGMENT_LENGTH, segment]
    tcp.queued[QUEUED_LAG, row] = tcp.lag
    tcp.queued_rows = row + 1


@cython.cfunc
def take_queued(tcp: TcpState):
    """(matrix of QUEUED_ columns, rows) of the segments since the last call that waited in a queue; `feed` writes to it again."""
    rows = tcp.queued_rows
    tcp.queued_rows = 0
    return new_matrix(QUEUED_COLUMNS, 1) if tcp.queued_memory is None else tcp.queued_memory, rows


@cython.cfunc
def take_parts(tcp: TcpState):
    """(matrix of PART_ columns, rows) of the slots freed since the last call; `feed` writes to it again."""
    rows = tcp.part_rows
    tcp.part_rows = 0
    return new_matrix(PART_COLUMNS, 1) if tcp.parts_memory is None else tcp.parts_memory, rows


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
