"""Damaged segments: those whose TCP checksum is wrong, of a direction whose checksums are right otherwise.

A receiver drops a damaged segment, and its sender sends it again. So its bytes are set aside: they wait as records of their
own kind, in their place in the stream, and
- a copy of any of them that is not damaged itself replaces them (page by page), whenever it comes;
- the peer's ACK of any of them sets them free: the receiver took them, so the checksum says nothing (a network card put several
  segments together, or whoever captured them did the damage);
- when nothing more can come, or too much waits, they are dropped, and what no copy filled is a hole as any other.
What else a damaged segment says (its ACK number, SYN, FIN, RST) is not believed. It is counted (PART_DAMAGED) and a problem
when a copy replaced it, when it is dropped, and when it brought no bytes that could be set aside.

Whether checksums can be believed is learned for each direction from its newest segment that had one (`STATE_RIGHT`,
`STATE_WRONG`; `dissectors.packet.tcp_checksum` says which have none): behind a right one a wrong one is damage, behind a wrong
one (a capture whose addresses were changed) or at the beginning it is not. A segment set aside changes nothing, one that the
peer acknowledged counts as wrong. With so short a memory a task that begins in mid-flight soon knows what a whole run knows;
until then a wrong checksum spoils a span (`checkpoint`).
Nothing is set aside while the peer's ACK numbers are not captured, or where the stream has not begun.
"""

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.out_of_order import drop_first_record, is_behind_newest, new_record
from dissectors.tcp.output_rows import problem_of_packet
from dissectors.tcp.sides import end_of_seen, unwrap_of_side
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def learn_checksum(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Notes whether a segment of side `s` had a right checksum or a wrong one; true, and nothing noted, when it has a wrong
    one and the one before a right one."""
    checksum: cython.longlong = tcp.segments[SEGMENT_CHECKSUM, row]
    state: cython.longlong = tcp.side[s, SIDE_STATE]
    if checksum == CHECKSUM_RIGHT:
        if state & STATE_RIGHT == 0:
            tcp.side[s, SIDE_STATE] = state & ~STATE_WRONG | STATE_RIGHT
    elif checksum == CHECKSUM_WRONG:
        if state & STATE_RIGHT:
            return True
        if state & STATE_WRONG == 0:
            tcp.side[s, SIDE_STATE] = state | STATE_WRONG
            tcp.conn[s >> 1, CONN_SPOILED] = 1
    return False


@cython.cfunc
@cython.exceptval(-1)
def is_damaged(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Whether a segment of side `s` is damaged, and has to be set aside."""
    return (
        learn_checksum(tcp, s, row)
        and tcp.side[s, SIDE_STATE] & STATE_STARTED != 0
        and tcp.side[s ^ 1, SIDE_LAST_ACK] != UNKNOWN
    )


@cython.cfunc
def set_aside(tcp: TcpState, s: cython.longlong, row: cython.longlong):
    """Takes the loaded segment of this row, which is damaged, of side `s`: counts it, and sets aside what is new of its payload."""
    slot: cython.longlong = s >> 1
    first: cython.longlong = unwrap_of_side(tcp, s, tcp.seq)
    last: cython.longlong = first + tcp.length
    at: cython.longlong = max(first, tcp.side[s, SIDE_NEXT])
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    before: cython.longlong = -1
    kind: cython.longlong = RECORD_DAMAGED_FIRST
    stop: cython.longlong
    # Its timestamp may be what is damaged. Without this its bytes would have the lag of whatever packet came before it.
    tcp.lag = 0
    tcp.marks = 0
    tcp.conn[slot, CONN_SPOILED] = 1
    tcp.conn[slot, CONN_LAST_TIME] = tcp.time
    tcp.conn[slot, CONN_LAST_NUMBER] = tcp.number
    tcp.side[s, SIDE_PACKETS] += 1
    tcp.side[s, SIDE_BYTES] += tcp.length
    tcp.side[s, SIDE_WIRE] += tcp.segments[SEGMENT_HEADERS, row] + tcp.length
    if tcp.side[s, SIDE_STATE] & STATE_ENDED:
        last = at
    elif tcp.side[s, SIDE_STATE] & STATE_FIN:
        last = min(last, tcp.side[s, SIDE_FIN_AT])
    if at >= end_of_seen(tcp, s):
        before = tcp.side[s, SIDE_LAST_RECORD]
        record = -1
        if at > end_of_seen(tcp, s) + LARGEST_ASIDE:
            last = at
    elif is_behind_newest(tcp, s, at):
        before = tcp.side[s, SIDE_NEAR_RECORD]
        record = tcp.records[before, RECORD_NEXT]
    while at < last:
        while record >= 0 and tcp.records[record, RECORD_SEQ] <= at:
            at = max(at, tcp.records[record, RECORD_SEQ] + tcp.records[record, RECORD_LENGTH])
            before = record
            record = tcp.records[record, RECORD_NEXT]
        stop = last if record < 0 else min(last, tcp.records[record, RECORD_SEQ])
        while at < stop:
            before = new_record(tcp, s, before, first, at, stop)
            tcp.records[before, RECORD_KIND] = kind
            kind = RECORD_DAMAGED
            at += tcp.records[before, RECORD_LENGTH]
    if kind == RECORD_DAMAGED_FIRST:
        count_damaged(tcp, s, first, tcp.time, tcp.number)


@cython.cfunc
def replace_damaged(tcp: TcpState, s: cython.longlong, first: cython.longlong, last: cython.longlong):
    """Drops what was set aside of side `s` and overlaps [first, last), as a better copy has come."""
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    before: cython.longlong = -1
    following: cython.longlong
    if record < 0 or first >= end_of_seen(tcp, s):
        return
    if is_behind_newest(tcp, s, first):
        before = tcp.side[s, SIDE_NEAR_RECORD]
        record = tcp.records[before, RECORD_NEXT]
    while record >= 0 and tcp.records[record, RECORD_SEQ] < last:
        following = tcp.records[record, RECORD_NEXT]
        if (
            tcp.records[record, RECORD_KIND] >= RECORD_DAMAGED
            and tcp.records[record, RECORD_SEQ] + tcp.records[record, RECORD_LENGTH] > first
        ):
            count_record(tcp, s, record)
            unlink_record(tcp, s, before, record)
        else:
            before = record
        record = following


@cython.cfunc
@cython.exceptval(-1)
def brings_better_copy(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the loaded segment, which is not damaged, has bytes of side `s` that were set aside."""
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    first: cython.longlong
    if record < 0 or tcp.length == 0:
        return False
    first = unwrap_of_side(tcp, s, tcp.seq)
    if first >= end_of_seen(tcp, s):
        return False
    if is_behind_newest(tcp, s, first):
        record = tcp.records[tcp.side[s, SIDE_NEAR_RECORD], RECORD_NEXT]
    while record >= 0 and tcp.records[record, RECORD_SEQ] < first + tcp.length:
        if (
            tcp.records[record, RECORD_KIND] >= RECORD_DAMAGED
            and tcp.records[record, RECORD_SEQ] + tcp.records[record, RECORD_LENGTH] > first
        ):
            return True
        record = tcp.records[record, RECORD_NEXT]
    return False


@cython.cfunc
def drop_held(tcp: TcpState, s: cython.longlong):
    """Drops the first record of side `s`, which is held."""
    count_record(tcp, s, tcp.side[s, SIDE_FIRST_RECORD])
    drop_first_record(tcp, s)


@cython.cfunc
def unlink_record(tcp: TcpState, s: cython.longlong, before: cython.longlong, record: cython.longlong):
    """Takes a record that no chunk refers to out of the list of side `s`, where it is behind `before`."""
    following: cython.longlong = tcp.records[record, RECORD_NEXT]
    if before < 0:
        tcp.side[s, SIDE_FIRST_RECORD] = following
    else:
        tcp.records[before, RECORD_NEXT] = following
    if following < 0:
        tcp.side[s, SIDE_LAST_RECORD] = before
    if tcp.side[s, SIDE_NEAR_RECORD] == record:
        tcp.side[s, SIDE_NEAR_RECORD] = before
    tcp.records[record, RECORD_NEXT] = tcp.free_record
    tcp.free_record = record
    tcp.side[s, SIDE_PAGES] -= 1
    tcp.buffered_pages -= 1


@cython.cfunc
def count_record(tcp: TcpState, s: cython.longlong, record: cython.longlong):
    """Counts the damaged segment whose first record is this one."""
    if tcp.records[record, RECORD_KIND] == RECORD_DAMAGED_FIRST:
        count_damaged(
            tcp,
            s,
            tcp.records[record, RECORD_SEQ],
            tcp.records[record, RECORD_TIME],
            tcp.records[record, RECORD_NUMBER],
        )


@cython.cfunc
def count_damaged(
    tcp: TcpState, s: cython.longlong, seq: cython.longlong, time: cython.longlong, number: cython.longlong
):
    tcp.side[s, SIDE_DAMAGED] += 1
    problem_of_packet(tcp, PROBLEM_DAMAGED_SEGMENT, s, seq, 0, time, number)
