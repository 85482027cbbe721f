"""IPsec in clear: the authentication header (RFC 4302), and ESP with null encryption (RFC 2410, RFC 4303).

ESP does not say whether it is encrypted. It is taken for clear only where all fits: padding that counts 1, 2, 3 ..., the next
header behind it, and an inner IP packet that ends exactly there, or a TCP segment with a right checksum (compare RFC 5879).
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, cut_or_malformed, narrow, u16
from dissectors.packet.proof import checksum, is_likely_tcp, is_sure_ip


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_ah(p: PacketState) -> cython.longlong:
    if p.at + 12 > p.end:
        return cut_or_malformed(p)
    kind: cython.longlong = p.block[p.at]
    p.at += 4 * p.block[p.at + 1] + 8
    return IP_PROTOCOL + kind


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_esp(p: PacketState) -> cython.longlong:
    """SEEN_NOT_TCP for what is encrypted, or was cut before its end."""
    tag: cython.longlong
    payload: cython.longlong = p.at + 8
    if p.end < p.wire or payload + 22 > p.end:
        return -2 - SEEN_NOT_TCP
    for tag in range(0, 36, 4):  # bytes of the integrity check value: 0, 8, 12, 16 ... 32
        if tag != 4 and is_clear_esp(p, payload, p.end - tag):
            tag = p.end - tag
            narrow(p, tag - 2 - p.block[tag - 2])
            p.at = payload
            return IP_PROTOCOL + p.block[tag - 1]
    return -2 - SEEN_NOT_TCP


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_clear_esp(p: PacketState, payload: cython.longlong, stop: cython.longlong) -> cython.bint:
    """Whether the bytes up to `stop` are a payload in clear with its trailer."""
    number: cython.longlong
    if stop - 22 < payload or (stop - payload) & 3:
        return False
    kind: cython.longlong = p.block[stop - 1]
    padding: cython.longlong = p.block[stop - 2]
    end: cython.longlong = stop - 2 - padding
    if kind not in (IPPROTO_IPV4, IPPROTO_IPV6, IPPROTO_TCP) or end < payload + 20:
        return False
    for number in range(padding):
        if p.block[end + number] != number + 1:
            return False
    if kind == IPPROTO_TCP:
        return is_likely_tcp(p, payload) and checksum(p, payload, end, pseudo_header(p, end - payload)) == 0xFFFF
    if not is_sure_ip(p, payload) or (p.block[payload] >> 4 == 4) != (kind == IPPROTO_IPV4):
        return False
    return payload + (u16(p, payload + 2) if kind == IPPROTO_IPV4 else 40 + u16(p, payload + 4)) == end


@cython.cfunc
@cython.exceptval(-1, check=False)
def pseudo_header(p: PacketState, length: cython.longlong) -> cython.longlong:
    """The sum of addresses, protocol and length that the TCP checksum covers beside the segment (RFC 9293 3.1)."""
    number: cython.longlong
    total: cython.longlong = IPPROTO_TCP + (length >> 16) + (length & 0xFFFF)
    for number in range(0, 64, 16):
        total += p.source_high >> number & 0xFFFF
        total += p.destination_high >> number & 0xFFFF
        total += p.source_low >> number & 0xFFFF
        total += p.destination_low >> number & 0xFFFF
    # An IPv4 address follows ::ffff, whose ones count as zero in this sum.
    return total
