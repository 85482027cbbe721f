"""Reads chosen fields of a message into dictionaries: a few microseconds a message, where the reference interpreter takes
hundreds.

Which fields is said by their names, those of structs and arrays of structs with what is wanted inside in parentheses:
`"cluster_id brokers(node_id host port)"`. What is not wanted is passed over, and nothing is read behind the last field
that is. A field that the version does not have, or an absent tagged one, has no place in the dictionary.

Every length is checked against the bytes that are left. A message that ends early gives what was read whole before: of an
array the elements that were complete. `explain` is the reference; tests hold both against each other.
"""

from array import array

import cython

from dissectors.kafka.schema import lookup

# Operations, each with its operands; a struct, an element and a tagged field end with END.
END = cython.declare(cython.int, 0)
FIXED = cython.declare(cython.int, 1)  # bytes: to pass over
SIZED = cython.declare(cython.int, 2)  # form: a length and as many bytes, to pass over
VALUE = cython.declare(cython.int, 3)  # kind, name
ARRAY = cython.declare(cython.int, 4)  # form, name (-1: pass over), place behind
VALUES = cython.declare(cython.int, 5)  # form, kind, name: an array of plain values
ITEMS = cython.declare(cython.int, 6)  # form, bytes of an element: an array to pass over
STRUCT = cython.declare(cython.int, 7)  # nullable, name (-1: pass over), place behind
TAGS = cython.declare(cython.int, 8)  # place behind, known tags, then (tag, place) each

INT16_LENGTH = cython.declare(cython.int, 0)
INT32_LENGTH = cython.declare(cython.int, 1)
COMPACT_LENGTH = cython.declare(cython.int, 2)

BOOL = cython.declare(cython.int, 0)
INT8 = cython.declare(cython.int, 1)
INT16 = cython.declare(cython.int, 2)
UINT16 = cython.declare(cython.int, 3)
INT32 = cython.declare(cython.int, 4)
UINT32 = cython.declare(cython.int, 5)
INT64 = cython.declare(cython.int, 6)
UUID = cython.declare(cython.int, 7)
STRING = cython.declare(cython.int, 8)  # and its form: 8, 9 (never), 10
BYTES = cython.declare(cython.int, 11)  # 11 (never), 12, 13
PLACE = cython.declare(cython.int, 14)  # records, as (offset, length) in the data: 14 (never), 15, 16

KINDS = {"bool": 0, "int8": 1, "int16": 2, "uint16": 3, "int32": 4, "uint32": 5, "int64": 6, "uuid": 7}
WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}
SIZED_KINDS = {"string": 8, "bytes": 11, "records": 14}

# What a helper says instead of a length or a place. A null length is -1.
SHORT = cython.declare(cython.longlong, -2)
# Elements of arrays of one message; who needs more wants memory, not answers.
MOST_ELEMENTS = cython.declare(cython.longlong, 500000)


def wanted_fields(text):
    """`"a b(c d)"` as {"a": {}, "b": {"c": {}, "d": {}}}."""
    top = {}
    stack = [top]
    last = None
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            stack.append(last)
        elif word == ")":
            stack.pop()
        else:
            last = {}
            stack[len(stack) - 1][word] = last
    return top


def message_reader(key, version, direction, wanted):
    """A reader of the body of a message; `wanted` as `wanted_fields` says. None when no schema knows the version."""
    api = lookup.api(key)
    if api is None or version not in api.versions:
        return None
    return Reader(_Plan(version, api.is_flexible(version)).message(api.message(direction).fields, wanted))


def embedded_reader(name, version, wanted):
    """A reader of the fields of a struct of `definitions/embedded`, behind its prefix; None when the version is unknown."""
    known = lookup.embedded(name)
    if known.reads_newer:
        version = min(version, known.versions.last)
    if version not in known.versions:
        return None
    return Reader(_Plan(version, known.is_flexible(version)).message(known.fields, wanted))


class _Plan:
    """Writes the operations for one version of a message."""

    def __init__(self, version, flexible):
        self.version = version
        self.flexible = flexible
        self.code = array("i")
        self.names = []
        self.passed = 0  # bytes to pass over that are not written yet

    def message(self, fields, wanted):
        self.struct(fields, wanted, True)
        return self

    def write(self, *words):
        """Writes an operation; gives its place."""
        if self.passed:
            self.code.extend((FIXED, self.passed))
            self.passed = 0
        self.code.extend(words)
        return len(self.code) - len(words)

    def name(self, text):
        if text not in self.names:
            self.names.append(text)
        return self.names.index(text)

    def form(self, kind):
        return COMPACT_LENGTH if self.flexible else INT16_LENGTH if kind == "string" else INT32_LENGTH

    def struct(self, fields, wanted, is_top=False):
        """The fields of a struct; of the message itself only up to the last that is wanted."""
        here = [each for each in fields if self.version in each.versions]
        untagged = [each for each in here if each.tag is None]
        tagged = [each for each in here if each.tag is not None and each.name in wanted]
        if is_top and not tagged:
            while untagged and untagged[len(untagged) - 1].name not in wanted:
                untagged.pop()
        for each in untagged:
            self.field(each, wanted.get(each.name))
        if self.flexible and (tagged or not is_top):
            self.tags(tagged, wanted)
        self.write(END)

    def tags(self, known, wanted):
        words = [word for each in known for word in (each.tag, 0)]
        at = self.write(TAGS, 0, len(known), *words)
        for index, each in enumerate(known):
            self.code[at + 4 + 2 * index] = len(self.code)
            self.field(each, wanted[each.name])
            self.write(END)
        self.code[at + 1] = len(self.code)

    def field(self, each, wanted):
        """`wanted` is None for a field to pass over, else what is wanted inside it."""
        name = -1 if wanted is None else self.name(each.name)
        if each.is_array:
            self.array(each, wanted, name)
        elif each.type == "struct":
            nullable = each.nullable is not None and self.version in each.nullable
            at = self.write(STRUCT, int(nullable), name, 0)
            self.struct(each.fields, wanted or {})
            self.code[at + 3] = len(self.code)
        elif wanted is not None:
            self.write(VALUE, self.kind(each.type), name)
        elif each.type in WIDTHS:
            self.passed += WIDTHS[each.type]
        else:
            self.write(SIZED, self.form(each.type))

    def array(self, each, wanted, name):
        form = COMPACT_LENGTH if self.flexible else INT32_LENGTH
        if each.type == "struct":
            at = self.write(ARRAY, form, name, 0)
            self.struct(each.fields, wanted or {})
            self.code[at + 3] = len(self.code)
        elif wanted is not None:
            self.write(VALUES, form, self.kind(each.type), name)
        elif each.type in WIDTHS:
            self.write(ITEMS, form, WIDTHS[each.type])
        else:
            at = self.write(ARRAY, form, -1, 0)
            self.write(SIZED, self.form(each.type))
            self.write(END)
            self.code[at + 3] = len(self.code)

    def kind(self, type):
        return KINDS[type] if type in KINDS else SIZED_KINDS[type] + self.form(type)


@cython.final
@cython.cclass
class Reader:
    """Reads the chosen fields of messages of one API, version and direction."""

    data: cython.const[cython.uchar][::1]
    code: cython.int[::1]
    pos: cython.longlong
    end: cython.longlong
    elements: cython.longlong
    names: list
    source: object

    def __init__(self, plan):
        self.code = plan.code
        self.names = plan.names
        self.source = b""

    def read(self, data, start, end):
        """The fields in data[start:end], which begins with the body; returns (fields, whether nothing was missing).

        `data` must be bytes or a memoryview of them.
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
        """Where the last message's reading ended."""
        return self.pos

    @cython.cfunc
    @cython.exceptval(-9)
    def _run(self, pc: cython.longlong, into: object) -> cython.longlong:
        """Runs operations up to an END; gives 0 or SHORT."""
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
        """A struct; a nullable one has a byte before it, below zero for null. One that is not whole is left out."""
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
        """Reads a value into a dictionary, or, when there is none, behind the last of a list."""
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
                if kind >= PLACE:
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
        place: cython.longlong
        for place in range(5):
            if self.pos + place >= self.end:
                return SHORT
            byte = self.data[self.pos + place]
            value |= (byte & 127) << (7 * place)
            if byte < 128:
                self.pos += place + 1
                return SHORT if value >> 32 else value
        return SHORT
