"""Rows of record batches, made of the records fields that the walker found: headers and checksums, no Python object for each.

What needs decompression, and what control records say, is left to the caller: `to_open` lists the rows.
"""

import cython

from dissectors.kafka.columns.batch_checksums import ChecksumGroup, add_batch, all_fit, has_room
from dissectors.kafka.columns.batch_format import *
from dissectors.kafka.columns.batch_headers import batch_bytes, read_header
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix


@cython.final
@cython.cclass
class BatchRows:
    """Reads rows of sets into rows of batches.

    `fits(batch, magic)` says whether the checksum of a whole batch, a memoryview, fits; `extend(crc, data)` and
    `extend_legacy` compute that of magic 2 and of older ones (`messages/checksums`). While `opens` is false the caller opens
    no compressed batch: they get UNOPENED_BUDGET and are not listed. With `headers_only` nothing is asked but what headers tell:
    checksums stay unknown, and only compressed legacy messages are listed, whose header does not tell the number of records.
    """

    opens = cython.declare(cython.bint, visibility="public")
    to_open = cython.declare(list, visibility="readonly")
    headers_only: cython.bint
    fits: object
    modern: ChecksumGroup
    legacy: ChecksumGroup
    group_begin: cython.longlong  # the first row that is in a group
    at: cython.longlong  # of the next batch of the set under way, -1: none is
    position: cython.longlong  # BATCH_POSITION of that batch
    frames: cython.longlong[:, ::1]
    sets: cython.longlong[:, ::1]
    out: cython.longlong[:, ::1]
    data: cython.const[cython.uchar][::1]
    source: object
    views: tuple
    nothing: object

    def __init__(self, fits, extend, extend_legacy, headers_only=False):
        self.headers_only = headers_only
        self.fits = fits
        self.modern = ChecksumGroup(extend)
        self.legacy = ChecksumGroup(extend_legacy)
        self.opens = True
        self.to_open = []
        self.at = -1
        self.nothing = new_matrix(1, 1)
        self._release()

    def feed(self, block, heap, frames, sets, rows, start_row, out, used, size):
        """Reads sets [start_row, rows) of the batch `frames` into `out`, which has `size` rows, from row `used` on.

        `block` and `heap` are what FRAME_BUFFER 0 and 1 point into. Returns (next set, rows used, WHY_). `to_open` is then the list
        of those of the new rows that the caller must look into: compressed ones and control batches. After WHY_OUTPUT_FULL it
        empties `out` and calls again with the same buffers.
        """
        row: cython.longlong = start_row
        filled: cython.longlong = used
        last: cython.longlong = rows
        room: cython.longlong = size
        current: cython.longlong = -1
        buffer: cython.longlong
        check_room(frames, FRAME_COLUMNS, 0)
        check_room(sets, SET_COLUMNS, last)
        check_room(out, BATCH_COLUMNS, room)
        self.frames = frames
        self.sets = sets
        self.out = out
        self.to_open = []
        self.group_begin = filled
        self.views = (memoryview(block), memoryview(heap))
        try:
            while row < last:
                buffer = self.frames[FRAME_BUFFER, self.sets[SET_FRAME, row]]
                if buffer != current:
                    self.source = self.views[buffer]
                    self.data = self.source
                    current = buffer
                filled = self._set(row, filled, room)
                if self.at >= 0:
                    break
                row += 1
            self._settle(filled)
            return row, filled, WHY_DONE if row == last else WHY_OUTPUT_FULL
        finally:
            self._release()

    @cython.cfunc
    @cython.exceptval(-1)
    def _set(self, row: cython.longlong, used: cython.longlong, size: cython.longlong) -> cython.longlong:
        """Reads the batches of one set, or those that are left of it; returns the rows used. `at` is not -1 when more are left."""
        begin: cython.longlong = self.sets[SET_OFFSET, row]
        end: cython.longlong = begin + self.sets[SET_BYTES, row]
        bytes_of_it: cython.longlong
        if begin < 0 or end < begin or end > len(self.data):
            raise ValueError(f"set {row} lies outside its buffer")
        if self.at < 0:
            self.at = begin
            self.position = 0
        while True:
            bytes_of_it = batch_bytes(self.data, self.at, end)
            if bytes_of_it == 0:
                self.at = -1
                return used
            if used == size:
                return used
            self._batch(row, used, bytes_of_it)
            self.at += bytes_of_it
            self.position += 1
            used += 1

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _batch(self, row: cython.longlong, used: cython.longlong, size: cython.longlong) -> cython.int:
        """Fills a row with the batch of `size` bytes at `at`."""
        frame: cython.longlong = self.sets[SET_FRAME, row]
        read_header(self.data, self.at, size, self.out, used)
        self.out[BATCH_EXCHANGE, used] = self.frames[FRAME_ID, frame]
        self.out[BATCH_PART, used] = self.frames[FRAME_PART, frame]
        self.out[BATCH_SIDE, used] = 0 if self.frames[FRAME_EVENT, frame] == FRAME_REQUEST_SEEN else 1
        self.out[BATCH_TOPIC, used] = self.sets[SET_TOPIC, row]
        self.out[BATCH_TOPIC_ID_HIGH, used] = self.sets[SET_TOPIC_ID_HIGH, row]
        self.out[BATCH_TOPIC_ID_LOW, used] = self.sets[SET_TOPIC_ID_LOW, row]
        self.out[BATCH_PARTITION, used] = self.sets[SET_PARTITION, row]
        self.out[BATCH_POSITION, used] = self.position
        self.out[BATCH_BUFFER, used] = self.frames[FRAME_BUFFER, frame]
        self.out[BATCH_OFFSET, used] = self.at
        if self.headers_only:
            if self.out[BATCH_MAGIC, used] == 2:
                return 0
        else:
            self._checksum(used, size)
        if self.out[BATCH_CONTROL, used] == 1:
            self.to_open.append(used)
        elif self.out[BATCH_CODEC, used] > 0:
            if self.opens:
                self.to_open.append(used)
            else:
                self.out[BATCH_UNOPENED, used] = UNOPENED_BUDGET
        return 0

    # ---- checksums ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _checksum(self, row: cython.longlong, size: cython.longlong) -> cython.int:
        """Adds the batch at `at` to its group, or looks at it alone when it is large."""
        magic: cython.longlong = self.out[BATCH_MAGIC, row]
        before: cython.longlong = COVERED_FROM if magic == 2 else COVERED_FROM_LEGACY
        group: ChecksumGroup = self.modern if magic == 2 else self.legacy
        if size - before > GROUPED_BYTES:
            self._look(row)
            return 0
        if not has_room(group, size - before):
            self._settle(row)
        add_batch(group, self.data, self.at + before, size - before, self.out[BATCH_CRC, row])
        self.out[BATCH_CRC_OK, row] = 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _settle(self, row: cython.longlong) -> cython.int:
        """Asks whether the groups fit, whose batches are before `row`. Rows of a group that does not are looked at one by one."""
        modern_fit: cython.int = all_fit(self.modern)
        legacy_fit: cython.int = all_fit(self.legacy)
        number: cython.longlong
        if not (modern_fit and legacy_fit):
            for number in range(self.group_begin, row):
                if not (modern_fit if self.out[BATCH_MAGIC, number] == 2 else legacy_fit):
                    self._look(number)
        self.group_begin = row
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _look(self, row: cython.longlong) -> cython.int:
        """Computes the checksum of one batch."""
        at: cython.longlong = self.out[BATCH_OFFSET, row]
        source: object = self.views[self.out[BATCH_BUFFER, row]]
        batch: object = source[at : at + self.out[BATCH_BYTES, row]]
        self.out[BATCH_CRC_OK, row] = 1 if self.fits(batch, self.out[BATCH_MAGIC, row]) else 0
        return 0

    def _release(self):
        """Releases the buffers of a batch, so that their owners can resize them."""
        self.frames = self.nothing
        self.sets = self.nothing
        self.out = self.nothing
        self.views = ()
        self.source = memoryview(b"")
        self.data = self.source
