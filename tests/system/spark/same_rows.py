"""When two answers to one question are the same: columns, types, and the rows without their order."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

# Kind of value -> what the engines call its types. Decimals are none: no question may make them, their digits differ.
KINDS = {
    "integer": r"(tiny|small|big|huge)?int(eger)?",
    "double": r"double|float",
    "text": r"varchar|string",
    "truth": r"boolean",
    "nothing": r'void|null|"null"',
}
# Of a variance more digits are lost than of a sum.
TOLERANCE = 1e-7


class Answer(NamedTuple):
    """Names and types of the columns, as the engine calls them, and the rows in the order in which they came."""

    names: Sequence[str]
    types: Sequence[str]
    rows: Sequence[tuple[Any, ...]]


def difference(one: Answer, other: Answer) -> str:
    """What is not the same, in words; empty when everything is."""
    if list(one.names) != list(other.names):
        return f"columns {list(one.names)} and {list(other.names)}"
    for name, *types in zip(one.names, one.types, other.types, strict=True):
        if not _alike(*map(_kind, types)):
            return f"column {name} is {types[0]} and {types[1]}"
    if len(one.rows) != len(other.rows):
        return f"{len(one.rows)} and {len(other.rows)} rows"
    for mine, theirs in zip(sorted(one.rows, key=_place), sorted(other.rows, key=_place), strict=True):
        for name, value, seen in zip(one.names, mine, theirs, strict=True):
            if not same(value, seen):
                return f"{name} is {value!r} and {seen!r} in {dict(zip(one.names, mine, strict=True))}"
    return ""


def same(one: object, other: object) -> bool:
    """True for two cells with one value; doubles may differ in their last digits, as sums depend on the order."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE)
    return type(one) is type(other) and one == other


def _kind(name: str) -> str:
    return next((kind for kind, names in KINDS.items() if re.fullmatch(names, name, re.IGNORECASE)), name)


def _alike(one: str, other: str) -> bool:
    return (one in KINDS and one == other) or "nothing" in (one, other)


def _place(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A place among the rows for which the last digits of a double matter least."""
    exact = [(value is not None, "" if value is None else str(value)) for value in row if not isinstance(value, float)]
    return (exact, [value for value in row if isinstance(value, float)])
