"""Strings of messages become numbers: equal strings have the same one (interning)."""

import cython

from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_state import OUTSIDE, WalkState
from dissectors.kafka.columns.walk_values import store_value
from dissectors.layout import *


class Strings:
    """Distinct strings of messages, as bytes: `values[number]`; number 0 is the empty one. Grows until `clear`."""

    def __init__(self):
        self.clear()

    def clear(self):
        """Forgets all: numbers given before mean nothing any more."""
        self.values = []
        self.numbers = {}
        self.size_bytes = 0
        self.number(b"")

    def number(self, value):
        """The number of a string, the same for equal ones."""
        found = self.numbers.get(value)
        if found is None:
            found = len(self.values)
            self.numbers[value] = found
            self.values.append(value)
            self.size_bytes += len(value)
        return found


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def text_slot(data: cython.const[cython.uchar][::1], at: cython.longlong, size: cython.longlong) -> cython.longlong:
    """Which of the 4,096 slots a short string shares with others of its hash."""
    mixed: cython.longlong = size
    word: cython.longlong
    place: cython.longlong = at
    if at < 0 or at + size > len(data):
        raise IndexError(OUTSIDE)
    # Four bytes a step: each step waits for the one before.
    while place + 4 <= at + size:
        word = data[place]
        word |= cython.cast(cython.longlong, data[place + 1]) << 8
        word |= cython.cast(cython.longlong, data[place + 2]) << 16
        word |= cython.cast(cython.longlong, data[place + 3]) << 24
        mixed = (mixed * 1640531527 + word) & 2147483647
        place += 4
    while place < at + size:
        mixed = (mixed * 1640531527 + data[place]) & 2147483647
        place += 1
    return (((mixed ^ (mixed >> 15)) * 1640531527) >> 19) & 4095


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_same_text(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    kept: cython.uchar[::1],
    begin: cython.longlong,
    size: cython.longlong,
) -> cython.int:
    place: cython.longlong
    if at < 0 or begin < 0 or at + size > len(data) or begin + size > len(kept):
        raise IndexError(OUTSIDE)
    for place in range(size):
        if data[at + place] != kept[begin + place]:
            return 0
    return 1


@cython.cfunc
@cython.exceptval(-1)
def copy_text(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    kept: cython.uchar[::1],
    begin: cython.longlong,
    size: cython.longlong,
) -> cython.int:
    place: cython.longlong
    for place in range(size):
        kept[begin + place] = data[at + place]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def intern(w: WalkState, size: cython.longlong) -> cython.longlong:
    return w.strings.number(bytes(w.source[w.pos : w.pos + size]))


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def short_text_number(w: WalkState, size: cython.longlong) -> cython.longlong:
    """The number of a short string, from its slot when the last one of its hash was the same."""
    slot: cython.longlong = text_slot(w.data, w.pos, size)
    if w.text_sizes[slot] != size or not is_same_text(w.data, w.pos, w.text_bytes, slot * TEXT_BYTES, size):
        copy_text(w.data, w.pos, w.text_bytes, slot * TEXT_BYTES, size)
        w.text_sizes[slot] = size
        w.text_numbers[slot] = intern(w, size)
    return w.text_numbers[slot]


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def read_text(w: WalkState, size: cython.longlong, to: cython.longlong, also: cython.longlong) -> cython.int:
    """Interns the `size` bytes at `pos`, which are there."""
    number: cython.longlong = intern(w, size) if size > TEXT_BYTES else short_text_number(w, size)
    store_value(w, to, number)
    store_value(w, also, number)
    return 0
