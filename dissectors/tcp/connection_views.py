"""Views: a connection that was captured at two points of its way is two connections here, each with its own part.

With a router between two capture points, packets have another TTL at each. The points are told apart by the interface (or the
input) where these differ. Where they do not, a duplicate with another TTL gives them away: a host that routes between its
interfaces, captured with `-i any`. Any other change of TTL is a change of route.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.complete_connections import disturb
from dissectors.tcp.connections import is_sent_by
from dissectors.tcp.duplicates import is_duplicate
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def find_view(tcp: TcpState, found: cython.longlong, row: cython.longlong) -> cython.longlong:
    """The sender's side in the view that a segment belongs to, when its TTL is not the one of side `found`.

    -2: it begins a new view, whose numbers are in `new_view` and `new_capture_point`.
    """
    best: cython.longlong = found
    most: cython.longlong = 0
    near: cython.longlong
    slot: cython.longlong
    s: cython.longlong
    ttl: cython.longlong = tcp.segments[SEGMENT_TTL, row]
    origin: cython.longlong = tcp.segments[SEGMENT_INTERFACE, row]
    i: cython.longlong = tcp.conn[found >> 1, CONN_HASH] & tcp.mask
    tcp.new_view = 0
    tcp.new_capture_point = 0
    tcp.conn[found >> 1, CONN_SPOILED] = 1
    if tcp.conn[found >> 1, CONN_MODE] & MODE_ADOPTED:
        disturb(tcp, found >> 1)
    slot = tcp.table[i]
    while slot >= 0:
        s = 2 * slot if is_sent_by(tcp, 2 * slot, row) else 2 * slot + 1 if is_sent_by(tcp, 2 * slot + 1, row) else -1
        if s >= 0:
            near = nearness(tcp, s, ttl, origin)
            if near > most:
                most = near
                best = s
            tcp.new_view = max(tcp.new_view, tcp.conn[slot, CONN_VIEW] + 1)
            tcp.new_capture_point = max(tcp.new_capture_point, tcp.conn[slot, CONN_CAPTURE_POINT] + 1)
        i = (i + 1) & tcp.mask
        slot = tcp.table[i]
    if most < 1000:
        if most == 0:
            tcp.new_capture_point = 0  # its interface tells it apart
            return -2
        if is_duplicate(tcp, row, False):
            return -2
    tcp.side[best, SIDE_TTL] = ttl
    tcp.side[best, SIDE_INTERFACE] = origin
    return best


@cython.cfunc
@cython.exceptval(-1)
def nearness(tcp: TcpState, s: cython.longlong, ttl: cython.longlong, origin: cython.longlong) -> cython.longlong:
    """How well a segment fits side `s`: 3,000 and more when the TTL is equal, 2,000 and more when the side had no TTL yet
    (best where the peer was seen on the same interface; of several views on it, the newest is the next to see the answer),
    below 1,000 when only the interface is equal, and 0 when nothing is."""
    view: cython.longlong = min(tcp.conn[s >> 1, CONN_VIEW], 99)
    if tcp.side[s, SIDE_TTL] == ttl:
        return 3100 - view
    if tcp.side[s, SIDE_TTL] == UNKNOWN:
        return 2000 + view + (100 if tcp.side[s ^ 1, SIDE_INTERFACE] == origin else 0)
    if tcp.side[s, SIDE_INTERFACE] == origin:
        return 900 - view - max(tcp.side[s, SIDE_TTL] - ttl, ttl - tcp.side[s, SIDE_TTL])
    return 0
