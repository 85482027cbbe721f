"""An IP packet behind a header that nobody reads: links, tags and tunnels that have no function of their own.

Such a header is passed over where the packet behind it proves itself (`proof`) and ends where the layer around it does, but for
padding and check values. Over all places where it is looked for, random bytes pass less than once in 2^22 tries. VLANs and
sessions of such a header are lost: what needs them to tell equal addresses apart needs a function of its own.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, u16
from dissectors.packet.proof import is_sure_ip
from dissectors.packet.scopes import enter_scope


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_unknown(p: PacketState, least: cython.longlong, outcome: cython.longlong) -> cython.longlong:
    """The packet behind an unknown header of `least` bytes or more at `at`; without one `outcome`, and `at` is as it was."""
    at: cython.longlong
    size: cython.longlong
    version: cython.longlong
    for at in range(p.at + least, min(p.at + MOST_UNKNOWN_HEADER, p.end - 28)):
        version = p.block[at] >> 4
        if version == 4:
            size = u16(p, at + 2)
        elif version == 6:
            size = 40 + u16(p, at + 4)
        else:
            continue
        if at + size <= p.wire <= at + size + MOST_TRAILER and is_sure_ip(p, at):
            p.at = at
            return ANY_IP
    return -2 - outcome


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_unknown_type(p: PacketState, kind: cython.longlong) -> cython.longlong:
    """The same behind an ethertype that is not read: a packet without IP counts under it. IP right behind it is damage: nobody
    else would read it."""
    layer: cython.longlong = parse_unknown(p, 1, SEEN_NOT_IP)
    if layer != ANY_IP:
        p.tally[TALLY_ETHERTYPES, kind] += 1
    return layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_unknown_tunnel(p: PacketState) -> cython.longlong:
    """The same in UDP or another protocol of IP."""
    layer: cython.longlong = parse_unknown(p, 0, SEEN_NOT_TCP)
    if layer == ANY_IP:
        enter_scope(p, SCOPE_UNKNOWN, 0)
    return layer
