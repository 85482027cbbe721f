"""Checkpoints of a connection, for a run over a part of a capture."""

import cython

from dissectors.layout import *
from dissectors.tcp.connections import is_only_view
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def note_segment(tcp: TcpState, s: cython.longlong, row: cython.longlong) -> cython.bint:
    """Says which part a segment of side `s` belongs to; true: the connection has come to where it was aimed at."""
    slot: cython.longlong = s >> 1
    time: cython.longlong = tcp.segments[SEGMENT_TIME, row]
    if tcp.spoiling_until == UNKNOWN and time != UNKNOWN:
        tcp.spoiling_until = time + 2 * COPY_NS
    tcp.segments[SEGMENT_PART, row] = tcp.conn[slot, C_PART] - tcp.first_part
    tcp.conn[slot, C_FRESH] += tcp.segments[SEGMENT_LENGTH, row] + HEADER_BYTES
    if time < tcp.conn[slot, C_SINCE] or time == UNKNOWN:
        tcp.conn[slot, C_SPOILED] = 1
    if tcp.conn[slot, C_NOTED] == 0:
        tcp.conn[slot, C_NOTED] = 1
        tcp.touched.append(slot)
    if tcp.conn[slot, C_AIM_SIDE] == 0:
        return False
    s = 2 * slot + tcp.conn[slot, C_AIM_SIDE] - 1
    if tcp.side[s, S_NEXT] < tcp.conn[slot, C_AIM]:
        return False
    tcp.conn[slot, C_AIM_SIDE] = 0
    return True


@cython.cfunc
def take_touched(tcp: TcpState, fresh: cython.longlong):
    """(slot, part, spoiled, at rest) of connections of which segments came since the last call.

    Those with less than `fresh` new bytes (an eighth of it where no stretch has begun) wait for the next call unless
    something was spoiled.
    """
    slot: cython.longlong
    found = []
    later = []
    for slot in tcp.touched:
        if tcp.conn[slot, C_MODE] & MODE_LIVE == 0:
            tcp.conn[slot, C_NOTED] = 0
        elif (
            tcp.conn[slot, C_FRESH] < (fresh if tcp.conn[slot, C_SINCE] else fresh // 8)
            and tcp.conn[slot, C_SPOILED] == 0
        ):
            later.append(slot)
        else:
            tcp.conn[slot, C_NOTED] = 0
            spoiled = tcp.conn[slot, C_SPOILED] != 0
            tcp.conn[slot, C_SPOILED] = 0
            found.append((slot, tcp.conn[slot, C_PART], spoiled, is_at_rest(tcp, slot)))
    tcp.touched = later
    return found


@cython.cfunc
@cython.exceptval(-1)
def is_at_rest(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Whether nothing of this connection is kept or waited for, both sides go on, and it was seen at one place only."""
    s: cython.longlong
    if (
        tcp.conn[slot, C_MODE] != MODE_LIVE | MODE_OPENED
        or tcp.conn[slot, C_BUSY]
        or tcp.conn[slot, C_CLOSE]
        or tcp.conn[slot, C_RST]
        or tcp.conn[slot, C_AWAITS_ACK]
        or tcp.conn[slot, C_LANE]
        or tcp.draining == slot
    ):
        return False
    for s in range(2 * slot, 2 * slot + 2):
        if (
            tcp.side[s, S_STATE] & (SIDE_STARTED | SIDE_ENDED | SIDE_FIN) != SIDE_STARTED
            or tcp.side[s, S_HEAD] >= 0
            or tcp.side[s, S_LAST_ACK] == UNKNOWN
            or tcp.side[s, S_TTL] == UNKNOWN
            or tcp.side[s, S_WAIVED] > tcp.side[s, S_NEXT]
            or tcp.side[s, S_ACKED] > tcp.side[s, S_NEXT]
            or tcp.side[s, S_HOLE_ACK] > tcp.side[s, S_NEXT]
            or tcp.side[s, S_LOST_TO] > tcp.side[s, S_NEXT]
        ):
            return False
    return is_only_view(tcp, slot)


@cython.cfunc
def rest(tcp: TcpState, slot: cython.longlong):
    """The numbers of a connection that is at rest (REST_ columns)."""
    column: cython.longlong
    s: cython.longlong
    found = [tcp.conn[slot, C_LAST_TIME], tcp.conn[slot, C_LAST_NUMBER]]
    for s in range(2 * slot, 2 * slot + 2):
        found += [tcp.side[s, S_NEXT], tcp.side[s, S_LAST_ACK], tcp.side[s, S_TTL], tcp.side[s, S_PROBLEMS]]
        for column in range(S_PACKETS, S_DUPLICATES + 1):
            found.append(tcp.side[s, column])
    return found


@cython.cfunc
def ends(tcp: TcpState, slot: cython.longlong):
    """SEGMENT_ column -> value of a segment that side 0 would send."""
    return {
        SEGMENT_SCOPE: tcp.conn[slot, C_SCOPE],
        SEGMENT_SRC_HIGH: tcp.conn[slot, C_A_HIGH],
        SEGMENT_SRC_LOW: tcp.conn[slot, C_A_LOW],
        SEGMENT_SRC_PORT: tcp.conn[slot, C_A_PORT],
        SEGMENT_DST_HIGH: tcp.conn[slot, C_B_HIGH],
        SEGMENT_DST_LOW: tcp.conn[slot, C_B_LOW],
        SEGMENT_DST_PORT: tcp.conn[slot, C_B_PORT],
    }


@cython.cfunc
def rested(tcp: TcpState, slot: cython.longlong, since: cython.longlong):
    """A point of rest was taken down; segments before the time `since` spoil what follows. 0: no stretch has begun."""
    tcp.conn[slot, C_FRESH] = 0
    tcp.conn[slot, C_SINCE] = since
    tcp.conn[slot, C_AIM_SIDE] = 0


@cython.cfunc
def aim(tcp: TcpState, slot: cython.longlong, side: cython.longlong, ahead: cython.longlong):
    """`feed` shall stop when this side has sent `ahead` bytes more."""
    tcp.conn[slot, C_AIM_SIDE] = 1 + side
    tcp.conn[slot, C_AIM] = tcp.side[2 * slot + side, S_NEXT] + ahead


@cython.cfunc
def fits(tcp: TcpState, slot: cython.longlong, one, flip: cython.longlong):
    """Whether the connection is at the point of rest `one` of another run, whose side 0 is side `flip` here."""
    d: cython.longlong
    mine: cython.longlong
    theirs: cython.longlong
    if not is_at_rest(tcp, slot) or tcp.conn[slot, C_LAST_NUMBER] != one[TCP_CHECKPOINT_NUMBER]:
        return False
    for d in range(2):
        mine = 2 * slot + (d ^ flip)
        theirs = TCP_CHECKPOINT_SIDES + TCP_CHECKPOINT_SIDE_COLUMNS * d
        if (
            (tcp.side[mine, S_NEXT] - one[theirs + TCP_CHECKPOINT_NEXT]) & LOW
            or tcp.side[mine, S_LAST_ACK] != one[theirs + TCP_CHECKPOINT_ACK]
            or tcp.side[mine, S_TTL] != one[theirs + TCP_CHECKPOINT_TTL]
        ):
            return False
    return True


@cython.cfunc
def jump(tcp: TcpState, slot: cython.longlong, one, two, flip: cython.longlong):
    """Takes the connection from the point of rest `one`, which `fits`, to `two`."""
    d: cython.longlong
    column: cython.longlong
    mine: cython.longlong
    theirs: cython.longlong
    tcp.conn[slot, C_LAST_TIME] = two[TCP_CHECKPOINT_TIME]
    tcp.conn[slot, C_LAST_NUMBER] = two[TCP_CHECKPOINT_NUMBER]
    for d in range(2):
        mine = 2 * slot + (d ^ flip)
        theirs = TCP_CHECKPOINT_SIDES + TCP_CHECKPOINT_SIDE_COLUMNS * d
        tcp.side[mine, S_NEXT] += two[theirs + TCP_CHECKPOINT_NEXT] - one[theirs + TCP_CHECKPOINT_NEXT]
        tcp.side[mine, S_LAST_ACK] = two[theirs + TCP_CHECKPOINT_ACK]
        for column in range(S_DUPLICATES - S_PACKETS + 1):
            tcp.side[mine, S_PACKETS + column] += (
                two[theirs + TCP_CHECKPOINT_COUNTS + column] - one[theirs + TCP_CHECKPOINT_COUNTS + column]
            )
