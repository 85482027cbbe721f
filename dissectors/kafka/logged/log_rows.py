"""Lines of a log -> rows of exchanges, entries and errors, without an object for a line or for what it holds.

A line that is not as most are is left to the caller (WHY_ODD): a form of text, an escape, a connection or an API that was not there
yet, a number that no broker writes. The caller reads it with objects, and writes its rows here too.
"""

from hashlib import blake2b

import cython

from dissectors.kafka.logged.body_plan import Plan
from dissectors.kafka.logged.body_texts import Texts
from dissectors.kafka.logged.json_cells import *
from dissectors.kafka.logged.json_places import Names, Places, find_members, i64
from dissectors.kafka.logged.line_bodies import connection_of, is_plain_json, moment_in, read_bodies, text_of, whole_of
from dissectors.kafka.logged.line_values import last_moment, time_at
from dissectors.kafka.logged.log_cells import *
from dissectors.kafka.logged.log_out import LogOut, put_exchange, put_rows
from dissectors.kafka.logged.log_state import BEGIN, HEADER_NAMES, LINE_NAMES, SOFTWARE_NAMES, LogState
from dissectors.kafka.logged.odd_values import MalformedBody
from dissectors.layout import *

# What readers with objects use of this room.
__all__ = (
    "BEGIN",
    "HEADER_NAMES",
    "LINE_NAMES",
    "SOFTWARE_NAMES",
    "LogOut",
    "LogRows",
    "MalformedBody",
    "Names",
    "Places",
    "Plan",
    "Texts",
    "id_of",
)


def id_of(text: bytes):
    """An id, equal in every run, and not negative, as those of packets."""
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1


@cython.final
@cython.cclass
class LogRows(LogState):
    """Reads blocks of whole lines: `LogRows(out, plan_of, with_facts)`."""

    def __init__(self, out, plan_of, with_facts):
        LogState.__init__(self, out, plan_of, with_facts)
        self.forget()

    def forget(self):
        """Names of connections and of APIs are not known any more: those of texts changed, or connections ended."""
        self.connections.clear()
        for key in range(KNOWN_KEYS):
            self.apis[key] = -1

    def keys(self):
        """The APIs of the lines that were read."""
        return [key for key in range(KNOWN_KEYS) if self.has_come[key]]

    def know(self, connection: bytes, slot: cython.Py_ssize_t, key: cython.Py_ssize_t, name: str):
        """A connection has this slot of `out.parts`, an API this name."""
        number: cython.Py_ssize_t = self.connections.number_of(connection)
        if number >= self.slots.shape[0]:
            more: cython.int[::1] = memoryview(bytearray(8 * self.slots.shape[0])).cast("i")
            more[: self.slots.shape[0]] = self.slots
            self.slots = more
        self.slots[number] = cython.cast(cython.int, slot)
        if 0 <= key < KNOWN_KEYS:
            self.apis[key] = self.texts.number(name)

    def take_facts(self):
        """The rows of facts, which are forgotten."""
        cells = [self.facts[at] for at in range(self.fact_rows * FACT_CELLS)]
        self.fact_rows = 0
        return [cells[at : at + FACT_CELLS] for at in range(0, len(cells), FACT_CELLS)]

    def begin(self, text: bytes):
        """Lines of this block come next. They end with it."""
        self.places.hold(text)
        self.next_begin = -1

    def read(self, at: cython.Py_ssize_t):
        """Reads lines from `at` on. Returns where it stopped, at the begin of a line, and `why` says why."""
        text: bytes = self.places.text
        size: cython.Py_ssize_t = len(text)
        while at < size:
            self.line_end = text.find(b"\n", at)
            if self.line_end < 0:
                self.line_end = size
            self.why = take(self, at, self.line_end)
            if self.why != TAKEN:
                return at
            self.line += 1
            at = self.line_end + 1
        self.why = WHY_END
        return size


@cython.cfunc
@cython.exceptval(-1)
def take(s: LogState, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """Writes the rows of a line, or says why not."""
    p: Places = s.places
    moment: i64
    at: cython.Py_ssize_t = begin
    if s.out.filled[OUT_LINES] == s.out.rows or s.out.filled[OUT_EXCHANGES] == s.out.rows:
        return WHY_FULL
    if s.fact_rows == FACT_ROWS:
        return WHY_FACTS
    if s.next_begin < begin:
        s.next_begin = p.text.find(BEGIN, begin)
        if s.next_begin < 0:
            s.next_begin = len(p.text)
    moment = -1
    if s.next_begin < end:
        moment = last_moment(p, begin, s.next_begin)
        at = s.next_begin + BEGIN_SIZE
        if moment < 0:
            return WHY_ODD
    if end - begin > LONGEST_WITH_BODIES or at + 1 >= end:
        return WHY_ODD
    if p.block[at] != BYTE_OPEN or p.block[at + 1] != BYTE_QUOTE or not is_plain_json(p, at, end):
        return WHY_ODD
    find_members(p, 0, s.line_names, s.found, 0)
    if s.found[LINE_HEADER] == 0 or p.cells[s.found[LINE_HEADER] + CELL_KIND] != JSON_OBJECT:
        return WHY_ODD
    find_members(p, s.found[LINE_HEADER], s.header_names, s.found, LINE_MEMBERS)
    if moment < 0:
        moment = moment_in(s)
        if moment < 0:
            return WHY_ODD
    return take_members(s, moment)


@cython.cfunc
@cython.exceptval(-1)
def take_members(s: LogState, moment: i64) -> cython.int:
    number: cython.Py_ssize_t
    key: i64 = whole_of(s, HEADER_KEY, KNOWN_KEYS)
    version: i64 = whole_of(s, HEADER_VERSION, KNOWN_VERSIONS)
    correlation: i64 = whole_of(s, HEADER_CORRELATION, NUMBERS_END)
    connection: i64 = connection_of(s)
    if key < 0 or version < 0 or correlation < 0 or connection <= 0 or s.apis[key] < 0 or s.found[LINE_TIMES] == 0:
        return WHY_ODD
    for number in range(7):
        s.times[number] = UNKNOWN
        if s.found[LINE_TIMES + number] != 0:
            s.times[number] = time_at(s.places, s.found[LINE_TIMES + number])
            if s.times[number] < 0:
                return WHY_ODD
    place: cython.Py_ssize_t = s.found[LINE_FORWARDED]
    exchange: i64 = UNKNOWN
    slot: cython.Py_ssize_t = s.slots[connection]
    is_forwarded: cython.bint = place != 0 and s.places.cells[place + CELL_KIND] == JSON_TRUE
    if not is_forwarded:
        why: cython.int = read_bodies(s, key, version)
        if why != TAKEN:
            return why
        exchange = id_of(b"%b %d %d %d %d" % (s.connections.strings[connection], correlation, key, moment, s.times[0]))
        s.has_come[key] = 1
        take_exchange(s, slot, exchange, key, version, correlation, moment)
    take_line(s, slot, exchange, key, version, correlation, moment, is_forwarded)
    s.requests += 1
    s.last_ns = max(s.last_ns, moment)
    s.first_ns = min(s.first_ns, moment - s.times[0])
    return TAKEN


@cython.cfunc
@cython.exceptval(-1)
def take_exchange(
    s: LogState, slot: cython.Py_ssize_t, exchange: i64, key: i64, version: i64, correlation: i64, moment: i64
) -> cython.int:
    client: i64 = text_of(s, HEADER_CLIENT)
    place: cython.Py_ssize_t = s.found[LINE_SOFTWARE]
    if client != UNKNOWN:
        s.asked.values[VALUE_CLIENT_ID] = client
    if place != 0 and s.places.cells[place + CELL_KIND] == JSON_OBJECT:
        find_members(s.places, place, s.software_names, s.found, SOFTWARE_NAME)
        name: i64 = text_of(s, SOFTWARE_NAME)
        told: i64 = text_of(s, SOFTWARE_VERSION)
        if name != UNKNOWN and told != UNKNOWN and s.texts.strings[name] != b"unknown":
            s.asked.values[VALUE_SOFTWARE_NAME] = name
            s.asked.values[VALUE_SOFTWARE_VERSION] = told
    put_exchange(s.out, s.asked, s.told, slot, exchange, key, version, correlation, moment, s.times[0], s.times[6])
    part: i64 = s.out.parts[slot * PART_CELLS + PART_CELL_NUMBER]
    put_rows(s.out, s.asked, OUT_ENTRIES, 0, exchange, part, 0, key)
    put_rows(s.out, s.asked, OUT_ERRORS, 0, exchange, part, 0, key)
    put_rows(s.out, s.told, OUT_ENTRIES, 0, exchange, part, 1, key)
    put_rows(s.out, s.told, OUT_ERRORS, 0, exchange, part, 1, key)
    if s.with_facts[key]:
        add_fact(s, exchange, part, key, version, moment)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def add_fact(s: LogState, exchange: i64, part: i64, key: i64, version: i64, moment: i64) -> cython.int:
    at: cython.Py_ssize_t = s.fact_rows * FACT_CELLS
    s.facts[at + FACT_EXCHANGE] = exchange
    s.facts[at + FACT_PART] = part
    s.facts[at + FACT_KEY] = key
    s.facts[at + FACT_VERSION] = version
    s.facts[at + FACT_BEGIN_NS] = moment - s.times[0]
    s.facts[at + FACT_END_NS] = moment
    add_place(s, at + FACT_REQUEST, LINE_REQUEST)
    add_place(s, at + FACT_RESPONSE, LINE_RESPONSE)
    s.fact_rows += 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def add_place(s: LogState, at: cython.Py_ssize_t, member: cython.Py_ssize_t) -> cython.int:
    place: cython.Py_ssize_t = s.found[member]
    is_there: cython.bint = place != 0 and s.places.cells[place + CELL_KIND] != JSON_TEXT
    s.facts[at] = s.places.cells[place + CELL_BEGIN] if is_there else UNKNOWN
    s.facts[at + 1] = s.places.cells[place + CELL_END]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_line(
    s: LogState,
    slot: cython.Py_ssize_t,
    exchange: i64,
    key: i64,
    version: i64,
    correlation: i64,
    moment: i64,
    is_forwarded: cython.bint,
) -> cython.int:
    rows: i64[:, ::1] = s.out.lines
    row: cython.Py_ssize_t = s.out.filled[OUT_LINES]
    part: cython.Py_ssize_t = slot * PART_CELLS
    at: cython.Py_ssize_t
    rows[LOG_NUMBER, row] = s.log
    rows[LOG_LINE, row] = s.line + 1
    rows[LOG_MOMENT, row] = moment
    for at in range(4):
        rows[LOG_ENDS + at, row] = s.out.parts[part + PART_CELL_ENDS + at]
    rows[LOG_KEY, row] = key
    rows[LOG_API, row] = s.apis[key]
    rows[LOG_VERSION, row] = version
    rows[LOG_CORRELATION, row] = correlation
    rows[LOG_CLIENT, row] = text_of(s, HEADER_CLIENT)
    rows[LOG_FORWARDED, row] = is_forwarded
    for at in range(7):
        rows[LOG_TIMES + at, row] = s.times[at]
    for at in range(3):
        rows[LOG_PROTOCOL + at, row] = text_of(s, LINE_PROTOCOL + at)
    rows[LOG_TOPIC, row] = UNKNOWN
    rows[LOG_EXCHANGE, row] = exchange
    rows[LOG_CONNECTION, row] = UNKNOWN if is_forwarded else s.out.parts[part + PART_CELL_ID]
    s.out.filled[OUT_LINES] += 1
    return 0
