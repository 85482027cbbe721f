"""Tells TLS connections from others by their first bytes, and takes their rows out of a batch of chunks.

A connection that began with a SYN is decided by the first bytes of either side: a handshake record with a ClientHello or
ServerHello, or an alert, means TLS. One that was met in mid-flight is TLS when a second record header is where the length of
the first one says, or when a segment is one whole record; the first 64 KiB of each side are looked at. Once a connection is
decided its bytes are not looked at any more: one that is not TLS costs two reads per chunk.

Rows of TLS connections leave for `sessions`. When `sessions` finds that nothing of a connection can be decrypted
(`stop_reading`), its data is counted and dropped here. Rows of one slot stay in order: when rows of a slot have left a batch,
all later rows of this slot leave it too, also those of the next connection in it.

Of what nobody can decrypt sizes and times still tell who asked and who was silent: where a side sent no data for 0.8 s, and where
the connection ended, a row (SILENCE_) says since when, and when the other side had asked for something.

Known weakness: a connection whose first segment has fewer than 6 bytes is not recognised.

Sources: RFC 5246 and RFC 8446, record layer and handshake headers.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.tls.detection_columns import *

i64 = cython.typedef(cython.longlong)


@cython.final
@cython.cclass
class TlsRows:
    """Separates the rows of TLS connections; `taken` holds the rows that left the last batch (TAKEN_ columns)."""

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
    silences: i64[:, ::1]
    silences_memory: object
    silence_rows = cython.declare(i64, visibility="readonly")
    silence_room: i64
    notes_silences: cython.bint

    def __init__(self, notes_silences=True):
        """`notes_silences`: False where another run over the same connections notes them."""
        self.notes_silences = notes_silences
        self.silences_memory = None
        self.silence_rows = 0
        self.silence_room = 0
        self.slots = 0
        self.batch = 0
        self.capacity = 0
        self.state_memory = None
        self.taken = None

    def separate(self, block, heap, chunks, rows, slots):
        """Takes rows of TLS connections out of rows [0, rows) of `chunks`, whose bytes are in `block` and `heap`.

        Returns (rows that stay, moved to the front; rows in `taken`).
        """
        if slots > self.slots:
            self._grow(slots)
        if rows > self.capacity:
            self.capacity = chunks.shape[1]
            self.taken = new_matrix(TAKEN_COLUMNS, self.capacity)
            self.moved = self.taken
        self.stream_block = block
        self.stream_heap = heap
        self.batch += 1
        self.used = 0
        kept = self._separate(chunks, rows)
        self.stream_block = None
        self.stream_heap = None
        return kept, self.used

    def stop_reading(self, slot, part):
        """Nothing of this part can be decrypted: from the next batch on its data is only counted."""
        if self.state[slot, S_PART] == part and self.state[slot, S_KIND] == TLS:
            self.state[slot, S_KIND] = UNREADABLE

    def take_silences(self):
        """(matrix of SILENCE_ columns, rows) since the last call; `separate` writes to it again."""
        rows = self.silence_rows
        self.silence_rows = 0
        return new_matrix(SILENCE_COLUMNS, 1) if self.silences_memory is None else self.silences_memory, rows

    def slot_state(self, slots):
        """(number of the column that holds the part, ((matrix of state, rows for each slot), ...)), with so many slots."""
        if slots > self.slots:
            self._grow(slots)
        return S_PART, ((self.state_memory, 1),)

    # ---- a capture read in parts: checkpoints of a connection ----

    def checkpoint(self, slot: i64):
        """What is known of a connection: its kind, then for each side the bytes looked at, and how many bytes behind them a
        record header must be (0: nowhere). None for TLS."""
        if self.state[slot, S_KIND] >= TLS:
            return None
        found = [self.state[slot, S_KIND]]
        for side in range(2):
            seen = self.state[slot, S_SEEN + side]
            found += [seen, max(0, self.state[slot, S_NEXT + side] - seen)]
        return found

    def matches(self, slot: i64, checkpoint, flip: i64):
        """Whether the connection is where `checkpoint` of another run was taken, whose side 0 is side `flip` here."""
        mine = self.checkpoint(slot)
        if mine is None or mine[0] == NOT_TLS:
            return mine is not None
        return (
            checkpoint[0] == UNDECIDED and mine[2 + 2 * flip] == checkpoint[2] and mine[4 - 2 * flip] == checkpoint[4]
        )

    def resume(self, slot: i64, before, after, flip: i64):
        """Takes the connection from the checkpoint `before`, which it matches, to the checkpoint `after`."""
        if self.state[slot, S_KIND] == NOT_TLS:
            return
        self.state[slot, S_KIND] = after[0]
        for side in range(2):
            mine = side ^ flip
            self.state[slot, S_SEEN + mine] += after[1 + 2 * side] - before[1 + 2 * side]
            seen = self.state[slot, S_SEEN + mine]
            self.state[slot, S_NEXT + mine] = seen + after[2 + 2 * side] if after[2 + 2 * side] else 0
            if seen > MOST_LOOKED_AT:
                self.state[slot, S_KIND] = NOT_TLS

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

    # ---- rows ----

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
                self._open(chunks, row, slot)
            state = self.state[slot, S_KIND]
            if state == UNDECIDED and kind == CHUNK_DATA:
                state = self._look(chunks, row, slot)
            elif state == UNDECIDED and kind == CHUNK_GAP:
                self.state[slot, S_SEEN + chunks[CHUNK_SIDE, row]] += chunks[CHUNK_LENGTH, row]
            if state >= TLS and self.notes_silences:
                self._note(chunks, row, slot, kind)
            if state >= TLS or (self.used > 0 and self.state[slot, S_BATCH] == self.batch):
                if state == UNREADABLE and kind == CHUNK_GAP:
                    continue
                if state == UNREADABLE and kind == CHUNK_DATA:
                    self.state[slot, S_DROPPED + chunks[CHUNK_SIDE, row]] += chunks[CHUNK_LENGTH, row]
                    continue
                if state != UNREADABLE or kind != CHUNK_END or self.state[slot, S_BATCH] == self.batch:
                    self._take(chunks, row, slot, state >= TLS)
                    continue
            if kept != row:
                self._copy(chunks, row, chunks, kept)
            kept += 1
        return kept

    @cython.cfunc
    @cython.exceptval(-1)
    def _open(self, chunks: i64[:, ::1], row: i64, slot: i64) -> cython.int:
        """A new connection in a slot. The batch that rows of the slot left is kept: the new rows must stay behind them."""
        column: i64
        batch: i64 = self.state[slot, S_BATCH]
        for column in range(S_COLUMNS):
            self.state[slot, column] = 0
        self.state[slot, S_BATCH] = batch
        self.state[slot, S_PART] = chunks[CHUNK_DETAIL, row]
        self.state[slot, S_FROM_SYN] = chunks[CHUNK_OFFSET, row]
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _take(self, chunks: i64[:, ::1], row: i64, slot: i64, is_tls: i64) -> cython.int:
        self._copy(chunks, row, self.moved, self.used)
        self.moved[TAKEN_TLS, self.used] = is_tls
        self.moved[TAKEN_PART, self.used] = self.state[slot, S_PART]
        self.moved[TAKEN_DROPPED, self.used] = self.state[slot, S_DROPPED]
        self.moved[TAKEN_DROPPED + 1, self.used] = self.state[slot, S_DROPPED + 1]
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

    # ---- who was silent, and for how long ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _note(self, chunks: i64[:, ::1], row: i64, slot: i64, kind: i64) -> cython.int:
        if kind == CHUNK_DATA and chunks[CHUNK_TIME, row] > 0:
            self._note_data(chunks, row, slot)
        elif kind == CHUNK_CLOSE:
            self._note_close(slot)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _note_data(self, chunks: i64[:, ::1], row: i64, slot: i64) -> cython.int:
        side: i64 = chunks[CHUNK_SIDE, row]
        time: i64 = chunks[CHUNK_TIME, row]
        if self.state[slot, S_DATA_TIME + side] and time - self.state[slot, S_DATA_TIME + side] >= LEAST_SILENCE_NS:
            self._silence_row(slot, side, time)
        self.state[slot, S_DATA_TIME + side] = time
        self.state[slot, S_ASKED_TIME + side] = 0
        side ^= 1
        if self.state[slot, S_ASKED_TIME + side] == 0:
            self.state[slot, S_ASKED_TIME + side] = time
            self.state[slot, S_ASKED_NUMBER + side] = chunks[CHUNK_NUMBER, row]
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _note_close(self, slot: i64) -> cython.int:
        side: i64
        for side in range(2):
            if self.state[slot, S_DATA_TIME + side]:
                self._silence_row(slot, side, UNKNOWN)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _silence_row(self, slot: i64, side: i64, end: i64) -> cython.int:
        row: i64 = self.silence_rows
        asked: i64 = self.state[slot, S_ASKED_TIME + side]
        if row >= self.silence_room:
            self._grow_silences(row)
        self.silences[SILENCE_PART, row] = self.state[slot, S_PART]
        self.silences[SILENCE_SIDE, row] = side
        self.silences[SILENCE_BEGIN, row] = self.state[slot, S_DATA_TIME + side]
        self.silences[SILENCE_END, row] = end
        self.silences[SILENCE_ASKED, row] = asked if asked else UNKNOWN
        self.silences[SILENCE_ASKED_NUMBER, row] = self.state[slot, S_ASKED_NUMBER + side] if asked else UNKNOWN
        self.silence_rows = row + 1
        return 0

    def _grow_silences(self, rows):
        self.silence_room = max(64, 2 * rows) + 8
        larger = new_matrix(SILENCE_COLUMNS, self.silence_room)
        for column in range(SILENCE_COLUMNS):
            for row in range(rows):
                larger[column, row] = self.silences[column, row]
        self.silences_memory = larger
        self.silences = larger

    # ---- is it TLS? ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _look(self, chunks: i64[:, ::1], row: i64, slot: i64) -> i64:
        """Looks at a chunk of a connection that is not decided yet; returns what the connection is now."""
        side: i64 = chunks[CHUNK_SIDE, row]
        length: i64 = chunks[CHUNK_LENGTH, row]
        seen: i64 = self.state[slot, S_SEEN + side]
        kind: i64 = UNDECIDED
        if length == 0:
            return UNDECIDED
        if self.state[slot, S_FROM_SYN] and seen == 0:
            kind = TLS if self._is_hello(chunks, row) else NOT_TLS
        elif self._is_chain(chunks, row, slot, side):
            kind = TLS
        elif seen + length > MOST_LOOKED_AT:
            kind = NOT_TLS
        self.state[slot, S_SEEN + side] = seen + length
        self.state[slot, S_KIND] = kind
        return kind

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_hello(self, chunks: i64[:, ::1], row: i64) -> cython.bint:
        """A handshake record that begins with a ClientHello or ServerHello, or an alert in clear."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        at: i64 = chunks[CHUNK_OFFSET, row]
        size: i64
        if chunks[CHUNK_LENGTH, row] < 6 or not self._is_header(buffer, at):
            return False
        size = self._size(buffer, at)
        if self._byte(buffer, at) == ALERT:
            return size == 2 and self._byte(buffer, at + 5) <= FATAL
        return self._byte(buffer, at) == HANDSHAKE and size >= 4 and 1 <= self._byte(buffer, at + 5) <= SERVER_HELLO

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_chain(self, chunks: i64[:, ::1], row: i64, slot: i64, side: i64) -> cython.bint:
        """Looks for record headers that follow each other; remembers where the next one must be."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        base: i64 = chunks[CHUNK_OFFSET, row]
        length: i64 = chunks[CHUNK_LENGTH, row]
        seen: i64 = self.state[slot, S_SEEN + side]
        at: i64 = self.state[slot, S_NEXT + side] - seen
        after: i64
        if at >= 0 and self.state[slot, S_NEXT + side] > 0:
            if at >= length:
                return False
            if at + 5 <= length and self._is_header(buffer, base + at):
                return True
        self.state[slot, S_NEXT + side] = 0
        for at in range(length - 4):
            if self._byte(buffer, base + at + 1) == 3 and self._is_header(buffer, base + at):
                after = at + 5 + self._size(buffer, base + at)
                if after == length and at == 0:
                    return True
                if after + 5 <= length:
                    if self._is_header(buffer, base + after):
                        return True
                elif self._byte(buffer, base + at) == APPLICATION_DATA:
                    self.state[slot, S_NEXT + side] = seen + after
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_header(self, buffer: i64, at: i64) -> cython.bint:
        """Five bytes that may be a record header: change cipher spec, alert, handshake or data, version 3.0 to 3.4."""
        kind: i64 = self._byte(buffer, at)
        if (
            kind < CHANGE_CIPHER_SPEC
            or kind > APPLICATION_DATA
            or self._byte(buffer, at + 1) != 3
            or self._byte(buffer, at + 2) > 4
        ):
            return False
        return 0 < self._size(buffer, at) <= LONGEST_RECORD

    @cython.cfunc
    @cython.exceptval(-1)
    def _size(self, buffer: i64, at: i64) -> i64:
        """Length of the record whose header is at `at`, without the header."""
        return (self._byte(buffer, at + 3) << 8) | self._byte(buffer, at + 4)

    @cython.cfunc
    @cython.exceptval(-1)
    def _byte(self, buffer: i64, at: i64) -> i64:
        return self.stream_block[at] if buffer == 0 else self.stream_heap[at]
