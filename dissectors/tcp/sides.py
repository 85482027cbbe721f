"""What the state of a side tells."""

import cython

from dissectors.tcp.sequence import unwrap
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def end_of_seen(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """End of all bytes of a side seen so far."""
    tail: cython.longlong = tcp.side[s, S_TAIL]
    if tail < 0:
        return tcp.side[s, S_NEXT]
    return tcp.held[tail, H_SEQ] + tcp.held[tail, H_LENGTH]


@cython.cfunc
@cython.exceptval(-1)
def unwrap_of_side(tcp: TcpState, s: cython.longlong, seq: cython.longlong) -> cython.longlong:
    """Unwraps a number of this side; the first one seen gives the side its origin."""
    if tcp.side[s, S_NEXT] == 0:
        tcp.side[s, S_NEXT] = TURN + (seq & LOW)
        tcp.side[s, S_START] = tcp.side[s, S_NEXT]
    return unwrap(tcp.side[s, S_NEXT], seq)


@cython.cfunc
@cython.exceptval(-1)
def segments_seen(tcp: TcpState, slot: cython.longlong) -> cython.longlong:
    return tcp.side[2 * slot, S_PACKETS] + tcp.side[2 * slot + 1, S_PACKETS]


@cython.cfunc
@cython.exceptval(-1)
def has_bytes(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    s: cython.longlong = 2 * slot
    return tcp.side[s, S_STREAM] + tcp.side[s, S_GAPS] + tcp.side[s + 1, S_STREAM] + tcp.side[s + 1, S_GAPS] > 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def acks_more(tcp: TcpState, s: cython.longlong, ack: cython.longlong) -> cython.bint:
    """Whether an ACK number is above the last one of side `s`. A segment without data that says nothing new may be
    a copy."""
    ahead: cython.longlong = (ack - (tcp.side[s, S_LAST_ACK] & LOW)) & LOW
    return ahead > 0 and ahead < HALF


@cython.cfunc
@cython.exceptval(-1)
def is_awaited(tcp: TcpState, s: cython.longlong, to: cython.longlong) -> cython.bint:
    """Whether `to` is a number of side `s` still to be waited for."""
    return to > tcp.side[s, S_NEXT] and to > tcp.side[s, S_WAIVED]


@cython.cfunc
@cython.exceptval(-1)
def has_nothing_pending(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Nothing of this side is kept or waited for."""
    state: cython.longlong = tcp.side[s, S_STATE]
    return tcp.side[s, S_HEAD] < 0 and (
        state & SIDE_ENDED != 0 or (state & SIDE_FIN == 0 and not is_awaited(tcp, s, tcp.side[s, S_ACKED]))
    )
