"""Tags: what switches put between the addresses of an Ethernet frame and its type, or before a whole frame.

All have an ethertype of their own, and `at` is behind it.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.link_layer import parse_length_field
from dissectors.packet.packet_state import PacketState, cut_or_malformed, u16, u32
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
def parse_tag(p: PacketState, kind: cython.longlong) -> cython.longlong:
    """A tag that is rarer than a VLAN's; SEEN_NOT_IP for an ethertype that is none."""
    if kind in (ETHERTYPE_VNTAG, ETHERTYPE_HSR, ETHERTYPE_REDUNDANCY):
        return behind_tag(p, 4)  # ports of the switches; size or zero, and a number
    if kind == ETHERTYPE_ETAG:  # IEEE 802.1BR
        return behind_tag(p, 6)
    if kind == ETHERTYPE_CISCO_METADATA:
        return parse_cisco_metadata(p)
    if kind == ETHERTYPE_BACKBONE:
        return parse_backbone(p)
    if kind == ETHERTYPE_TRILL:
        return parse_trill(p)
    if kind == ETHERTYPE_FABRICPATH:  # a tree and a hop count
        p.at += 2
        return LINK + LINKTYPE_ETHERNET
    if kind == ETHERTYPE_MACSEC:
        return parse_macsec(p)
    if kind == ETHERTYPE_ARISTA:
        return parse_arista(p)
    if kind == ETHERTYPE_BATMAN:
        return parse_batman(p)
    return -2 - SEEN_NOT_IP


@cython.cfunc
@cython.exceptval(-1, check=False)
def behind_tag(p: PacketState, size: cython.longlong) -> cython.longlong:
    """The layer behind a tag of `size` bytes and the ethertype after it."""
    if p.at + size + 2 > p.end:
        return cut_or_malformed(p)
    p.at += size + 2
    kind: cython.longlong = u16(p, p.at - 2)
    return kind if kind >= LEAST_ETHERTYPE else parse_length_field(p, kind)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_cisco_metadata(p: PacketState) -> cython.longlong:
    """Cisco's CMD: version, count of options, and for each its kind and the group that sent the frame: no scope."""
    if p.at + 2 > p.end:
        return cut_or_malformed(p)
    return behind_tag(p, 2 + 4 * p.block[p.at + 1])


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_backbone(p: PacketState) -> cython.longlong:
    """IEEE 802.1ah: flags, a service instance, then the customer's frame."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    enter_scope(p, SCOPE_BACKBONE, u32(p, p.at) & 0xFFFFFF)
    p.at += 4
    return LINK + LINKTYPE_ETHERNET


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_trill(p: PacketState) -> cython.longlong:
    """RFC 6325: length of options, hops, the switches at both ends (no scope: they change places), then a frame."""
    if p.at + 6 > p.end:
        return cut_or_malformed(p)
    p.at += 6 + 4 * (u16(p, p.at) >> 6 & 31)
    return LINK + LINKTYPE_ETHERNET


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_macsec(p: PacketState) -> cython.longlong:
    """IEEE 802.1AE that protects without encrypting. What it encrypts is counted by its ethertype."""
    if p.at + 1 > p.end:
        return cut_or_malformed(p)
    flags: cython.longlong = p.block[p.at]
    if flags & 0x8C:  # another version, encrypted, or changed
        return -2 - SEEN_NOT_IP
    return behind_tag(p, 14 if flags & 0x20 else 6)


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_batman(p: PacketState) -> cython.longlong:
    """B.A.T.M.A.N. Advanced, of the mesh's header files: unicast of version 14 and 15 (a type, a version, hops, where to), the
    latter also with the sender's address. What the nodes tell each other is not read."""
    if p.at + 18 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = p.block[p.at] << 8 | p.block[p.at + 1]
    if kind == 0x030E or kind == 0x400F:
        p.at += 10
    elif kind == 0x420F:
        p.at += 18
    else:
        return -2 - SEEN_NOT_IP
    return LINK + LINKTYPE_ETHERNET


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_arista(p: PacketState) -> cython.longlong:
    """A time that a switch of Arista put into the frame: kind 1, then its form, of 64 bits or of 48."""
    if p.at + 4 > p.end:
        return cut_or_malformed(p)
    form: cython.longlong = u16(p, p.at + 2) & 0xFF
    if u16(p, p.at) != 1 or form not in (0x10, 0x20):
        return -2 - SEEN_NOT_IP
    return behind_tag(p, 12 if form == 0x10 else 10)
