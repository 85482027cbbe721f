"""Tells by one computation whether the checksums of many small batches fit.

A call of a library costs as much as the checksum of some thousand bytes, and most batches are smaller. The CRC of a message with
its own CRC behind it is 0 (both ends inverted as these two CRCs want it). So the covered bytes of a group of batches are laid one
behind the other, each with the CRC that its batch claims; if that is right, the computation is 0 again where the next one
begins. The library is asked once whether it ends at 0.

It does not if one batch is damaged, nor for any two wrong bits in the group; other damages of several batches cancel each other
by chance only, once in 2^31, about as often as a checksum fits damaged bytes. If a group does not fit, each of its batches is
looked at alone.

Sources: R. Williams, "A Painless Guide to CRC Error Detection Algorithms" (1993); RFC 3385 (what CRC-32C detects).
"""

import cython

from dissectors.kafka.columns.batch_format import *


@cython.cclass
class ChecksumGroup:
    """Small batches with one sort of checksum. `extend(crc, data)` continues the checksum `crc` of earlier bytes over `data`."""

    extend: object
    memory: object
    laid: cython.uchar[::1]
    used: cython.longlong

    def __init__(self, extend):
        self.extend = extend
        self.memory = memoryview(bytearray(GROUP_BYTES))
        self.laid = self.memory
        self.used = 0


@cython.cfunc
@cython.exceptval(-1)
def has_room(group: ChecksumGroup, size: cython.longlong) -> cython.int:
    """Whether a batch whose checksum covers `size` bytes can be added."""
    return group.used + size + 4 <= GROUP_BYTES


@cython.cfunc
@cython.exceptval(-1)
def add_batch(
    group: ChecksumGroup,
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    size: cython.longlong,
    said: cython.longlong,
) -> cython.int:
    """Adds a batch whose checksum `said` covers data[at : at + size], at least 4 bytes. There must be room."""
    begin: cython.longlong = group.used
    i: cython.longlong
    if at < 0 or size < 4 or at + size > len(data):
        raise IndexError("a batch reaches beyond its bytes")
    group.laid[begin : begin + size] = data[at : at + size]
    for i in range(4):
        group.laid[begin + i] ^= 255
        group.laid[begin + size + i] = ((said ^ MASK_32) >> (8 * i)) & 255
    group.used = begin + size + 4
    return 0


@cython.cfunc
@cython.exceptval(-1)
def all_fit(group: ChecksumGroup) -> cython.int:
    """Whether all batches since the last call fit; the group is empty again."""
    fit: cython.int = 1
    if group.used:
        # MASK_32 is 0 with both ends inverted.
        fit = group.extend(MASK_32, bytes(group.memory[: group.used])) == MASK_32
        group.used = 0
    return fit
