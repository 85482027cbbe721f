"""Tunnels in UDP: the destination port says which one; on other ports a tunnel must prove itself.

A person may name further ports (`--decode-as`). What is no tunnel is counted by the port of its service: that of a tunnel if
one is, else the smaller one.
"""

import cython

from dissectors.layout import *
from dissectors.packet.ipsec import parse_esp
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, cut_or_malformed, u16, u32
from dissectors.packet.proof import fills_layer, is_likely_frame, is_sure_frame, is_sure_ip
from dissectors.packet.scopes import enter_scope
from dissectors.packet.tunnels import next_layer, parse_gre, parse_l2tp, parse_mpls
from dissectors.packet.unknown_headers import parse_unknown_tunnel


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_udp(p: PacketState) -> cython.longlong:
    """RFC 768."""
    if p.at + 8 > p.end:
        return cut_or_malformed(p)
    source: cython.longlong = u16(p, p.at)
    target: cython.longlong = u16(p, p.at + 2)
    tunnel: cython.longlong = p.tunnels[0, target]
    if tunnel == 0 and p.tunnels[0, source] >= TUNNEL_GTP:  # those that answer from their port
        tunnel = p.tunnels[0, source]
    p.at += 8
    layer: cython.longlong = parse_udp_tunnel(p, tunnel) if tunnel else -2 - SEEN_NOT_TCP
    if layer == -2 - SEEN_NOT_TCP:
        layer = guess_tunnel(p)
    if layer == -2 - SEEN_NOT_TCP and tunnel != TUNNEL_UNREAD:
        layer = parse_unknown_tunnel(p)
    if layer == -2 - SEEN_NOT_TCP:
        if p.tunnels[0, target] == 0 and (p.tunnels[0, source] or source < target):
            target = source
        p.tally[TALLY_UDP_PORTS, target] += 1
    return layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_udp_tunnel(p: PacketState, tunnel: cython.longlong) -> cython.longlong:
    """What is in a tunnel whose header begins at `at`; SEEN_NOT_TCP where this is none, `at` is then as it was."""
    begin: cython.longlong = p.at
    layer: cython.longlong = -2 - SEEN_NOT_TCP
    if tunnel == TUNNEL_VXLAN:
        layer = parse_vxlan(p)
    elif tunnel == TUNNEL_VXLAN_GPE:
        layer = parse_vxlan_gpe(p)
    elif tunnel == TUNNEL_GENEVE:
        layer = parse_geneve(p)
    elif tunnel == TUNNEL_GRE:
        layer = parse_gre(p)
    elif tunnel == TUNNEL_MPLS:
        layer = parse_mpls(p)
    elif tunnel == TUNNEL_GTP:
        layer = parse_gtp(p)
    elif tunnel == TUNNEL_L2TP:
        layer = parse_l2tp(p)
    elif tunnel == TUNNEL_TZSP:
        layer = parse_tzsp(p)
    elif tunnel == TUNNEL_LISP:
        layer = parse_lisp(p)
    elif tunnel == TUNNEL_IP:
        layer = parse_bare_ip(p)
    elif tunnel == TUNNEL_GUE:
        layer = parse_gue(p)
    elif tunnel == TUNNEL_ESP:
        layer = parse_esp(p)
    elif tunnel == TUNNEL_CAPWAP:
        layer = parse_capwap(p)
    elif tunnel == TUNNEL_ETHERNET and is_likely_frame(p, p.at):
        enter_scope(p, SCOPE_ETHERNET_IN_IP, 0)
        layer = LINK + LINKTYPE_ETHERNET
    if layer == -2 - SEEN_NOT_TCP:
        p.at = begin
    return layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def guess_tunnel(p: PacketState) -> cython.longlong:
    """A tunnel on a port that is not its own, by content."""
    at: cython.longlong = p.at
    if at + 20 > p.end:
        return -2 - SEEN_NOT_TCP
    first: cython.longlong = p.block[at]
    kind: cython.longlong = u16(p, at + 2)
    if fills_layer(p, at):
        return parse_bare_ip(p)
    if first & 0x08 and is_sure_frame(p, at + 8):
        return parse_vxlan(p)
    if first & 0x0C == 0x0C and p.block[at + 3] in (NEXT_IPV4, NEXT_IPV6) and fills_layer(p, at + 8):
        return parse_vxlan_gpe(p)
    if first < 0x40 and kind == ETHERTYPE_BRIDGED_ETHERNET and is_sure_frame(p, at + 8 + 4 * first):
        return parse_geneve(p)
    if first < 0x40 and kind in (ETHERTYPE_IPV4, ETHERTYPE_IPV6) and fills_layer(p, at + 8 + 4 * first):
        return parse_geneve(p)
    return guess_gre(p, first, kind)


@cython.cfunc
@cython.exceptval(-1, check=False)
def guess_gre(p: PacketState, first: cython.longlong, kind: cython.longlong) -> cython.longlong:
    """GRE, or the header of GUE, on any port."""
    at: cython.longlong = p.at
    size: cython.longlong = 4
    if first < 0x20 and p.block[at + 1] in (IPPROTO_IPV4, IPPROTO_IPV6) and fills_layer(p, at + 4 + 4 * first):
        return parse_gue(p)
    if first & 0x4F or p.block[at + 1] & 7:
        return -2 - SEEN_NOT_TCP
    size += 4 if first & 0x80 else 0
    size += 4 if first & 0x20 else 0
    size += 4 if first & 0x10 else 0
    if kind in (ETHERTYPE_IPV4, ETHERTYPE_IPV6) and fills_layer(p, at + size):
        return parse_gre(p)
    if kind == ETHERTYPE_BRIDGED_ETHERNET and is_sure_frame(p, at + size):
        return parse_gre(p)
    return -2 - SEEN_NOT_TCP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_vxlan(p: PacketState) -> cython.longlong:
    """RFC 7348, whose reserved bits are ignored: the group policy extension writes a group into them. A header with such bits,
    or without the bit that says that there is a VNI, counts where a frame follows."""
    at: cython.longlong = p.at
    if at + 8 > p.end:
        return -2 - SEEN_NOT_TCP
    if p.block[at] & 0x0C == 0x0C and p.block[at + 3] != NEXT_ETHERNET and not is_likely_frame(p, at + 8):
        return parse_vxlan_gpe(p)
    if (u32(p, at) & 0x7FFFFFFF) >> 24 != 0x08 and not is_likely_frame(p, at + 8):
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_VXLAN, u32(p, at + 4) >> 8)
    p.at = at + 8
    return LINK + LINKTYPE_ETHERNET


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_vxlan_gpe(p: PacketState) -> cython.longlong:
    """draft-ietf-nvo3-vxlan-gpe: a bit says that the header names the next protocol; without it that is Ethernet."""
    at: cython.longlong = p.at
    if at + 8 > p.end or p.block[at] & 0x30:
        return -2 - SEEN_NOT_TCP
    layer: cython.longlong = next_layer(p.block[at + 3] if p.block[at] & 4 else NEXT_ETHERNET)
    if layer >= 0:
        enter_scope(p, SCOPE_VXLAN, u32(p, at + 4) >> 8)
        p.at = at + 8
    return layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_geneve(p: PacketState) -> cython.longlong:
    """RFC 8926."""
    at: cython.longlong = p.at
    if at + 8 > p.end or p.block[at] >= 0x40:
        return -2 - SEEN_NOT_TCP
    options: cython.longlong = p.block[at]
    kind: cython.longlong = u16(p, at + 2)
    if kind not in (
        ETHERTYPE_BRIDGED_ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, ETHERTYPE_NSH
    ):  # fmt: skip
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_GENEVE, u32(p, at + 4) >> 8)
    p.at = at + 8 + 4 * options
    return kind


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_gtp(p: PacketState) -> cython.longlong:
    """GTP-U (3GPP TS 29.281): packets of users. Each direction has a tunnel number of its own."""
    at: cython.longlong = p.at
    if at + 8 > p.end or p.block[at] & 0xF0 != 0x30 or p.block[at + 1] != 0xFF:
        return -2 - SEEN_NOT_TCP
    flags: cython.longlong = p.block[at]
    extension: cython.longlong = 0
    at += 8
    if flags & 7:
        at += 4
        if at > p.end:
            return -2 - SEEN_NOT_TCP
        extension = p.block[at - 1] if flags & 4 else 0
    while extension != 0:  # each has 4 bytes or more
        if at >= p.end or p.block[at] == 0 or at + 4 * p.block[at] > p.end:
            return -2 - SEEN_NOT_TCP
        at += 4 * p.block[at]
        extension = p.block[at - 1]
    p.at = at
    return parse_packet_or_frame(p, SCOPE_GTP)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_packet_or_frame(p: PacketState, scope: cython.longlong) -> cython.longlong:
    """What may be an IP packet or an Ethernet frame: the first bits of an IP packet are its version."""
    if p.at >= p.end:
        return -2 - SEEN_NOT_TCP
    version: cython.longlong = p.block[p.at] >> 4
    frame: cython.bint = is_sure_frame(p, p.at) and not is_sure_ip(p, p.at)
    if not frame and version != 4 and version != 6:
        return -2 - SEEN_NOT_TCP
    enter_scope(p, scope, 0)
    return LINK + LINKTYPE_ETHERNET if frame else ANY_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_tzsp(p: PacketState) -> cython.longlong:
    """TaZmen Sniffer Protocol, version 1: type, kind of link, tags up to the end tag, then the frame that was captured."""
    at: cython.longlong = p.at
    if at + 5 > p.end or p.block[at] != 1 or p.block[at + 1] > 1:
        return -2 - SEEN_NOT_TCP
    link: cython.longlong = u16(p, at + 2)
    at += 4
    while p.block[at] != 1:
        at += 1 if p.block[at] == 0 else 2 + (p.block[at + 1] if at + 1 < p.end else 0)
        if at >= p.end:
            return -2 - SEEN_NOT_TCP
    if link == 1:
        link = LINKTYPE_ETHERNET
    elif link == 18:
        link = LINKTYPE_IEEE802_11
    elif link == 119:
        link = LINKTYPE_PRISM_HEADER
    elif link == 127:
        link = LINKTYPE_IEEE802_11_AVS
    else:
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_TZSP, 0)
    p.at = at + 1
    return LINK + link


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_capwap(p: PacketState) -> cython.longlong:
    """RFC 5415, data: a header of so many words, then an Ethernet frame, or what the wireless part sends itself. Encrypted, in
    pieces, or kept alive only: not read."""
    if p.at + 8 > p.end or p.block[p.at]:
        return -2 - SEEN_NOT_TCP
    native: cython.longlong = p.block[p.at + 2] & 1
    kind: cython.longlong = p.block[p.at + 2] >> 1 & 31
    length: cython.longlong = 4 * (p.block[p.at + 1] >> 3)
    if length < 8 or p.block[p.at + 3] & 0x88 or (native and kind != 1):
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_CAPWAP, 0)
    p.at += length
    return LINK + (LINKTYPE_IEEE802_11 if native else LINKTYPE_ETHERNET)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_lisp(p: PacketState) -> cython.longlong:
    """RFC 9300: eight bytes, then an IP packet."""
    if p.at + 9 > p.end or p.block[p.at + 8] >> 4 not in (4, 6):
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_LISP, 0)
    p.at += 8
    return ANY_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_bare_ip(p: PacketState) -> cython.longlong:
    """An IP packet; before it Teredo's indications (RFC 4380 5.1.1), which begin with a zero byte."""
    at: cython.longlong = p.at
    if at + 4 <= p.end and u16(p, at) == 1:
        at += 13 + p.block[at + 2] + p.block[at + 3]
    if at + 8 <= p.end and u16(p, at) == 0:
        at += 8
    if at >= p.end or p.block[at] >> 4 not in (4, 6):
        return -2 - SEEN_NOT_TCP
    enter_scope(p, SCOPE_IP_IN_IP, 0)
    p.at = at
    return ANY_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_gue(p: PacketState) -> cython.longlong:
    """draft-ietf-intarea-gue: version 0 names an IP protocol, version 1 is an IP packet."""
    if p.at + 4 > p.end:
        return -2 - SEEN_NOT_TCP
    first: cython.longlong = p.block[p.at]
    if first >= 0x40:
        return parse_bare_ip(p)
    if first & 0x20:
        return -2 - SEEN_NOT_TCP  # a control message
    kind: cython.longlong = p.block[p.at + 1]
    if kind not in (IPPROTO_IPV4, IPPROTO_IPV6, IPPROTO_GRE, IPPROTO_MPLS):
        return -2 - SEEN_NOT_TCP
    p.at += 4 + 4 * (first & 31)
    return IP_PROTOCOL + kind
