"""The flow table: which slot has the connection of a segment, and new slots.

The table is open addressing with linear probing: `table` holds slots, -1 is empty, and it has four entries for each slot. Both
directions of a 4-tuple have the same hash. The same 4-tuple may be in several slots, one for each view of the connection,
and one for each network that has it (`connection_views`).
"""

import heapq

import cython

from dissectors.layout import *
from dissectors.tcp.flow_hash import flow_hash
from dissectors.tcp.state import TcpState, grown_matrix
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_sent_by(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Whether side `s` (2 * slot + side) sent this segment."""
    slot: cython.longlong = s >> 1
    a: cython.longlong = CONN_B if s & 1 else CONN_A
    b: cython.longlong = CONN_A if s & 1 else CONN_B
    return (
        tcp.conn[slot, a + ENDPOINT_PORT] == tcp.segments[SEGMENT_SRC_PORT, row]
        and tcp.conn[slot, b + ENDPOINT_PORT] == tcp.segments[SEGMENT_DST_PORT, row]
        and tcp.conn[slot, a + ENDPOINT_LOW] == tcp.segments[SEGMENT_SRC_LOW, row]
        and tcp.conn[slot, b + ENDPOINT_LOW] == tcp.segments[SEGMENT_DST_LOW, row]
        and tcp.conn[slot, a + ENDPOINT_HIGH] == tcp.segments[SEGMENT_SRC_HIGH, row]
        and tcp.conn[slot, b + ENDPOINT_HIGH] == tcp.segments[SEGMENT_DST_HIGH, row]
        and tcp.conn[slot, CONN_TAP] == tcp.segments[SEGMENT_TAP, row]
    )


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def find_side(tcp: TcpState, key: cython.longlong, row: cython.longlong) -> cython.longlong:
    """2 * slot + side of the sender; -2 when the tuple is not there."""
    i: cython.longlong = key & tcp.mask
    slot: cython.longlong = tcp.table[i]
    while slot >= 0:
        if tcp.conn[slot, CONN_HASH] == key:
            if is_sent_by(tcp, 2 * slot, row):
                return 2 * slot
            if is_sent_by(tcp, 2 * slot + 1, row):
                return 2 * slot + 1
        i = (i + 1) & tcp.mask
        slot = tcp.table[i]
    return -2


@cython.cfunc
def find_sender(tcp: TcpState, segments: cython.longlong[:, ::1], row: cython.longlong):
    """(slot, side) of the connection whose segment this is, by its addresses; (-1, 0) when there is none."""
    tcp.segments = segments
    found = find_side(
        tcp,
        flow_hash(
            tcp.seed,
            segments[SEGMENT_TAP, row],
            segments[SEGMENT_SRC_HIGH, row],
            segments[SEGMENT_SRC_LOW, row],
            segments[SEGMENT_SRC_PORT, row],
            segments[SEGMENT_DST_HIGH, row],
            segments[SEGMENT_DST_LOW, row],
            segments[SEGMENT_DST_PORT, row],
        ),
        row,
    )
    tcp.segments = None
    return (found >> 1, found & 1) if found >= 0 else (-1, 0)


@cython.cfunc
def enter_slot(tcp: TcpState, slot: cython.longlong):
    """Puts a slot into the table."""
    i: cython.longlong = tcp.conn[slot, CONN_HASH] & tcp.mask
    while tcp.table[i] >= 0:
        i = (i + 1) & tcp.mask
    tcp.table[i] = cython.cast(cython.int, slot)


@cython.cfunc
def remove_slot(tcp: TcpState, slot: cython.longlong):
    """Takes a slot out of the table and moves later entries up, so that no search stops before its entry."""
    i: cython.longlong = tcp.conn[slot, CONN_HASH] & tcp.mask
    home: cython.longlong
    j: cython.longlong
    while tcp.table[i] != slot:
        i = (i + 1) & tcp.mask
    j = i
    while True:
        j = (j + 1) & tcp.mask
        if tcp.table[j] < 0:
            break
        home = tcp.conn[tcp.table[j], CONN_HASH] & tcp.mask
        if ((j - home) & tcp.mask) >= ((j - i) & tcp.mask):
            tcp.table[i] = tcp.table[j]
            i = j
    tcp.table[i] = -1


@cython.cfunc
def grow_slots(tcp: TcpState):
    """Twice as many slots, and a table for them."""
    slot: cython.longlong
    size: cython.longlong = max(128, 2 * tcp.slots)
    tcp.conn_memory = grown_matrix(tcp.conn_memory, CONN_COLUMNS, size)
    tcp.side_memory = grown_matrix(tcp.side_memory, SIDE_COLUMNS, 2 * size)
    tcp.conn = tcp.conn_memory
    tcp.side = tcp.side_memory
    for slot in range(size - 1, tcp.slots - 1, -1):
        tcp.conn[slot, CONN_NEXT_FREE] = tcp.free_slot
        tcp.free_slot = slot
    tcp.table = memoryview(bytearray(b"\xff" * (16 * size))).cast("i")
    tcp.mask = 4 * size - 1
    for slot in range(tcp.slots):
        if tcp.conn[slot, CONN_MODE] & MODE_LIVE:
            enter_slot(tcp, slot)
    tcp.slots = size


@cython.cfunc
@cython.exceptval(-1)
def new_slot(tcp: TcpState, key: cython.longlong, row: cython.longlong) -> cython.longlong:
    """Begins a part with this segment; returns 2 * slot + side of its sender.

    The sender is side 0. Only of a SYN+ACK it is side 1: its SYN comes later, or is not in the capture.
    """
    slot: cython.longlong
    column: cython.longlong
    s: cython.longlong
    is_answer: cython.bint = tcp.flags & (TCP_SYN | TCP_ACK) == (TCP_SYN | TCP_ACK)
    a: cython.longlong = CONN_B if is_answer else CONN_A
    b: cython.longlong = CONN_A if is_answer else CONN_B
    if tcp.free_slot < 0:
        grow_slots(tcp)
    slot = tcp.free_slot
    tcp.free_slot = tcp.conn[slot, CONN_NEXT_FREE]
    for column in range(CONN_COLUMNS):
        tcp.conn[slot, column] = 0
    tcp.conn[slot, CONN_HASH] = key
    tcp.conn[slot, CONN_TAP] = tcp.segments[SEGMENT_TAP, row]
    tcp.conn[slot, a + ENDPOINT_HIGH] = tcp.segments[SEGMENT_SRC_HIGH, row]
    tcp.conn[slot, a + ENDPOINT_LOW] = tcp.segments[SEGMENT_SRC_LOW, row]
    tcp.conn[slot, a + ENDPOINT_PORT] = tcp.segments[SEGMENT_SRC_PORT, row]
    tcp.conn[slot, b + ENDPOINT_HIGH] = tcp.segments[SEGMENT_DST_HIGH, row]
    tcp.conn[slot, b + ENDPOINT_LOW] = tcp.segments[SEGMENT_DST_LOW, row]
    tcp.conn[slot, b + ENDPOINT_PORT] = tcp.segments[SEGMENT_DST_PORT, row]
    tcp.conn[slot, CONN_MODE] = MODE_LIVE
    tcp.conn[slot, CONN_PART] = tcp.next_part
    tcp.conn[slot, CONN_FIRST_TIME] = tcp.time
    tcp.conn[slot, CONN_FIRST_NUMBER] = tcp.number
    tcp.conn[slot, CONN_SYN_TIME] = UNKNOWN
    tcp.conn[slot, CONN_SYN_ACK_TIME] = UNKNOWN
    tcp.conn[slot, CONN_ACK_TIME] = UNKNOWN
    tcp.conn[slot, CONN_VIEW] = tcp.new_view
    tcp.conn[slot, CONN_CAPTURE_POINT] = tcp.new_capture_point
    tcp.conn[slot, CONN_NETWORK] = tcp.new_network
    tcp.conn[slot, CONN_INTERFACE] = tcp.segments[SEGMENT_INTERFACE, row]
    tcp.conn[slot, CONN_FROM_SYN] = (
        1 if tcp.flags & (TCP_SYN | TCP_ACK | TCP_FIN | TCP_RST) == TCP_SYN and tcp.length == 0 else 0
    )
    if tcp.in_task and (tcp.new_view or tcp.new_network):
        tcp.viewed_flows.add(flow_of_slot(tcp, slot))
    tcp.views = max(tcp.views, tcp.new_view + 1)
    for s in range(2 * slot, 2 * slot + 2):
        for column in range(SIDE_COLUMNS):
            tcp.side[s, column] = 0
        tcp.side[s, SIDE_FIRST_RECORD] = -1
        tcp.side[s, SIDE_LAST_RECORD] = -1
        tcp.side[s, SIDE_NEAR_RECORD] = -1
        tcp.side[s, SIDE_LAST_ACK] = UNKNOWN
        tcp.side[s, SIDE_FIN_ACK] = UNKNOWN
        tcp.side[s, SIDE_TTL] = UNKNOWN
        tcp.side[s, SIDE_SCOPE] = UNKNOWN
        tcp.side[s, SIDE_INTERFACE] = UNKNOWN
    s = 2 * slot + 1 if is_answer else 2 * slot
    tcp.side[s, SIDE_TTL] = tcp.segments[SEGMENT_TTL, row]
    tcp.side[s, SIDE_SCOPE] = tcp.segments[SEGMENT_SCOPE, row]
    tcp.side[s, SIDE_INTERFACE] = tcp.segments[SEGMENT_INTERFACE, row]
    tcp.next_part += 1
    tcp.live += 1
    enter_slot(tcp, slot)
    if tcp.eviction_heap is not None:
        heapq.heappush(tcp.eviction_heap, (0, tcp.number, slot, tcp.conn[slot, CONN_PART]))
    return s


@cython.cfunc
@cython.exceptval(-1)
def flow_of_slot(tcp: TcpState, slot: cython.longlong) -> cython.longlong:
    """The hash that `flows` gives for the segments of a connection."""
    return flow_hash(
        0,
        tcp.conn[slot, CONN_TAP],
        tcp.conn[slot, CONN_A_HIGH],
        tcp.conn[slot, CONN_A_LOW],
        tcp.conn[slot, CONN_A_PORT],
        tcp.conn[slot, CONN_B_HIGH],
        tcp.conn[slot, CONN_B_LOW],
        tcp.conn[slot, CONN_B_PORT],
    )


@cython.cfunc
@cython.exceptval(-1)
def is_only_view(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Whether no other slot has the same 4-tuple: the connection was seen at one capture point."""
    i: cython.longlong = tcp.conn[slot, CONN_HASH] & tcp.mask
    other: cython.longlong = tcp.table[i]
    while other >= 0:
        if other != slot and is_same_tuple(tcp, slot, other):
            return False
        i = (i + 1) & tcp.mask
        other = tcp.table[i]
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_same_tuple(tcp: TcpState, one: cython.longlong, other: cython.longlong) -> cython.bint:
    """Whether two slots have the same capture point and endpoints, in either order."""
    column: cython.longlong
    straight: cython.bint = tcp.conn[one, CONN_TAP] == tcp.conn[other, CONN_TAP]
    crossed: cython.bint = straight
    for column in range(ENDPOINT_COLUMNS):
        straight = straight and (
            tcp.conn[one, CONN_A + column] == tcp.conn[other, CONN_A + column]
            and tcp.conn[one, CONN_B + column] == tcp.conn[other, CONN_B + column]
        )
        crossed = crossed and (
            tcp.conn[one, CONN_A + column] == tcp.conn[other, CONN_B + column]
            and tcp.conn[one, CONN_B + column] == tcp.conn[other, CONN_A + column]
        )
    return straight or crossed
