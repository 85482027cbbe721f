"""The hash of a flow: capture point, addresses and ports.

It is the same for both directions and never negative. With seed 0 it is the same in every process and goes into ids; the flow
table uses a random seed, so that nobody can make a capture whose flows collide.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(check=False)
def mix(x: cython.ulonglong) -> cython.ulonglong:
    """The finaliser of splitmix64."""
    x = ((x ^ (x >> 30)) * MIX_1) & ALL_64
    x = ((x ^ (x >> 27)) * MIX_2) & ALL_64
    return x ^ (x >> 31)


@cython.cfunc
@cython.exceptval(check=False)
def endpoint_hash(
    seed: cython.ulonglong, high: cython.longlong, low: cython.longlong, port: cython.longlong
) -> cython.ulonglong:
    """The hash of one address and its port."""
    x: cython.ulonglong = seed ^ (cython.cast(cython.ulonglong, high) & ALL_64)
    x = mix(x) ^ (cython.cast(cython.ulonglong, low) & ALL_64)
    # Multiplied, the ports of one address are nowhere near those of the next one: both are counted up in many networks.
    return mix((x + cython.cast(cython.ulonglong, port) * MIX_1) & ALL_64)


@cython.cfunc
@cython.exceptval(check=False)
def flow_hash(
    seed: cython.ulonglong,
    tap: cython.longlong,
    a_high: cython.longlong,
    a_low: cython.longlong,
    a_port: cython.longlong,
    b_high: cython.longlong,
    b_low: cython.longlong,
    b_port: cython.longlong,
) -> cython.longlong:
    """The hash of a flow: a sum over both endpoints, so that which side was seen first does not matter."""
    x: cython.ulonglong = endpoint_hash(seed, a_high, a_low, a_port)
    x = (x + endpoint_hash(seed, b_high, b_low, b_port) + cython.cast(cython.ulonglong, tap)) & ALL_64
    return cython.cast(cython.longlong, mix(x) >> 1)


def flows(
    segments: cython.longlong[:, ::1], start: cython.longlong, stop: cython.longlong, target: cython.longlong[::1]
):
    """Writes the hash of the flow of each segment row of [start, stop) to `target`, with seed 0."""
    row: cython.longlong
    for row in range(start, stop):
        target[row - start] = flow_hash(
            0,
            segments[SEGMENT_TAP, row],
            segments[SEGMENT_SRC_HIGH, row],
            segments[SEGMENT_SRC_LOW, row],
            segments[SEGMENT_SRC_PORT, row],
            segments[SEGMENT_DST_HIGH, row],
            segments[SEGMENT_DST_LOW, row],
            segments[SEGMENT_DST_PORT, row],
        )
