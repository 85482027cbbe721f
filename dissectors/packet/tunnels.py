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
    """IEEE 802.1Q and 802.1ad. VLAN 0 is a priority tag: the frame belongs to no VLAN."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    number: cython.longlong = u16(p, p.at) & 0xFFF
    kind: cython.longlong = u16(p, p.at + 2)
    p.at += 4
    if number != 0:
        enter_scope(p, SCOPE_VLAN, number)
    return kind if kind >= LEAST_ETHERTYPE else parse_length_field(p, kind)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_mpls(p: PacketState) -> cython.longlong:
    """RFC 3032. Labels differ between the two directions, so they are no scope. The payload has no type field: its first four
    bits tell what it is."""
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
    if version == 0:  # a pseudowire: a control word, then an Ethernet frame (RFC 4448)
        p.at += 4
        return LINK + LINKTYPE_ETHERNET
    if version == 4:
        return ETHERTYPE_IPV4
    return ETHERTYPE_IPV6 if version == 6 else -2 - SEEN_NOT_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_pppoe(p: PacketState) -> cython.longlong:
    """RFC 2516, session stage."""
    if p.at + 8 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = u16(p, p.at + 6)
    enter_scope(p, SCOPE_PPPOE, u16(p, p.at + 2))
    narrow(p, p.at + 6 + u16(p, p.at + 4))
    p.at += 8
    if kind == PPP_IPV4:
        return ETHERTYPE_IPV4
    return ETHERTYPE_IPV6 if kind == PPP_IPV6 else -2 - SEEN_NOT_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_gre(p: PacketState) -> cython.longlong:
    """RFC 2784 and 2890, and Cisco's ERSPAN. The key is no scope: port mirrors of VMware write the direction into it."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    flags: cython.longlong = u16(p, p.at)
    kind: cython.longlong = u16(p, p.at + 2)
    if flags & 0x4007:  # source routing, or another version (PPTP)
        return -2 - SEEN_NOT_TCP
    p.at += 8 if flags & 0x8000 else 4
    p.at += 4 if flags & 0x2000 else 0
    p.at += 4 if flags & 0x1000 else 0
    if kind in (ETHERTYPE_ERSPAN, ETHERTYPE_ERSPAN_III):
        return parse_erspan(p, kind, flags & 0x1000)
    enter_scope(p, SCOPE_GRE, 0)
    return kind


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_erspan(p: PacketState, kind: cython.longlong, numbered: cython.longlong) -> cython.longlong:
    """ERSPAN, a mirrored Ethernet frame: type I has no header, type II 8 bytes, type III 12 bytes and 8 more if a bit says so."""
    if kind == ETHERTYPE_ERSPAN and numbered == 0:
        enter_scope(p, SCOPE_ERSPAN, 0)
        return LINK + LINKTYPE_ETHERNET
    if p.at + 12 > p.end:
        return cut_or_malformed(p)
    enter_scope(p, SCOPE_ERSPAN, u16(p, p.at + 2) & 0x3FF)
    if kind == ETHERTYPE_ERSPAN:
        p.at += 8
    else:
        p.at += 20 if p.block[p.at + 11] & 1 else 12
    return LINK + LINKTYPE_ETHERNET


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_udp(p: PacketState) -> cython.longlong:
    """VXLAN (RFC 7348) and Geneve (RFC 8926), where the header is what the port says; other UDP is counted by port."""
    if p.at + 8 > p.end:
        return cut_or_malformed(p)
    source: cython.longlong = u16(p, p.at)
    target: cython.longlong = u16(p, p.at + 2)
    if target in (PORT_VXLAN, PORT_VXLAN_LINUX) and p.at + 16 <= p.end and u32(p, p.at + 8) == 0x08000000:
        enter_scope(p, SCOPE_VXLAN, u32(p, p.at + 12) >> 8)
        p.at += 16
        return LINK + LINKTYPE_ETHERNET
    if target == PORT_GENEVE and p.at + 16 <= p.end and p.block[p.at + 8] < 0x40:
        options: cython.longlong = p.block[p.at + 8]
        kind: cython.longlong = u16(p, p.at + 10)
        if kind in (ETHERTYPE_BRIDGED_ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6):
            enter_scope(p, SCOPE_GENEVE, u32(p, p.at + 12) >> 8)
            p.at += 16 + 4 * options
            return kind
    p.tally[TALLY_UDP_PORTS, source] += 1
    if source != target:
        p.tally[TALLY_UDP_PORTS, target] += 1
    return -2 - SEEN_NOT_TCP
