"""Reads chosen fields of a message into a dictionary, in a few microseconds; the reference interpreter takes hundreds.

The fields are named as `wanted_fields` says. All others are skipped, and nothing is read behind the last one that is wanted.
A field that the version does not have, and a tagged field that is absent, is not in the dictionary.

Every length is checked against the bytes that are left. Of a message that ends too early there is what was complete before:
of an array the elements that were complete. The reference is `explain`; tests compare the two.
"""

import cython

from dissectors.kafka.columns.field_operations import *
from dissectors.kafka.columns.field_program import FieldProgram, wanted_fields
from dissectors.kafka.schema import lookup

__all__ = ["Reader", "embedded_reader", "message_reader", "wanted_fields"]


def message_reader(key, version, direction, wanted):
    """A reader of the body of a message; `wanted` as `wanted_fields` returns it. None when no schema knows the version."""
    api = lookup.api(key)
    if api is None or version not in api.versions:
        return None
    return Reader(FieldProgram(version, api.is_flexible(version)).message(api.message(direction).fields, wanted))


def embedded_reader(name, version, wanted):
    """A reader of the fields of a struct of `definitions/embedded`, behind its prefix; None when the version is unknown."""
    known = lookup.embedded(name)
    if known.reads_newer:
        version = min(version, known.versions.last)
    if version not in known.versions:
        return None
    return Reader(FieldProgram(version, known.is_flexible(version)).message(known.fields, wanted))


@cython.final
@cython.cclass
class Reader:
    """Reads the chosen fields of messages of one API, version and direction, by a `FieldProgram`."""

    data: cython.const[cython.uchar][::1]
    code: cython.int[::1]
    pos: cython.longlong
    end: cython.longlong
    elements: cython.longlong
    names: list
    source: object

    def __init__(self, program):
        self.code = program.code
        self.names = program.names
        self.source = b""

    def read(self, data, start, end):
        """Reads the body at the beginning of data[start:end]; returns (fields as a dictionary, whether it was complete).

        `data` must be bytes or a memoryview of them. Raises ValueError when start and end are not within it.
        """
        into: dict = {}
        self.source = memoryview(data)
        self.data = self.source
        if start < 0 or end < start or end > len(self.data):
            raise ValueError("a message outside its buffer")
        self.pos = start
        self.end = end
        self.elements = 0
        try:
            return into, self._run(0, into) != SHORT
        finally:
            self.source = b""
            self.data = self.source

    def stopped_at(self):
        """The offset in `data` at which the reading of the last message ended."""
        return self.pos

    @cython.cfunc
    @cython.exceptval(-9)
    def _run(self, pc: cython.longlong, into: object) -> cython.longlong:
        """Runs the operations from address `pc` up to an END; returns 0 or SHORT."""
        op: cython.int
        size: cython.longlong
        while True:
            op = self.code[pc]
            if op == END:
                return 0
            if op == FIXED:
                if self.code[pc + 1] > self.end - self.pos:
                    return SHORT
                self.pos += self.code[pc + 1]
                pc += 2
            elif op == SIZED:
                size = self._length(self.code[pc + 1])
                if size == SHORT or size > self.end - self.pos:
                    return SHORT
                if size > 0:
                    self.pos += size
                pc += 2
            elif op == VALUE:
                if self._value(self.code[pc + 1], into, self.names[self.code[pc + 2]], None) == SHORT:
                    return SHORT
                pc += 3
            elif op == ARRAY:
                if self._array(pc, into) == SHORT:
                    return SHORT
                pc = self.code[pc + 3]
            elif op == VALUES:
                if self._values(pc, into) == SHORT:
                    return SHORT
                pc += 4
            elif op == ITEMS:
                size = self._length(self.code[pc + 1])
                if size == SHORT or size * self.code[pc + 2] > self.end - self.pos:
                    return SHORT
                if size > 0:
                    self.pos += size * self.code[pc + 2]
                pc += 3
            elif op == STRUCT:
                if self._struct(pc, into) == SHORT:
                    return SHORT
                pc = self.code[pc + 3]
            elif op == TAGS:
                if self._tags(pc, into) == SHORT:
                    return SHORT
                pc = self.code[pc + 1]
            else:
                raise ValueError("an operation that nobody knows")

    @cython.cfunc
    @cython.exceptval(-9)
    def _array(self, pc: cython.longlong, into: object) -> cython.longlong:
        count: cython.longlong = self._length(self.code[pc + 1])
        found: list
        element: dict
        if count == SHORT:
            return SHORT
        if self.code[pc + 2] < 0:
            for _ in range(count):
                if self._run(pc + 4, None) == SHORT:
                    return SHORT
            return 0
        if count < 0:
            into[self.names[self.code[pc + 2]]] = None
            return 0
        found = []
        into[self.names[self.code[pc + 2]]] = found
        for _ in range(count):
            element = {}
            self.elements += 1
            if self.elements > MOST_ELEMENTS or self._run(pc + 4, element) == SHORT:
                return SHORT
            found.append(element)
        return 0

    @cython.cfunc
    @cython.exceptval(-9)
    def _values(self, pc: cython.longlong, into: object) -> cython.longlong:
        count: cython.longlong = self._length(self.code[pc + 1])
        found: list
        if count == SHORT:
            return SHORT
        if count < 0:
            into[self.names[self.code[pc + 3]]] = None
            return 0
        found = []
        into[self.names[self.code[pc + 3]]] = found
        for _ in range(count):
            self.elements += 1
            if self.elements > MOST_ELEMENTS or self._value(self.code[pc + 2], None, None, found) == SHORT:
                return SHORT
        return 0

    @cython.cfunc
    @cython.exceptval(-9)
    def _struct(self, pc: cython.longlong, into: object) -> cython.longlong:
        """A struct; a nullable one has an int8 before it, negative for null. An incomplete one is left out."""
        inside: object = None
        if self.code[pc + 1]:
            if self.pos >= self.end:
                return SHORT
            self.pos += 1
            if self.data[self.pos - 1] > 127:
                if self.code[pc + 2] >= 0:
                    into[self.names[self.code[pc + 2]]] = None
                return 0
        if self.code[pc + 2] >= 0:
            inside = {}
        if self._run(pc + 4, inside) == SHORT:
            return SHORT
        if self.code[pc + 2] >= 0:
            into[self.names[self.code[pc + 2]]] = inside
        return 0

    @cython.cfunc
    @cython.exceptval(-9)
    def _tags(self, pc: cython.longlong, into: object) -> cython.longlong:
        count: cython.longlong = self._varint()
        known: cython.longlong = self.code[pc + 2]
        tag: cython.longlong
        size: cython.longlong
        number: cython.longlong
        outer: cython.longlong = self.end
        if count == SHORT or count * 2 > self.end - self.pos:
            return SHORT
        while count > 0:
            count -= 1
            tag = self._varint()
            size = SHORT if tag == SHORT else self._varint()
            if size == SHORT or size > outer - self.pos:
                return SHORT
            self.end = self.pos + size
            for number in range(known):
                if self.code[pc + 3 + 2 * number] == tag and self._run(self.code[pc + 4 + 2 * number], into) == SHORT:
                    return SHORT
            self.pos = self.end
            self.end = outer
        return 0

    # ---- values ----

    @cython.cfunc
    @cython.exceptval(-9)
    def _value(self, kind: cython.int, into: object, name: object, found: object) -> cython.longlong:
        """Reads a value into the dictionary `into`; without one, appends it to the list `found`."""
        value: object = None
        size: cython.longlong
        at: cython.longlong = self.pos
        left: cython.longlong = self.end - at
        if kind >= STRING:
            size = self._length((kind - STRING) % 3)
            if size == SHORT or size > self.end - self.pos:
                return SHORT
            if size >= 0:
                at = self.pos
                self.pos += size
                if kind >= RECORDS:
                    value = (at, size)
                elif kind >= BYTES:
                    value = bytes(self.source[at : at + size])
                else:
                    value = str(self.source[at : at + size], "utf-8", "backslashreplace")
        elif kind in (INT32, UINT32):
            if left < 4:
                return SHORT
            value = self._signed32(at) if kind == INT32 else self._unsigned32(at)
            self.pos += 4
        elif kind in (INT16, UINT16):
            if left < 2:
                return SHORT
            size = cython.cast(cython.longlong, self.data[at]) << 8 | self.data[at + 1]
            value = size if kind == UINT16 else (size ^ 32768) - 32768
            self.pos += 2
        elif kind == INT64:
            if left < 8:
                return SHORT
            size = self._signed32(at) * 65536 * 65536 + self._unsigned32(at + 4)
            value = size
            self.pos += 8
        elif kind == UUID:
            if left < 16:
                return SHORT
            value = bytes(self.source[at : at + 16])
            self.pos += 16
        else:
            if left < 1:
                return SHORT
            size = self.data[at]
            value = size != 0 if kind == BOOL else (size ^ 128) - 128
            self.pos += 1
        if into is None:
            found.append(value)
        else:
            into[name] = value
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _unsigned32(self, at: cython.longlong) -> cython.longlong:
        first: cython.longlong = self.data[at]
        second: cython.longlong = self.data[at + 1]
        third: cython.longlong = self.data[at + 2]
        return (first << 24) | (second << 16) | (third << 8) | self.data[at + 3]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-4611686018427387905, check=True)
    def _signed32(self, at: cython.longlong) -> cython.longlong:
        first: cython.longlong = self.data[at]
        second: cython.longlong = self.data[at + 1]
        third: cython.longlong = self.data[at + 2]
        return ((first ^ 128) - 128) * 16777216 + ((second << 16) | (third << 8) | self.data[at + 3])

    @cython.cfunc
    @cython.exceptval(-9)
    def _length(self, form: cython.int) -> cython.longlong:
        """A length or count, -1 for null, SHORT when it is not there or below -1."""
        size: cython.longlong
        if form == COMPACT_LENGTH:
            size = self._varint()
            return SHORT if size == SHORT else size - 1
        if form == INT16_LENGTH:
            if self.end - self.pos < 2:
                return SHORT
            size = cython.cast(cython.longlong, self.data[self.pos]) << 8 | self.data[self.pos + 1]
            size = (size ^ 32768) - 32768
            self.pos += 2
        else:
            if self.end - self.pos < 4:
                return SHORT
            size = self._signed32(self.pos)
            self.pos += 4
        return size if size >= -1 else SHORT

    @cython.cfunc
    @cython.exceptval(-9)
    def _varint(self) -> cython.longlong:
        """An unsigned varint of 32 bits, or SHORT."""
        value: cython.longlong = 0
        byte: cython.longlong
        count: cython.longlong
        for count in range(5):
            if self.pos + count >= self.end:
                return SHORT
            byte = self.data[self.pos + count]
            value |= (byte & 127) << (7 * count)
            if byte < 128:
                self.pos += count + 1
                return SHORT if value >> 32 else value
        return SHORT
