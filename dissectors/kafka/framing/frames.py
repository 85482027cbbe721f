"""Cuts a stream at its length fields, and hands complete frames on.

A boundary is sure when the frame before it ended there, or when a connection that began with a SYN starts there. There any
header will do; elsewhere it must go on making sense.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped, note_frame_problem
from dissectors.kafka.framing.frame_rows import write_columns, write_ended_request
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
from dissectors.kafka.framing.request_headers import is_reply_header, is_request_at
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int32_at
from dissectors.kafka.framing.sync import give_up_guess, lose_boundary
from dissectors.kafka.framing.tokens import is_bare_gssapi, is_token_reply, is_token_request, take_token, waive_tokens
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_possible_length(f: FramingState, slot: i64, s: i64, size: i64) -> cython.bint:
    """Can the next frame of this side have `size` bytes, the length field included?"""
    if size > LONGEST_FRAME:
        return False
    if is_request_side(f, slot, s):
        if f.conn[slot, CONN_TOKENS]:
            return 4 <= size <= LONGEST_TOKEN
        return size >= 12
    if is_token_reply_due(f, slot):
        return 4 <= size <= LONGEST_TOKEN
    return size >= 8


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_possible_header(f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, end: i64, size: i64) -> cython.bint:
    """Can this be the header of the next frame? At a sure boundary any header can; behind a search it must be plausible."""
    if f.conn[slot, CONN_TOKENS] or (f.side[s, SIDE_LOSSES] == 0 and f.conn[slot, CONN_FROM_SYN]):
        return True
    if is_request_side(f, slot, s):
        return end - at < 14 or is_request_at(f, buffer, at, end, True)
    # An orphan is believed if its correlation id is near others, it ends with the chunk, or an expected reply follows it.
    return (
        is_token_reply_due(f, slot)
        or is_expected_reply_at(f, slot, buffer, at, end)
        or (is_reply_header(f, buffer, at, end) and is_near_correlation(f, slot, int32_at(f, buffer, at + 4)))
        or at + size == end
        or (at + size < end and is_expected_reply_at(f, slot, buffer, at + size, end))
    )


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def take_frame_bytes(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Takes a whole frame, or bytes of the one under way, from the chunk; false: an output is full, to be called again."""
    buffer: i64 = chunks[CHUNK_BUFFER, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    at: i64
    size: i64
    if f.side[s, SIDE_FRAME_POSITION] == 0:
        at = f.chunk_position
        begin_frame(f, chunks, row, s, at)
        if length - at >= 4:
            size = 4 + int32_at(f, buffer, base + at)
            if not is_possible_length(f, slot, s, size):
                lose_boundary(f, chunks, row, slot, s)
                return True
            if length - at >= 12 and not is_possible_header(f, slot, s, buffer, base + at, base + length, size):
                lose_boundary(f, chunks, row, slot, s)
                return True
            if size <= length - at and buffer == 0 and size <= f.max_frame:
                if f.out_used + 2 > f.out_size:
                    f.why = WHY_OUTPUT_FULL
                    return False
                f.side[s, SIDE_FRAME_SIZE] = size
                f.chunk_position += size
                finish_frame(f, slot, s, 0, base + at, size, size, chunks[CHUNK_TIME, row])
                return True
    return collect_bytes(f, chunks, row, slot, s)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def collect_bytes(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """A frame over several chunks: its bytes go to pages and, when it is complete, to the heap. False: no room."""
    left: i64 = chunks[CHUNK_LENGTH, row] - f.chunk_position
    need: i64
    while left > 0:
        need = (4 if f.side[s, SIDE_FRAME_SIZE] < 0 else f.side[s, SIDE_FRAME_SIZE]) - f.side[s, SIDE_FRAME_POSITION]
        if need <= left and not has_room_to_finish(f, s, need):
            return False
        if need > left:
            need = left
        if need > 0 and not append_bytes(
            f, chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row] + f.chunk_position, need, s
        ):
            f.why = WHY_ARENA_FULL
            return False
        if f.side[s, SIDE_FRAME_SIZE] < 0:
            read_length_field(f, chunks, row, s, need)
        f.side[s, SIDE_FRAME_POSITION] += need
        f.side[s, SIDE_FRAME_RECEIVED] += need
        note_arrival(f, chunks, row, s)
        f.chunk_position += need
        left -= need
        if f.side[s, SIDE_FRAME_POSITION] == 4 and not is_possible_length(f, slot, s, f.side[s, SIDE_FRAME_SIZE]):
            lose_boundary(f, chunks, row, slot, s)
            return True
        if f.side[s, SIDE_FRAME_POSITION] == f.side[s, SIDE_FRAME_SIZE]:
            if f.side[s, SIDE_GUESSED] and give_up_guess(f, chunks, row, slot, s):
                return True
            deliver_frame(f, slot, s, frame_end_time(f, s, chunks[CHUNK_TIME, row]))
            return True
    return True


@cython.cfunc
@cython.exceptval(-1)
def read_length_field(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64, count: i64) -> cython.int:
    """Reads bytes of the length field, also where the arena has no space for them."""
    at: i64 = chunks[CHUNK_OFFSET, row] + f.chunk_position
    i: i64
    for i in range(at, at + count):
        f.side[s, SIDE_LENGTH_FIELD] = (f.side[s, SIDE_LENGTH_FIELD] << 8) | byte_at(f, chunks[CHUNK_BUFFER, row], i)
    if f.side[s, SIDE_FRAME_POSITION] + count == 4:
        i = f.side[s, SIDE_LENGTH_FIELD]
        f.side[s, SIDE_FRAME_SIZE] = 4 + (i - TWO_32 if i >= TWO_31 else i)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def deliver_frame(f: FramingState, slot: i64, s: i64, last_time: i64) -> cython.int:
    """Copies a collected frame to the heap and finishes it (`has_room_to_finish` has been asked)."""
    kept: i64 = f.side[s, SIDE_FRAME_KEPT]
    at: i64 = f.heap_used
    page: i64 = f.side[s, SIDE_FIRST_PAGE]
    left: i64 = kept
    part: i64
    while left > 0:
        part = left if left < PAGE_BYTES else PAGE_BYTES
        f.heap[at : at + part] = f.pages[page * PAGE_BYTES : page * PAGE_BYTES + part]
        at += part
        left -= part
        page = f.next_page[page]
    f.heap_used = at
    release_pages(f, s)
    if kept == f.max_frame and kept < f.side[s, SIDE_FRAME_SIZE]:
        note_frame_problem(f, PROBLEM_FRAME_OVER_LIMIT, s, f.side[s, SIDE_FRAME_SIZE] - kept, kept)
    finish_frame(f, slot, s, OWN_HEAP, at - kept, kept, f.side[s, SIDE_FRAME_RECEIVED], last_time)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def finish_frame(
    f: FramingState, slot: i64, s: i64, buffer: i64, at: i64, kept: i64, received: i64, last_time: i64
) -> cython.int:
    """Writes the row of a frame that is complete, or whose rest was lost, and counts its bytes."""
    request: cython.bint = is_request_side(f, slot, s)
    token: cython.bint
    among_tokens: cython.bint = f.conn[slot, CONN_TOKENS] != 0
    if request:
        token = (
            is_token_request(f, slot, buffer, at, kept) if among_tokens else is_bare_gssapi(f, slot, buffer, at, kept)
        )
    else:
        token = is_token_reply(f, slot, s, buffer, at, kept)
    if kept < 8 + 4 * request and not token:
        note_frame_problem(f, PROBLEM_HEADER_LOST, s, f.side[s, SIDE_FRAME_SIZE], kept)
        count_headerless(f, slot, s, received)
        return 0
    f.conn[slot, FRAMING_STREAM + (s & 1)] += received
    f.conn[slot, FRAMING_FRAMED + (s & 1)] += received
    write_columns(f, slot, s, buffer, at, kept, last_time)
    if token:
        take_token(f, slot, request)
    elif request:
        take_request(f, slot, s, buffer, at, kept)
    elif not pair_reply(f, slot, s, buffer, at, kept):
        f.conn[slot, FRAMING_STREAM + (s & 1)] -= received
        f.conn[slot, FRAMING_FRAMED + (s & 1)] -= received
        count_headerless(f, slot, s, received)
        return 0
    f.out_used += 1
    clear_frame(f, s)
    f.side[s, SIDE_GUESSED] = 0
    if f.crowded:
        f.crowded = False
        write_ended_request(f, slot, f.conn[slot, CONN_OLDEST_REQUEST], STATUS_REPLY_LOST)
        remove_oldest(f, slot)
    elif not token and (f.overtaken >= 0 if not request else among_tokens and waive_tokens(f, slot)):
        begin_settling(f, slot)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def count_headerless(f: FramingState, slot: i64, s: i64, received: i64) -> cython.int:
    """Counts a frame whose header was lost. It may have been what the other side waits for: that is a loss."""
    count_skipped(f, slot, s, SKIP_HEADERLESS, received)
    f.side[s, SIDE_LOSSES] += 1
    clear_frame(f, s)
    return 0
