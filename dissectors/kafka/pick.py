"""Finds the frames of a batch whose APIs somebody asks for, so that frames of others cost a look at two numbers."""

import cython

if not cython.compiled:
    from dissectors.layout import (
        DECODED_FULL,
        DECODED_TRUNCATED,
        FRAME_BODY,
        FRAME_BUFFER,
        FRAME_DECODED,
        FRAME_EVENT,
        FRAME_FIRST_TIME,
        FRAME_HELD,
        FRAME_ID,
        FRAME_KEY,
        FRAME_LAST_TIME,
        FRAME_LENGTH,
        FRAME_OFFSET,
        FRAME_PART,
        FRAME_REQUEST,
        FRAME_STATUS,
        FRAME_TOKEN_SEEN,
        FRAME_VERSION,
        UNKNOWN,
    )

# Keys from -2 (a bare SASL token) to PICK_KEYS - 3; five events each.
PICK_KEYS = cython.declare(cython.longlong, 130)


@cython.cclass
class Picked:
    """One frame, as its columns FRAME_ tell. `readable`: its body, of which no more is there than from `begin` to `end` of
    its buffer, can be read; a token is its own body. `whole`: all of the frame is there."""

    event = cython.declare(cython.longlong, visibility="readonly")
    part = cython.declare(cython.longlong, visibility="readonly")
    request = cython.declare(cython.longlong, visibility="readonly")
    buffer = cython.declare(cython.longlong, visibility="readonly")
    key = cython.declare(cython.longlong, visibility="readonly")
    version = cython.declare(cython.longlong, visibility="readonly")
    exchange = cython.declare(cython.longlong, visibility="readonly")
    begin_ns = cython.declare(cython.longlong, visibility="readonly")
    end_ns = cython.declare(cython.longlong, visibility="readonly")
    status = cython.declare(cython.longlong, visibility="readonly")
    begin = cython.declare(cython.longlong, visibility="readonly")
    end = cython.declare(cython.longlong, visibility="readonly")
    readable = cython.declare(cython.bint, visibility="readonly")
    whole = cython.declare(cython.bint, visibility="readonly")


def wanted_table(pairs):
    """The table for `pick`: `pairs` are (FRAME_KEY, FRAME_EVENT)."""
    table = bytearray(PICK_KEYS * 5)
    for key, event in pairs:
        table[(key + 2) * 5 + event] = 1
    return table


def pick(frames: cython.longlong[:, ::1], rows: cython.longlong, wanted: cython.uchar[::1]):
    """Of the first `rows` frames those whose key and event are in the table, in order, as a list of Picked."""
    found: list = []
    row: cython.longlong
    place: cython.longlong
    for row in range(rows):
        place = frames[FRAME_KEY, row] + 2
        if 0 <= place < PICK_KEYS and wanted[place * 5 + frames[FRAME_EVENT, row]]:
            found.append(_picked(frames, row))
    return found


@cython.cfunc
def _picked(frames: cython.longlong[:, ::1], row: cython.longlong) -> Picked:
    picked: Picked = Picked()
    picked.event = frames[FRAME_EVENT, row]
    picked.part = frames[FRAME_PART, row]
    picked.request = frames[FRAME_REQUEST, row]
    picked.buffer = frames[FRAME_BUFFER, row]
    picked.key = frames[FRAME_KEY, row]
    picked.version = frames[FRAME_VERSION, row]
    picked.exchange = frames[FRAME_ID, row]
    picked.begin_ns = frames[FRAME_FIRST_TIME, row]
    picked.end_ns = frames[FRAME_LAST_TIME, row]
    picked.status = frames[FRAME_STATUS, row]
    picked.begin = frames[FRAME_OFFSET, row]
    picked.end = picked.begin + max(0, frames[FRAME_HELD, row])
    picked.whole = frames[FRAME_HELD, row] == frames[FRAME_LENGTH, row]
    if picked.event == FRAME_TOKEN_SEEN:
        picked.readable = True
    elif frames[FRAME_BODY, row] != UNKNOWN:
        picked.begin += frames[FRAME_BODY, row]
        picked.readable = frames[FRAME_DECODED, row] == DECODED_FULL or frames[FRAME_DECODED, row] == DECODED_TRUNCATED
    else:
        picked.readable = False
    return picked
