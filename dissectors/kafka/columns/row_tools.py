"""Functions over matrices of rows that leave the walk and exchanges stages, and over rows of raw tables."""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room


def label(
    frames: cython.longlong[:, ::1],
    source: cython.longlong[:, ::1],
    first: cython.longlong,
    rows: cython.longlong,
    columns: cython.longlong,
    target: cython.longlong[:, ::1],
    used: cython.longlong,
):
    """Copies rows [first, rows) of entries or errors, which have `columns` columns, to `target` from row `used` on.

    In the copies the exchange takes the place of the frame row: its id is in the first column, and the LABEL_ columns follow
    the others. The target must have the room. Returns how many of its rows are used then.
    """
    row: cython.longlong
    column: cython.longlong
    frame: cython.longlong
    for row in range(first, rows):
        frame = source[0, row]
        target[0, used] = frames[FRAME_ID, frame]
        for column in range(1, columns):
            target[column, used] = source[column, row]
        target[columns + LABEL_PART, used] = frames[FRAME_PART, frame]
        target[columns + LABEL_SIDE, used] = 0 if frames[FRAME_EVENT, frame] == FRAME_REQUEST_SEEN else 1
        target[columns + LABEL_KEY, used] = frames[FRAME_KEY, frame]
        used += 1
    return used


@cython.boundscheck(False)
def set_apart(
    rows: cython.longlong[:, ::1], used: cython.longlong, others: cython.longlong[:, ::1], others_used: cython.longlong
):
    """Moves exchanges that were not answered, failed or were throttled from rows [0, used) to `others`, behind its rows
    [0, others_used).

    The last rows of those that stay fill the holes, so their order changes. `others` must have room for all of them.
    Returns (rows that stay, rows of `others`).
    """
    row: cython.longlong = used
    column: cython.longlong
    code: cython.longlong
    check_room(rows, ROW_COLUMNS, used)
    check_room(others, ROW_COLUMNS, others_used + used)
    while row > 0:
        row -= 1
        code = rows[ROW_ERROR_CODE, row]
        if (
            rows[ROW_STATUS, row] != STATUS_ANSWERED
            or (code != 0 and code != UNKNOWN)
            or rows[ROW_THROTTLE_MS, row] > 0
        ):
            used -= 1
            for column in range(ROW_COLUMNS):
                others[column, others_used] = rows[column, row]
                rows[column, row] = rows[column, used]
            others_used += 1
    return used, others_used


def mark_rows_in_ranges(
    parts: cython.const[cython.longlong][::1],
    first_part: cython.longlong,
    first_row: cython.longlong,
    starts: cython.longlong[::1],
    begins: cython.longlong[::1],
    ends: cython.longlong[::1],
    marks: cython.uchar[::1],
):
    """Sets marks[i] to 1 where row `first_row` + i of a table, which is of part `parts`[i], lies in a range of rows that
    counts for this part.

    Part `first_part` + n has the ranges [begins[k], ends[k]) for k from starts[n] to before starts[n + 1].
    """
    i: cython.longlong
    k: cython.longlong
    part: cython.longlong
    for i in range(parts.shape[0] if cython.compiled else len(parts)):
        part = parts[i] - first_part
        for k in range(starts[part], starts[part + 1]):
            if begins[k] <= first_row + i < ends[k]:
                marks[i] = 1
                break
