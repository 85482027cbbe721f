"""Text from captures, made safe for terminals, JSON and CSV; names of files and ids of exchanges as text."""

from __future__ import annotations

import json
import re
from typing import Any

# Characters that nobody sees, or that look like a space: Unicode's Default_Ignorable_Code_Point, spaces but U+0020, and the blank
# of Braille. Two names that differ in them alone would look alike.
UNSEEN = (
    *((0xA0, 0xA0), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x1680, 0x1680), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x2800, 0x2800), (0x3000, 0x3000)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
# Controls and halves of surrogate pairs: what could move a cursor or fail to be written at all. Marks that turn the direction of
# writing, and separators of lines, are among the characters above.
_BEYOND_ASCII = "\x7f-\x9f\ud800-\udfff" + "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSEEN)
_UNSAFE = re.compile(f"[\x00-\x1f{_BEYOND_ASCII}]")
_UNSAFE_IN_NAMES = re.compile(rf"\A | \Z|[\x00-\x1f\\{_BEYOND_ASCII}]")
_UNSAFE_IN_JSON = re.compile(f"[{_BEYOND_ASCII}]")
# What reads like an escape of ours.
LIKE_ESCAPE = r"\\(?:[\\nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_LIKE_ESCAPE = re.compile(LIKE_ESCAPE)
# What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection"), in full width too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
# Python's substitutes for bytes of a file name that are not UTF-8 (PEP 383).
_BYTE = re.compile("[\udc80-\udcff]")
_ESCAPED_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")


def _escape(match: re.Match[str]) -> str:
    character = file_text(match.group())
    if len(character) > 1:
        return character
    number = ord(character)
    return _SHORT.get(character) or (
        f"\\x{number:02x}" if number < 1 << 8 else f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"
    )


def printable(line: str) -> str:
    """A line of ours, with every character that nobody sees or a terminal would act upon written as its escape. Names in it may
    have been written by `shown_name` before."""
    return _UNSAFE.sub(_escape, line)


def shown_name(name: str) -> str:
    """A name that others chose, on one line: what `printable` escapes, a backslash, and a space at an end. So names that differ
    look different. Not to be applied twice."""
    return _UNSAFE_IN_NAMES.sub(_escape, name)


def file_text(name: str) -> str:
    """The name of a file as text that a table can hold: a byte that is not UTF-8 is written as `\\xff`."""
    return _BYTE.sub(lambda match: f"\\x{ord(match.group()) - 0xDC00:02x}", name)


def file_names(text: str) -> tuple[str, ...]:
    """The names of files that `file_text` writes so, the likelier one first."""
    escaped = _ESCAPED_BYTE.sub(lambda match: chr(0xDC00 + int(match.group(1), 16)), text)
    return (text,) if escaped == text else (text, escaped)


def escape_json(text: str) -> str:
    """Valid JSON text, the same value, without characters beyond ASCII's controls that nobody sees or a terminal would act upon.

    JSON itself escapes the controls below 0x20; the others may be in a JSON string either way.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE_IN_JSON.sub(
        lambda match: json.dumps(match.group())[1:-1] if match.group() != "\x7f" else "\\u007f", text
    )


def json_text(value: Any, indent: int | None = None, dense: bool = False) -> str:
    """A value as JSON text that is safe on a terminal; `dense`: for programs alone, without spaces. NaN and infinities are a
    ValueError: JSON has none."""
    separators = (",", ":") if dense else None
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators))


def csv_cell(text: str) -> str:
    """Text for a CSV cell: an apostrophe before what could begin a formula, controls and what nobody sees as escapes. A cell is
    as it was where nothing in it is, or reads like, an escape; in others backslashes are escaped, too."""
    is_plain = not _UNSAFE.search(text) and not _LIKE_ESCAPE.search(text)
    written = text if is_plain else _UNSAFE.sub(_escape, text.replace("\\", "\\\\"))
    return ("'" if text.startswith(_FORMULA) else "") + written


def exchange_id(number: int) -> str:
    """The id as `kanalyze show` takes it."""
    return f"{number:016x}"


def input_name(path: str) -> str:
    """What a person calls an input: that of a pipe is "standard input"."""
    return "standard input" if path == "-" else path
