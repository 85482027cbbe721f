"""Copies the payloads of a batch of segments one behind the other, and the places where each begins; their times."""

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


def times(segments: cython.longlong[:, ::1], rows: cython.longlong, latest: cython.longlong):
    """(first, latest, late) of rows [0, rows): the first time that is known, UNKNOWN if none is; the latest time up to their end,
    where `latest` is that before them; and by how much a segment at most was earlier than the latest one before it."""
    row: cython.longlong
    time: cython.longlong
    first: cython.longlong = UNKNOWN
    late: cython.longlong = 0
    for row in range(rows):
        time = segments[SEGMENT_TIME, row]
        if time == UNKNOWN:
            continue
        if first == UNKNOWN:
            first = time
        if time > latest:
            latest = time
        elif latest - time > late:
            late = latest - time
    return first, latest, late
