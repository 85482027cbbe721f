"""Segments of a task that wait until it is known whether they travel: rows of numbers, and their payloads one behind the other.

A row has the columns of the segments matrix side by side, and PENDING_NUMBER and PENDING_KIND behind them. The payload of row n
lies at [places[n], places[n + 1]). Most rows are dropped, a few go on waiting, so what is kept is copied, once.
"""

import cython

from dissectors.layout import *
from dissectors.tcp.pending_columns import *


def payload_bytes(segments: cython.longlong[:, ::1], rows: cython.longlong):
    """How many bytes the payloads of rows [0, rows) have together."""
    row: cython.longlong
    total: cython.longlong = 0
    for row in range(rows):
        total += segments[SEGMENT_CAPTURED, row]
    return total


def wait(
    block: cython.const[cython.uchar][::1],
    segments: cython.longlong[:, ::1],
    rows: cython.longlong,
    first: cython.longlong,
    kind: cython.longlong,
    columns: cython.longlong[::1],
    places: cython.int[::1],
    payload: cython.uchar[::1],
):
    """Copies rows [0, rows) of a segments matrix, whose payloads lie in `block`, as rows that wait, numbered from `first` on."""
    row: cython.longlong
    column: cython.longlong
    size: cython.longlong
    offset: cython.longlong
    at: cython.longlong = 0
    used: cython.longlong = 0
    for row in range(rows):
        for column in range(SEGMENT_COLUMNS):
            columns[at + column] = segments[column, row]
        columns[at + PENDING_NUMBER] = first + row
        columns[at + PENDING_KIND] = kind
        at += PENDING_COLUMNS
        size = segments[SEGMENT_CAPTURED, row]
        offset = segments[SEGMENT_OFFSET, row]
        places[row] = cython.cast(cython.int, used)
        if size > 0:
            payload[used : used + size] = block[offset : offset + size]
            used += size
    places[rows] = cython.cast(cython.int, used)


def times(segments: cython.longlong[:, ::1], rows: cython.longlong, latest: cython.longlong):
    """(first, latest, late) of rows [0, rows): the first time that is known, UNKNOWN if none is; the latest time up to their end,
    where `latest` is that before them; and by how much a segment at most was earlier than the latest one before it."""
    row: cython.longlong
    time: cython.longlong
    first: cython.longlong = UNKNOWN
    late: cython.longlong = 0
    for row in range(rows):
        time = segments[SEGMENT_TIME, row]
        if time == UNKNOWN:
            continue
        if first == UNKNOWN:
            first = time
        if time > latest:
            latest = time
        elif latest - time > late:
            late = latest - time
    return first, latest, late


def judge(
    columns: cython.const[cython.longlong][::1],
    begins: cython.longlong[::1],
    ends: cython.longlong[::1],
    since: cython.longlong[::1],
    over: cython.const[cython.uchar][::1],
    late: cython.longlong,
    recent: cython.longlong,
    newest: cython.longlong,
    fates: cython.uchar[::1],
):
    """Writes a FATE_ for each row that waits.

    By part, counted from 0: the numbers of the segments at which its span `begins` and `ends`, and whether it is `over`; a part
    beyond these arrays has no span. Of segments of a span the headers are kept where duplicates of them may follow: of those up
    to `recent` before its end, at most `late` before the time `since`, and of those behind number `newest`.
    """
    row: cython.Py_ssize_t
    part: cython.longlong
    number: cython.longlong
    time: cython.longlong
    for row in range(fates.shape[0]):
        part, number = columns[row * PENDING_COLUMNS + SEGMENT_PART], columns[row * PENDING_COLUMNS + PENDING_NUMBER]
        time = columns[row * PENDING_COLUMNS + SEGMENT_TIME]
        if part >= begins.shape[0] or number <= begins[part]:
            fates[row] = FATE_LEAVES
        elif number > ends[part]:
            fates[row] = FATE_LEAVES if over[part] else FATE_WAITS
        elif number > newest or (
            number > ends[part] - recent and (time >= since[part] or (time != UNKNOWN and since[part] - time <= late))
        ):
            fates[row] = FATE_LEAVES_BARE if over[part] else FATE_WAITS_BARE
        else:
            fates[row] = FATE_DROPPED


def judge_complete(columns: cython.const[cython.longlong][::1], firsts: cython.longlong[::1], fates: cython.uchar[::1]):
    """The same at the end of the task, for segments that leave: `firsts` has the number of the first packet of each part that is a
    complete connection, -1 for others."""
    row: cython.Py_ssize_t
    part: cython.longlong
    for row in range(fates.shape[0]):
        part = columns[row * PENDING_COLUMNS + SEGMENT_PART]
        if part >= firsts.shape[0] or firsts[part] < 0:
            fates[row] = FATE_LEAVES
        elif columns[row * PENDING_COLUMNS + SEGMENT_NUMBER] == firsts[part]:
            fates[row] = FATE_STANDS
        else:
            fates[row] = FATE_DROPPED


def measure(
    places: cython.const[cython.int][::1], fates: cython.const[cython.uchar][::1], fate: cython.int, bare: cython.int
):
    """(rows, bytes of their payloads) of the rows with the fate `fate`, and of those with the fate `bare` that leave theirs."""
    row: cython.Py_ssize_t
    rows: cython.longlong = 0
    size: cython.longlong = 0
    for row in range(fates.shape[0]):
        if fates[row] == fate:
            rows += 1
            size += places[row + 1] - places[row]
        elif fates[row] == bare:
            rows += 1
    return rows, size


def pick(
    columns: cython.const[cython.longlong][::1],
    places: cython.const[cython.int][::1],
    payload: cython.const[cython.uchar][::1],
    fates: cython.const[cython.uchar][::1],
    fate: cython.int,
    bare: cython.int,
    bare_kind: cython.longlong,
    row_to: cython.Py_ssize_t,
    columns_to: cython.longlong[::1],
    places_to: cython.int[::1],
    payload_to: cython.uchar[::1],
):
    """Copies the rows that `measure` counts behind the `row_to` rows that are there, those with the fate `bare` with another kind
    and without payload; returns how many rows there are then."""
    row: cython.Py_ssize_t
    column: cython.Py_ssize_t
    at: cython.Py_ssize_t
    used: cython.longlong = places_to[row_to]
    size: cython.longlong
    for row in range(fates.shape[0]):
        if fates[row] != fate and fates[row] != bare:
            continue
        at = row_to * PENDING_COLUMNS
        for column in range(PENDING_COLUMNS):
            columns_to[at + column] = columns[row * PENDING_COLUMNS + column]
        size = places[row + 1] - places[row]
        if fates[row] == bare:
            columns_to[at + PENDING_KIND] = bare_kind
        elif size > 0:
            payload_to[used : used + size] = payload[places[row] : places[row + 1]]
            used += size
        row_to += 1
        places_to[row_to] = cython.cast(cython.int, used)
    return row_to


def add_up(
    columns: cython.const[cython.longlong][::1],
    places: cython.const[cython.int][::1],
    rows: cython.longlong,
    sizes: cython.longlong[::1],
):
    """Adds the bytes of the payloads of rows [0, rows) to `sizes`, by part."""
    row: cython.Py_ssize_t
    for row in range(rows):
        sizes[columns[row * PENDING_COLUMNS + SEGMENT_PART]] += places[row + 1] - places[row]


def strip(columns: cython.const[cython.longlong][::1], rows: cython.longlong, sent: cython.longlong[::1]):
    """Copies the columns of the segments matrix of rows [0, rows) to `sent`, row after row. Those that mean something in one
    process only, the place of the payload and the part, become 0."""
    row: cython.Py_ssize_t
    column: cython.Py_ssize_t
    for row in range(rows):
        for column in range(SEGMENT_COLUMNS):
            sent[row * SEGMENT_COLUMNS + column] = columns[row * PENDING_COLUMNS + column]
        sent[row * SEGMENT_COLUMNS + SEGMENT_OFFSET] = 0
        sent[row * SEGMENT_COLUMNS + SEGMENT_PART] = 0


def spread(
    sent: cython.const[cython.longlong][::1],
    places: cython.const[cython.int][::1],
    rows: cython.longlong,
    segments: cython.longlong[:, ::1],
):
    """Makes rows of a segments matrix of rows that were sent, whose payloads begin at `places`."""
    row: cython.Py_ssize_t
    column: cython.Py_ssize_t
    for row in range(rows):
        for column in range(SEGMENT_COLUMNS):
            segments[column, row] = sent[row * SEGMENT_COLUMNS + column]
        segments[SEGMENT_OFFSET, row] = places[row]
