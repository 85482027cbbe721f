"""IPv4 and IPv6 headers, extension headers, and the headers of IP fragments."""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, cut_or_malformed, i64, narrow, u16, u32


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ipv4(p: PacketState) -> cython.longlong:
    """RFC 791. Total length 0: captured on the sending host before the network card segments the packet (TSO)."""
    at: cython.longlong = p.at
    p.ip_at = at
    if at + 20 > p.end:
        return cut_or_malformed(p)
    first: cython.longlong = p.block[at]
    header: cython.longlong = (first & 15) * 4
    total: cython.longlong = u16(p, at + 2)
    if first >> 4 != 4 or header < 20:
        return -2 - SEEN_MALFORMED
    if total != 0:
        if total < header:
            return -2 - SEEN_MALFORMED
        narrow(p, at + total)
    p.source_high = 0
    p.destination_high = 0
    p.source_low = MAPPED | u32(p, at + 12)
    p.destination_low = MAPPED | u32(p, at + 16)
    p.ttl = p.block[at + 8]
    p.ip_id = u16(p, at + 4)
    p.at = at + header
    if u16(p, at + 6) & 0x3FFF:
        return note_fragment(p, 4, p.ip_id, u16(p, at + 6) << 3, u16(p, at + 6) & 0x2000, p.block[at + 9])
    return IP_PROTOCOL + p.block[at + 9]


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ipv6(p: PacketState) -> cython.longlong:
    """RFC 8200. Payload length 0: a jumbogram (RFC 2675), or TSO as in IPv4."""
    at: cython.longlong = p.at
    p.ip_at = at
    if at + 40 > p.end:
        return cut_or_malformed(p)
    if p.block[at] >> 4 != 6:
        return -2 - SEEN_MALFORMED
    payload: cython.longlong = u16(p, at + 4)
    kind: cython.longlong = p.block[at + 6]
    if payload != 0:
        narrow(p, at + 40 + payload)
    p.source_high = i64(p, at + 8)
    p.source_low = i64(p, at + 16)
    p.destination_high = i64(p, at + 24)
    p.destination_low = i64(p, at + 32)
    p.ttl = p.block[at + 7]
    p.ip_id = UNKNOWN
    p.at = at + 40
    if kind == IPPROTO_TCP:
        return IP_PROTOCOL + IPPROTO_TCP
    if kind == IPPROTO_HOPOPTS and payload == 0:
        apply_jumbo_length(p)
    return parse_ipv6_extensions(p, kind)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ipv6_extensions(p: PacketState, kind: cython.longlong) -> cython.longlong:
    """The chain of extension headers. Each takes 8 bytes or more, so the loop ends with the packet."""
    size: cython.longlong
    while kind in (
        IPPROTO_HOPOPTS,
        IPPROTO_ROUTING,
        IPPROTO_FRAGMENT,
        IPPROTO_AH,
        IPPROTO_DSTOPTS,
        IPPROTO_MOBILITY,
        IPPROTO_HIP,
        IPPROTO_SHIM6,
    ):
        if p.at + 8 > p.end:
            return cut_or_malformed(p)
        size = p.block[p.at + 1]
        size = 8 if kind == IPPROTO_FRAGMENT else size * 4 + 8 if kind == IPPROTO_AH else size * 8 + 8
        if kind == IPPROTO_FRAGMENT and u16(p, p.at + 2) & 0xFFF9:
            p.at += 8
            size = u16(p, p.at - 6)
            return note_fragment(p, 6, u32(p, p.at - 4), size & 0xFFF8, size & 1, p.block[p.at - 8])
        kind = p.block[p.at]
        p.at += size
    return IP_PROTOCOL + kind


@cython.cfunc
@cython.exceptval(-1, check=False)
def note_fragment(
    p: PacketState,
    family: cython.longlong,
    number: cython.longlong,
    offset: cython.longlong,
    more: cython.longlong,
    protocol: cython.longlong,
) -> cython.longlong:
    """Notes a fragment, whose payload begins at `at`; `add_fragment` takes it when the packet has been read."""
    p.fragment_family = family
    p.fragment_id = number
    p.fragment_offset = offset & 0xFFFF
    p.fragment_more = more != 0
    p.fragment_protocol = protocol
    return -2 - SEEN_FRAGMENT


@cython.cfunc
@cython.exceptval(-1, check=False)
def apply_jumbo_length(p: PacketState) -> cython.longlong:
    """Takes the length from the jumbo payload option (RFC 2675) of the hop-by-hop header at `at`, where it counts from."""
    if p.at + 8 > p.end:
        return 0
    size: cython.longlong = p.block[p.at + 1]
    stop: cython.longlong = min(p.at + size * 8 + 8, p.end)
    option: cython.longlong = p.at + 2
    while option + 6 <= stop:
        if p.block[option] == 0xC2 and p.block[option + 1] == 4:
            narrow(p, p.at + u32(p, option + 2))
            return 0
        option += 1 if p.block[option] == 0 else 2 + p.block[option + 1]
    return 0
