"""Limits: too many connections, or too many buffered bytes.

Only here does a connection depend on others. What is cut is a problem, and is counted.

A flow that was given up stays given up until it begins anew with a SYN: were each of its segments the beginning of another
part, each would give up one more connection. A connection that showed only its SYN is no loss (`eviction_order`): a port
scan or a SYN flood leaves the connections alone that have something to tell.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
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
    if tcp.victim < 0:
        choose_victim(tcp, slot_to_evict(tcp))
    why = flush_slot(tcp, tcp.victim)
    if why == WHY_DONE:
        tcp.victim = -1
    return why


@cython.cfunc
def choose_victim(tcp: TcpState, slot: cython.longlong):
    """The slot that `evict` frees next. Of an open connection this is a loss, and is told."""
    tcp.victim = slot
    if tcp.conn[slot, CONN_MODE] & (MODE_CLOSED | MODE_HALF_OPEN) == 0:
        tcp.evicted += 1
        note_given_up(tcp, tcp.conn[slot, CONN_HASH])
        problem_row(tcp, PROBLEM_CONNECTION_EVICTED, 2 * slot, tcp.side[2 * slot, SIDE_NEXT], 0)


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


@cython.cfunc
def note_given_up(tcp: TcpState, key: cython.longlong):
    """Remembers the flow with this hash as given up. Not in a task, which hands on what it does not know, to be joined."""
    if tcp.in_task:
        return
    if tcp.given_up is None:
        tcp.given_up = new_matrix(1, GIVEN_UP_FLOWS)
    # No hash is negative, and 0 means that the place is free.
    tcp.given_up[0, key & (GIVEN_UP_FLOWS - 1)] = key + 1


@cython.cfunc
@cython.exceptval(-1)
def stays_given_up(tcp: TcpState, key: cython.longlong) -> cython.bint:
    """Whether the loaded segment, of no connection that is there, is of a flow that was given up. A SYN ends that."""
    place: cython.longlong = key & (GIVEN_UP_FLOWS - 1)
    if tcp.given_up is None or tcp.given_up[0, place] != key + 1:
        return False
    if tcp.flags & (TCP_SYN | TCP_RST) == TCP_SYN:
        tcp.given_up[0, place] = 0
        return False
    tcp.segments_given_up += 1
    return True
