"""The first bytes of what is no Kafka request: TLS, a GSS-API token (SASL without Kafka headers), ZooKeeper.

ZooKeeper frames its messages as Kafka does, with a length of four bytes.
"""

import cython

from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at


@cython.cfunc
@cython.exceptval(-1)
def is_tls(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """A TLS record header (RFC 8446, 5.1): content type 20 to 23, version 3.x. As a Kafka length it would be above 335 MB."""
    kind: i64
    if end - at < 3:
        return False
    kind = byte_at(f, buffer, at)
    return 20 <= kind <= 23 and byte_at(f, buffer, at + 1) == 3 and byte_at(f, buffer, at + 2) <= 4


@cython.cfunc
@cython.exceptval(-1)
def is_gssapi(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """A length, then an initial context token of GSS-API (RFC 2743, 3.1): tag 0x60, DER length, object identifier (tag 6)."""
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
    """ZooKeeper's ConnectRequest: protocol version 0, last transaction id, timeout, session id, a password of 16 bytes, and since
    3.4 a byte: read-only."""
    if end - at < 32 or int32_at(f, buffer, at + 4) != 0 or int32_at(f, buffer, at + 28) != 16:
        return False
    return 44 <= int32_at(f, buffer, at) <= 45
