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
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix

# Programs are found by (key * VERSIONS + version) * 2 + direction; what lies beyond shares the last place.
KEYS = cython.declare(cython.longlong, 128)
VERSIONS = cython.declare(cython.longlong, 64)
API_VERSIONS = cython.declare(cython.longlong, 18)
UNSUPPORTED_VERSION = cython.declare(cython.longlong, 35)
NO_PROGRAM = cython.declare(cython.longlong, -1)

# What a helper says instead of a length. A null length is -1.
FAILED = cython.declare(cython.longlong, -2)  # and `self.outcome` says how
TAGS_DONE = cython.declare(cython.longlong, -1)
# An outcome of a message beside the DECODED_ ones: entries or errors are full.
FULL_OUTPUT = cython.declare(cython.longlong, 100)

# The stack of arrays and tagged sections: four numbers each, below them those of the message.
STACK_LEVELS = cython.declare(cython.longlong, 32)

# Record batches: offset and length; the rest of the least message (crc, magic, attributes, two lengths); a header of magic 2.
BATCH_PREFIX = cython.declare(cython.longlong, 12)
LEAST_MESSAGE = cython.declare(cython.longlong, 14)
BATCH_HEADER = cython.declare(cython.longlong, 61)
MOST_OFFSET = cython.declare(cython.longlong, 4611686018427387904)
SIGN_32 = cython.declare(cython.longlong, 2147483648)
# Never said, unless a length of a message was used without being checked.
OUTSIDE = "a message reaches beyond its bytes"

# Short strings are looked up without making a Python object: TEXT_SLOTS places of TEXT_BYTES each.
TEXT_SLOTS = cython.declare(cython.longlong, 4096)
TEXT_BYTES = cython.declare(cython.longlong, 64)


class Strings:
    """Distinct strings of messages, as bytes: `values[number]`; number 0 is the empty one. Grows until `clear`."""

    def __init__(self):
        self.clear()

    def clear(self):
        """Forgets all: numbers given before mean nothing any more."""
        self.values = []
        self.numbers = {}
        self.size_bytes = 0
        self.number(b"")

    def number(self, value):
        """The number of a string, the same for equal ones."""
        found = self.numbers.get(value)
        if found is None:
            found = len(self.values)
            self.numbers[value] = found
            self.values.append(value)
            self.size_bytes += len(value)
        return found


@cython.final
@cython.cclass
class Walker:
    """Walks batches of frames; `walk` is all that a pipeline needs.

    `write_entries` asks for rows of `entries` too. `most_strings` and `most_string_bytes` bound the interned strings:
    when `strings_full()`, the caller takes what refers to them, calls `clear_strings` between two batches, and brings
    what it must keep to new numbers by `strings.number`.
    `most_rows` bounds entries and errors of one batch, each; `rows_dropped()` counts what did not fit.
    """

    data: cython.const[cython.uchar][::1]
    frames: cython.longlong[:, ::1]
    values: cython.longlong[:, ::1]
    entries: cython.longlong[:, ::1]
    errors: cython.longlong[:, ::1]
    code: cython.int[::1]
    programs: cython.longlong[::1]
    registers: cython.longlong[::1]
    stack: cython.longlong[::1]
    text_numbers: cython.longlong[::1]
    text_sizes: cython.longlong[::1]
    text_bytes: cython.uchar[::1]

    pos: cython.longlong  # next byte
    end: cython.longlong  # of the bytes that are there
    limit: cython.longlong  # of the message, or of the tagged field around
    outcome: cython.longlong
    row: cython.longlong
    frame_offset: cython.longlong
    first_error: cython.longlong
    error_count: cython.longlong
    once: cython.longlong  # bit per value column that a field inside an array has filled
    entries_used: cython.longlong
    entries_size: cython.longlong
    errors_used: cython.longlong
    errors_size: cython.longlong
    dropped: cython.longlong
    most_rows: cython.longlong
    most_strings: cython.longlong
    most_string_bytes: cython.longlong
    wanted_key: cython.longlong
    wanted_version: cython.longlong
    wanted_direction: cython.longlong
    write_entries: cython.bint
    entries_full: cython.bint  # which of the two WHY_OUTPUT_FULL is about

    source: object  # memoryview of what `data` shows
    nothing: object
    strings = cython.declare(object, visibility="readonly")
    keys = cython.declare(set, visibility="readonly")  # API keys whose messages were read
    code_array: object
    entries_matrix: object
    errors_matrix: object

    def __init__(self, write_entries=False, most_strings=1000000, most_string_bytes=64000000, most_rows=1048576):
        self.write_entries = write_entries
        self.most_strings = most_strings
        self.most_string_bytes = most_string_bytes
        self.most_rows = most_rows
        self.strings = Strings()
        self.keys = set()
        self.text_sizes = _longs(TEXT_SLOTS, -1)
        self.text_numbers = _longs(TEXT_SLOTS, -1)
        self.text_bytes = bytearray(TEXT_SLOTS * TEXT_BYTES)
        self.programs = _longs(KEYS * VERSIONS * 2, NO_PROGRAM)
        self.registers = _longs(REGISTERS, UNKNOWN)
        self.stack = _longs(4 * (STACK_LEVELS + 1), 0)
        self.code_array = array("i", [OP_UNSUPPORTED])
        self.code = self.code_array
        self.nothing = new_matrix(1, 1)
        self.dropped = 0
        self.entries_matrix = new_matrix(ENTRY_COLUMNS, 1032 if write_entries else 8)
        self.errors_matrix = new_matrix(ERROR_COLUMNS, 264)
        self._release()

    # ---- batches ----

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
                    self.entries_matrix = _doubled(self.entries_matrix, ENTRY_COLUMNS, entries_used, self.most_rows)
                else:
                    self.errors_matrix = _doubled(self.errors_matrix, ERROR_COLUMNS, errors_used, self.most_rows)
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
        place = _program_place(key, version, 1 if direction == "response" else 0)
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
                self._blank(row)
                if self._is_message(row):
                    buffer = self.frames[FRAME_BUFFER, row]
                    if buffer != current:
                        self.source = in_block if buffer == 0 else in_heap
                        self.data = block_bytes if buffer == 0 else heap_bytes
                        current = buffer
                    why = self._message(row)
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

    # ---- one message ----

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _is_message(self, row: cython.longlong) -> cython.int:
        """Whether a frame row has bytes of a message whose API is known; an orphan reply without one is a header."""
        event: cython.longlong = self.frames[FRAME_EVENT, row]
        held: cython.longlong = self.frames[FRAME_HELD, row]
        if event > FRAME_ORPHAN_SEEN or held <= 0:
            return 0
        if self.frames[FRAME_KEY, row] < 0 or self.frames[FRAME_VERSION, row] < 0:
            self.frames[FRAME_BODY, row] = UNKNOWN
            self.frames[FRAME_DECODED, row] = DECODED_HEADER if held >= 4 else DECODED_TRUNCATED
            return 0
        return 1

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _message(self, row: cython.longlong) -> cython.longlong:
        """Walks the message of a frame row; gives a WHY_."""
        key: cython.longlong = self.frames[FRAME_KEY, row]
        version: cython.longlong = self.frames[FRAME_VERSION, row]
        direction: cython.longlong = 0 if self.frames[FRAME_EVENT, row] == FRAME_REQUEST_SEEN else 1
        place: cython.longlong = self.programs[_program_place(key, version, direction)]
        fallback: cython.longlong = NO_PROGRAM
        outcome: cython.longlong
        entries_before: cython.longlong = self.entries_used
        errors_before: cython.longlong = self.errors_used
        dropped_before: cython.longlong = self.dropped
        if place == NO_PROGRAM:
            return self._want(key, version, direction)
        if key == API_VERSIONS and direction == 1 and version > 0:
            fallback = self.programs[_program_place(key, 0, 1)]
            if fallback == NO_PROGRAM:
                return self._want(key, 0, 1)
        outcome = self._attempt(row, place)
        if fallback != NO_PROGRAM and (outcome != DECODED_FULL or self.values[VALUE_LEFTOVER, row] != 0):
            outcome = self._fall_back(row, place, fallback, errors_before)
        if outcome == FULL_OUTPUT:
            self.entries_used = entries_before
            self.errors_used = errors_before
            self.dropped = dropped_before
            return WHY_OUTPUT_FULL
        self.frames[FRAME_DECODED, row] = outcome
        if outcome == DECODED_MALFORMED:
            self.entries_used = entries_before
            self.errors_used = errors_before
            self.dropped = dropped_before
        return WHY_DONE

    @cython.cfunc
    @cython.exceptval(-1)
    def _want(self, key: cython.longlong, version: cython.longlong, direction: cython.longlong) -> cython.longlong:
        self.wanted_key = key
        self.wanted_version = version
        self.wanted_direction = direction
        return WHY_NEED_PROGRAM

    @cython.cfunc
    @cython.exceptval(-1)
    def _fall_back(
        self, row: cython.longlong, place: cython.longlong, fallback: cython.longlong, errors_before: cython.longlong
    ) -> cython.longlong:
        """A broker refuses an unknown ApiVersions version by a body of version 0 that says so (KIP-511)."""
        outcome: cython.longlong
        self.errors_used = errors_before
        self._blank(row)
        outcome = self._attempt(row, fallback)
        if outcome == FULL_OUTPUT or (
            outcome == DECODED_FULL
            and self.values[VALUE_LEFTOVER, row] == 0
            and self.values[VALUE_ERROR_CODE, row] == UNSUPPORTED_VERSION
        ):
            return outcome
        self.errors_used = errors_before
        self._blank(row)
        return self._attempt(row, place)

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _attempt(self, row: cython.longlong, place: cython.longlong) -> cython.longlong:
        """Runs a program over the frame of a row; gives a DECODED_ or FULL_OUTPUT and leaves only what is true."""
        outcome: cython.longlong
        number: cython.longlong
        client: cython.longlong
        self.row = row
        self.frame_offset = self.frames[FRAME_OFFSET, row]
        self.pos = self.frame_offset
        self.end = self.pos + self.frames[FRAME_HELD, row]
        self.limit = self.pos + self.frames[FRAME_LENGTH, row]
        if self.pos < 0 or self.end > len(self.data) or self.limit < self.end:
            raise ValueError(f"frame row {row} points outside its buffer")
        self.first_error = UNKNOWN
        self.error_count = 0
        self.once = 0
        self.frames[FRAME_BODY, row] = UNKNOWN
        outcome = self._run(place)
        if outcome == DECODED_FULL:
            if self.first_error != UNKNOWN:
                self.values[VALUE_ERROR_CODE, row] = self.first_error
                self.values[VALUE_ERROR_COUNT, row] = self.error_count
            return outcome
        for number in range(REGISTERS):
            self.registers[number] = UNKNOWN
        if outcome == DECODED_TRUNCATED:
            # Sums are not complete; error codes that were cut off need not be 0.
            self.values[VALUE_TOPICS, row] = UNKNOWN
            self.values[VALUE_PARTITIONS, row] = UNKNOWN
            self.values[VALUE_RECORD_BYTES, row] = UNKNOWN
            if self.first_error != 0:
                self.values[VALUE_ERROR_CODE, row] = self.first_error
            # Nor is what was seen once sure to come only once.
            for number in range(VALUE_COLUMNS):
                if (self.once >> number) & 1:
                    self.values[number, row] = UNKNOWN
        elif outcome == DECODED_MALFORMED:
            client = self.values[VALUE_CLIENT_ID, row]
            self._blank(row)
            self.values[VALUE_CLIENT_ID, row] = client
        return outcome

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _blank(self, row: cython.longlong) -> cython.int:
        column: cython.longlong
        for column in range(VALUE_COLUMNS):
            self.values[column, row] = UNKNOWN
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _run(self, start: cython.longlong) -> cython.longlong:
        """Runs the program at `start` from `pos`; the operations are described in `dissectors.layout`."""
        pc: cython.longlong = start
        base: cython.longlong = 0  # of the innermost level of the stack
        op: cython.int
        size: cython.longlong
        number: cython.longlong
        self.stack[2] = self.errors_used
        while True:
            op = self.code[pc]
            if op == OP_FIXED:
                size = self.code[pc + 1]
                if size > self.end - self.pos:
                    return self._short(size)
                number = self.code[pc + 2]
                pc += 3
                while number > 0:
                    if self._load(pc) < 0:
                        return FULL_OUTPUT
                    pc += 4
                    number -= 1
                self.pos += size
            elif op == OP_SIZED:
                size = self._length(self.code[pc + 1])
                if size == FAILED:
                    return self.outcome
                if size > self.end - self.pos:
                    return self._short(size)
                if self.code[pc + 2] == USE_TEXT:
                    if size >= 0:
                        self._text(size, self.code[pc + 3], self.code[pc + 4])
                elif self.code[pc + 2] == USE_RECORDS:
                    self._records(max(size, 0), self.code[pc + 3], self.code[pc + 4])
                if size > 0:
                    self.pos += size
                pc += 5
            elif op == OP_NEXT:
                number = self.code[pc + 1]
                pc += 2
                while number > 0:
                    self.registers[self.code[pc]] = UNKNOWN
                    pc += 1
                    number -= 1
                self.stack[base] -= 1
                if self.stack[base] > 0:
                    pc = self.stack[base + 1]
                    self.stack[base + 2] = self.errors_used
                else:
                    base -= 4
            elif op == OP_TAGS:
                if self.pos < self.end and self._byte(self.pos) == 0:
                    self.pos += 1
                    pc = start + self.code[pc + 1]
                else:
                    base += 4
                    pc = self._open_tags(base, pc, start)
                    if pc < 0:
                        return self.outcome
                    if self.stack[base] < 0:
                        base -= 4
            elif op == OP_ARRAY:
                size = self._count(self.code[pc + 1], self.code[pc + 2], self.code[pc + 3])
                if size == FAILED:
                    return self.outcome
                if size >= 0 and self.code[pc + 4] != 0:
                    self._touch(self.code[pc + 4])
                if size > 0:
                    base += 4
                    self.stack[base] = size
                    self.stack[base + 1] = pc + 6
                    self.stack[base + 2] = self.errors_used
                    pc += 6
                else:
                    pc = start + self.code[pc + 5]
            elif op == OP_ITEMS:
                number = self.code[pc + 2]
                size = self._count(self.code[pc + 1], number, self.code[pc + 3])
                if size == FAILED:
                    return self.outcome
                if size > 0:
                    if size * number > self.end - self.pos:
                        return self._short(size * number)
                    self.pos += size * number
                pc += 4
            elif op == OP_ROW:
                if self._write_entry(self.code[pc + 1]) < 0:
                    return FULL_OUTPUT
                pc += 2
            elif op == OP_TAG_END:
                # What a newer version appended to a tagged field is passed over.
                self.pos = self.end
                pc = self._next_tag(base, start)
                if pc < 0:
                    return self.outcome
                if self.stack[base] < 0:
                    base -= 4
            elif op == OP_NULLABLE:
                if self.pos >= self.end:
                    return self._short(1)
                if self._byte(self.pos) >= 128:
                    pc = start + self.code[pc + 1]
                else:
                    pc += 2
                self.pos += 1
            elif op == OP_PATCH:
                number = self.code[pc + 1]
                pc += 2
                while number > 0:
                    self._patch(self.stack[base + 2], self.code[pc])
                    pc += 1
                    number -= 1
            elif op == OP_BODY:
                self.frames[FRAME_BODY, self.row] = self.pos - self.frame_offset
                pc += 1
            elif op == OP_DEFAULT:
                if self.values[self.code[pc + 1], self.row] == UNKNOWN:
                    self.values[self.code[pc + 1], self.row] = self.code[pc + 2]
                pc += 3
            elif op == OP_UNSUPPORTED:
                return DECODED_UNSUPPORTED
            elif op == OP_END:
                number = self.code[pc + 1]
                pc += 2
                while number > 0:
                    self.registers[self.code[pc]] = UNKNOWN
                    pc += 1
                    number -= 1
                self.values[VALUE_LEFTOVER, self.row] = self.limit - self.pos
                return DECODED_FULL
            else:
                raise ValueError(f"operation {op} in a program")

    @cython.cfunc
    @cython.exceptval(check=False)
    def _short(self, size: cython.longlong) -> cython.longlong:
        """The outcome when `size` bytes are not there: did the frame end, or only what was captured of it?"""
        self.outcome = DECODED_MALFORMED if size > self.limit - self.pos else DECODED_TRUNCATED
        return self.outcome

    # ---- fields of fixed size ----

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _load(self, pc: cython.longlong) -> cython.int:
        """Reads one field of an OP_FIXED, whose bytes are there; -2 when errors are full."""
        load: cython.int = self.code[pc]
        at: cython.longlong = self.pos + self.code[pc + 1]
        to: cython.longlong = self.code[pc + 2]
        value: cython.longlong
        if load == LOAD_INT32:
            self._store(to, self._signed32(at))
        elif load == LOAD_INT64:
            self._store(to, self._signed64(at))
        elif load == LOAD_INT16:
            self._store(to, (self._unsigned16(at) ^ 32768) - 32768)
        elif load in (LOAD_ERROR, LOAD_ROW_ERROR):
            value = (self._unsigned16(at) ^ 32768) - 32768
            if load == LOAD_ROW_ERROR and (
                self.registers[ENTRY_ERROR_CODE] == UNKNOWN or self.registers[ENTRY_ERROR_CODE] == 0
            ):
                self.registers[ENTRY_ERROR_CODE] = value
            return self._error(value, to, self.code[pc + 3])
        elif load == LOAD_UUID:
            self._store(to, self._signed64(at))
            self._store(to + 1, self._signed64(at + 8))
        elif load == LOAD_INT8:
            self._store(to, (self._byte(at) ^ 128) - 128)
        elif load == LOAD_UINT8:
            self._store(to, self._byte(at))
        elif load == LOAD_UINT16:
            self._store(to, self._unsigned16(at))
        elif load == LOAD_UINT32:
            self._store(to, self._unsigned32(at))
        else:
            raise ValueError(f"load {load} in a program")
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _byte(self, at: cython.longlong) -> cython.longlong:
        return self.data[at]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _unsigned16(self, at: cython.longlong) -> cython.longlong:
        if at < 0 or at + 2 > len(self.data):
            raise IndexError(OUTSIDE)
        high: cython.longlong = self.data[at]
        return (high << 8) | self.data[at + 1]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _unsigned32(self, at: cython.longlong) -> cython.longlong:
        if at < 0 or at + 4 > len(self.data):
            raise IndexError(OUTSIDE)
        first: cython.longlong = self.data[at]
        second: cython.longlong = self.data[at + 1]
        third: cython.longlong = self.data[at + 2]
        return (first << 24) | (second << 16) | (third << 8) | self.data[at + 3]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-4611686018427387905, check=True)
    def _signed32(self, at: cython.longlong) -> cython.longlong:
        # Literals beyond 31 bits would be Python objects in compiled code.
        value: cython.longlong = self._unsigned32(at)
        return (value ^ SIGN_32) - SIGN_32

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-4611686018427387905, check=True)
    def _signed64(self, at: cython.longlong) -> cython.longlong:
        return self._signed32(at) * 65536 * 65536 + self._unsigned32(at + 4)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _store(self, to: cython.longlong, value: cython.longlong) -> cython.int:
        """Brings a value to its target."""
        bit: cython.longlong
        if to >= TO_ONCE:
            bit = 1
            bit <<= to - TO_ONCE
            self.values[to - TO_ONCE, self.row] = UNKNOWN if self.once & bit else value
            self.once |= bit
        elif to >= TO_REGISTER:
            self.registers[to - TO_REGISTER] = value
        elif to >= 0:
            self.values[to, self.row] = value
        return 0

    # ---- lengths ----

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-9)
    @cython.boundscheck(False)
    def _length(self, form: cython.int) -> cython.longlong:
        """A length or count, -1 for null, FAILED; `pos` moves behind it."""
        size: cython.longlong
        if form == FORM_COMPACT:
            if self.pos < self.end and self._byte(self.pos) < 128:
                size = self._byte(self.pos)
                self.pos += 1
                return size - 1
            size = self._varint()
            return FAILED if size == FAILED else size - 1
        if form == FORM_INT16:
            if self.end - self.pos < 2:
                self._short(2)
                return FAILED
            size = (self._unsigned16(self.pos) ^ 32768) - 32768
            self.pos += 2
        else:
            if self.end - self.pos < 4:
                self._short(4)
                return FAILED
            size = self._signed32(self.pos)
            self.pos += 4
        if size < -1:
            self.outcome = DECODED_MALFORMED
            return FAILED
        return size

    @cython.cfunc
    @cython.exceptval(-9)
    def _varint(self) -> cython.longlong:
        """An unsigned varint of 32 bits, or FAILED."""
        value: cython.longlong = 0
        byte: cython.longlong
        place: cython.longlong
        for place in range(5):
            if self.pos + place >= self.end:
                self._short(place + 1)
                return FAILED
            byte = self.data[self.pos + place]
            value |= (byte & 127) << (7 * place)
            if byte < 128:
                if value >> 32:
                    break
                self.pos += place + 1
                return value
        self.outcome = DECODED_MALFORMED
        return FAILED

    @cython.cfunc
    @cython.exceptval(-9)
    @cython.boundscheck(False)
    def _count(self, form: cython.int, least: cython.longlong, column: cython.longlong) -> cython.longlong:
        """The elements of an array, added to a value column; no more than the frame has bytes for."""
        count: cython.longlong = self._length(form)
        if count < 0:
            return count
        if count * least > self.limit - self.pos:
            self.outcome = DECODED_MALFORMED
            return FAILED
        if column >= 0:
            self._add(column, count)
        return count

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _add(self, column: cython.longlong, count: cython.longlong) -> cython.int:
        if self.values[column, self.row] == UNKNOWN:
            self.values[column, self.row] = count
        else:
            self.values[column, self.row] += count
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _touch(self, bits: cython.longlong) -> cython.int:
        if bits & TOUCH_PARTITIONS:
            self._add(VALUE_PARTITIONS, 0)
        if bits & TOUCH_RECORDS:
            self._add(VALUE_RECORD_BYTES, 0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _records(self, size: cython.longlong, to: cython.longlong, also: cython.longlong) -> cython.int:
        self._add(VALUE_RECORD_BYTES, size)
        self._store(to, size)
        if also >= 0:
            self._store(also, self._next_offset(size))
        return 0

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _next_offset(self, size: cython.longlong) -> cython.longlong:
        """The offset behind the last whole batch of the `size` bytes at `pos`, UNKNOWN without one.

        All formats begin with a base offset (int64) and the bytes that follow (int32), and have the magic at 16. The offset
        of a message of magic 0 or 1 is its own, of a compressed one that of the last inside; a batch of magic 2 has
        last_offset_delta (int32) at 23. Only headers are looked at, one step per batch.
        """
        at: cython.longlong = self.pos
        end: cython.longlong = self.pos + size
        last: cython.longlong = -1
        length: cython.longlong
        offset: cython.longlong
        delta: cython.longlong = 0
        while end - at >= BATCH_PREFIX:
            length = self._signed32(at + 8)
            if length < LEAST_MESSAGE or length > end - at - BATCH_PREFIX:
                break
            last = at
            at += BATCH_PREFIX + length
        if last < 0 or self.data[last + 16] > 2:
            return UNKNOWN
        if self.data[last + 16] == 2:
            if at - last < BATCH_HEADER:
                return UNKNOWN
            delta = self._signed32(last + 23)
        offset = self._signed64(last)
        if offset < 0 or offset > MOST_OFFSET or delta < 0:
            return UNKNOWN
        return offset + delta + 1

    # ---- tagged fields ----

    @cython.cfunc
    @cython.exceptval(-9)
    def _open_tags(self, base: cython.longlong, pc: cython.longlong, start: cython.longlong) -> cython.longlong:
        """Opens the tagged section of the operation at `pc`; gives where to go on as `_next_tag` does."""
        count: cython.longlong = self._varint()
        if count == FAILED:
            return FAILED
        if count * 2 > self.limit - self.pos:
            self.outcome = DECODED_MALFORMED
            return FAILED
        self.stack[base] = count
        self.stack[base + 1] = pc
        self.stack[base + 2] = self.end
        self.stack[base + 3] = self.limit
        return self._next_tag(base, start)

    @cython.cfunc
    @cython.exceptval(-9)
    @cython.boundscheck(False)
    def _next_tag(self, base: cython.longlong, start: cython.longlong) -> cython.longlong:
        """The place of the next known tag, or the place after the section (the level then holds -1), or FAILED."""
        pc: cython.longlong = self.stack[base + 1]
        known: cython.longlong = self.code[pc + 2]
        tag: cython.longlong
        size: cython.longlong
        number: cython.longlong
        self.end = self.stack[base + 2]
        self.limit = self.stack[base + 3]
        while self.stack[base] > 0:
            self.stack[base] -= 1
            tag = self._varint()
            if tag == FAILED:
                return FAILED
            size = self._varint()
            if size == FAILED:
                return FAILED
            if size > self.end - self.pos:
                self._short(size)
                return FAILED
            for number in range(known):
                if self.code[pc + 3 + 2 * number] == tag:
                    self.end = self.pos + size
                    self.limit = self.end
                    return start + self.code[pc + 4 + 2 * number]
            self.pos += size
        self.stack[base] = -1
        return start + self.code[pc + 1]

    # ---- text ----

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _text(self, size: cython.longlong, to: cython.longlong, also: cython.longlong) -> cython.int:
        """Interns the `size` bytes at `pos`, which are there."""
        number: cython.longlong = self._intern(size) if size > TEXT_BYTES else self._short_text(size)
        self._store(to, number)
        self._store(also, number)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _short_text(self, size: cython.longlong) -> cython.longlong:
        """The number of a short string, from its slot when the last one of its hash was the same."""
        slot: cython.longlong = _slot(self.data, self.pos, size)
        if self.text_sizes[slot] != size or not _same(self.data, self.pos, self.text_bytes, slot * TEXT_BYTES, size):
            _copy(self.data, self.pos, self.text_bytes, slot * TEXT_BYTES, size)
            self.text_sizes[slot] = size
            self.text_numbers[slot] = self._intern(size)
        return self.text_numbers[slot]

    @cython.cfunc
    @cython.exceptval(-1)
    def _intern(self, size: cython.longlong) -> cython.longlong:
        return self.strings.number(bytes(self.source[self.pos : self.pos + size]))

    # ---- rows ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _error(self, code: cython.longlong, field: cython.longlong, entity: cython.longlong) -> cython.int:
        """Notes an error code; one that is not 0 gets a row. -2 when errors are full."""
        column: cython.longlong = self.errors_used
        if self.first_error == UNKNOWN or (self.first_error == 0 and code != 0):
            self.first_error = code
        if code == 0:
            return 0
        self.error_count += 1
        if column >= self.errors_size:
            if column >= self.most_rows:
                self.dropped += 1
                return 0
            self.entries_full = False
            return -2
        self.errors[ERROR_FRAME, column] = self.row
        self.errors[ERROR_CODE, column] = code
        self.errors[ERROR_FIELD, column] = field
        self.errors[ERROR_TOPIC, column] = self.registers[ENTRY_TOPIC]
        self.errors[ERROR_TOPIC_ID_HIGH, column] = self.registers[ENTRY_TOPIC_ID_HIGH]
        self.errors[ERROR_TOPIC_ID_LOW, column] = self.registers[ENTRY_TOPIC_ID_LOW]
        self.errors[ERROR_PARTITION, column] = self.registers[ENTRY_PARTITION]
        self.errors[ERROR_ENTITY, column] = UNKNOWN if entity < 0 else self.registers[entity]
        self.errors_used += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _patch(self, first: cython.longlong, register: cython.longlong) -> cython.int:
        """Gives a register that was filled after the error code to the error rows from `first` on that miss it."""
        column: cython.longlong
        target: cython.longlong = -1
        if register == ENTRY_TOPIC:
            target = ERROR_TOPIC
        elif register == ENTRY_TOPIC_ID_HIGH:
            target = ERROR_TOPIC_ID_HIGH
        elif register == ENTRY_TOPIC_ID_LOW:
            target = ERROR_TOPIC_ID_LOW
        elif register == ENTRY_PARTITION:
            target = ERROR_PARTITION
        elif register >= REGISTER_ENTITY:
            target = ERROR_ENTITY
        if target >= 0:
            for column in range(first, self.errors_used):
                if self.errors[target, column] == UNKNOWN:
                    self.errors[target, column] = self.registers[register]
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _write_entry(self, forgotten: cython.longlong) -> cython.int:
        """A row of entries from the registers; -2 when entries are full."""
        column: cython.longlong = self.entries_used
        number: cython.longlong
        if column >= self.entries_size:
            if column >= self.most_rows:
                self.dropped += 1
                return 0
            self.entries_full = True
            return -2
        for number in range(ENTRY_TOPIC, ENTRY_COLUMNS):
            self.entries[number, column] = self.registers[number]
        self.entries[ENTRY_FRAME, column] = self.row
        self.entries[ENTRY_FORGOTTEN, column] = forgotten
        self.entries_used += 1
        return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def _slot(data: cython.const[cython.uchar][::1], at: cython.longlong, size: cython.longlong) -> cython.longlong:
    """Which of the 4,096 slots a short string shares with others of its hash."""
    mixed: cython.longlong = size
    word: cython.longlong
    place: cython.longlong = at
    if at < 0 or at + size > len(data):
        raise IndexError(OUTSIDE)
    # Four bytes a step: each step waits for the one before.
    while place + 4 <= at + size:
        word = data[place]
        word |= cython.cast(cython.longlong, data[place + 1]) << 8
        word |= cython.cast(cython.longlong, data[place + 2]) << 16
        word |= cython.cast(cython.longlong, data[place + 3]) << 24
        mixed = (mixed * 1640531527 + word) & 2147483647
        place += 4
    while place < at + size:
        mixed = (mixed * 1640531527 + data[place]) & 2147483647
        place += 1
    return (((mixed ^ (mixed >> 15)) * 1640531527) >> 19) & 4095


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
@cython.boundscheck(False)
def _same(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    kept: cython.uchar[::1],
    begin: cython.longlong,
    size: cython.longlong,
) -> cython.int:
    place: cython.longlong
    if at < 0 or begin < 0 or at + size > len(data) or begin + size > len(kept):
        raise IndexError(OUTSIDE)
    for place in range(size):
        if data[at + place] != kept[begin + place]:
            return 0
    return 1


@cython.cfunc
@cython.exceptval(-1)
def _copy(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    kept: cython.uchar[::1],
    begin: cython.longlong,
    size: cython.longlong,
) -> cython.int:
    place: cython.longlong
    for place in range(size):
        kept[begin + place] = data[at + place]
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _program_place(key: cython.longlong, version: cython.longlong, direction: cython.longlong) -> cython.longlong:
    """Where the program of a message is noted. Keys and versions beyond the table have the header alone: a known key in the
    form of its newest versions, unknown keys one form for all."""
    if key >= KEYS:
        key = KEYS - 1
    if version >= VERSIONS:
        version = VERSIONS - 1
    return (key * VERSIONS + version) * 2 + direction


def _longs(count, value):
    """int64 numbers, all the same."""
    return memoryview(array("q", [value]) * count)


def _doubled(small, columns, used, most_rows):
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
