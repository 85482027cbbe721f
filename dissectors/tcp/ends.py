"""The ends of a stream: FIN and RST."""

import heapq

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.acknowledgments import believed_ack, has_passed
from dissectors.tcp.causal_order import must_wait
from dissectors.tcp.eviction_order import eviction_rank
from dissectors.tcp.out_of_order import buffered_bytes, drop_first_record
from dissectors.tcp.rows import problem_row, stream_row
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import end_of_seen, has_nothing_pending, segments_seen, unwrap_of_side
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.stream_start import lower_start


@cython.cfunc
def take_fin(tcp: TcpState, s: cython.longlong):
    """Notes where the stream ends; a place that cannot be is not believed."""
    at: cython.longlong
    if tcp.side[s, S_STATE] & (SIDE_FIN | SIDE_ENDED):
        return
    at = unwrap_of_side(tcp, s, tcp.seq + tcp.length)
    if tcp.side[s, S_STATE] & SIDE_STARTED:
        if at < tcp.side[s, S_NEXT] - 1 or at > end_of_seen(tcp, s) + NEAR:
            return
    elif not lower_start(tcp, s, at):
        return
    tcp.side[s, S_STATE] |= SIDE_FIN
    tcp.side[s, S_FIN_AT] = at
    tcp.side[s, S_FIN_TIME] = tcp.time
    tcp.side[s, S_FIN_NUMBER] = tcp.number
    tcp.side[s, S_FIN_ACK] = tcp.ack
    tcp.side[s, S_ACKED] = min(tcp.side[s, S_ACKED], at)
    tcp.side[s, S_HOLE_ACK] = min(tcp.side[s, S_HOLE_ACK], at)
    tcp.side[s, S_LOST_TO] = min(tcp.side[s, S_LOST_TO], at)


@cython.cfunc
@cython.exceptval(-1)
def end_by_fin(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Ends a side whose stream is delivered up to its FIN."""
    if tcp.side[s, S_STATE] & (SIDE_FIN | SIDE_STARTED | SIDE_ENDED) != SIDE_FIN | SIDE_STARTED:
        return False
    if tcp.side[s, S_NEXT] < tcp.side[s, S_FIN_AT] or must_wait(tcp, s, tcp.side[s, S_FIN_ACK]):
        return False
    end_side(tcp, s, END_FIN, tcp.side[s, S_FIN_TIME], tcp.side[s, S_FIN_NUMBER])
    return True


@cython.cfunc
def end_side(
    tcp: TcpState, s: cython.longlong, reason: cython.longlong, time: cython.longlong, number: cython.longlong
):
    slot: cython.longlong = s >> 1
    stream_row(tcp, CHUNK_END, s, 0, 0, time, number, reason)
    if tcp.side[s, S_HEAD] >= 0:
        problem_row(tcp, PROBLEM_BYTES_AFTER_END, s, tcp.side[s, S_NEXT], buffered_bytes(tcp, s))
    while tcp.side[s, S_HEAD] >= 0:
        drop_first_record(tcp, s)
    tcp.side[s, S_STATE] |= SIDE_ENDED
    tcp.conn[slot, C_CLOSE] = max(tcp.conn[slot, C_CLOSE], reason)
    if tcp.side[s ^ 1, S_STATE] & SIDE_ENDED:
        tcp.conn[slot, C_MODE] |= MODE_CLOSED
        tcp.conn[slot, C_CLOSED_NUMBER] = tcp.conn[slot, C_LAST_NUMBER]
        if tcp.oldest is not None:
            heapq.heappush(tcp.oldest, eviction_rank(tcp, slot))


@cython.cfunc
def take_reset(tcp: TcpState, s: cython.longlong):
    """Notes a reset whose numbers fit (RFC 5961): nobody outside shall end a connection by guessing."""
    slot: cython.longlong = s >> 1
    at: cython.longlong = 0
    fits: cython.bint = True
    if tcp.conn[slot, C_MODE] & MODE_CLOSED or tcp.conn[slot, C_RST]:
        return
    if tcp.side[s, S_NEXT]:
        at = unwrap(tcp.side[s, S_NEXT], tcp.seq)
        fits = tcp.side[s, S_NEXT] - BEHIND <= at and at <= end_of_seen(tcp, s) + NEAR
    if tcp.side[s, S_STATE] & SIDE_STARTED == 0 and tcp.side[s ^ 1, S_STATE] & SIDE_STARTED:
        # A refusal has the number 0, but acknowledges the SYN.
        if tcp.ack != UNKNOWN:
            fits = believed_ack(tcp, s ^ 1, tcp.ack) >= tcp.side[s ^ 1, S_START]
        at = at if fits and tcp.side[s, S_HEAD] >= 0 else 0
    if not fits:
        problem_row(tcp, PROBLEM_RESET_IGNORED, s, tcp.seq, 0)
        return
    tcp.conn[slot, C_RST] = 1 + (s & 1)
    tcp.conn[slot, C_RST_AT] = at
    tcp.conn[slot, C_RST_TIME] = tcp.time
    tcp.conn[slot, C_RST_NUMBER] = tcp.number
    tcp.conn[slot, C_RST_COUNT] = segments_seen(tcp, slot)


@cython.cfunc
@cython.exceptval(-1)
def is_reset_due(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """A reset counts once all before it is delivered, or when the window has passed."""
    s: cython.longlong = 2 * slot + tcp.conn[slot, C_RST] - 1
    # One number more is a FIN that was not captured.
    if (
        has_nothing_pending(tcp, s)
        and has_nothing_pending(tcp, s ^ 1)
        and (tcp.side[s, S_STATE] & SIDE_STARTED == 0 or tcp.conn[slot, C_RST_AT] <= tcp.side[s, S_NEXT] + 1)
    ):
        return True
    return has_passed(
        tcp, slot, tcp.conn[slot, C_RST_TIME], tcp.conn[slot, C_RST_COUNT], tcp.reorder_ns, tcp.reorder_segments
    )


@cython.cfunc
@cython.exceptval(-1)
def end_by_reset(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Ends what has not ended, the side that reset first."""
    s: cython.longlong = 2 * slot + tcp.conn[slot, C_RST] - 1
    if tcp.conn[slot, C_RST] == 0:
        return False
    tcp.conn[slot, C_RST] = 0
    tcp.conn[slot, C_MODE] &= ~MODE_RESET
    if tcp.side[s, S_STATE] & SIDE_ENDED == 0:
        end_side(tcp, s, END_RST, tcp.conn[slot, C_RST_TIME], tcp.conn[slot, C_RST_NUMBER])
    if tcp.side[s ^ 1, S_STATE] & SIDE_ENDED == 0:
        end_side(tcp, s ^ 1, END_RST, tcp.conn[slot, C_RST_TIME], tcp.conn[slot, C_RST_NUMBER])
    return True
