"""Which connection is given up first when there are too many, or too much is buffered."""

import heapq

import cython

from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def slot_to_evict(tcp: TcpState) -> cython.longlong:
    """The slot to give up: of the closed the one closed first, else the one idle for longest.

    The heap holds what was true when an entry was made; what has become wrong is put right when it surfaces.
    """
    slot: cython.longlong
    if tcp.eviction_heap is None or len(tcp.eviction_heap) > 4 * tcp.live + 64:
        tcp.eviction_heap = []
        for slot in range(tcp.slots):
            if tcp.conn[slot, CONN_MODE] & MODE_LIVE:
                tcp.eviction_heap.append(eviction_rank(tcp, slot))
        heapq.heapify(tcp.eviction_heap)
    while True:
        entry = heapq.heappop(tcp.eviction_heap)
        slot = entry[2]
        if tcp.conn[slot, CONN_MODE] & MODE_LIVE and tcp.conn[slot, CONN_PART] == entry[3]:
            now = eviction_rank(tcp, slot)
            if now == entry:
                return slot
            heapq.heappush(tcp.eviction_heap, now)


@cython.cfunc
def eviction_rank(tcp: TcpState, slot: cython.longlong):
    if tcp.conn[slot, CONN_MODE] & MODE_CLOSED:
        return (0, tcp.conn[slot, CONN_CLOSED_NUMBER], slot, tcp.conn[slot, CONN_PART])
    return (1, tcp.conn[slot, CONN_LAST_NUMBER], slot, tcp.conn[slot, CONN_PART])


@cython.cfunc
@cython.exceptval(-2)
def next_backlog(tcp: TcpState) -> cython.longlong:
    """The slot that keeps bytes and was heard of longest ago; -1 when none keeps any.

    All are looked at once and kept in order; whoever was heard of since waits for the next look.
    """
    slot: cython.longlong
    looked: cython.bint = False
    while True:
        while tcp.backlogs:
            number, slot, part = tcp.backlogs.pop()
            if (
                has_backlog(tcp, slot)
                and tcp.conn[slot, CONN_PART] == part
                and tcp.conn[slot, CONN_LAST_NUMBER] == number
            ):
                return slot
        if looked:
            return -1
        looked = True
        tcp.backlogs = [
            (tcp.conn[slot, CONN_LAST_NUMBER], slot, tcp.conn[slot, CONN_PART])
            for slot in range(tcp.slots)
            if has_backlog(tcp, slot)
        ]
        tcp.backlogs.sort(reverse=True)


@cython.cfunc
@cython.exceptval(-1)
def has_backlog(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    return (
        tcp.conn[slot, CONN_MODE] & MODE_LIVE != 0
        and tcp.side[2 * slot, SIDE_PAGES] + tcp.side[2 * slot + 1, SIDE_PAGES] > 0
    )
