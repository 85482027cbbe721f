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
    d: cython.longlong
    at: cython.longlong
    if tcp.conn[slot, CONN_MODE] & MODE_CLOSED == 0 or tcp.conn[slot, CONN_FROM_SYN] == 0 or tcp.conn[slot, CONN_VIEW]:
        return
    row = [0] * COMPLETE_COLUMNS
    row[COMPLETE_PART] = tcp.conn[slot, CONN_PART]
    row[COMPLETE_FLOW] = flow_of_slot(tcp, slot)
    row[COMPLETE_NUMBER] = tcp.conn[slot, CONN_FIRST_NUMBER]
    row[COMPLETE_FIRST_TIME] = tcp.conn[slot, CONN_FIRST_TIME]
    row[COMPLETE_LAST_TIME] = tcp.conn[slot, CONN_LAST_TIME]
    row[COMPLETE_CLOSE] = tcp.conn[slot, CONN_CLOSE]
    for d in range(2):
        at = COMPLETE_SIDES + COMPLETE_SIDE_COLUMNS * d
        row[at + COMPLETE_STATE] = tcp.side[2 * slot + d, SIDE_STATE]
        row[at + COMPLETE_START] = tcp.side[2 * slot + d, SIDE_START]
        row[at + COMPLETE_NEXT] = tcp.side[2 * slot + d, SIDE_NEXT]
        row[at + COMPLETE_TTL] = tcp.side[2 * slot + d, SIDE_TTL]
        row[at + COMPLETE_STREAM] = tcp.side[2 * slot + d, SIDE_STREAM]
        row[at + COMPLETE_GAPS] = tcp.side[2 * slot + d, SIDE_GAPS]
    tcp.complete.extend(row)


@cython.cfunc
def take_complete(tcp: TcpState):
    """WHOLE_ columns, one connection after the other, of those that were over by themselves since the last call, began with
    a bare SYN and were seen at one place only."""
    whole = tcp.complete
    tcp.complete = array("q")
    if not tcp.viewed_flows:
        return whole
    kept = array("q")
    for at in range(0, len(whole), COMPLETE_COLUMNS):
        if whole[at + COMPLETE_FLOW] not in tcp.viewed_flows:
            kept.extend(whole[at : at + COMPLETE_COLUMNS])
    return kept


@cython.cfunc
def adopt_complete(tcp: TcpState, slot: cython.longlong, number: cython.longlong, whole):
    """Makes the connection that just began with packet `number` what it was in another run when it was over (`take_whole`).

    False: it did not begin there. It leaves no rows; whatever comes of it, and begins no other one, disturbs it.
    """
    d: cython.longlong
    at: cython.longlong
    if (
        slot < 0
        or tcp.conn[slot, CONN_FIRST_NUMBER] != number
        or tcp.conn[slot, CONN_MODE] != MODE_LIVE
        or tcp.conn[slot, CONN_VIEW]
        or not is_only_view(tcp, slot)
    ):
        return False
    tcp.conn[slot, CONN_MODE] = MODE_LIVE | MODE_CLOSED | MODE_ADOPTED
    tcp.conn[slot, CONN_PENDING] = 1
    tcp.conn[slot, CONN_CLOSE] = whole[COMPLETE_CLOSE]
    tcp.conn[slot, CONN_CLOSED_NUMBER] = number
    for d in range(2):
        at = COMPLETE_SIDES + COMPLETE_SIDE_COLUMNS * d
        tcp.side[2 * slot + d, SIDE_STATE] = whole[at + COMPLETE_STATE]
        tcp.side[2 * slot + d, SIDE_START] = whole[at + COMPLETE_START]
        tcp.side[2 * slot + d, SIDE_NEXT] = whole[at + COMPLETE_NEXT]
        tcp.side[2 * slot + d, SIDE_TTL] = whole[at + COMPLETE_TTL]
        tcp.side[2 * slot + d, SIDE_STREAM] = whole[at + COMPLETE_STREAM]
        tcp.side[2 * slot + d, SIDE_GAPS] = whole[at + COMPLETE_GAPS]
    return True


@cython.cfunc
def disturb(tcp: TcpState, slot: cython.longlong):
    tcp.disturbed.append(tcp.conn[slot, CONN_PART])
