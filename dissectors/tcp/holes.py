"""Holes that are given up: they become gaps, and what waited for them is delivered.

A hole is given up when its reorder window has passed (GAP_LOST), when too much is buffered behind it (GAP_LIMIT), or when nothing
more can come, at the end of the connection or of the capture (GAP_UNACKED). Bytes so far ahead that no window reached there are
no part of the stream, unless the peer acknowledged them or says nothing.
"""

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.acknowledgments import believed_ack
from dissectors.tcp.causal_order import captured_first, is_first_record_next, must_wait
from dissectors.tcp.damaged import drop_held
from dissectors.tcp.delivery import deliver_first_record
from dissectors.tcp.ends import end_side
from dissectors.tcp.out_of_order import drop_first_record
from dissectors.tcp.output_rows import problem_row, stream_row
from dissectors.tcp.sides import end_of_seen, is_awaited, is_held
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.stream_start import start_stream


@cython.cfunc
@cython.exceptval(-1)
def give_up_lost(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Gives up one hole, or start, whose window has passed; false when there is none."""
    a: cython.longlong = 2 * slot
    one: cython.bint = is_overdue(tcp, a)
    other: cython.bint = is_overdue(tcp, a + 1)
    s: cython.longlong
    if one and other and tcp.side[a, SIDE_FIRST_RECORD] >= 0 and tcp.side[a + 1, SIDE_FIRST_RECORD] >= 0:
        s = captured_first(tcp, slot, one, other)
    else:
        s = a if one else a + 1
    if not one and not other:
        return False
    give_up(tcp, s, tcp.side[s, SIDE_LOST_TO], GAP_LOST)
    return True


@cython.cfunc
@cython.exceptval(-1)
def is_overdue(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether a side waits for a hole, or for its start, whose window has passed."""
    state: cython.longlong = tcp.side[s, SIDE_STATE]
    if state & STATE_STARTED == 0:
        return tcp.side[s, SIDE_LOST_TO] != 0 and (tcp.side[s, SIDE_FIRST_RECORD] >= 0 or state & STATE_FIN != 0)
    if state & STATE_ENDED or not is_awaited(tcp, s, tcp.side[s, SIDE_LOST_TO]):
        return False
    # Bytes that wait for a hole of the peer are delivered when the window of that hole has passed.
    return not is_first_record_next(tcp, s) or is_first_record_next(tcp, s ^ 1)


@cython.cfunc
@cython.exceptval(-1)
def give_up_at_limit(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Gives up a hole when a side buffers too much, or all connections together do and this one was chosen."""
    a: cython.longlong = 2 * slot
    s: cython.longlong = a if tcp.side[a, SIDE_PAGES] >= tcp.side[a + 1, SIDE_PAGES] else a + 1
    if tcp.side[s, SIDE_PAGES] == 0:
        return False
    if tcp.side[s, SIDE_PAGES] <= tcp.max_buffered_per_side and tcp.conn[slot, CONN_MODE] & MODE_GIVING_UP == 0:
        return False
    give_up(tcp, s, end_of_seen(tcp, s), GAP_LIMIT)
    return True


@cython.cfunc
def give_up(tcp: TcpState, s: cython.longlong, to: cython.longlong, reason: cython.longlong):
    """Gives up one thing that keeps side `s` from going on towards `to`: a hole, a start, or a hole of the peer.

    It always makes progress: it may be called until side `s` has come to `to`.
    """
    peer: cython.longlong = s ^ 1
    head: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    end: cython.longlong
    if tcp.side[s, SIDE_STATE] & STATE_STARTED == 0:
        start_stream(tcp, s, tcp.side[s, SIDE_LOWEST_START])
    elif head < 0:
        pass_over(tcp, s, to, reason, tcp.side[s, SIDE_LOST_TIME], tcp.side[s, SIDE_LOST_NUMBER])
    elif reason != GAP_LOST and is_held(tcp, s):
        drop_held(tcp, s)
    elif reason == GAP_UNACKED and is_stray(tcp, s):
        problem_row(tcp, PROBLEM_STRAY_BYTES, s, tcp.records[head, RECORD_SEQ], tcp.records[head, RECORD_LENGTH])
        drop_first_record(tcp, s)
    elif tcp.records[head, RECORD_SEQ] > tcp.side[s, SIDE_NEXT]:
        if to >= tcp.records[head, RECORD_SEQ]:
            pass_over(
                tcp,
                s,
                tcp.records[head, RECORD_SEQ],
                reason,
                tcp.records[head, RECORD_TIME],
                tcp.records[head, RECORD_NUMBER],
            )
        else:
            pass_over(tcp, s, to, reason, tcp.side[s, SIDE_LOST_TIME], tcp.side[s, SIDE_LOST_NUMBER])
    elif not must_wait(tcp, s, tcp.records[head, RECORD_ACK]):
        deliver_first_record(tcp, s)
    elif tcp.side[peer, SIDE_STATE] & STATE_STARTED == 0:
        if tcp.side[peer, SIDE_FIRST_RECORD] >= 0:
            start_stream(tcp, peer, tcp.side[peer, SIDE_LOWEST_START])
        else:
            tcp.side[peer, SIDE_LOST_TO] = 1
    elif is_first_record_next(tcp, peer):
        # Each side waits for the other: in the order of capture.
        deliver_first_record(tcp, captured_first(tcp, s >> 1, True, True))
    elif is_held(tcp, peer):
        drop_held(tcp, peer)
    else:
        end = believed_ack(tcp, peer, tcp.records[head, RECORD_ACK])
        if tcp.side[peer, SIDE_FIRST_RECORD] >= 0:
            end = min(end, tcp.records[tcp.side[peer, SIDE_FIRST_RECORD], RECORD_SEQ])
        pass_over(tcp, peer, end, reason, tcp.records[head, RECORD_TIME], tcp.records[head, RECORD_NUMBER])


@cython.cfunc
@cython.exceptval(-1)
def is_stray(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the first record of side `s` lies so far ahead that no window reached there, and the peer never acknowledged it."""
    at: cython.longlong = tcp.records[tcp.side[s, SIDE_FIRST_RECORD], RECORD_SEQ]
    return (
        at > tcp.side[s, SIDE_NEXT] + LARGEST_JUMP
        and at >= tcp.side[s, SIDE_ACKED]
        and tcp.side[s ^ 1, SIDE_LAST_ACK] != UNKNOWN
    )


@cython.cfunc
def pass_over(
    tcp: TcpState,
    s: cython.longlong,
    end: cython.longlong,
    reason: cython.longlong,
    time: cython.longlong,
    number: cython.longlong,
):
    """Makes [SIDE_NEXT, end) a gap. A single byte behind all that was seen is more likely a FIN that was not captured: its
    ACK is waived, that is no longer waited for.
    """
    if (
        end == tcp.side[s, SIDE_NEXT] + 1
        and tcp.side[s, SIDE_FIRST_RECORD] < 0
        and tcp.side[s, SIDE_STATE] & STATE_FIN == 0
    ):
        tcp.side[s, SIDE_WAIVED] = end
    else:
        if reason == GAP_LIMIT:
            tcp.holes_given_up += 1
            problem_row(tcp, PROBLEM_HOLE_GIVEN_UP, s, tcp.side[s, SIDE_NEXT], end - tcp.side[s, SIDE_NEXT])
        stream_row(tcp, CHUNK_GAP, s, 0, end - tcp.side[s, SIDE_NEXT], time, number, reason)


@cython.cfunc
@cython.exceptval(-1)
def give_up_next(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Gives up what comes first in the order of capture, as nothing more will come; false when nothing is left."""
    a: cython.longlong = 2 * slot
    s: cython.longlong = captured_first(
        tcp, slot, tcp.side[a, SIDE_FIRST_RECORD] >= 0, tcp.side[a + 1, SIDE_FIRST_RECORD] >= 0
    )
    if s >= 0:
        give_up(tcp, s, end_of_seen(tcp, s), GAP_UNACKED)
        return True
    for s in range(a, a + 2):
        if give_up_tail(tcp, s):
            return True
    for s in range(a, a + 2):
        if tcp.side[s, SIDE_STATE] & (STATE_FIN | STATE_ENDED) == STATE_FIN:
            end_side(tcp, s, END_FIN, tcp.side[s, SIDE_FIN_TIME], tcp.side[s, SIDE_FIN_NUMBER])
            return True
    return False


@cython.cfunc
@cython.exceptval(-1)
def give_up_tail(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Makes a gap of what was sent behind the last byte seen, as an ACK, a FIN or a RST tells; false when there is nothing."""
    slot: cython.longlong = s >> 1
    state: cython.longlong = tcp.side[s, SIDE_STATE]
    to: cython.longlong = tcp.side[s, SIDE_ACKED]
    time: cython.longlong = tcp.side[s, SIDE_HOLE_TIME]
    number: cython.longlong = tcp.side[s, SIDE_HOLE_NUMBER]
    if state & STATE_ENDED:
        return False
    if state & STATE_STARTED == 0:
        if state & STATE_FIN:
            start_stream(tcp, s, tcp.side[s, SIDE_LOWEST_START])
            return True
        return False
    if state & STATE_FIN:
        to = tcp.side[s, SIDE_FIN_AT]
        time = tcp.side[s, SIDE_FIN_TIME]
        number = tcp.side[s, SIDE_FIN_NUMBER]
    elif tcp.conn[slot, CONN_RST] == 1 + (s & 1) and tcp.conn[slot, CONN_RST_AT] > to:
        to = tcp.conn[slot, CONN_RST_AT]
        time = tcp.conn[slot, CONN_RST_TIME]
        number = tcp.conn[slot, CONN_RST_NUMBER]
    if not is_awaited(tcp, s, to):
        return False
    pass_over(tcp, s, to, GAP_UNACKED, time, number)
    return True
