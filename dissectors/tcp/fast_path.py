"""Segments in order while nothing is pending: nearly all segments of a capture.

A segment is taken here when nothing is pending on its connection, it has no SYN, FIN or RST, acknowledges only bytes that were
delivered, and its payload, if any, is the next of its side, captured in full and not damaged. Its payload goes out as a
reference into the block. Each other segment goes to `thorough_path`. This file decides how fast reassembly is: measure each change.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.damaged import learn_checksum
from dissectors.tcp.output_rows import chunk_row, open_row
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import acks_more
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.timing import note_way, write_way


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def take_in_order(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Takes a segment of side `s` that is in order while nothing is pending; false, and nothing done, otherwise."""
    slot: cython.longlong = s >> 1
    peer: cython.longlong = s ^ 1
    flags: cython.longlong = tcp.segments[SEGMENT_FLAGS, row]
    length: cython.longlong = tcp.segments[SEGMENT_LENGTH, row]
    next_seq: cython.longlong = tcp.side[s, SIDE_NEXT]
    state: cython.longlong
    if (
        tcp.conn[slot, CONN_PENDING]
        or flags & (TCP_FIN | TCP_SYN | TCP_RST)
        or tcp.chunk_rows + ROWS_PER_STEP > tcp.chunk_room
    ):
        return False
    if flags & TCP_ACK:
        state = tcp.side[peer, SIDE_STATE]
        if state & STATE_STARTED == 0:
            if tcp.side[peer, SIDE_LOST_TO] == 0:
                return False
        elif state & STATE_ENDED == 0 and (
            unwrap(tcp.side[peer, SIDE_NEXT], tcp.segments[SEGMENT_ACK, row]) > tcp.side[peer, SIDE_NEXT]
        ):
            return False
        if length == 0 and not acks_more(tcp, s, tcp.segments[SEGMENT_ACK, row]):
            return False
    if length > 0 and (
        next_seq & LOW_32 != tcp.segments[SEGMENT_SEQ, row]
        or tcp.side[s, SIDE_STATE] & (STATE_STARTED | STATE_ENDED) != STATE_STARTED
        or tcp.segments[SEGMENT_CAPTURED, row] < length
        or learn_checksum(tcp, s, row)
    ):
        return False
    note_way(tcp, s, row)
    if length > 0:
        if tcp.conn[slot, CONN_MODE] & MODE_OPENED == 0:
            open_row(tcp, slot)
        write_way(tcp, s, tcp.chunk_rows)
        chunk_row(
            tcp,
            CHUNK_DATA,
            s,
            tcp.segments[SEGMENT_OFFSET, row],
            length,
            tcp.segments[SEGMENT_TIME, row],
            tcp.segments[SEGMENT_NUMBER, row],
            next_seq,
            0,
        )
        tcp.side[s, SIDE_NEXT] = next_seq + length
        tcp.side[s, SIDE_STREAM] += length
    count_segment(tcp, s, row)
    return True


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def count_segment(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """Counts a segment of side `s` that is no duplicate."""
    flags: cython.longlong = tcp.segments[SEGMENT_FLAGS, row]
    tcp.conn[s >> 1, CONN_LAST_TIME] = tcp.segments[SEGMENT_TIME, row]
    tcp.conn[s >> 1, CONN_LAST_NUMBER] = tcp.segments[SEGMENT_NUMBER, row]
    tcp.side[s, SIDE_PACKETS] += 1
    tcp.side[s, SIDE_BYTES] += tcp.segments[SEGMENT_LENGTH, row]
    tcp.side[s, SIDE_WIRE] += tcp.segments[SEGMENT_HEADERS, row] + tcp.segments[SEGMENT_LENGTH, row]
    if flags & TCP_ACK:
        tcp.side[s, SIDE_LAST_ACK] = tcp.segments[SEGMENT_ACK, row]
    if tcp.segments[SEGMENT_WINDOW, row] == 0 and flags & (TCP_SYN | TCP_RST) == 0:
        tcp.side[s, SIDE_ZERO_WINDOW] += 1
    return 0
