"""A logged body -> the values of its exchange, its entries and its errors, by the steps of its plan.

What a body holds is hostile like any input: a value of another sort than its field's makes the body malformed, and nothing of it
counts.
"""

from base64 import urlsafe_b64decode
from functools import lru_cache

import cython

from dissectors.kafka.logged.json_cells import *
from dissectors.kafka.logged.json_places import Names, Places, find_members, value_at
from dissectors.kafka.logged.object_steps import *
from dissectors.layout import *

# What rows share before anything is known of it: the columns of an entry, and an entity.
_NOTHING = [UNKNOWN] * (ENTRY_COLUMNS + 1)
_BLANK = [UNKNOWN] * ENTRY_COLUMNS
_NO_VALUES = [UNKNOWN] * VALUE_COLUMNS
_SIZES = Names((b"size", b"sizeInBytes"))


class MalformedBody(Exception):
    """A body that its schema does not describe."""


def no_values():
    """The values of a body that says nothing."""
    return _NO_VALUES.copy()


@cython.final
@cython.cclass
class Texts:
    """Numbers of texts in UTF-8; the empty one is 0. `strings` only grows until `clear`, which begins another list."""

    strings = cython.declare(list, visibility="readonly")
    numbers: dict

    def __init__(self):
        self.clear()

    @cython.ccall
    def clear(self):
        self.strings = [b""]
        self.numbers = {b"": 0}

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


@cython.final
@cython.cclass
class BodyValues:
    """What one body says. `values` are the VALUE_ columns, `entries` and `errors` rows of theirs without the frame; `dropped`: it
    has more rows than are kept."""

    texts: Texts
    places: Places
    found: cython.int[::1]  # of the objects that are being read, one behind the other
    values = cython.declare(list, visibility="readonly")
    entries = cython.declare(list, visibility="readonly")
    errors = cython.declare(list, visibility="readonly")
    dropped = cython.declare(cython.bint, visibility="readonly")
    once: set
    has_all_sizes: cython.bint

    def __init__(self, texts):
        self.texts = texts
        self.found = memoryview(bytearray(4 * MOST_NAMES)).cast("i")
        self.clear()

    @cython.ccall
    def clear(self):
        """Nothing is known."""
        self.values = _NO_VALUES.copy()
        self.entries = []
        self.errors = []
        self.once = set()
        self.has_all_sizes = True
        self.dropped = False

    def read(self, plan, places: Places, place: cython.Py_ssize_t):
        """Reads the body at a place, after `clear`. Raises MalformedBody."""
        for at, value in plan.defaults:
            self.values[at] = value
        self.places = places
        self._struct(plan, place, _NOTHING.copy(), None, 0)
        if not self.has_all_sizes:
            self.values[VALUE_RECORD_BYTES] = UNKNOWN
        self.values[VALUE_LEFTOVER] = 0

    @cython.cfunc
    def _struct(
        self, plan: object, place: cython.Py_ssize_t, shared: list, row: object, base: cython.Py_ssize_t
    ) -> object:
        names: Names = plan.names
        steps: tuple = plan.steps
        step: tuple
        at: cython.Py_ssize_t
        if self.places.cells[place + CELL_KIND] != JSON_OBJECT or base + names.count > MOST_NAMES:
            raise MalformedBody
        find_members(self.places, place, names, self.found, base)
        for step in steps:
            for which in step[1]:
                at = self.found[base + cython.cast(cython.Py_ssize_t, which)]
                if at != 0:
                    self._take(step, at, shared, row, base + names.count)
                    break
        return None

    @cython.cfunc
    def _take(
        self, step: tuple, place: cython.Py_ssize_t, shared: list, row: object, base: cython.Py_ssize_t
    ) -> object:
        """Does a step with the value at a place, which is not null."""
        kind: cython.int = step[0]
        if kind == STEP_NUMBER:
            self._put(step, self._number(place, step[4]), shared, row)
        elif kind == STEP_TEXT:
            self._put(step, self._text(place), shared, row)
        elif kind == STEP_ARRAY:
            self._array(step, place, shared, base)
        elif kind == STEP_ERROR:
            self._error(self._number(place, 32_768), step[3], shared, row)
        elif kind == STEP_UUID:
            shared[step[3]], shared[step[3] + 1] = _halves(value_at(self.places, place))
        elif kind == STEP_STRUCT:
            self._struct(step[5], place, shared, row, base)
        elif kind == STEP_RECORDS:
            self._records(place, row)
        elif kind == STEP_ENTITY:
            shared[ENTITY_PLACE] = self._text(place)
        else:
            self._count(step[6], self._elements(place))
        return None

    @cython.cfunc
    def _number(self, place: cython.Py_ssize_t, limit: object) -> object:
        kind: cython.int = self.places.cells[place + CELL_KIND]
        if kind != JSON_WHOLE and kind != JSON_TRUE and kind != JSON_FALSE:
            raise MalformedBody
        value: object = value_at(self.places, place) if kind == JSON_WHOLE else int(kind == JSON_TRUE)
        if not -limit <= value < limit:
            raise MalformedBody
        return value

    @cython.cfunc
    def _text(self, place: cython.Py_ssize_t) -> object:
        """The number of a text, or of a number that text without quotes spells."""
        kind: cython.int = self.places.cells[place + CELL_KIND]
        begin: cython.Py_ssize_t = self.places.cells[place + CELL_BEGIN]
        end: cython.Py_ssize_t = self.places.cells[place + CELL_END]
        if kind == JSON_TEXT:
            return self.texts.number_of(self.places.text[begin + 1 : end - 1])
        if kind != JSON_ESCAPED and kind != JSON_WHOLE:
            raise MalformedBody
        return self.texts.number(str(value_at(self.places, place)))

    @cython.cfunc
    def _put(self, step: tuple, value: object, shared: list, row: object) -> object:
        to: cython.int = step[2]
        at: cython.Py_ssize_t = step[3]
        if to == TO_ROW:
            cells: list = row
            cells[at] = value
        elif to == TO_SHARED:
            shared[at] = value
        elif to == TO_VALUE:
            self.values[at] = value
        else:
            self.values[at] = UNKNOWN if at in self.once else value
            self.once.add(at)
        return None

    @cython.cfunc
    @cython.exceptval(-1)
    def _elements(self, place: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many elements a list has."""
        number: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t = place + CELLS
        if self.places.cells[place + CELL_KIND] != JSON_LIST:
            raise MalformedBody
        while at < self.places.cells[place + CELL_NEXT]:
            number += 1
            at = self.places.cells[at + CELL_NEXT]
        return number

    @cython.cfunc
    def _array(self, step: tuple, place: cython.Py_ssize_t, shared: list, base: cython.Py_ssize_t) -> object:
        plan: object = step[5]
        is_row: cython.bint = plan.is_row
        is_plain: cython.bint = plan.is_plain
        has_records: cython.bint = plan.has_records
        forgotten: object = int(plan.forgotten)
        at: cython.Py_ssize_t = place + CELLS
        self._count(step[6], self._elements(place))
        for touched in step[7]:
            self._count(touched, 0)
        while at < self.places.cells[place + CELL_NEXT]:
            own: list = shared.copy()
            cells: list = _BLANK.copy() if is_row else None
            if not is_plain:
                self._struct(plan, at, own, cells, base)
            elif self.places.cells[at + CELL_KIND] != JSON_NULL:
                for each in plan.steps:
                    self._take(each, at, own, cells, base)
            at = self.places.cells[at + CELL_NEXT]
            if is_row:
                self._add_entry(cells, own, has_records, forgotten)
        return None

    @cython.cfunc
    def _add_entry(self, cells: list, shared: list, has_records: cython.bint, forgotten: object) -> object:
        if len(self.entries) >= MOST_ROWS:
            self.dropped = True
            return None
        if has_records and cells[ENTRY_RECORD_BYTES] == UNKNOWN:
            self.has_all_sizes = False
        cells[ENTRY_TOPIC] = shared[ENTRY_TOPIC]
        cells[ENTRY_TOPIC_ID_HIGH] = shared[ENTRY_TOPIC_ID_HIGH]
        cells[ENTRY_TOPIC_ID_LOW] = shared[ENTRY_TOPIC_ID_LOW]
        cells[ENTRY_PARTITION] = shared[ENTRY_PARTITION]
        cells[ENTRY_FORGOTTEN] = forgotten
        self.entries.append(cells[1:])
        return None

    @cython.cfunc
    def _error(self, code: object, number: object, shared: list, row: object) -> object:
        values: list = self.values
        if values[VALUE_ERROR_CODE] == UNKNOWN:
            values[VALUE_ERROR_CODE] = 0
            values[VALUE_ERROR_COUNT] = 0
        if row is not None:
            row[ENTRY_ERROR_CODE] = code
        if code:
            values[VALUE_ERROR_CODE] = values[VALUE_ERROR_CODE] or code
            values[VALUE_ERROR_COUNT] += 1
            if len(self.errors) >= MOST_ROWS:
                self.dropped = True
                return None
            topic: tuple = (shared[ENTRY_TOPIC], shared[ENTRY_TOPIC_ID_HIGH], shared[ENTRY_TOPIC_ID_LOW])
            self.errors.append((code, number, *topic, shared[ENTRY_PARTITION], shared[ENTITY_PLACE]))
        return None

    @cython.cfunc
    def _records(self, place: cython.Py_ssize_t, row: object) -> object:
        size: object = self._record_bytes(place)
        if size is not None:
            self._count(VALUE_RECORD_BYTES, size)
            if row is not None:
                row[ENTRY_RECORD_BYTES] = size
        return None

    @cython.cfunc
    def _record_bytes(self, place: cython.Py_ssize_t) -> object:
        """The bytes of records: a number, in old JSON in an object, in text behind the first `=` of what Java prints; else None."""
        value: object
        if self.places.cells[place + CELL_KIND] == JSON_OBJECT:
            size, in_bytes = self.places.values(place, _SIZES)
            value = in_bytes if size is None else size
        else:
            value = value_at(self.places, place)
            if type(value) is str:
                digits = value.rpartition("=")[2]
                value = int(digits) if digits.isdecimal() and len(digits) < 11 else None
        return value if type(value) is int and 0 <= value < 1 << 31 else None

    @cython.cfunc
    def _count(self, at: cython.Py_ssize_t, number: object) -> object:
        if at >= 0:
            self.values[at] = number if self.values[at] == UNKNOWN else self.values[at] + number
        return None


def _halves(value):
    """The two halves of a uuid as Kafka prints it. Raises MalformedBody."""
    if type(value) is not str or len(value) != 22:
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
