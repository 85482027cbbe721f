"""Moments and times as most lines of a log have them, without an object for any."""

import cython

from dissectors.kafka.logged.json_cells import *
from dissectors.kafka.logged.json_places import Places, i64
from dissectors.kafka.logged.log_cells import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-2)
def digits_at(p: Places, at: cython.Py_ssize_t, count: cython.Py_ssize_t, end: cython.Py_ssize_t) -> i64:
    """A number of so many digits, -1: others are there."""
    value: i64 = 0
    each: cython.Py_ssize_t
    if at + count > end:
        return -1
    for each in range(at, at + count):
        if not BYTE_0 <= p.block[each] <= BYTE_9:
            return -1
        value = value * 10 + (p.block[each] - BYTE_0)
    return value


@cython.cfunc
@cython.exceptval(-2)
def is_moment(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """Whether bytes are as 2026-05-01 12:00:00, whatever the numbers are."""
    if at + MOMENT_SIZE > end or p.block[at + 4] != BYTE_MINUS or p.block[at + 7] != BYTE_MINUS:
        return 0
    if p.block[at + 13] != BYTE_COLON or p.block[at + 16] != BYTE_COLON:
        return 0
    if p.block[at + 10] != BYTE_T and p.block[at + 10] != BYTE_SPACE:
        return 0
    if digits_at(p, at, 4, end) < 0 or digits_at(p, at + 5, 2, end) < 0 or digits_at(p, at + 8, 2, end) < 0:
        return 0
    if digits_at(p, at + 11, 2, end) < 0 or digits_at(p, at + 14, 2, end) < 0 or digits_at(p, at + 17, 2, end) < 0:
        return 0
    return 1


@cython.cfunc
@cython.exceptval(-2)
def seconds_at(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> i64:
    """The seconds since 1970 of what `is_moment`, -1: they are not known."""
    year: i64 = digits_at(p, at, 4, end)
    month: i64 = digits_at(p, at + 5, 2, end)
    day: i64 = digits_at(p, at + 8, 2, end)
    hour: i64 = digits_at(p, at + 11, 2, end)
    minute: i64 = digits_at(p, at + 14, 2, end)
    second: i64 = digits_at(p, at + 17, 2, end)
    is_leap: cython.bint = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1970 < year <= LAST_YEAR or not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59:
        return -1
    days: i64 = 30 + (month + month // 8) % 2
    if month == 2:
        days = 29 if is_leap else 28
    if not 1 <= day <= days:
        return -1
    # Years begin in March: a leap day comes last.
    if month < 3:
        year -= 1
        month += 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719_469
    return ((days * 24 + hour) * 60 + minute) * 60 + second


@cython.cfunc
@cython.exceptval(-2)
def moment_at(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t, is_all: cython.bint) -> i64:
    """The moment of what `is_moment` in ns, -1: it is not known. `is_all`: no bytes may be behind it."""
    fraction: i64 = 0
    digits: cython.Py_ssize_t = 0
    seconds: i64 = seconds_at(p, at, end)
    at += MOMENT_SIZE
    if at < end and (p.block[at] == BYTE_DOT or p.block[at] == BYTE_COMMA):
        while digits < LONGEST_FRACTION and digits_at(p, at + 1 + digits, 1, end) >= 0:
            fraction = fraction * 10 + digits_at(p, at + 1 + digits, 1, end)
            digits += 1
        at += 1 + digits if digits > 0 else 0
    while digits < LONGEST_FRACTION:
        fraction *= 10
        digits += 1
    if at < end and p.block[at] == BYTE_Z:
        at += 1
    elif at < end and (p.block[at] == BYTE_PLUS or p.block[at] == BYTE_MINUS):
        return -1
    if seconds < 0 or (is_all and at != end):
        return -1
    return seconds * NS_OF_SECOND + fraction


@cython.cfunc
@cython.exceptval(-2)
def last_moment(p: Places, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> i64:
    """The last moment of a text, -1: it is not known. A moment behind a space or a bracket is no part of another."""
    least: cython.Py_ssize_t = end - MOMENT_REACH if end - begin > MOMENT_REACH else begin
    at: cython.Py_ssize_t = end - MOMENT_SIZE
    while at >= least:
        if is_moment(p, at, end):
            if at > least and p.block[at - 1] != BYTE_SPACE and p.block[at - 1] != BYTE_OPEN_LIST:
                return -1
            return moment_at(p, at, end, False)
        at -= 1
    return -1


@cython.cfunc
@cython.exceptval(-2)
def time_at(p: Places, place: cython.Py_ssize_t) -> i64:
    """A time in ms as ns, -1: it is not as most are. With so few digits no rounding is left to judge."""
    kind: cython.int = p.cells[place + CELL_KIND]
    at: cython.Py_ssize_t = p.cells[place + CELL_BEGIN]
    end: cython.Py_ssize_t = p.cells[place + CELL_END]
    value: i64 = 0
    fraction: cython.Py_ssize_t = -1  # digits of it
    if (kind != JSON_WHOLE and kind != JSON_FRACTION) or end - at > MOST_TIME_DIGITS:
        return -1
    while at < end:
        if p.block[at] == BYTE_DOT:
            fraction = 0
        elif BYTE_0 <= p.block[at] <= BYTE_9:
            value = value * 10 + (p.block[at] - BYTE_0)
            fraction += fraction >= 0
        else:
            return -1
        at += 1
    if fraction > MOST_FRACTION:
        return -1
    fraction = 0 if fraction < 0 else fraction
    while fraction < MOST_FRACTION:
        value *= 10
        fraction += 1
    return value if value <= MOST_TIME_NS else -1
