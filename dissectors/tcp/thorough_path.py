"""The thorough path: a segment that the fast path did not take.

In this order: is it damaged; is it a duplicate; does it begin a new connection of its 4-tuple, so that the old one is flushed;
are the limits kept. A damaged one is set aside, of any other SYN, ACK, then RST or data and FIN are taken. Then the connection is
drained.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.acknowledgments import start_window, take_ack
from dissectors.tcp.complete_connections import disturb
from dissectors.tcp.connections import new_slot
from dissectors.tcp.damaged import brings_better_copy, is_damaged, learn_checksum, set_aside
from dissectors.tcp.delivery import take_data
from dissectors.tcp.draining import drain_slot, flush_slot
from dissectors.tcp.duplicates import count_duplicate, is_duplicate, may_be_duplicate
from dissectors.tcp.ends import take_fin, take_reset
from dissectors.tcp.eviction_order import note_half_open
from dissectors.tcp.fast_path import count_segment
from dissectors.tcp.handshake import begins_new_connection, take_syn
from dissectors.tcp.limits import evict, free_backlog, stays_given_up
from dissectors.tcp.sides import unwrap_of_side
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.stream_start import check_start_window, lower_start
from dissectors.tcp.timing import note_way


@cython.cfunc
def load_segment(tcp: TcpState, row: cython.longlong):
    """Loads a segment into the state: what other files call the loaded segment."""
    tcp.time = tcp.segments[SEGMENT_TIME, row]
    tcp.number = tcp.segments[SEGMENT_NUMBER, row]
    tcp.flags = tcp.segments[SEGMENT_FLAGS, row]
    # The SYN comes before the payload and has a number of its own.
    tcp.seq = tcp.segments[SEGMENT_SEQ, row] + (1 if tcp.flags & TCP_SYN else 0)
    tcp.ack = tcp.segments[SEGMENT_ACK, row] if tcp.flags & TCP_ACK else UNKNOWN
    tcp.offset = tcp.segments[SEGMENT_OFFSET, row]
    tcp.captured = tcp.segments[SEGMENT_CAPTURED, row]
    tcp.length = tcp.segments[SEGMENT_LENGTH, row]


@cython.cfunc
@cython.exceptval(-1)
def take_thoroughly(tcp: TcpState, s: cython.longlong, key: cython.longlong, row: cython.longlong) -> cython.longlong:
    """Takes one segment of side `s` (negative: of a new connection) and delivers what it sets free.

    Returns why it stopped; the segment was taken when that is WHY_DONE, or when `draining` names its slot.
    """
    why: cython.longlong
    damaged: cython.bint
    load_segment(tcp, row)
    damaged = s >= 0 and is_damaged(tcp, s, row)
    if (
        s >= 0
        and tcp.conn[s >> 1, CONN_MODE] & MODE_ADOPTED
        and (
            is_duplicate(tcp, row, COPY_OF_SAME_POINT)
            or damaged
            or not (tcp.conn[s >> 1, CONN_MODE] & MODE_FLUSH or begins_new_connection(tcp, s))
        )
    ):
        disturb(tcp, s >> 1)
    if s >= 0 and may_be_duplicate(tcp, s) and (damaged or not brings_better_copy(tcp, s)):
        tcp.newest_side = s
        if is_duplicate(tcp, row, COPY_OF_SAME_POINT):
            count_duplicate(tcp, s)
            return WHY_DONE
        if tcp.in_task and tcp.recent_count < RECENT_SEGMENTS:
            # It may be a duplicate of a segment before the task. Times do not tell: those of a second tap may run behind.
            tcp.conn[s >> 1, CONN_SPOILED] = 1
    if tcp.buffered_pages > tcp.max_buffered:
        why = free_backlog(tcp)
        if why != WHY_DONE:
            return why
    if s >= 0 and (tcp.conn[s >> 1, CONN_MODE] & MODE_FLUSH or (not damaged and begins_new_connection(tcp, s))):
        key = tcp.conn[s >> 1, CONN_HASH]
        tcp.new_view = tcp.conn[s >> 1, CONN_VIEW]
        tcp.new_capture_point = tcp.conn[s >> 1, CONN_CAPTURE_POINT]
        tcp.new_network = tcp.conn[s >> 1, CONN_NETWORK]
        why = flush_slot(tcp, s >> 1)
        if why != WHY_DONE:
            return why
        s = -1
    # From here on the slot that it follows may be gone: to look again would find another view, or none.
    tcp.begins_part = s < 0
    if s < 0 and stays_given_up(tcp, key):
        return WHY_DONE
    if s < 0 and tcp.live >= tcp.max_live:
        why = evict(tcp)
        if why != WHY_DONE:
            return why
    if tcp.chunk_rows + ROWS_PER_STEP > tcp.chunk_room:
        return WHY_OUTPUT_FULL
    if tcp.released_count >= tcp.max_released:
        return WHY_HEAP_FULL
    if s < 0:
        s = new_slot(tcp, key, row)
        count_segment(tcp, s, row)
        start_window(tcp, s, 0)
        start_window(tcp, s ^ 1, 0)
        learn_checksum(tcp, s, row)
    else:
        if damaged:
            set_aside(tcp, s, row)
        else:
            count_segment(tcp, s, row)
        check_start_window(tcp, s)
        check_start_window(tcp, s ^ 1)
    tcp.newest_side = s
    if not damaged:
        note_way(tcp, s, row)
        s = take_loaded(tcp, s)
    note_half_open(tcp, s >> 1)
    tcp.draining = s >> 1
    return drain_slot(tcp, s >> 1)


@cython.cfunc
@cython.exceptval(-1)
def is_first_ack_without_answer(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Is this the first ACK of side `s`, which called, before anything of its peer was seen? The peer's stream begins at that
    number, or before it: what lies between it and the first byte captured is missing."""
    peer: cython.longlong = s ^ 1
    return (
        tcp.side[s, SIDE_STATE] & STATE_CALLER != 0
        and tcp.side[peer, SIDE_STATE] & STATE_STARTED == 0
        and tcp.side[peer, SIDE_LOWEST_START] == 0
    )


@cython.cfunc
@cython.exceptval(-1)
def take_loaded(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """Takes what the loaded segment of side `s` says; returns the sender's `s`, which changes when the sides are swapped."""
    if tcp.flags & (TCP_SYN | TCP_FIN | TCP_RST):
        tcp.conn[s >> 1, CONN_SPOILED] = 1
    if tcp.flags & TCP_SYN and tcp.flags & TCP_RST == 0:
        s = take_syn(tcp, s)
    if tcp.flags & TCP_ACK:
        take_ack(tcp, s)
        if tcp.flags & (TCP_SYN | TCP_RST) == 0 and is_first_ack_without_answer(tcp, s):
            lower_start(tcp, s ^ 1, unwrap_of_side(tcp, s ^ 1, tcp.ack))
    if tcp.flags & TCP_RST:
        take_reset(tcp, s)
    else:
        if tcp.length > 0:
            take_data(tcp, s)
        if tcp.flags & TCP_FIN:
            take_fin(tcp, s)
    return s
