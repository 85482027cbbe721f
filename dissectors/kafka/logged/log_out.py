"""Values, entries and errors of logged bodies -> rows of the matrices that raw tables are made of."""

import cython

from dissectors.kafka.logged.body_texts import Texts
from dissectors.kafka.logged.json_places import i64
from dissectors.kafka.logged.log_cells import *
from dissectors.kafka.logged.object_steps import *
from dissectors.kafka.logged.object_values import BodyValues
from dissectors.kafka.logged.odd_values import new_cells
from dissectors.layout import *
from dissectors.matrix import new_matrix


@cython.final
@cython.cclass
class LogOut:
    """Matrices of `rows` rows each, by their OUT_ numbers, so many of them `filled`, and connections by slot."""

    texts = cython.declare(Texts, visibility="readonly")
    rows = cython.declare(cython.Py_ssize_t, visibility="readonly")
    filled: i64[::1]
    parts: i64[::1]
    lines: i64[:, ::1]
    exchanges: i64[:, ::1]
    entries: i64[:, ::1]
    errors: i64[:, ::1]
    matrices = cython.declare(list, visibility="readonly")

    def __init__(self, texts, rows):
        self.texts, self.rows = texts, rows
        columns = (LOG_COLUMNS, ROW_COLUMNS, ENTRY_COLUMNS + LABEL_COLUMNS, ERROR_COLUMNS + LABEL_COLUMNS)
        self.matrices = [new_matrix(count, rows) for count in columns]
        self.lines, self.exchanges, self.entries, self.errors = self.matrices
        self.filled = new_cells(OUT_COUNT)
        self.parts = new_cells(64 * PART_CELLS)

    def add_part(self, slot: cython.Py_ssize_t, cells: tuple):
        """A connection has this slot."""
        at: cython.Py_ssize_t
        if (slot + 1) * PART_CELLS > self.parts.shape[0]:
            more: i64[::1] = new_cells(2 * self.parts.shape[0])
            more[: self.parts.shape[0]] = self.parts
            self.parts = more
        for at in range(PART_CELLS):
            self.parts[slot * PART_CELLS + at] = cells[at]

    def put_line(self, cells: tuple):
        """Writes a line: whole numbers, texts, and what is unknown."""
        at: cython.Py_ssize_t
        row: cython.Py_ssize_t = self.filled[OUT_LINES]
        for at in range(LOG_COLUMNS):
            cell: object = cells[at]
            if cell is None:
                self.lines[at, row] = UNKNOWN
            elif type(cell) is str:
                self.lines[at, row] = self.texts.number(cell)
            else:
                self.lines[at, row] = cell
        self.filled[OUT_LINES] += 1

    def part(self, slot: cython.Py_ssize_t):
        """What is known of a connection."""
        return [self.parts[slot * PART_CELLS + at] for at in range(PART_CELLS)]

    def count(self, which: cython.Py_ssize_t):
        """How many rows of a matrix are filled."""
        return self.filled[which]

    def empty(self, which: cython.Py_ssize_t):
        """The rows of a matrix were taken."""
        self.filled[which] = 0

    def put_exchange(self, asked: BodyValues, told: BodyValues, slot, exchange, head: tuple):
        """Writes an exchange of these bodies: key, version, correlation id, moment, total time and time of sending."""
        key, version, correlation, logged_ns, total_ns, send_ns = head
        put_exchange(self, asked, told, slot, exchange, key, version, correlation, logged_ns, total_ns, send_ns)

    def put_rows(self, which: cython.int, body: BodyValues, first, exchange, label: tuple):
        """Writes the entries or errors of a body from row `first` on, as many as there is room for. Returns how many."""
        part, side, key = label
        return put_rows(self, body, which, first, exchange, part, side, key)


@cython.cfunc
@cython.exceptval(-1)
def put_exchange(
    o: LogOut,
    asked: BodyValues,
    told: BodyValues,
    slot: cython.Py_ssize_t,
    exchange: i64,
    key: i64,
    version: i64,
    correlation: i64,
    logged_ns: i64,
    total_ns: i64,
    send_ns: i64,
) -> cython.int:
    """Writes an exchange. Values of both bodies are merged as `exchange_rows` merges them of packets."""
    at: cython.Py_ssize_t
    own: i64
    value: i64
    rows: i64[:, ::1] = o.exchanges
    row: cython.Py_ssize_t = o.filled[OUT_EXCHANGES]
    part: cython.Py_ssize_t = slot * PART_CELLS
    begin_ns: i64 = logged_ns - total_ns
    is_silent: cython.bint = key == 0 and asked.values[VALUE_ACKS] == 0
    for at in range(ROW_VALUES):
        rows[at, row] = UNKNOWN
    rows[ROW_EXCHANGE, row] = exchange
    rows[ROW_PART, row] = o.parts[part + PART_CELL_NUMBER]
    rows[ROW_KEY, row] = key
    rows[ROW_VERSION, row] = version
    rows[ROW_CORRELATION, row] = correlation
    rows[ROW_STATUS, row] = STATUS_NO_REPLY_EXPECTED if is_silent else STATUS_ANSWERED
    rows[ROW_TOKEN, row] = 0
    rows[ROW_REQUEST_FIRST, row] = begin_ns
    rows[ROW_REQUEST_LAST, row] = begin_ns
    if not is_silent:
        sent_ns: i64 = logged_ns if send_ns == UNKNOWN else logged_ns - send_ns
        rows[ROW_RESPONSE_FIRST, row] = sent_ns if sent_ns > begin_ns else begin_ns
        rows[ROW_RESPONSE_LAST, row] = logged_ns
    rows[ROW_REQUEST_DECODED, row] = asked.how
    rows[ROW_RESPONSE_DECODED, row] = told.how
    rows[ROW_VALUES, row] = asked.values[0]
    for at in range(1, VALUE_COLUMNS):
        own = asked.values[at]
        value = told.values[at]
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
    o.filled[OUT_EXCHANGES] += 1
    note_part(o, part, begin_ns, logged_ns, is_silent)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def note_part(o: LogOut, part: cython.Py_ssize_t, begin_ns: i64, end_ns: i64, is_silent: cython.bint) -> cython.int:
    """An exchange of a connection."""
    begin: cython.Py_ssize_t = part + PART_CELL_BEGIN
    end: cython.Py_ssize_t = part + PART_CELL_END
    if o.parts[begin] == UNKNOWN or begin_ns < o.parts[begin]:
        o.parts[begin] = begin_ns
    if end_ns > o.parts[end]:
        o.parts[end] = end_ns
    o.parts[part + PART_CELL_REQUESTS] += 1
    o.parts[part + PART_CELL_REPLIES] += not is_silent
    return 0


@cython.cfunc
@cython.exceptval(-1)
def put_rows(
    o: LogOut,
    body: BodyValues,
    which: cython.int,
    first: cython.Py_ssize_t,
    exchange: i64,
    part: i64,
    side: i64,
    key: i64,
) -> cython.Py_ssize_t:
    """Writes entries or errors from `first` on, as many as there is room for. Returns how many."""
    rows: i64[:, ::1] = o.entries if which == OUT_ENTRIES else o.errors
    cells: i64[::1] = body.entry_cells if which == OUT_ENTRIES else body.error_cells
    size: cython.Py_ssize_t = ENTRY_CELLS if which == OUT_ENTRIES else ERROR_CELLS
    columns: cython.Py_ssize_t = ENTRY_COLUMNS if which == OUT_ENTRIES else ERROR_COLUMNS
    there: cython.Py_ssize_t = body.entries if which == OUT_ENTRIES else body.errors
    count: cython.Py_ssize_t = min(there - first, o.rows - o.filled[which])
    if count > 0:
        put(rows, o.filled[which], cells, first, count, size)
        label(rows, o.filled[which], count, columns, exchange, part, side, key)
        o.filled[which] += count
    return count


@cython.cfunc
@cython.exceptval(-1)
def put(
    rows: i64[:, ::1],
    row: cython.Py_ssize_t,
    cells: i64[::1],
    first: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.int:
    """Writes so many rows of cells behind the first column, which is the exchange."""
    number: cython.Py_ssize_t
    at: cython.Py_ssize_t
    for number in range(count):
        for at in range(size):
            rows[1 + at, row + number] = cells[(first + number) * size + at]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def label(
    rows: i64[:, ::1],
    row: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    columns: cython.Py_ssize_t,
    exchange: i64,
    part: i64,
    side: i64,
    key: i64,
) -> cython.int:
    at: cython.Py_ssize_t
    for at in range(row, row + count):
        rows[0, at] = exchange
        rows[columns + LABEL_PART, at] = part
        rows[columns + LABEL_SIDE, at] = side
        rows[columns + LABEL_KEY, at] = key
    return 0
