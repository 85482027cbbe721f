"""An IP packet behind a header that nobody reads: links, tags and tunnels that have no function of their own.

Such a header is passed over where the packet behind it proves itself (`proof`) and ends where the layer around it does, but for
padding and check values. Over all places where it is looked for, random bytes pass less than once in 2^22 tries. VLANs and
sessions of such a header are lost: what needs them to tell equal addresses apart needs a function of its own.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState
from dissectors.packet.proof import is_sure_ip, length_of_ip
from dissectors.packet.scopes import enter_scope


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_unknown(
    p: PacketState, least: cython.longlong, most: cython.longlong, outcome: cython.longlong
) -> cython.longlong:
    """The packet behind an unknown header of `least` bytes or more at `at`, and less than `most`; without one `outcome`, and `at`
    is as it was."""
    at: cython.longlong = p.at + least
    stop: cython.longlong = min(p.at + most, p.end - 28)
    if at < stop and places_of_that_length(p, at, stop):
        while at < stop:
            if 0 <= p.wire - at - length_of_ip(p, at) <= MOST_TRAILER and is_sure_ip(p, at):
                p.at = at
                return ANY_IP
            at += 1
    return -2 - outcome


@cython.cfunc
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def places_of_that_length(p: PacketState, at: cython.longlong, stop: cython.longlong) -> cython.longlong:
    """At how many places of [at, stop) the length field of IPv4, or that of IPv6, may say that a packet ends where the layer does.

    All UDP that is no tunnel comes by here, and mostly there is none. The loop has no branch and numbers of 16 bits, so that
    compilers look at eight places at a time.
    """
    found: cython.ushort = 0
    left: cython.ushort
    i: cython.int
    places: cython.int = cython.cast(cython.int, stop - at)
    wire: cython.longlong = p.wire - at
    if at < 0 or stop + 6 > len(p.block):
        raise IndexError("a packet points outside its block")
    if not cython.compiled:
        return 1
    for i in range(places):
        left = cython.cast(cython.ushort, wire - i)
        found += cython.cast(cython.ushort, left - (p.block[at + i + 2] << 8 | p.block[at + i + 3])) <= MOST_TRAILER
        found += (
            cython.cast(cython.ushort, left - 40 - (p.block[at + i + 4] << 8 | p.block[at + i + 5])) <= MOST_TRAILER
        )
    return found


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_unknown_type(p: PacketState, kind: cython.longlong) -> cython.longlong:
    """The same behind an ethertype that is not read: a packet without IP counts under it. IP right behind it is damage: nobody
    else would read it."""
    layer: cython.longlong = parse_unknown(p, 1, MOST_UNKNOWN_HEADER, SEEN_NOT_IP)
    if layer != ANY_IP:
        p.tally[TALLY_ETHERTYPES, kind] += 1
    return layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_unknown_tunnel(p: PacketState) -> cython.longlong:
    """The same in UDP or another protocol of IP."""
    layer: cython.longlong = parse_unknown(p, 0, MOST_UNKNOWN_HEADER, SEEN_NOT_TCP)
    if layer == ANY_IP:
        enter_scope(p, SCOPE_UNKNOWN, 0)
    return layer
