"""State of the exchanges stage: rows of requests that wait for their replies, and a row for each connection."""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix


@cython.cclass
class ExchangeState:
    """Rows of requests that wait for their replies, and what is remembered of each connection."""

    pending: cython.longlong[:, ::1]
    pending_memory: object
    places: cython.longlong
    turns: cython.longlong[:, ::1]
    turns_memory: object
    slots: cython.longlong
    whole_requests = cython.declare(set, visibility="readonly")
    odd = cython.declare(cython.longlong, visibility="readonly")


@cython.cfunc
def grow_pool(x: ExchangeState, wanted):
    size = max(1024, x.places)
    while size < wanted:
        size *= 2
    # One place more than the pool has, for rows that wait for nothing.
    larger = new_matrix(size + 1, ROW_COLUMNS)
    if x.places:
        before = x.pending_memory.cast("B")
        larger.cast("B")[: len(before)] = before
    x.pending_memory = larger
    x.pending = larger
    x.places = size


@cython.cfunc
def grow_connections(x: ExchangeState, wanted):
    size = max(1024, x.slots)
    while size < wanted:
        size *= 2
    larger = new_matrix(size, TURN_COLUMNS)
    for slot in range(x.slots, size):
        larger[slot, TURN_PART] = UNKNOWN
    if x.slots:
        before = x.turns_memory.cast("B")
        larger.cast("B")[: len(before)] = before
    x.turns_memory = larger
    x.turns = larger
    x.slots = size
