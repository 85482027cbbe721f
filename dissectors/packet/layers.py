"""Calls the function of each layer of a packet. A new link type, ethertype or tunnel gets its line here."""

import cython

from dissectors.layout import *
from dissectors.packet.capture_headers import parse_captured
from dissectors.packet.ip import parse_ipv4, parse_ipv6
from dissectors.packet.ipsec import parse_ah, parse_esp
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
from dissectors.packet.tags import parse_tag, parse_vlan
from dissectors.packet.tcp_header import parse_tcp
from dissectors.packet.tunnels import (
    parse_etherip,
    parse_gre,
    parse_l2tp_session,
    parse_mpls,
    parse_nsh,
    parse_pim,
    parse_ppp,
    parse_pppoe,
)
from dissectors.packet.udp_tunnels import parse_udp
from dissectors.packet.unknown_headers import parse_unknown_tunnel, parse_unknown_type


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_packet(p: PacketState, link: cython.longlong) -> cython.longlong:
    """Returns the packet's outcome. A segment (SEEN_TCP) that `is_ours` is in row `row`, without number, time and interface."""
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
        if layer == ETHERTYPE_IPV4:
            layer = parse_ipv4(p)
        elif layer == IP_PROTOCOL + IPPROTO_TCP:
            layer = parse_tcp(p)
        elif layer == ETHERTYPE_IPV6:
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
    if link == LINKTYPE_ETHERNET:
        return parse_ethernet(p)
    if link == LINKTYPE_LINUX_SLL:
        return parse_sll(p)
    if link == LINKTYPE_LINUX_SLL2:
        return parse_sll2(p)
    if (
        link in (LINKTYPE_RAW, LINKTYPE_DLT_RAW, LINKTYPE_DLT_RAW_OPENBSD, LINKTYPE_IPV4, LINKTYPE_IPV6)
        or layer == ANY_IP
    ):
        return parse_raw_ip(p)
    if link in (LINKTYPE_NULL, LINKTYPE_LOOP):
        return parse_loopback(p)
    if layer == LLC:
        return parse_llc(p)
    layer = parse_captured(p, link)
    return parse_rare_link(p, link) if layer == -2 - SEEN_UNKNOWN_LINK else layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ethertype(p: PacketState, kind: cython.longlong) -> cython.longlong:
    if kind in (ETHERTYPE_VLAN, ETHERTYPE_SERVICE_VLAN, ETHERTYPE_QINQ_1, ETHERTYPE_QINQ_2, ETHERTYPE_QINQ_3):
        return parse_vlan(p)
    if kind in (ETHERTYPE_MPLS, ETHERTYPE_MPLS_MULTICAST):
        return parse_mpls(p)
    if kind == ETHERTYPE_PPPOE_SESSION:
        return parse_pppoe(p)
    if kind == ETHERTYPE_BRIDGED_ETHERNET:
        return LINK + LINKTYPE_ETHERNET
    if kind == ETHERTYPE_NSH:
        return parse_nsh(p)
    if kind == ETHERTYPE_PPP:
        return parse_ppp(p)
    layer: cython.longlong = parse_tag(p, kind)
    return parse_unknown_type(p, kind) if layer == -2 - SEEN_NOT_IP else layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ip_protocol(p: PacketState, kind: cython.longlong) -> cython.longlong:
    layer: cython.longlong = -2 - SEEN_NOT_TCP
    begin: cython.longlong = p.at
    if kind == IPPROTO_UDP:
        layer = parse_udp(p)
    elif kind in (IPPROTO_IPV4, IPPROTO_IPV6):
        enter_scope(p, SCOPE_IP_IN_IP, 0)
        return ETHERTYPE_IPV4 if kind == IPPROTO_IPV4 else ETHERTYPE_IPV6
    elif kind == IPPROTO_GRE:
        layer = parse_gre(p)
    elif kind == IPPROTO_MPLS:
        layer = parse_mpls(p)
    elif kind == IPPROTO_AH:
        layer = parse_ah(p)
    elif kind == IPPROTO_ESP:
        layer = parse_esp(p)
    elif kind == IPPROTO_L2TP:
        layer = parse_l2tp_session(p)
    elif kind == IPPROTO_ETHERIP:
        layer = parse_etherip(p)
    elif kind == IPPROTO_ETHERNET:  # RFC 8986
        enter_scope(p, SCOPE_ETHERNET_IN_IP, 0)
        return LINK + LINKTYPE_ETHERNET
    elif kind == IPPROTO_NSH:
        layer = parse_nsh(p)
    elif kind == IPPROTO_PIM:
        layer = parse_pim(p)
    # UDP was searched, errors of ICMP hold copies of packets that did not arrive, and ESP is random bytes.
    if layer == -2 - SEEN_NOT_TCP and kind not in (IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_ESP):
        p.at = begin
        layer = parse_unknown_tunnel(p)
    if layer == -2 - SEEN_NOT_TCP:
        p.tally[TALLY_PROTOCOLS, kind] += 1
    return layer
