"""Limits: too many connections, or too many buffered bytes.

Only here does a connection depend on others. What is cut is a problem, and is counted.
"""

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.draining import drain_slot, flush_slot
from dissectors.tcp.eviction_order import next_backlog, slot_to_evict
from dissectors.tcp.output_rows import problem_row
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def evict(tcp: TcpState) -> cython.longlong:
    """Frees one slot; returns why it stopped."""
    why: cython.longlong
    s: cython.longlong
    if tcp.victim < 0:
        tcp.victim = slot_to_evict(tcp)
        s = 2 * tcp.victim
        if tcp.conn[tcp.victim, CONN_MODE] & MODE_CLOSED == 0:
            tcp.evicted += 1
            problem_row(tcp, PROBLEM_CONNECTION_EVICTED, s, tcp.side[s, SIDE_NEXT], 0)
    why = flush_slot(tcp, tcp.victim)
    if why == WHY_DONE:
        tcp.victim = -1
    return why


@cython.cfunc
@cython.exceptval(-1)
def free_backlog(tcp: TcpState) -> cython.longlong:
    """Gives up holes of the connections idle for longest, until an eighth of the limit is free; returns why it stopped."""
    why: cython.longlong
    while tcp.giving_up >= 0 or tcp.buffered_pages > tcp.max_buffered - tcp.max_buffered // 8:
        if tcp.giving_up < 0:
            tcp.giving_up = next_backlog(tcp)
            if tcp.giving_up < 0:
                break
            tcp.conn[tcp.giving_up, CONN_MODE] |= MODE_GIVING_UP
        why = drain_slot(tcp, tcp.giving_up)
        if why != WHY_DONE:
            return why
        tcp.conn[tcp.giving_up, CONN_MODE] &= ~MODE_GIVING_UP
        tcp.giving_up = -1
    return WHY_DONE
