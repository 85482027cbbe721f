"""The first bytes of what is no Kafka request: TLS, a GSS-API token (SASL without Kafka headers), ZooKeeper; and of what is no
reply: text, of HTTP and others.

ZooKeeper frames its messages as Kafka does, with a length of four bytes.
"""

import cython

from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at
from dissectors.layout import *


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


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def text_answer(f: FramingState, buffer: i64, at: i64, end: i64) -> i64:
    """ANSWER_ of bytes that begin with text; UNKNOWN where the first eight are none. Four of them would be the length of a reply of
    150 MB and more, the next four its correlation id."""
    i: i64
    one: i64
    if end - at < 8:
        return UNKNOWN
    for i in range(8):
        one = byte_at(f, buffer, at + i)
        if not (32 <= one <= 126 or one == 10 or one == 13 or one == 9):
            return UNKNOWN
    one = int32_at(f, buffer, at)
    if one == 0x48545450 and byte_at(f, buffer, at + 4) == 0x2F:  # "HTTP/" (RFC 9112, 4)
        return ANSWER_HTTP
    if one == 0x5353482D:  # "SSH-" (RFC 4253, 4.2)
        return ANSWER_SSH
    return ANSWER_TEXT
