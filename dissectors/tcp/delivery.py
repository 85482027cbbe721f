"""Payloads that are handed on: from the block, or from what was buffered."""

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.causal_order import captured_first, is_first_record_next, must_wait
from dissectors.tcp.out_of_order import buffer_bytes, drop_first_record
from dissectors.tcp.rows import problem_row, stream_row
from dissectors.tcp.sequence import older_ack
from dissectors.tcp.sides import unwrap_of_side
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.stream_start import lower_start


@cython.cfunc
def take_data(tcp: TcpState, s: cython.longlong):
    """Delivers the part of a payload that is next, keeps the part that is later, counts the rest as seen before."""
    first: cython.longlong = unwrap_of_side(tcp, s, tcp.seq)
    begin: cython.longlong
    end: cython.longlong
    stop: cython.longlong
    kept: cython.longlong
    ack: cython.longlong = tcp.ack
    if tcp.side[s, SIDE_STATE] & STATE_STARTED == 0:
        if not lower_start(tcp, s, first):
            problem_row(tcp, PROBLEM_STRAY_BYTES, s, first, tcp.length)
        elif buffer_bytes(tcp, s, first, first, first + tcp.length) == 0:
            tcp.side[s, SIDE_RETRANSMITTED] += 1
        return
    begin = max(first, tcp.side[s, SIDE_NEXT])
    end = before_end(tcp, s, begin, first + tcp.length)
    if begin >= end:
        # A keep-alive may repeat the last byte.
        if end <= tcp.side[s, SIDE_NEXT] and (tcp.length != 1 or first != tcp.side[s, SIDE_NEXT] - 1):
            tcp.side[s, SIDE_RETRANSMITTED] += 1
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
        kept = buffer_bytes(tcp, s, first, stop, end)
        if kept > 0:
            # While the peer's start is held back, waiting says nothing about the order of the capture.
            if tcp.side[s ^ 1, SIDE_STATE] & STATE_STARTED or tcp.side[s ^ 1, SIDE_LOST_TO]:
                tcp.side[s, SIDE_REORDERED] += 1
        elif stop == begin:
            tcp.side[s, SIDE_RETRANSMITTED] += 1


@cython.cfunc
@cython.exceptval(-1)
def before_end(tcp: TcpState, s: cython.longlong, begin: cython.longlong, end: cython.longlong) -> cython.longlong:
    """`end`, or where the stream ends before it: what lies beyond is no part of the stream."""
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
    """Delivers [next, stop) of a payload that begins at `first`, from the block; what was not captured is a gap."""
    skip: cython.longlong = tcp.side[s, SIDE_NEXT] - first
    there: cython.longlong = min(stop, first + tcp.captured) - tcp.side[s, SIDE_NEXT]
    if there > 0:
        stream_row(tcp, CHUNK_DATA, s, tcp.offset + skip, there, tcp.time, tcp.number, 0)
    if tcp.side[s, SIDE_NEXT] < stop:
        stream_row(tcp, CHUNK_GAP, s, 0, stop - tcp.side[s, SIDE_NEXT], tcp.time, tcp.number, GAP_CUT)


@cython.cfunc
@cython.exceptval(-1)
def deliver_one(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Lets out a record that is next in its stream and follows nothing of the peer."""
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
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    length: cython.longlong = tcp.records[record, RECORD_LENGTH]
    time: cython.longlong = tcp.records[record, RECORD_TIME]
    number: cython.longlong = tcp.records[record, RECORD_NUMBER]
    if tcp.records[record, RECORD_CUT]:
        stream_row(tcp, CHUNK_GAP, s, 0, length, time, number, GAP_CUT)
    else:
        stream_row(tcp, CHUNK_DATA, s, record * PAGE_BYTES, length, time, number, 0)
        tcp.chunks[CHUNK_BUFFER, tcp.chunk_rows - 1] = 1
    drop_first_record(tcp, s)
