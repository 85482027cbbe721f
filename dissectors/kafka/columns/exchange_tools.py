"""Passes over whole matrices of rows that leave the walk and exchanges stages."""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room


def sift(
    parts: cython.const[cython.longlong][::1],
    first_part: cython.longlong,
    first_row: cython.longlong,
    starts: cython.longlong[::1],
    begins: cython.longlong[::1],
    ends: cython.longlong[::1],
    keep: cython.uchar[::1],
):
    """Sets keep[i] to 1 where row `first_row` + i of a table, of part `parts`[i], lies in a range of rows of that part.

    Part `first_part` + n has the ranges [begins[k], ends[k]) for k from starts[n] to before starts[n + 1].
    """
    i: cython.longlong
    k: cython.longlong
    part: cython.longlong
    for i in range(parts.shape[0] if cython.compiled else len(parts)):
        part = parts[i] - first_part
        for k in range(starts[part], starts[part + 1]):
            if begins[k] <= first_row + i < ends[k]:
                keep[i] = 1
                break


@cython.boundscheck(False)
def set_apart(
    rows: cython.longlong[:, ::1], used: cython.longlong, others: cython.longlong[:, ::1], others_used: cython.longlong
):
    """Moves the rows [0, used) that were not answered, failed or were throttled to `others`, behind its rows
    [0, others_used). The others, of which the last ones fill the holes, stay. Returns how many rows each has then; `others`
    must have the room."""
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


def label(
    frames: cython.longlong[:, ::1],
    source: cython.longlong[:, ::1],
    rows: cython.longlong,
    columns: cython.longlong,
    target: cython.longlong[:, ::1],
    used: cython.longlong,
):
    """Copies `rows` rows of entries or errors to `target` from row `used` on, told by exchange instead of by frame row.

    Column 0 becomes the exchange's id; three columns follow the `columns` of the source: part, side (0 request, 1 response)
    and API key. The target must have the room. Returns the rows used.
    """
    i: cython.longlong
    column: cython.longlong
    frame: cython.longlong
    for i in range(rows):
        frame = source[0, i]
        target[0, used] = frames[FRAME_ID, frame]
        for column in range(1, columns):
            target[column, used] = source[column, i]
        target[columns, used] = frames[FRAME_PART, frame]
        target[columns + 1, used] = 0 if frames[FRAME_EVENT, frame] == FRAME_REQUEST_SEEN else 1
        target[columns + 2, used] = frames[FRAME_KEY, frame]
        used += 1
    return used
