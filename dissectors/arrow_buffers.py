"""A column of an int64 matrix as what column formats are made of: numbers of a width, and a bit for each that is known.

UNKNOWN is the only value without its bit; in fewer than 64 bits its number is then 0. A value that does not fit is an
OverflowError.
Numbers go to `out`, memory of the caller that holds `rows` of them, whatever it held before.
"""

import os

import cython

from dissectors.layout import *

Narrow = cython.fused_type(cython.schar, cython.short, cython.int)
MOST = cython.declare(cython.longlong, (1 << 63) - 1)
ALL_64 = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
# Odd factors that nobody outside knows, so that no capture holds values made to collide (multiply-shift hashing).
FACTOR_1 = cython.declare(cython.ulonglong, int.from_bytes(os.urandom(8), "little") | 1)
FACTOR_2 = cython.declare(cython.ulonglong, int.from_bytes(os.urandom(8), "little") | 1)


@cython.cfunc
@cython.exceptval(-1)
def _check(
    matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t, room: cython.Py_ssize_t
) -> cython.int:
    """What is asked once here is asked of no row: are there the column, its rows, and room for them?"""
    if column < 0 or column >= matrix.shape[0] or rows > matrix.shape[1] or rows > room:
        raise IndexError(f"{rows} rows of column {column} are too many")
    return 0


@cython.boundscheck(False)
def int64s(
    matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t, out: cython.longlong[::1]
):
    """Rows [0, rows) of a column; UNKNOWN stays what it is."""
    row: cython.Py_ssize_t
    _check(matrix, column, rows, out.shape[0])
    for row in range(rows):
        out[row] = matrix[column, row]


def int32s(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t, out: cython.int[::1]):
    """The same in 32 bits."""
    _narrow(out, matrix, column, rows, -2147483648, 2147483647)


def int16s(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t, out: cython.short[::1]):
    """The same in 16 bits."""
    _narrow(out, matrix, column, rows, -32768, 32767)


def int8s(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t, out: cython.schar[::1]):
    """The same in 8 bits."""
    _narrow(out, matrix, column, rows, -128, 127)


@cython.cfunc
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def _narrow(
    out: Narrow[::1],
    matrix: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    rows: cython.Py_ssize_t,
    least: cython.longlong,
    most: cython.longlong,
) -> cython.int:
    """Copies rows of a column into `out`, whose type holds [least, most]."""
    row: cython.Py_ssize_t
    value: cython.longlong
    _check(matrix, column, rows, out.shape[0])
    for row in range(rows):
        value = matrix[column, row]
        if value == UNKNOWN:
            value = 0
        elif value < least or value > most:
            raise OverflowError(f"a value beyond {least} to {most}")
        out[row] = value
    return 0


@cython.boundscheck(False)
def halves(
    matrix: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    rows: cython.Py_ssize_t,
    shift: cython.longlong,
    upper: cython.longlong[::1],
    lower: cython.longlong[::1],
):
    """Two int64 columns of one: what is above the lowest `shift` bits, and those bits."""
    one: cython.longlong = 1
    mask: cython.longlong = (one << shift) - 1
    row: cython.Py_ssize_t
    _check(matrix, column, rows, min(upper.shape[0], lower.shape[0]))
    for row in range(rows):
        upper[row] = matrix[column, row] >> shift
        lower[row] = matrix[column, row] & mask


def known_bits(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t):
    """A bit for each row, the first in the lowest bit of a byte: is the value known? None when all are."""
    return bits_between(matrix, column, rows, UNKNOWN + 1, MOST)


@cython.boundscheck(False)
def bits_between(
    matrix: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    rows: cython.Py_ssize_t,
    least: cython.longlong,
    most: cython.longlong,
):
    """The same: is the value one of [least, most]?"""
    out = bytearray((rows + 7) // 8)
    bits: cython.uchar[::1] = out
    row: cython.Py_ssize_t
    bit: cython.int
    byte: cython.int
    every: cython.int = 255
    value: cython.longlong
    _check(matrix, column, rows, rows)
    for row in range(0, rows - 7, 8):
        byte = 0
        # No condition: where half of the values are known the processor would guess wrong each second time.
        for bit in range(8):
            value = matrix[column, row + bit]
            byte |= ((value >= least) & (value <= most)) << bit
        bits[row >> 3] = byte
        every &= byte
    for row in range(rows & ~7, rows):
        if least <= matrix[column, row] <= most:
            bits[row >> 3] |= 1 << (row & 7)
        else:
            every = 0
    return None if every == 255 else out


@cython.boundscheck(False)
def numbered(
    matrix: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    other: cython.Py_ssize_t,
    rows: cython.Py_ssize_t,
    zero: cython.bint,
    out: cython.int[::1],
):
    """Numbers the distinct pairs of two columns, from 0, in the order in which they first come; `out` gets the number of each row.

    A pair is not known where one of both is UNKNOWN, and where both are 0 unless `zero`; its number is 0. Answers the first row
    of each distinct pair, and the bits of the known as `known_bits` does.
    """
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    high: cython.longlong
    low: cython.longlong
    hashed: cython.ulonglong
    number: cython.int = 0
    known: cython.Py_ssize_t = 0
    width: cython.int = 4
    _check(matrix, column, rows, out.shape[0])
    _check(matrix, other, rows, rows)
    while rows >= 1 << (width - 1):
        width += 1
    # The number of a pair and one more; 0 is a free place. Half of the places stay free.
    places: cython.int[::1] = memoryview(bytearray(4 << width)).cast("i")
    found: cython.int[::1] = memoryview(bytearray(4 * (rows + 1))).cast("i")
    made = bytearray((rows + 7) // 8)
    bits: cython.uchar[::1] = made
    mask: cython.Py_ssize_t = (1 << width) - 1
    for row in range(rows):
        high = matrix[column, row]
        low = matrix[other, row]
        out[row] = 0
        if high == UNKNOWN or low == UNKNOWN or not (zero or high or low):
            continue
        hashed = cython.cast(cython.ulonglong, high) * FACTOR_1 + cython.cast(cython.ulonglong, low) * FACTOR_2
        at = (hashed & ALL_64) >> (64 - width)
        while places[at] and (
            matrix[column, found[places[at] - 1]] != high or matrix[other, found[places[at] - 1]] != low
        ):
            at = (at + 1) & mask
        if not places[at]:
            found[number] = row
            number += 1
            places[at] = number
        out[row] = places[at] - 1
        bits[row >> 3] |= 1 << (row & 7)
        known += 1
    return found[:number], None if known == rows else made
