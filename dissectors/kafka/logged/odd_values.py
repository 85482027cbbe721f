"""Values of logged bodies in forms that few have, and what they are kept in."""

from base64 import urlsafe_b64decode
from functools import lru_cache

import cython

from dissectors.kafka.logged.json_cells import *
from dissectors.kafka.logged.json_places import Names, Places, i64, value_at
from dissectors.kafka.logged.object_steps import *

_SIZES = Names((b"size", b"sizeInBytes"))


class MalformedBody(Exception):
    """A body that its schema does not describe."""


def new_cells(count):
    """So many numbers."""
    return memoryview(bytearray(8 * count)).cast("q")


@cython.cfunc
def longer_cells(memory: i64[::1], used: cython.Py_ssize_t) -> object:
    """A memory twice as large, with the first numbers of another."""
    at: cython.Py_ssize_t
    more: i64[::1] = new_cells(2 * memory.shape[0])
    for at in range(used):
        more[at] = memory[at]
    return more


@cython.cfunc
def records_in(places: Places, place: cython.Py_ssize_t) -> object:
    """The bytes of records that are no plain number: in old JSON in an object, in text behind the first `=` of what Java prints;
    -1: none that a field can have."""
    value: object
    if places.cells[place + CELL_KIND] == JSON_OBJECT:
        size, in_bytes = places.values(place, _SIZES)
        value = in_bytes if size is None else size
    else:
        value = value_at(places, place)
        if type(value) is str:
            digits = value.rpartition("=")[2]
            value = int(digits) if digits.isdecimal() and len(digits) < 11 else None
    return value if type(value) is int and 0 <= value < 2_147_483_648 else -1


def large_number(value):
    """A number that may not fit 64 bits. Raises MalformedBody."""
    if not -9_223_372_036_854_775_808 <= value <= 9_223_372_036_854_775_807:
        raise MalformedBody
    return value


def uuid_halves(value):
    """The two halves of a uuid as Kafka prints it. Raises MalformedBody."""
    if type(value) is not str or len(value) != UUID_SIZE:
        raise MalformedBody
    try:
        return _read_halves(value)
    except ValueError:
        raise MalformedBody from None


@lru_cache(16_384)
def _read_halves(text):
    found = urlsafe_b64decode(f"{text}==")
    if len(found) != 16:
        raise ValueError
    return int.from_bytes(found[:8], "big", signed=True), int.from_bytes(found[8:], "big", signed=True)
