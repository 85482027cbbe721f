"""Cuts a stream at its length fields, and hands complete frames on.

A boundary is sure when the frame before it ended there, or when a connection that began with a SYN starts there. There any
header will do; elsewhere it must go on making sense.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped, note_frame_problem
from dissectors.kafka.framing.frame_rows import write_columns, write_ended_request
from dissectors.kafka.framing.headers import is_reply_header, is_request_at
from dissectors.kafka.framing.in_flight import (
    is_expected_reply_at,
    is_near_correlation,
    is_request_side,
    is_token_reply_due,
    remove_oldest,
)
from dissectors.kafka.framing.pages import (
    append_bytes,
    begin_frame,
    clear_frame,
    frame_end_time,
    has_room_to_finish,
    note_arrival,
    release_pages,
)
from dissectors.kafka.framing.pairing import begin_settling, pair_reply, take_request
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at
from dissectors.kafka.framing.sync import is_refuted, lose_step
from dissectors.kafka.framing.tokens import is_token_reply, is_token_request, take_token
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_possible_length(f: FramingState, slot: i64, s: i64, total: i64) -> cython.bint:
    """Can a frame here be `total` bytes long (length field included)?"""
    if total > LONGEST_FRAME:
        return False
    if is_request_side(f, slot, s):
        if f.talk[slot, C_TOKENS]:
            return 4 <= total <= LONGEST_TOKEN
        return total >= 12
    if is_token_reply_due(f, slot):
        return 4 <= total <= LONGEST_TOKEN
    return total >= 8


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_possible_header(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64, total: i64) -> cython.bint:
    """A sure boundary may carry any key; one that was found by searching must go on making sense."""
    if f.talk[slot, C_TOKENS] or (f.side[s, S_LOSSES] == 0 and f.talk[slot, C_FROM_SYN]):
        return True
    if is_request_side(f, slot, s):
        return end - at < 14 or is_request_at(f, buffer, at, end, True)
    # An orphan is believed when its id is near others, it ends where the segment ends, or a known reply follows it.
    return (
        is_token_reply_due(f, slot)
        or is_expected_reply_at(f, slot, buffer, at, end)
        or (is_reply_header(f, buffer, at, end) and is_near_correlation(f, slot, int32_at(f, buffer, at + 4)))
        or at + total == end
        or (at + total < end and is_expected_reply_at(f, slot, buffer, at + total, end))
    )


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def take_frame_bytes(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Takes bytes of the current frame, or whole frames, from the chunk; false: come again after a drain."""
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    at: i64
    total: i64
    if f.side[s, S_PASSED] == 0:
        at = f.resume
        begin_frame(f, chunks, row, s, at)
        if length - at >= 4:
            total = 4 + int32_at(f, buffer, base + at)
            if not is_possible_length(f, slot, s, total):
                lose_step(f, chunks, row, slot, s)
                return True
            if length - at >= 12 and not is_possible_header(f, slot, s, buffer, base + at, base + length, total):
                lose_step(f, chunks, row, slot, s)
                return True
            if total <= length - at and buffer == 0 and total <= f.max_frame:
                if f.out_used + 2 > f.out_size:
                    f.why = WHY_OUTPUT_FULL
                    return False
                f.side[s, S_TOTAL] = total
                f.resume += total
                finish_frame(f, slot, s, 0, base + at, total, total, chunks[CHUNK_TIME, row])
                return True
    return collect_frame(f, chunks, row, slot, s)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def collect_frame(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """A frame over several chunks: its bytes go to pages; complete, it goes to the heap."""
    left: i64 = chunks[CHUNK_LENGTH, row] - f.resume
    need: i64
    while left > 0:
        need = (4 if f.side[s, S_TOTAL] < 0 else f.side[s, S_TOTAL]) - f.side[s, S_PASSED]
        if need <= left and not has_room_to_finish(f, s, need):
            return False
        if need > left:
            need = left
        if need > 0 and not append_bytes(f, chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row] + f.resume, need, s):
            f.why = WHY_ARENA_FULL
            return False
        if f.side[s, S_TOTAL] < 0:
            read_length(f, chunks, row, s, need)
        f.side[s, S_PASSED] += need
        f.side[s, S_FRAMED] += need
        note_arrival(f, chunks, row, s)
        f.resume += need
        left -= need
        if f.side[s, S_PASSED] == 4 and not is_possible_length(f, slot, s, f.side[s, S_TOTAL]):
            lose_step(f, chunks, row, slot, s)
            return True
        if f.side[s, S_PASSED] == f.side[s, S_TOTAL]:
            if f.side[s, S_GUESSED] and is_refuted(f, chunks, row, slot, s):
                return True
            deliver_frame(f, slot, s, frame_end_time(f, s, chunks[CHUNK_TIME, row]))
            return True
    return True


@cython.cfunc
@cython.exceptval(-1)
def read_length(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64, count: i64) -> cython.int:
    """Reads bytes of the length field, which are wanted even when the arena has no room for them."""
    at: i64 = chunks[CHUNK_OFFSET, row] + f.resume
    i: i64
    for i in range(at, at + count):
        f.side[s, S_PREFIX] = (f.side[s, S_PREFIX] << 8) | byte_at(f, chunks[CHUNK_BUFFER, row], i)
    if f.side[s, S_PASSED] + count == 4:
        i = f.side[s, S_PREFIX]
        f.side[s, S_TOTAL] = 4 + (i - TWO_32 if i >= TWO_31 else i)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def deliver_frame(f: FramingState, slot: i64, s: i64, last_time: i64) -> cython.int:
    """Copies a collected frame to the heap and hands it on (`_room` has been asked)."""
    held: i64 = f.side[s, S_HELD]
    at: i64 = f.heap_used
    page: i64 = f.side[s, S_PAGE_FIRST]
    left: i64 = held
    part: i64
    while left > 0:
        part = left if left < PAGE else PAGE
        f.heap[at : at + part] = f.pages[page * PAGE : page * PAGE + part]
        at += part
        left -= part
        page = f.next_page[page]
    f.heap_used = at
    release_pages(f, s)
    if held == f.max_frame and held < f.side[s, S_TOTAL]:
        note_frame_problem(f, PROBLEM_FRAME_OVER_LIMIT, s, f.side[s, S_TOTAL] - held, held)
    finish_frame(f, slot, s, OWN_HEAP, at - held, held, f.side[s, S_FRAMED], last_time)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def finish_frame(
    f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, held: i64, framed: i64, last_time: i64
) -> cython.int:
    """A frame is complete (or as complete as it gets): one row, and its bytes are counted."""
    request: cython.bint = is_request_side(f, slot, s)
    token: cython.bint
    if request:
        token = f.talk[slot, C_TOKENS] != 0 and is_token_request(f, slot, buffer, at, held)
    else:
        token = is_token_reply(f, slot, s, buffer, at, held)
    if held < 8 + 4 * request and not token:
        note_frame_problem(f, PROBLEM_HEADER_LOST, s, f.side[s, S_TOTAL], held)
        count_headerless(f, slot, s, framed)
        return 0
    f.talk[slot, TALK_STREAM + (s & 1)] += framed
    f.talk[slot, TALK_FRAMED + (s & 1)] += framed
    write_columns(f, slot, s, buffer, at, held, last_time)
    if token:
        take_token(f, slot, request)
    elif request:
        take_request(f, slot, s, buffer, at, held)
    elif not pair_reply(f, slot, s, buffer, at, held):
        f.talk[slot, TALK_STREAM + (s & 1)] -= framed
        f.talk[slot, TALK_FRAMED + (s & 1)] -= framed
        count_headerless(f, slot, s, framed)
        return 0
    f.out_used += 1
    clear_frame(f, s)
    f.side[s, S_GUESSED] = 0
    if f.crowded:
        f.crowded = False
        write_ended_request(f, slot, f.talk[slot, C_FIRST], STATUS_REPLY_LOST)
        remove_oldest(f, slot)
    elif not request and not token and f.overtaken >= 0:
        begin_settling(f, slot)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def count_headerless(f: FramingState, slot: i64, s: i64, framed: i64) -> cython.int:
    """A frame of which nothing is known but its bytes. Whatever waits for an answer of this side may wait for this one."""
    count_skipped(f, slot, s, SKIP_HEADERLESS, framed)
    f.side[s, S_LOSSES] += 1
    clear_frame(f, s)
    return 0
