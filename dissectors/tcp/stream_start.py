"""Where the stream of a side begins.

At its SYN, where that was seen; without a SYN+ACK, at what the caller acknowledges first, or before. A side met in mid-flight waits
for a smaller window (START_SEGMENTS, START_NS) and begins at its lowest sequence number by then, so that segments out of order at
the start of the capture do not get lost.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.acknowledgments import acknowledge, has_window_passed, start_window
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def lower_start(tcp: TcpState, s: cython.longlong, seq: cython.longlong) -> cython.bint:
    """A side that has not started would start at `seq` or before; its window begins with its first bytes.

    False when `seq` is further from the first number seen than any TCP window is wide (RFC 7323).
    """
    if tcp.side[s, SIDE_STATE] & STATE_STARTED:
        return True
    if seq < tcp.side[s, SIDE_START] - LARGEST_WINDOW or seq > tcp.side[s, SIDE_START] + LARGEST_WINDOW:
        return False
    if tcp.side[s, SIDE_FIRST_RECORD] < 0 and tcp.side[s, SIDE_STATE] & STATE_FIN == 0:
        tcp.side[s, SIDE_LOST_TO] = 0
        start_window(tcp, s, 0)
    if tcp.side[s, SIDE_LOWEST_START] == 0 or seq < tcp.side[s, SIDE_LOWEST_START]:
        tcp.side[s, SIDE_LOWEST_START] = seq
    return True


@cython.cfunc
def start_stream(tcp: TcpState, s: cython.longlong, seq: cython.longlong):
    """The stream of side `s` starts at `seq`."""
    tcp.side[s, SIDE_STATE] |= STATE_STARTED
    tcp.side[s, SIDE_NEXT] = seq
    tcp.side[s, SIDE_START] = seq
    tcp.side[s, SIDE_HOLE_ACK] = 0
    tcp.side[s, SIDE_LOST_TO] = 0
    if tcp.side[s ^ 1, SIDE_LAST_ACK] != UNKNOWN:
        acknowledge(tcp, s, tcp.side[s ^ 1, SIDE_LAST_ACK])


@cython.cfunc
def check_start_window(tcp: TcpState, s: cython.longlong):
    """Notes when the window of a side that has not started has passed."""
    if tcp.side[s, SIDE_STATE] & STATE_STARTED == 0 and has_window_passed(
        tcp, s >> 1, tcp.side[s, SIDE_HOLE_TIME], tcp.side[s, SIDE_HOLE_COUNT], START_NS, START_SEGMENTS
    ):
        tcp.side[s, SIDE_LOST_TO] = 1
