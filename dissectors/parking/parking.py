"""Keeps what all stages know of idle connections in few bytes, so that millions may be open at a time.

In its slot a connection takes some 3 KB over all stages, most of it columns that are zero while nothing happens. A parked one
has no slot: the rows of all stages are one behind the other in a chain of cells (`row_bytes`), found by the hash of the flow,
and come back into a slot, any slot, as they were when a segment of the flow comes. So what a stage does never depends on
whether a connection was parked in between. The pools of the stages stay as they are; a row holds indexes of pools, and no pool
holds numbers of slots but those of connections that are never parked (`analyzer.ingest.idle_connections`).

Rows that a stage has of another connection, which had the slot before, are not kept: a group of rows belongs to the part that
its column says.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.parking.parking_columns import *
from dissectors.parking.parking_state import (
    ParkingState,
    enter,
    first_to_go,
    give_back,
    i64,
    join_queue,
    leave_queue,
    link,
    map_memory,
    new_entry,
    set_cursor,
)
from dissectors.parking.row_bytes import put_byte, put_row, take_byte, take_row


@cython.final
@cython.cclass
class Parking(ParkingState):
    """At most `capacity` connections, `count` of them now.

    `groups` is what the stages give, one after the other: (number of the column that holds the part, ((matrix of
    state[slot, column], 1), (matrix of so many rows for each slot, that number) ...)). They are the same in each call.
    """

    def __init__(self, capacity):
        self.capacity = capacity
        self.count = 0
        self.used_entries = 0
        self.free_entry = -1
        self.used_cells = 0
        self.free_cell = -1
        self.free_cells = 0
        self._make_cursors(PARKED_AT_ONCE)

    def park(self, idle, groups):
        """Keeps the rows of these connections (tuples of IDLE_ values), in this order; returns how many there was room for."""
        done = 0
        if not self.used_entries:
            map_memory(self)
        while done < len(idle):
            some = idle[done : done + PARKED_AT_ONCE]
            if self.count + len(some) > self.capacity or self.free_cells < PARKED_AT_ONCE * MOST_CELLS:
                break
            for number, each in enumerate(some):
                self._new_entry(number, each)
            for part_column, matrices in groups:
                self._put_group(part_column, matrices, some)
            done += len(some)
        return done

    def wanted(self, keys: i64[::1], rows: i64):
        """The entries whose flow is one of `keys[:rows]`, each once. They are to be taken."""
        row: i64
        i: i64
        entry: i64
        found = []
        if self.count == 0:
            return found
        for row in range(rows):
            i = keys[row] & self.mask
            while self.table[i]:
                entry = self.table[i] - 1
                if self.parked[entry, PARKED_KEY] == keys[row] and link(self, entry, LINK_QUEUE) >= 0:
                    leave_queue(self, entry)
                    found.append(entry)
                i = (i + 1) & self.mask
        return found

    def oldest(self, wanted):
        """Entries to be taken, at most so many, the longest idle first. Half-open ones are the first to go where they are more
        than a part of all (HALF_OPEN_PART): then they are a scan or a flood."""
        entry: i64
        found = []
        while self.count > len(found) and len(found) < wanted:
            entry = first_to_go(self)
            leave_queue(self, entry)
            found.append(entry)
        return found

    def take(self, entries, slots, groups):
        """Writes the rows of these entries to the rows of these slots, and forgets the entries."""
        entry: i64
        if len(entries) > self.cursors.shape[0]:
            self._make_cursors(len(entries))
        for number, entry in enumerate(entries):
            set_cursor(self, number, entry)
        for part_column, matrices in groups:
            self._take_group(part_column, matrices, slots)
        for entry in entries:
            give_back(self, entry)
            self.count -= 1

    @cython.cfunc
    def _make_cursors(self, count: i64):
        self.cursors = new_matrix(count, CURSOR_COLUMNS)
        self.remembered = new_matrix(count, REMEMBERED)

    @cython.cfunc
    @cython.exceptval(-1)
    def _new_entry(self, number: i64, idle: tuple) -> cython.int:
        entry: i64 = new_entry(self)
        self.parked[entry, PARKED_KEY] = idle[IDLE_KEY]
        self.parked[entry, PARKED_BASE] = idle[IDLE_TIME]
        enter(self, entry)
        join_queue(self, entry, QUEUE_HALF_OPEN if idle[IDLE_HALF_OPEN] else QUEUE_OPEN)
        set_cursor(self, number, entry)
        self.count += 1
        return 0

    @cython.cfunc
    def _put_group(self, part_column: i64, matrices, idle: list):
        """Rows of one stage, behind a byte that says whether they are those of the connection."""
        number: i64
        slot: i64
        row: i64
        owner: i64[:, ::1] = matrices[0][0]
        matrix: i64[:, ::1]
        count: i64 = len(idle)
        per_slot: i64
        for number in range(count):
            slot = idle[number][IDLE_SLOT]
            put_byte(self, number, 1 if owner[slot, part_column] == idle[number][IDLE_PART] else 0)
        for memory, rows in matrices:
            matrix = memory
            per_slot = rows
            for number in range(count):
                slot = idle[number][IDLE_SLOT]
                if owner[slot, part_column] == idle[number][IDLE_PART]:
                    for row in range(per_slot * slot, per_slot * (slot + 1)):
                        put_row(self, number, matrix, row)

    @cython.cfunc
    def _take_group(self, part_column: i64, matrices, slots: list):
        number: i64
        slot: i64
        row: i64
        owner: i64[:, ::1] = matrices[0][0]
        matrix: i64[:, ::1]
        count: i64 = len(slots)
        per_slot: i64
        known = [take_byte(self, number) for number in range(count)]
        for memory, rows in matrices:
            matrix = memory
            per_slot = rows
            for number in range(count):
                slot = slots[number]
                if known[number]:
                    for row in range(per_slot * slot, per_slot * (slot + 1)):
                        take_row(self, number, matrix, row)
                else:
                    # What the slot had before is of another connection, or of this one before it was parked.
                    owner[slot, part_column] = UNKNOWN
