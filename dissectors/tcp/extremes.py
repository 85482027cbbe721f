"""The extremes of a connection's way, in a task: those of a span, and those of the whole connection.

The run that joins tasks takes the greatest and the least values of a span, and reads what lies before it again. So a span begins
without extremes: a task does not know what was under way before its first packet, nor which of its packets are copies of what
the task before has (even a SYN may be one). A connection that lies whole in a task has the extremes of all its spans.
"""

import cython

from dissectors.tcp.lags import difference
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
def set_extremes_apart(tcp: TcpState, slot: cython.longlong):
    """A span begins. What is known so far waits until the part has its row."""
    s: cython.longlong
    if tcp.conn[slot, CONN_FROM_SYN]:
        bring_extremes_back(tcp, slot)
        tcp.extremes[slot] = [
            (tcp.side[s, SIDE_MOST_UNACKED], tcp.side[s, SIDE_WAY_LEAST], tcp.side[s, SIDE_LAG_BOUND])
            for s in range(2 * slot, 2 * slot + 2)
        ]
    for s in range(2 * slot, 2 * slot + 2):
        tcp.side[s, SIDE_MOST_UNACKED] = 0
        tcp.side[s, SIDE_WAY_LEAST] = 0
        tcp.side[s, SIDE_LAG_BOUND] = 0


@cython.cfunc
def bring_extremes_back(tcp: TcpState, slot: cython.longlong):
    """The connection has the extremes that were set apart, where they are greater or less."""
    d: cython.longlong
    unacked: cython.longlong
    way: cython.longlong
    bound: cython.longlong
    for d, (unacked, way, bound) in enumerate(tcp.extremes.pop(slot, ())):
        if unacked > tcp.side[2 * slot + d, SIDE_MOST_UNACKED]:
            tcp.side[2 * slot + d, SIDE_MOST_UNACKED] = unacked
        if way and (tcp.side[2 * slot + d, SIDE_WAY_LEAST] == 0 or way < tcp.side[2 * slot + d, SIDE_WAY_LEAST]):
            tcp.side[2 * slot + d, SIDE_WAY_LEAST] = way
        if bound and (
            tcp.side[2 * slot + d, SIDE_LAG_BOUND] == 0 or difference(bound, tcp.side[2 * slot + d, SIDE_LAG_BOUND]) > 0
        ):
            tcp.side[2 * slot + d, SIDE_LAG_BOUND] = bound
