"""Calls the function of each layer of a packet. A new link type, ethertype or tunnel gets its line here."""

import cython

from dissectors.layout import *
from dissectors.packet.ip import parse_ipv4, parse_ipv6
from dissectors.packet.layer_codes import *
from dissectors.packet.link_layer import (
    parse_ethernet,
    parse_llc,
    parse_loopback,
    parse_rare_link,
    parse_raw_ip,
    parse_sll,
    parse_sll2,
)
from dissectors.packet.packet_state import PacketState
from dissectors.packet.scopes import enter_scope
from dissectors.packet.tcp_header import parse_tcp
from dissectors.packet.tunnels import parse_gre, parse_mpls, parse_pppoe, parse_udp, parse_vlan


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_packet(p: PacketState, link: cython.longlong) -> cython.longlong:
    """The packet's outcome; a segment (SEEN_TCP) that `is_mine` is in row `row`, but for number, time and interface."""
    if link < 0 or link > 0xFFFF:
        return SEEN_UNKNOWN_LINK
    return parse_layers(p, LINK + link)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_layers(p: PacketState, layer: cython.longlong) -> cython.longlong:
    depth: cython.longlong = 0
    while layer >= 0:
        depth += 1
        if depth > DEEPEST:
            return SEEN_MALFORMED
        if layer == 0x0800:
            layer = parse_ipv4(p)
        elif layer == IP_PROTOCOL + 6:
            layer = parse_tcp(p)
        elif layer == 0x86DD:
            layer = parse_ipv6(p)
        elif layer >= LINK:
            layer = parse_link_layer(p, layer)
        elif layer >= IP_PROTOCOL:
            layer = parse_ip_protocol(p, layer - IP_PROTOCOL)
        else:
            layer = parse_ethertype(p, layer)
    return -2 - layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_link_layer(p: PacketState, layer: cython.longlong) -> cython.longlong:
    link: cython.longlong = layer - LINK
    if link == 1:
        return parse_ethernet(p)
    if link == 113:
        return parse_sll(p)
    if link == 276:
        return parse_sll2(p)
    if link in (101, 12, 14, 228, 229) or layer == ANY_IP:
        return parse_raw_ip(p)
    if link in (0, 108):
        return parse_loopback(p)
    if layer == LLC:
        return parse_llc(p)
    return parse_rare_link(p, link)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ethertype(p: PacketState, kind: cython.longlong) -> cython.longlong:
    if kind in (0x8100, 0x88A8, 0x9100, 0x9200, 0x9300):
        return parse_vlan(p)
    if kind in (0x8847, 0x8848):
        return parse_mpls(p)
    if kind == 0x8864:
        return parse_pppoe(p)
    if kind == 0x6558:
        return LINK + 1
    p.tally[ETHERTYPES, kind] += 1
    return -2 - SEEN_NOT_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ip_protocol(p: PacketState, kind: cython.longlong) -> cython.longlong:
    layer: cython.longlong = -2 - SEEN_NOT_TCP
    if kind == 17:
        layer = parse_udp(p)
    elif kind in (4, 41):
        enter_scope(p, IP_IN_IP, 0)
        return 0x0800 if kind == 4 else 0x86DD
    elif kind == 47:
        layer = parse_gre(p)
    elif kind == 137:
        return parse_mpls(p)
    if layer < 0:
        p.tally[PROTOCOLS, kind] += 1
    return layer
