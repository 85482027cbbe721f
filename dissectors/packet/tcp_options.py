"""Options of the TCP header: timestamp, window scale, MSS, and whether blocks are acknowledged (RFC 9293, 7323, 2018).

An option whose length cannot be ends the list, as in Linux. What the snap length cut off is not there.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, u8, u16, u32


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def read_options(p: PacketState, at: cython.longlong, header: cython.longlong) -> cython.longlong:
    """Writes SEGMENT_TSVAL and SEGMENT_OPTIONS of the segment whose TCP header of `header` bytes begins at `at`."""
    p.out[SEGMENT_TSVAL, p.row] = UNKNOWN
    p.out[SEGMENT_OPTIONS, p.row] = 0
    if header == 20:
        return 0
    if header == 32 and at + 32 <= p.end and u32(p, at + 20) == ONLY_TIMESTAMP:
        p.out[SEGMENT_TSVAL, p.row] = u32(p, at + 24)
        return 0
    return walk_options(p, at + 20, at + header if at + header < p.end else p.end)


@cython.cfunc
@cython.exceptval(-1, check=False)
def walk_options(p: PacketState, at: cython.longlong, end: cython.longlong) -> cython.longlong:
    """Reads the options in [at, end); all were captured."""
    kind: cython.longlong
    size: cython.longlong
    found: cython.longlong = 0
    while at + 1 < end:
        kind = u8(p, at)
        if kind == OPTION_END:
            break
        if kind == OPTION_NOTHING:
            at += 1
            continue
        size = u8(p, at + 1)
        if size < 2 or at + size > end:
            break
        if kind == OPTION_TIMESTAMP and size == 10:
            p.out[SEGMENT_TSVAL, p.row] = u32(p, at + 2)
        elif kind == OPTION_BLOCKS:
            found |= OPTION_SACK
        elif kind == OPTION_MSS and size == 4:
            found |= u16(p, at + 2) << 16
        elif kind == OPTION_SCALE and size == 3:
            found |= (1 + min(u8(p, at + 2), MOST_SCALE)) << 8
        at += size
    p.out[SEGMENT_OPTIONS, p.row] = found
    return 0
