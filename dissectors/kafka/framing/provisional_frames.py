"""Provisional replies: how they are stored, accepted and rejected.

A reply whose request is not in the capture is held back, as numbers without its body, until there is proof that it is a reply.
Accepted, such replies leave as rows of orphans. Rejected, their bytes count as skipped. They lie in one pool for all
connections, each chain linked by index.
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped
from dissectors.kafka.framing.frame_rows import write_columns, write_orphan_columns
from dissectors.kafka.framing.ids import identity
from dissectors.kafka.framing.pages import append_bytes, drop_frame
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def word_at(f: FramingState, s: i64, number: i64) -> i64:
    """One of the first int32 values of the reply under way; 0 is its length field, 1 its correlation id."""
    value: i64 = f.side[s, SIDE_WORDS + number]
    return value - TWO_32 if value >= TWO_31 else value


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def correlation_step(f: FramingState, s: i64, correlation: i64) -> i64:
    """How far a correlation id is from that of the last provisional reply; 0 for the first, and into or out of the ids that
    Java clients reserve for SASL."""
    last: i64 = f.side[s, SIDE_PROVISIONAL_LAST]
    if last < 0:
        return 0
    last = f.provisional[last, PROVISIONAL_CORRELATION]
    return 0 if (last >= RESERVED_CORRELATION) != (correlation >= RESERVED_CORRELATION) else correlation - last


@cython.cfunc
@cython.exceptval(-1)
def is_next_correlation(f: FramingState, s: i64, correlation: i64) -> cython.bint:
    """Can a reply with this correlation id follow the last provisional one?

    Ids grow. One step may go back: Java clients take an id for ApiVersions and send it later than others.
    """
    step: i64 = correlation_step(f, s, correlation)
    return 0 <= step <= NEAR_CORRELATION or (
        -NEAR_CORRELATION <= step < 0 and f.side[s, SIDE_PROVISIONAL_BACKWARD] == 0
    )


@cython.cfunc
@cython.exceptval(-1)
def is_other_side_silent(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Was nothing captured of the other side?"""
    return (
        f.conn[slot, FRAMING_REQUESTS] == 0
        and f.conn[slot, FRAMING_STREAM + 1 - (s & 1)] == 0
        and f.side[s ^ 1, SIDE_PROVISIONAL_COUNT] == 0
    )


@cython.cfunc
@cython.exceptval(-1)
def drop_provisional(f: FramingState, slot: i64, s: i64) -> cython.int:
    """Forgets provisional replies, if there are any; their bytes count as skipped."""
    index: i64 = f.side[s, SIDE_PROVISIONAL_FIRST]
    following: i64
    if index < 0:
        return 0
    count_skipped(f, slot, s, f.side[s, SIDE_SKIP_REASON], f.side[s, SIDE_PROVISIONAL_BYTES])
    while index >= 0:
        following = f.provisional[index, PROVISIONAL_NEXT]
        f.provisional[index, PROVISIONAL_NEXT] = f.free_provisional
        f.free_provisional = index
        index = following
    clear_provisional(f, s)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def store_provisional(f: FramingState, s: i64, last_time: i64) -> cython.int:
    """Puts the reply under way behind the side's other provisional ones."""
    index: i64 = f.free_provisional
    f.free_provisional = f.provisional[index, PROVISIONAL_NEXT]
    f.provisional[index, PROVISIONAL_FIRST_TIME] = f.side[s, SIDE_FIRST_TIME]
    f.provisional[index, PROVISIONAL_LAST_TIME] = last_time
    f.provisional[index, PROVISIONAL_NUMBER] = f.side[s, SIDE_NUMBER]
    f.provisional[index, PROVISIONAL_SEQ] = f.side[s, SIDE_SEQ]
    f.provisional[index, PROVISIONAL_SIZE] = f.side[s, SIDE_FRAME_SIZE]
    f.provisional[index, PROVISIONAL_RECEIVED] = f.side[s, SIDE_FRAME_RECEIVED]
    f.provisional[index, PROVISIONAL_CORRELATION] = word_at(f, s, 1)
    f.provisional[index, PROVISIONAL_NEXT] = -1
    if f.side[s, SIDE_PROVISIONAL_FIRST] < 0:
        f.side[s, SIDE_PROVISIONAL_FIRST] = index
    else:
        f.provisional[f.side[s, SIDE_PROVISIONAL_LAST], PROVISIONAL_NEXT] = index
    f.side[s, SIDE_PROVISIONAL_LAST] = index
    return 0


@cython.cfunc
@cython.exceptval(-1)
def clear_provisional(f: FramingState, s: i64) -> cython.int:
    f.side[s, SIDE_PROVISIONAL_FIRST] = -1
    f.side[s, SIDE_PROVISIONAL_LAST] = -1
    f.side[s, SIDE_PROVISIONAL_COUNT] = 0
    f.side[s, SIDE_PROVISIONAL_BYTES] = 0
    f.side[s, SIDE_PROVISIONAL_NOT_ZOOKEEPER] = 0
    f.side[s, SIDE_PROVISIONAL_STEPS] = 0
    f.side[s, SIDE_PROVISIONAL_BACKWARD] = 0
    f.side[s, SIDE_PROVISIONAL_ACCEPTED] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
def reject_provisional(f: FramingState, slot: i64, s: i64) -> cython.int:
    """The provisional replies are none: their bytes are skipped, and the search for a boundary begins anew."""
    f.side[s, SIDE_SEARCHED] += f.side[s, SIDE_PROVISIONAL_BYTES] + f.side[s, SIDE_FRAME_RECEIVED]
    drop_frame(f, slot, s, f.side[s, SIDE_SKIP_REASON])
    drop_provisional(f, slot, s)
    f.side[s, SIDE_MODE] = MODE_SEARCH
    return 0


@cython.cfunc
@cython.exceptval(-1)
def write_provisional(f: FramingState, slot: i64, s: i64, index: i64) -> cython.int:
    """Writes the orphan row of one provisional reply. Its body was not kept: nothing of it could be read without its API key."""
    row: i64 = f.out_used
    write_columns(f, slot, s, OWN_HEAP, -4, 4, f.provisional[index, PROVISIONAL_LAST_TIME])
    f.out[FRAME_LENGTH, row] = f.provisional[index, PROVISIONAL_SIZE] - 4
    f.out[FRAME_FIRST_TIME, row] = f.provisional[index, PROVISIONAL_FIRST_TIME]
    f.out[FRAME_NUMBER, row] = f.provisional[index, PROVISIONAL_NUMBER]
    f.out[FRAME_SEQ, row] = f.provisional[index, PROVISIONAL_SEQ]
    f.out[FRAME_ID, row] = identity(
        f.conn[slot, FRAMING_FLOW], f.provisional[index, PROVISIONAL_FIRST_TIME], f.provisional[index, PROVISIONAL_SEQ]
    )
    write_orphan_columns(f, slot)
    f.out[FRAME_CORRELATION, row] = f.provisional[index, PROVISIONAL_CORRELATION]
    f.out[FRAME_DECODED, row] = DECODED_HEADER
    f.side[s, SIDE_CORRELATION] = f.provisional[index, PROVISIONAL_CORRELATION]
    f.conn[slot, FRAMING_STREAM + (s & 1)] += f.provisional[index, PROVISIONAL_RECEIVED]
    f.conn[slot, FRAMING_FRAMED + (s & 1)] += f.provisional[index, PROVISIONAL_RECEIVED]
    f.out_used += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def keep_header(f: FramingState, s: i64) -> cython.bint:
    """Provisional replies were accepted because of a header that lies across two chunks: that frame is kept from its start on.
    False: no space for it yet."""
    i: i64
    count: i64 = f.side[s, SIDE_FRAME_KEPT]
    if count != f.side[s, SIDE_FRAME_POSITION]:
        f.side[s, SIDE_FRAME_KEPT] = 0
        return True
    if f.heap_used + count > f.heap_size:
        f.heap_needed = count
        f.why = WHY_HEAP_FULL
        return False
    for i in range(count):
        f.heap[f.heap_used + i] = cython.cast(
            cython.uchar, (f.side[s, SIDE_WORDS + (i >> 2)] >> (8 * (3 - (i & 3)))) & 255
        )
    f.side[s, SIDE_FRAME_KEPT] = 0
    f.side[s, SIDE_FRAME_POSITION] = 0
    if not append_bytes(f, OWN_HEAP, f.heap_used, count, s):
        f.side[s, SIDE_FRAME_KEPT] = count
        f.why = WHY_ARENA_FULL
    f.side[s, SIDE_FRAME_POSITION] = count
    return f.why != WHY_ARENA_FULL


@cython.cfunc
@cython.exceptval(-1)
def accept_provisional(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Writes provisional replies as rows of orphans; false: an output is full, and this must be called again."""
    following: i64
    index: i64 = f.side[s, SIDE_PROVISIONAL_FIRST]
    f.side[s, SIDE_PROVISIONAL_ACCEPTED] = 1
    if f.conn[slot, FRAMING_CLIENT_SIDE] == UNKNOWN:
        f.conn[slot, FRAMING_CLIENT_SIDE] = 1 - (s & 1)
    if f.conn[slot, FRAMING_PROTOCOL] == PROTOCOL_UNKNOWN:
        f.conn[slot, FRAMING_PROTOCOL] = PROTOCOL_KAFKA
    while index >= 0:
        if f.out_used + 2 > f.out_size:
            f.why = WHY_OUTPUT_FULL
            return False
        write_provisional(f, slot, s, index)
        following = f.provisional[index, PROVISIONAL_NEXT]
        f.provisional[index, PROVISIONAL_NEXT] = f.free_provisional
        f.free_provisional = index
        index = following
        f.side[s, SIDE_PROVISIONAL_FIRST] = index
    if f.side[s, SIDE_MODE] == MODE_PROVISIONAL:
        if not keep_header(f, s):
            return False
        f.side[s, SIDE_MODE] = MODE_FRAMES
        f.side[s, SIDE_SEARCHED] = 0
        f.side[s, SIDE_GUESSED] = 0
    clear_provisional(f, s)
    return True
