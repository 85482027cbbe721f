"""Which packets belong to a stretch of time, where pieces of a capture share the bytes around a cut."""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room


@cython.boundscheck(False)
def keep_times(
    packets: cython.longlong[:, ::1],
    rows: cython.longlong,
    begin: cython.longlong,
    end: cython.longlong,
    inside: cython.bint,
):
    """Keeps of `packets[:, :rows]` those with begin <= time < end, or with `inside` false those others; returns how many."""
    row: cython.longlong
    column: cython.longlong
    time: cython.longlong
    kept: cython.longlong = 0
    check_room(packets, PACKET_COLUMNS, rows)
    for row in range(rows):
        time = packets[PACKET_TIME, row]
        if (begin <= time and time < end) == inside:
            for column in range(PACKET_COLUMNS):
                packets[column, kept] = packets[column, row]
            kept += 1
    return kept
