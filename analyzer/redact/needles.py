"""A search for names and values in what was written: as they are, and as base64, hexadecimal digits and UTF-16."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator

from analyzer.redact import allow_list
from dissectors.byte_search import ByteSearch
from dissectors.matrix import new_matrix

LEAST_BYTES = 8
# Of longer ones the beginning is looked for.
MOST_BYTES = 32
# With fewer different bytes, what is found is chance.
_LEAST_DIFFERENT = 5
# Binary values below this look like the numbers that stay: they are looked for in other forms alone.
_LEAST_BINARY_BYTES = 16
# So many are looked for at a time.
MOST_AT_ONCE = 100_000
# So many are remembered, in a table that is half full then.
MOST_REMEMBERED = 2_000_000
_PRINTABLE = frozenset(range(32, 127))


def is_sought(needle: bytes) -> bool:
    """Whether finding it would say something."""
    return len(needle) >= LEAST_BYTES and len(set(needle[:MOST_BYTES])) >= _LEAST_DIFFERENT


class Known:
    """Which names and values were met before, by their hashes: eight bytes each, where a set of Python takes a hundred. Beyond
    MOST_REMEMBERED all are forgotten, and looked for once more."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._count = 0
        self._marks = new_matrix(1, 2 * MOST_REMEMBERED).cast("B").cast("q")  # 0: empty

    def is_new(self, needle: bytes) -> bool:
        """Whether it was not met before; from now on it was."""
        mark = hash(needle) or 1
        at = mark % len(self._marks)
        while self._marks[at]:
            if self._marks[at] == mark:
                return False
            at = (at + 1) % len(self._marks)
        if self._count == MOST_REMEMBERED:
            self._forget()
            at = mark % len(self._marks)
        self._marks[at] = mark
        self._count += 1
        return True


class Needles:
    """Names and values to look for, at most MOST_AT_ONCE."""

    def __init__(self, needles: Iterable[bytes]) -> None:
        self._search = ByteSearch()
        self._by_head: dict[bytes, set[bytes]] = {}
        for needle in needles:
            for form in _forms(needle[:MOST_BYTES]):
                if len(form) >= LEAST_BYTES:
                    self._by_head.setdefault(form[:LEAST_BYTES], set()).add(form)
        for head in self._by_head:
            self._search.add(head)

    def found_in(self, blocks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """(offset, form) of each that is in these bytes, which come in blocks."""
        longest = 8 * MOST_BYTES
        held, before = b"", 0
        for block in blocks:
            data = held + block
            yield from self._found(data, before, len(data) - longest)
            kept = min(len(data), 2 * longest)
            before += len(data) - kept
            held = data[len(data) - kept :]
        yield from self._found(held, before, len(held))

    def _found(self, data: bytes, before: int, until: int) -> Iterator[tuple[int, bytes]]:
        for at in self._search.find(data):
            if at >= until:
                return
            for form in self._by_head.get(data[at : at + LEAST_BYTES], ()):
                if data.startswith(form, at) and not _is_well_known(data, at, form):
                    yield before + at, form


def _forms(needle: bytes) -> Iterator[bytes]:
    if len(needle) >= _LEAST_BINARY_BYTES or _PRINTABLE.issuperset(needle):
        yield needle
    yield needle.hex().encode()
    yield needle.hex().upper().encode()
    for shift in range(3):
        # What is before and behind it is in its first and last characters.
        text = b64encode(bytes(shift) + needle)
        yield text[(8 * shift + 5) // 6 : (8 * (shift + len(needle))) // 6]
    if _PRINTABLE.issuperset(needle):
        yield needle.decode("ascii").encode("utf-16-le")
        yield needle.decode("ascii").encode("utf-16-be")


def _is_well_known(data: bytes, at: int, form: bytes) -> bool:
    """Whether it is part of a word that stays: a topic `apache-kafka` in the name of a client's software. Of a sentence that stays
    the rest may be in the next packet."""
    for word in allow_list.WELL_KNOWN_TEXT:
        place = word.find(form)
        if place >= 0 and (b" " in word or (at >= place and data.startswith(word, at - place))):
            return True
    return False
