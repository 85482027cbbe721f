"""Arithmetic of `timing`: lags, full segments, windows, and counts of round trips by their length."""

import cython

from dissectors.layout import *
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def lag_of(time: cython.longlong, timestamp: cython.longlong) -> cython.longlong:
    """The lag of a packet, 1 at least: 0 means none. `time` is LAG_RANGE at least."""
    lag: cython.longlong = (time - timestamp * TIMESTAMP_NS) % LAG_RANGE
    return lag if lag > 0 else 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def difference(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """One lag less another: of the differences that are equal modulo LAG_RANGE the one nearest to 0. Both are in [0, LAG_RANGE)."""
    return (one - other + LAG_RANGE + LAG_RANGE // 2) % LAG_RANGE - LAG_RANGE // 2


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def added(total: cython.longlong, more: cython.longlong) -> cython.longlong:
    """A sum of counts, or of times: UNKNOWN where one of both is, and where it is longer than all time (clocks run to and fro)."""
    return UNKNOWN if total == UNKNOWN or more == UNKNOWN or more > LATEST_TIME - total else total + more


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def full_segment(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """Payload of a full segment of the connection, in bytes: the lesser of both offers, less the timestamp."""
    size: cython.longlong = tcp.side[s, SIDE_MSS]
    other: cython.longlong = tcp.side[s ^ 1, SIDE_MSS]
    if other and (size == 0 or other < size):
        size = other
    return max(size - TIMESTAMP_BYTES, LEAST_SEGMENT) if size else USUAL_SEGMENT


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def used_scale(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """By how many bits the windows of side `s` are shifted: RFC 7323 needs the option in both SYNs, and allows 14."""
    if tcp.side[s, SIDE_WSCALE] == 1 or tcp.side[s ^ 1, SIDE_WSCALE] == 1:
        return 0
    return tcp.side[s, SIDE_WSCALE] - 2


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def way_step(way: cython.longlong) -> cython.longlong:
    """The step of WAY_STEPS that a time belongs to."""
    step: cython.longlong = 0
    way >>= WAY_FIRST_BITS
    while way > 0 and step < WAY_STEPS - 1:
        way >>= 1
        step += 1
    return step


@cython.cfunc
@cython.exceptval(-1)
def way_count(tcp: TcpState, s: cython.longlong) -> cython.longlong:
    """How many round trips of side `s` were counted."""
    step: cython.longlong
    count: cython.longlong = 0
    for step in range(WAY_STEPS):
        count += tcp.side[s, SIDE_WAYS + step]
    return count


@cython.cfunc
@cython.exceptval(-1)
def way_percentile(tcp: TcpState, s: cython.longlong, percent: cython.longlong) -> cython.longlong:
    """A percentile of the round trips of side `s`, ns, as if those of a step were spread evenly over it; UNKNOWN without any."""
    step: cython.longlong = 0
    begin: cython.longlong
    count: cython.longlong = way_count(tcp, s)
    rank: cython.longlong = max(1, (count * percent + 99) // 100)
    if count == 0:
        return UNKNOWN
    while rank > tcp.side[s, SIDE_WAYS + step]:
        rank -= tcp.side[s, SIDE_WAYS + step]
        step += 1
    begin = cython.cast(cython.longlong, 1) << (WAY_FIRST_BITS + step - 1) if step else 0
    # Those of the last step are this long at least.
    if step == WAY_STEPS - 1:
        return begin
    return begin + ((cython.cast(cython.longlong, 1) << (WAY_FIRST_BITS + step)) - begin) * rank // (
        tcp.side[s, SIDE_WAYS + step] + 1
    )
