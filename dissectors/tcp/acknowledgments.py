"""What a side acknowledges, and how long a hole that was acknowledged is waited for."""

import cython

from dissectors.layout import *
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import end_of_seen, is_awaited, segments_seen
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
def take_ack(tcp: TcpState, s: cython.longlong):
    """Notes what side `s` acknowledges."""
    slot: cython.longlong = s >> 1
    acknowledge(tcp, s ^ 1, tcp.ack)
    if (
        tcp.conn[slot, CONN_AWAITS_ACK]
        and s & 1 == 0
        and tcp.flags & (TCP_SYN | TCP_RST) == 0
        and unwrap(tcp.side[s ^ 1, SIDE_NEXT], tcp.ack) >= tcp.side[s ^ 1, SIDE_START]
    ):
        tcp.conn[slot, CONN_AWAITS_ACK] = 0
        if tcp.conn[slot, CONN_SYN_ACK_TWICE] == 0:
            tcp.conn[slot, CONN_ACK_TIME] = tcp.time


@cython.cfunc
def acknowledge(tcp: TcpState, s: cython.longlong, ack: cython.longlong):
    """The peer acknowledged bytes of side `s`; numbers far beyond anything seen are not believed."""
    to: cython.longlong
    if tcp.side[s, SIDE_STATE] & (STATE_STARTED | STATE_ENDED) != STATE_STARTED:
        return
    to = believed_ack(tcp, s, ack)
    if to > tcp.side[s, SIDE_ACKED]:
        tcp.side[s, SIDE_ACKED] = to
        if is_awaited(tcp, s, to) and tcp.side[s, SIDE_HOLE_ACK] <= tcp.side[s, SIDE_NEXT]:
            start_window(tcp, s, to)


@cython.cfunc
@cython.exceptval(-1)
def believed_ack(tcp: TcpState, s: cython.longlong, ack: cython.longlong) -> cython.longlong:
    """How far an ACK number acknowledges side `s`; 0 when it cannot be."""
    to: cython.longlong = unwrap(tcp.side[s, SIDE_NEXT], ack)
    if tcp.side[s, SIDE_STATE] & STATE_FIN and to > tcp.side[s, SIDE_FIN_AT]:
        return tcp.side[s, SIDE_FIN_AT]
    return 0 if to > end_of_seen(tcp, s) + LARGEST_JUMP else to


@cython.cfunc
def start_window(tcp: TcpState, s: cython.longlong, to: cython.longlong):
    """Starts the window of a hole (or of the start) with the newest segment."""
    slot: cython.longlong = s >> 1
    tcp.side[s, SIDE_HOLE_ACK] = to
    tcp.side[s, SIDE_HOLE_TIME] = tcp.conn[slot, CONN_LAST_TIME]
    tcp.side[s, SIDE_HOLE_NUMBER] = tcp.conn[slot, CONN_LAST_NUMBER]
    tcp.side[s, SIDE_HOLE_COUNT] = segments_seen(tcp, slot)


@cython.cfunc
@cython.exceptval(-1)
def has_window_passed(
    tcp: TcpState,
    slot: cython.longlong,
    time: cython.longlong,
    count: cython.longlong,
    ns: cython.longlong,
    segments: cython.longlong,
) -> cython.bint:
    """Whether a window that began then has passed; a clock set back counts as time passed."""
    span: cython.longlong = tcp.conn[slot, CONN_LAST_TIME] - time
    return (span >= ns or -span >= ns) and segments_seen(tcp, slot) - count >= segments


@cython.cfunc
def check_hole_window(tcp: TcpState, s: cython.longlong):
    """Looks whether the window of the ACK noted for this side's holes has passed.

    One ACK is noted at a time. When its window has passed, all holes before it are lost, and the newest ACK is
    noted with the time of now: so a later hole waits for one to two windows, and a row of holes for no more.
    """
    slot: cython.longlong = s >> 1
    state: cython.longlong = tcp.side[s, SIDE_STATE]
    noted: cython.longlong = tcp.side[s, SIDE_HOLE_ACK]
    if state & (STATE_STARTED | STATE_ENDED) != STATE_STARTED:
        return
    if noted > tcp.side[s, SIDE_NEXT]:
        if not has_window_passed(
            tcp, slot, tcp.side[s, SIDE_HOLE_TIME], tcp.side[s, SIDE_HOLE_COUNT], tcp.reorder_ns, tcp.reorder_segments
        ):
            return
        tcp.side[s, SIDE_LOST_TO] = noted
        tcp.side[s, SIDE_LOST_TIME] = tcp.side[s, SIDE_HOLE_TIME]
        tcp.side[s, SIDE_LOST_NUMBER] = tcp.side[s, SIDE_HOLE_NUMBER]
    tcp.side[s, SIDE_HOLE_ACK] = 0
    if tcp.side[s, SIDE_ACKED] > noted and is_awaited(tcp, s, tcp.side[s, SIDE_ACKED]):
        start_window(tcp, s, tcp.side[s, SIDE_ACKED])
