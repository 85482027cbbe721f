"""Two accounts of one body, ours and the broker's, compared value by value."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


class _Unsaid:
    """The broker says nothing of this value."""

    def __repr__(self) -> str:
        return "UNSAID"


UNSAID = _Unsaid()


@dataclass(frozen=True, slots=True)
class Sized:
    """Bytes of which the log has the size only: records, and every bytes field in the text logs."""

    size: int


# Lists that 1.1.1 and 2.4.1 print in the order of a Java hash table: (API key, side, path).
UNORDERED = {
    (4, "request", "ungrouped_partition_states"),
    (4, "request", "live_leaders"),
    (5, "request", "ungrouped_partitions"),
    (6, "request", "ungrouped_partition_states"),
    (6, "request", "live_brokers"),
    (20, "request", "topic_names"),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """How to compare a body of ours with the broker's.

    `whole`: all of its bytes were captured; else our values are the first ones. `is_text`: the log does not know text
    from numbers, and does not keep the order of UNORDERED lists. `unsaid` becomes the paths that the log passes over.
    """

    api_key: int
    side: str
    whole: bool = True
    is_text: bool = False
    unsaid: set[str] = field(default_factory=set)

    def differences(self, ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[str]:
        """Fields that differ, that only we have, or that only the broker has."""
        yield from self._struct("", ours, theirs)

    def _struct(self, path: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[str]:
        for name, value in ours.items():
            inner = f"{path}.{name}".removeprefix(".")
            if name in theirs:
                yield from self._value(inner, value, theirs[name])
            else:
                yield f"{inner}: {value!r}, the broker has no such field"
        for name in theirs.keys() - ours.keys() if self.whole else ():
            yield f"{path}.{name}: missing, the broker says {theirs[name]!r}".removeprefix(".")

    def _value(self, path: str, ours: Any, theirs: Any) -> Iterator[str]:
        if theirs is UNSAID:
            self.unsaid.add(re.sub(r"\[\d+\]", "[]", path))
        elif isinstance(ours, dict) and isinstance(theirs, dict):
            yield from self._struct(path, ours, theirs)
        elif isinstance(ours, list) and isinstance(theirs, list):
            yield from self._list(path, ours, theirs)
        elif not self._same(ours, theirs):
            yield f"{path}: {ours!r}, the broker says {theirs!r}"

    def _list(self, path: str, ours: list[Any], theirs: list[Any]) -> Iterator[str]:
        if len(ours) > len(theirs) or (self.whole and len(ours) != len(theirs)):
            yield f"{path}: {len(ours)} elements, the broker says {len(theirs)}"
            return
        if self.is_text and (self.api_key, self.side, path) in UNORDERED:
            ours, theirs = sorted(ours, key=_order), sorted(theirs, key=_order)
        for number, (mine, said) in enumerate(zip(ours, theirs, strict=False)):
            yield from self._value(f"{path}[{number}]", mine, said)

    def _same(self, ours: Any, theirs: Any) -> bool:
        if isinstance(theirs, Sized):
            return _size(ours) == theirs.size
        if self.is_text and isinstance(ours, str) and type(theirs) in (int, float, bool):
            # As the number was printed: text 1 came out as a number.
            return ours == json.dumps(theirs)
        return type(ours) is type(theirs) and ours == theirs


def _order(element: Any) -> str:
    return json.dumps(element, sort_keys=True)


def _size(ours: Any) -> int | None:
    """The bytes of records or of base64."""
    if isinstance(ours, Sized):
        return ours.size
    return len(b64decode(ours)) if isinstance(ours, str) else None
