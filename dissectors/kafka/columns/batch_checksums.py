"""Tells by one computation whether the checksums of many small batches fit.

A call of a library costs as much as the checksum of some thousand bytes, and most batches are smaller. A CRC is linear: leave
out what is inverted before and after, and the CRC of a sum (exclusive or) of messages is the sum of their CRCs, whatever
number of zero bytes is before each; and of a message with its own CRC behind it the CRC is 0. So the messages of a group are
added up, each with the CRC that its batch claims behind it, and the library is asked whether the CRC of the sum is 0.

Each message ends a byte behind the one before it: at the same place two copies of a damaged batch, as two consumers are sent
them, would cancel each other. As it is, damages cancel by chance only, once in 2^31, about as often as a checksum fits damaged
bytes. If a group does not fit, each of its batches is looked at alone.

Sources: R. Williams, "A Painless Guide to CRC Error Detection Algorithms" (1993); RFC 3385 (CRC-32C and sums of messages).
"""

import cython

from dissectors.kafka.columns.batch_format import *

# Text of an error that is only raised when a place was used without having been checked.
BEYOND = "a batch reaches beyond its bytes"


@cython.cclass
class ChecksumGroup:
    """Small batches with one sort of checksum. `extend(crc, data)` computes that of data behind bytes that have `crc`."""

    extend: object
    memory: object
    sums: cython.uchar[::1]
    batches: cython.longlong

    def __init__(self, extend):
        self.extend = extend
        self.memory = bytearray(GROUPED_BYTES + GROUP_BATCHES + 4)
        self.sums = self.memory
        self.batches = 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def add_bytes(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    size: cython.longlong,
    sums: cython.uchar[::1],
    to: cython.longlong,
) -> cython.int:
    i: cython.Py_ssize_t
    if at < 0 or to < 0 or size < 0 or at + size > len(data) or to + size > len(sums):
        raise IndexError(BEYOND)
    for i in range(size):
        sums[to + i] ^= data[at + i]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def add_batch(
    group: ChecksumGroup,
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    size: cython.longlong,
    said: cython.longlong,
) -> cython.int:
    """Adds a batch whose checksum `said` covers data[at : at + size], 4 to GROUPED_BYTES bytes. There must be room."""
    end: cython.longlong = GROUPED_BYTES + group.batches
    i: cython.longlong
    add_bytes(data, at, size, group.sums, end - size)
    for i in range(4):
        # Both checksums begin with all bits set, which inverts the first bytes, and are inverted at the end.
        group.sums[end - size + i] ^= 255
        group.sums[end + i] ^= ((said ^ MASK_32) >> (8 * i)) & 255
    group.batches += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def all_fit(group: ChecksumGroup) -> cython.int:
    """Whether all batches since the last call fit; the group is empty again."""
    fit: cython.int = 1
    if group.batches:
        # With MASK_32 for "so far" the inversions at both ends are undone.
        fit = group.extend(MASK_32, bytes(group.memory)) == MASK_32
        group.memory[:] = bytes(len(group.memory))
        group.batches = 0
    return fit
