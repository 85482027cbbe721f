"""Copies the payloads of a batch of segments one behind the other, and the places where each begins; chosen columns of each row
side by side; times and numbers of rows."""

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


def side_by_side(
    segments: cython.longlong[:, ::1],
    rows: cython.longlong,
    columns: cython.longlong[::1],
    target: cython.longlong[::1],
):
    """Copies the values of `columns` of rows [0, rows) to `target`, row after row."""
    row: cython.longlong
    place: cython.longlong
    at: cython.longlong = 0
    for row in range(rows):
        for place in range(columns.shape[0]):
            target[at] = segments[columns[place], row]
            at += 1


def count_up(first: cython.longlong, target: cython.longlong[::1]):
    """Writes `first` and the numbers that follow it."""
    place: cython.longlong
    for place in range(target.shape[0]):
        target[place] = first + place


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
