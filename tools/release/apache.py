"""Apache's field lists of a release as trees: which field is there in which version, and how it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A field of a message. `kind` is a primitive or "struct"; the versions are those of the release alone.

    `default` is as a definition writes it; None: the zero of the type.
    """

    name: str
    kind: str
    is_array: bool
    versions: frozenset[int]
    nullable: frozenset[int]
    tag: int | None
    default: str | None
    inner: tuple[Entry, ...]

    def wire(self, version: int) -> tuple[Any, ...]:
        """What a version of it looks like on the wire, names included."""
        inner = tuple(each.wire(version) for each in self.inner if version in each.versions)
        return self.name, self.kind, self.is_array, version in self.nullable, self.tag, inner


@cache
def snake(camel: str) -> str:
    """fooBarBaz -> foo_bar_baz; isKRaft -> is_k_raft."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z])(?=[a-z])", r"_\1\2", camel).lower()


def versions(text: str | None, of: frozenset[int]) -> frozenset[int]:
    """`4+`, `0`, `2-5` or `none` as the versions among `of`."""
    if text in (None, "none"):
        return frozenset()
    first, dash, last = text.rstrip("+").partition("-")
    end = max(of, default=0) if text.endswith("+") else int(last if dash else first)
    return of & frozenset(range(int(first), end + 1))


def valid_versions(message: dict[str, Any]) -> frozenset[int]:
    """The versions that the release reads and writes; none where it removed the API."""
    return versions(message["validVersions"], frozenset(range(1000)))


def entries(message: dict[str, Any]) -> tuple[Entry, ...]:
    """The fields of a message."""
    common = {struct["name"]: struct["fields"] for struct in message.get("commonStructs", ())}
    return _entries(message["fields"], common, valid_versions(message))


def _entries(fields: list[dict[str, Any]], common: dict[str, Any], around: frozenset[int]) -> tuple[Entry, ...]:
    found = (_entry(field, common, around) for field in fields)
    return tuple(entry for entry in found if entry.versions)


def _entry(field: dict[str, Any], common: dict[str, Any], around: frozenset[int]) -> Entry:
    kind = field["type"].removeprefix("[]")
    present = versions(field["versions"], around)
    inner = field.get("fields") or common.get(kind, [])
    kind = "struct" if inner else kind
    is_array = field["type"].startswith("[]")
    return Entry(
        name=snake(field["name"]),
        kind=kind,
        is_array=is_array,
        versions=present,
        nullable=versions(field.get("nullableVersions"), present),
        tag=field["tag"] if versions(field.get("taggedVersions"), present) else None,
        default=_default(field.get("default"), kind, is_array),
        inner=_entries(inner, common, present),
    )


def _default(value: Any, kind: str, is_array: bool) -> str | None:
    text = "" if value is None else str(value)
    if text == "null" or not text:
        return text or None
    if kind == "struct" or is_array:
        return None
    if kind == "bool":
        return "true" if text.lower() == "true" else None
    if kind in ("string", "bytes", "uuid", "records"):
        return text
    number = float(text) if kind == "float64" else int(text, 0)
    return str(number) if number else None


def wire(message: dict[str, Any], version: int) -> tuple[Any, ...]:
    """A whole message of one version: equal where nothing changed, names included."""
    flexible = bool(versions(message["flexibleVersions"], frozenset((version,))))
    return flexible, tuple(each.wire(version) for each in entries(message) if version in each.versions)
