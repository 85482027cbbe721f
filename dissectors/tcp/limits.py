"""What happens when there are too many connections, or too much is buffered."""

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.draining import drain_slot, flush_slot
from dissectors.tcp.eviction_order import idlest_with_backlog, slot_to_evict
from dissectors.tcp.rows import problem_row
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def evict(tcp: TcpState) -> cython.longlong:
    """Frees the slot that is missed least."""
    why: cython.longlong
    s: cython.longlong
    if tcp.victim < 0:
        tcp.victim = slot_to_evict(tcp)
        s = 2 * tcp.victim
        if tcp.conn[tcp.victim, C_MODE] & MODE_CLOSED == 0:
            tcp.evicted += 1
            problem_row(tcp, PROBLEM_CONNECTION_EVICTED, s, tcp.side[s, S_NEXT], 0)
    why = flush_slot(tcp, tcp.victim)
    if why == WHY_DONE:
        tcp.victim = -1
    return why


@cython.cfunc
@cython.exceptval(-1)
def relieve(tcp: TcpState) -> cython.longlong:
    """Gives up what the connections idle for longest keep, until an eighth of the limit is free."""
    why: cython.longlong
    while tcp.relieved >= 0 or tcp.kept_records > tcp.most_kept - tcp.most_kept // 8:
        if tcp.relieved < 0:
            tcp.relieved = idlest_with_backlog(tcp)
            if tcp.relieved < 0:
                break
            tcp.conn[tcp.relieved, C_MODE] |= MODE_RELIEF
        why = drain_slot(tcp, tcp.relieved)
        if why != WHY_DONE:
            return why
        tcp.conn[tcp.relieved, C_MODE] &= ~MODE_RELIEF
        tcp.relieved = -1
    return WHY_DONE
