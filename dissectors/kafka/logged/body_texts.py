"""Numbers of texts. Most texts of a log were there a moment ago: these are found by their bytes, without an object for them."""

import cython

from dissectors.kafka.logged.json_places import i64
from dissectors.kafka.logged.object_steps import *


@cython.final
@cython.cclass
class Texts:
    """Numbers of texts in UTF-8; the empty one is 0. `strings` only grows until `clear`, which begins another list.

    Each slot has the text that was asked for last of those that share it: `held`, its number plus one, and its bytes. Texts that
    are made to share a slot cost an object each.
    """

    strings = cython.declare(list, visibility="readonly")
    numbers: dict
    held: cython.int[::1]
    sizes: cython.int[::1]
    room: cython.uchar[::1]

    def __init__(self):
        self.held = memoryview(bytearray(4 * TEXT_SLOTS)).cast("i")
        self.sizes = memoryview(bytearray(4 * TEXT_SLOTS)).cast("i")
        self.room = memoryview(bytearray(TEXT_SLOTS * TEXT_ROOM))
        self.clear()

    @cython.ccall
    def clear(self):
        slot: cython.Py_ssize_t
        self.strings = [b""]
        self.numbers = {b"": 0}
        for slot in range(TEXT_SLOTS):
            self.held[slot] = 0

    def number(self, value: str):
        """The number of a text."""
        return self.number_of(value.encode("utf-8", "replace"))

    @cython.ccall
    def number_of(self, value: bytes):
        """The same of its bytes."""
        if len(value) > MOST_TEXT:
            value = _short(value)
        found: object = self.numbers.get(value)
        if found is None:
            found = len(self.strings)
            self.numbers[value] = found
            self.strings.append(value)
        return found


@cython.cfunc
def _short(value: bytes) -> bytes:
    return value.decode()[:MOST_TEXT].encode()


@cython.cfunc
@cython.exceptval(-2)
def text_number(
    t: Texts,
    text: bytes,
    block: cython.const[cython.uchar][::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    is_new: cython.bint,
) -> i64:
    """The number of a part of `text`, whose bytes `block` has; -1: it has none, and is not to get one (`is_new`)."""
    at: cython.Py_ssize_t
    size: cython.Py_ssize_t = end - begin
    if size > TEXT_ROOM:
        return t.number_of(text[begin:end]) if is_new else t.numbers.get(text[begin:end], -1)
    mixed: i64 = size
    for at in range(begin, end):
        mixed = ((mixed ^ block[at]) * TEXT_FACTOR) & TEXT_MASK
    slot: cython.Py_ssize_t = (mixed >> 8) & (TEXT_SLOTS - 1)
    first: cython.Py_ssize_t = slot * TEXT_ROOM
    if t.held[slot] > 0 and t.sizes[slot] == size:
        at = 0
        while at < size and t.room[first + at] == block[begin + at]:
            at += 1
        if at == size:
            return t.held[slot] - 1
    found: i64 = t.number_of(text[begin:end]) if is_new else t.numbers.get(text[begin:end], -1)
    if found >= 0:
        t.held[slot] = cython.cast(cython.int, found + 1)
        t.sizes[slot] = cython.cast(cython.int, size)
        for at in range(size):
            t.room[first + at] = block[begin + at]
    return found
