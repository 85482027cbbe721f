"""Members of a line of a log, and its bodies."""

import cython

from dissectors.kafka.logged.body_texts import text_number
from dissectors.kafka.logged.json_cells import *
from dissectors.kafka.logged.json_places import Places, find_members, i64, read_value, value_at, whole_at
from dissectors.kafka.logged.line_values import is_moment, moment_at
from dissectors.kafka.logged.log_cells import *
from dissectors.kafka.logged.log_state import LogState
from dissectors.kafka.logged.object_steps import *
from dissectors.kafka.logged.object_values import BodyValues
from dissectors.kafka.logged.odd_values import MalformedBody
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def is_plain_json(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """Reads an object. Whether it is one, with no escapes, and with nothing but ASCII in it and behind it."""
    try:
        at = read_value(p, at, end)
    except ValueError:
        return 0
    while at < end:
        if p.block[at] > BYTE_LAST:
            return 0
        at += 1
    return not p.is_odd


@cython.cfunc
@cython.exceptval(-2)
def moment_in(s: LogState) -> i64:
    """The moment that a member is, -1: it is not known."""
    place: cython.Py_ssize_t = s.found[LINE_MOMENT]
    begin: cython.Py_ssize_t = s.places.cells[place + CELL_BEGIN] + 1
    end: cython.Py_ssize_t = s.places.cells[place + CELL_END] - 1
    if place == 0 or s.places.cells[place + CELL_KIND] != JSON_TEXT or not is_moment(s.places, begin, end):
        return -1
    return moment_at(s.places, begin, end, True)


@cython.cfunc
@cython.exceptval(-2)
def whole_of(s: LogState, member: cython.Py_ssize_t, below: i64) -> i64:
    """A whole number of a line, -1: it is none, or negative, or not below another."""
    place: cython.Py_ssize_t = s.found[member]
    begin: cython.Py_ssize_t = s.places.cells[place + CELL_BEGIN]
    end: cython.Py_ssize_t = s.places.cells[place + CELL_END]
    if place == 0 or s.places.cells[place + CELL_KIND] != JSON_WHOLE or end - begin > SURE_DIGITS:
        return -1
    value: i64 = whole_at(s.places, begin, end)
    return value if 0 <= value < below else -1


@cython.cfunc
@cython.exceptval(-2)
def text_of(s: LogState, member: cython.Py_ssize_t) -> i64:
    """The number of a text of a line, UNKNOWN of all that is none."""
    place: cython.Py_ssize_t = s.found[member]
    if place == 0 or s.places.cells[place + CELL_KIND] != JSON_TEXT:
        return UNKNOWN
    begin: cython.Py_ssize_t = s.places.cells[place + CELL_BEGIN] + 1
    end: cython.Py_ssize_t = s.places.cells[place + CELL_END] - 1
    return text_number(s.texts, s.places.text, s.places.block, begin, end, True)


@cython.cfunc
@cython.exceptval(-2)
def connection_of(s: LogState) -> i64:
    """The number of the connection, -1: it was not there yet."""
    place: cython.Py_ssize_t = s.found[LINE_CONNECTION]
    if place == 0 or s.places.cells[place + CELL_KIND] != JSON_TEXT:
        return -1
    begin: cython.Py_ssize_t = s.places.cells[place + CELL_BEGIN] + 1
    end: cython.Py_ssize_t = s.places.cells[place + CELL_END] - 1
    return text_number(s.connections, s.places.text, s.places.block, begin, end, False)


@cython.cfunc
@cython.exceptval(-1)
def read_bodies(s: LogState, key: i64, version: i64) -> cython.int:
    """Reads both bodies of a line, and looks whether their rows fit."""
    asked: cython.int = kind_of_body(s, LINE_REQUEST)
    told: cython.int = kind_of_body(s, LINE_RESPONSE)
    if asked < 0 or told < 0:
        return WHY_ODD
    s.asked.how = read_body(s, s.asked, s.found[LINE_REQUEST] if asked else 0, key, version, 0)
    if key == 0 and s.asked.values[VALUE_ACKS] == 0:
        s.told.clear()
        s.told.how = DECODED_NONE
    else:
        s.told.how = read_body(s, s.told, s.found[LINE_RESPONSE] if told else 0, key, version, 1)
    if s.out.filled[OUT_ENTRIES] + s.asked.entries + s.told.entries > s.out.rows:
        return WHY_ENTRIES if s.asked.entries + s.told.entries <= s.out.rows else WHY_ODD
    if s.out.filled[OUT_ERRORS] + s.asked.errors + s.told.errors > s.out.rows:
        return WHY_ERRORS if s.asked.errors + s.told.errors <= s.out.rows else WHY_ODD
    s.unread += (s.asked.how == DECODED_HEADER) + (s.told.how == DECODED_HEADER)
    return TAKEN


@cython.cfunc
@cython.exceptval(-2)
def kind_of_body(s: LogState, member: cython.Py_ssize_t) -> cython.int:
    """1: a line has this body. 0: it has none, for which brokers write an empty text too. -1: something else is there."""
    place: cython.Py_ssize_t = s.found[member]
    if place == 0:
        return 0
    kind: cython.int = s.places.cells[place + CELL_KIND]
    if kind in (JSON_OBJECT, JSON_LIST):
        return 1
    is_empty: cython.bint = s.places.cells[place + CELL_END] - s.places.cells[place + CELL_BEGIN] == 2
    return 0 if kind == JSON_TEXT and is_empty else -1


@cython.cfunc
@cython.exceptval(-1)
def read_body(
    s: LogState, into: BodyValues, place: cython.Py_ssize_t, key: i64, version: i64, side: cython.Py_ssize_t
) -> cython.int:
    """Reads a body. Returns how far it was read."""
    into.clear()
    if place == 0:
        return DECODED_NONE
    if key == API_VERSIONS and side == 1 and s.places.cells[place + CELL_KIND] == JSON_OBJECT:
        version = version_of_refusal(s, place, version)
    at: cython.Py_ssize_t = (key * KNOWN_VERSIONS + version) * 2 + side
    plan: object = s.plans[at]
    if plan is None:
        plan = s.plan_of(key, version, "response" if side else "request", False) or False
        s.plans[at] = plan
    if plan is False:
        return DECODED_UNSUPPORTED
    try:
        into.read(plan, s.places, place)
    except MalformedBody:
        into.clear()
        return DECODED_HEADER
    return DECODED_FULL


@cython.cfunc
@cython.exceptval(-1)
def version_of_refusal(s: LogState, place: cython.Py_ssize_t, version: i64) -> i64:
    """A refusal of the version (error 35) has the form of version 0, whatever was asked."""
    find_members(s.places, place, s.error_names, s.found, SOFTWARE_NAME)
    at: cython.Py_ssize_t = s.found[SOFTWARE_NAME]
    return 0 if at != 0 and value_at(s.places, at) == 35 else version
