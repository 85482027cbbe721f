"""Checksums of IPv4 and TCP (RFC 1071): what one was, and what it becomes when what it covers changes."""

from __future__ import annotations

TCP, ONES = 6, 0xFFFF

# What the TCP checksum was, and so becomes.
NO_SUM, UNSET, HEAD, HEAD_AND_LENGTH, RIGHT, WRONG = range(6)


def words(data: bytes | bytearray | memoryview) -> int:
    """The sum of 16-bit words, modulo 65,535 (RFC 1071)."""
    return int.from_bytes(data, "big") * (256 if len(data) & 1 else 1) % ONES


def pseudo_header(data: bytes | bytearray | memoryview, ip: int) -> int:
    """The sum of the addresses of the IP header at `ip`."""
    return words(data[ip + 12 : ip + 20] if data[ip] >> 4 == 4 else data[ip + 8 : ip + 40])


def tcp_checksum(data: bytearray, ip: int, tcp: int, end: int, length: int, checksum: int) -> bytes:
    """The checksum to write for a segment from `tcp` to `end`, with `length` bytes sent; its field is zero now."""
    if checksum == UNSET:
        return bytes(2)
    head = pseudo_header(data, ip) + TCP
    if checksum == HEAD:
        return (head % ONES or ONES).to_bytes(2, "big")
    head += length
    if checksum == HEAD_AND_LENGTH:
        return (head % ONES or ONES).to_bytes(2, "big")
    total = (head + words(data[tcp:end])) % ONES
    new = ONES - total
    partial = (head % ONES, (head - length) % ONES)
    if checksum == WRONG:
        new = next(other for other in (new ^ 0x5555, new ^ 0x3333, new ^ 0x0F0F) if other % ONES not in (0, *partial))
    return new.to_bytes(2, "big")


def ip_checksum(head: bytes | bytearray) -> bytes:
    """The checksum of an IPv4 header whose field is zero now."""
    return (ONES - words(bytes(head))).to_bytes(2, "big")
