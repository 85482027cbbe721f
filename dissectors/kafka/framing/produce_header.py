"""The first fields of a Produce request: acks says whether a reply will come.

Fields by version: up to 2 acks follows the header; from 3 on a transactional id lies between; from 9 on the header has
tags and the id is a compact string (KIP-482). Many other bytes look like Produce (key 0), so a guess is judged by these
fields too.
"""

import cython

from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int16_at, int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def produce_acks(f: FramingState, version: i64, buffer: i64, at: i64, end: i64) -> i64:
    """acks of a Produce request; 0: the broker sends no reply. UNKNOWN when it was not captured, and in a version that is newer
    than those known here where what surrounds it makes no sense."""
    if version < 0:
        return 1
    if version > f.newest[0] and not is_likely_produce(f, buffer, at, end):
        return UNKNOWN
    at = acks_offset(f, version, buffer, at, end)
    return UNKNOWN if at < 0 or at + 2 > end else int16_at(f, buffer, at)


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def acks_offset(f: FramingState, version: i64, buffer: i64, at: i64, end: i64) -> i64:
    """Offset of acks in the Produce request that begins at `at`; -1 when the bytes end before it."""
    size: i64
    if at + 14 > end:
        return -1
    size = int16_at(f, buffer, at + 12)
    at += 14 + (size if size > 0 else 0)
    if version >= 9:
        return after_transactional_id(f, buffer, at, end)
    if version >= 3:
        if at + 2 > end:
            return -1
        size = int16_at(f, buffer, at)
        at += 2 + (size if size > 0 else 0)
    return at


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def after_transactional_id(f: FramingState, buffer: i64, at: i64, end: i64) -> i64:
    """Offset after the header's tagged fields and the compact transactional id of Produce v9+; -1 when the bytes end before."""
    tags: i64
    skip: i64
    if at >= end:
        return -1
    tags = byte_at(f, buffer, at)
    at += 1
    if tags > 0:  # no client writes tagged fields into this header yet: tags and sizes of one byte are enough
        while tags > 0 and at + 2 <= end:
            skip = byte_at(f, buffer, at + 1)
            if byte_at(f, buffer, at) > 127 or skip > 127:
                return -1
            at += 2 + skip
            tags -= 1
        if tags > 0:
            return -1
    skip = 0
    tags = 0
    while at < end and tags < 35:
        skip |= (byte_at(f, buffer, at) & 127) << tags
        at += 1
        if byte_at(f, buffer, at - 1) < 128:
            return at + (skip - 1 if skip > 0 else 0)
        tags += 7
    return -1


@cython.cfunc
@cython.exceptval(-1)
def has_topics(f: FramingState, version: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can the topics of a Produce request begin at `at`? No client sends none. True when the bytes end before they tell."""
    if version >= 9:
        return at >= end or byte_at(f, buffer, at) > 1
    if at + 4 > end:
        return True
    if not 0 < int32_at(f, buffer, at) <= MOST_PRODUCE_TOPICS:
        return False
    return at + 6 > end or 0 < int16_at(f, buffer, at + 4) <= 255


@cython.cfunc
@cython.exceptval(-1)
def is_likely_produce(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Can this be a Produce request? Other bytes look like its header (replies with a small correlation id, ZooKeeper), so acks,
    timeout and topics must make sense."""
    version: i64 = int16_at(f, buffer, at + 6)
    acks: i64 = acks_offset(f, version, buffer, at, end)
    if acks < 0 or acks + 6 > end or not -1 <= int16_at(f, buffer, acks) <= 1:
        return False
    return 0 < int32_at(f, buffer, acks + 2) <= LONGEST_PRODUCE_TIMEOUT_MS and has_topics(
        f, version, buffer, acks + 6, end
    )


@cython.cfunc
@cython.exceptval(-1)
def may_name_topic(f: FramingState, buffer: i64, at: i64, end: i64) -> cython.bint:
    """Does a Produce request at `at` go on with a topic's name, of characters that brokers accept (letters, digits, `.`, `_`, `-`)?

    True from version 13 on, which has ids (KIP-516), and where the bytes end before they tell.
    """
    version: i64 = int16_at(f, buffer, at + 6)
    size: i64
    i: i64
    at = acks_offset(f, version, buffer, at, end)
    if version > 12 or at < 0:
        return True
    at += 6  # acks and the timeout
    if version >= 9:
        while at < end and byte_at(f, buffer, at) >= 128:
            at += 1
        at += 1
        if at >= end:
            return True
        size = byte_at(f, buffer, at) - 1
        if size >= 127:  # the length takes two bytes: a name has at most 249
            at += 1
            if at < end and byte_at(f, buffer, at) > 1:
                return False
        at += 1
    else:
        if at + 6 > end:
            return True
        size = int16_at(f, buffer, at + 4)
        at += 6
    for i in range(at, at + size):
        if i >= end:
            break
        if not is_name_character(byte_at(f, buffer, i)):
            return False
    return size > 0


@cython.cfunc
@cython.exceptval(-1)
def is_name_character(value: i64) -> cython.bint:
    return 48 <= value <= 57 or 65 <= value <= 90 or 97 <= value <= 122 or value == 45 or value == 46 or value == 95


@cython.cfunc
@cython.exceptval(-1)
def is_cut_before_acks(f: FramingState, buffer: i64, at: i64, kept: i64, size: i64) -> cython.bint:
    """Was too little captured of this Produce request to judge it? `kept` of its `size` bytes are there."""
    acks: i64 = acks_offset(f, int16_at(f, buffer, at + 6), buffer, at, at + kept)
    return kept < size and (acks < 0 or acks + 6 > at + kept)
