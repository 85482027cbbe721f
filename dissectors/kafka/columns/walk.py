"""Reads the bodies of frames into columns, without a tree and without a Python object per frame.

A body is read by a program: a flat list of operations (`operations`) that `program` makes of the schema of an API and
version. Every length is checked against the bytes that are left before bytes are skipped, read or looped over. The program
decides how deep structures nest, never the message. A message that needs more bytes than its frame has is malformed; one
that needs more than the capture kept of the frame is truncated (`walk_message` says what is left of both).

The reference is the interpreter (`explain`); tests compare the two on all APIs and versions.
"""

from array import array

import cython

from dissectors.kafka.columns import program
from dissectors.kafka.columns.operations import *
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_message import blank_values, has_message, program_index, read_message
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.kafka.columns.walk_text import Strings
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix

# A matrix that has grown beyond is made anew for the next batch: ordinary batches fill less.
KEPT_BYTES = 32 << 20


def filled(count, value):
    """`count` int64 numbers, each of them `value`."""
    return memoryview(array("q", [value]) * count)


def doubled(small, columns, used, most_rows):
    """A matrix of twice the rows, at most `most_rows`, that holds the first `used` rows of `small`.

    The number of rows is an odd multiple of eight: with a power of two all columns of a row would fall into one cache set.
    """
    rows = len(small.cast("B")) // (8 * columns)
    wider = min(2 * rows + 8, most_rows)
    large = new_matrix(columns, wider)
    source, target = small.cast("B"), large.cast("B")
    for column in range(columns):
        target[8 * column * wider : 8 * (column * wider + used)] = source[
            8 * column * rows : 8 * (column * rows + used)
        ]
    return large


@cython.final
@cython.cclass
class Walker(WalkState):
    """Reads the bodies of batches of frames; a pipeline needs only `walk`.

    `write_entries`: write rows of entries too, of the messages `entries_of` (API key, "request" or "response"; None: all);
    `write_sets`: of records fields that `batch_rows` reads. `most_strings` and `most_string_bytes` bound the interned strings: when
    `strings_full()`, the caller writes out the rows that refer to them, calls `clear_strings` between two batches, and gets
    new numbers from `strings.number` for strings that it must keep. `most_rows` bounds the entries, errors and sets of one
    batch; `rows_dropped()` counts those beyond.
    """

    def __init__(
        self,
        write_entries=False,
        write_sets=False,
        entries_of=None,
        most_strings=1000000,
        most_string_bytes=64000000,
        most_rows=MOST_ROWS_OF_A_MESSAGE,
    ):
        self.write_entries = write_entries
        self.write_sets = write_sets
        self.entries_of = entries_of
        self.most_strings = most_strings
        self.most_string_bytes = most_string_bytes
        self.most_rows = most_rows
        self.strings = Strings()
        self.keys = set()
        self.text_sizes = filled(TEXT_SLOTS, -1)
        self.text_numbers = filled(TEXT_SLOTS, -1)
        self.text_bytes = bytearray(TEXT_SLOTS * TEXT_BYTES)
        self.programs = filled(KEYS * VERSIONS * 2, NO_PROGRAM)
        self.registers = filled(REGISTERS, UNKNOWN)
        self.stack = filled(4 * (STACK_LEVELS + 1), 0)
        self.code_array = array("i", [OP_UNSUPPORTED])
        self.code = self.code_array
        self.nothing = new_matrix(1, 1)
        self.dropped = 0
        self.entries_matrix = new_matrix(ENTRY_COLUMNS, 1032 if write_entries else 8)
        self.errors_matrix = new_matrix(ERROR_COLUMNS, 264)
        self.sets_matrix = new_matrix(SET_COLUMNS, 1032 if write_sets else 8)
        self.sets_used = 0
        self._release()

    def walk(self, block, heap, frames, rows, values):
        """Reads frame rows [0, rows) into `values[:, row]` and sets their FRAME_DECODED and FRAME_BODY.

        `block` and `heap` are what FRAME_BUFFER 0 and 1 point into. Returns (entries, errors): how many rows of
        `rows_of_entries()` and `rows_of_errors()` are filled; the next call overwrites both.
        """
        row, entries_used, errors_used, why = 0, 0, 0, WHY_OUTPUT_FULL
        self.sets_used = 0
        self._give_back()
        while why != WHY_DONE:
            row, entries_used, errors_used, why = self.feed(
                block,
                heap,
                frames,
                rows,
                row,
                values,
                self.entries_matrix,
                entries_used,
                self.errors_matrix,
                errors_used,
            )
            if why == WHY_NEED_PROGRAM:
                key, version, direction = self.wanted()
                self.add_program(key, version, direction)
            elif why == WHY_OUTPUT_FULL:
                if self.full == FULL_ENTRIES:
                    self.entries_matrix = doubled(self.entries_matrix, ENTRY_COLUMNS, entries_used, self.most_rows)
                elif self.full == FULL_ERRORS:
                    self.errors_matrix = doubled(self.errors_matrix, ERROR_COLUMNS, errors_used, self.most_rows)
                else:
                    self.sets_matrix = doubled(self.sets_matrix, SET_COLUMNS, self.sets_used, self.most_rows)
        return entries_used, errors_used

    def rows_of_entries(self):
        """The entries of the last `walk`."""
        return self.entries_matrix

    def rows_of_errors(self):
        """The errors of the last `walk`."""
        return self.errors_matrix

    def rows_of_sets(self):
        """The sets of the last `walk`, and how many there are."""
        return self.sets_matrix, self.sets_used

    def rows_dropped(self):
        """Entries, errors and sets beyond `most_rows`, since the start."""
        return self.dropped

    def strings_full(self):
        """Whether the interned strings are more than the limits allow."""
        return len(self.strings.values) > self.most_strings or self.strings.size_bytes > self.most_string_bytes

    def texts(self):
        """The interned strings, as bytes, by number."""
        return self.strings.values

    def clear_strings(self):
        """Forgets all strings: numbers that were given before are invalid."""
        self.strings.clear()
        for slot in range(TEXT_SLOTS):
            self.text_sizes[slot] = -1

    def wanted(self):
        """After WHY_NEED_PROGRAM: key, version and direction ("request", "response") of the program that is missing."""
        return self.wanted_key, self.wanted_version, "response" if self.wanted_direction else "request"

    def add_program(self, key, version, direction):
        """Builds the program of a message; where no schema knows the version it reads the header only."""
        self.keys.add(key)
        entries = self.write_entries and (self.entries_of is None or (key, direction) in self.entries_of)
        made = program.build(key, version, direction, entries, self.write_sets)
        if made.depth > STACK_LEVELS:
            raise ValueError(f"key {key} version {version} nests deeper than {STACK_LEVELS}")
        index = program_index(key, version, 1 if direction == "response" else 0)
        self.programs[index] = len(self.code_array)
        self.code_array = self.code_array + made.code
        self.code = self.code_array

    @cython.boundscheck(False)
    def feed(self, block, heap, frames, rows, start_row, values, entries, entries_used, errors, errors_used):
        """Reads frame rows [start_row, rows); returns (next row, entries used, errors used, WHY_).

        After WHY_NEED_PROGRAM call `add_program(*wanted())`. After WHY_OUTPUT_FULL the message of the next row does not
        fit into the rest of `entries` or `errors`: empty or enlarge them. Then call again with what was returned.
        """
        last: cython.longlong = rows
        row: cython.longlong = start_row
        why: cython.longlong = WHY_DONE
        buffer: cython.longlong
        current: cython.longlong = -1
        # Two views for the whole call: rows may alternate between the two buffers, and making a view is slow.
        in_block = memoryview(block)
        in_heap = memoryview(heap)
        block_bytes: cython.const[cython.uchar][::1] = in_block
        heap_bytes: cython.const[cython.uchar][::1] = in_heap
        check_room(frames, FRAME_COLUMNS, last)
        check_room(values, VALUE_COLUMNS, last)
        self.frames = frames
        self.values = values
        self.entries = entries
        self.errors = errors
        self.entries_size = min(len(entries.cast("B")) // (8 * ENTRY_COLUMNS), self.most_rows)
        self.errors_size = min(len(errors.cast("B")) // (8 * ERROR_COLUMNS), self.most_rows)
        self.sets = self.sets_matrix
        self.sets_size = min(len(self.sets_matrix.cast("B")) // (8 * SET_COLUMNS), self.most_rows)
        self.entries_used = entries_used
        self.errors_used = errors_used
        try:
            while row < last:
                blank_values(self, row)
                if has_message(self, row):
                    buffer = self.frames[FRAME_BUFFER, row]
                    if buffer != current:
                        self.source = in_block if buffer == 0 else in_heap
                        self.data = block_bytes if buffer == 0 else heap_bytes
                        current = buffer
                    why = read_message(self, row)
                    if why != WHY_DONE:
                        break
                row += 1
            return row, self.entries_used, self.errors_used, why
        finally:
            self._release()

    def _give_back(self):
        """One message of a million rows must not cost their memory ever after."""
        if len(self.entries_matrix.cast("B")) > KEPT_BYTES:
            self.entries_matrix = new_matrix(ENTRY_COLUMNS, 1032)
        if len(self.errors_matrix.cast("B")) > KEPT_BYTES:
            self.errors_matrix = new_matrix(ERROR_COLUMNS, 264)
        if len(self.sets_matrix.cast("B")) > KEPT_BYTES:
            self.sets_matrix = new_matrix(SET_COLUMNS, 1032)

    def _release(self):
        """Releases the buffers of a batch, so that their owners can resize them."""
        self.frames = self.nothing
        self.values = self.nothing
        self.entries = self.nothing
        self.errors = self.nothing
        self.sets = self.nothing
        self.source = memoryview(b"")
        self.data = self.source
