"""Link layers: Ethernet, 802.3 with LLC, Linux cooked captures, BSD loopback, raw IP; others by `rare_links`."""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, cut_or_malformed, narrow, u16
from dissectors.packet.unknown_headers import parse_unknown, parse_unknown_type


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ethernet(p: PacketState) -> cython.longlong:
    """Ethernet II, or IEEE 802.3 when the type field holds a length."""
    if p.at + 14 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = u16(p, p.at + 12)
    p.at += 14
    return kind if kind >= LEAST_ETHERTYPE else parse_length_field(p, kind)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_length_field(p: PacketState, length: cython.longlong) -> cython.longlong:
    """IEEE 802.3: a length in place of the ethertype, then an LLC header."""
    if length > MOST_LENGTH:
        return parse_unknown_type(p, length)
    narrow(p, p.at + length)
    return LLC


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_llc(p: PacketState) -> cython.longlong:
    """IEEE 802.2: IP follows a SNAP header (RFC 1042, or its 802.1H variant), rarely the SAP of IP itself (6)."""
    if p.at + 3 > p.end:
        return cut_or_malformed(p)
    if p.block[p.at] == 6 and p.block[p.at + 1] == 6:
        p.at += 3
        return ETHERTYPE_IPV4
    if p.block[p.at] == 0xAA and p.block[p.at + 1] == 0xAA:
        if p.at + 8 > p.end:
            return cut_or_malformed(p)
        if p.block[p.at + 3] == 0 and p.block[p.at + 4] == 0 and p.block[p.at + 5] in (0, 0xF8):
            p.at += 8
            return u16(p, p.at - 2)
    return parse_unknown_type(p, 0)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_sll(p: PacketState) -> cython.longlong:
    """LINKTYPE_LINUX_SLL, Linux cooked capture v1."""
    if p.at + 16 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = u16(p, p.at + 14)
    device: cython.longlong = u16(p, p.at + 2)
    p.at += 16
    return parse_sll_protocol(p, kind, device)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_sll2(p: PacketState) -> cython.longlong:
    """LINKTYPE_LINUX_SLL2, Linux cooked capture v2."""
    if p.at + 20 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = u16(p, p.at)
    device: cython.longlong = u16(p, p.at + 8)
    p.at += 20
    return parse_sll_protocol(p, kind, device)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_sll_protocol(p: PacketState, kind: cython.longlong, device: cython.longlong) -> cython.longlong:
    """Small numbers are no ethertypes (4 is LLC), and netlink devices have a family number in this field."""
    if device == ARPHRD_NETLINK or (kind < LEAST_ETHERTYPE and kind != 4):
        p.tally[TALLY_ETHERTYPES, kind] += 1
        return -2 - SEEN_NOT_IP
    return LLC if kind == 4 else kind


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_loopback(p: PacketState) -> cython.longlong:
    """BSD loopback: the address family in the byte order of the capturing host, so both orders are tried."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    family: cython.longlong = u16(p, p.at + 2)
    if family == 0:
        family = p.block[p.at]
    elif u16(p, p.at) != 0:
        family = 0
    p.at += 4
    if family == 2:
        return ETHERTYPE_IPV4
    if family in (10, 23, 24, 28, 30):  # Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin
        return ETHERTYPE_IPV6
    return -2 - SEEN_NOT_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_raw_ip(p: PacketState) -> cython.longlong:
    """An IP packet without link layer: the first four bits are the IP version."""
    if p.at >= p.end:
        return cut_or_malformed(p)
    version: cython.longlong = p.block[p.at] >> 4
    if version == 4:
        return ETHERTYPE_IPV4
    return ETHERTYPE_IPV6 if version == 6 else -2 - SEEN_MALFORMED


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_rare_link(p: PacketState, link: cython.longlong) -> cython.longlong:
    """Link types of `rare_links`, which read each packet as Python bytes: slower, for link types that are rare under Kafka."""
    resolve = p.resolvers.get(link)
    if resolve is None:
        return parse_unknown(p, 0, MOST_UNKNOWN_LINK_HEADER, SEEN_UNKNOWN_LINK)
    found = resolve(bytes(p.block[p.at : p.end]))
    if found is None:
        return parse_unknown(p, 0, MOST_UNKNOWN_LINK_HEADER, SEEN_NOT_IP)
    p.at += found
    return ANY_IP
