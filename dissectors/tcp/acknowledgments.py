"""Acknowledgments: how far the peer has bytes of a side, and how long a hole before that is waited for.

A hole that was acknowledged was received, so its bytes are late in the capture or missing from it. They are waited for during
the reorder window, which begins with the ACK: a number of segments of the connection and a span of capture time, and both
have to pass. Of a side only one window runs at a time.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import end_of_seen, is_awaited, segments_seen
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
def take_ack(tcp: TcpState, s: cython.longlong):
    """Notes what side `s` acknowledges with the loaded segment, and the last ACK of a handshake."""
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
    """The peer has acknowledged the bytes of side `s` before `ack`."""
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
    """The ACK number unwrapped for side `s`, not beyond its FIN; 0 when it lies too far beyond all that was seen."""
    to: cython.longlong = unwrap(tcp.side[s, SIDE_NEXT], ack)
    if tcp.side[s, SIDE_STATE] & STATE_FIN and to > tcp.side[s, SIDE_FIN_AT]:
        return tcp.side[s, SIDE_FIN_AT]
    return 0 if to > end_of_seen(tcp, s) + LARGEST_JUMP else to


@cython.cfunc
def start_window(tcp: TcpState, s: cython.longlong, to: cython.longlong):
    """Begins the reorder window of the holes before `to` (0: of the start of the side) with the newest segment."""
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
    """Whether a window of `ns` and `segments` that began at `time`, with `count` segments, has passed. A clock that was set
    back counts as time passed, and so does a time that is not known."""
    span: cython.longlong = ns
    if time != UNKNOWN and tcp.conn[slot, CONN_LAST_TIME] != UNKNOWN:
        span = tcp.conn[slot, CONN_LAST_TIME] - time
    return (span >= ns or -span >= ns) and segments_seen(tcp, slot) - count >= segments


@cython.cfunc
def check_hole_window(tcp: TcpState, s: cython.longlong):
    """Declares holes lost whose reorder window has passed.

    When the window has passed, all holes before its ACK are lost, and a new window begins now for the newest ACK. So a
    later hole waits for one to two windows, and so does a row of holes.
    """
    slot: cython.longlong = s >> 1
    state: cython.longlong = tcp.side[s, SIDE_STATE]
    covered: cython.longlong = tcp.side[s, SIDE_HOLE_ACK]
    if state & (STATE_STARTED | STATE_ENDED) != STATE_STARTED:
        return
    if covered > tcp.side[s, SIDE_NEXT]:
        if not has_window_passed(
            tcp, slot, tcp.side[s, SIDE_HOLE_TIME], tcp.side[s, SIDE_HOLE_COUNT], tcp.reorder_ns, tcp.reorder_segments
        ):
            return
        tcp.side[s, SIDE_LOST_TO] = covered
        tcp.side[s, SIDE_LOST_TIME] = tcp.side[s, SIDE_HOLE_TIME]
        tcp.side[s, SIDE_LOST_NUMBER] = tcp.side[s, SIDE_HOLE_NUMBER]
    tcp.side[s, SIDE_HOLE_ACK] = 0
    if tcp.side[s, SIDE_ACKED] > covered and is_awaited(tcp, s, tcp.side[s, SIDE_ACKED]):
        start_window(tcp, s, tcp.side[s, SIDE_ACKED])
