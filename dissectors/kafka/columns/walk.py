"""Reads the bodies of frames into columns, by the programs of `program`: no tree, no Python object per frame.

Every length is checked against the bytes that are left before anything is passed over, read or looped over; the depth
of nesting is the program's, never the message's. A message that needs more bytes than its frame has is malformed; one
that needs more than the capture kept of the frame is truncated.

What a column says is true or unknown: a malformed message leaves only its client id, a truncated one loses its sums and
a first error of 0. Rows of a truncated message stay, those of a malformed one go.

The interpreter (`explain`) is the reference; tests hold both against each other.
"""

from array import array

import cython

from dissectors.kafka.columns import program
from dissectors.kafka.columns.walk_limits import *
from dissectors.kafka.columns.walk_message import blank_values, has_message, program_index, read_message
from dissectors.kafka.columns.walk_state import WalkState
from dissectors.kafka.columns.walk_text import Strings
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix


def filled(count, value):
    """int64 numbers, all the same."""
    return memoryview(array("q", [value]) * count)


def doubled(small, columns, used, most_rows):
    """A matrix of twice the rows that holds the first `used` rows of `small`.

    The number of rows is an odd multiple of eight: with a power of two all columns of a row would share one cache set.
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
    """Walks batches of frames; `walk` is all that a pipeline needs.

    `write_entries` asks for rows of `entries` too. `most_strings` and `most_string_bytes` bound the interned strings:
    when `strings_full()`, the caller takes what refers to them, calls `clear_strings` between two batches, and brings
    what it must keep to new numbers by `strings.number`.
    `most_rows` bounds entries and errors of one batch, each; `rows_dropped()` counts what did not fit.
    """

    def __init__(self, write_entries=False, most_strings=1000000, most_string_bytes=64000000, most_rows=1048576):
        self.write_entries = write_entries
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
        self._release()

    def walk(self, block, heap, frames, rows, values):
        """Reads frame rows [0, rows) into `values[:, row]` and sets their FRAME_DECODED and FRAME_BODY.

        `block` and `heap` are what FRAME_BUFFER 0 and 1 point into. Returns (entries, errors): how many columns of
        `rows_of_entries()` and `rows_of_errors()` are filled; both are overwritten by the next call.
        """
        row, entries_used, errors_used, why = 0, 0, 0, WHY_OUTPUT_FULL
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
                if self.entries_full:
                    self.entries_matrix = doubled(self.entries_matrix, ENTRY_COLUMNS, entries_used, self.most_rows)
                else:
                    self.errors_matrix = doubled(self.errors_matrix, ERROR_COLUMNS, errors_used, self.most_rows)
        return entries_used, errors_used

    def rows_of_entries(self):
        """The entries of the last `walk`."""
        return self.entries_matrix

    def rows_of_errors(self):
        """The errors of the last `walk`."""
        return self.errors_matrix

    def rows_dropped(self):
        """Entries and errors that `most_rows` did not let in, since the start."""
        return self.dropped

    def strings_full(self):
        return len(self.strings.values) > self.most_strings or self.strings.size_bytes > self.most_string_bytes

    def texts(self):
        """The interned strings, as bytes, by number."""
        return self.strings.values

    def clear_strings(self):
        """Forgets all strings; numbers given before mean nothing any more."""
        self.strings.clear()
        for place in range(TEXT_SLOTS):
            self.text_sizes[place] = -1

    def wanted(self):
        """After WHY_NEED_PROGRAM: key, version and direction ("request", "response") of the program that is missing."""
        return self.wanted_key, self.wanted_version, "response" if self.wanted_direction else "request"

    def add_program(self, key, version, direction):
        """Makes the program of a message known, the header alone where there is no schema."""
        self.keys.add(key)
        made = program.build(key, version, direction, self.write_entries)
        if made.depth > STACK_LEVELS:
            raise ValueError(f"key {key} version {version} nests deeper than {STACK_LEVELS}")
        place = program_index(key, version, 1 if direction == "response" else 0)
        self.programs[place] = len(self.code_array)
        self.code_array = self.code_array + made.code
        self.code = self.code_array

    @cython.boundscheck(False)
    def feed(self, block, heap, frames, rows, start_row, values, entries, entries_used, errors, errors_used):
        """Reads frame rows [start_row, rows); returns (next row, entries used, errors used, why it stopped).

        WHY_NEED_PROGRAM: call `add_program(*wanted())`; WHY_OUTPUT_FULL: the message of the next row does not fit into
        the rest of `entries` or `errors`; take their rows or make them larger. In both cases call again with what was
        returned: the rows of a message are all there or none.
        """
        last: cython.longlong = rows
        row: cython.longlong = start_row
        why: cython.longlong = WHY_DONE
        buffer: cython.longlong
        current: cython.longlong = -1
        # Taken once a call: a batch may change between the two with every row.
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

    def _release(self):
        """Lets go of the buffers of a batch: their owners may want to resize them."""
        self.frames = self.nothing
        self.values = self.nothing
        self.entries = self.nothing
        self.errors = self.nothing
        self.source = memoryview(b"")
        self.data = self.source
