"""SYN segments: which side is the client, the times of the handshake, and 4-tuples that are used again.

The sender of a SYN becomes side 0, the sender of a SYN+ACK side 1, as long as no row was written that says otherwise. A SYN that
comes late, behind bytes of its own connection, does not begin another one (RFC 9293, 3.4.1 and 3.6.1).
"""

import cython

from dissectors.layout import *
from dissectors.tcp.acknowledgments import has_window_passed
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import end_of_seen, has_bytes, unwrap_of_side
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *
from dissectors.tcp.stream_start import lower_start, start_stream


@cython.cfunc
@cython.exceptval(-1)
def take_syn(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """Takes the SYN of the loaded segment; returns the sender's `s`, which changes when the sides are swapped."""
    slot: cython.longlong = s >> 1
    is_answer: cython.bint = tcp.flags & TCP_ACK != 0
    first: cython.longlong = unwrap_of_side(tcp, s, tcp.seq)
    answered: cython.longlong = 0
    if tcp.side[s, SIDE_STATE] & STATE_STARTED:
        return take_syn_again(tcp, s, first)
    if is_answer:
        answered = unwrap_of_side(tcp, s ^ 1, tcp.ack)
        if tcp.side[s ^ 1, SIDE_STATE] & STATE_ISN and (
            answered < tcp.side[s ^ 1, SIDE_START] or answered > end_of_seen(tcp, s ^ 1)
        ):
            return s  # of an older connection
    s = make_caller_side_0(tcp, s, is_answer)
    tcp.side[s, SIDE_STATE] |= STATE_ISN | (0 if is_answer else STATE_CALLER)
    start_stream(tcp, s, first)
    tcp.conn[slot, CONN_SYN] |= 2 if is_answer else 1
    if is_answer:
        if s & 1:
            tcp.conn[slot, CONN_SYN_ACK_TIME] = tcp.time
            # An ACK that came before this SYN+ACK cannot be timed, nor can a later one take its place.
            tcp.conn[slot, CONN_AWAITS_ACK] = 1 if tcp.side[s ^ 1, SIDE_LAST_ACK] == UNKNOWN else 0
        lower_start(tcp, s ^ 1, answered)
    elif s & 1 == 0:
        tcp.conn[slot, CONN_SYN_TIME] = tcp.time
    return s


@cython.cfunc
@cython.exceptval(-1)
def take_syn_again(tcp: TcpState, s: cython.longlong, first: cython.longlong) -> cython.longlong:
    """A SYN of a side that has started: when it was sent twice the handshake cannot be timed; one that came late is noted.

    Returns the sender's `s`, as `take_syn` does.
    """
    slot: cython.longlong = s >> 1
    is_answer: cython.bint = tcp.flags & TCP_ACK != 0
    if first != tcp.side[s, SIDE_START]:
        if is_other_syn_ack(tcp, s):
            tcp.conn[slot, CONN_SYN_ACK_TWICE] = 1
            # The client stays with the one that it has acknowledged: this one comes late, or of another host of that address.
            if tcp.conn[slot, CONN_ACK_TIME] == UNKNOWN:
                start_stream(tcp, s, first)
        return s
    if tcp.side[s, SIDE_STATE] & STATE_ISN == 0:
        tcp.side[s, SIDE_STATE] |= STATE_ISN
        s = make_caller_side_0(tcp, s, is_answer)
        # Too late to say that side 0 called when it did not.
        if (s & 1) == (1 if is_answer else 0):
            tcp.conn[slot, CONN_SYN] |= 2 if is_answer else 1
    elif tcp.flags & TCP_ACK:
        tcp.conn[slot, CONN_SYN_ACK_TWICE] = 1
    elif s & 1 == 0:
        tcp.conn[slot, CONN_SYN_TIME] = UNKNOWN
    return s


@cython.cfunc
@cython.exceptval(-1)
def make_caller_side_0(tcp: TcpState, s: cython.longlong, is_answer: cython.bint) -> cython.longlong:
    """Makes the client side 0, as long as no row was written that says otherwise; returns the sender's `s`."""
    slot: cython.longlong = s >> 1
    if (
        (s & 1) == (1 if is_answer else 0)
        or tcp.conn[slot, CONN_MODE] & MODE_OPENED
        or tcp.conn[slot, CONN_RST]
        or tcp.side[2 * slot, SIDE_STATE] & STATE_CALLER
    ):
        return s
    swap_sides(tcp, slot)
    return s ^ 1


@cython.cfunc
def swap_sides(tcp: TcpState, slot: cython.longlong):
    """Exchanges the sides of a connection."""
    column: cython.longlong
    value: cython.longlong
    if tcp.conn[slot, CONN_END]:
        tcp.conn[slot, CONN_END] = 3 - tcp.conn[slot, CONN_END]
    for column in range(ENDPOINT_COLUMNS):
        value = tcp.conn[slot, CONN_A + column]
        tcp.conn[slot, CONN_A + column] = tcp.conn[slot, CONN_B + column]
        tcp.conn[slot, CONN_B + column] = value
    for column in range(SIDE_COLUMNS):
        value = tcp.side[2 * slot, column]
        tcp.side[2 * slot, column] = tcp.side[2 * slot + 1, column]
        tcp.side[2 * slot + 1, column] = value


@cython.cfunc
@cython.exceptval(-1)
def begins_new_connection(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the loaded segment begins a new connection of the same 4-tuple."""
    state: cython.longlong = tcp.side[s, SIDE_STATE]
    near: cython.longlong = tcp.side[s, SIDE_NEXT]
    closed: cython.bint = tcp.conn[s >> 1, CONN_MODE] & MODE_CLOSED != 0
    first: cython.longlong = unwrap(near, tcp.seq)
    if tcp.flags & TCP_SYN == 0:
        # The SYN of a new connection may not be captured, but its numbers lie elsewhere.
        return (
            closed
            and tcp.length > 0
            and (state & STATE_STARTED == 0 or first > near + LARGEST_JUMP or first < near - LARGEST_JUMP)
        )
    if tcp.flags & TCP_RST:
        return False
    if state & STATE_STARTED and (tcp.seq - tcp.side[s, SIDE_START]) & LOW_32 == 0:
        # The same SYN again; after a refusal it is another attempt.
        return closed and tcp.conn[s >> 1, CONN_CLOSE] == END_RST and not has_bytes(tcp, s >> 1)
    if closed:
        return True
    if state & STATE_STARTED:
        if state & STATE_ISN == 0 and is_late_syn(tcp, s, first):
            return False
        if is_other_syn_ack(tcp, s):
            return False
        return first <= near or first > end_of_seen(tcp, s)
    return is_stray_syn(tcp, s)


@cython.cfunc
@cython.exceptval(-1)
def is_other_syn_ack(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether a SYN+ACK answers the same SYN again with another sequence number, as a host without state (SYN cookies) does."""
    return (
        tcp.flags & TCP_ACK != 0
        and tcp.side[s, SIDE_STATE] & (STATE_ISN | STATE_CALLER | STATE_FIN | STATE_ENDED) == STATE_ISN
        and tcp.ack == tcp.side[s, SIDE_LAST_ACK]
        and tcp.side[s, SIDE_FIRST_RECORD] < 0
        and not has_bytes(tcp, s >> 1)
    )


@cython.cfunc
@cython.exceptval(-1)
def is_late_syn(tcp: TcpState, s: cython.longlong, first: cython.longlong) -> cython.bint:
    """Whether a SYN is the late one of a side met in mid-flight: it comes behind bytes that follow it."""
    before: cython.longlong = tcp.side[s, SIDE_START] - first
    if before < 0 or before > EARLIEST_SYN:
        return False
    return not has_window_passed(
        tcp, s >> 1, tcp.conn[s >> 1, CONN_FIRST_TIME], 0, tcp.reorder_ns, tcp.reorder_segments
    )


@cython.cfunc
@cython.exceptval(-1)
def is_stray_syn(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether a SYN of a side that has not started contradicts the sequence numbers known of it."""
    known: cython.longlong = tcp.side[s, SIDE_LOWEST_START]
    if known == 0:
        if tcp.flags & TCP_ACK and tcp.side[s ^ 1, SIDE_STATE] & STATE_ISN:
            return False  # an answer to this connection's SYN, or to none: `take_syn` looks
        if tcp.side[s ^ 1, SIDE_LAST_ACK] == UNKNOWN:
            return False
        known = SEQUENCE_RANGE + tcp.side[s ^ 1, SIDE_LAST_ACK]
    known -= unwrap(known, tcp.seq)
    return known < 0 or known > LARGEST_JUMP
