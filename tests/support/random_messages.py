"""Random messages of any API version, as dicts that `encode` takes.

All chance comes from one `random.Random`; hypothesis gives one whose choices it can shrink (`strategies.randoms`).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from encode import Length, encode_struct_with_lengths, encode_with_lengths

from dissectors.kafka.messages.explain import default_value
from dissectors.kafka.schema import headers, lookup

BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
# One to four bytes in UTF-8, a zero byte, and the character that stands for bytes that are no text.
LETTERS = "abcxyz019._-\0\x7fäßΩ€\ufffd漢😀"
# 63 to 129 bytes: around the size up to which the walker keeps a string in its slot, and that of a longer varint.
LONG_SIZES = (63, 64, 65, 127, 128, 129)
# 2^53 + 1 is none; NaN is not among them because it equals nothing.
FLOATS = (0.0, -0.0, 1.5, -1e300, 5e-324, float("inf"), float("-inf"))
MOST_TAG = 2**31 - 1


class Kind(NamedTuple):
    key: int
    version: int
    direction: str

    def __str__(self) -> str:
        api = lookup.api(self.key)
        return f"{api.name if api else self.key} v{self.version} {self.direction}"


class Sample(NamedTuple):
    """A message: what was encoded, its frame, the lengths in it, how often null stands where it is not provided for."""

    kind: Kind
    header: dict[str, Any]
    body: dict[str, Any]
    frame: bytes
    lengths: list[Length]
    odd_nulls: int


def kinds() -> list[Kind]:
    """Every message that there is: API, version, direction."""
    found = []
    for key in lookup.readable_keys():
        api = lookup.api(key)
        assert api is not None
        for version in range(api.versions.first, api.versions.last + 1):
            found += [Kind(key, version, direction) for direction in ("request", "response")]
    return found


def sample(kind: Kind, chance: Random, full: bool = False, odd_nulls: bool = False) -> Sample:
    """A random message. `full`: with every field there is, no null and no empty array. `odd_nulls` lets null stand
    where the version does not provide for it."""
    api = lookup.api(kind.key)
    assert api is not None
    maker = _Maker(kind.version, api.is_flexible(kind.version), chance, full, odd_nulls)
    header = maker.header(kind)
    body = maker.struct(api.message(kind.direction).fields)
    frame, lengths = encode_with_lengths(*kind, header, body)
    return Sample(kind, header, body, frame, lengths, maker.odd_nulls)


def struct(name: str, version: int, chance: Random, full: bool = False) -> tuple[dict[str, Any], bytes, list[Length]]:
    """The values of a random embedded struct, its bytes and the lengths in them."""
    known = lookup.embedded(name)
    values = _Maker(version, known.is_flexible(version), chance, full).struct(known.fields)
    if not known.has_prefix:
        values["version"] = version
    return (values, *encode_struct_with_lengths(name, version, values))


def one_of_each(seed: int, full: bool = False, odd_nulls: bool = False) -> Iterator[Sample]:
    """A random message of every kind, the same ones for the same seed."""
    for kind in kinds():
        yield sample(kind, Random(f"{seed} {kind}"), full, odd_nulls)


class _Maker:
    """Makes values for the fields of one version; counts the nulls that the version does not provide for."""

    def __init__(self, version: int, flexible: bool, chance: Random, full: bool, odd_nulls: bool = False) -> None:
        self.version = version
        self.flexible = flexible
        self.chance = chance
        self.full = full
        self.may_be_odd = odd_nulls
        self.odd_nulls = 0

    def one_in(self, many: int) -> bool:
        return self.chance.randrange(many) == 0

    def header(self, kind: Kind) -> dict[str, Any]:
        found: dict[str, Any] = {"correlation_id": self.integer(32, signed=True)}
        if kind.direction == "request":
            version = headers.request_version(kind.key, kind.version)
            if version >= 1:
                found["client_id"] = None if self.one_in(5) else self.text()
            has_tags = version >= 2
        else:
            has_tags = headers.response_version(kind.key, kind.version) >= 1
        if has_tags and self.one_in(3):
            found["unknown_tags"] = self.unknown_tags(set())
        return found

    def struct(self, fields: tuple[lookup.Field, ...], depth: int = 0) -> dict[str, Any]:
        present = [each for each in fields if self.version in each.versions]
        found = {each.name: self.field(each, depth) for each in present if each.tag is None}
        if self.flexible:
            tagged = [each for each in present if each.tag is not None]
            for each in sorted(tagged, key=lambda each: each.tag or 0):
                if self.full or self.one_in(2):
                    found[each.name] = self.field(each, depth)
            if self.one_in(4 + 4 * depth):
                found["unknown_tags"] = self.unknown_tags({each.tag for each in tagged})
        return found

    def unknown_tags(self, known: set[int | None]) -> dict[int, bytes]:
        sizes = (self.chance.choice((5, 130, 20000, MOST_TAG)) for _ in range(self.chance.randint(1, 2)))
        tags = sorted({self.chance.randint(0, size) for size in sizes} - known)
        return {tag: self.octets() for tag in tags} or {MOST_TAG: b""}

    def field(self, field: lookup.Field, depth: int) -> Any:
        if not self.full and self.is_null(field):
            return None
        if not self.full and field.tag is not None and field.default is not None and self.one_in(4):
            return default_value(field)
        if not field.is_array:
            return self.value(field, depth)
        count = self.chance.randint(1 if self.full else 0, max(1, 3 - depth))
        return [self.value(field, depth + 1) for _ in range(count)]

    def is_null(self, field: lookup.Field) -> bool:
        if field.nullable is not None and self.version in field.nullable:
            return self.one_in(4)
        has_null = field.is_array or field.type in ("string", "bytes", "records")
        if self.may_be_odd and has_null and self.one_in(8):
            self.odd_nulls += 1
            return True
        return False

    def value(self, field: lookup.Field, depth: int) -> Any:
        """A field that is no array, or an element of one."""
        kind = field.type
        if kind == "struct":
            return self.struct(field.fields, depth)
        if kind == "string":
            return self.text()
        if kind in ("bytes", "records"):
            return self.octets()
        if kind == "uuid":
            return bytes(16) if self.one_in(4) else self.chance.randbytes(16)
        if kind == "bool":
            return self.one_in(2)
        if kind == "float64":
            return self.chance.choice(FLOATS)
        return self.integer(BITS[kind], signed=not kind.startswith("u"))

    def integer(self, bits: int, signed: bool) -> int:
        """Often small, sometimes one of the extremes, else anything."""
        least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        which = self.chance.randrange(8)
        if which == 0:
            return self.chance.choice((least, most))
        return self.chance.randint(least, most) if which < 3 else self.chance.randint(-1 if signed else 0, 5)

    def text(self) -> str:
        if self.one_in(30):
            return "x" * self.chance.choice(LONG_SIZES)
        return "".join(self.chance.choice(LETTERS) for _ in range(self.chance.randint(0, 6)))

    def octets(self) -> bytes:
        return self.chance.randbytes(self.chance.choice(LONG_SIZES) if self.one_in(30) else self.chance.randint(0, 9))
