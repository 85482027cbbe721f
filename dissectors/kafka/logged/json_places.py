"""A JSON text -> the place of each of its values, without an object for any. What Python's json refuses is refused.

A place is a row of CELLS numbers: what the value is, where its text begins and ends, and the place behind all that is inside of
it. The first place is the value itself. A member of an object has two: its name's, and its value's. Most values of a log are
never asked for, and their objects would take more time than all else.
"""

import json

import cython

from dissectors.kafka.logged.json_cells import *

i64 = cython.typedef(cython.longlong)

_FIRST_CELLS = 4_096
# First byte -> the word, and what it is.
_WORDS = {
    word[0]: (word, kind)
    for word, kind in (
        (b"null", JSON_NULL),
        (b"true", JSON_TRUE),
        (b"false", JSON_FALSE),
        (b"NaN", JSON_NO_NUMBER),
        (b"Infinity", JSON_NO_NUMBER),
        (b"-Infinity", JSON_NO_NUMBER),
    )
}
_ESCAPES = frozenset(b'"\\/bfnrt')
_HEX = frozenset(b"0123456789abcdefABCDEF")


@cython.final
@cython.cclass
class Names:
    """Names of members that are asked for, each with its number."""

    texts = cython.declare(tuple, visibility="readonly")
    joined: cython.const[cython.uchar][::1]
    ends: cython.int[::1]
    count = cython.declare(cython.Py_ssize_t, visibility="readonly")

    def __init__(self, texts):
        self.texts = tuple(texts)
        self.count = len(self.texts)
        self.joined = b"".join(self.texts) or b" "
        memory = memoryview(bytearray(4 * (self.count + 1))).cast("i")
        for number in range(self.count):
            memory[number + 1] = memory[number] + len(self.texts[number])
        self.ends = memory


@cython.final
@cython.cclass
class Places:
    """The values of one text, until the next `read`."""

    text: bytes
    block: cython.const[cython.uchar][::1]
    cells: cython.int[::1]
    open: cython.int[::1]  # the places of what is not closed
    found: cython.int[::1]  # by `values`
    size: cython.Py_ssize_t  # of `cells` in use
    is_odd: cython.bint  # a text has an escape, or more than ASCII

    def __init__(self):
        self.cells = memoryview(bytearray(4 * _FIRST_CELLS)).cast("i")
        self.open = memoryview(bytearray(4 * MOST_DEPTH)).cast("i")
        self.found = memoryview(bytearray(4)).cast("i")
        self.size = 0
        self.is_odd = False
        self.text = b""
        self.block = b""

    def read(self, text: bytes, begin: cython.Py_ssize_t):
        """Reads the value that begins at `begin` of a text in UTF-8. Returns where it ends. Raises ValueError."""
        self.hold(text)
        return read_value(self, begin, len(text))

    @cython.ccall
    def hold(self, text: bytes):
        """The text of what is read next."""
        self.text = text
        self.block = text

    def slice(self, place: cython.Py_ssize_t):
        """The text of a value."""
        return slice_of(self, place)

    def is_object(self, place: cython.Py_ssize_t):
        """Whether members can be asked for."""
        return self.cells[place + CELL_KIND] == JSON_OBJECT

    def values(self, place: cython.Py_ssize_t, names: Names):
        """The values of the members of these names, as `value_at` has them; None where there is none. Raises TypeError of what has
        no members."""
        at: cython.Py_ssize_t
        number: cython.Py_ssize_t
        found: list = []
        if self.found.shape[0] < names.count:
            self.found = memoryview(bytearray(4 * names.count)).cast("i")
        find_members(self, place, names, self.found, 0)
        for number in range(names.count):
            at = self.found[number]
            found.append(None if at == 0 else value_at(self, at))
        return found


@cython.cfunc
@cython.exceptval(-1)
def find_members(
    p: Places, place: cython.Py_ssize_t, names: Names, found: cython.int[::1], base: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Writes the places of members from `found[base]` on. Of members of one name the last counts, as objects of Python have it."""
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    which: cython.Py_ssize_t
    guess: cython.Py_ssize_t = 0
    if p.cells[place + CELL_KIND] != JSON_OBJECT:
        raise TypeError
    for at in range(base, base + names.count):
        found[at] = 0
    at = place + CELLS
    end = p.cells[place + CELL_NEXT]
    while at < end:
        which = number_of(p, at, names, guess)
        at += CELLS
        if which >= 0:
            found[base + which] = 0 if p.cells[at + CELL_KIND] == JSON_NULL else at
            guess = which + 1
        at = p.cells[at + CELL_NEXT]
    return 0


@cython.cfunc
@cython.exceptval(-2)
def number_of(p: Places, place: cython.Py_ssize_t, names: Names, guess: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The number of a name, -1: nobody asks for it. Brokers write names in one order: the one after the last is tried first."""
    at: cython.Py_ssize_t
    length: cython.Py_ssize_t
    first: cython.Py_ssize_t
    begin: cython.Py_ssize_t = p.cells[place + CELL_BEGIN] + 1
    size: cython.Py_ssize_t = p.cells[place + CELL_END] - 1 - begin
    if p.cells[place + CELL_KIND] == JSON_ESCAPED:
        name: object = value_at(p, place).encode("utf-8", "surrogatepass")
        return names.texts.index(name) if name in names.texts else -1
    for _tried in range(names.count):
        if guess >= names.count:
            guess = 0
        first = names.ends[guess]
        length = names.ends[guess + 1] - first
        if length == size:
            at = 0
            while at < size and names.joined[first + at] == p.block[begin + at]:
                at += 1
            if at == size:
                return guess
        guess += 1
    return -1


@cython.cfunc
def slice_of(p: Places, place: cython.Py_ssize_t) -> object:
    begin: cython.Py_ssize_t = p.cells[place + CELL_BEGIN]
    end: cython.Py_ssize_t = p.cells[place + CELL_END]
    return p.text[begin:end]


@cython.cfunc
def value_at(p: Places, place: cython.Py_ssize_t) -> object:
    """The value as Python's json makes it; of lists and objects a tuple, which no such value is, of the place."""
    kind: cython.int = p.cells[place + CELL_KIND]
    begin: cython.Py_ssize_t = p.cells[place + CELL_BEGIN]
    end: cython.Py_ssize_t = p.cells[place + CELL_END]
    if kind == JSON_TEXT:
        return p.text[begin + 1 : end - 1].decode()
    if kind == JSON_WHOLE:
        return whole_at(p, begin, end) if end - begin <= SURE_DIGITS else int(p.text[begin:end])
    if kind == JSON_FRACTION:
        return float(p.text[begin:end])
    if kind == JSON_NULL:
        return None
    if kind in (JSON_TRUE, JSON_FALSE):
        return kind == JSON_TRUE
    if kind in (JSON_LIST, JSON_OBJECT):
        return (place,)
    return json.loads(p.text[begin:end])


@cython.cfunc
@cython.exceptval(-1)
def whole_at(p: Places, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> i64:
    """A whole number of SURE_DIGITS at most."""
    value: i64 = 0
    at: cython.Py_ssize_t = begin
    if p.block[at] == BYTE_MINUS:
        at += 1
    while at < end:
        value = value * 10 + (p.block[at] - BYTE_0)
        at += 1
    return -value if p.block[begin] == BYTE_MINUS else value


@cython.cfunc
@cython.exceptval(-1)
def add_value(p: Places, kind: cython.int, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Returns the place of a value."""
    place: cython.Py_ssize_t = p.size
    if place + CELLS > p.cells.shape[0]:
        more = memoryview(bytearray(8 * p.cells.shape[0])).cast("i")
        more[: p.cells.shape[0]] = p.cells
        p.cells = more
    p.cells[place + CELL_KIND] = kind
    p.cells[place + CELL_BEGIN] = cython.cast(cython.int, begin)
    p.cells[place + CELL_END] = cython.cast(cython.int, end)
    p.size = place + CELLS
    p.cells[place + CELL_NEXT] = cython.cast(cython.int, p.size)
    return place


@cython.cfunc
@cython.exceptval(-1)
def read_value(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Reads one value with all that is inside of it. Returns where it ends."""
    want: cython.int = WANT_VALUE
    depth: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t
    byte: cython.int
    p.size = 0
    p.is_odd = False
    while True:
        at = behind_spaces(p, at, end)
        if at == end:
            raise ValueError
        byte = p.block[at]
        if byte == BYTE_QUOTE and want != WANT_MORE:
            at = read_text(p, at, end)
            if want in (WANT_NAME, WANT_FIRST_NAME):
                at = behind_spaces(p, at, end)
                if at == end or p.block[at] != BYTE_COLON:
                    raise ValueError
                at += 1
                want = WANT_VALUE
                continue
        elif want == WANT_MORE and byte == BYTE_COMMA:
            at += 1
            is_list = p.cells[p.open[depth - 1] + CELL_KIND] == JSON_LIST
            want = WANT_VALUE if is_list else WANT_NAME
            continue
        elif byte in (BYTE_CLOSE, BYTE_CLOSE_LIST):
            at += 1
            depth = close(p, byte, want, depth, at)
        elif want in (WANT_MORE, WANT_NAME, WANT_FIRST_NAME):
            raise ValueError
        elif byte in (BYTE_OPEN, BYTE_OPEN_LIST):
            if depth == MOST_DEPTH:
                raise ValueError
            place = add_value(p, JSON_OBJECT if byte == BYTE_OPEN else JSON_LIST, at, at)
            p.open[depth] = cython.cast(cython.int, place)
            depth += 1
            at += 1
            want = WANT_FIRST_NAME if byte == BYTE_OPEN else WANT_FIRST_VALUE
            continue
        else:
            at = read_plain(p, at, end)
        if depth == 0:
            return at
        want = WANT_MORE


@cython.cfunc
@cython.exceptval(-1)
def behind_spaces(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    while at < end and p.block[at] <= BYTE_SPACE:
        byte: cython.int = p.block[at]
        if byte != BYTE_SPACE and byte != BYTE_TAB and byte != BYTE_LINE and byte != BYTE_RETURN:
            break
        at += 1
    return at


@cython.cfunc
@cython.exceptval(-1)
def close(
    p: Places, byte: cython.int, want: cython.int, depth: cython.Py_ssize_t, at: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Ends the innermost list or object at `at`. Returns how many are open then."""
    is_list: cython.bint = byte == BYTE_CLOSE_LIST
    if depth == 0 or not (want == WANT_MORE or want == (WANT_FIRST_VALUE if is_list else WANT_FIRST_NAME)):
        raise ValueError
    place: cython.Py_ssize_t = p.open[depth - 1]
    if p.cells[place + CELL_KIND] != (JSON_LIST if is_list else JSON_OBJECT):
        raise ValueError
    p.cells[place + CELL_END] = cython.cast(cython.int, at)
    p.cells[place + CELL_NEXT] = cython.cast(cython.int, p.size)
    return depth - 1


@cython.cfunc
@cython.exceptval(-1)
def read_text(p: Places, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """A text whose first quote is at `begin`. Returns where it ends."""
    at: cython.Py_ssize_t = begin + 1
    kind: cython.int = JSON_TEXT
    while at < end:
        byte: cython.int = p.block[at]
        if byte == BYTE_QUOTE:
            add_value(p, kind, begin, at + 1)
            return at + 1
        if byte < BYTE_SPACE:
            break
        if byte == BYTE_BACKSLASH:
            kind = JSON_ESCAPED
            p.is_odd = True
            at = behind_escape(p, at, end)
        else:
            at += 1
            p.is_odd = p.is_odd or byte > BYTE_LAST
    raise ValueError


@cython.cfunc
@cython.exceptval(-1)
def behind_escape(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    if at + 2 > end:
        raise ValueError
    if p.block[at + 1] != BYTE_U:
        if p.block[at + 1] not in _ESCAPES:
            raise ValueError
        return at + 2
    if at + 6 > end or not _HEX.issuperset(p.text[at + 2 : at + 6]):
        raise ValueError
    return at + 6


@cython.cfunc
@cython.exceptval(-1)
def read_plain(p: Places, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """A number or a word. Returns where it ends."""
    at: cython.Py_ssize_t = begin
    kind: cython.int = JSON_WHOLE
    if p.block[at] == BYTE_MINUS:
        at += 1
    digits: cython.Py_ssize_t = at
    at = behind_digits(p, at, end)
    if at == digits:
        return read_word(p, begin)
    if p.block[digits] == BYTE_0:
        at = digits + 1
    digits = at - digits
    if at + 1 < end and p.block[at] == BYTE_POINT:
        at = behind_fraction(p, at + 1, end)
        kind = JSON_FRACTION
    if at < end and (p.block[at] | 0x20) == BYTE_E:
        at += 1
        if at < end and (p.block[at] == BYTE_PLUS or p.block[at] == BYTE_MINUS):
            at += 1
        at = behind_fraction(p, at, end)
        kind = JSON_FRACTION
    if kind == JSON_WHOLE and digits > MOST_DIGITS:
        raise ValueError
    add_value(p, kind, begin, at)
    return at


@cython.cfunc
@cython.exceptval(-1)
def behind_fraction(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    found: cython.Py_ssize_t = behind_digits(p, at, end)
    if found == at:
        raise ValueError
    return found


@cython.cfunc
@cython.exceptval(-1)
def behind_digits(p: Places, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    while at < end and BYTE_0 <= p.block[at] <= BYTE_9:
        at += 1
    return at


@cython.cfunc
@cython.exceptval(-1)
def read_word(p: Places, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
    word: bytes
    kind: cython.int
    word, kind = _WORDS.get(p.block[begin], (b"", 0))
    if not word or p.text[begin : begin + len(word)] != word:
        raise ValueError
    add_value(p, kind, begin, begin + len(word))
    return begin + len(word)
