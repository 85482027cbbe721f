"""Tunnels that are no UDP: MPLS, PPPoE, GRE and what it carries, L2TPv3, EtherIP, network service headers."""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, cut_or_malformed, narrow, u16, u32
from dissectors.packet.proof import is_sure_frame, is_sure_ip
from dissectors.packet.scopes import enter_scope
from dissectors.packet.unknown_headers import parse_unknown_type


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
    if is_sure_frame(p, p.at) and not is_sure_ip(p, p.at):  # a pseudowire (RFC 4448): the word between may be absent
        return LINK + LINKTYPE_ETHERNET
    if version == 0:
        p.at += 4
        return LINK + LINKTYPE_ETHERNET
    if version == 4:
        return ETHERTYPE_IPV4
    if version == 6:
        return ETHERTYPE_IPV6
    return parse_unknown_type(p, ETHERTYPE_MPLS)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_pppoe(p: PacketState) -> cython.longlong:
    """RFC 2516, session stage."""
    if p.at + 8 > p.end:
        return cut_or_malformed(p)
    enter_scope(p, SCOPE_PPPOE, u16(p, p.at + 2))
    narrow(p, p.at + 6 + u16(p, p.at + 4))
    p.at += 6
    return parse_ppp(p)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ppp(p: PacketState) -> cython.longlong:
    """RFC 1661 and 1662: address and control may be absent, and so may the zero byte of the protocol."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    if u16(p, p.at) == 0xFF03:
        p.at += 2
    kind: cython.longlong = p.block[p.at]
    p.at += 1
    if kind & 1 == 0:
        kind = u16(p, p.at - 1)
        p.at += 1
    if kind == PPP_IPV4:
        return ETHERTYPE_IPV4
    if kind == PPP_IPV6:
        return ETHERTYPE_IPV6
    if kind == PPP_MPLS:
        return ETHERTYPE_MPLS
    return parse_unknown_type(p, ETHERTYPE_PPP)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_gre(p: PacketState) -> cython.longlong:
    """RFC 2784 and 2890, PPTP (RFC 2637), and Cisco's ERSPAN. The key is no scope: port mirrors of VMware write the direction
    into it."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    flags: cython.longlong = u16(p, p.at)
    kind: cython.longlong = u16(p, p.at + 2)
    is_pptp: cython.bint = flags & 7 == 1 and kind == ETHERTYPE_PPP and flags & 0x2000 != 0
    if flags & 0x4000 or (flags & 7 and not is_pptp):  # source routing, or another version
        return -2 - SEEN_NOT_TCP
    p.at += 8 if flags & 0x8000 else 4
    p.at += 4 if flags & 0x2000 else 0
    p.at += 4 if flags & 0x1000 else 0
    if kind in (ETHERTYPE_ERSPAN, ETHERTYPE_ERSPAN_III):
        return parse_erspan(p, kind, flags & 0x1000)
    if is_pptp:
        p.at += 4 if flags & 0x80 else 0
        if flags & 0x1000 == 0:
            return -2 - SEEN_NOT_TCP  # an acknowledgement alone
    enter_scope(p, SCOPE_GRE, 0)
    if is_pptp:
        return parse_ppp(p)
    if kind == ETHERTYPE_WCCP:
        if p.at + 5 > p.end:
            return cut_or_malformed(p)
        p.at += 0 if p.block[p.at] >> 4 == 4 else 4
        return ETHERTYPE_IPV4
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
def parse_l2tp(p: PacketState) -> cython.longlong:
    """L2TP in UDP: version 2 (RFC 2661) carries PPP, version 3 (RFC 3931) what `parse_l2tp_session` finds."""
    at: cython.longlong = p.at
    if at + 8 > p.end:
        return -2 - SEEN_NOT_TCP
    flags: cython.longlong = u16(p, at)
    if flags & 0x8000:
        return -2 - SEEN_NOT_TCP  # a control message
    if flags & 15 == 3:
        p.at = at + 4
        return parse_l2tp_session(p)
    if flags & 15 != 2:
        return -2 - SEEN_NOT_TCP
    at += 8 if flags & 0x4000 else 6
    at += 4 if flags & 0x0800 else 0
    if flags & 0x0200:
        if at + 2 > p.end:
            return -2 - SEEN_NOT_TCP
        at += 2 + u16(p, at)
    enter_scope(p, SCOPE_L2TP, 0)
    p.at = at
    return parse_ppp(p)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_l2tp_session(p: PacketState) -> cython.longlong:
    """RFC 3931: a session id, then maybe a cookie of 4 or 8 bytes and 4 bytes more. Only control messages, which were not
    captured, say which, so what follows must prove itself. Each direction has a session id of its own."""
    at: cython.longlong
    if p.at + 4 > p.end or u32(p, p.at) == 0:
        return -2 - SEEN_NOT_TCP  # control messages have session 0
    for at in range(p.at + 4, p.at + 20, 4):
        if is_sure_frame(p, at):
            enter_scope(p, SCOPE_L2TP, 0)
            p.at = at
            return LINK + LINKTYPE_ETHERNET
        if is_sure_ip(p, at):
            enter_scope(p, SCOPE_L2TP, 0)
            p.at = at
            return ANY_IP
        if at + 4 < p.end and u32(p, at) in (0xFF030021, 0xFF030057) and is_sure_ip(p, at + 4):  # PPP
            enter_scope(p, SCOPE_L2TP, 0)
            p.at = at + 4
            return ANY_IP
    return -2 - SEEN_NOT_TCP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_etherip(p: PacketState) -> cython.longlong:
    """RFC 3378: a version, then an Ethernet frame."""
    if p.at + 2 > p.end:
        return cut_or_malformed(p)
    if p.block[p.at] >> 4 != 3:
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_ETHERNET_IN_IP, 0)
    p.at += 2
    return LINK + LINKTYPE_ETHERNET


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_pim(p: PacketState) -> cython.longlong:
    """RFC 7761: a Register message (version 2, type 1) carries a packet to the rendezvous point."""
    if p.at + 8 > p.end or p.block[p.at] != 0x21:
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_PIM, 0)
    p.at += 8
    return ANY_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_nsh(p: PacketState) -> cython.longlong:
    """RFC 8300. The path is no scope: the way back may be another one."""
    if p.at + 8 > p.end:
        return cut_or_malformed(p)
    length: cython.longlong = 4 * (u16(p, p.at) & 63)
    layer: cython.longlong = next_layer(p.block[p.at + 3])
    if length < 8 or p.block[p.at] >> 6 or layer < 0:
        return parse_unknown_type(p, ETHERTYPE_NSH)
    p.at += length
    return layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def next_layer(number: cython.longlong) -> cython.longlong:
    """The layer behind NSH or VXLAN-GPE; SEEN_NOT_TCP for one that is not read."""
    if number == NEXT_IPV4:
        return ETHERTYPE_IPV4
    if number == NEXT_IPV6:
        return ETHERTYPE_IPV6
    if number == NEXT_ETHERNET:
        return LINK + LINKTYPE_ETHERNET
    if number == NEXT_NSH:
        return ETHERTYPE_NSH
    return ETHERTYPE_MPLS if number == NEXT_MPLS else -2 - SEEN_NOT_TCP
