"""What packets show of their way: when they left their host, when they arrived, and what is under way.

The clock of a packet's sender is in the packet, as its TCP timestamp (RFC 7323; a tick is a millisecond). The *lag* is the time
from there to the capture. The clocks are not the same, so a lag says nothing by itself; but the least lag of a direction is that
of a packet that waited nowhere, and what another packet has more than that it spent in queues before the capture. The least
lag of a connection is known at its end only: lags go on as they are, and `query/resolve` takes one from the other. Packets that
have a tick more than the least lag so far leave as rows (QUEUED_): those of all connections of a link together tell its rate.

A packet may also have waited in its host, behind bytes that were not acknowledged: then it was written earlier than it left.
What shows this is judged here, as it lies in the packets before: see `held_after`.

An ACK without data that the receiver does not delay (it covers two full segments, or a hole was there) tells when bytes
arrived. For each direction the first one behind its newest chunk is kept, until its next chunk. Where there is none, it is kept
when all but a segment of what the chunk acknowledges had been acknowledged: that segment arrived soon after.

All times are those of the capture. What is kept of a direction is one row of state, whatever comes.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.lags import added, difference, full_segment, lag_of, used_scale, way_step
from dissectors.tcp.output_rows import queued_row
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import is_reset
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_way(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """Notes a segment of side `s`, which is no duplicate and not damaged, before its bytes are taken."""
    time: cython.longlong = tcp.segments[SEGMENT_TIME, row]
    flags: cython.longlong = tcp.segments[SEGMENT_FLAGS, row]
    length: cython.longlong = tcp.segments[SEGMENT_LENGTH, row]
    tcp.lag = 0
    tcp.held = UNKNOWN
    tcp.marks = 0
    if time < LAG_RANGE:
        return 0  # no time, or one that cannot be
    if tcp.segments[SEGMENT_TSVAL, row] != UNKNOWN:
        tcp.lag = lag_of(time, tcp.segments[SEGMENT_TSVAL, row])
        if tcp.side[s, SIDE_LAG_LEAST] == 0 or difference(tcp.lag, tcp.side[s, SIDE_LAG_LEAST]) < 0:
            tcp.side[s, SIDE_LAG_LEAST] = tcp.lag
        elif difference(tcp.lag, tcp.side[s, SIDE_LAG_LEAST]) > QUEUED_LEAST_NS:
            tcp.side[s, SIDE_QUEUED] += 1
            note_pace(tcp, s, row)
            queued_row(tcp, s, row)
    note_ip_id(tcp, s, row)
    if flags & TCP_SYN:
        note_offers(tcp, s, row)
    if flags & TCP_RST:
        return 0
    if flags & TCP_ACK and tcp.side[s ^ 1, SIDE_TOP]:
        note_ack(tcp, s, row)
    if tcp.segments[SEGMENT_WINDOW, row] != UNKNOWN and flags & TCP_SYN == 0:
        tcp.side[s, SIDE_WINDOW] = 0
        if tcp.side[s, SIDE_WSCALE] and tcp.side[s ^ 1, SIDE_WSCALE]:
            tcp.side[s, SIDE_WINDOW] = 1 + (tcp.segments[SEGMENT_WINDOW, row] << used_scale(tcp, s))
    if length > 0 or flags & TCP_SYN:
        note_data(tcp, s, row)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_pace(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """A packet waited in a queue: where it was in there when the one before it came by, the time between them is what the link
    takes for its bytes."""
    time: cython.longlong = tcp.segments[SEGMENT_TIME, row]
    after: cython.longlong = time - tcp.side[s, SIDE_DATA_TIME]
    if tcp.segments[SEGMENT_LENGTH, row] and 0 <= after < difference(tcp.lag, tcp.side[s, SIDE_LAG_LEAST]):
        tcp.side[s, SIDE_PACED] += tcp.segments[SEGMENT_LENGTH, row]
        tcp.side[s, SIDE_PACED_NS] = added(tcp.side[s, SIDE_PACED_NS], after)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_offers(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """MSS and window scale of a SYN."""
    options: cython.longlong = tcp.segments[SEGMENT_OPTIONS, row]
    tcp.side[s, SIDE_MSS] = options >> 16
    tcp.side[s, SIDE_WSCALE] = 1 + (options >> 8 & 0xFF)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_ip_id(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """Linux numbers the packets of a connection one after the other, those that the network card cuts too. Ids that are missing
    are packets that were lost before the capture."""
    number: cython.longlong = tcp.segments[SEGMENT_IP_ID, row]
    length: cython.longlong = tcp.segments[SEGMENT_LENGTH, row]
    full: cython.longlong
    step: cython.longlong
    if number <= 0:
        return 0
    if tcp.side[s, SIDE_IP_ID]:
        step = (number + 1 - tcp.side[s, SIDE_IP_ID]) & 0xFFFF
        if step > 0x7FFF:
            return 0  # an earlier packet
        if step > tcp.side[s, SIDE_IP_SPAN]:
            tcp.side[s, SIDE_IP_JUMPS] += 1
            tcp.marks |= MARK_JUMP
        else:
            tcp.side[s, SIDE_IP_STEPS] += 1
    tcp.side[s, SIDE_IP_ID] = 1 + number
    tcp.side[s, SIDE_IP_SPAN] = 1
    full = full_segment(tcp, s)
    if length > full:
        tcp.side[s, SIDE_IP_SPAN] = (length + full - 1) // full
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_ack(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """What a segment of side `s` says about the arrival of the peer's bytes."""
    peer: cython.longlong = s ^ 1
    time: cython.longlong = tcp.segments[SEGMENT_TIME, row]
    top: cython.longlong = tcp.side[peer, SIDE_TOP]
    before: cython.longlong = tcp.side[peer, SIDE_ACKED_TO]
    to: cython.longlong = unwrap(top, tcp.segments[SEGMENT_ACK, row])
    bound: cython.longlong
    way: cython.longlong
    is_near: cython.bint
    if to > top + LARGEST_JUMP:
        return 0
    if tcp.segments[SEGMENT_OPTIONS, row] & OPTION_SACK and to < top:
        tcp.side[s, SIDE_SACKS] = SACKS_REMEMBERED
    if to >= top:
        if tcp.segments[SEGMENT_OPTIONS, row] & OPTION_SACK:
            tcp.side[peer, SIDE_NEEDLESS] += 1  # a block beside an ACK for all: bytes that came twice (RFC 2883)
        # It left after the newest bytes of the peer had come by here.
        tcp.side[s, SIDE_COVERS] = tcp.side[peer, SIDE_TOP_NUMBER]
        if tcp.lag:
            bound = lag_of(tcp.side[peer, SIDE_TOP_TIME], tcp.segments[SEGMENT_TSVAL, row])
            if tcp.side[s, SIDE_LAG_BOUND] == 0 or difference(bound, tcp.side[s, SIDE_LAG_BOUND]) > 0:
                tcp.side[s, SIDE_LAG_BOUND] = bound
    if tcp.segments[SEGMENT_LENGTH, row] and tcp.side[s, SIDE_ACK_NUMBER] == 0:
        is_near = to - before <= NEAR_BYTES and tcp.side[peer, SIDE_REPEATED] == 0
        tcp.side[s, SIDE_ACK_TIME] = tcp.side[peer, SIDE_ACKED_TIME]
        tcp.side[s, SIDE_ACK_LAG] = 0
        tcp.side[s, SIDE_ACK_MARKS] = MARK_NEAR if is_near else 0
    if to <= before:
        return 0
    note_full_window(tcp, peer, s, time)
    if tcp.side[peer, SIDE_SAMPLE_TO] and to >= tcp.side[peer, SIDE_SAMPLE_TO]:
        if is_prompt(tcp, s, row, to - before, to >= top):
            way = time - tcp.side[peer, SIDE_SAMPLE_TIME]
            if tcp.lag:
                way -= difference(tcp.lag, tcp.side[s, SIDE_LAG_LEAST])
            tcp.side[peer, SIDE_WAYS + way_step(max(way, 0))] += 1
        tcp.side[peer, SIDE_SAMPLE_TO] = 0
    if to >= top:
        note_arrival_of_all(tcp, s, row, to - before)
        to = top
    tcp.side[peer, SIDE_ACKED_TIME] = time
    if tcp.side[s, SIDE_SACKS] and tcp.segments[SEGMENT_LENGTH, row] == 0:
        tcp.side[s, SIDE_SACKS] -= 1
    tcp.side[peer, SIDE_ACKED_TO] = to
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_prompt(
    tcp: TcpState, s: cython.longlong, row: cython.longlong, new: cython.longlong, is_all: cython.bint
) -> cython.bint:
    """Whether an ACK of side `s` for `new` bytes was sent at once when they arrived.

    It has no data, and a receiver does not delay it for two full segments, nor while there are holes, nor for what fills one
    (RFC 9293, 3.8.6.3; RFC 5681, 4.2). A block beside an ACK for all (`is_all`) names bytes that came twice (RFC 2883): the
    second copy caused it, the first may be old.
    """
    full: cython.longlong = full_segment(tcp, s)
    if tcp.segments[SEGMENT_LENGTH, row] or tcp.segments[SEGMENT_FLAGS, row] & (TCP_SYN | TCP_FIN):
        return False
    if is_all and tcp.segments[SEGMENT_OPTIONS, row] & OPTION_SACK:
        return False
    if tcp.side[s, SIDE_MSS] == 0 and tcp.side[s ^ 1, SIDE_MSS] == 0:
        return tcp.side[s, SIDE_SACKS] != 0  # what is a full segment is not known
    return new >= 2 * full or tcp.side[s, SIDE_SACKS] != 0 or (tcp.side[s ^ 1, SIDE_REPEATED] != 0 and new > full)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_arrival_of_all(tcp: TcpState, s: cython.longlong, row: cython.longlong, new: cython.longlong) -> cython.int:
    """Side `s` acknowledges all that the peer sent, `new` bytes of it for the first time."""
    peer: cython.longlong = s ^ 1
    time: cython.longlong = tcp.segments[SEGMENT_TIME, row]
    way: cython.longlong = time - tcp.side[peer, SIDE_TOP_TIME]
    repeated: cython.bint = tcp.side[peer, SIDE_REPEATED] != 0
    if way >= 0 and not repeated and (tcp.side[peer, SIDE_WAY_LEAST] == 0 or way < tcp.side[peer, SIDE_WAY_LEAST]):
        tcp.side[peer, SIDE_WAY_LEAST] = max(way, 1)
    if tcp.segments[SEGMENT_LENGTH, row] or tcp.segments[SEGMENT_FLAGS, row] & (TCP_SYN | TCP_FIN):
        return 0
    if DELAYED_LEAST_NS <= way <= DELAYED_MOST_NS:
        tcp.side[s, SIDE_SLOW_ACK] = time
    if tcp.side[s, SIDE_ACK_NUMBER] == 0 or tcp.side[s, SIDE_ACK_OPEN]:
        tcp.side[s, SIDE_ACK_NUMBER] = tcp.side[peer, SIDE_TOP_NUMBER]
        tcp.side[s, SIDE_ACK_TIME] = time
        tcp.side[s, SIDE_ACK_LAG] = tcp.lag
        tcp.side[s, SIDE_ACK_MARKS] = MARK_PROMPT if is_prompt(tcp, s, row, new, True) else 0
        tcp.side[s, SIDE_ACK_OPEN] = tcp.side[peer, SIDE_DATA_FULL]
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_full_window(tcp: TcpState, s: cython.longlong, peer: cython.longlong, time: cython.longlong) -> cython.int:
    """An ACK comes: had side `s` been silent as the window of the peer was full, but for a segment (where these are large, on
    loopback, an eighth)?"""
    window: cython.longlong = tcp.side[peer, SIDE_WINDOW] - 1
    silent: cython.longlong = time - tcp.side[s, SIDE_DATA_TIME]
    if (
        window >= 0
        and silent > SILENT_NS
        and tcp.side[s, SIDE_TOP] - tcp.side[s, SIDE_ACKED_TO] + min(full_segment(tcp, s), window // 8) > window
    ):
        tcp.side[s, SIDE_FULL_WINDOW] += 1
        tcp.side[s, SIDE_FULL_WINDOW_NS] = added(tcp.side[s, SIDE_FULL_WINDOW_NS], silent)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def left_earlier(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Whether a packet was overtaken: by its IP id it left its host before the newest one. One that is sent again has a new id."""
    number: cython.longlong = tcp.segments[SEGMENT_IP_ID, row]
    if number <= 0 or tcp.side[s, SIDE_IP_ID] == 0:
        return False
    return 0 < (tcp.side[s, SIDE_IP_ID] - 1 - number) & 0xFFFF <= OVERTAKEN_MOST


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def note_data(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """Bytes of side `s`, or its SYN: how much is under way with them, and whether they were held back."""
    time: cython.longlong = tcp.segments[SEGMENT_TIME, row]
    length: cython.longlong = tcp.segments[SEGMENT_LENGTH, row]
    is_syn: cython.bint = tcp.segments[SEGMENT_FLAGS, row] & TCP_SYN != 0
    first: cython.longlong = tcp.segments[SEGMENT_SEQ, row]
    end: cython.longlong
    top: cython.longlong = tcp.side[s, SIDE_TOP]
    unacked: cython.longlong
    first = SEQUENCE_RANGE + first if top == 0 else unwrap(top, first)
    end = first + length + is_syn
    if top == 0:
        top = first
        tcp.side[s, SIDE_ACKED_TO] = first
    elif length == 1 and end == top:
        return 0  # a keep-alive
    elif end > top + LARGEST_JUMP:
        return 0  # a lie, or another connection
    tcp.side[s, SIDE_DATA_PACKETS] += length > 0
    if first < top:
        tcp.marks |= MARK_REPEAT
        if not is_reset(tcp, s) and not left_earlier(tcp, s, row):
            tcp.side[s, SIDE_LATE] += 1
        tcp.side[s, SIDE_REPEATED] = 1
        tcp.side[s, SIDE_SAMPLE_TO] = 0
    if tcp.side[s ^ 1, SIDE_REPEATED]:
        tcp.marks |= MARK_PEER_REPEATED
    tcp.held = held_after(tcp, s, time)
    if tcp.held != UNKNOWN and tcp.held < (difference(tcp.lag, tcp.side[s, SIDE_LAG_LEAST]) if tcp.lag else 0):
        tcp.marks |= MARK_HELD
    if end > top:
        if top <= tcp.side[s, SIDE_ACKED_TO] and first >= top:
            tcp.side[s, SIDE_REPEATED] = 0
        if length and length < full_segment(tcp, s) and 0 <= time - tcp.side[s ^ 1, SIDE_SLOW_ACK] < SOON_NS:
            tcp.side[s, SIDE_NAGLE] += 1
        tcp.side[s, SIDE_SLOW_ACK] = 0  # what the peer sends next may answer these bytes: nothing held it back
        if tcp.side[s, SIDE_SAMPLE_TO] == 0 and tcp.marks & MARK_REPEAT == 0:
            tcp.side[s, SIDE_SAMPLE_TO] = end
            tcp.side[s, SIDE_SAMPLE_TIME] = time
        tcp.side[s, SIDE_TOP] = end
        tcp.side[s, SIDE_TOP_TIME] = time
        tcp.side[s, SIDE_TOP_NUMBER] = tcp.segments[SEGMENT_NUMBER, row]
        tcp.side[s, SIDE_DATA_FULL] = length >= full_segment(tcp, s)
    unacked = tcp.side[s, SIDE_TOP] - tcp.side[s, SIDE_ACKED_TO]
    if unacked > tcp.side[s, SIDE_MOST_UNACKED]:
        tcp.side[s, SIDE_MOST_UNACKED] = unacked
    if unacked <= IDLE_BYTES and tcp.side[s, SIDE_REPEATED] == 0:
        tcp.marks |= MARK_IDLE
    tcp.marks |= tcp.side[s, SIDE_ACK_MARKS]
    tcp.side[s, SIDE_DATA_TIME] = time
    tcp.side[s, SIDE_DATA_LAG] = tcp.lag
    return 0


@cython.cfunc
@cython.exceptval(-4611686018427387905)
@cython.boundscheck(False)
def held_after(tcp: TcpState, s: cython.longlong, time: cython.longlong) -> cython.longlong:
    """The packet was held back by its sender if it was longer than this in queues before the capture, in ns; UNKNOWN: it was not.

    A host holds back what is written while bytes before it wait for their ACK. So it was held if such bytes were under way
    when it left and either something was repeated, or the packet before it was still in its queue, and had been for long. After a
    loss it lets a packet go for each one that is acknowledged: what leaves sooner behind an ACK than any program answers was held.
    """
    emptied: cython.longlong = -LARGEST_WAIT
    after: cython.longlong = UNKNOWN
    queued: cython.longlong
    if tcp.side[s, SIDE_DATA_TIME] == 0:
        return UNKNOWN
    if tcp.side[s, SIDE_TOP] <= tcp.side[s, SIDE_ACKED_TO]:
        emptied = time - tcp.side[s, SIDE_ACKED_TIME]
    if 0 <= time - tcp.side[s, SIDE_ACKED_TIME] <= LET_GO_NS and tcp.side[s, SIDE_LATE]:
        return -LARGEST_WAIT
    if tcp.side[s, SIDE_REPEATED]:
        after = emptied - HELD_SLACK_NS
    if tcp.lag and tcp.side[s, SIDE_DATA_LAG]:
        queued = time - tcp.side[s, SIDE_DATA_TIME] - QUEUED_NS
        queued = max(max(queued, emptied), difference(tcp.lag, tcp.side[s, SIDE_DATA_LAG]) + QUEUED_NS)
        if after == UNKNOWN or queued < after:
            after = queued
    return after if after == UNKNOWN or after > -LARGEST_WAIT else -LARGEST_WAIT


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def write_way(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.int:
    """The columns of a DATA chunk of side `s` that describe its way: those of the segment that was noted last."""
    tcp.chunks[CHUNK_LAG, row] = tcp.lag if tcp.lag else UNKNOWN
    tcp.chunks[CHUNK_HELD, row] = tcp.held
    tcp.chunks[CHUNK_MARKS, row] = tcp.marks
    tcp.chunks[CHUNK_COVERS, row] = tcp.side[s, SIDE_COVERS]
    tcp.chunks[CHUNK_ACK_NUMBER, row] = tcp.side[s, SIDE_ACK_NUMBER]
    tcp.chunks[CHUNK_ACK_TIME, row] = tcp.side[s, SIDE_ACK_TIME]
    tcp.chunks[CHUNK_ACK_LAG, row] = tcp.side[s, SIDE_ACK_LAG] if tcp.side[s, SIDE_ACK_LAG] else UNKNOWN
    forget_ack(tcp, s)
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def forget_ack(tcp: TcpState, s: cython.longlong) -> cython.int:
    """Bytes of side `s` came: the ACK before them says nothing about the next ones."""
    tcp.side[s, SIDE_ACK_NUMBER] = 0
    tcp.side[s, SIDE_ACK_MARKS] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def write_way_of_record(tcp: TcpState, record: cython.longlong, row: cython.longlong) -> cython.int:
    """The same of a chunk that waited: what its packet told by itself."""
    way: cython.longlong = tcp.records[record, RECORD_WAY]
    tcp.chunks[CHUNK_LAG, row] = way >> 8 if way >> 8 else UNKNOWN
    tcp.chunks[CHUNK_HELD, row] = UNKNOWN
    tcp.chunks[CHUNK_MARKS, row] = way & 0xFF
    tcp.chunks[CHUNK_COVERS, row] = 0
    tcp.chunks[CHUNK_ACK_NUMBER, row] = 0
    tcp.chunks[CHUNK_ACK_TIME, row] = 0
    tcp.chunks[CHUNK_ACK_LAG, row] = UNKNOWN
    return 0
