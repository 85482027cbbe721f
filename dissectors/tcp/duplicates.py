"""Duplicates: the same packet captured twice, as by `-i any`, on two interfaces or in two files.

At the same capture point TTL and scope of both are equal, at another one they differ. A sender counts its packets in the IP
id, so a retransmission has another id. IPv6 has no id, and some senders write 0: there checksum and window have to be equal,
which TCP timestamps prevent in a retransmission, unless a network card writes the checksum. So without an id a duplicate must
be of another interface too, or come so soon that nobody can have asked for a retransmission; a reset without an id is always
another reset. In another scope (a tunnel beside
the plain packet, a second VLAN) it may come up to a second later.

A duplicate is looked for only when a segment brings nothing new, among the last segments of all connections. These are in a
ring (`recent`); `recent_index` chains those of equal hash, the newest first.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import acks_more, end_of_seen
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *

# The columns of a segment by which it is known again.
REMEMBERED = (
    SEGMENT_TIME, SEGMENT_SRC_LOW, SEGMENT_DST_LOW, SEGMENT_SRC_PORT, SEGMENT_DST_PORT, SEGMENT_SEQ, SEGMENT_ACK,
    SEGMENT_FLAGS, SEGMENT_WINDOW, SEGMENT_LENGTH, SEGMENT_TTL, SEGMENT_IP_ID, SEGMENT_TAP, SEGMENT_SCOPE,
    SEGMENT_INTERFACE,
)  # fmt: skip


@cython.cfunc
def forget_recent(tcp: TcpState):
    """An empty ring. Its rows have no power-of-two length, like those of a batch: columns would share cache lines."""
    tcp.recent = new_matrix(SEGMENT_COLUMNS, RECENT_SEGMENTS + 8)
    tcp.recent_count = 0
    tcp.recent_index = new_matrix(2, RECENT_SEGMENTS + 8)
    tcp.indexed = 0
    tcp.first_row = 0


@cython.cfunc
def remember_segments(tcp: TcpState, segments: cython.longlong[:, ::1], start: cython.longlong, stop: cython.longlong):
    """Puts segments into the ring that `resume` passes over, rows [start, stop): a duplicate of one of them may follow."""
    tcp.segments = segments
    tcp.first_row = start
    remember_rows(tcp, stop)
    tcp.segments = None


@cython.cfunc
@cython.boundscheck(False)
def remember_rows(tcp: TcpState, stop: cython.longlong):
    """Puts the rows of this call that are not there yet, up to `stop`, into the ring of recent segments."""
    begin: cython.longlong = max(tcp.first_row, stop - RECENT_SEGMENTS)
    place: cython.longlong
    size: cython.longlong
    column: cython.longlong
    i: cython.longlong
    while begin < stop:
        place = tcp.recent_count % RECENT_SEGMENTS
        size = min(stop - begin, RECENT_SEGMENTS - place)
        for column in REMEMBERED:
            if cython.compiled and size > 32:
                tcp.recent[column, place : place + size] = tcp.segments[column, begin : begin + size]
            else:  # a slice costs as much as some elements, and plain memoryviews of two dimensions have none
                for i in range(size):
                    tcp.recent[column, place + i] = tcp.segments[column, begin + i]
        tcp.recent_count += size
        begin += size
    tcp.first_row = stop


@cython.cfunc
@cython.boundscheck(False)
def index_recent(tcp: TcpState):
    """Brings the index of the ring up to date: a list for each hash, the newest segment first."""
    place: cython.longlong
    bucket: cython.longlong
    tcp.indexed = max(tcp.indexed, tcp.recent_count - RECENT_SEGMENTS)
    while tcp.indexed < tcp.recent_count:
        place = tcp.indexed % RECENT_SEGMENTS
        bucket = bucket_of(tcp.recent, place)
        tcp.recent_index[1, place] = tcp.recent_index[0, bucket]
        tcp.indexed += 1
        tcp.recent_index[0, bucket] = tcp.indexed


@cython.cfunc
@cython.exceptval(-1)
def bucket_of(segments: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    """The bucket of `recent_index` that has the segments like this one."""
    x: cython.longlong = segments[SEGMENT_SEQ, row] + 40503 * (segments[SEGMENT_IP_ID, row] & 0xFFFF)
    x += 31 * segments[SEGMENT_ACK, row]
    return (x ^ (x >> 12)) & 4095


@cython.cfunc
@cython.exceptval(-1)
def may_be_duplicate(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the loaded segment brings nothing new of side `s`: any other cannot be a duplicate."""
    if tcp.flags & (TCP_SYN | TCP_FIN | TCP_RST):
        return True
    if tcp.length > 0:
        return tcp.side[s, SIDE_NEXT] != 0 and unwrap(tcp.side[s, SIDE_NEXT], tcp.seq) + tcp.length <= end_of_seen(
            tcp, s
        )
    return tcp.ack == UNKNOWN or not acks_more(tcp, s, tcp.ack)


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_duplicate(tcp: TcpState, row: cython.longlong, place: cython.longlong) -> cython.bint:
    """Whether a recent segment is the same packet as this one, captured again at `place`, a COPY_ constant."""
    i: cython.longlong
    remember_rows(tcp, row)
    index_recent(tcp)
    i = tcp.recent_index[0, bucket_of(tcp.segments, row)]
    while i > 0 and i > tcp.recent_count - RECENT_SEGMENTS:
        if is_same_packet(tcp, (i - 1) % RECENT_SEGMENTS, row, place):
            return True
        i = tcp.recent_index[1, (i - 1) % RECENT_SEGMENTS]
    return False


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def is_same_packet(tcp: TcpState, i: cython.longlong, row: cython.longlong, place: cython.longlong) -> cython.bint:
    """Whether row `i` of the ring is the same packet as the segment, by the rules above."""
    number: cython.longlong = tcp.segments[SEGMENT_IP_ID, row]
    span: cython.longlong = 0
    if tcp.recent[SEGMENT_SEQ, i] != tcp.segments[SEGMENT_SEQ, row]:
        return False
    if (
        tcp.recent[SEGMENT_IP_ID, i] != number
        or tcp.recent[SEGMENT_LENGTH, i] != tcp.segments[SEGMENT_LENGTH, row]
        or tcp.recent[SEGMENT_ACK, i] != tcp.segments[SEGMENT_ACK, row]
        or tcp.recent[SEGMENT_FLAGS, i] != tcp.segments[SEGMENT_FLAGS, row]
        or tcp.recent[SEGMENT_WINDOW, i] != tcp.segments[SEGMENT_WINDOW, row]
        or tcp.recent[SEGMENT_SRC_PORT, i] != tcp.segments[SEGMENT_SRC_PORT, row]
        or tcp.recent[SEGMENT_DST_PORT, i] != tcp.segments[SEGMENT_DST_PORT, row]
        or tcp.recent[SEGMENT_SRC_LOW, i] != tcp.segments[SEGMENT_SRC_LOW, row]
        or tcp.recent[SEGMENT_DST_LOW, i] != tcp.segments[SEGMENT_DST_LOW, row]
        or tcp.recent[SEGMENT_TAP, i] != tcp.segments[SEGMENT_TAP, row]
    ):
        return False
    if place == COPY_OF_OTHER_SCOPE:
        if tcp.recent[SEGMENT_SCOPE, i] == tcp.segments[SEGMENT_SCOPE, row]:
            return False
    elif tcp.recent[SEGMENT_SCOPE, i] != tcp.segments[SEGMENT_SCOPE, row] or (
        tcp.recent[SEGMENT_TTL, i] == tcp.segments[SEGMENT_TTL, row]
    ) != (place == COPY_OF_SAME_POINT):
        return False
    if tcp.recent[SEGMENT_TIME, i] != UNKNOWN and tcp.segments[SEGMENT_TIME, row] != UNKNOWN:
        span = tcp.segments[SEGMENT_TIME, row] - tcp.recent[SEGMENT_TIME, i]
        span = max(span, -span)
    if place == COPY_OF_OTHER_SCOPE:
        return span <= OTHER_SCOPE_NS
    if number > 0 or tcp.recent[SEGMENT_INTERFACE, i] != tcp.segments[SEGMENT_INTERFACE, row]:
        return span <= DUPLICATE_NS
    # A closed socket answers each segment that still comes with the same reset.
    return span < DUPLICATE_SOON_NS and not tcp.segments[SEGMENT_FLAGS, row] & TCP_RST


@cython.cfunc
def count_duplicate(tcp: TcpState, s: cython.longlong):
    """Counts a duplicate by the input that brought it; in a task the caller counts, by part."""
    number = tcp.number >> SPLIT_SHIFT
    tcp.side[s, SIDE_DUPLICATES] += 1
    if tcp.in_task:
        tcp.new_duplicates.append((tcp.conn[s >> 1, CONN_PART], number))
        return
    tcp.duplicates[number] = tcp.duplicates.get(number, 0) + 1
