"""Connections that leave their slots while they are idle (`dissectors.parking`) and come back.

Between two calls of `feed` nothing refers to a slot but the flow table, a slot that is being drained or given up, and the list
of backlogs. So a connection without a backlog may leave, and may come back into another slot.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.connections import enter_slot, grow_slots, remove_slot
from dissectors.tcp.draining import begin_batch
from dissectors.tcp.eviction_order import has_backlog, note_rank
from dissectors.tcp.flow_hash import flow_hash
from dissectors.tcp.limits import choose_victim, evict
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
def write_flow_keys(
    tcp: TcpState,
    segments: cython.longlong[:, ::1],
    start: cython.longlong,
    stop: cython.longlong,
    keys: cython.longlong[::1],
):
    """Writes the key of the flow of each segment row of [start, stop), the hash that its slot is found by."""
    row: cython.longlong
    for row in range(start, stop):
        keys[row - start] = flow_hash(
            tcp.seed,
            segments[SEGMENT_TAP, row],
            segments[SEGMENT_SRC_HIGH, row],
            segments[SEGMENT_SRC_LOW, row],
            segments[SEGMENT_SRC_PORT, row],
            segments[SEGMENT_DST_HIGH, row],
            segments[SEGMENT_DST_LOW, row],
            segments[SEGMENT_DST_PORT, row],
        )


@cython.cfunc
def find_idle(tcp: TcpState):
    """What is known of connections that may leave their slots, the longest idle first. None while a slot is being drained or
    given up."""
    slot: cython.longlong
    found = []
    if tcp.draining >= 0 or tcp.victim >= 0 or tcp.giving_up >= 0:
        return found
    for slot in range(tcp.slots):
        if tcp.conn[slot, CONN_MODE] & MODE_LIVE and not has_backlog(tcp, slot):
            found.append((tcp.conn[slot, CONN_LAST_NUMBER], slot))
    found.sort()
    return [idle_values(tcp, slot) for _, slot in found]


@cython.cfunc
def idle_values(tcp: TcpState, slot: cython.longlong):
    """(slot, part, key of the flow, newest time, whether both sides have ended, whether only SYNs of one side were seen)."""
    return (
        slot,
        tcp.conn[slot, CONN_PART],
        tcp.conn[slot, CONN_HASH],
        tcp.conn[slot, CONN_LAST_TIME],
        tcp.conn[slot, CONN_MODE] & MODE_CLOSED != 0,
        tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN != 0,
    )


@cython.cfunc
def leave_slots(tcp: TcpState, slots: list):
    """Frees slots whose connections are kept elsewhere."""
    slot: cython.longlong
    for slot in slots:
        remove_slot(tcp, slot)
        if tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN:
            tcp.half_open -= 1
        tcp.conn[slot, CONN_MODE] = 0
        tcp.conn[slot, CONN_NEXT_FREE] = tcp.free_slot
        tcp.free_slot = slot
        tcp.live -= 1


@cython.cfunc
def claim_slots(tcp: TcpState, count: cython.longlong):
    """Free slots, which are no longer free."""
    slots = []
    while len(slots) < count:
        if tcp.free_slot < 0:
            grow_slots(tcp)
        slots.append(tcp.free_slot)
        tcp.free_slot = tcp.conn[tcp.free_slot, CONN_NEXT_FREE]
    return slots


@cython.cfunc
def enter_slots(tcp: TcpState, slots: list):
    """The rows of claimed slots have been written: their connections are there again."""
    slot: cython.longlong
    for slot in slots:
        enter_slot(tcp, slot)
        tcp.live += 1
        note_rank(tcp, slot)
        if tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN:
            tcp.half_open += 1


@cython.cfunc
@cython.exceptval(-1)
def give_up_slots(tcp: TcpState, chunks: cython.longlong[:, ::1], slots: list) -> cython.longlong:
    """Gives up the connections of these slots, the last one first, and takes them from the list; returns why it stopped."""
    why: cython.longlong = begin_batch(tcp, chunks)
    while why == WHY_DONE and (tcp.victim >= 0 or slots):
        if tcp.victim < 0:
            choose_victim(tcp, slots.pop())
        why = evict(tcp)
    return why
