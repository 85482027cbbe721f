"""Rows of state as bytes, and back. Most values are zero, UNKNOWN, small, times near the connection's last one, or are in
another column too.

A row is a chain of values, each a tag (`parking_columns`) and the bytes that it announces. `number` is the connection's among
those at hand: that of its cursor.
"""

import cython

from dissectors.layout import *
from dissectors.parking.parking_columns import *
from dissectors.parking.parking_state import ParkingState, i64, new_cell, remember


@cython.cfunc
@cython.exceptval(-1)
def put_row(p: ParkingState, number: i64, matrix: i64[:, ::1], row: i64) -> cython.int:
    """Writes a row of a matrix behind what the connection has."""
    column: i64
    zeros: i64 = 0
    value: i64
    size: i64
    place: i64
    base: i64 = p.cursors[number, CURSOR_BASE]
    for column in range(matrix.shape[1]):
        value = matrix[row, column]
        if value == 0:
            zeros += 1
            if zeros == MOST_ZEROS:
                put_byte(p, number, zeros << 4 | TAG_ZEROS)
                zeros = 0
            continue
        if value == UNKNOWN:
            put_byte(p, number, zeros << 4 | TAG_UNKNOWN)
        elif value == 1:
            put_byte(p, number, zeros << 4 | TAG_ONE)
        elif value == -1:
            put_byte(p, number, zeros << 4 | TAG_MINUS_ONE)
        else:
            size = size_of(value)
            place = place_of(p, number, value) if size > 1 else -1
            # Both are positive where times are: no difference is too large for an int64.
            if place >= 0:
                value = place
                size = 1
                put_byte(p, number, zeros << 4 | TAG_AGAIN)
            elif size == 8 and value > 0 and base > 0 and size_of(value - base) <= MOST_SINCE_BASE:
                value -= base
                size = max(LEAST_SINCE_BASE, size_of(value))
                put_byte(p, number, zeros << 4 | (TAG_SINCE_BASE + size))
            else:
                put_byte(p, number, zeros << 4 | (TAG_BYTES + size))
            put_number(p, number, value, size)
        zeros = 0
    if zeros:
        put_byte(p, number, zeros << 4 | TAG_ZEROS)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_row(p: ParkingState, number: i64, matrix: i64[:, ::1], row: i64) -> cython.int:
    """Reads the next row of the connection into a row of a matrix."""
    column: i64 = 0
    tag: i64
    kind: i64
    value: i64
    while column < matrix.shape[1]:
        tag = take_byte(p, number)
        kind = tag & 15
        for _ in range(tag >> 4):
            matrix[row, column] = 0
            column += 1
        if kind == TAG_ZEROS:
            continue
        if kind == TAG_UNKNOWN:
            value = UNKNOWN
        elif kind == TAG_ONE:
            value = 1
        elif kind == TAG_MINUS_ONE:
            value = -1
        elif kind == TAG_AGAIN:
            value = p.remembered[number, take_byte(p, number) & (REMEMBERED - 1)]
        elif kind <= TAG_BYTES + 8:
            value = take_number(p, number, kind - TAG_BYTES)
            if kind > TAG_BYTES + 1:
                remember(p, number, value)
        else:
            value = take_number(p, number, kind - TAG_SINCE_BASE) + p.cursors[number, CURSOR_BASE]
            remember(p, number, value)
        matrix[row, column] = value
        column += 1
    return 0


@cython.cfunc
@cython.exceptval(-2)
def place_of(p: ParkingState, number: i64, value: i64) -> i64:
    """Where a value is remembered; -1: it was not, and is from now on."""
    place: i64
    for place in range(min(p.cursors[number, CURSOR_REMEMBERED], REMEMBERED)):
        if p.remembered[number, place] == value:
            return place
    remember(p, number, value)
    return -1


@cython.cfunc
@cython.exceptval(check=False)
def size_of(value: i64) -> i64:
    """Bytes that a signed number needs, 1 to 8."""
    size: i64 = 1
    while value > 127 or value < -128:
        value >>= 8
        size += 1
    return size


@cython.cfunc
@cython.exceptval(-1)
def put_number(p: ParkingState, number: i64, value: i64, size: i64) -> cython.int:
    """A signed number in so many bytes."""
    while size:
        put_byte(p, number, value & 0xFF)
        value >>= 8
        size -= 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def put_byte(p: ParkingState, number: i64, value: i64) -> cython.int:
    cell: i64
    at: i64 = p.cursors[number, CURSOR_AT]
    if at == CELL_BYTES:
        cell = new_cell(p)
        p.next_cell[p.cursors[number, CURSOR_CELL]] = cython.cast(cython.int, cell)
        p.cursors[number, CURSOR_CELL] = cell
        at = 0
    p.cells[p.cursors[number, CURSOR_CELL] * CELL_BYTES + at] = cython.cast(cython.uchar, value)
    p.cursors[number, CURSOR_AT] = at + 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_byte(p: ParkingState, number: i64) -> i64:
    at: i64 = p.cursors[number, CURSOR_AT]
    if at == CELL_BYTES:
        p.cursors[number, CURSOR_CELL] = p.next_cell[p.cursors[number, CURSOR_CELL]]
        at = 0
    p.cursors[number, CURSOR_AT] = at + 1
    return p.cells[p.cursors[number, CURSOR_CELL] * CELL_BYTES + at]


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
def take_number(p: ParkingState, number: i64, size: i64) -> i64:
    """A signed number of so many bytes."""
    value: i64 = 0
    byte: i64 = 0
    shift: i64 = 0
    while shift < 8 * size:
        byte = take_byte(p, number)
        # The last byte has the sign. Of eight bytes none is left to be filled.
        if shift + 8 == 8 * size and byte > 127:
            byte -= 256
        value |= byte << shift
        shift += 8
    return value
