"""Packets in encapsulations that nobody rewrites: the IP packet with the TCP segment, by itself.

Where the IP header is right before the TCP header it is taken as it is. Behind others (IPsec in clear, extension headers of
IPv6), or where it names another length than what carries it, it is made of what the segment tells.
"""

from __future__ import annotations

import struct

from analyzer.redact.header_rewriting import ETHERNET, LOOPBACK, RAW, SLL, SLL2, VLANS
from analyzer.redact.packet_checksums import TCP, ip_checksum
from dissectors import layout

_IPV4_BYTES, _IPV6_BYTES, _LONGEST = 20, 40, 65_535
_MAPPED = bytes(10) + b"\xff\xff"


def link_bytes(data: bytes, link: int) -> int | None:
    """How many bytes precede the IP packet where only VLANs do; None where something else does."""
    at = {SLL: 16, SLL2: 20}.get(link, 4 if link in LOOPBACK else 0 if link in RAW else None)
    if link != ETHERNET:
        return at
    at = 14
    while int.from_bytes(data[at - 2 : at], "big") in VLANS:
        at += 4
    return at


def bare(data: bytes, length: int, at: int, segments: memoryview, row: int) -> tuple[bytes, int] | None:
    """(packet, its length on the wire) of a packet whose segment's payload is at `at`; None where its TCP header is not found."""
    tcp = _tcp_header(data, at, segments, row)
    if tcp is None:
        return None
    size = at - tcp + segments[layout.SEGMENT_LENGTH, row]
    ip = _ip_header(data, tcp, segments, row)
    if ip is not None and _total(data, ip) in (tcp - ip + size, 0):
        return data[ip:], max(length - ip, 0)
    head = _new_header(size, segments, row)
    return head + data[tcp : at + segments[layout.SEGMENT_CAPTURED, row]], len(head) + size


def inner_packet(data: bytes, at: int, segments: memoryview, row: int) -> int | None:
    """Where the IP header before the payload at `at` of a segment begins; None where it is not found."""
    tcp = _tcp_header(data, at, segments, row)
    return None if tcp is None else _ip_header(data, tcp, segments, row)


def _tcp_header(data: bytes, at: int, segments: memoryview, row: int) -> int | None:
    ports = segments[layout.SEGMENT_SRC_PORT, row] << 16 | segments[layout.SEGMENT_DST_PORT, row]
    head = ports.to_bytes(4, "big") + segments[layout.SEGMENT_SEQ, row].to_bytes(4, "big")
    for size in range(20, 64, 4):
        tcp = at - size
        if tcp >= 20 and data[tcp : tcp + 8] == head and (data[tcp + 12] >> 4) * 4 == size:
            return tcp
    return None


def _ip_header(data: bytes, tcp: int, segments: memoryview, row: int) -> int | None:
    source = _address(segments, layout.SEGMENT_SRC_HIGH, row)
    for ip in range(tcp - 20, max(tcp - 64, -1), -4):
        if data[ip] == 0x40 | (tcp - ip) // 4 and data[ip + 9] == TCP and data[ip + 12 : ip + 16] == source[12:]:
            return ip
    if tcp >= 40 and data[tcp - 40] >> 4 == 6 and data[tcp - 34] == TCP and data[tcp - 32 : tcp - 16] == source:
        return tcp - 40
    return None


def _total(data: bytes, ip: int) -> int:
    """The bytes that an IP header says there are, itself included; 0 where it leaves that open."""
    if data[ip] >> 4 == 4:
        return int.from_bytes(data[ip + 2 : ip + 4], "big")
    size = int.from_bytes(data[ip + 4 : ip + 6], "big")
    return size + _IPV6_BYTES if size else 0


def _new_header(size: int, segments: memoryview, row: int) -> bytes:
    """An IP header for a TCP segment of `size` bytes."""
    source, target = (_address(segments, column, row) for column in (layout.SEGMENT_SRC_HIGH, layout.SEGMENT_DST_HIGH))
    ttl, number = segments[layout.SEGMENT_TTL, row] & 0xFF, max(segments[layout.SEGMENT_IP_ID, row], 0)
    if source[:12] == target[:12] == _MAPPED:
        total = size + _IPV4_BYTES
        head = struct.pack(">BBHHHBBH", 0x45, 0, total if total <= _LONGEST else 0, number, 0, ttl, TCP, 0)
        head += source[12:] + target[12:]
        return head[:10] + ip_checksum(head) + head[12:]
    return struct.pack(">IHBB", 6 << 28, size if size <= _LONGEST else 0, TCP, ttl) + source + target


def _address(segments: memoryview, high: int, row: int) -> bytes:
    """16 bytes; the column behind `high` has the low half."""
    return struct.pack(">QQ", segments[high, row] % (1 << 64), segments[high + 1, row] % (1 << 64))
