"""Link types that put a header of the capturing machine, or of a switch's chip, before or into the frame of another link.

Sources: tcpdump.org "Link-layer header types" and the pages that it refers to.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, cut_or_malformed, narrow, u8, u16
from dissectors.packet.scopes import enter_scope
from dissectors.packet.unknown_headers import parse_unknown


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_captured(p: PacketState, link: cython.longlong) -> cython.longlong:
    """One of the link types below; SEEN_UNKNOWN_LINK for another."""
    if link in (LINKTYPE_PKTAP, LINKTYPE_USER2):
        return parse_pktap(p, link)
    if link == LINKTYPE_PFLOG:
        return parse_pflog(p)
    if link == LINKTYPE_ERF:
        return parse_erf(p)
    if link == LINKTYPE_ENC:
        return behind_header(p, 12, ANY_IP)  # address family, association, flags
    if link == LINKTYPE_IPOIB:
        return parse_ipoib(p)
    if link == LINKTYPE_DSA_BRCM_PREPEND:
        return behind_header(p, 4, LINK + LINKTYPE_ETHERNET)
    if link in (LINKTYPE_DSA, LINKTYPE_EDSA, LINKTYPE_DSA_BRCM):
        return parse_switch_tag(p, link)
    return -2 - SEEN_UNKNOWN_LINK


@cython.cfunc
@cython.exceptval(-1, check=False)
def behind_header(p: PacketState, size: cython.longlong, layer: cython.longlong) -> cython.longlong:
    if p.at + size > p.end:
        return cut_or_malformed(p)
    p.at += size
    return layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_pktap(p: PacketState, link: cython.longlong) -> cython.longlong:
    """Apple's PKTAP: length of the header, kind of record (1: a packet), link type of the packet, all little-endian. Others may
    use LINKTYPE_USER2 for what they like, so there the header must be what it claims to be."""
    if p.at + 12 > p.end:
        return cut_or_malformed(p)
    size: cython.longlong = little32(p, p.at)
    kind: cython.longlong = little32(p, p.at + 4)
    inner: cython.longlong = little32(p, p.at + 8)
    if size < 108 or size > 65_535 or kind > 1 or inner > 0xFFFF:
        return -2 - (SEEN_MALFORMED if link == LINKTYPE_PKTAP else SEEN_UNKNOWN_LINK)
    if kind == 0:
        return -2 - SEEN_NOT_IP
    return behind_header(p, size, LINK + inner)


@cython.cfunc
@cython.exceptval(-1, check=False)
def little32(p: PacketState, at: cython.longlong) -> cython.longlong:
    return u8(p, at + 3) << 24 | u8(p, at + 2) << 16 | u8(p, at + 1) << 8 | u8(p, at)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_pflog(p: PacketState) -> cython.longlong:
    """The log of BSD's packet filter: the first byte is the header's length, without what fills it up to four bytes."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    size: cython.longlong = u8(p, p.at)
    if size < 45:
        return -2 - SEEN_MALFORMED
    return behind_header(p, size + 3 & ~3, ANY_IP)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_erf(p: PacketState) -> cython.longlong:
    """Endace's records: time, type, flags, lengths; then headers of eight bytes for as long as a bit says that one follows."""
    if p.at + 16 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = u8(p, p.at + 8)
    size: cython.longlong = u16(p, p.at + 10)
    more: cython.longlong = kind & 0x80
    if size >= 16:
        narrow(p, p.at + size)
    p.at += 16
    while more:
        if p.at + 8 > p.end:
            return cut_or_malformed(p)
        more = u8(p, p.at) & 0x80
        p.at += 8
    kind &= 0x7F
    if kind in (2, 11, 16, 20):  # Ethernet, in colours and with a hash; two bytes before the frame
        return behind_header(p, 2, LINK + LINKTYPE_ETHERNET)
    if kind in (22, 23):
        return ANY_IP
    if kind in (1, 10, 15, 19):  # HDLC
        return LINK + LINKTYPE_HDLC
    return parse_unknown(p, 0, MOST_UNKNOWN_LINK_HEADER, SEEN_NOT_IP)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ipoib(p: PacketState) -> cython.longlong:
    """IP over InfiniBand: a global route header of 40 bytes (the kernel keeps its addresses), ethertype, two bytes."""
    if p.at + 44 > p.end:
        return cut_or_malformed(p)
    p.at += 44
    return u16(p, p.at - 4)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_switch_tag(p: PacketState, link: cython.longlong) -> cython.longlong:
    """Tags of switch chips behind the addresses of a frame: Broadcom's of 4 bytes; Marvell's of 4 bytes, or of 8 with an ethertype
    first, which takes the place of a VLAN tag."""
    size: cython.longlong = 8 if link == LINKTYPE_EDSA else 4
    if p.at + 14 + size > p.end:
        return cut_or_malformed(p)
    p.at += 12 + size
    if link != LINKTYPE_DSA_BRCM and u8(p, p.at - 4) & 0x20 and u16(p, p.at - 2) & 0xFFF:
        enter_scope(p, SCOPE_VLAN, u16(p, p.at - 2) & 0xFFF)
    p.at += 2
    return u16(p, p.at - 2)
