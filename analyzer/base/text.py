"""Text from captures, made safe for terminals, JSON and CSV; names of files and ids of exchanges as text."""

from __future__ import annotations

import json
import re
from typing import Any

# C0 and C1 controls, the marks that turn the direction of writing, line separators, and halves of surrogate pairs:
# what could move a cursor, hide a character, or fail to be written at all.
_BEYOND_ASCII = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_UNSAFE = re.compile(f"[\x00-\x1f{_BEYOND_ASCII}]")
_UNSAFE_IN_JSON = re.compile(f"[{_BEYOND_ASCII}]")
# What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection"), in full width too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Python's stand-ins for bytes of a file name that are not UTF-8 (PEP 383).
_BYTE = re.compile("[\udc80-\udcff]")
_ESCAPED_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")


def _escape(match: re.Match[str]) -> str:
    character = file_text(match.group())
    return (
        character
        if len(character) > 1
        else _SHORT.get(character)
        or (f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}")
    )


def printable(text: str) -> str:
    """`text` on one line, with every character that a terminal would act upon written as its escape."""
    return _UNSAFE.sub(_escape, text)


def file_text(name: str) -> str:
    """The name of a file as text that a table can hold: a byte that is not UTF-8 is written as `\\xff`."""
    return _BYTE.sub(lambda match: f"\\x{ord(match.group()) - 0xDC00:02x}", name)


def file_names(text: str) -> tuple[str, ...]:
    """The names of files that `file_text` writes so, the likelier one first."""
    escaped = _ESCAPED_BYTE.sub(lambda match: chr(0xDC00 + int(match.group(1), 16)), text)
    return (text,) if escaped == text else (text, escaped)


def escape_json(text: str) -> str:
    """Valid JSON text, the same value, without characters beyond ASCII's controls that a terminal would act upon.

    JSON itself escapes the controls below 0x20; the others may stand in a JSON string either way.
    """
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def json_text(value: Any, indent: int | None = None, dense: bool = False) -> str:
    """A value as JSON text that is safe on a terminal; `dense`: for programs alone, without spaces. NaN and infinities are a
    ValueError: JSON has none."""
    separators = (",", ":") if dense else None
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators))


def csv_cell(text: str) -> str:
    """Text for a CSV cell: control characters as escapes, an apostrophe before what could begin a formula."""
    return ("'" if text.startswith(_FORMULA) else "") + printable(text)


def exchange_id(number: int) -> str:
    """The id as `kanalyze show` takes it."""
    return f"{number:016x}"
