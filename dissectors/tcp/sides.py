"""Questions about the state of one side, or of both.

In all files of this package `slot` is the slot of a connection, `s` is 2 * slot + side, a row of the `side` matrix, and
`s ^ 1` is the peer.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def end_of_seen(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """The sequence number behind the last byte seen of a side, delivered or buffered."""
    tail: cython.longlong = tcp.side[s, SIDE_LAST_RECORD]
    if tail < 0:
        return tcp.side[s, SIDE_NEXT]
    return tcp.records[tail, RECORD_SEQ] + tcp.records[tail, RECORD_LENGTH]


@cython.cfunc
@cython.exceptval(-1)
def unwrap_of_side(tcp: TcpState, s: cython.longlong, seq: cython.longlong) -> cython.longlong:
    """Unwraps a sequence number of this side; the first one seen sets SIDE_NEXT, which the later ones are compared with."""
    if tcp.side[s, SIDE_NEXT] == 0:
        tcp.side[s, SIDE_NEXT] = SEQUENCE_RANGE + (seq & LOW_32)
        tcp.side[s, SIDE_START] = tcp.side[s, SIDE_NEXT]
    return unwrap(tcp.side[s, SIDE_NEXT], seq)


@cython.cfunc
@cython.exceptval(-1)
def is_reset(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether a reset was seen. What is sent again behind it was not lost: who sends it has not heard of the reset."""
    return tcp.conn[s >> 1, CONN_RST] != 0 or tcp.conn[s >> 1, CONN_CLOSE] == END_RST


@cython.cfunc
@cython.exceptval(-1)
def segments_seen(tcp: TcpState, slot: cython.longlong) -> cython.longlong:
    """How many segments the connection had so far."""
    return tcp.side[2 * slot, SIDE_PACKETS] + tcp.side[2 * slot + 1, SIDE_PACKETS]


@cython.cfunc
@cython.exceptval(-1)
def has_bytes(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Whether either side has delivered bytes or gaps."""
    s: cython.longlong = 2 * slot
    return (
        tcp.side[s, SIDE_STREAM] + tcp.side[s, SIDE_GAPS] + tcp.side[s + 1, SIDE_STREAM] + tcp.side[s + 1, SIDE_GAPS]
        > 0
    )


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def acks_more(tcp: TcpState, s: cython.longlong, ack: cython.longlong) -> cython.bint:
    """Whether an ACK number is above the last one of side `s`. A segment without data that acknowledges
    nothing new may be a duplicate."""
    ahead: cython.longlong = (ack - (tcp.side[s, SIDE_LAST_ACK] & LOW_32)) & LOW_32
    return ahead > 0 and ahead < HALF_RANGE


@cython.cfunc
@cython.exceptval(-1)
def is_awaited(tcp: TcpState, s: cython.longlong, to: cython.longlong) -> cython.bint:
    """Whether the bytes of side `s` before `to` are still waited for."""
    return to > tcp.side[s, SIDE_NEXT] and to > tcp.side[s, SIDE_WAIVED]


@cython.cfunc
@cython.exceptval(-1)
def has_nothing_pending(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether nothing of this side is buffered or awaited: no out-of-order bytes, no acknowledged hole, no FIN."""
    state: cython.longlong = tcp.side[s, SIDE_STATE]
    return tcp.side[s, SIDE_FIRST_RECORD] < 0 and (
        state & STATE_ENDED != 0 or (state & STATE_FIN == 0 and not is_awaited(tcp, s, tcp.side[s, SIDE_ACKED]))
    )


@cython.cfunc
@cython.exceptval(-1)
def is_set_aside(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the first record of a side was set aside (`damaged`)."""
    record: cython.longlong = tcp.side[s, SIDE_FIRST_RECORD]
    return record >= 0 and tcp.records[record, RECORD_KIND] >= RECORD_DAMAGED


@cython.cfunc
@cython.exceptval(-1)
def is_held(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the first record of a side was set aside and nothing of it is acknowledged: it is not delivered."""
    return is_set_aside(tcp, s) and tcp.side[s, SIDE_ACKED] <= tcp.records[tcp.side[s, SIDE_FIRST_RECORD], RECORD_SEQ]
