"""Finds where the times of a capture jump: between packets that are neighbours in the file, of one interface.

A *step* is a packet more than WINDOW_NS earlier or later than the one of its interface before it. Most steps ahead are pauses, so
of several in a row the first and the last are kept: `analyzer.ingest.clock_jumps` says by what is around them whether a clock
jumped. Steps that no pause explains are all kept, up to MOST_STEPS.
"""

import cython

from dissectors.formats.time_order_limits import *
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix


@cython.final
@cython.cclass
class TimeSteps:
    """Takes rows of the packets matrix in the order of the file. `dropped`: so many steps more than are recorded."""

    dropped = cython.declare(cython.longlong, visibility="readonly")
    count: cython.longlong
    steps: cython.longlong[:, ::1]
    last: cython.longlong[:, ::1]

    def __init__(self):
        row: cython.longlong
        self.steps = new_matrix(STEP_COLUMNS, MOST_STEPS)
        self.last = new_matrix(1, STEP_INTERFACES)
        self.count = 0
        self.dropped = 0
        for row in range(STEP_INTERFACES):
            self.last[0, row] = UNKNOWN

    def begin_behind(self, before):
        """The time of the packet before those that will be added."""
        self.last[0, 0] = before

    @cython.boundscheck(False)
    def add(self, packets: cython.longlong[:, ::1], rows: cython.longlong):
        """Takes `packets[:, :rows]`, the next ones of the file; returns how many steps are among them."""
        row: cython.longlong
        time: cython.longlong
        before: cython.longlong
        of: cython.longlong
        found: cython.longlong = 0
        check_room(packets, PACKET_COLUMNS, rows)
        for row in range(rows):
            time = packets[PACKET_TIME, row]
            if time == UNKNOWN:
                continue
            # Of many interfaces some share a place: then a step is between two of them, which is no less odd.
            of = packets[PACKET_INTERFACE, row] & (STEP_INTERFACES - 1)
            before = self.last[0, of]
            self.last[0, of] = time
            if before != UNKNOWN and (time > before + WINDOW_NS or time < before - WINDOW_NS):
                self._keep(packets[PACKET_NUMBER, row], before, time)
                found += 1
        return found

    def told(self):
        """(number of the packet behind it, time before, time behind) of each step."""
        return [tuple(self.steps[column, row] for column in range(STEP_COLUMNS)) for row in range(self.count)]

    @cython.cfunc
    @cython.exceptval(-1)
    def _keep(self, number: cython.longlong, before: cython.longlong, after: cython.longlong) -> cython.longlong:
        if self._is_pause(before, after) and self._was_pause(self.count - 1) and self._was_pause(self.count - 2):
            self.count -= 1
        if self.count == MOST_STEPS:
            self.dropped += 1
            return 0
        self.steps[STEP_NUMBER, self.count] = number
        self.steps[STEP_BEFORE, self.count] = before
        self.steps[STEP_AFTER, self.count] = after
        self.count += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _was_pause(self, at: cython.longlong) -> cython.bint:
        return at >= 0 and self._is_pause(self.steps[STEP_BEFORE, at], self.steps[STEP_AFTER, at])

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_pause(self, before: cython.longlong, after: cython.longlong) -> cython.bint:
        """Whether a network may have been silent for so long."""
        return before < after and after - before < PAUSE_NS
