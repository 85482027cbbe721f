"""Whether bytes look like the header of a request or a reply. Nothing but the bytes decides here.

A request: length, API key, version, correlation id (int32), client id (nullable string); flexible versions add tagged
fields (KIP-482). A reply: length and correlation id.
"""

import cython

from dissectors.kafka.framing.produce_header import is_cut_before_acks, is_likely_produce, may_name_topic
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int16_at, int32_at


@cython.cfunc
@cython.exceptval(-1)
def is_request_at(f: FramingState, buffer: i64, at: i64, end: i64, guess: cython.bint) -> cython.bint:
    """Can a request begin at `at`? False with fewer than 14 bytes.

    Any version of a known API key will do where a connection begins. A `guess` in mid-stream is judged by more: version,
    correlation id, and the end of a flexible header.
    """
    size: i64
    key: i64
    version: i64
    client: i64
    i: i64
    if end - at < 14:
        return False
    size = 4 + int32_at(f, buffer, at)
    if size < 12 or size > LONGEST_GUESSED_FRAME:
        return False
    key = int16_at(f, buffer, at + 4)
    if key < 0 or key >= len(f.newest) or f.newest[key] < 0:
        return False
    version = int16_at(f, buffer, at + 6)
    if version < 0 or version > (f.newest[key] + 3 if guess else 1023):
        return False
    if guess and int32_at(f, buffer, at + 8) < -1:
        return False
    if key == 7 and version == 0:  # ControlledShutdown v0: its header has no client id, its body is a broker's id
        return size == 16
    client = int16_at(f, buffer, at + 12)
    if client < -1 or client > 1024 or 14 + client > size:
        return False
    for i in range(client):
        if at + 14 + i >= end:
            break
        if byte_at(f, buffer, at + 14 + i) < 32:
            return False
    i = at + 14 + (client if client > 0 else 0)
    # No client writes tagged fields into request headers yet: a flexible header ends in a zero byte.
    return not guess or version < f.flexible[key] or i >= end or byte_at(f, buffer, i) == 0


@cython.cfunc
@cython.exceptval(-1)
def is_likely_request(f: FramingState, buffer: i64, at: i64, end: i64, first: cython.bint) -> cython.bint:
    """Can a request begin at `at`, and another one where it ends (if that is here)?

    Inside a chunk (not `first`) a header with an empty client id is not believed: bodies are full of zeros. Nor is one with
    correlation id 0 anywhere: a reply with a small correlation id, no throttle time and no error looks like it (to Fetch: like
    Produce with acks=0, which no reply would ever refute).
    """
    size: i64
    client: i64
    if not is_request_at(f, buffer, at, end, True):
        return False
    client = int16_at(f, buffer, at + 12)
    if not first and (client == 0 or at + 14 + client > end):
        return False
    if client == 0 and int32_at(f, buffer, at + 8) == 0:
        return False
    size = 4 + int32_at(f, buffer, at)
    if (
        int16_at(f, buffer, at + 4) == 0
        # A packet that the snap length cut: a client id that can be read is enough where one begins.
        and not (first and client > 0 and is_cut_before_acks(f, buffer, at, end - at, size))
        and not (is_likely_produce(f, buffer, at, end) and may_name_topic(f, buffer, at, end))
    ):
        return False
    return at + size + 14 > end or is_request_at(f, buffer, at + size, end, True)


@cython.cfunc
@cython.exceptval(-1)
def may_be_request(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can these bytes be the start of a request? Fewer than a header needs will do: what is there is judged."""
    size: i64
    key: i64
    if end - at < 4:
        return byte_at(f, buffer, at) < 8
    size = 4 + int32_at(f, buffer, at)
    if size < 14 or size > LONGEST_GUESSED_FRAME:
        return False
    if end - at < 6:
        return True
    key = int16_at(f, buffer, at + 4)
    return 0 <= key < len(f.newest) and f.newest[key] >= 0


@cython.cfunc
@cython.exceptval(-1)
def is_one_frame(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Is this chunk one whole frame with a small API key and version: a request of a vendor, or a malformed one?

    Whether the connection counts is decided when all are known: it does if others prove that its peer is a broker.
    """
    if end - at < 12 or at + 4 + int32_at(f, buffer, at) != end:
        return False
    return is_small_header(f, buffer, at)


@cython.cfunc
@cython.exceptval(-1)
def is_small_header(f: FramingState, buffer: i64, at: i64) -> cython.bint:
    """Are API key and version small, as those of vendors are, too? Wants 8 bytes."""
    return 0 <= int16_at(f, buffer, at + 4) < 1024 and 0 <= int16_at(f, buffer, at + 6) < 1024


@cython.cfunc
@cython.exceptval(-1)
def is_header_among_tokens(f: FramingState, buffer: i64, at: i64, kept: i64) -> cython.bint:
    """Is this frame, which may be a token, a request? Wants 14 bytes."""
    key: i64 = int16_at(f, buffer, at + 4)
    version: i64
    client: i64
    if key < 0 or key >= len(f.newest) or f.newest[key] < 0:
        return False
    version = int16_at(f, buffer, at + 6)
    client = int16_at(f, buffer, at + 12)
    return 0 <= version <= f.newest[key] + 3 and -1 <= client <= kept - 14


@cython.cfunc
@cython.exceptval(-1)
def is_known_header(f: FramingState, buffer: i64, at: i64, kept: i64, size: i64) -> cython.bint:
    """Does this request header prove that the connection speaks Kafka? Its key and version are known, its client id fits, and
    so do the first fields of a Produce request.

    Many protocols send a length and a small number; a sure boundary takes any header, but only such a one is evidence. (SMPP's
    command ids and states look like Produce, whose key is 0.)
    """
    key: i64 = int16_at(f, buffer, at + 4)
    version: i64
    if key < 0 or key >= len(f.newest) or f.newest[key] < 0:
        return False
    version = int16_at(f, buffer, at + 6)
    if version < 0 or version > f.newest[key] + 3:
        return False
    if kept < 14 or (key == 7 and version == 0 and size == 16):
        return True
    if not -1 <= int16_at(f, buffer, at + 12) <= size - 14:
        return False
    return key != 0 or is_cut_before_acks(f, buffer, at, kept, size) or is_likely_produce(f, buffer, at, at + kept)


@cython.cfunc
@cython.exceptval(-1)
def is_reply_header(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can a reply to an unknown request begin at `at`? Wants 8 bytes: some brokers send length and correlation id first."""
    size: i64
    if end - at < 8:
        return False
    size = 4 + int32_at(f, buffer, at)
    if size < 10 or size > LONGEST_GUESSED_FRAME or int32_at(f, buffer, at + 4) < -1:
        return False
    return may_begin_body(f, buffer, at + 8, end)


@cython.cfunc
@cython.exceptval(-1)
def may_begin_body(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can the body of a reply begin at `at`, if there is a byte? The first one is 0 or 255: of an error code, a throttle time, a
    count or empty tagged fields. In a record batch length and leader epoch look like a reply's header; the byte behind is 2."""
    first: i64 = byte_at(f, buffer, at) if at < end else 0
    return first == 0 or first == 255
