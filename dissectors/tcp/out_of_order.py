"""Bytes that arrived before those that precede them: pages of an arena, and a record each."""

import cython

from dissectors.problems import *
from dissectors.tcp.rows import problem_row
from dissectors.tcp.sequence import older_ack
from dissectors.tcp.sides import end_of_seen
from dissectors.tcp.state import TcpState, grown_matrix
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def buffer_bytes(
    tcp: TcpState, s: cython.longlong, first: cython.longlong, begin: cython.longlong, end: cython.longlong
) -> cython.longlong:
    """Keeps what is new of [begin, end) of a payload that begins at `first`; returns how many bytes that is."""
    record: cython.longlong = tcp.side[s, S_HEAD]
    before: cython.longlong = -1
    at: cython.longlong = begin
    stop: cython.longlong
    fresh: cython.longlong = 0
    differ: cython.longlong = 0
    if record >= 0 and at >= end_of_seen(tcp, s):
        before = tcp.side[s, S_TAIL]
        if older_ack(tcp.held[before, H_ACK], tcp.ack) == tcp.held[before, H_ACK]:
            record = -1
    while record >= 0 and tcp.held[record, H_SEQ] + tcp.held[record, H_LENGTH] <= at:
        sent_by_now(tcp, record)
        before = record
        record = tcp.held[record, H_NEXT]
    while at < end:
        stop = end if record < 0 else min(end, tcp.held[record, H_SEQ])
        while at < stop:
            before = new_record(tcp, s, before, first, at, stop)
            fresh += tcp.held[before, H_LENGTH]
            at += tcp.held[before, H_LENGTH]
        if at < end:
            stop = min(end, tcp.held[record, H_SEQ] + tcp.held[record, H_LENGTH])
            differ += differing_bytes(tcp, record, first, at, stop)
            if stop < end or stop == tcp.held[record, H_SEQ] + tcp.held[record, H_LENGTH]:
                sent_by_now(tcp, record)
            at = stop
            before = record
            record = tcp.held[record, H_NEXT]
    if differ:
        tcp.side[s, S_CONFLICTS] += 1
        problem_row(tcp, PROBLEM_CONFLICTING_COPIES, s, begin, differ)
    return fresh


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
    """Keeps a first piece of [at, stop): as much as fits in a page, or all when it was not captured."""
    record: cython.longlong
    source: cython.longlong = tcp.offset + at - first
    there: cython.longlong = first + tcp.captured
    size: cython.longlong = stop - at
    if tcp.free_record < 0:
        grow_records(tcp)
    record = tcp.free_record
    tcp.free_record = tcp.held[record, H_NEXT]
    if at < there:
        size = min(min(stop, there) - at, PAGE)
        tcp.arena[record * PAGE : record * PAGE + size] = tcp.block[source : source + size]
    tcp.held[record, H_CUT] = 0 if at < there else 1
    tcp.held[record, H_SEQ] = at
    tcp.held[record, H_LENGTH] = size
    tcp.held[record, H_TIME] = tcp.time
    tcp.held[record, H_NUMBER] = tcp.number
    tcp.held[record, H_ACK] = tcp.ack
    if before < 0:
        tcp.held[record, H_NEXT] = tcp.side[s, S_HEAD]
        tcp.side[s, S_HEAD] = record
    else:
        tcp.held[record, H_NEXT] = tcp.held[before, H_NEXT]
        tcp.held[before, H_NEXT] = record
    if tcp.held[record, H_NEXT] < 0:
        tcp.side[s, S_TAIL] = record
    else:
        tcp.held[record, H_ACK] = older_ack(tcp.ack, tcp.held[tcp.held[record, H_NEXT], H_ACK])
    tcp.side[s, S_PAGES] += 1
    tcp.kept_records += 1
    return record


@cython.cfunc
def grow_records(tcp: TcpState):
    """More records, up to one for each page of the arena. A segment needs up to 64 pages more than any limit says."""
    record: cython.longlong
    size: cython.longlong = min(max(32, 2 * tcp.records), len(tcp.arena) // PAGE)
    tcp.held_memory = grown_matrix(tcp.held_memory, H_COLUMNS, size)
    tcp.held = tcp.held_memory
    for record in range(size - 1, tcp.records - 1, -1):
        tcp.held[record, H_NEXT] = tcp.free_record
        tcp.free_record = record
    tcp.records = size


@cython.cfunc
def sent_by_now(tcp: TcpState, record: cython.longlong):
    """Bytes are first sent in the order of their numbers: these no later than a segment that ends later.

    So they follow no more than it does. This undoes what a repeated copy, with its higher ACK number, would claim
    when the capture lacks the first copy or shows it later.
    """
    tcp.held[record, H_ACK] = older_ack(tcp.held[record, H_ACK], tcp.ack)


@cython.cfunc
@cython.exceptval(-1)
def differing_bytes(
    tcp: TcpState, record: cython.longlong, first: cython.longlong, at: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    """How many bytes of [at, stop) are not what the record has; what either copy lacks is not compared."""
    mine: cython.longlong = tcp.offset - first
    theirs: cython.longlong = record * PAGE - tcp.held[record, H_SEQ]
    count: cython.longlong = 0
    i: cython.longlong
    if tcp.held[record, H_CUT]:
        return 0
    for i in range(at, min(stop, first + tcp.captured)):
        if tcp.block[mine + i] != tcp.arena[theirs + i]:
            count += 1
    return count


@cython.cfunc
def drop_first_record(tcp: TcpState, s: cython.longlong):
    """Lets go of the first record; its page stays as it is until the next call."""
    record: cython.longlong = tcp.side[s, S_HEAD]
    tcp.side[s, S_HEAD] = tcp.held[record, H_NEXT]
    if tcp.side[s, S_HEAD] < 0:
        tcp.side[s, S_TAIL] = -1
    tcp.side[s, S_PAGES] -= 1
    tcp.kept_records -= 1
    tcp.held[record, H_NEXT] = tcp.limbo
    if tcp.limbo < 0:
        tcp.limbo_last = record
    tcp.limbo = record
    tcp.limbo_records += 1


@cython.cfunc
@cython.exceptval(-1)
def buffered_bytes(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    total: cython.longlong = 0
    record: cython.longlong = tcp.side[s, S_HEAD]
    while record >= 0:
        total += tcp.held[record, H_LENGTH]
        record = tcp.held[record, H_NEXT]
    return total
