"""Messages by chance: valid on the wire in one version of one API, as the JSON that Apache's converter reads.

0 is sparse (null, empty, zero), 1 is full (all that can be present is, with tagged fields that nobody knows), 2 is by chance.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from random import Random
from typing import Any

from tools.release.apache import versions

SPARSE, FULL, CHANCE = range(3)
# Bits and whether there is a sign.
_INTEGERS = {"int8": (8, 1), "int16": (16, 1), "uint16": (16, 0), "int32": (32, 1), "uint32": (32, 0), "int64": (64, 1)}
_WORDS = (
    "",
    "a",
    "orders",
    "shop-1",
    "__consumer_offsets",
    "User:alice",
    "10.0.0.1",
    "grün-日本",
    "x" * 130,
    "\u0000\u001f",
    "🦊",
)
# Where no message of the past tells what records fields hold: none.
Pool = list[tuple[bytes, dict[str, Any]]]


class Maker:
    """Makes a message of `version`. `pool`: bytes of records that a release wrote, with what is said of them."""

    def __init__(self, message: dict[str, Any], version: int, profile: int, chance: Random, pool: Pool) -> None:
        self.message = message
        self.version = version
        self.profile = profile
        self.chance = chance
        self.pool = pool
        self.common = {struct["name"]: struct["fields"] for struct in message.get("commonStructs", ())}
        self.flexible = self._in(message.get("flexibleVersions"))
        self.records: list[dict[str, Any]] = []
        self.tags: list[dict[str, Any]] = []

    def body(self) -> dict[str, Any]:
        return self._struct(self.message["fields"], "", 0)

    def tags_nobody_knows(self) -> list[dict[str, Any]]:
        if not self.flexible or not self._some():
            return []
        numbers = sorted(self.chance.sample(range(90, 5000), self.chance.randint(1, 2)))
        return [{"tag": number, "hex": self.chance.randbytes(self.chance.randint(0, 9)).hex()} for number in numbers]

    def _in(self, span: str | None) -> bool:
        return bool(versions(span, frozenset((self.version,))))

    def _some(self) -> bool:
        """Whether something that may be there is."""
        return self.profile == FULL or (self.profile == CHANCE and self.chance.random() < 0.6)

    def _struct(self, fields: list[dict[str, Any]], path: str, depth: int) -> dict[str, Any]:
        found = {}
        for field in fields:
            if not self._in(field["versions"]) or (self._in(field.get("taggedVersions")) and not self._some()):
                continue
            name = field["name"][0].lower() + field["name"][1:]
            place = f"{path}.{name}".removeprefix(".")
            null = self._in(field.get("nullableVersions")) and not self._some()
            found[name] = None if null else self._value(field, place, depth)
        self.tags += [{"path": path} | tag for tag in self.tags_nobody_knows()]
        return found

    def _value(self, field: dict[str, Any], place: str, depth: int) -> Any:
        kind = field["type"].removeprefix("[]")
        inner = field.get("fields") or self.common.get(kind)
        if not field["type"].startswith("[]"):
            return self._struct(inner, place, depth + 1) if inner else self._single(kind, place)
        most = 0 if self.profile == SPARSE else max(1, 3 - depth)
        count = most if self.profile == FULL else self.chance.randint(0, most)
        places = (f"{place}[{number}]" for number in range(count))
        return [self._struct(inner, each, depth + 1) if inner else self._single(kind, each) for each in places]

    def _single(self, kind: str, place: str) -> Any:
        if kind in ("bytes", "records"):
            return b64encode(self._records(place) if kind == "records" else self._bytes()).decode()
        if kind == "uuid":
            return (
                urlsafe_b64encode(bytes(16) if self.profile == SPARSE else self.chance.randbytes(16))
                .decode()
                .rstrip("=")
            )
        if kind == "string":
            return "" if self.profile == SPARSE else self.chance.choice(_WORDS)
        if kind == "bool":
            return self.profile == FULL or (self.profile == CHANCE and self.chance.random() < 0.5)
        if kind == "float64":
            return (
                0.0
                if self.profile == SPARSE
                else self.chance.choice((-0.0, 1e-7, 1.5, -2.25e300, self.chance.random()))
            )
        bits, signed = _INTEGERS[kind]
        if self.profile == SPARSE:
            return 0
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return self.chance.choice((least, most, 1, self.chance.randint(least, most), self.chance.randint(0, 100)))

    def _bytes(self) -> bytes:
        return b"" if self.profile == SPARSE else self.chance.randbytes(self.chance.randint(0, 40))

    def _records(self, place: str) -> bytes:
        if not self.pool or self.profile == SPARSE:
            self.records.append({"path": place, "size": 0, "partial": 0, "batches": []})
            return b""
        data, account = self.chance.choice(self.pool)
        self.records.append(account | {"path": place})
        return data
