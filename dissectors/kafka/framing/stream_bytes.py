"""Big-endian integers of the stream.

A chunk lies in the block just fed (buffer 0), on the heap of the stage before (1), or on the heap of this stage (OWN_HEAP).
"""

import cython

from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def byte_at(f: FramingState, buffer: i64, at: i64) -> i64:
    """The byte at offset `at` of a buffer, checked."""
    if buffer == 0:
        return f.stream_block[at]
    if buffer == 1:
        return f.stream_heap[at]
    return f.heap[at]


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
@cython.boundscheck(False)
def int32_at(f: FramingState, buffer: i64, at: i64) -> i64:
    """The int32 at offset `at` of a buffer. In the block, where most are, its four bytes are checked at once."""
    value: i64
    if buffer == 0:
        if at < 0 or at + 4 > len(f.stream_block):
            raise IndexError("a chunk points outside its block")
        value = f.stream_block[at]
        value = (value << 8) | f.stream_block[at + 1]
        value = (value << 8) | f.stream_block[at + 2]
        value = (value << 8) | f.stream_block[at + 3]
    else:
        value = byte_at(f, buffer, at)
        value = (value << 8) | byte_at(f, buffer, at + 1)
        value = (value << 8) | byte_at(f, buffer, at + 2)
        value = (value << 8) | byte_at(f, buffer, at + 3)
    return value - TWO_32 if value >= TWO_31 else value


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def int16_at(f: FramingState, buffer: i64, at: i64) -> i64:
    value: i64 = byte_at(f, buffer, at)
    value = (value << 8) | byte_at(f, buffer, at + 1)
    return value - 65536 if value > 32767 else value
