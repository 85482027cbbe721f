"""Kafka behind other bytes: a connection whose first bytes are neither Kafka nor an opening that we know is tried again.

Only the side that opened it is looked at, at the start of its next chunks and in their first bytes; until a request is found
there, nothing of the other side is read. What is found is a guess: replies, or requests that follow, must prove it.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped, leave_unread
from dissectors.kafka.framing.direction import begin_frames
from dissectors.kafka.framing.pages import drop_frame
from dissectors.kafka.framing.request_headers import is_likely_request
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int16_at, int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def note_begin(
    f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64, may_be_kafka: cython.bint
) -> cython.int:
    """Keeps the first bytes of a side, for people who ask what this is: those of its first chunk, behind an opening. They are as
    few as the length before a token of SASL, or a verb such as AUTH and PASS: who logs in, and by what, comes behind them.
    They are negative while they may be Kafka's."""
    side: i64 = s & 1
    base: i64 = chunks[CHUNK_OFFSET, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    begin: i64 = 1
    at: i64
    if f.conn[slot, FRAMING_STREAM + side] != f.conn[slot, FRAMING_OPENED + side]:
        return 0
    if f.conn[slot, FRAMING_BEGIN + side] == 0:
        if not f.conn[slot, CONN_FROM_SYN] or f.side[s, SIDE_LOSSES]:
            return 0
        for at in range(base, base + (MOST_BEGIN if length > MOST_BEGIN else length)):
            begin = (begin << 8) | byte_at(f, chunks[CHUNK_BUFFER, row], at)
        f.conn[slot, FRAMING_BEGIN + side] = -begin
    if not may_be_kafka and f.conn[slot, FRAMING_BEGIN + side] < 0:
        f.conn[slot, FRAMING_BEGIN + side] = -f.conn[slot, FRAMING_BEGIN + side]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_other_bytes(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.int:
    """Takes the chunk up to a request, or all of it. After MOST_TRIES chunks the connection is left unread."""
    base: i64 = chunks[CHUNK_OFFSET, row]
    end: i64 = base + chunks[CHUNK_LENGTH, row]
    at: i64 = base + f.chunk_position
    stop: i64 = at + TRIED_BYTES if end - at > TRIED_BYTES else end
    start: i64 = at
    while at < stop and not is_whole_request(f, chunks[CHUNK_BUFFER, row], at, end, at == base):
        at += 1
    if at == stop:
        at = end
    count_skipped(f, slot, s, SKIP_NOT_KAFKA, at - start)
    f.chunk_position = at - base
    f.conn[slot, CONN_TRIES] += 1
    if at < end:
        begin_behind(f, slot, s)
    elif f.conn[slot, CONN_TRIES] >= MOST_TRIES:
        leave_unread(f, slot, PROTOCOL_OTHER)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def is_whole_request(f: FramingState, buffer: i64, at: i64, end: i64, first: cython.bint) -> cython.bint:
    """Does a request begin here that ends with the chunk, before another one, or names its client?"""
    size: i64
    if not is_likely_request(f, buffer, at, end, first):
        return False
    size = 4 + int32_at(f, buffer, at)
    if at + size == end or at + size + 14 <= end:  # the header behind it has been judged
        return True
    return first and int16_at(f, buffer, at + 12) > 0


@cython.cfunc
@cython.exceptval(-1)
def begin_behind(f: FramingState, slot: i64, s: i64) -> cython.int:
    """A request begins with the next byte. Both sides have lost what came before."""
    f.conn[slot, FRAMING_PROTOCOL] = PROTOCOL_UNKNOWN
    drop_frame(f, slot, s, SKIP_NOT_KAFKA)
    drop_frame(f, slot, s ^ 1, SKIP_NOT_KAFKA)
    begin_frames(f, slot, s)
    f.side[s, SIDE_GUESSED] = 1
    f.side[s, SIDE_LOSSES] += 1
    f.side[s ^ 1, SIDE_MODE] = MODE_SEARCH
    f.side[s ^ 1, SIDE_LOSSES] += 1
    return 0
