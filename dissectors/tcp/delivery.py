"""Payloads: what is next is delivered from the block, what is later is buffered, what was seen is a retransmission.

The first copy of a byte wins, a damaged one aside (`damaged`). Bytes that were not captured (snaplen) become a gap with the
reason GAP_CUT. What lies behind the end of a stream is no part of it, and a problem.
"""

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.causal_order import captured_first, is_first_record_next, must_wait
from dissectors.tcp.damaged import replace_damaged
from dissectors.tcp.out_of_order import buffer_bytes, drop_first_record
from dissectors.tcp.output_rows import problem_row, stream_row
from dissectors.tcp.sequence import older_ack
from dissectors.tcp.sides import is_reset, is_set_aside, unwrap_of_side
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.stream_start import lower_start
from dissectors.tcp.timing import write_way, write_way_of_record


@cython.cfunc
def take_data(tcp: TcpState, s: cython.longlong):
    """Takes the payload of the loaded segment, of side `s`."""
    first: cython.longlong = unwrap_of_side(tcp, s, tcp.seq)
    begin: cython.longlong
    end: cython.longlong
    stop: cython.longlong
    buffered: cython.longlong
    ack: cython.longlong = tcp.ack
    if tcp.side[s, SIDE_STATE] & STATE_STARTED == 0:
        if not lower_start(tcp, s, first):
            problem_row(tcp, PROBLEM_STRAY_BYTES, s, first, tcp.length)
        elif buffer_bytes(tcp, s, first, first, first + tcp.length) == 0:
            tcp.side[s, SIDE_RETRANSMITTED] += not is_reset(tcp, s)
        return
    replace_damaged(tcp, s, first, first + tcp.length)
    begin = max(first, tcp.side[s, SIDE_NEXT])
    end = before_end(tcp, s, begin, first + tcp.length)
    if begin >= end:
        # A keep-alive may repeat the last byte.
        if end <= tcp.side[s, SIDE_NEXT] and (tcp.length != 1 or first != tcp.side[s, SIDE_NEXT] - 1):
            tcp.side[s, SIDE_RETRANSMITTED] += not is_reset(tcp, s)
        return
    stop = begin
    if tcp.side[s, SIDE_FIRST_RECORD] >= 0:
        ack = older_ack(ack, tcp.records[tcp.side[s, SIDE_FIRST_RECORD], RECORD_ACK])
    if begin == tcp.side[s, SIDE_NEXT] and not must_wait(tcp, s, ack):
        stop = end
        if tcp.side[s, SIDE_FIRST_RECORD] >= 0:
            stop = min(end, tcp.records[tcp.side[s, SIDE_FIRST_RECORD], RECORD_SEQ])
        deliver_from_block(tcp, s, first, stop)
    if stop < end:
        buffered = buffer_bytes(tcp, s, first, stop, end)
        if buffered > 0:
            # While the peer has not started, waiting says nothing about the order of the capture.
            # What waits for a better copy was not late.
            if (tcp.side[s ^ 1, SIDE_STATE] & STATE_STARTED or tcp.side[s ^ 1, SIDE_LOST_TO]) and not (
                is_set_aside(tcp, s) or is_set_aside(tcp, s ^ 1)
            ):
                tcp.side[s, SIDE_REORDERED] += 1
        elif stop == begin:
            tcp.side[s, SIDE_RETRANSMITTED] += not is_reset(tcp, s)


@cython.cfunc
@cython.exceptval(-1)
def before_end(tcp: TcpState, s: cython.longlong, begin: cython.longlong, end: cython.longlong) -> cython.longlong:
    """`end`, or the end of the stream when that lies before it; the bytes of [begin, end) beyond it are a problem."""
    last: cython.longlong = end
    if tcp.side[s, SIDE_STATE] & STATE_ENDED:
        last = min(end, tcp.side[s, SIDE_NEXT])
    elif tcp.side[s, SIDE_STATE] & STATE_FIN:
        last = min(end, tcp.side[s, SIDE_FIN_AT])
    if last < end:
        begin = max(begin, last)
        problem_row(tcp, PROBLEM_BYTES_AFTER_END, s, begin, end - begin)
    return last


@cython.cfunc
def deliver_from_block(tcp: TcpState, s: cython.longlong, first: cython.longlong, stop: cython.longlong):
    """Delivers [SIDE_NEXT, stop) of the loaded payload, which begins at `first`, from the block."""
    skip: cython.longlong = tcp.side[s, SIDE_NEXT] - first
    there: cython.longlong = min(stop, first + tcp.captured) - tcp.side[s, SIDE_NEXT]
    if there > 0:
        stream_row(tcp, CHUNK_DATA, s, tcp.offset + skip, there, tcp.time, tcp.number, 0)
        write_way(tcp, s, tcp.chunk_rows - 1)
    if tcp.side[s, SIDE_NEXT] < stop:
        stream_row(tcp, CHUNK_GAP, s, 0, stop - tcp.side[s, SIDE_NEXT], tcp.time, tcp.number, GAP_CUT)
        write_way(tcp, s, tcp.chunk_rows - 1)


@cython.cfunc
@cython.exceptval(-1)
def deliver_one(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Delivers a record that is next in its stream and need not wait for the peer; false when there is none."""
    a: cython.longlong = 2 * slot
    s: cython.longlong = captured_first(
        tcp,
        slot,
        is_first_record_next(tcp, a) and not must_wait(tcp, a, tcp.records[tcp.side[a, SIDE_FIRST_RECORD], RECORD_ACK]),
        is_first_record_next(tcp, a + 1)
        and not must_wait(tcp, a + 1, tcp.records[tcp.side[a + 1, SIDE_FIRST_RECORD], RECORD_ACK]),
    )
    if s < 0:
        return False
    deliver_first_record(tcp, s)
    return True


@cython.cfunc
def deliver_first_record(tcp: TcpState, s: cython.longlong):
    """Delivers the first record of a side, from the arena."""
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    length: cython.longlong = tcp.records[record, RECORD_LENGTH]
    time: cython.longlong = tcp.records[record, RECORD_TIME]
    number: cython.longlong = tcp.records[record, RECORD_NUMBER]
    if tcp.records[record, RECORD_KIND] == RECORD_CUT:
        stream_row(tcp, CHUNK_GAP, s, 0, length, time, number, GAP_CUT)
    else:
        stream_row(tcp, CHUNK_DATA, s, record * PAGE_BYTES, length, time, number, 0)
        tcp.chunks[CHUNK_BUFFER, tcp.chunk_rows - 1] = 1
    write_way_of_record(tcp, record, tcp.chunk_rows - 1)
    if tcp.records[record, RECORD_KIND] >= RECORD_DAMAGED:
        # The peer took it, so checksums of this side say nothing.
        tcp.side[s, SIDE_STATE] = tcp.side[s, SIDE_STATE] & ~STATE_RIGHT | STATE_WRONG
    drop_first_record(tcp, s)
