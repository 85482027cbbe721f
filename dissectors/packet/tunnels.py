"""What may stand between the link layer and the IP header of a Kafka connection: VLAN tags, MPLS, PPPoE and tunnels."""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.link_layer import parse_length_field
from dissectors.packet.packet_state import PacketState, cut_or_malformed, narrow, u16, u32
from dissectors.packet.scopes import enter_scope


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_vlan(p: PacketState) -> cython.longlong:
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    number: cython.longlong = u16(p, p.at) & 0xFFF
    kind: cython.longlong = u16(p, p.at + 2)
    p.at += 4
    if number != 0:  # 0 only carries a priority: the frame belongs to no VLAN
        enter_scope(p, VLAN, number)
    return kind if kind >= 1536 else parse_length_field(p, kind)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_mpls(p: PacketState) -> cython.longlong:
    """RFC 3032. Labels differ between the two directions, so they make no scope; the payload has no type field."""
    labels: cython.longlong = 0
    bottom: cython.longlong = 0
    while bottom == 0:
        labels += 1
        if labels > DEEPEST:
            return -2 - SEEN_MALFORMED
        if p.at + 5 > p.end:
            return cut_or_malformed(p)
        bottom = p.block[p.at + 2] & 1
        p.at += 4
    version: cython.longlong = p.block[p.at] >> 4
    if version == 0:  # a pseudowire's control word, and an Ethernet frame behind it (RFC 4448)
        p.at += 4
        return LINK + 1
    if version == 4:
        return 0x0800
    return 0x86DD if version == 6 else -2 - SEEN_NOT_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_pppoe(p: PacketState) -> cython.longlong:
    if p.at + 8 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = u16(p, p.at + 6)
    enter_scope(p, PPPOE, u16(p, p.at + 2))
    narrow(p, p.at + 6 + u16(p, p.at + 4))
    p.at += 8
    if kind == 0x21:
        return 0x0800
    return 0x86DD if kind == 0x57 else -2 - SEEN_NOT_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_gre(p: PacketState) -> cython.longlong:
    """RFC 2784, 2890, and Cisco's ERSPAN. A key makes no scope: VMware's mirrors write the direction into it."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    flags: cython.longlong = u16(p, p.at)
    kind: cython.longlong = u16(p, p.at + 2)
    if flags & 0x4007:  # source routing, or another version (PPTP)
        return -2 - SEEN_NOT_TCP
    p.at += 8 if flags & 0x8000 else 4
    p.at += 4 if flags & 0x2000 else 0
    p.at += 4 if flags & 0x1000 else 0
    if kind in (0x88BE, 0x22EB):
        return parse_erspan(p, kind, flags & 0x1000)
    enter_scope(p, GRE, 0)
    return kind


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_erspan(p: PacketState, kind: cython.longlong, numbered: cython.longlong) -> cython.longlong:
    """A mirrored Ethernet frame: type I has no header, type II 8 bytes, type III 12 and maybe 8 more."""
    if kind == 0x88BE and numbered == 0:
        enter_scope(p, ERSPAN, 0)
        return LINK + 1
    if p.at + 12 > p.end:
        return cut_or_malformed(p)
    enter_scope(p, ERSPAN, u16(p, p.at + 2) & 0x3FF)
    if kind == 0x88BE:
        p.at += 8
    else:
        p.at += 20 if p.block[p.at + 11] & 1 else 12
    return LINK + 1


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_udp(p: PacketState) -> cython.longlong:
    """VXLAN (RFC 7348; 8472 is Linux's old port) and Geneve (RFC 8926), if the header agrees with the port."""
    if p.at + 8 > p.end:
        return cut_or_malformed(p)
    source: cython.longlong = u16(p, p.at)
    target: cython.longlong = u16(p, p.at + 2)
    if target in (4789, 8472) and p.at + 16 <= p.end and u32(p, p.at + 8) == 0x08000000:
        enter_scope(p, VXLAN, u32(p, p.at + 12) >> 8)
        p.at += 16
        return LINK + 1
    if target == 6081 and p.at + 16 <= p.end and p.block[p.at + 8] < 0x40:
        options: cython.longlong = p.block[p.at + 8]
        kind: cython.longlong = u16(p, p.at + 10)
        if kind in (0x6558, 0x0800, 0x86DD):
            enter_scope(p, GENEVE, u32(p, p.at + 12) >> 8)
            p.at += 16 + 4 * options
            return kind
    p.tally[UDP_PORTS, source] += 1
    if source != target:
        p.tally[UDP_PORTS, target] += 1
    return -2 - SEEN_NOT_TCP
