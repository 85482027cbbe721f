"""The TCP checksum of a segment: right, wrong or unknown (RFC 9293, 3.1; RFC 8200, 8.1; sums by RFC 1071).

Unknown is a segment that lacks a byte, and one whose checksum was left to the network card: a capture on the sending
host shows the sum of the pseudo header alone (a partial checksum; what was put together on receipt has it too), the same
without the length (large segments that the card cuts) or 0. That is seen before the payload is added up, so captures of hosts
cost little. Segments that bring neither payload nor SYN, FIN or RST are not looked at: nothing depends on them.

A checksum is as right as a coincidence of 1 in 65,536. What a wrong one means is decided where the segments of a direction
are known (`dissectors.tcp.damaged`).
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, u8, u16


@cython.cfunc
@cython.exceptval(-1, check=False)
def checksum_of(p: PacketState, payload: cython.longlong) -> cython.longlong:
    """The CHECKSUM_ code of the TCP segment at `at`, whose payload begins at `payload`."""
    length: cython.longlong = p.wire - p.at
    given: cython.ulonglong
    head: cython.ulonglong
    whole: cython.ulonglong
    if p.end < p.wire or (p.wire == payload and u8(p, p.at + 13) & (TCP_SYN | TCP_FIN | TCP_RST) == 0):
        return CHECKSUM_UNKNOWN
    # IPv4 addresses are written as ::ffff:a.b.c.d: ffff counts as 0.
    head = halves(p.source_high) + halves(p.source_low) + halves(p.destination_high) + halves(p.destination_low)
    head = (head + IPPROTO_TCP) % ONES
    whole = (head + length) % ONES
    given = u16(p, p.at + 16) % ONES
    if given in (0, head, whole):
        return CHECKSUM_UNKNOWN
    return CHECKSUM_WRONG if (whole + sum_words(p, p.at, p.end)) % ONES else CHECKSUM_RIGHT


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def halves(number: cython.longlong) -> cython.ulonglong:
    """The sum of the two halves of an int64, each without sign. 2^16 is 1 in these sums, so halves count as well as words."""
    return cython.cast(cython.ulonglong, number & LOW_HALF) + cython.cast(cython.ulonglong, (number >> 32) & LOW_HALF)


@cython.cfunc
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def sum_words(p: PacketState, at: cython.longlong, end: cython.longlong) -> cython.longlong:
    """The sum of the 16-bit words of [at, end), modulo ONES, the last one filled up with a zero byte.

    The inner loop is written so that compilers add up 16 bytes at a time (GCC: some 20 bytes in a ns): sums of 256 bytes fit
    16 bits, and nothing has to be aligned.
    """
    even: cython.ushort
    odd: cython.ushort
    total: cython.longlong = 0
    words: cython.longlong
    i: cython.longlong
    if at < 0 or end > len(p.block):
        raise IndexError("a segment lies outside its block")
    if not cython.compiled:
        return int.from_bytes(p.block[at:end]) * (256 if (end - at) & 1 else 1) % ONES
    while end - at >= 2:
        words = min((end - at) >> 1, 256)
        even = 0
        odd = 0
        for i in range(words):
            even += p.block[at + 2 * i]
            odd += p.block[at + 2 * i + 1]
        total += (cython.cast(cython.longlong, even) << 8) + odd
        at += 2 * words
    if at < end:
        total += cython.cast(cython.longlong, p.block[at]) << 8
    return total
