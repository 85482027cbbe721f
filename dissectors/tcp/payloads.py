"""Copies the payloads of a batch of segments one behind the other, and the places where each begins."""

import cython

from dissectors.layout import *


def payload_bytes(segments: cython.longlong[:, ::1], start: cython.longlong, stop: cython.longlong):
    """How many bytes the payloads of rows [start, stop) have together."""
    row: cython.longlong
    total: cython.longlong = 0
    for row in range(start, stop):
        total += segments[SEGMENT_CAPTURED, row]
    return total


def gather(
    block: cython.const[cython.uchar][::1],
    segments: cython.longlong[:, ::1],
    start: cython.longlong,
    stop: cython.longlong,
    target: cython.uchar[::1],
    places: cython.int[::1],
):
    """Copies the payloads of rows [start, stop), which lie in `block`, to `target`, and writes where each begins to
    `places`, where the last one ends included: one more than there are rows."""
    row: cython.longlong
    size: cython.longlong
    offset: cython.longlong
    used: cython.longlong = 0
    for row in range(start, stop):
        size = segments[SEGMENT_CAPTURED, row]
        offset = segments[SEGMENT_OFFSET, row]
        places[row - start] = cython.cast(cython.int, used)
        if size > 0:
            target[used : used + size] = block[offset : offset + size]
            used += size
    places[stop - start] = cython.cast(cython.int, used)
