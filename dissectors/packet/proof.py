"""Whether bytes are an IP packet or an Ethernet frame with one: what a guess by content must prove.

Where neither a port nor a type field says what comes next, only a header that proves itself is believed. An IPv4 header does
by its checksum; one whose checksum is 0 (left to the network card), and an IPv6 header, by the TCP header behind it. Random
bytes pass once in some 2^26 tries, and where an ethertype must fit too (`is_sure_frame`), or the length (`fills_layer`),
less than once in 2^36.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, u16


@cython.cfunc
@cython.exceptval(-1, check=False)
def inner_type(p: PacketState, at: cython.longlong) -> cython.longlong:
    """The ethertype of the Ethernet frame at `at`, behind its VLAN tags; 0 when it was not captured. Sets `guess` to the end of
    its header."""
    kind: cython.longlong = ETHERTYPE_VLAN
    tags: cython.longlong = 0
    at += 8
    while tags < DEEPEST and kind in (ETHERTYPE_VLAN, ETHERTYPE_SERVICE_VLAN, ETHERTYPE_QINQ_1):
        at += 4
        if at + 2 > p.end:
            return 0
        kind = u16(p, at)
        tags += 1
    p.guess = at + 2
    return kind


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_likely_frame(p: PacketState, at: cython.longlong) -> cython.bint:
    """Whether an Ethernet frame may begin at `at`, where a port says that one does."""
    kind: cython.longlong = inner_type(p, at)
    if kind in (ETHERTYPE_IPV4, ETHERTYPE_IPV6):
        return p.guess < p.end and p.block[p.guess] >> 4 == (4 if kind == ETHERTYPE_IPV4 else 6)
    return kind == ETHERTYPE_ARP


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_sure_frame(p: PacketState, at: cython.longlong) -> cython.bint:
    """Whether an Ethernet frame with a sure IP packet begins at `at`."""
    kind: cython.longlong = inner_type(p, at)
    if kind == ETHERTYPE_IPV4:
        return is_sure_ipv4(p, p.guess)
    return kind == ETHERTYPE_IPV6 and is_sure_ipv6(p, p.guess)


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_sure_ip(p: PacketState, at: cython.longlong) -> cython.bint:
    """Whether an IP packet begins at `at`."""
    if at >= p.end:
        return False
    version: cython.longlong = p.block[at] >> 4
    if version == 4:
        return is_sure_ipv4(p, at)
    return version == 6 and is_sure_ipv6(p, at)


@cython.cfunc
@cython.exceptval(-1, check=False)
def fills_layer(p: PacketState, at: cython.longlong) -> cython.bint:
    """Whether an IP packet begins at `at` and ends where the layer around it does."""
    return is_sure_ip(p, at) and at + length_of_ip(p, at) == p.wire


@cython.cfunc
@cython.exceptval(-1, check=False)
def length_of_ip(p: PacketState, at: cython.longlong) -> cython.longlong:
    """Bytes of the IP packet at `at`, as its header says. Eight bytes or more follow."""
    return u16(p, at + 2) if p.block[at] >> 4 == 4 else 40 + u16(p, at + 4)


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_sure_ipv4(p: PacketState, at: cython.longlong) -> cython.bint:
    if at + 20 > p.end or p.block[at] >> 4 != 4:
        return False
    header: cython.longlong = (p.block[at] & 15) * 4
    total: cython.longlong = u16(p, at + 2)
    if header < 20 or at + header > p.end or total < header or at + total > min(p.wire, p.bound):
        return False
    if checksum(p, at, at + header, 0) == 0xFFFF:
        return True
    return u16(p, at + 10) == 0 and p.block[at + 9] == IPPROTO_TCP and is_likely_tcp(p, at + header)


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_sure_ipv6(p: PacketState, at: cython.longlong) -> cython.bint:
    if at + 40 > p.end or p.block[at] >> 4 != 6 or at + 40 + u16(p, at + 4) > min(p.wire, p.bound):
        return False
    return p.block[at + 6] == IPPROTO_TCP and is_likely_tcp(p, at + 40)


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_likely_tcp(p: PacketState, at: cython.longlong) -> cython.bint:
    """RFC 9293: bits that must be zero are, flags do not contradict each other, nothing urgent without its flag."""
    if at + 20 > p.end or p.block[at + 12] < 0x50 or p.block[at + 12] & 0x0E:
        return False
    flags: cython.longlong = p.block[at + 13]
    if flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK) == 0 or (flags & TCP_SYN and flags & (TCP_FIN | TCP_RST)):
        return False
    return flags & 0x20 != 0 or u16(p, at + 18) == 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def checksum(p: PacketState, at: cython.longlong, stop: cython.longlong, added: cython.longlong) -> cython.longlong:
    """The Internet checksum (RFC 1071) of captured bytes and of `added`: 0xFFFF where they hold the right one."""
    total: cython.longlong = added
    while at + 2 <= stop:
        total += u16(p, at)
        at += 2
    if at < stop:
        total += p.block[at] << 8
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total
