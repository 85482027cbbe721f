"""Sequence numbers: arithmetic modulo 2^32."""

import cython

from dissectors.layout import *
from dissectors.tcp.state_columns import *


@cython.ccall
@cython.exceptval(check=False)
def unwrap(near: cython.longlong, sequence: cython.longlong) -> cython.longlong:
    """The number closest to `near` whose low 32 bits are `sequence`: all arithmetic modulo 2^32 of the project.

    The result lies in [near - 2^31, near + 2^31).
    """
    return near + ((sequence - near + HALF_RANGE) & LOW_32) - HALF_RANGE


@cython.cfunc
@cython.exceptval(check=False)
def older_ack(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """The lower of two ACK numbers; UNKNOWN (follows nothing) when one is."""
    if one == UNKNOWN or other == UNKNOWN:
        return UNKNOWN
    return other if unwrap(one, other) < one else one
