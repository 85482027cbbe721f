"""Causal order: bytes of a side are delivered behind those bytes of the peer that their ACK number acknowledges.

So a reply never overtakes its request, whatever order the capture has them in.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.acknowledgments import believed_ack
from dissectors.tcp.sequence import unwrap
from dissectors.tcp.sides import is_awaited, is_held
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def must_wait(tcp: TcpState, s: cython.longlong, ack: cython.longlong) -> cython.bint:
    """Whether bytes of side `s` with this ACK number must wait for bytes of the peer that are not delivered yet."""
    peer: cython.longlong = s ^ 1
    if ack == UNKNOWN or tcp.side[peer, SIDE_STATE] & STATE_ENDED:
        return False
    if tcp.side[peer, SIDE_STATE] & STATE_STARTED == 0:
        if tcp.side[peer, SIDE_FIRST_RECORD] >= 0:
            return True
        # Nothing of the peer was seen: its bytes may be late, unless its window has passed or they lie behind this ACK.
        return tcp.side[peer, SIDE_LOST_TO] == 0 and (
            tcp.side[peer, SIDE_LOWEST_START] == 0
            or unwrap(tcp.side[peer, SIDE_NEXT], ack) > tcp.side[peer, SIDE_LOWEST_START]
        )
    return is_awaited(tcp, peer, believed_ack(tcp, peer, ack))


@cython.cfunc
@cython.exceptval(-1)
def is_first_record_next(tcp: TcpState, s: cython.longlong) -> cython.bint:
    """Whether the first record of a side has the bytes that are delivered next, and is not held."""
    return (
        tcp.side[s, SIDE_FIRST_RECORD] >= 0
        and tcp.side[s, SIDE_STATE] & STATE_STARTED != 0
        and tcp.records[tcp.side[s, SIDE_FIRST_RECORD], RECORD_SEQ] == tcp.side[s, SIDE_NEXT]
        and not is_held(tcp, s)
    )


@cython.cfunc
@cython.exceptval(-1)
def captured_first(tcp: TcpState, slot: cython.longlong, one: cython.bint, other: cython.bint) -> cython.longlong:
    """The `s` whose first record was captured first, if `one` (side 0) and `other` (side 1) allow it; -2 when neither does."""
    a: cython.longlong = 2 * slot
    if one and other:
        one = (
            tcp.records[tcp.side[a, SIDE_FIRST_RECORD], RECORD_NUMBER]
            <= tcp.records[tcp.side[a + 1, SIDE_FIRST_RECORD], RECORD_NUMBER]
        )
    return a if one else a + 1 if other else -2
