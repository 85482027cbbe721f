"""Which of the slots that have the same 4-tuple a segment belongs to: views of one connection, and connections of two networks.

Views: a connection that was captured at two points of its way is two connections here, each with its own part. The points are
told apart by the TTL where a router lies between them, by the interface (or the input), and by the scope: the VLAN or tunnel
in which the packets were (`dissectors.packet.scopes`). Where the interface is the same, a copy of a packet with another TTL or
in another scope gives the second point away: a host that routes between its interfaces, captured with `-i any`, or a node that
sees packets plain and in VXLAN. Any other change of TTL or scope is a change of route.

A scope alone does not make another connection: tunnels of many networks number each direction, and a mirror port may tag one
direction only. But two networks may use the same addresses. Then the sequence numbers of a segment do not fit the connection
that is there, and it begins a connection of another network.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.complete_connections import disturb
from dissectors.tcp.connections import is_sent_by
from dissectors.tcp.duplicates import is_duplicate
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import end_of_seen
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def find_view(tcp: TcpState, found: cython.longlong, row: cython.longlong) -> cython.longlong:
    """The sender's side in the view that a segment belongs to, when TTL or scope is not that of side `found`.

    -2: it begins a new view or another network; the numbers are in `new_view`, `new_capture_point` and `new_network`.
    """
    best: cython.longlong = found
    most: cython.longlong = NOTHING_FITS
    near: cython.longlong
    slot: cython.longlong
    s: cython.longlong
    i: cython.longlong = tcp.conn[found >> 1, CONN_HASH] & tcp.mask
    tcp.conn[found >> 1, CONN_SPOILED] = 1
    if tcp.conn[found >> 1, CONN_MODE] & MODE_ADOPTED:
        disturb(tcp, found >> 1)
    slot = tcp.table[i]
    while slot >= 0:
        s = side_of_sender(tcp, slot, row)
        if s >= 0:
            near = nearness(tcp, s, row)
            if near > most:
                most = near
                best = s
        i = (i + 1) & tcp.mask
        slot = tcp.table[i]
    if most < FITS:
        number_new_slot(tcp, best, row, most == NOTHING_FITS)
        if most == NOTHING_FITS:
            return -2
        if most == SCOPE_FITS:
            tcp.new_capture_point = 0  # its interface tells it apart
            return -2
        if tcp.side[best, SIDE_SCOPE] == tcp.segments[SEGMENT_SCOPE, row]:
            if is_duplicate(tcp, row, COPY_OF_OTHER_TTL):
                return -2
        elif is_duplicate(tcp, row, COPY_OF_OTHER_SCOPE) or is_old_of_other_interface(tcp, best, row):
            return -2
    tcp.side[best, SIDE_TTL] = tcp.segments[SEGMENT_TTL, row]
    tcp.side[best, SIDE_SCOPE] = tcp.segments[SEGMENT_SCOPE, row]
    tcp.side[best, SIDE_INTERFACE] = tcp.segments[SEGMENT_INTERFACE, row]
    return best


@cython.cfunc
@cython.inline
@cython.exceptval(-2)
def side_of_sender(tcp: TcpState, slot: cython.longlong, row: cython.longlong) -> cython.longlong:
    """The side of this slot that sent the segment; -1 when the slot has another 4-tuple."""
    if is_sent_by(tcp, 2 * slot, row):
        return 2 * slot
    return 2 * slot + 1 if is_sent_by(tcp, 2 * slot + 1, row) else -1


@cython.cfunc
def number_new_slot(tcp: TcpState, near: cython.longlong, row: cython.longlong, is_other_network: cython.bint):
    """Sets the numbers of a slot that this segment begins: of another network, or of a new view of the one with side `near`."""
    slot: cython.longlong
    network: cython.longlong = tcp.conn[near >> 1, CONN_NETWORK]
    i: cython.longlong = tcp.conn[near >> 1, CONN_HASH] & tcp.mask
    tcp.new_view = 0
    tcp.new_capture_point = 0
    tcp.new_network = 0 if is_other_network else network
    slot = tcp.table[i]
    while slot >= 0:
        if side_of_sender(tcp, slot, row) >= 0:
            if is_other_network:
                tcp.new_network = max(tcp.new_network, tcp.conn[slot, CONN_NETWORK] + 1)
            elif tcp.conn[slot, CONN_NETWORK] == network:
                tcp.new_view = max(tcp.new_view, tcp.conn[slot, CONN_VIEW] + 1)
                tcp.new_capture_point = max(tcp.new_capture_point, tcp.conn[slot, CONN_CAPTURE_POINT] + 1)
        i = (i + 1) & tcp.mask
        slot = tcp.table[i]


@cython.cfunc
@cython.exceptval(-1)
def nearness(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.longlong:
    """How well a segment fits side `s`.

    SAME_WAY and more: TTL and scope are equal. FITS and more: the side has sent nothing yet, and its peer has the same scope or
    fitting sequence numbers; best is the peer's scope, then the peer's interface, then the newest view, which is the next to
    see an answer. Below: only the interface and the scope are equal, or only the sequence numbers fit; SCOPE_FITS: only the
    scope is equal.
    """
    view: cython.longlong = min(tcp.conn[s >> 1, CONN_VIEW], 99)
    ttl: cython.longlong = tcp.segments[SEGMENT_TTL, row]
    scope: cython.longlong = tcp.segments[SEGMENT_SCOPE, row]
    origin: cython.longlong = tcp.segments[SEGMENT_INTERFACE, row]
    if tcp.side[s, SIDE_TTL] == UNKNOWN:
        if tcp.side[s ^ 1, SIDE_SCOPE] != scope and not fits_stream(tcp, s, row):
            return NOTHING_FITS
        return (
            FITS
            + view
            + (100 if tcp.side[s ^ 1, SIDE_INTERFACE] == origin else 0)
            + (200 if tcp.side[s ^ 1, SIDE_SCOPE] == scope else 0)
        )
    if tcp.side[s, SIDE_SCOPE] != scope:
        return NUMBERS_FIT - view if fits_stream(tcp, s, row) else NOTHING_FITS
    if tcp.side[s, SIDE_TTL] == ttl:
        return SAME_WAY + 99 - view
    if tcp.side[s, SIDE_INTERFACE] == origin:
        return INTERFACE_FITS - view - max(tcp.side[s, SIDE_TTL] - ttl, ttl - tcp.side[s, SIDE_TTL])
    return SCOPE_FITS


@cython.cfunc
@cython.exceptval(-1)
def fits_stream(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Whether the sequence and ACK numbers of a segment may be those of side `s`, as far as there are any to compare with.

    A SYN fits the connection whose first one it repeats, and a connection that has ended, behind which it may begin another.
    """
    flags: cython.longlong = tcp.segments[SEGMENT_FLAGS, row]
    seq: cython.longlong = tcp.segments[SEGMENT_SEQ, row] + (1 if flags & TCP_SYN else 0)
    ack: cython.longlong = tcp.segments[SEGMENT_ACK, row]
    peer: cython.longlong = s ^ 1
    compared: cython.longlong = 0
    if flags & TCP_SYN and tcp.conn[s >> 1, CONN_MODE] & (MODE_CLOSED | MODE_RESET):
        return True
    if flags & TCP_SYN and tcp.side[s, SIDE_STATE] & STATE_ISN:
        return (tcp.side[s, SIDE_START] - seq) & LOW_32 == 0
    if tcp.side[s, SIDE_NEXT] != 0:
        if not is_near(tcp.side[s, SIDE_NEXT], seq):
            return False
        compared += 1
    elif tcp.side[peer, SIDE_LAST_ACK] != UNKNOWN:
        if not is_near(tcp.side[peer, SIDE_LAST_ACK], seq):
            return False
        compared += 1
    if flags & TCP_ACK and tcp.side[peer, SIDE_NEXT] != 0:
        if not is_near(tcp.side[peer, SIDE_NEXT], ack):
            return False
        compared += 1
    elif flags & TCP_ACK and tcp.side[s, SIDE_LAST_ACK] != UNKNOWN:
        if not is_near(tcp.side[s, SIDE_LAST_ACK], ack):
            return False
        compared += 1
    return compared > 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_near(one: cython.longlong, other: cython.longlong) -> cython.bint:
    """Whether two sequence numbers may be of one stream. Of two streams they are as near in one of 128 cases."""
    distance: cython.longlong = unwrap(one, other) - one
    return max(distance, -distance) <= LARGEST_JUMP


@cython.cfunc
@cython.exceptval(-1)
def is_old_of_other_interface(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Whether a segment from another interface brings only what side `s` has sent before: a second point of the way, whose
    clock may be far behind."""
    length: cython.longlong = tcp.segments[SEGMENT_LENGTH, row]
    if tcp.side[s, SIDE_INTERFACE] == tcp.segments[SEGMENT_INTERFACE, row] or tcp.side[s, SIDE_NEXT] == 0:
        return False
    if tcp.segments[SEGMENT_FLAGS, row] & TCP_SYN:
        return True
    return length > 0 and (
        unwrap(tcp.side[s, SIDE_NEXT], tcp.segments[SEGMENT_SEQ, row]) + length <= end_of_seen(tcp, s)
    )
