"""The newest bytes of a side that were searched in vain: a header may begin in them and go on in the next chunk.

Of a chunk that is searched by itself the last 13 bytes are kept, in columns of the side: a header has one more. Chunks of fewer
than SMALL_CHUNK_BYTES are joined in a page of the arena, each byte with the time and the number of its packet, from the first
byte on that is not decided: it waits until enough of what would be its request is there. Where a side speaks for the first time
since the other one did a message is likely to begin, so less proof is asked for there.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped
from dissectors.kafka.framing.direction import begin_frames, is_boundary_at, is_client_proven
from dissectors.kafka.framing.free_pages import drop_tail
from dissectors.kafka.framing.in_flight import is_expected_reply_at, is_request_side
from dissectors.kafka.framing.pages import append_bytes
from dissectors.kafka.framing.request_headers import is_likely_request, is_request_at
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.stream_bytes import byte_at, int16_at, int32_at
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def join_tail(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64) -> cython.bint:
    """Takes a page for the tail if this chunk is to be joined with it; false: the arena must grow first."""
    count: i64 = f.side[s, SIDE_TAIL]
    i: i64
    page: i64
    if f.side[s, SIDE_TAIL_PAGE] or count == 0 or chunks[CHUNK_LENGTH, row] >= SMALL_CHUNK_BYTES:
        return True
    if f.tail_pages * PAGE_BYTES >= f.arena_bytes // TAILS_OF_ARENA:
        return True  # unfinished frames need the rest
    if f.free_pages == 0:
        if f.page_count * PAGE_BYTES + PAGE_BYTES > f.arena_bytes:
            return True
        f.why = WHY_ARENA_FULL
        return False
    page = f.free_page
    f.free_page = f.next_page[page]
    f.free_pages -= 1
    f.next_page[page] = -1
    f.tail_pages += 1
    for i in range(count):
        put_entry(f, page, i, tail_byte(f, s, i), f.side[s, SIDE_TAIL_TIME], f.side[s, SIDE_TAIL_NUMBER], False)
    if f.side[s, SIDE_TAIL_TURN]:
        f.pages[page * PAGE_BYTES + 1] = 1
    f.side[s, SIDE_TAIL_PAGE] = page + 1
    return True


@cython.cfunc
@cython.exceptval(-1)
def keep_tail(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64, start: i64) -> cython.int:
    """Remembers the last bytes of a chunk that was searched in vain from `start` on."""
    end: i64 = chunks[CHUNK_LENGTH, row]
    base: i64 = chunks[CHUNK_OFFSET, row]
    sent: i64 = sent_bytes(f, slot, s ^ 1)
    turn: cython.bint = start == 0 and sent != f.side[s, SIDE_TAIL_SENT]
    count: i64 = f.side[s, SIDE_TAIL]
    i: i64
    if f.side[s, SIDE_TAIL_PAGE] and start == 0 and end < SMALL_CHUNK_BYTES and count + end <= MOST_TAIL_BYTES:
        for i in range(end):
            put_entry(
                f,
                f.side[s, SIDE_TAIL_PAGE] - 1,
                count + i,
                byte_at(f, chunks[CHUNK_BUFFER, row], base + i),
                chunks[CHUNK_TIME, row],
                chunks[CHUNK_NUMBER, row],
                turn and i == 0,
            )
        f.side[s, SIDE_TAIL] = count + end
    else:
        drop_tail(f, s)
        count = end - start if end - start < TAIL_BYTES else TAIL_BYTES
        keep_in_columns(f, chunks, row, s, count)
        f.side[s, SIDE_TAIL_TURN] = turn and count == end
    f.side[s, SIDE_TAIL_END] = (chunks[CHUNK_SEQ, row] + end) & LOW_32
    f.side[s, SIDE_TAIL_SENT] = sent
    return 0


@cython.cfunc
@cython.exceptval(-1)
def keep_in_columns(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64, count: i64) -> cython.int:
    """Keeps the last `count` bytes of a chunk, at most 13, which all came in one packet."""
    end: i64 = chunks[CHUNK_OFFSET, row] + chunks[CHUNK_LENGTH, row]
    high: i64 = 0
    low: i64 = 0
    i: i64
    for i in range(end - count, end):
        high = ((high << 8) | (low >> 48)) & LOW_63
        low = ((low << 8) | byte_at(f, chunks[CHUNK_BUFFER, row], i)) & LOW_56
    f.side[s, SIDE_TAIL] = count
    f.side[s, SIDE_TAIL_HIGH] = high
    f.side[s, SIDE_TAIL_LOW] = low
    f.side[s, SIDE_TAIL_TIME] = chunks[CHUNK_TIME, row]
    f.side[s, SIDE_TAIL_NUMBER] = chunks[CHUNK_NUMBER, row]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def sent_bytes(f: FramingState, slot: i64, s: i64) -> i64:
    """How many bytes a side has sent: a number that changes with each chunk."""
    return f.conn[slot, FRAMING_STREAM + (s & 1)] + f.side[s, SIDE_FRAME_RECEIVED] + f.side[s, SIDE_PROVISIONAL_BYTES]


@cython.cfunc
@cython.exceptval(-1)
def is_amid_small_chunks(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Does this chunk of a few bytes go on with others, and is it no whole reply? Then what looks like a reply's header at its
    start may be any part of a message."""
    length: i64 = chunks[CHUNK_LENGTH, row]
    return (
        length < SMALL_CHUNK_BYTES
        and f.side[s, SIDE_TAIL] > 0
        and f.side[s, SIDE_TAIL_SENT] == sent_bytes(f, slot, s ^ 1)
        and 4 + int32_at(f, chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row]) != length
    )


# An entry of a joined tail: the byte, 1 where its side spoke again, the number of its packet (6 bytes) and its time (8 bytes).


@cython.cfunc
@cython.exceptval(-1)
def put_entry(
    f: FramingState, page: i64, index: i64, byte: i64, time: i64, number: i64, turn: cython.bint
) -> cython.int:
    at: i64 = page * PAGE_BYTES + index * TAIL_ENTRY_BYTES
    i: i64
    f.pages[at] = cython.cast(cython.uchar, byte)
    f.pages[at + 1] = turn
    for i in range(6):
        f.pages[at + 2 + i] = cython.cast(cython.uchar, (number >> (40 - 8 * i)) & 255)
    for i in range(8):
        f.pages[at + 8 + i] = cython.cast(cython.uchar, (time >> (56 - 8 * i)) & 255)
    return 0


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def entry_number(f: FramingState, s: i64, index: i64, begin: i64, end: i64) -> i64:
    """The number that bytes [begin, end) of an entry hold, of eight bytes one with a sign: a time may be UNKNOWN."""
    at: i64 = (f.side[s, SIDE_TAIL_PAGE] - 1) * PAGE_BYTES + index * TAIL_ENTRY_BYTES
    value: i64 = -1 if end - begin == 8 and f.pages[at + begin] > 127 else 0
    i: i64
    for i in range(at + begin, at + end):
        value = (value << 8) | f.pages[i]
    return value


@cython.cfunc
@cython.exceptval(-1)
def tail_byte(f: FramingState, s: i64, index: i64) -> i64:
    back: i64
    if f.side[s, SIDE_TAIL_PAGE]:
        return f.pages[(f.side[s, SIDE_TAIL_PAGE] - 1) * PAGE_BYTES + index * TAIL_ENTRY_BYTES]
    back = f.side[s, SIDE_TAIL] - 1 - index
    return ((f.side[s, SIDE_TAIL_LOW] if back < 7 else f.side[s, SIDE_TAIL_HIGH]) >> (8 * (back % 7))) & 255


@cython.cfunc
@cython.exceptval(-1)
def is_turn(f: FramingState, s: i64, index: i64) -> cython.bint:
    """Did the side speak again with this byte, after the other one had?"""
    if f.side[s, SIDE_TAIL_PAGE]:
        return entry_number(f, s, index, 1, 2) == 1
    return index == 0 and f.side[s, SIDE_TAIL_TURN] == 1


@cython.cfunc
@cython.exceptval(-1)
def drop_first(f: FramingState, s: i64, count: i64) -> cython.int:
    """Takes the first bytes off a joined tail."""
    base: i64 = (f.side[s, SIDE_TAIL_PAGE] - 1) * PAGE_BYTES
    i: i64
    for i in range(base, base + (f.side[s, SIDE_TAIL] - count) * TAIL_ENTRY_BYTES):
        f.pages[i] = f.pages[i + count * TAIL_ENTRY_BYTES]
    f.side[s, SIDE_TAIL] -= count
    return 0


@cython.cfunc
@cython.exceptval(-1)
def search_tail(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Looks for a header that begins in the tail and goes on in this chunk; false: no space for it."""
    count: i64 = f.side[s, SIDE_TAIL]
    length: i64 = chunks[CHUNK_LENGTH, row]
    reach: i64 = length if length < TAIL_REACH_BYTES else TAIL_REACH_BYTES
    at: i64 = f.heap_used
    i: i64
    verdict: i64
    found: i64 = -1
    undecided: i64 = count
    whole: cython.bint = is_whole_stream(f, slot, s)
    last: cython.bint
    if f.side[s, SIDE_TAIL_END] != chunks[CHUNK_SEQ, row]:
        drop_tail(f, s)
        return True
    if not join_tail(f, chunks, row, s):
        return False
    if not copy_tail(f, chunks, row, s, reach):
        return False
    last = f.side[s, SIDE_TAIL_PAGE] == 0 or length >= SMALL_CHUNK_BYTES or count + length > MOST_TAIL_BYTES
    for i in range(count):
        verdict = judge(f, slot, s, at + i, at + count + reach, is_turn(f, s, i) or (whole and i == 0), last)
        if verdict == MAY_BE and undecided == count:
            undecided = i
        elif verdict == IS_ONE:
            if 4 + int32_at(f, OWN_HEAP, at + i) <= count - i:
                continue  # a reply of a few bytes that came byte by byte: it has been skipped as a whole
            if i + 4 + int32_at(f, OWN_HEAP, at + i) + 14 <= count + reach:
                return begin_in_tail(f, slot, s, at + i, i)  # it was judged by the header that follows, too
            if found < 0:
                found = i
    if found >= 0 and not is_boundary_at(
        f, slot, s, chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row], chunks[CHUNK_OFFSET, row] + length, True
    ):
        return begin_in_tail(f, slot, s, at + found, found)
    if f.side[s, SIDE_TAIL_PAGE]:
        drop_first(f, s, undecided)
    return True


@cython.cfunc
@cython.exceptval(-1)
def judge(f: FramingState, slot: i64, s: i64, at: i64, end: i64, first: cython.bint, last: cython.bint) -> i64:
    """Does a frame begin at `at` of the heap? MAY_BE: more bytes will tell; not where these are the `last` that can be had."""
    need: i64
    size: i64
    if f.conn[slot, FRAMING_CLIENT_SIDE] != UNKNOWN and not is_request_side(f, slot, s):
        if end - at < 8:
            return MAY_BE
        if is_expected_reply_at(f, slot, OWN_HEAP, at, end):
            return IS_ONE if is_boundary_at(f, slot, s, OWN_HEAP, at, end, first) else IS_NONE
        if not first or is_client_proven(f, slot):
            return IS_NONE
    if end - at < 14:
        return MAY_BE
    if not is_request_at(f, OWN_HEAP, at, end, True):
        return IS_NONE
    if not last:
        size = 4 + int32_at(f, OWN_HEAP, at)
        need = 14 + SMALL_CHUNK_BYTES
        if int16_at(f, OWN_HEAP, at + 12) > 0:
            need += int16_at(f, OWN_HEAP, at + 12)
        if end - at < need and end - at < size:
            return MAY_BE
    return IS_ONE if is_boundary_at(f, slot, s, OWN_HEAP, at, end, first) else IS_NONE


@cython.cfunc
@cython.exceptval(-1)
def copy_tail(f: FramingState, chunks: i64[:, ::1], row: i64, s: i64, reach: i64) -> cython.bint:
    """Puts the tail and `reach` bytes of the chunk side by side on the heap, behind what is used; false: no room."""
    count: i64 = f.side[s, SIDE_TAIL]
    at: i64 = f.heap_used
    i: i64
    if at + count + reach > f.heap_size:
        f.heap_needed = count + reach
        f.why = WHY_HEAP_FULL
        return False
    for i in range(count):
        f.heap[at + i] = cython.cast(cython.uchar, tail_byte(f, s, i))
    for i in range(reach):
        f.heap[at + count + i] = byte_at(f, chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row] + i)
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_reply_unlikely(f: FramingState, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
    """Is what was taken for a first provisional reply, and began in a small chunk, refuted by the one behind that?

    It is where both share the header of a request, and where the second is small too and not the reply's end: a length that
    was read amid small chunks hides what follows. If `why` is set there is no room to tell, and this must be asked again.
    """
    count: i64 = f.side[s, SIDE_TAIL]
    length: i64 = chunks[CHUNK_LENGTH, row]
    position: i64 = f.side[s, SIDE_FRAME_POSITION]
    if (
        count == 0
        or f.side[s, SIDE_PROVISIONAL_COUNT]
        or position == 0
        or position >= SMALL_CHUNK_BYTES
        or f.side[s, SIDE_TAIL_END] != chunks[CHUNK_SEQ, row]
    ):
        return False
    if length < SMALL_CHUNK_BYTES and position + length < f.side[s, SIDE_FRAME_SIZE]:
        return True
    if length > TAIL_REACH_BYTES:
        length = TAIL_REACH_BYTES
    if f.conn[slot, FRAMING_CLIENT_SIDE] != UNKNOWN or position != count or not copy_tail(f, chunks, row, s, length):
        return False
    return is_likely_request(f, OWN_HEAP, f.heap_used, f.heap_used + count + length, True)


@cython.cfunc
@cython.exceptval(-1)
def is_whole_stream(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Are the bytes of the tail all that came of this side, but for an opening?"""
    side: i64 = s & 1
    opening: i64 = f.conn[slot, FRAMING_SKIPPED + 2 * SKIP_NOT_KAFKA + side]
    return f.conn[slot, FRAMING_STREAM + side] == opening + f.side[s, SIDE_TAIL]


@cython.cfunc
@cython.exceptval(-1)
def begin_in_tail(f: FramingState, slot: i64, s: i64, at: i64, index: i64) -> cython.bint:
    """Begins a frame with the bytes of the tail from `index` on, which lie at `at` on the heap. They no longer count as skipped."""
    count: i64 = f.side[s, SIDE_TAIL] - index
    joined: cython.bint = f.side[s, SIDE_TAIL_PAGE] > 0
    i: i64
    begin_frames(f, slot, s)
    if not append_bytes(f, OWN_HEAP, at, count, s):
        f.side[s, SIDE_MODE] = MODE_SEARCH
        f.why = WHY_ARENA_FULL
        return False
    count_skipped(f, slot, s, f.side[s, SIDE_SKIP_REASON], -count)
    f.side[s, SIDE_GUESSED] = 2
    f.side[s, SIDE_FRAME_POSITION] = count
    f.side[s, SIDE_FRAME_RECEIVED] = count
    f.side[s, SIDE_FIRST_TIME] = entry_number(f, s, index, 8, 16) if joined else f.side[s, SIDE_TAIL_TIME]
    f.side[s, SIDE_NUMBER] = entry_number(f, s, index, 2, 8) if joined else f.side[s, SIDE_TAIL_NUMBER]
    f.side[s, SIDE_LAST_TIME] = f.side[s, SIDE_FIRST_TIME]
    f.side[s, SIDE_LAST_NUMBER] = f.side[s, SIDE_NUMBER]
    if joined:
        for i in range(index + 1, index + count):
            f.side[s, SIDE_LAST_TIME] = max(f.side[s, SIDE_LAST_TIME], entry_number(f, s, i, 8, 16))
            f.side[s, SIDE_LAST_NUMBER] = max(f.side[s, SIDE_LAST_NUMBER], entry_number(f, s, i, 2, 8))
    f.side[s, SIDE_SEQ] = (f.side[s, SIDE_TAIL_END] - count) & LOW_32
    for i in range(WAY_COLUMNS):
        f.side[s, SIDE_WAY + i] = UNKNOWN
    f.side[s, SIDE_WAY + CHUNK_MARKS - CHUNK_LAG] = 0
    f.side[s, SIDE_WAY + CHUNK_COVERS - CHUNK_LAG] = 0
    f.side[s, SIDE_WAY + CHUNK_ACK_NUMBER - CHUNK_LAG] = 0
    f.side[s, SIDE_WAY + CHUNK_ACK_TIME - CHUNK_LAG] = 0
    f.side[s, SIDE_REPEATS] = 0
    for i in range(count if count < 4 else 4):
        f.side[s, SIDE_LENGTH_FIELD] = (f.side[s, SIDE_LENGTH_FIELD] << 8) | f.heap[at + i]
    if count >= 4:
        f.side[s, SIDE_FRAME_SIZE] = 4 + f.side[s, SIDE_LENGTH_FIELD]  # `is_boundary_at` has judged it
    drop_tail(f, s)
    return True
