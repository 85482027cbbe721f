"""Protocols that share ports with Kafka or cut their messages the same way: TLS, bare GSS-API tokens, ZooKeeper."""

import cython

from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at


@cython.cfunc
@cython.exceptval(-1)
def is_tls(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """A TLS record header (RFC 8446): handshake, alert or data, version 3.x. As a frame it would be 350 MB long."""
    kind: i64
    if end - at < 3:
        return False
    kind = byte_at(f, buffer, at)
    return 20 <= kind <= 23 and byte_at(f, buffer, at + 1) == 3 and byte_at(f, buffer, at + 2) <= 4


@cython.cfunc
@cython.exceptval(-1)
def is_gssapi(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """A size and an initial context token of GSS-API (RFC 2743, 3.1): tag 0x60, DER length, then an object id."""
    size: i64
    more: i64
    i: i64
    if end - at < 9 or byte_at(f, buffer, at + 4) != 96:
        return False
    size = byte_at(f, buffer, at + 5)
    more = 0
    if size >= 128:
        more = size - 128
        size = 0
        if more < 1 or more > 3:
            return False
        for i in range(more):
            size = (size << 8) | byte_at(f, buffer, at + 6 + i)
        if at + 6 + more >= end:
            return False
    return int32_at(f, buffer, at) == 2 + more + size and byte_at(f, buffer, at + 6 + more) == 6


@cython.cfunc
@cython.exceptval(-1)
def is_zookeeper(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """ZooKeeper's first request: protocol version 0, last transaction, timeout, session and a password of 16 bytes. Its
    frames are cut like Kafka's, and its ids 1, 2, 3 read as Produce of that version."""
    if end - at < 32 or int32_at(f, buffer, at + 4) != 0 or int32_at(f, buffer, at + 28) != 16:
        return False
    return 44 <= int32_at(f, buffer, at) <= 45
