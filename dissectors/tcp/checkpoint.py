"""Checkpoints of a connection, for a task: a run over pieces of a capture.

A connection can be checkpointed while nothing of it is buffered or awaited, both sides go on, it was seen at one capture point,
and what is under way follows from the numbers of the checkpoint. What lies between two checkpoints, a span, does not depend on
what lies before it but for these numbers. So the run that joins the tasks need not see the span's segments: it checks that its
connection matches the checkpoint before the span, and resumes at the one behind it.

A span is spoiled when something came that makes this untrue: a segment earlier than the span, one with SYN, FIN or RST, one
of another view, a possible duplicate of a segment before the task, or one whose wrong checksum may be damage (`damaged`).
"""

import cython

from dissectors.layout import *
from dissectors.tcp.connections import is_only_view
from dissectors.tcp.extremes import set_extremes_apart
from dissectors.tcp.lags import added, difference
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def note_segment(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Notes a segment of side `s` in a task, and its part; true when `feed` shall stop, as `stop_after` asked."""
    slot: cython.longlong = s >> 1
    time: cython.longlong = tcp.segments[SEGMENT_TIME, row]
    tcp.segments[SEGMENT_PART, row] = tcp.conn[slot, CONN_PART] - tcp.first_part
    tcp.conn[slot, CONN_SPAN_BYTES] += tcp.segments[SEGMENT_LENGTH, row] + HEADER_BYTES
    if time < tcp.conn[slot, CONN_SPAN_SINCE] or time == UNKNOWN:
        tcp.conn[slot, CONN_SPOILED] = 1
    if tcp.conn[slot, CONN_TOUCHED] == 0:
        tcp.conn[slot, CONN_TOUCHED] = 1
        tcp.touched.append(slot)
    if tcp.conn[slot, CONN_STOP_SIDE] == 0:
        return False
    s = 2 * slot + tcp.conn[slot, CONN_STOP_SIDE] - 1
    if tcp.side[s, SIDE_NEXT] < tcp.conn[slot, CONN_STOP_AT]:
        return False
    tcp.conn[slot, CONN_STOP_SIDE] = 0
    return True


@cython.cfunc
def take_touched(tcp: TcpState, fresh: cython.longlong):
    """Connections with segments since the last call: see `Reassembly.take_touched`."""
    slot: cython.longlong
    found = []
    later = []
    for slot in tcp.touched:
        if tcp.conn[slot, CONN_MODE] & MODE_LIVE == 0:
            tcp.conn[slot, CONN_TOUCHED] = 0
        elif (
            tcp.conn[slot, CONN_SPAN_BYTES] < (fresh if tcp.conn[slot, CONN_SPAN_SINCE] else fresh // 8)
            and tcp.conn[slot, CONN_SPOILED] == 0
        ):
            later.append(slot)
        else:
            tcp.conn[slot, CONN_TOUCHED] = 0
            spoiled = tcp.conn[slot, CONN_SPOILED] != 0
            tcp.conn[slot, CONN_SPOILED] = 0
            found.append((slot, tcp.conn[slot, CONN_PART], spoiled, can_checkpoint(tcp, slot)))
    tcp.touched = later
    return found


@cython.cfunc
@cython.exceptval(-1)
def can_checkpoint(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Whether a checkpoint of the connection can be taken now."""
    s: cython.longlong
    if (
        tcp.conn[slot, CONN_MODE] != MODE_LIVE | MODE_OPENED
        or tcp.conn[slot, CONN_PENDING]
        or tcp.conn[slot, CONN_CLOSE]
        or tcp.conn[slot, CONN_RST]
        or tcp.conn[slot, CONN_AWAITS_ACK]
        or tcp.conn[slot, CONN_VIEW]
        or tcp.conn[slot, CONN_NETWORK]
        or tcp.draining == slot
    ):
        return False
    for s in range(2 * slot, 2 * slot + 2):
        if (
            tcp.side[s, SIDE_STATE] & (STATE_STARTED | STATE_ENDED | STATE_FIN) != STATE_STARTED
            or tcp.side[s, SIDE_FIRST_RECORD] >= 0
            or tcp.side[s, SIDE_LAST_ACK] == UNKNOWN
            or tcp.side[s, SIDE_TTL] == UNKNOWN
            or tcp.side[s, SIDE_WAIVED] > tcp.side[s, SIDE_NEXT]
            or tcp.side[s, SIDE_ACKED] > tcp.side[s, SIDE_NEXT]
            or tcp.side[s, SIDE_HOLE_ACK] > tcp.side[s, SIDE_NEXT]
            or tcp.side[s, SIDE_LOST_TO] > tcp.side[s, SIDE_NEXT]
            or not knows_what_is_under_way(tcp, s)
        ):
            return False
    return is_only_view(tcp, slot)


@cython.cfunc
@cython.exceptval(-1)
def knows_what_is_under_way(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the bytes of side `s` that are not acknowledged lie between two numbers that checkpoints are compared by.

    A task that met the side in mid-flight takes its first bytes for new ones with nothing before them under way. Where that is
    wrong a later ACK tells what another run knows.
    """
    return (
        tcp.side[s, SIDE_TOP] != 0
        and (tcp.side[s, SIDE_TOP] - tcp.side[s, SIDE_NEXT]) & LOW_32 == 0
        and (tcp.side[s, SIDE_ACKED_TO] - tcp.side[s ^ 1, SIDE_LAST_ACK]) & LOW_32 == 0
    )


@cython.cfunc
def take_checkpoint(tcp: TcpState, slot: cython.longlong):
    """TCP_CHECKPOINT_ columns, in their order."""
    column: cython.longlong
    s: cython.longlong
    found = [tcp.conn[slot, CONN_LAST_TIME], tcp.conn[slot, CONN_LAST_NUMBER]]
    for s in range(2 * slot, 2 * slot + 2):
        for column in (SIDE_NEXT, SIDE_LAST_ACK, SIDE_TTL, SIDE_SCOPE):
            found.append(tcp.side[s, column])
        found.append(tcp.side[s, SIDE_STATE] & (STATE_RIGHT | STATE_WRONG))
        found.append(tcp.side[s, SIDE_PROBLEMS])
        for column in range(SIDE_WAY, SIDE_WAY + SIDE_WAY_COLUMNS):
            found.append(tcp.side[s, column])
        for column in range(SIDE_COUNTS, SIDE_COUNTS + PART_COUNTS):
            found.append(tcp.side[s, column])
    return found


@cython.cfunc
def endpoints(tcp: TcpState, slot: cython.longlong):
    """SEGMENT_ column -> value of a segment that side 0 would send."""
    return {
        SEGMENT_TAP: tcp.conn[slot, CONN_TAP],
        SEGMENT_SRC_HIGH: tcp.conn[slot, CONN_A_HIGH],
        SEGMENT_SRC_LOW: tcp.conn[slot, CONN_A_LOW],
        SEGMENT_SRC_PORT: tcp.conn[slot, CONN_A_PORT],
        SEGMENT_DST_HIGH: tcp.conn[slot, CONN_B_HIGH],
        SEGMENT_DST_LOW: tcp.conn[slot, CONN_B_LOW],
        SEGMENT_DST_PORT: tcp.conn[slot, CONN_B_PORT],
    }


@cython.cfunc
def begin_span(tcp: TcpState, slot: cython.longlong, since: cython.longlong):
    """A span begins behind the checkpoint just taken, or goes on; 0: none begins."""
    if since != tcp.conn[slot, CONN_SPAN_SINCE]:
        set_extremes_apart(tcp, slot)
    tcp.conn[slot, CONN_SPAN_BYTES] = 0
    tcp.conn[slot, CONN_SPAN_SINCE] = since
    tcp.conn[slot, CONN_STOP_SIDE] = 0


@cython.cfunc
def stop_after(tcp: TcpState, slot: cython.longlong, side: cython.longlong, ahead: cython.longlong):
    """`feed` shall stop when this side has sent `ahead` bytes more."""
    tcp.conn[slot, CONN_STOP_SIDE] = 1 + side
    tcp.conn[slot, CONN_STOP_AT] = tcp.side[2 * slot + side, SIDE_NEXT] + ahead


@cython.cfunc
def matches_checkpoint(tcp: TcpState, slot: cython.longlong, checkpoint, flip: cython.longlong):
    """Whether the connection is at this checkpoint of another run, whose side 0 is side `flip` here."""
    d: cython.longlong
    mine: cython.longlong
    theirs: cython.longlong
    checksums: cython.longlong
    if not can_checkpoint(tcp, slot) or tcp.conn[slot, CONN_LAST_NUMBER] != checkpoint[TCP_CHECKPOINT_NUMBER]:
        return False
    for d in range(2):
        mine = 2 * slot + (d ^ flip)
        theirs = TCP_CHECKPOINT_SIDES + TCP_CHECKPOINT_SIDE_COLUMNS * d
        if (
            (tcp.side[mine, SIDE_NEXT] - checkpoint[theirs + TCP_CHECKPOINT_NEXT]) & LOW_32
            or tcp.side[mine, SIDE_LAST_ACK] != checkpoint[theirs + TCP_CHECKPOINT_ACK]
            or tcp.side[mine, SIDE_TTL] != checkpoint[theirs + TCP_CHECKPOINT_TTL]
            or tcp.side[mine, SIDE_SCOPE] != checkpoint[theirs + TCP_CHECKPOINT_SCOPE]
        ):
            return False
        # Of a run that has seen no checksum a wrong one has spoiled the span.
        checksums = checkpoint[theirs + TCP_CHECKPOINT_CHECKSUM]
        if checksums and checksums != tcp.side[mine, SIDE_STATE] & (STATE_RIGHT | STATE_WRONG):
            return False
    return True


@cython.cfunc
def resume_behind(tcp: TcpState, slot: cython.longlong, before, after, flip: cython.longlong):
    """Takes the connection from the checkpoint `before`, which it matches, to `after`."""
    d: cython.longlong
    column: cython.longlong
    mine: cython.longlong
    theirs: cython.longlong
    tcp.conn[slot, CONN_LAST_TIME] = after[TCP_CHECKPOINT_TIME]
    tcp.conn[slot, CONN_LAST_NUMBER] = after[TCP_CHECKPOINT_NUMBER]
    for d in range(2):
        mine = 2 * slot + (d ^ flip)
        theirs = TCP_CHECKPOINT_SIDES + TCP_CHECKPOINT_SIDE_COLUMNS * d
        tcp.side[mine, SIDE_NEXT] += after[theirs + TCP_CHECKPOINT_NEXT] - before[theirs + TCP_CHECKPOINT_NEXT]
        tcp.side[mine, SIDE_LAST_ACK] = after[theirs + TCP_CHECKPOINT_ACK]
        resume_way(tcp, mine, after, theirs)
        if after[theirs + TCP_CHECKPOINT_CHECKSUM]:
            tcp.side[mine, SIDE_STATE] &= ~(STATE_RIGHT | STATE_WRONG)
            tcp.side[mine, SIDE_STATE] |= after[theirs + TCP_CHECKPOINT_CHECKSUM]
        for column in range(PART_COUNTS):
            older = before[theirs + TCP_CHECKPOINT_COUNTS + column]
            newer = after[theirs + TCP_CHECKPOINT_COUNTS + column]
            more = UNKNOWN if UNKNOWN in (older, newer) else newer - older
            tcp.side[mine, SIDE_COUNTS + column] = added(tcp.side[mine, SIDE_COUNTS + column], more)


@cython.cfunc
def resume_way(tcp: TcpState, s: cython.longlong, after, theirs: cython.longlong):
    """Side `s` knows of its way what the other run knew at its checkpoint: of the least and the greatest values what is less or
    greater, of the SYN what was known here, the newest of all else."""
    column: cython.longlong
    value: cython.longlong
    mine: cython.longlong
    for column in range(SIDE_WAY, SIDE_WAY + SIDE_WAY_COLUMNS):
        value = after[theirs + TCP_CHECKPOINT_WAY + column - SIDE_WAY]
        mine = tcp.side[s, column]
        if value and column in (SIDE_TOP, SIDE_ACKED_TO, SIDE_SAMPLE_TO):
            value += tcp.side[s, SIDE_NEXT] - after[theirs + TCP_CHECKPOINT_NEXT]
        elif mine and column in (SIDE_MSS, SIDE_WSCALE):
            value = mine
        elif mine and value and column == SIDE_LAG_LEAST:
            value = mine if difference(mine, value) < 0 else value
        elif mine and value and column == SIDE_LAG_BOUND:
            value = mine if difference(mine, value) > 0 else value
        elif column == SIDE_MOST_UNACKED:
            value = max(mine, value)
        elif mine and (column == SIDE_WAY_LEAST or (value == 0 and column in (SIDE_LAG_LEAST, SIDE_LAG_BOUND))):
            value = min(mine, value) if value else mine
        tcp.side[s, column] = value
