"""Field lines of a definition as people read them: in columns (name, type, versions, meaning, comment)."""

from __future__ import annotations

import re
from typing import NamedTuple

# Columns of a line, where its comment allows it.
WIDTH = 120
_SPAN = re.compile(r"\d+(-\d+|\+)?")


class Cells(NamedTuple):
    """The columns of one field line; `name` with its indent, `meaning` is tag, roles and default."""

    name: str
    type: str
    versions: str
    meaning: str
    comment: str


def cells_of(line: str) -> Cells:
    """A field line, cut into its columns."""
    code, mark, comment = line.partition("#")
    name, kind, *rest = code.split()
    versions = rest.pop(0) if rest and _SPAN.fullmatch(rest[0]) else ""
    indent = " " * (len(code) - len(code.lstrip(" ")))
    return Cells(indent + name, kind, versions, " ".join(rest), "# " + comment.strip() if mark else "")


def aligned_block(rows: list[Cells]) -> list[str]:
    """The lines of one direction; a column that no line uses takes no room."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:4]]
    codes = [
        "".join(f"{cell:{width}}  " for cell, width in zip(row[:4], widths, strict=True) if width).rstrip()
        for row in rows
    ]
    pairs = [(code, row.comment) for code, row in zip(codes, rows, strict=True)]
    place = max((len(code) for code, comment in pairs if comment), default=0) + 2
    # One line with much to say does not push the comments of the others out of sight.
    place = min(place, WIDTH - max((len(comment) for _, comment in pairs), default=0))
    return [(f"{code:{place - 2}}  {comment}" if comment else code) for code, comment in pairs]
