"""Values, entries and errors of logged bodies -> rows of the matrices that raw tables are made of."""

import cython

from dissectors.kafka.logged.object_steps import *
from dissectors.layout import *


def put_exchange(rows: cython.longlong[:, ::1], row: cython.longlong, head: tuple, asked: list, told: list):
    """Writes an exchange: `head` has its columns before the values, which are those of both bodies, merged as `exchange_rows`
    merges them of packets."""
    at: cython.Py_ssize_t
    value: cython.longlong
    own: cython.longlong
    for at in range(ROW_VALUES):
        rows[at, row] = head[at]
    rows[ROW_VALUES, row] = asked[0]
    for at in range(1, VALUE_COLUMNS):
        own = asked[at]
        value = told[at]
        if value != UNKNOWN and (
            own == UNKNOWN
            or (at in (VALUE_TOPICS, VALUE_PARTITIONS, VALUE_RECORD_BYTES) and value > own)
            or (at == VALUE_SESSION_ID and value != 0)
            or (at == VALUE_MEMBER_ID and own == 0)
        ):
            own = value
        rows[ROW_VALUES + at, row] = own
    for at in range(ROW_QUEUE, ROW_COLUMNS):
        rows[at, row] = UNKNOWN


def put_rows(rows: cython.longlong[:, ::1], row: cython.longlong, found: list, exchange: cython.longlong, label: tuple):
    """Writes entries or errors of an exchange, each a sequence of the columns behind the first, which is the exchange; `label`
    comes last. Returns the next row."""
    at: cython.Py_ssize_t
    part: cython.longlong = label[0]
    side: cython.longlong = label[1]
    key: cython.longlong = label[2]
    for cells in found:
        rows[0, row] = exchange
        at = 1
        for value in cells:
            rows[at, row] = value
            at += 1
        rows[at + LABEL_PART, row] = part
        rows[at + LABEL_SIDE, row] = side
        rows[at + LABEL_KEY, row] = key
        row += 1
    return row


def put_line(rows: cython.longlong[:, ::1], row: cython.longlong, cells: tuple, texts: object):
    """Writes a line of a log: whole numbers, numbers of texts, and what is unknown."""
    at: cython.Py_ssize_t
    for at in range(len(cells)):
        cell: object = cells[at]
        if cell is None:
            rows[at, row] = UNKNOWN
        elif type(cell) is str:
            rows[at, row] = texts.number(cell)
        else:
            rows[at, row] = cell
