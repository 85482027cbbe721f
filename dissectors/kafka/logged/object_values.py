"""A logged body -> the values of its exchange, its entries and its errors, by the steps of its plan.

What a body holds is hostile like any input: a value of another sort than its field's makes the body malformed, and nothing of it
counts.
"""

from base64 import urlsafe_b64decode
from functools import lru_cache

import cython

from dissectors.kafka.logged.object_steps import *
from dissectors.layout import *

# What rows share before anything is known of it: the columns of an entry, and an entity.
_NOTHING = [UNKNOWN] * (ENTRY_COLUMNS + 1)
_BLANK = [UNKNOWN] * ENTRY_COLUMNS
_NO_VALUES = [UNKNOWN] * VALUE_COLUMNS


class MalformedBody(Exception):
    """A body that its schema does not describe."""


def no_values():
    """The values of a body that says nothing."""
    return _NO_VALUES.copy()


@cython.final
@cython.cclass
class Texts:
    """Numbers of texts; the empty one is 0. `strings` only grows until `clear`, which begins another list."""

    strings = cython.declare(list, visibility="readonly")
    numbers: dict

    def __init__(self):
        self.clear()

    @cython.ccall
    def clear(self):
        self.strings = [b""]
        self.numbers = {"": 0}

    @cython.ccall
    def number(self, value: object):
        """The number of a text, or of a number that text without quotes spells. Raises MalformedBody."""
        if type(value) is int:
            value = str(value)
        if type(value) is not str:
            raise MalformedBody
        found: object = self.numbers.get(value)
        if found is None:
            found = len(self.strings)
            self.numbers[value] = found
            self.strings.append(value[:MOST_TEXT].encode("utf-8", "replace"))
        return found


@cython.final
@cython.cclass
class BodyValues:
    """What one body says. `values` are the VALUE_ columns, `entries` and `errors` rows of theirs without the frame; `dropped`: it
    has more rows than are kept."""

    texts: Texts
    values = cython.declare(list, visibility="readonly")
    entries = cython.declare(list, visibility="readonly")
    errors = cython.declare(list, visibility="readonly")
    dropped = cython.declare(cython.bint, visibility="readonly")
    once: set
    has_all_sizes: cython.bint

    def __init__(self, texts):
        self.texts = texts
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

    def read(self, plan, body):
        """Reads a body, after `clear`. Raises MalformedBody."""
        for at, value in plan.defaults:
            self.values[at] = value
        if type(body) is not dict:
            raise MalformedBody
        self._struct(plan.steps, body, _NOTHING.copy(), None)
        if not self.has_all_sizes:
            self.values[VALUE_RECORD_BYTES] = UNKNOWN
        self.values[VALUE_LEFTOVER] = 0

    @cython.cfunc
    def _struct(self, steps: tuple, body: dict, shared: list, row: object) -> object:
        step: tuple
        kind: cython.int
        for step in steps:
            value: object = body.get(step[1])
            if value is None:
                value = _older(body, step[2])
                if value is None:
                    continue
            kind = step[0]
            if kind == STEP_NUMBER:
                self._put(step, _checked(value, step[5]), shared, row)
            elif kind == STEP_TEXT:
                self._put(step, self.texts.number(value), shared, row)
            elif kind == STEP_ARRAY:
                self._array(step, value, shared)
            elif kind == STEP_ERROR:
                self._error(value, step[4], shared, row)
            elif kind == STEP_UUID:
                shared[step[4]], shared[step[4] + 1] = _halves(value)
            elif kind == STEP_STRUCT:
                if type(value) is not dict:
                    raise MalformedBody
                self._struct(step[6].steps, value, shared, row)
            elif kind == STEP_RECORDS:
                self._records(value, row)
            elif kind == STEP_ENTITY:
                shared[ENTITY_PLACE] = self.texts.number(value)
            else:
                if type(value) is not list:
                    raise MalformedBody
                self._count(step[7], len(value))
        return None

    @cython.cfunc
    def _put(self, step: tuple, value: object, shared: list, row: object) -> object:
        to: cython.int = step[3]
        at: cython.Py_ssize_t = step[4]
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
    def _array(self, step: tuple, elements: object, shared: list) -> object:
        if type(elements) is not list:
            raise MalformedBody
        plan: object = step[6]
        steps: tuple = plan.steps
        is_row: cython.bint = plan.is_row
        is_plain: cython.bint = plan.is_plain
        has_records: cython.bint = plan.has_records
        forgotten: object = int(plan.forgotten)
        self._count(step[7], len(elements))
        for at in step[8]:
            self._count(at, 0)
        for element in elements:
            own: list = shared.copy()
            cells: list = _BLANK.copy()
            row: object = cells if is_row else None
            if is_plain:
                self._struct(steps, {each[1]: element for each in steps}, own, row)
            elif type(element) is dict:
                self._struct(steps, element, own, row)
            else:
                raise MalformedBody
            if is_row:
                if len(self.entries) >= MOST_ROWS:
                    self.dropped = True
                    continue
                if has_records and cells[ENTRY_RECORD_BYTES] == UNKNOWN:
                    self.has_all_sizes = False
                cells[ENTRY_TOPIC] = own[ENTRY_TOPIC]
                cells[ENTRY_TOPIC_ID_HIGH] = own[ENTRY_TOPIC_ID_HIGH]
                cells[ENTRY_TOPIC_ID_LOW] = own[ENTRY_TOPIC_ID_LOW]
                cells[ENTRY_PARTITION] = own[ENTRY_PARTITION]
                cells[ENTRY_FORGOTTEN] = forgotten
                self.entries.append(cells[1:])
        return None

    @cython.cfunc
    def _error(self, code: object, number: object, shared: list, row: object) -> object:
        code = _checked(code, 32_768)
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
    def _records(self, value: object, row: object) -> object:
        size: object = record_bytes(value)
        if size is not None:
            self._count(VALUE_RECORD_BYTES, size)
            if row is not None:
                row[ENTRY_RECORD_BYTES] = size
        return None

    @cython.cfunc
    def _count(self, at: cython.Py_ssize_t, number: object) -> object:
        if at >= 0:
            self.values[at] = number if self.values[at] == UNKNOWN else self.values[at] + number
        return None


@cython.cfunc
def _older(body: dict, names: tuple) -> object:
    """The value under a name that older brokers wrote."""
    for name in names:
        value: object = body.get(name)
        if value is not None:
            return value
    return None


@cython.cfunc
def _checked(value: object, limit: object) -> object:
    if type(value) is bool:
        value = int(value)
    if type(value) is not int or not -limit <= value < limit:
        raise MalformedBody
    return value


def record_bytes(value):
    """The bytes of records: a number, in old JSON in an object, in text behind the first `=` of what Java prints; else None."""
    if type(value) is dict:
        value = value.get("size", value.get("sizeInBytes"))
    elif type(value) is str:
        digits = value.rpartition("=")[2]
        value = int(digits) if digits.isdecimal() and len(digits) < 11 else None
    return value if type(value) is int and 0 <= value < 1 << 31 else None


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
