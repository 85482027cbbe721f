"""Tables and lines of text that fit a width, whatever the cells hold. Cells are made safe before they come here.

A table that is too wide first loses columns that can be spared, then its text columns are cut with an ellipsis; numbers
are never cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

INDENT = "  "
HEADING, DIM = "bold", "dim"


@dataclass(frozen=True, slots=True)
class Column:
    """`least` > 0: text that may be cut down to so many cells; `spare` > 0: may be left out, the highest number
    first.
    """

    title: str
    right: bool = False
    least: int = 0
    spare: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a line; a `note` stands where the columns would be that have no cell."""

    cells: Sequence[str]
    style: str = ""
    note: str = ""


def cut(text: str, width: int) -> str:
    """`text` in at most `width` cells."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)) + "…" if width > 0 else ""


def table(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[Text]:
    """The lines of a table, its header first, none wider than `width`."""
    natural = [
        max([cell_len(column.title), *(cell_len(row.cells[at]) for row in rows if at < len(row.cells))])
        for at, column in enumerate(columns)
    ]
    kept, widths, gap = _fit(columns, natural, width - len(INDENT))
    lines = [_line(columns, kept, widths, gap, Row([column.title for column in columns], DIM), width)]
    return lines + [_line(columns, kept, widths, gap, row, width) for row in rows]


def table_of_filled(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[Text]:
    """A table without those columns that can be spared and in which no row says anything."""
    kept = [
        at
        for at, column in enumerate(columns)
        if not column.spare or any(at < len(row.cells) and row.cells[at] not in ("", "-") for row in rows)
    ]
    narrowed = [Row([row.cells[at] for at in kept if at < len(row.cells)], row.style, row.note) for row in rows]
    return table([columns[at] for at in kept], narrowed, width)


def _fit(columns: Sequence[Column], natural: list[int], width: int) -> tuple[list[int], list[int], int]:
    """Which columns stay (by place), how wide each is, and the gap between them."""
    least = [min(wide, column.least or wide) for wide, column in zip(natural, columns, strict=True)]
    kept = list(range(len(columns)))
    gap = 2
    while sum(least[at] for at in kept) + gap * (len(kept) - 1) > width:
        spare = max(kept, key=lambda at: columns[at].spare)
        if columns[spare].spare:
            kept.remove(spare)
        elif gap > 1:
            gap = 1
        else:
            break
    room = width - gap * (len(kept) - 1) - sum(least[at] for at in kept)
    return kept, _shared([least[at] for at in kept], [natural[at] for at in kept], room), gap


def _shared(least: list[int], natural: list[int], room: int) -> list[int]:
    """Widths from `least` up to `natural`: room goes to all that want it alike, so that none starves."""
    widths = list(least)
    while room > 0 and (hungry := [at for at, wide in enumerate(widths) if wide < natural[at]]):
        portion = max(room // len(hungry), 1)
        for at in hungry[:room]:
            more = min(portion, natural[at] - widths[at])
            widths[at] += more
            room -= more
    return widths


def _line(columns: Sequence[Column], kept: list[int], widths: list[int], gap: int, row: Row, width: int) -> Text:
    parts = []
    for at, wide in zip(kept, widths, strict=True):
        if at < len(row.cells):
            text = cut(row.cells[at], wide)
            padding = " " * (wide - cell_len(text))
            parts.append(padding + text if columns[at].right else text + padding)
    if row.note:
        parts.append(row.note)
    return Text(cut((INDENT + (" " * gap).join(parts)).rstrip(), width), style=row.style)


def flow(parts: Iterable[str], width: int, separator: str = "   ", style: str = "") -> list[Text]:
    """Pieces one after another, a new line where the next one does not fit; a piece alone that is too wide is
    wrapped.
    """
    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1]) + len(separator) + cell_len(part) <= width:
            lines[-1] += separator + part
        else:
            lines += wrap(part, width)
    return [Text(line, style=style) for line in lines]


def wrap(text: str, width: int) -> list[str]:
    """Text broken between words; a word wider than a line is cut."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(word) > width:
            lines.append(cut(word, width))
        else:
            lines[-1] = cut(f"{lines[-1]} {word}" if lines[-1] else word, width)
    return lines


def heading(text: str, width: int) -> Text:
    """The title of a section."""
    return Text(cut(text, width), style=HEADING)


def remarks(text: str, width: int) -> list[Text]:
    """Small print below a table."""
    return [Text(INDENT + line, style=DIM) for line in wrap(text, width - len(INDENT))]


def more(hidden: int, command: str, width: int) -> list[Text]:
    """The line under a table that was cut; nothing when nothing is hidden."""
    return [Text(cut(f"{INDENT}... and {hidden:,} more ({command})", width), style=DIM)] if hidden > 0 else []
