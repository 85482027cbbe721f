"""Sequence numbers (RFC 9293, 3.4): arithmetic modulo 2^32.

Inside reassembly a sequence number is an int64 whose low 32 bits are those on the wire, so that it grows with the stream and
two numbers of a side can be compared. 0 means "none". The functions here are the only ones that compute modulo 2^32.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.state_columns import *


@cython.ccall
@cython.exceptval(check=False)
def unwrap(near: cython.longlong, sequence: cython.longlong) -> cython.longlong:
    """The number closest to `near` whose low 32 bits are `sequence`: the nearest of those that wrap to it.

    The result lies in [near - 2^31, near + 2^31).
    """
    return near + ((sequence - near + HALF_RANGE) & LOW_32) - HALF_RANGE


@cython.cfunc
@cython.exceptval(check=False)
def older_ack(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """The lower of two ACK numbers as on the wire; UNKNOWN, so that nothing is followed, when one is."""
    if one == UNKNOWN or other == UNKNOWN:
        return UNKNOWN
    return other if unwrap(one, other) < one else one
