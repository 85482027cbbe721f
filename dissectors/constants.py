"""Tables of constants: what compiled stages were built with is held against what Python reads.

A stage that was compiled before a column was added would take columns by their old numbers, and every answer would be wrong in
silence. So each compiled stage carries a digest of its tables, and compares it when it is imported.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module


class StaleStages(ImportError):
    """Compiled stages that do not fit the source beside them; the text is a line for a person."""


def constants(table: str) -> dict[str, int]:
    """The upper-case integers of a module of constants, which imports nothing of the project."""
    names = vars(import_module(table))
    return {name: value for name, value in names.items() if name.isupper() and isinstance(value, int)}


def digest(tables: Sequence[str]) -> int:
    """A checksum of the names and values in these modules, 32 bits; 0 of none."""
    found = 0
    for table in tables:
        found = zlib.crc32(_text(table), found)
    return found


@cache
def _text(table: str) -> bytes:
    return repr(sorted(constants(table).items())).encode()


def check(stage: str, tables: Sequence[str], built_with: int) -> None:
    """Raises StaleStages when `stage` was compiled with other constants than these tables have now. Stages that run as plain
    Python are never stale."""
    if digest(tables) != built_with:
        raise StaleStages(
            f"the compiled stage {stage} is older than the constants that it shares with the source: build or install again "
            "(make .venv/.compiled), or set KANALYZE_UNCOMPILED=1"
        )
