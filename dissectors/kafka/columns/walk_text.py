"""Strings of messages become numbers; equal strings have the same number (interning).

A short string is looked up in a cache first: a hash of its bytes names a slot, which holds the last string of that hash.
Only when it differs a Python object is made and looked up in a dictionary.
"""

import cython

from dissectors.kafka.columns.operations import *
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
@cython.boundscheck(False)
def text_number(w: WalkState, at: cython.longlong, size: cython.longlong) -> cython.longlong:
    """The number of the string of `size` bytes at `at`; of a short one from the cache when its slot holds the same bytes."""
    slot: cython.longlong
    if size > TEXT_BYTES:
        return w.strings.number(bytes(w.source[at : at + size]))
    slot = text_slot(w.data, at, size)
    if w.text_sizes[slot] != size or not is_same_text(w.data, at, w.text_bytes, slot * TEXT_BYTES, size):
        copy_text(w.data, at, w.text_bytes, slot * TEXT_BYTES, size)
        w.text_sizes[slot] = size
        w.text_numbers[slot] = w.strings.number(bytes(w.source[at : at + size]))
    return w.text_numbers[slot]


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def register_text(w: WalkState, register: cython.longlong) -> cython.int:
    """A register that says where its string lies gets the string's number: a row needs it. Most strings of large messages
    are in no row (partitions without an error): they are never numbered."""
    place: cython.longlong = w.registers[register]
    if place < 0 and place != UNKNOWN:
        place = -1 - place
        w.registers[register] = text_number(w, place >> TEXT_SIZE_BITS, place & TEXT_SIZE_MASK)
    return 0


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def store_text(w: WalkState, size: cython.longlong, to: cython.longlong) -> cython.int:
    """Stores the string of `size` bytes at `pos`: its number; in a register where it lies, as a number below zero."""
    if TO_REGISTER <= to < TO_ONCE and w.pos >> TEXT_SIZE_BITS == 0 and size >> TEXT_SIZE_BITS == 0:
        w.registers[to - TO_REGISTER] = -1 - ((w.pos << TEXT_SIZE_BITS) | size)
    elif to >= TO_ONCE and w.once >> (to - TO_ONCE) & 1:
        store_value(w, to, UNKNOWN)  # the second one: the message says no such thing once
    elif to >= 0:
        store_value(w, to, text_number(w, w.pos, size))
    return 0


@cython.cfunc
@cython.exceptval(-1)
def read_text(w: WalkState, size: cython.longlong, to: cython.longlong, also: cython.longlong) -> cython.int:
    """Stores the string of `size` bytes at `pos` in two targets. The caller has checked that the bytes are there."""
    store_text(w, size, to)
    store_text(w, size, also)
    return 0
