"""Connections that begin and end inside one task."""

from array import array

import cython

from dissectors.layout import *
from dissectors.tcp.connections import flow_of_slot, is_only_view
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
def note_complete(tcp: TcpState, slot: cython.longlong):
    """Takes down a connection that is over."""
    s: cython.longlong
    if tcp.conn[slot, C_MODE] & MODE_CLOSED == 0 or tcp.conn[slot, C_FROM_SYN] == 0 or tcp.conn[slot, C_LANE]:
        return
    # In the order of the WHOLE_ columns.
    found = [tcp.conn[slot, C_PART], flow_of_slot(tcp, slot), tcp.conn[slot, C_FIRST_NUMBER]]
    found += [tcp.conn[slot, C_FIRST_TIME], tcp.conn[slot, C_LAST_TIME], tcp.conn[slot, C_CLOSE]]
    for s in range(2 * slot, 2 * slot + 2):
        found += [tcp.side[s, S_STATE], tcp.side[s, S_START], tcp.side[s, S_NEXT]]
        found += [tcp.side[s, S_TTL], tcp.side[s, S_STREAM], tcp.side[s, S_GAPS]]
    tcp.whole.extend(found)


@cython.cfunc
def take_whole(tcp: TcpState):
    """WHOLE_ columns, one connection after the other, of those that were over by themselves since the last call, began with
    a bare SYN and were seen at one place only."""
    whole = tcp.whole
    tcp.whole = array("q")
    if not tcp.crossed:
        return whole
    kept = array("q")
    for at in range(0, len(whole), COMPLETE_COLUMNS):
        if whole[at + COMPLETE_FLOW] not in tcp.crossed:
            kept.extend(whole[at : at + COMPLETE_COLUMNS])
    return kept


@cython.cfunc
def bury(tcp: TcpState, slot: cython.longlong, number: cython.longlong, whole):
    """Makes the connection that just began with packet `number` what it was in another run when it was over (`take_whole`).

    False: it did not begin there. It leaves no rows; whatever comes of it, and begins no other one, disturbs it.
    """
    d: cython.longlong
    at: cython.longlong
    if (
        slot < 0
        or tcp.conn[slot, C_FIRST_NUMBER] != number
        or tcp.conn[slot, C_MODE] != MODE_LIVE
        or tcp.conn[slot, C_LANE]
        or not is_only_view(tcp, slot)
    ):
        return False
    tcp.conn[slot, C_MODE] = MODE_LIVE | MODE_CLOSED | MODE_BURIED
    tcp.conn[slot, C_BUSY] = 1
    tcp.conn[slot, C_CLOSE] = whole[COMPLETE_CLOSE]
    tcp.conn[slot, C_CLOSED_NUMBER] = number
    for d in range(2):
        at = COMPLETE_SIDES + COMPLETE_SIDE_COLUMNS * d
        tcp.side[2 * slot + d, S_STATE] = whole[at + COMPLETE_STATE]
        tcp.side[2 * slot + d, S_START] = whole[at + COMPLETE_START]
        tcp.side[2 * slot + d, S_NEXT] = whole[at + COMPLETE_NEXT]
        tcp.side[2 * slot + d, S_TTL] = whole[at + COMPLETE_TTL]
        tcp.side[2 * slot + d, S_STREAM] = whole[at + COMPLETE_STREAM]
        tcp.side[2 * slot + d, S_GAPS] = whole[at + COMPLETE_GAPS]
    return True


@cython.cfunc
def disturb(tcp: TcpState, slot: cython.longlong):
    tcp.disturbed.append(tcp.conn[slot, C_PART])
