"""State of parking: the parked connections, a table to find them by flow, and the cells that hold their values.

All of it is mapped in full when the first connection is parked: a page takes memory when it is first written to. The table is
open addressing with linear probing, as that of reassembly; it holds 1 + entry, and 0 is empty. Connections of one flow (views,
and equal addresses of several networks) are found together.
"""

import cython

from dissectors.matrix import new_matrix
from dissectors.parking.parking_columns import *

i64 = cython.typedef(cython.longlong)


@cython.cclass
class ParkingState:
    """What the functions of parking work on. `count`: connections that are parked."""

    count = cython.declare(cython.longlong, visibility="readonly")
    capacity: i64
    parked: i64[:, ::1]
    links: cython.int[::1]
    cursors: i64[:, ::1]
    remembered: i64[:, ::1]  # remembered[number of a cursor, place]: the last values, by turns
    cells: cython.uchar[::1]
    next_cell: cython.int[::1]
    table: cython.int[::1]
    mask: i64
    used_entries: i64  # those behind were never used
    free_entry: i64
    used_cells: i64
    free_cell: i64
    free_cells: i64  # never used ones too
    queues: i64[:, ::1]  # the oldest and the newest entry of each queue, -1 none, and how many there are


@cython.cfunc
def map_memory(p: ParkingState):
    """Room for `capacity` connections."""
    entry: i64
    size: i64 = 1024
    cells: i64 = p.capacity * CELLS_PER_CONNECTION + PARKED_AT_ONCE * MOST_CELLS
    while size < p.capacity + p.capacity // 2:
        size *= 2
    p.parked = new_matrix(p.capacity, PARKED_COLUMNS)
    p.links = new_matrix(p.capacity, LINKS // 2).cast("B").cast("i")
    p.cells = new_matrix(1, cells * CELL_BYTES // 8).cast("B")
    p.next_cell = new_matrix(1, cells // 2 + 1).cast("B").cast("i")
    p.table = new_matrix(1, size // 2).cast("B").cast("i")
    p.mask = size - 1
    p.free_cells = cells
    p.queues = new_matrix(QUEUES, 3)
    for entry in range(QUEUES):
        p.queues[entry, 0] = -1
        p.queues[entry, 1] = -1


@cython.cfunc
@cython.inline
@cython.exceptval(-2)
def link(p: ParkingState, entry: i64, number: i64) -> i64:
    return p.links[entry * LINKS + number]


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def set_link(p: ParkingState, entry: i64, number: i64, value: i64) -> cython.int:
    p.links[entry * LINKS + number] = cython.cast(cython.int, value)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def enter(p: ParkingState, entry: i64) -> cython.int:
    """Puts an entry into the table."""
    i: i64 = p.parked[entry, PARKED_KEY] & p.mask
    while p.table[i]:
        i = (i + 1) & p.mask
    p.table[i] = cython.cast(cython.int, entry + 1)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def remove(p: ParkingState, entry: i64) -> cython.int:
    """Takes an entry out of the table and moves later ones up, so that no search stops before its entry."""
    i: i64 = p.parked[entry, PARKED_KEY] & p.mask
    home: i64
    j: i64
    while p.table[i] != entry + 1:
        i = (i + 1) & p.mask
    j = i
    while True:
        j = (j + 1) & p.mask
        if p.table[j] == 0:
            break
        home = p.parked[p.table[j] - 1, PARKED_KEY] & p.mask
        if ((j - home) & p.mask) >= ((j - i) & p.mask):
            p.table[i] = p.table[j]
            i = j
    p.table[i] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
def join_queue(p: ParkingState, entry: i64, queue: i64) -> cython.int:
    """Puts an entry at the end of a queue."""
    newest: i64 = p.queues[queue, 1]
    set_link(p, entry, LINK_QUEUE, queue)
    set_link(p, entry, LINK_OLDER, newest)
    set_link(p, entry, LINK_NEWER, -1)
    if newest < 0:
        p.queues[queue, 0] = entry
    else:
        set_link(p, newest, LINK_NEWER, entry)
    p.queues[queue, 1] = entry
    p.queues[queue, 2] += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def leave_queue(p: ParkingState, entry: i64) -> cython.int:
    """Takes an entry out of its queue."""
    queue: i64 = link(p, entry, LINK_QUEUE)
    older: i64 = link(p, entry, LINK_OLDER)
    newer: i64 = link(p, entry, LINK_NEWER)
    if older < 0:
        p.queues[queue, 0] = newer
    else:
        set_link(p, older, LINK_NEWER, newer)
    if newer < 0:
        p.queues[queue, 1] = older
    else:
        set_link(p, newer, LINK_OLDER, older)
    set_link(p, entry, LINK_QUEUE, -1)
    p.queues[queue, 2] -= 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def first_to_go(p: ParkingState) -> i64:
    """Of the oldest entries of both queues the one to go first. There is one."""
    half_open: i64 = p.queues[QUEUE_HALF_OPEN, 0]
    other: i64 = p.queues[QUEUE_OPEN, 0]
    if other < 0 or (half_open >= 0 and p.queues[QUEUE_HALF_OPEN, 2] > p.capacity // HALF_OPEN_PART):
        return half_open
    if half_open < 0 or p.parked[other, PARKED_BASE] <= p.parked[half_open, PARKED_BASE]:
        return other
    return half_open


@cython.cfunc
@cython.exceptval(-1)
def new_entry(p: ParkingState) -> i64:
    """An entry with an empty cell, which is nowhere entered yet. There is room for one: see `Parking.park`."""
    entry: i64 = p.free_entry
    if entry >= 0:
        p.free_entry = link(p, entry, LINK_NEWER)
    else:
        entry = p.used_entries
        p.used_entries += 1
    set_link(p, entry, LINK_CELL, new_cell(p))
    return entry


@cython.cfunc
@cython.exceptval(-1)
def give_back(p: ParkingState, entry: i64) -> cython.int:
    """An entry that is in no queue has no values any more."""
    remove(p, entry)
    free_chain(p, link(p, entry, LINK_CELL))
    set_link(p, entry, LINK_NEWER, p.free_entry)
    p.free_entry = entry
    return 0


@cython.cfunc
@cython.exceptval(-1)
def set_cursor(p: ParkingState, number: i64, entry: i64) -> cython.int:
    """Writing, or reading, of the entry begins with its first value; `number` says which cursor has it."""
    p.cursors[number, CURSOR_CELL] = link(p, entry, LINK_CELL)
    p.cursors[number, CURSOR_AT] = 0
    p.cursors[number, CURSOR_BASE] = p.parked[entry, PARKED_BASE]
    p.cursors[number, CURSOR_REMEMBERED] = 0
    remember(p, number, p.parked[entry, PARKED_KEY])
    remember(p, number, p.parked[entry, PARKED_BASE])
    return 0


@cython.cfunc
@cython.exceptval(-1)
def remember(p: ParkingState, number: i64, value: i64) -> cython.int:
    p.remembered[number, p.cursors[number, CURSOR_REMEMBERED] & (REMEMBERED - 1)] = value
    p.cursors[number, CURSOR_REMEMBERED] += 1
    return 0


@cython.cfunc
@cython.exceptval(-2)
def new_cell(p: ParkingState) -> i64:
    """A cell at the end of a chain. There is one: see `Parking.park`."""
    cell: i64 = p.free_cell
    if cell >= 0:
        p.free_cell = p.next_cell[cell]
    else:
        cell = p.used_cells
        p.used_cells += 1
    p.free_cells -= 1
    p.next_cell[cell] = -1
    return cell


@cython.cfunc
@cython.exceptval(-1)
def free_chain(p: ParkingState, cell: i64) -> cython.int:
    after: i64
    while cell >= 0:
        after = p.next_cell[cell]
        p.next_cell[cell] = cython.cast(cython.int, p.free_cell)
        p.free_cell = cell
        p.free_cells += 1
        cell = after
    return 0
