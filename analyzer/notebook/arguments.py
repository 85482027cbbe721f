"""What callers of the Python API give, checked: a wrong type is a TypeError that names the argument, a wrong value a ValueError."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from analyzer.base import moments
from analyzer.base.filters import Filters
from analyzer.base.options import Options


def names(value: Any, what: str) -> tuple[str, ...]:
    """One name or several."""
    return _several(value, what, "a name or several", lambda each: each if isinstance(each, str) else None, str)


def inputs(value: Any) -> tuple[str, ...]:
    """One path, glob or URI, or several."""
    found = _several(value, "inputs", "a path or several", _name, (str, PathLike))
    if not found:
        raise ValueError("inputs: expected at least one path")
    return found


def path(value: Any, what: str) -> Path:
    """One path."""
    if not isinstance(value, str | PathLike) or isinstance(fspath(value), bytes):
        raise TypeError(f"{what}: expected a path, got {value!r}")
    return Path(value)


def text(value: Any, what: str) -> str:
    """One text."""
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected text, got {value!r}")
    return value


def one_of(value: Any, known: Iterable[str], what: str) -> str:
    """One of the known words."""
    if text(value, what) not in known:
        raise ValueError(f"{what}: no {value!r}; there are {', '.join(known)}")
    return str(value)


def whole(value: Any, what: str, least: int | None = None) -> int:
    """A whole number, also of NumPy; not a bool, and no text."""
    number = _whole(value)
    if number is None:
        raise TypeError(f"{what}: expected a whole number, got {value!r}")
    if least is not None and number < least:
        raise ValueError(f"{what}: expected {least} or more, got {number}")
    return number


def moment(value: Any, what: str) -> int | moments.Moment:
    """Ns since the epoch, or a moment as it is printed."""
    if not isinstance(value, str):
        return whole(value, what)
    found = moments.moment(value) or moments.utc_ns(value)
    if found is None:
        raise ValueError(f"{what}: {value!r} is not a moment like 2026-05-01T10:59, 22:46:20, 22:46, +10s or -30s")
    return found


def or_none(check: Callable[..., Any], value: Any, *arguments: Any) -> Any:
    """What `check` makes of the value; None stays None."""
    return None if value is None else check(value, *arguments)


def options(filters: Filters, given: dict[str, Any]) -> Options:
    """Options of a run by their names; an unknown name is a TypeError that lists the known ones."""
    unknown = sorted(set(given) - set(_OPTIONS))
    if unknown:
        raise TypeError(f"{unknown[0]}: no such option; there are {', '.join(_OPTIONS)}")
    return Options(filters=filters, **{name: _OPTIONS[name](value, name) for name, value in given.items()})


def _several(
    value: Any, what: str, wanted: str, take: Callable[[Any], Any], one: type | tuple[type, ...]
) -> tuple[Any, ...]:
    items = list(value) if isinstance(value, Iterable) and not isinstance(value, one) else [value]
    taken = tuple(take(item) for item in items)
    if isinstance(value, bytes) or None in taken:
        raise TypeError(f"{what}: expected {wanted}, got {value!r}")
    return taken


def _name(value: Any) -> str | None:
    name = fspath(value) if isinstance(value, str | PathLike) else None
    return name if isinstance(name, str) else None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def _ports(value: Any, what: str) -> tuple[int, ...]:
    # A text is a row of letters, and no letter is a port.
    found = _several(value, what, "a port or several, as numbers", _whole, str)
    for port in found:
        if not 0 < port < 65_536:
            raise ValueError(f"{what}: {port} is not a port")
    return found


def _pairs(first: type, second: type) -> Callable[[Any, str], tuple[Any, ...]]:
    def check(value: Any, what: str) -> tuple[Any, ...]:
        def pair(each: Any) -> Any:
            fits = isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], first)
            return each if fits and isinstance(each[1], second) else None

        return _several(value, what, f"pairs of {first.__name__} and {second.__name__}", pair, ())

    return check


def _folder(value: Any, what: str) -> Path | None:
    return None if value is None else path(value, what)


def _files(value: Any, what: str) -> tuple[Path, ...]:
    return tuple(map(Path, _several(value, what, "a path or several", _name, (str, PathLike))))


def _count(value: Any, what: str) -> int:
    return whole(value, what, 1)


def _count_or_none(value: Any, what: str) -> int | None:
    return None if value is None else _count(value, what)


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{what}: expected True or False, got {value!r}")
    return value


# Fields of Options that a caller may set; all tables and columns are read.
_OPTIONS: dict[str, Callable[[Any, str], Any]] = {
    "ports": _ports,
    "max_frame_bytes": _count,
    "max_connections": _count_or_none,
    "max_reassembly_bytes": _count,
    "temp_dir": _folder,
    "taps": _pairs(str, str),
    "reorder_packets": _count,
    "reorder_ns": _count,
    "tls_key_logs": _files,
    "request_logs": _files,
    "names": _files,
    "decode_as": _pairs(int, str),
    "memory_bytes": _count_or_none,
    "jobs": _count,
    "unsafe_sql": _flag,
}
assert {*_OPTIONS} <= {field.name for field in fields(Options)}
