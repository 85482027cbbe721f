"""Finds the packets of chosen connections among those of a capture.

A segment of another connection costs a look at its two ports; only where both are wanted are addresses and times compared.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room

i64 = cython.typedef(cython.longlong)


@cython.cclass
class FlowPicker:
    """What is wanted. `spans`: (source high, low, port, destination high, low, port), in both directions, to a tuple of
    (first, last) times in ns; UNKNOWN as first: at any time."""

    ports: cython.uchar[::1]
    spans: dict

    def __init__(self, spans):
        self.spans = spans
        self.ports = bytearray(65536)
        for flow in spans:
            self.ports[flow[2]] = 1
            self.ports[flow[5]] = 1

    def pick(self, packets: i64[:, ::1], row: i64, segments: i64[:, ::1], found: i64, others: cython.bint):
        """Rows of `packets`, from `row` on, that are wanted, in order, and the row behind the packet of the last segment.

        Segments [0, found) were read from these packets, in their order, and have the same numbers. `others`: packets without a
        segment are wanted too (fragments of IP datagrams are such packets).
        """
        wanted: list = []
        at: i64
        check_room(segments, SEGMENT_COLUMNS, found)
        for at in range(found):
            while packets[PACKET_NUMBER, row] != segments[SEGMENT_NUMBER, at]:
                if others:
                    wanted.append(row)
                row += 1
            if self._is_wanted(segments, at):
                wanted.append(row)
            row += 1
        return wanted, row

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _is_wanted(self, segments: i64[:, ::1], at: i64) -> i64:
        time: i64 = segments[SEGMENT_TIME, at]
        if not self.ports[segments[SEGMENT_SRC_PORT, at]] or not self.ports[segments[SEGMENT_DST_PORT, at]]:
            return 0
        spans: object = self.spans.get(
            (
                segments[SEGMENT_SRC_HIGH, at],
                segments[SEGMENT_SRC_LOW, at],
                segments[SEGMENT_SRC_PORT, at],
                segments[SEGMENT_DST_HIGH, at],
                segments[SEGMENT_DST_LOW, at],
                segments[SEGMENT_DST_PORT, at],
            )
        )
        if spans is not None:
            for first, last in spans:
                if first == UNKNOWN or time == UNKNOWN or first <= time <= last:
                    return 1
        return 0
