"""A column of an int64 matrix as what column formats are made of: numbers of a width, and a bit for each that is known.

UNKNOWN is the only value without its bit; its number is then 0. A value that does not fit the width is an OverflowError.
"""

from array import array

import cython

if not cython.compiled:
    from dissectors.layout import UNKNOWN

Narrow = cython.fused_type(cython.schar, cython.short, cython.int)
MOST = cython.declare(cython.longlong, (1 << 63) - 1)


def int64s(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t):
    """Rows [0, rows) of a column, as they are."""
    out = array("q", bytes(8 * rows))
    values: cython.longlong[::1] = out
    row: cython.Py_ssize_t
    for row in range(rows):
        values[row] = matrix[column, row]
    return out


def int32s(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t):
    """The same in 32 bits."""
    out = array("i", bytes(4 * rows))
    values: cython.int[::1] = out
    _narrow(values, matrix, column, rows, -2147483648, 2147483647)
    return out


def int16s(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t):
    """The same in 16 bits."""
    out = array("h", bytes(2 * rows))
    values: cython.short[::1] = out
    _narrow(values, matrix, column, rows, -32768, 32767)
    return out


def int8s(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t):
    """The same in 8 bits."""
    out = array("b", bytes(1 * rows))
    values: cython.schar[::1] = out
    _narrow(values, matrix, column, rows, -128, 127)
    return out


@cython.cfunc
@cython.exceptval(-1, check=False)
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
    for row in range(rows):
        value = matrix[column, row]
        if value != UNKNOWN:
            if value < least or value > most:
                raise OverflowError(f"a value beyond {least} to {most}")
            out[row] = value
    return 0


def halves(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t, shift: cython.longlong):
    """Two int64 columns of one: what stands above the lowest `shift` bits, and those bits."""
    upper_out, lower_out = array("q", bytes(8 * rows)), array("q", bytes(8 * rows))
    upper: cython.longlong[::1] = upper_out
    lower: cython.longlong[::1] = lower_out
    one: cython.longlong = 1
    mask: cython.longlong = (one << shift) - 1
    row: cython.Py_ssize_t
    for row in range(rows):
        upper[row] = matrix[column, row] >> shift
        lower[row] = matrix[column, row] & mask
    return upper_out, lower_out


def known_bits(matrix: cython.longlong[:, ::1], column: cython.Py_ssize_t, rows: cython.Py_ssize_t):
    """A bit for each row, the first in the lowest bit of a byte: is the value known? None when all are."""
    return bits_between(matrix, column, rows, UNKNOWN + 1, MOST)


def bits_between(
    matrix: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    rows: cython.Py_ssize_t,
    least: cython.longlong,
    most: cython.longlong,
):
    """The same: is the value one of [least, most]?"""
    out = bytearray((rows + 7) // 8)
    bits: cython.uchar[::1]
    row: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    if rows:
        bits = out
        for row in range(rows):
            if least <= matrix[column, row] <= most:
                bits[row >> 3] |= 1 << (row & 7)
                found += 1
    return None if found == rows else out
