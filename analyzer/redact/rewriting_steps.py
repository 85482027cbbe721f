"""How single values of a message are written: the steps that the steps of a schema are made of.

A step reads `work.source` at a place, writes what may stay of the value into `work.out`, and returns the place behind it. It raises
Stop where the bytes end, or are none of its type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.redact.counts import Counts
    from analyzer.redact.texts import Texts

# Elements of arrays in one message: beyond this all is zero. The Metadata of 20,000 partitions has 300,000 values.
MOST_ELEMENTS = 2_000_000


class Stop(Exception):
    """Here the bytes end, or are none of this schema."""


@dataclass
class Said:
    """What earlier messages of a connection told: the mechanism of the login, the protocol type of the newest group."""

    mechanism: str | None = None
    protocol: str | None = None


@dataclass(slots=True)
class Work:
    """One message: its bytes, and the ones to write; `size`: bytes that were sent."""

    source: bytes
    out: bytearray
    texts: Texts
    counts: Counts
    said: Said
    is_request: bool = True
    left: int = MOST_ELEMENTS
    protocol: str | None = None
    depth: int = 0
    size: int = 0

    def room(self, at: int, end: int) -> int:
        """Bytes from `at` to `end`; to the end of the message where the capture cut it."""
        return (max(end, self.size) if end == len(self.source) else end) - at


# Reads and writes at `at`, of bytes that end at `end`; returns the place behind.
Step = Callable[[Work, int, int], int]


def fixed(size: int) -> Step:
    """Bytes that stay."""

    def step(work: Work, at: int, end: int) -> int:
        behind = at + size
        if behind <= end:
            work.out[at:behind] = work.source[at:behind]
            return behind
        work.out[at:end] = work.source[at:end]
        raise Stop

    return step


def zeros(size: int) -> Step:
    """Bytes that become zeros."""

    def step(_: Work, at: int, end: int) -> int:
        if at + size > end:
            raise Stop
        return at + size

    return step


def uuid(work: Work, at: int, end: int) -> int:
    """An id that becomes a pseudonym."""
    if at + 16 > end:
        raise Stop
    work.out[at : at + 16] = work.texts.pseudonyms.uuid(work.source[at : at + 16])
    return at + 16


def optional(inner: Step) -> Step:
    """A struct behind a byte that says whether there is one."""

    def step(work: Work, at: int, end: int) -> int:
        if at >= end:
            raise Stop
        # Only its sign says something. A zero may be what replaces bytes that were not understood: it stays.
        is_null = work.source[at] > 127
        work.out[at] = 0xFF if is_null else min(work.source[at], 1)
        return at + 1 if is_null else inner(work, at + 1, end)

    return step


def array(inner: Step, flexible: bool, least: int) -> Step:
    """An array, of whose elements each has `least` bytes or more."""

    def step(work: Work, at: int, end: int) -> int:
        count, at = length(work, at, end, flexible, 4)
        if count <= 0:
            return at
        if count * least > work.room(at, end):
            raise Stop
        work.left -= count
        if work.left < 0:
            work.counts.too_long += 1
            raise Stop
        for _ in range(count):
            at = inner(work, at, end)
        return at

    return step


def numbers(size: int, flexible: bool) -> Step:
    """An array of numbers that stay."""

    def step(work: Work, at: int, end: int) -> int:
        count, at = length(work, at, end, flexible, 4)
        if count <= 0:
            return at
        if count * size > work.room(at, end):
            raise Stop
        return fixed(count * size)(work, at, end)

    return step


def tags(known: dict[int | None, Step]) -> Step:
    """The tagged fields of a struct (KIP-482): of those that nobody knows the number and the size are written."""

    def step(work: Work, at: int, end: int) -> int:
        if at < end and not work.source[at]:
            return at + 1  # there are none, and it is zero
        count, at = varint(work, at, end)
        if count * 2 > work.room(at, end):
            raise Stop
        work.left -= count
        if work.left < 0:
            raise Stop
        for _ in range(count):
            tag, at = varint(work, at, end)
            size, at = varint(work, at, end)
            inner, behind = known.get(tag), min(at + size, end)
            if inner is None:
                work.counts.unknown_tags += 1
            else:
                work.counts.left_bytes += behind - inner(work, at, behind)
            if at + size > end:
                raise Stop
            at = behind
        return at

    return step


def length(work: Work, at: int, end: int, compact: bool, size: int) -> tuple[int, int]:
    """(length, place behind it); the length of what is null is -1."""
    if compact:
        if at < end and (byte := work.source[at]) < 128:
            work.out[at] = byte
            return byte - 1, at + 1
        count, at = varint(work, at, end)
        return count - 1, at
    if at + size > end:
        raise Stop
    field = work.source[at : at + size]
    count = int.from_bytes(field, "big", signed=True)
    if count < -1:
        raise Stop
    work.out[at : at + size] = field
    return count, at + size


def varint(work: Work, at: int, end: int) -> tuple[int, int]:
    """(number, place behind it) of an unsigned varint of at most 32 bits, which is written."""
    number = shift = 0
    for place in range(at, min(at + 5, end)):
        byte = work.source[place]
        number |= (byte & 127) << shift
        if byte < 128:
            if number >> 32:
                raise Stop
            work.out[at : place + 1] = work.source[at : place + 1]
            return number, place + 1
        shift += 7
    raise Stop
