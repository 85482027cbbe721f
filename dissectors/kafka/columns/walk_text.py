"""Strings of messages become numbers; equal strings have the same number (interning).

A short string is looked up in a cache first: a hash of its bytes names a slot, which holds the last string of that hash.
Only when it differs a Python object is made and looked up in a dictionary.
"""

import cython

from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_state import OUTSIDE, WalkState
from dissectors.kafka.columns.walk_values import store_value
from dissectors.layout import *


class Strings:
    """Distinct strings, as bytes: `values[number]`. Number 0 is the empty string. Grows until `clear`."""

    def __init__(self):
        self.clear()

    def clear(self):
        """Forgets all strings: numbers that were given before are invalid."""
        self.values = []
        self.numbers = {}
        self.size_bytes = 0
        self.number(b"")

    def number(self, value):
        """The number of a string; a new string gets the next one."""
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
    """The slot of a short string in the cache, by a hash of its bytes."""
    mixed: cython.longlong = size
    word: cython.longlong
    i: cython.longlong = at
    if at < 0 or at + size > len(data):
        raise IndexError(OUTSIDE)
    # Four bytes a step: multiplications depend on each other, so fewer steps are faster.
    while i + 4 <= at + size:
        word = data[i]
        word |= cython.cast(cython.longlong, data[i + 1]) << 8
        word |= cython.cast(cython.longlong, data[i + 2]) << 16
        word |= cython.cast(cython.longlong, data[i + 3]) << 24
        mixed = (mixed * 1640531527 + word) & 2147483647
        i += 4
    while i < at + size:
        mixed = (mixed * 1640531527 + data[i]) & 2147483647
        i += 1
    return (((mixed ^ (mixed >> 15)) * 1640531527) >> 19) & 4095


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def is_same_text(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    cache: cython.uchar[::1],
    begin: cython.longlong,
    size: cython.longlong,
) -> cython.int:
    i: cython.longlong
    if at < 0 or begin < 0 or at + size > len(data) or begin + size > len(cache):
        raise IndexError(OUTSIDE)
    for i in range(size):
        if data[at + i] != cache[begin + i]:
            return 0
    return 1


@cython.cfunc
@cython.exceptval(-1)
def copy_text(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    cache: cython.uchar[::1],
    begin: cython.longlong,
    size: cython.longlong,
) -> cython.int:
    i: cython.longlong
    for i in range(size):
        cache[begin + i] = data[at + i]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def intern(w: WalkState, size: cython.longlong) -> cython.longlong:
    return w.strings.number(bytes(w.source[w.pos : w.pos + size]))


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def short_text_number(w: WalkState, size: cython.longlong) -> cython.longlong:
    """The number of a short string, from the cache when its slot holds the same bytes."""
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
    """Stores the number of the string of `size` bytes at `pos`. The caller has checked that they are there."""
    number: cython.longlong = intern(w, size) if size > TEXT_BYTES else short_text_number(w, size)
    store_value(w, to, number)
    store_value(w, also, number)
    return 0
