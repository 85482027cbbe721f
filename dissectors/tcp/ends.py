"""The ends of a stream: FIN and RST.

A FIN ends its side once all bytes before it are delivered. A RST ends both sides, once all before it is delivered or the reorder
window has passed. Nobody outside shall end a connection by guessing (RFC 5961), so a RST is believed only when its sequence
number lies from OLDEST_RESET before what is delivered next to LARGEST_JUMP behind the last byte seen, both included. One that is
not believed is a problem (PROBLEM_RESET_IGNORED).
"""

import heapq

import cython

from dissectors.layout import *
from dissectors.problems import *
from dissectors.tcp.acknowledgments import believed_ack, has_window_passed
from dissectors.tcp.causal_order import must_wait
from dissectors.tcp.damaged import replace_damaged
from dissectors.tcp.eviction_order import eviction_rank
from dissectors.tcp.out_of_order import buffered_bytes, drop_first_record
from dissectors.tcp.output_rows import problem_row, stream_row
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import end_of_seen, has_nothing_pending, segments_seen, unwrap_of_side
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.stream_start import lower_start


@cython.cfunc
def take_fin(tcp: TcpState, s: cython.longlong):
    """Takes the FIN of the loaded segment, of side `s`, unless it lies where the stream cannot end."""
    at: cython.longlong
    if tcp.side[s, SIDE_STATE] & (STATE_FIN | STATE_ENDED):
        return
    at = unwrap_of_side(tcp, s, tcp.seq + tcp.length)
    if tcp.side[s, SIDE_STATE] & STATE_STARTED:
        if at < tcp.side[s, SIDE_NEXT] - 1 or at > end_of_seen(tcp, s) + LARGEST_JUMP:
            return
    elif not lower_start(tcp, s, at):
        return
    tcp.side[s, SIDE_STATE] |= STATE_FIN
    note_end(tcp, s)
    tcp.side[s, SIDE_FIN_AT] = at
    tcp.side[s, SIDE_FIN_TIME] = tcp.time
    tcp.side[s, SIDE_FIN_NUMBER] = tcp.number
    tcp.side[s, SIDE_FIN_ACK] = tcp.ack
    tcp.side[s, SIDE_ACKED] = min(tcp.side[s, SIDE_ACKED], at)
    tcp.side[s, SIDE_HOLE_ACK] = min(tcp.side[s, SIDE_HOLE_ACK], at)
    tcp.side[s, SIDE_LOST_TO] = min(tcp.side[s, SIDE_LOST_TO], at)


@cython.cfunc
@cython.exceptval(-1)
def note_end(tcp: TcpState, s: cython.longlong) -> cython.int:
    """Side `s` is the one that closes, if the other has not done so before."""
    if tcp.conn[s >> 1, CONN_END] == 0:
        tcp.conn[s >> 1, CONN_END] = 1 + (s & 1)
        tcp.conn[s >> 1, CONN_END_TIME] = tcp.time
    return 0


@cython.cfunc
@cython.exceptval(-1)
def end_by_fin(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Ends a side whose stream is delivered up to its FIN; false when it is not."""
    if tcp.side[s, SIDE_STATE] & (STATE_FIN | STATE_STARTED | STATE_ENDED) != STATE_FIN | STATE_STARTED:
        return False
    if tcp.side[s, SIDE_NEXT] < tcp.side[s, SIDE_FIN_AT] or must_wait(tcp, s, tcp.side[s, SIDE_FIN_ACK]):
        return False
    end_side(tcp, s, END_FIN, tcp.side[s, SIDE_FIN_TIME], tcp.side[s, SIDE_FIN_NUMBER])
    return True


@cython.cfunc
def end_side(
    tcp: TcpState, s: cython.longlong, reason: cython.longlong, time: cython.longlong, number: cython.longlong
):
    """Ends a side: what is buffered behind its end is dropped."""
    slot: cython.longlong = s >> 1
    stream_row(tcp, CHUNK_END, s, 0, 0, time, number, reason)
    replace_damaged(tcp, s, tcp.side[s, SIDE_NEXT], end_of_seen(tcp, s))
    if tcp.side[s, SIDE_FIRST_RECORD] >= 0:
        problem_row(tcp, PROBLEM_BYTES_AFTER_END, s, tcp.side[s, SIDE_NEXT], buffered_bytes(tcp, s))
    while tcp.side[s, SIDE_FIRST_RECORD] >= 0:
        drop_first_record(tcp, s)
    tcp.side[s, SIDE_STATE] |= STATE_ENDED
    tcp.conn[slot, CONN_CLOSE] = max(tcp.conn[slot, CONN_CLOSE], reason)
    if tcp.side[s ^ 1, SIDE_STATE] & STATE_ENDED:
        tcp.conn[slot, CONN_MODE] |= MODE_CLOSED
        tcp.conn[slot, CONN_CLOSED_NUMBER] = tcp.conn[slot, CONN_LAST_NUMBER]
        if tcp.eviction_heap is not None:
            heapq.heappush(tcp.eviction_heap, eviction_rank(tcp, slot))


@cython.cfunc
def take_reset(tcp: TcpState, s: cython.longlong):
    """Takes the RST of the loaded segment, of side `s`, if its sequence number (or what a refusal acknowledges) is believed."""
    slot: cython.longlong = s >> 1
    at: cython.longlong = 0
    is_believed: cython.bint = True
    if tcp.conn[slot, CONN_MODE] & MODE_CLOSED or tcp.conn[slot, CONN_RST]:
        return
    if tcp.side[s, SIDE_NEXT]:
        at = unwrap(tcp.side[s, SIDE_NEXT], tcp.seq)
        is_believed = tcp.side[s, SIDE_NEXT] - OLDEST_RESET <= at and at <= end_of_seen(tcp, s) + LARGEST_JUMP
    if tcp.side[s, SIDE_STATE] & STATE_STARTED == 0 and tcp.side[s ^ 1, SIDE_STATE] & STATE_STARTED:
        # A refusal has the number 0, but acknowledges the SYN.
        if tcp.ack != UNKNOWN:
            is_believed = believed_ack(tcp, s ^ 1, tcp.ack) >= tcp.side[s ^ 1, SIDE_START]
        at = at if is_believed and tcp.side[s, SIDE_FIRST_RECORD] >= 0 else 0
    if not is_believed:
        problem_row(tcp, PROBLEM_RESET_IGNORED, s, tcp.seq, 0)
        return
    note_end(tcp, s)
    tcp.conn[slot, CONN_RST] = 1 + (s & 1)
    tcp.conn[slot, CONN_RST_AT] = at
    tcp.conn[slot, CONN_RST_TIME] = tcp.time
    tcp.conn[slot, CONN_RST_NUMBER] = tcp.number
    tcp.conn[slot, CONN_RST_COUNT] = segments_seen(tcp, slot)


@cython.cfunc
@cython.exceptval(-1)
def is_reset_due(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """A reset counts once all before it is delivered, or when the window has passed."""
    s: cython.longlong = 2 * slot + tcp.conn[slot, CONN_RST] - 1
    # One number more is a FIN that was not captured.
    if (
        has_nothing_pending(tcp, s)
        and has_nothing_pending(tcp, s ^ 1)
        and (tcp.side[s, SIDE_STATE] & STATE_STARTED == 0 or tcp.conn[slot, CONN_RST_AT] <= tcp.side[s, SIDE_NEXT] + 1)
    ):
        return True
    return has_window_passed(
        tcp, slot, tcp.conn[slot, CONN_RST_TIME], tcp.conn[slot, CONN_RST_COUNT], tcp.reorder_ns, tcp.reorder_segments
    )


@cython.cfunc
@cython.exceptval(-1)
def end_by_reset(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Ends what has not ended, the side that reset first; false when there was no reset."""
    s: cython.longlong = 2 * slot + tcp.conn[slot, CONN_RST] - 1
    if tcp.conn[slot, CONN_RST] == 0:
        return False
    tcp.conn[slot, CONN_RST] = 0
    tcp.conn[slot, CONN_MODE] &= ~MODE_RESET
    if tcp.side[s, SIDE_STATE] & STATE_ENDED == 0:
        end_side(tcp, s, END_RST, tcp.conn[slot, CONN_RST_TIME], tcp.conn[slot, CONN_RST_NUMBER])
    if tcp.side[s ^ 1, SIDE_STATE] & STATE_ENDED == 0:
        end_side(tcp, s ^ 1, END_RST, tcp.conn[slot, CONN_RST_TIME], tcp.conn[slot, CONN_RST_NUMBER])
    return True
