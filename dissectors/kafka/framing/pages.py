"""The frame under way in one direction: its times and its bytes.

A frame that lies in one chunk stays where it is. Bytes of others are collected in pages of 4 KiB, chained, in one arena
that all connections share; its size bounds the memory of unfinished frames. Where it is used up the head of the frame is kept
and the rest is passed over by length.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped, note_frame_problem
from dissectors.kafka.framing.free_pages import free_chain
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *
from dissectors.problems import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def clear_frame(f: FramingState, s: i64) -> cython.int:
    """No byte of the next frame has come yet. Pages must have been released."""
    f.side[s, SIDE_FRAME_SIZE] = -1
    f.side[s, SIDE_LENGTH_FIELD] = 0
    f.side[s, SIDE_FRAME_POSITION] = 0
    f.side[s, SIDE_FRAME_KEPT] = 0
    f.side[s, SIDE_FRAME_RECEIVED] = 0
    f.side[s, SIDE_FIRST_PAGE] = -1
    f.side[s, SIDE_LAST_PAGE] = -1
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def begin_frame(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64, at: i64) -> cython.int:
    column: i64
    f.side[s, SIDE_FIRST_TIME] = chunks[CHUNK_TIME, row]
    f.side[s, SIDE_LAST_TIME] = chunks[CHUNK_TIME, row]
    f.side[s, SIDE_NUMBER] = chunks[CHUNK_NUMBER, row]
    f.side[s, SIDE_LAST_NUMBER] = chunks[CHUNK_NUMBER, row]
    f.side[s, SIDE_SEQ] = (chunks[CHUNK_SEQ, row] + at) & LOW_32
    for column in range(WAY_COLUMNS):
        f.side[s, SIDE_WAY + column] = chunks[CHUNK_LAG + column, row]
    f.side[s, SIDE_REPEATS] = 0
    note_end(f, chunks, row, s)
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_end(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64) -> cython.int:
    """The newest byte of the frame came with this chunk, which may be its last."""
    f.side[s, SIDE_REPEATS] |= chunks[CHUNK_MARKS, row] & MARK_REPEAT
    f.end_lag = chunks[CHUNK_LAG, row]
    f.end_covers = chunks[CHUNK_COVERS, row]
    f.end_marks = chunks[CHUNK_MARKS, row]
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_arrival(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64) -> cython.int:
    """Bytes of the frame came with this chunk: remembers the latest time and packet."""
    if f.side[s, SIDE_LAST_TIME] < chunks[CHUNK_TIME, row]:
        f.side[s, SIDE_LAST_TIME] = chunks[CHUNK_TIME, row]
    if f.side[s, SIDE_LAST_NUMBER] < chunks[CHUNK_NUMBER, row]:
        f.side[s, SIDE_LAST_NUMBER] = chunks[CHUNK_NUMBER, row]
    note_end(f, chunks, row, s)
    return 0


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def frame_end_time(f: FramingState, s: i64, final: i64) -> i64:
    """When the whole frame had been captured; `final` is the time of its last byte, UNKNOWN where that has none.

    A packet that was captured later may have filled a hole before it: then the frame ends with that packet. A difference below
    CLOCK_SKEW_NS is no such packet, but two processors whose clocks disagree.
    """
    latest: i64 = f.side[s, SIDE_LAST_TIME]
    return latest if latest != UNKNOWN and final != UNKNOWN and latest - final >= CLOCK_SKEW_NS else final


@cython.cfunc
@cython.exceptval(-1)
def has_room_to_finish(f: FramingState, s: i64, more: i64) -> cython.bint:
    """Whether a frame that ends after `more` bytes fits into the output and the heap. To be asked before they are taken."""
    if f.out_used + 2 > f.out_size:
        f.why = WHY_OUTPUT_FULL
        return False
    more += f.side[s, SIDE_FRAME_KEPT]
    if f.heap_used + more > f.heap_size:
        f.heap_needed = more
        f.why = WHY_HEAP_FULL
        return False
    return True


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def append_bytes(f: FramingState, buffer: i64, offset: i64, count: i64, s: i64) -> cython.bint:
    """Appends bytes to the frame's pages, unless a gap or `max_frame` came before them; false: the arena must grow first."""
    kept: i64 = f.side[s, SIDE_FRAME_KEPT]
    room: i64
    page: i64
    part: i64
    if kept != f.side[s, SIDE_FRAME_POSITION]:
        return True
    if kept + count > f.max_frame:
        count = f.max_frame - kept
    room = f.free_pages * PAGE_BYTES + (-kept & 4095)
    if room < count:
        if f.page_count * PAGE_BYTES + PAGE_BYTES <= f.arena_bytes:
            return False
        note_frame_problem(f, PROBLEM_FRAME_CUT_BY_LIMIT, s, f.side[s, SIDE_FRAME_SIZE], kept)
        count = room
    while count > 0:
        if (kept & 4095) == 0:
            page = f.free_page
            f.free_page = f.next_page[page]
            f.free_pages -= 1
            f.next_page[page] = -1
            if f.side[s, SIDE_LAST_PAGE] < 0:
                f.side[s, SIDE_FIRST_PAGE] = page
            else:
                f.next_page[f.side[s, SIDE_LAST_PAGE]] = page
            f.side[s, SIDE_LAST_PAGE] = page
        page = f.side[s, SIDE_LAST_PAGE] * PAGE_BYTES + (kept & 4095)
        part = PAGE_BYTES - (kept & 4095)
        if part > count:
            part = count
        if buffer == 0:
            f.pages[page : page + part] = f.stream_block[offset : offset + part]
        elif buffer == 1:
            f.pages[page : page + part] = f.stream_heap[offset : offset + part]
        else:
            f.pages[page : page + part] = f.heap[offset : offset + part]
        kept += part
        offset += part
        count -= part
    f.side[s, SIDE_FRAME_KEPT] = kept
    return True


@cython.cfunc
@cython.exceptval(-1)
def release_pages(f: FramingState, s: i64) -> cython.int:
    free_chain(f, f.side[s, SIDE_FIRST_PAGE])
    f.side[s, SIDE_FIRST_PAGE] = -1
    f.side[s, SIDE_LAST_PAGE] = -1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def drop_frame(f: FramingState, slot: i64, s: i64, reason: i64) -> cython.int:
    """Gives up the frame under way: its bytes count as skipped."""
    count_skipped(f, slot, s, reason, f.side[s, SIDE_FRAME_RECEIVED])
    release_pages(f, s)
    clear_frame(f, s)
    return 0
