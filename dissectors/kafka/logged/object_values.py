"""A logged body -> the values of its exchange, its entries and its errors, by the steps of its plan.

What a body holds is hostile like any input: a value of another sort than its field's makes the body malformed, and nothing of it
counts.
"""

import cython

from dissectors.kafka.columns.role_columns import NEVER_ECHO
from dissectors.kafka.logged.body_plan import Plan
from dissectors.kafka.logged.body_texts import Texts, text_number
from dissectors.kafka.logged.json_cells import *
from dissectors.kafka.logged.json_places import Places, find_members, i64, value_at, whole_at
from dissectors.kafka.logged.object_steps import *
from dissectors.kafka.logged.odd_values import (
    MalformedBody,
    large_number,
    longer_cells,
    new_cells,
    records_in,
    uuid_halves,
)
from dissectors.layout import *

_FIRST_ROWS = 256
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# The six bits that a byte of base64 means, 64 for all others.
_SIX_BITS = bytes(_ALPHABET.find(byte) & 127 if byte in _ALPHABET else 64 for byte in range(256))


@cython.final
@cython.cclass
class BodyValues:
    """What one body says. `values` are the VALUE_ columns, `entries` and `errors` so many rows of ENTRY_CELLS and ERROR_CELLS, one
    behind the other; `dropped`: it has more rows than are kept."""

    texts: Texts
    places: Places
    found: cython.int[::1]  # of the objects that are being read, one behind the other
    values: i64[::1]
    entry_cells: i64[::1]
    error_cells: i64[::1]
    entries = cython.declare(cython.Py_ssize_t, visibility="readonly")
    errors = cython.declare(cython.Py_ssize_t, visibility="readonly")
    dropped = cython.declare(cython.bint, visibility="readonly")
    how = cython.declare(cython.int, visibility="public")  # DECODED_: how far it was read
    newest_error: (
        cython.Py_ssize_t
    )  # where the error begins that was read last; -1: its code was 0, or it has its message
    once: cython.char[::1]
    has_all_sizes: cython.bint
    held: i64[::1]  # what rows share and the row, of each array that is being read
    top: cython.Py_ssize_t
    alphabet: cython.const[cython.uchar][::1]
    six: cython.int[::1]

    def __init__(self, texts):
        self.texts = texts
        self.found = memoryview(bytearray(4 * MOST_NAMES)).cast("i")
        self.values = new_cells(VALUE_COLUMNS)
        self.entry_cells = new_cells(_FIRST_ROWS * ENTRY_CELLS)
        self.error_cells = new_cells(_FIRST_ROWS * ERROR_CELLS)
        self.once = memoryview(bytearray(VALUE_COLUMNS)).cast("b")
        self.held = new_cells(8 * (SHARED_CELLS + ENTRY_COLUMNS))
        self.alphabet = _SIX_BITS
        self.six = memoryview(bytearray(4 * UUID_SIZE)).cast("i")
        self.clear()

    @cython.ccall
    def clear(self):
        """Nothing is known."""
        at: cython.Py_ssize_t
        for at in range(VALUE_COLUMNS):
            self.values[at] = UNKNOWN
            self.once[at] = 0
        self.how = DECODED_NONE
        self.entries = 0
        self.errors = 0
        self.newest_error = -1
        self.has_all_sizes = True
        self.dropped = False

    def value(self, at: cython.Py_ssize_t):
        """A value."""
        return self.values[at]

    def put(self, at: cython.Py_ssize_t, value: i64):
        """Writes a value that is beside the body."""
        self.values[at] = value

    @cython.ccall
    def read(self, plan: Plan, places: Places, place: cython.Py_ssize_t):
        """Reads the body at a place, after `clear`. Raises MalformedBody."""
        for at, value in plan.defaults:
            self.values[at] = value
        self.places = places
        self.top = SHARED_CELLS
        self._blank(0, SHARED_CELLS)
        self._struct(plan, place, 0, -1, 0)
        if not self.has_all_sizes:
            self.values[VALUE_RECORD_BYTES] = UNKNOWN
        self.values[VALUE_LEFTOVER] = 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _blank(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        at: cython.Py_ssize_t
        for at in range(begin, end):
            self.held[at] = UNKNOWN
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _struct(
        self,
        plan: Plan,
        place: cython.Py_ssize_t,
        shared: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        base: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        step: cython.Py_ssize_t
        which: cython.Py_ssize_t
        at: cython.Py_ssize_t
        behind: cython.Py_ssize_t = base + plan.names.count
        if self.places.cells[place + CELL_KIND] != JSON_OBJECT or behind > MOST_NAMES:
            raise MalformedBody
        find_members(self.places, place, plan.names, self.found, base)
        for step in range(plan.count):
            for which in range(plan.cells[step, CELL_NAMES], plan.cells[step, CELL_TOUCHED]):
                at = self.found[base + plan.numbers[which]]
                if at != 0:
                    self._take(plan, step, at, shared, row, behind)
                    break
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _take(
        self,
        plan: Plan,
        step: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
        shared: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        base: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Does a step with the value at a place, which is not null."""
        kind: cython.int = plan.cells[step, CELL_STEP]
        at: cython.Py_ssize_t = plan.cells[step, CELL_AT]
        if kind == STEP_NUMBER:
            self._put(plan, step, self._number(place, plan.cells[step, CELL_BITS]), shared, row)
        elif kind == STEP_TEXT:
            self._put(plan, step, self._text(place), shared, row)
        elif kind == STEP_ARRAY:
            self._array(plan, step, place, shared, base)
        elif kind == STEP_ERROR:
            self._error(self._number(place, 15), at, shared, row)
        elif kind == STEP_MESSAGE:
            self._message(place, at)
        elif kind == STEP_UUID:
            self._uuid(place, shared + at)
        elif kind == STEP_STRUCT:
            self._struct(plan.inner[step], place, shared, row, base)
        elif kind == STEP_RECORDS:
            self._records(place, row)
        elif kind == STEP_ENTITY:
            self.held[shared + ENTITY_PLACE] = self._text(place)
        else:
            self._count(plan.cells[step, CELL_COUNTED], self._elements(place))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _number(self, place: cython.Py_ssize_t, bits: cython.int) -> i64:
        """A whole number of so many bits and a sign."""
        kind: cython.int = self.places.cells[place + CELL_KIND]
        begin: cython.Py_ssize_t = self.places.cells[place + CELL_BEGIN]
        end: cython.Py_ssize_t = self.places.cells[place + CELL_END]
        value: i64
        if kind == JSON_WHOLE:
            value = (
                whole_at(self.places, begin, end)
                if end - begin <= SURE_DIGITS
                else large_number(value_at(self.places, place))
            )
        elif kind in (JSON_TRUE, JSON_FALSE):
            value = kind == JSON_TRUE
        else:
            raise MalformedBody
        if value >> bits != 0 and value >> bits != -1:
            raise MalformedBody
        return value

    @cython.cfunc
    @cython.exceptval(-1)
    def _text(self, place: cython.Py_ssize_t) -> i64:
        """The number of a text, or of a number that text without quotes spells."""
        kind: cython.int = self.places.cells[place + CELL_KIND]
        begin: cython.Py_ssize_t = self.places.cells[place + CELL_BEGIN]
        end: cython.Py_ssize_t = self.places.cells[place + CELL_END]
        if kind == JSON_TEXT:
            return text_number(self.texts, self.places.text, self.places.block, begin + 1, end - 1, True)
        if kind != JSON_ESCAPED and kind != JSON_WHOLE:
            raise MalformedBody
        return self.texts.number(str(value_at(self.places, place)))

    @cython.cfunc
    @cython.exceptval(-1)
    def _put(
        self, plan: Plan, step: cython.Py_ssize_t, value: i64, shared: cython.Py_ssize_t, row: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        to: cython.int = plan.cells[step, CELL_TO]
        at: cython.Py_ssize_t = plan.cells[step, CELL_AT]
        if to == TO_ROW:
            self.held[row + at] = value
        elif to == TO_SHARED:
            self.held[shared + at] = value
        elif to == TO_VALUE:
            self.values[at] = value
        else:
            self.values[at] = UNKNOWN if self.once[at] else value
            self.once[at] = 1
        return 0

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
    @cython.exceptval(-1)
    def _array(
        self,
        around: Plan,
        step: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
        shared: cython.Py_ssize_t,
        base: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        plan: Plan = around.inner[step]
        each: cython.Py_ssize_t
        at: cython.Py_ssize_t = place + CELLS
        own: cython.Py_ssize_t = self.top
        row: cython.Py_ssize_t = own + SHARED_CELLS if plan.is_row else -1
        self._count(around.cells[step, CELL_COUNTED], self._elements(place))
        for each in range(around.cells[step, CELL_TOUCHED], around.cells[step, CELL_LAST]):
            self._count(around.numbers[each], 0)
        self.top = own + SHARED_CELLS + ENTRY_COLUMNS
        if self.top > self.held.shape[0]:
            self.held = longer_cells(self.held, own)
        while at < self.places.cells[place + CELL_NEXT]:
            for each in range(SHARED_CELLS):
                self.held[own + each] = self.held[shared + each]
            if plan.is_row:
                self._blank(row, row + ENTRY_COLUMNS)
            if not plan.is_plain:
                self._struct(plan, at, own, row, base)
            elif self.places.cells[at + CELL_KIND] != JSON_NULL:
                for each in range(plan.count):
                    self._take(plan, each, at, own, row, base)
            at = self.places.cells[at + CELL_NEXT]
            if plan.is_row:
                self._add_entry(plan, own, row)
        self.top = own
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_entry(self, plan: Plan, shared: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        at: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.entries * ENTRY_CELLS
        if self.entries >= MOST_ROWS:
            self.dropped = True
            return 0
        if plan.has_records and self.held[row + ENTRY_RECORD_BYTES] == UNKNOWN:
            self.has_all_sizes = False
        for at in (ENTRY_TOPIC, ENTRY_TOPIC_ID_HIGH, ENTRY_TOPIC_ID_LOW, ENTRY_PARTITION):
            self.held[row + at] = self.held[shared + at]
        self.held[row + ENTRY_FORGOTTEN] = plan.forgotten
        if first + ENTRY_CELLS > self.entry_cells.shape[0]:
            self.entry_cells = longer_cells(self.entry_cells, first)
        for at in range(ENTRY_CELLS):
            self.entry_cells[first + at] = self.held[row + 1 + at]
        self.entries += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _error(
        self, code: i64, number: cython.Py_ssize_t, shared: cython.Py_ssize_t, row: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        first: cython.Py_ssize_t = self.errors * ERROR_CELLS
        self.newest_error = -1
        if self.values[VALUE_ERROR_CODE] == UNKNOWN:
            self.values[VALUE_ERROR_CODE] = 0
            self.values[VALUE_ERROR_COUNT] = 0
        if row >= 0:
            self.held[row + ENTRY_ERROR_CODE] = code
        if code == 0:
            return 0
        if self.values[VALUE_ERROR_CODE] == 0:
            self.values[VALUE_ERROR_CODE] = code
        self.values[VALUE_ERROR_COUNT] += 1
        if self.errors >= MOST_ROWS:
            self.dropped = True
            return 0
        if first + ERROR_CELLS > self.error_cells.shape[0]:
            self.error_cells = longer_cells(self.error_cells, first)
        self.error_cells[first] = code
        self.error_cells[first + 1] = number
        self.error_cells[first + 2] = self.held[shared + ENTRY_TOPIC]
        self.error_cells[first + 3] = self.held[shared + ENTRY_TOPIC_ID_HIGH]
        self.error_cells[first + 4] = self.held[shared + ENTRY_TOPIC_ID_LOW]
        self.error_cells[first + 5] = self.held[shared + ENTRY_PARTITION]
        self.error_cells[first + 6] = self.held[shared + ENTITY_PLACE]
        self.error_cells[first + 7] = UNKNOWN
        self.newest_error = first
        self.errors += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _message(self, place: cython.Py_ssize_t, may_echo: cython.Py_ssize_t) -> cython.Py_ssize_t:
        first: cython.Py_ssize_t = self.newest_error
        self.newest_error = -1
        if first >= 0 and (may_echo == 0 or self.error_cells[first] in NEVER_ECHO):
            number: i64 = self._text(place)
            self.error_cells[first + 7] = number if number > 0 else UNKNOWN
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _uuid(self, place: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Writes the two halves of a uuid, as Kafka prints it."""
        number: cython.Py_ssize_t
        begin: cython.Py_ssize_t = self.places.cells[place + CELL_BEGIN] + 1
        is_usual: cython.bint = self.places.cells[place + CELL_KIND] == JSON_TEXT
        if is_usual and self.places.cells[place + CELL_END] - 1 - begin == UUID_SIZE:
            for number in range(UUID_SIZE):
                self.six[number] = self.alphabet[self.places.block[begin + number]]
                is_usual = is_usual and self.six[number] < 64
            if is_usual:
                high: i64 = self.six[0] - 64 if self.six[0] >= 32 else self.six[0]
                for number in range(1, 10):
                    high = high * 64 + self.six[number]
                low: i64 = self.six[10] & 3
                self.held[to] = high * 16 + (self.six[10] >> 2)
                low = low - 4 if low >= 2 else low
                for number in range(11, 21):
                    low = low * 64 + self.six[number]
                self.held[to + 1] = low * 4 + (self.six[21] >> 4)
                return 0
        self.held[to], self.held[to + 1] = uuid_halves(value_at(self.places, place))
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _records(self, place: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        begin: cython.Py_ssize_t = self.places.cells[place + CELL_BEGIN]
        end: cython.Py_ssize_t = self.places.cells[place + CELL_END]
        size: i64
        if self.places.cells[place + CELL_KIND] == JSON_WHOLE and end - begin <= SURE_DIGITS:
            size = whole_at(self.places, begin, end)
        else:
            size = records_in(self.places, place)
        if 0 <= size < SIZES_END:
            self._count(VALUE_RECORD_BYTES, size)
            if row >= 0:
                self.held[row + ENTRY_RECORD_BYTES] = size
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _count(self, at: cython.Py_ssize_t, number: i64) -> cython.Py_ssize_t:
        if at >= 0:
            self.values[at] = number if self.values[at] == UNKNOWN else self.values[at] + number
        return 0
