"""Takes the rows of connections that may begin with an opening out of a batch of chunks.

A connection is looked at until the first byte of it has come: the side that opened it must speak first, and its first two
bytes must be those of an opening. From then on its rows leave for `openings`, until that says (`settle`) that the opening is
over, or that there was none. All other connections cost one read per chunk.

Without a SYN it is not known which side opened the connection, nor whether these are its first bytes. Only PROXY headers, which
nothing else looks like, are looked for then.

Rows of one slot stay in order: when rows of a slot have left a batch, all later rows of this slot leave it too, also those of
the next connection in it.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.openings.opening_columns import *

i64 = cython.typedef(cython.longlong)


@cython.final
@cython.cclass
class OpeningRows:
    """Separates the rows of held connections; `taken` holds the rows that left the last batch (WAITING_ columns)."""

    state: i64[:, ::1]
    moved: i64[:, ::1]
    stream_block: cython.const[cython.uchar][::1]
    stream_heap: cython.const[cython.uchar][::1]
    state_memory: object
    taken = cython.declare(object, visibility="readonly")
    slots: i64
    batch: i64
    capacity: i64  # rows that `taken` has room for
    used: i64

    def __init__(self):
        self.slots = 0
        self.batch = 0
        self.capacity = 0
        self.state_memory = None
        self.taken = None

    def separate(self, block, heap, chunks, rows, slots):
        """Takes rows of held connections out of rows [0, rows) of `chunks`, whose bytes are in `block` and `heap`.

        Returns (rows that stay, moved to the front; rows in `taken`).
        """
        if slots > self.slots:
            self._grow(slots)
        if rows > self.capacity:
            self.capacity = chunks.shape[1]
            self.taken = new_matrix(WAITING_COLUMNS, self.capacity)
            self.moved = self.taken
        self.stream_block = block
        self.stream_heap = heap
        self.batch += 1
        self.used = 0
        kept = self._separate(chunks, rows)
        self.stream_block = None
        self.stream_heap = None
        return kept, self.used

    def settle(self, slot, part):
        """The rows of this part stay in their batch from the next one on."""
        if self.state[slot, S_PART] == part:
            self.state[slot, S_KIND] = SETTLED

    def is_settled(self, slot):
        """Whether nothing of the connection in this slot is held, or will be."""
        return slot < self.slots and self.state[slot, S_KIND] == SETTLED

    def is_held(self, slot, part):
        """Whether rows of this part wait."""
        return slot < self.slots and self.state[slot, S_KIND] == HELD and self.state[slot, S_PART] == part

    def slot_state(self, slots):
        """(number of the column that holds the part, ((matrix of state, rows for each slot), ...)), with so many slots."""
        if slots > self.slots:
            self._grow(slots)
        return S_PART, ((self.state_memory, 1),)

    def _grow(self, wanted):
        size = max(64, self.slots)
        while size < wanted:
            size *= 2
        larger = new_matrix(size, S_COLUMNS)
        if self.state_memory is not None:
            before = self.state_memory.cast("B")
            larger.cast("B")[: len(before)] = before
        self.state_memory = larger
        self.state = larger
        self.slots = size

    @cython.cfunc
    @cython.exceptval(-1)
    def _separate(self, chunks: i64[:, ::1], rows: i64) -> i64:
        row: i64
        slot: i64
        kind: i64
        state: i64
        kept: i64 = 0
        for row in range(rows):
            slot = chunks[CHUNK_SLOT, row]
            kind = chunks[CHUNK_KIND, row]
            if kind == CHUNK_OPEN:
                self.state[slot, S_KIND] = FRESH if chunks[CHUNK_OFFSET, row] else LATE
                self.state[slot, S_PART] = chunks[CHUNK_DETAIL, row]
            state = self.state[slot, S_KIND]
            if state in (FRESH, LATE) and (kind == CHUNK_GAP or (kind == CHUNK_DATA and chunks[CHUNK_LENGTH, row] > 0)):
                state = HELD if kind == CHUNK_DATA and self._may_begin(chunks, row, state) else SETTLED
                self.state[slot, S_KIND] = state
            if state == HELD or (self.used > 0 and self.state[slot, S_BATCH] == self.batch):
                self._take(chunks, row, slot, state == HELD)
                continue
            if kept != row:
                self._copy(chunks, row, chunks, kept)
            kept += 1
        return kept

    @cython.cfunc
    @cython.exceptval(-1)
    def _take(self, chunks: i64[:, ::1], row: i64, slot: i64, is_held: i64) -> cython.int:
        self._copy(chunks, row, self.moved, self.used)
        self.moved[WAITING_HELD, self.used] = is_held
        self.moved[WAITING_PART, self.used] = self.state[slot, S_PART]
        self.state[slot, S_BATCH] = self.batch
        self.used += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _copy(self, chunks: i64[:, ::1], row: i64, to: i64[:, ::1], at: i64) -> cython.int:
        column: i64
        for column in range(CHUNK_COLUMNS):
            to[column, at] = chunks[column, row]
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _may_begin(self, chunks: i64[:, ::1], row: i64, state: i64) -> cython.bint:
        """Are these the first bytes of an opening? One byte will do where the chunk has no more."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        at: i64 = chunks[CHUNK_OFFSET, row]
        first: i64
        second: i64 = -1
        if state == FRESH and chunks[CHUNK_SIDE, row] != 0:
            return False
        first = self._byte(buffer, at)
        if chunks[CHUNK_LENGTH, row] > 1:
            second = self._byte(buffer, at + 1)
        if first == LETTER_P:
            return second == LETTER_R or second < 0
        if first == RETURN:
            return second == NEWLINE or second < 0
        if state == LATE:
            return False
        if first == LETTER_C:
            return second == LETTER_O or second < 0
        if first == SOCKS_4:
            return second == SOCKS_CONNECT or second < 0
        return first == SOCKS_5 and second != 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _byte(self, buffer: i64, at: i64) -> i64:
        return self.stream_block[at] if buffer == 0 else self.stream_heap[at]
