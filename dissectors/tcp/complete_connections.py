"""Complete connections: those that begin and end inside one task.

Nothing of such a connection depends on what lies before the task. `take_complete` gives those that began with a bare SYN,
ended by themselves and were seen at one capture point. The run that joins the tasks sees only their SYN: there the connection
is adopted, that is put into the state that it had at its end in the task, and leaves no rows. A segment of an adopted
connection that comes later disturbs it, unless it begins a new one: then the task was wrong about it.
"""

from array import array

import cython

from dissectors.layout import *
from dissectors.tcp.connections import flow_of_slot, is_only_view
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
def note_complete(tcp: TcpState, slot: cython.longlong):
    """Writes a COMPLETE_ row for a connection whose slot is freed, if it was complete."""
    d: cython.longlong
    at: cython.longlong
    if (
        tcp.conn[slot, CONN_MODE] & MODE_CLOSED == 0
        or tcp.conn[slot, CONN_FROM_SYN] == 0
        or tcp.conn[slot, CONN_VIEW]
        or tcp.conn[slot, CONN_NETWORK]
    ):
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
        row[at + COMPLETE_SCOPE] = tcp.side[2 * slot + d, SIDE_SCOPE]
        row[at + COMPLETE_STREAM] = tcp.side[2 * slot + d, SIDE_STREAM]
        row[at + COMPLETE_GAPS] = tcp.side[2 * slot + d, SIDE_GAPS]
    tcp.complete.extend(row)


@cython.cfunc
def take_complete(tcp: TcpState):
    """The rows written since the last call, without flows that had a second view."""
    rows = tcp.complete
    tcp.complete = array("q")
    if not tcp.viewed_flows:
        return rows
    found = array("q")
    for at in range(0, len(rows), COMPLETE_COLUMNS):
        if rows[at + COMPLETE_FLOW] not in tcp.viewed_flows:
            found.extend(rows[at : at + COMPLETE_COLUMNS])
    return found


@cython.cfunc
def adopt_complete(tcp: TcpState, slot: cython.longlong, number: cython.longlong, row):
    """Adopts the connection in `slot`, which began with packet `number`; false when another connection is there."""
    d: cython.longlong
    at: cython.longlong
    if (
        slot < 0
        or tcp.conn[slot, CONN_FIRST_NUMBER] != number
        or tcp.conn[slot, CONN_MODE] & ~MODE_HALF_OPEN != MODE_LIVE
        or tcp.conn[slot, CONN_VIEW]
        or tcp.conn[slot, CONN_NETWORK]
        or not is_only_view(tcp, slot)
    ):
        return False
    if tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN:
        tcp.half_open -= 1
    tcp.conn[slot, CONN_MODE] = MODE_LIVE | MODE_CLOSED | MODE_ADOPTED
    tcp.conn[slot, CONN_PENDING] = 1
    tcp.conn[slot, CONN_CLOSE] = row[COMPLETE_CLOSE]
    tcp.conn[slot, CONN_CLOSED_NUMBER] = number
    for d in range(2):
        at = COMPLETE_SIDES + COMPLETE_SIDE_COLUMNS * d
        tcp.side[2 * slot + d, SIDE_STATE] = row[at + COMPLETE_STATE]
        tcp.side[2 * slot + d, SIDE_START] = row[at + COMPLETE_START]
        tcp.side[2 * slot + d, SIDE_NEXT] = row[at + COMPLETE_NEXT]
        tcp.side[2 * slot + d, SIDE_TTL] = row[at + COMPLETE_TTL]
        tcp.side[2 * slot + d, SIDE_SCOPE] = row[at + COMPLETE_SCOPE]
        tcp.side[2 * slot + d, SIDE_STREAM] = row[at + COMPLETE_STREAM]
        tcp.side[2 * slot + d, SIDE_GAPS] = row[at + COMPLETE_GAPS]
    return True


@cython.cfunc
def disturb(tcp: TcpState, slot: cython.longlong):
    """A segment of an adopted connection came."""
    tcp.disturbed.append(tcp.conn[slot, CONN_PART])
