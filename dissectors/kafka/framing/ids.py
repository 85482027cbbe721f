"""Ids of connections and exchanges.

An id is a hash of flow, time and sequence number: equal in every run, however the capture is cut into splits.
"""

import cython

from dissectors.kafka.framing.state import i64
from dissectors.kafka.framing.state_columns import *


@cython.cfunc
@cython.exceptval(check=False)
def identity(flow: i64, time: i64, seq: i64) -> i64:
    """A non-negative 63-bit id of a flow, a time in ns and a sequence number.

    Each step of the mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014).
    """
    h: cython.ulonglong = cython.cast(cython.ulonglong, flow & LOW_63)
    h = mix(h ^ cython.cast(cython.ulonglong, time & LOW_63))
    h = mix(h ^ cython.cast(cython.ulonglong, seq & LOW_32))
    return cython.cast(i64, h & cython.cast(cython.ulonglong, LOW_63))


@cython.cfunc
@cython.exceptval(check=False)
def mix(h: cython.ulonglong) -> cython.ulonglong:
    h = ((h ^ (h >> 30)) * MIX_1) & LOW_64
    h = ((h ^ (h >> 27)) * MIX_2) & LOW_64
    return h ^ (h >> 31)
