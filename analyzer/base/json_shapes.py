"""JSON that somebody else wrote, held against a description of it before anything is done with it.

A shape is a function of a value that raises ShapeError. Records may have more fields than their shape names: who wrote them may
have known more. A check costs some microseconds for a field, and says where the first wrong one is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from analyzer.base.text import printable

Shape = Callable[[Any], None]

LEAST_WHOLE, MOST_WHOLE = -(1 << 63), (1 << 63) - 1
# How much of a wrong value, or of a name on the way to it, is told.
_TOLD_LETTERS = 40


class ShapeError(ValueError):
    """A value that is not what was expected. The text says where, what was expected, and what is there."""

    def __init__(self, expected: str, *found: Any) -> None:
        self._steps: list[str] = []
        self._told = f"expected {expected}" + "".join(f", got {_found(each)}" for each in found)

    def within(self, step: str) -> ShapeError:
        """The same, one step further up."""
        self._steps.insert(0, step)
        return self

    def __str__(self) -> str:
        place = "".join(self._steps).removeprefix(".")
        return f"{place}: {self._told}" if place else self._told


def loaded(data: bytes, shape: Shape) -> Any:
    """The value of JSON text in UTF-8, of this shape. Raises ShapeError."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ShapeError("text in UTF-8") from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else printable(str(error))
        raise ShapeError(f"JSON ({what})") from None
    shape(value)
    return value


def whole(least: int = LEAST_WHOLE, most: int = MOST_WHOLE, what: str = "a whole number") -> Shape:
    """A whole number within these limits, both included."""

    def check(value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ShapeError(what, value)

    return check


def flag(value: Any) -> None:
    """true or false"""
    if not isinstance(value, bool):
        raise ShapeError("true or false", value)


def text(value: Any) -> None:
    """Text that can be the name of something: bytes that are not UTF-8 may be in it as Python has them in names of files."""
    if not isinstance(value, str):
        raise ShapeError("text", value)
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ShapeError("text in Unicode", value) from None
    if "\0" in value:
        raise ShapeError("text without a zero byte", value)


def or_null(shape: Shape) -> Shape:
    """null, or what the shape says."""

    def check(value: Any) -> None:
        if value is not None:
            shape(value)

    return check


def each(shape: Shape) -> Shape:
    """A list of such values."""

    def check(value: Any) -> None:
        if not isinstance(value, list):
            raise ShapeError("a list", value)
        for place, item in enumerate(value):
            try:
                shape(item)
            except ShapeError as error:
                raise error.within(f"[{place}]") from None

    return check


def by_name(shape_of: Callable[[str], Shape]) -> Shape:
    """An object with any names, whose values have the shape that the name gives."""

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise ShapeError("an object", value)
        for name, item in value.items():
            try:
                text(name)
                shape_of(name)(item)
            except ShapeError as error:
                raise error.within(f".{short(name)}") from None

    return check


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these fields."""
    shapes = {**required, **(optional or {})}

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise ShapeError("an object", value)
        for name, shape in shapes.items():
            if name in value:
                try:
                    shape(value[name])
                except ShapeError as error:
                    raise error.within(f".{name}") from None
            elif name in required:
                raise ShapeError(f"a field {name}")

    return check


def short(told: str) -> str:
    """Text of somebody else on one line, cut when it is long."""
    return printable(told if len(told) <= _TOLD_LETTERS else told[:_TOLD_LETTERS] + "…")


def _found(value: Any) -> str:
    """What is there, in a few letters: of a list or an object only that it is one."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return f'"{short(value)}"' if isinstance(value, str) else short(json.dumps(value))
