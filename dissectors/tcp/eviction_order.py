"""Which connection is given up first when there are too many, or too much is buffered.

Too many: of the closed the one closed first. Else the one idle for longest; of the half-open ones alone while these are more
than a quarter of the limit. So a flood or a scan gives up itself, and a handshake under way is not taken for one. Too much
buffered: the connection idle for longest among those with a backlog, that is with buffered bytes.
"""

import heapq

import cython

from dissectors.layout import *
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def slot_to_evict(tcp: TcpState) -> cython.longlong:
    """The slot to evict.

    The heaps hold ranks that were true when they were entered; one that has changed is entered again when it comes up.
    """
    slot: cython.longlong
    if tcp.eviction_heap is None or len(tcp.eviction_heap) + len(tcp.half_open_heap) > 4 * tcp.live + 64:
        tcp.eviction_heap = []
        tcp.half_open_heap = []
        for slot in range(tcp.slots):
            if tcp.conn[slot, CONN_MODE] & MODE_LIVE:
                note_rank(tcp, slot)
    slot = first_in(tcp, tcp.eviction_heap)
    if tcp.conn[slot, CONN_MODE] & MODE_CLOSED == 0 and tcp.half_open > tcp.max_live // HALF_OPEN_PART:
        return first_in(tcp, tcp.half_open_heap)
    return slot


@cython.cfunc
def note_rank(tcp: TcpState, slot: cython.longlong):
    """Enters a slot into the heaps, if the limit has been felt."""
    if tcp.eviction_heap is not None:
        heapq.heappush(tcp.eviction_heap, eviction_rank(tcp, slot))
        if tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN:
            heapq.heappush(tcp.half_open_heap, eviction_rank(tcp, slot))


@cython.cfunc
@cython.exceptval(-1)
def first_in(tcp: TcpState, heap: list) -> cython.longlong:
    """The slot of the first entry that is still true. It stays there, until its slot is free."""
    slot: cython.longlong
    while True:
        entry = heap[0]
        slot = entry[2]
        if (
            tcp.conn[slot, CONN_MODE] & MODE_LIVE == 0
            or tcp.conn[slot, CONN_PART] != entry[3]
            or (heap is tcp.half_open_heap and tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN == 0)
        ):
            heapq.heappop(heap)
            continue
        now = eviction_rank(tcp, slot)
        if now == entry:
            return slot
        heapq.heapreplace(heap, now)


@cython.cfunc
def eviction_rank(tcp: TcpState, slot: cython.longlong):
    """An entry of the heaps: 0 closed, 1 not; the packet that closed it or its newest one; slot and part."""
    if tcp.conn[slot, CONN_MODE] & MODE_CLOSED:
        return (0, tcp.conn[slot, CONN_CLOSED_NUMBER], slot, tcp.conn[slot, CONN_PART])
    return (1, tcp.conn[slot, CONN_LAST_NUMBER], slot, tcp.conn[slot, CONN_PART])


@cython.cfunc
def note_half_open(tcp: TcpState, slot: cython.longlong):
    """Counts a connection among the half-open ones, or no longer."""
    was: cython.bint = tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN != 0
    now: cython.bint = is_half_open(tcp, slot)
    if now != was:
        tcp.conn[slot, CONN_MODE] ^= MODE_HALF_OPEN
        tcp.half_open += 1 if now else -1
        if now and tcp.eviction_heap is not None:
            heapq.heappush(tcp.half_open_heap, eviction_rank(tcp, slot))


@cython.cfunc
@cython.exceptval(-1)
def is_half_open(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Whether nothing but SYNs of one side was seen: a scan, a flood, or a server that does not answer."""
    return (
        tcp.conn[slot, CONN_SYN] == 1
        and tcp.side[2 * slot + 1, SIDE_PACKETS] == 0
        and tcp.side[2 * slot, SIDE_LAST_ACK] == UNKNOWN
        and tcp.side[2 * slot, SIDE_BYTES] == 0
    )


@cython.cfunc
@cython.exceptval(-2)
def next_backlog(tcp: TcpState) -> cython.longlong:
    """The slot with a backlog that is idle for longest; -1 when none has a backlog.

    All slots are sorted at once; one that had a segment since then waits until they are sorted again.
    """
    slot: cython.longlong
    is_sorted: cython.bint = False
    while True:
        while tcp.backlogs:
            number, slot, part = tcp.backlogs.pop()
            if (
                has_backlog(tcp, slot)
                and tcp.conn[slot, CONN_PART] == part
                and tcp.conn[slot, CONN_LAST_NUMBER] == number
            ):
                return slot
        if is_sorted:
            return -1
        is_sorted = True
        tcp.backlogs = [
            (tcp.conn[slot, CONN_LAST_NUMBER], slot, tcp.conn[slot, CONN_PART])
            for slot in range(tcp.slots)
            if has_backlog(tcp, slot)
        ]
        tcp.backlogs.sort(reverse=True)


@cython.cfunc
@cython.exceptval(-1)
def has_backlog(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Whether bytes of the connection are buffered."""
    return (
        tcp.conn[slot, CONN_MODE] & MODE_LIVE != 0
        and tcp.side[2 * slot, SIDE_PAGES] + tcp.side[2 * slot + 1, SIDE_PAGES] > 0
    )
