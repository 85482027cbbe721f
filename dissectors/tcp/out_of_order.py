"""Out-of-order bytes: buffered in pages of an arena until they can be delivered.

Each page of `arena` has a record of the same number (RECORD_ columns). The records of a side are a list in sequence order
without overlaps: of bytes that came twice the first copy counts, a damaged one aside. A page that was handed on in a chunk is
released: it keeps its bytes until the next call. RECORD_ACK says which bytes of the peer must be delivered before.
"""

import cython

from dissectors.problems import *
from dissectors.tcp.output_rows import problem_row
from dissectors.tcp.sequence import older_ack
from dissectors.tcp.sides import end_of_seen
from dissectors.tcp.state import TcpState, grown_matrix
from dissectors.tcp.state_columns import *
from dissectors.tcp.timing import forget_ack


@cython.cfunc
@cython.exceptval(-1)
def buffer_bytes(
    tcp: TcpState, s: cython.longlong, first: cython.longlong, begin: cython.longlong, end: cython.longlong
) -> cython.longlong:
    """Buffers what is new of [begin, end) of the loaded payload, which begins at `first`; returns how many bytes that is."""
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    before: cython.longlong = -1
    at: cython.longlong = begin
    near: cython.longlong
    stop: cython.longlong
    new_bytes: cython.longlong = 0
    differ: cython.longlong = 0
    if record >= 0 and at >= end_of_seen(tcp, s):
        before = tcp.side[s, SIDE_LAST_RECORD]
        if older_ack(tcp.records[before, RECORD_ACK], tcp.ack) == tcp.records[before, RECORD_ACK]:
            record = -1
    elif record >= 0 and is_behind_newest(tcp, s, at):
        # None before it has a newer ACK number, so none has to be lowered.
        near = tcp.side[s, SIDE_NEAR_RECORD]
        if older_ack(tcp.records[near, RECORD_ACK], tcp.ack) == tcp.records[near, RECORD_ACK]:
            before = near
            record = tcp.records[near, RECORD_NEXT]
    while record >= 0 and tcp.records[record, RECORD_SEQ] + tcp.records[record, RECORD_LENGTH] <= at:
        sent_by_now(tcp, record)
        before = record
        record = tcp.records[record, RECORD_NEXT]
    while at < end:
        stop = end if record < 0 else min(end, tcp.records[record, RECORD_SEQ])
        while at < stop:
            before = new_record(tcp, s, before, first, at, stop)
            new_bytes += tcp.records[before, RECORD_LENGTH]
            at += tcp.records[before, RECORD_LENGTH]
        if at < end:
            stop = min(end, tcp.records[record, RECORD_SEQ] + tcp.records[record, RECORD_LENGTH])
            differ += differing_bytes(tcp, record, first, at, stop)
            if stop < end or stop == tcp.records[record, RECORD_SEQ] + tcp.records[record, RECORD_LENGTH]:
                sent_by_now(tcp, record)
            at = stop
            before = record
            record = tcp.records[record, RECORD_NEXT]
    tcp.side[s, SIDE_NEAR_RECORD] = before
    if differ:
        tcp.side[s, SIDE_CONFLICTS] += 1
        problem_row(tcp, PROBLEM_CONFLICTING_COPIES, s, begin, differ)
    return new_bytes


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def is_behind_newest(tcp: TcpState, s: cython.longlong, at: cython.longlong) -> cython.bint:
    """Whether a search for `at` may begin behind SIDE_NEAR_RECORD: it ends by then. From the first record on it would pass all that
    waits, for each segment."""
    near: cython.longlong = tcp.side[s, SIDE_NEAR_RECORD]
    return near >= 0 and tcp.records[near, RECORD_SEQ] + tcp.records[near, RECORD_LENGTH] <= at


@cython.cfunc
@cython.exceptval(-1)
def new_record(
    tcp: TcpState,
    s: cython.longlong,
    before: cython.longlong,
    first: cython.longlong,
    at: cython.longlong,
    stop: cython.longlong,
) -> cython.longlong:
    """A record behind `before` for the first bytes of [at, stop): as many as fit a page, or all when they were not captured."""
    record: cython.longlong
    source: cython.longlong = tcp.offset + at - first
    there: cython.longlong = first + tcp.captured
    size: cython.longlong = stop - at
    if tcp.free_record < 0:
        grow_records(tcp)
    record = tcp.free_record
    tcp.free_record = tcp.records[record, RECORD_NEXT]
    if at < there:
        size = min(min(stop, there) - at, PAGE_BYTES)
        tcp.arena[record * PAGE_BYTES : record * PAGE_BYTES + size] = tcp.block[source : source + size]
    tcp.records[record, RECORD_KIND] = RECORD_WHOLE if at < there else RECORD_CUT
    tcp.records[record, RECORD_SEQ] = at
    tcp.records[record, RECORD_LENGTH] = size
    tcp.records[record, RECORD_TIME] = tcp.time
    tcp.records[record, RECORD_NUMBER] = tcp.number
    tcp.records[record, RECORD_ACK] = tcp.ack
    tcp.records[record, RECORD_WAY] = tcp.lag << 8 | tcp.marks & 0xFF
    if before < 0:
        tcp.records[record, RECORD_NEXT] = tcp.side[s, SIDE_FIRST_RECORD]
        tcp.side[s, SIDE_FIRST_RECORD] = record
    else:
        tcp.records[record, RECORD_NEXT] = tcp.records[before, RECORD_NEXT]
        tcp.records[before, RECORD_NEXT] = record
    if tcp.records[record, RECORD_NEXT] < 0:
        tcp.side[s, SIDE_LAST_RECORD] = record
    else:
        tcp.records[record, RECORD_ACK] = older_ack(tcp.ack, tcp.records[tcp.records[record, RECORD_NEXT], RECORD_ACK])
    tcp.side[s, SIDE_PAGES] += 1
    tcp.buffered_pages += 1
    if (
        tcp.side[s, SIDE_STATE] & STATE_STARTED == 0
        or tcp.records[tcp.side[s, SIDE_FIRST_RECORD], RECORD_SEQ] == tcp.side[s, SIDE_NEXT]
    ):
        forget_ack(tcp, s)  # they fill no hole: they wait for bytes of the peer, or for where the stream begins
    return record


@cython.cfunc
def grow_records(tcp: TcpState):
    """More records, up to one for each page of the arena. A segment needs up to 64 pages more than any limit says."""
    record: cython.longlong
    size: cython.longlong = min(max(32, 2 * tcp.record_count), len(tcp.arena) // PAGE_BYTES)
    tcp.records_memory = grown_matrix(tcp.records_memory, RECORD_COLUMNS, size)
    tcp.records = tcp.records_memory
    for record in range(size - 1, tcp.record_count - 1, -1):
        tcp.records[record, RECORD_NEXT] = tcp.free_record
        tcp.free_record = record
    tcp.record_count = size


@cython.cfunc
def sent_by_now(tcp: TcpState, record: cython.longlong):
    """Lowers RECORD_ACK to the ACK number of the loaded segment, which ends later than the record.

    A sender first sends its bytes in sequence order, so these were sent no later than that segment. A retransmission has a
    higher ACK number; it would claim too much where the first transmission is missing or comes later.
    """
    tcp.records[record, RECORD_ACK] = older_ack(tcp.records[record, RECORD_ACK], tcp.ack)


@cython.cfunc
@cython.exceptval(-1)
def differing_bytes(
    tcp: TcpState, record: cython.longlong, first: cython.longlong, at: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    """How many bytes of [at, stop) differ from those of the record; what either copy lacks is not compared."""
    mine: cython.longlong = tcp.offset - first
    theirs: cython.longlong = record * PAGE_BYTES - tcp.records[record, RECORD_SEQ]
    count: cython.longlong = 0
    i: cython.longlong
    if tcp.records[record, RECORD_KIND] != RECORD_WHOLE:
        return 0
    for i in range(at, min(stop, first + tcp.captured)):
        if tcp.block[mine + i] != tcp.arena[theirs + i]:
            count += 1
    return count


@cython.cfunc
def drop_first_record(tcp: TcpState, s: cython.longlong):
    """Releases the first record of a side; its page keeps its bytes until the next call."""
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    tcp.side[s, SIDE_FIRST_RECORD] = tcp.records[record, RECORD_NEXT]
    if tcp.side[s, SIDE_FIRST_RECORD] < 0:
        tcp.side[s, SIDE_LAST_RECORD] = -1
    if tcp.side[s, SIDE_NEAR_RECORD] == record:
        tcp.side[s, SIDE_NEAR_RECORD] = -1
    tcp.side[s, SIDE_PAGES] -= 1
    tcp.buffered_pages -= 1
    tcp.records[record, RECORD_NEXT] = tcp.released
    if tcp.released < 0:
        tcp.released_last = record
    tcp.released = record
    tcp.released_count += 1


@cython.cfunc
@cython.exceptval(-1)
def buffered_bytes(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """How many bytes of a side are buffered."""
    total: cython.longlong = 0
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    while record >= 0:
        total += tcp.records[record, RECORD_LENGTH]
        record = tcp.records[record, RECORD_NEXT]
    return total
