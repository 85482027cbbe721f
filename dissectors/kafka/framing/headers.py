"""Whether bytes look like the header of a request or a reply. Nothing but the bytes decides here.

A request: length, API key, version, correlation id (int32), client id (nullable string); flexible versions add tagged
fields (KIP-482). A reply: length and correlation id.
"""

import cython

from dissectors.kafka.framing.produce_header import is_likely_produce
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int16_at, int32_at


@cython.cfunc
@cython.exceptval(-1)
def is_request_at(f: FramingState, buffer: i64, at: i64, end: i64, guess: cython.bint) -> cython.bint:
    """Do the bytes from `at` look like the start of a request? Wants 14 bytes.

    Where a connection begins, any version of a known key will do; a `guess` in mid-stream is judged harder.
    """
    total: i64
    key: i64
    version: i64
    client: i64
    i: i64
    if end - at < 14:
        return False
    total = 4 + int32_at(f, buffer, at)
    if total < 12 or total > LONGEST_SYNC_FRAME:
        return False
    key = int16_at(f, buffer, at + 4)
    if key < 0 or key >= len(f.newest) or f.newest[key] < 0:
        return False
    version = int16_at(f, buffer, at + 6)
    if version < 0 or version > (f.newest[key] + 3 if guess else 1023):
        return False
    if guess and int32_at(f, buffer, at + 8) < -1:
        return False
    if key == 7 and version == 0:  # ControlledShutdown v0: the one header without a client id, then a broker's id
        return total == 16
    client = int16_at(f, buffer, at + 12)
    if client < -1 or client > 1024 or 14 + client > total:
        return False
    for i in range(client):
        if at + 14 + i >= end:
            break
        if byte_at(f, buffer, at + 14 + i) < 32:
            return False
    i = at + 14 + (client if client > 0 else 0)
    # Nobody puts tagged fields into request headers yet: a flexible header ends in a zero byte.
    return not guess or version < f.flexible[key] or i >= end or byte_at(f, buffer, i) == 0


@cython.cfunc
@cython.exceptval(-1)
def is_likely_request(f: FramingState, buffer: i64, at: i64, end: i64, first: cython.bint) -> cython.bint:
    """May a request begin at `at`? Inside a chunk (not `first`) zeros abound: the client id must speak for it."""
    total: i64
    if not is_request_at(f, buffer, at, end, True):
        return False
    total = int16_at(f, buffer, at + 12)
    if not first and (total == 0 or at + 14 + total > end):
        return False
    if int16_at(f, buffer, at + 4) == 0 and not is_likely_produce(f, buffer, at, end):
        return False
    total = 4 + int32_at(f, buffer, at)
    return at + total + 14 > end or is_request_at(f, buffer, at + total, end, True)


@cython.cfunc
@cython.exceptval(-1)
def may_be_request(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    total: i64
    if end - at < 4:
        return byte_at(f, buffer, at) < 8
    total = 4 + int32_at(f, buffer, at)
    if total < 14 or total > LONGEST_SYNC_FRAME:
        return False
    if end - at < 6:
        return True
    total = int16_at(f, buffer, at + 4)
    return 0 <= total < len(f.newest) and f.newest[total] >= 0


@cython.cfunc
@cython.exceptval(-1)
def is_one_frame(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """A chunk that is one frame of modest key and version: a vendor's request, or a broken one. What it is worth is
    judged when all connections are known: it counts if others prove that the peer is a broker."""
    if end - at < 12 or at + 4 + int32_at(f, buffer, at) != end:
        return False
    return 0 <= int16_at(f, buffer, at + 4) < 1024 and 0 <= int16_at(f, buffer, at + 6) < 1024


@cython.cfunc
@cython.exceptval(-1)
def is_header_among_tokens(f: FramingState, buffer: i64, at: i64, held: i64) -> cython.bint:
    key: i64 = int16_at(f, buffer, at + 4)
    version: i64
    client: i64
    if key < 0 or key >= len(f.newest) or f.newest[key] < 0:
        return False
    version = int16_at(f, buffer, at + 6)
    client = int16_at(f, buffer, at + 12)
    return 0 <= version <= f.newest[key] + 3 and -1 <= client <= held - 14


@cython.cfunc
@cython.exceptval(-1)
def is_known_header(f: FramingState, buffer: i64, at: i64, held: i64, total: i64) -> cython.bint:
    """Does this header speak for Kafka? Many protocols send a size and a small number; a sure boundary takes any."""
    key: i64 = int16_at(f, buffer, at + 4)
    version: i64
    if key < 0 or key >= len(f.newest) or f.newest[key] < 0:
        return False
    version = int16_at(f, buffer, at + 6)
    if version < 0 or version > f.newest[key] + 3:
        return False
    return held < 14 or (key == 7 and version == 0 and total == 16) or -1 <= int16_at(f, buffer, at + 12) <= total - 14


@cython.cfunc
@cython.exceptval(-1)
def is_reply_header(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can a reply begin at `at`, whatever it answers? Wants 8 bytes: some brokers send length and id alone.

    Bodies begin with an error code, a time, a count or an empty tag section: with a zero byte, or -1.
    """
    total: i64
    first: i64
    if end - at < 8:
        return False
    total = 4 + int32_at(f, buffer, at)
    if total < 10 or total > LONGEST_SYNC_FRAME or int32_at(f, buffer, at + 4) < -1:
        return False
    first = byte_at(f, buffer, at + 8) if end - at > 8 else 0
    return first == 0 or first == 255
