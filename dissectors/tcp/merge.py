"""Segments of several inputs as one batch in the order of time.

Inputs that were captured at the same time (two interfaces in two files, a writer for each processor) hold one connection
in several files. Whoever reads them picks the input whose next segment is earliest, and this stage copies its run of
segments that are no later than those of the others: rows and payloads, into a matrix and a block of its own.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix


@cython.cclass
class Merge:
    """Collects runs of segments. `segments[:, :rows]` with payloads in `block` is the batch so far; `full`: take it."""

    block = cython.declare(object, visibility="readonly")
    segments = cython.declare(object, visibility="readonly")
    rows = cython.declare(cython.longlong, visibility="readonly")
    full = cython.declare(cython.bint, visibility="readonly")
    used: cython.longlong

    def __init__(self, rows=2056, block_bytes=262144):
        self.segments = new_matrix(SEGMENT_COLUMNS, rows)
        self.block = bytearray(block_bytes)
        self.clear()

    def clear(self):
        """The batch was taken."""
        self.rows = 0
        self.used = 0
        self.full = False

    def add(
        self,
        block: cython.const[cython.uchar][::1],
        segments: cython.longlong[:, ::1],
        start: cython.longlong,
        stop: cython.longlong,
        until: cython.longlong,
    ):
        """Copies segment rows from `start` on, before `stop`, as long as their time is not after `until`.

        A row also goes with the next one, whose time may be lower: a clock that jumped ahead for one packet must not hold
        up the rest. Returns the first row not copied.
        """
        row: cython.longlong = start
        column: cython.longlong
        following: cython.longlong
        size: cython.longlong
        offset: cython.longlong
        out: cython.longlong[:, ::1] = self.segments
        target: cython.uchar[::1]
        if self.rows == 0 and start < stop and segments[SEGMENT_CAPTURED, start] > len(self.block):
            self.block = bytearray(segments[SEGMENT_CAPTURED, start])
        target = self.block
        while row < stop:
            following = min(row + 1, stop - 1)
            if segments[SEGMENT_TIME, row] > until and segments[SEGMENT_TIME, following] > until:
                break
            size = segments[SEGMENT_CAPTURED, row]
            offset = segments[SEGMENT_OFFSET, row]
            if self.rows == out.shape[1] or self.used + size > len(target):
                self.full = True
                break
            for column in range(SEGMENT_COLUMNS):
                out[column, self.rows] = segments[column, row]
            out[SEGMENT_OFFSET, self.rows] = self.used
            if size > 0:
                target[self.used : self.used + size] = block[offset : offset + size]
            self.used += size
            self.rows += 1
            row += 1
        return row
