"""Finds the frames of a batch whose APIs somebody asks for, so that frames of others cost a look at two numbers."""

import cython

if not cython.compiled:
    from dissectors.layout import FRAME_EVENT, FRAME_KEY

# Keys from -2 (a bare SASL token) to PICK_KEYS - 3; five events each.
PICK_KEYS = cython.declare(cython.longlong, 130)


def wanted_table(pairs):
    """The table for `pick`: `pairs` are (FRAME_KEY, FRAME_EVENT)."""
    table = bytearray(PICK_KEYS * 5)
    for key, event in pairs:
        table[(key + 2) * 5 + event] = 1
    return table


def pick(frames: cython.longlong[:, ::1], rows: cython.longlong, wanted: cython.uchar[::1]):
    """The frame rows below `rows` whose key and event are in the table, in order, as a list."""
    found: list = []
    row: cython.longlong
    place: cython.longlong
    for row in range(rows):
        place = frames[FRAME_KEY, row] + 2
        if 0 <= place < PICK_KEYS and wanted[place * 5 + frames[FRAME_EVENT, row]]:
            found.append(row)
    return found
