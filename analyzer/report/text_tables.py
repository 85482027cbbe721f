"""Tables and lines of text that fit a width, whatever the cells hold. Cells are made safe before they come here.

A table that is too wide first loses columns that can be spared, and says which; then text goes on in a second line of its
column. Numbers are never cut, and names only beyond some hundred letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

INDENT = "  "
HEADING, DIM = "bold", "dim"
# Signs behind which a name may be broken into two lines.
JOINTS = "-_./:,@"
_CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")
# Where the next part of a name ends.
_PART = re.compile(f"[ {re.escape(JOINTS)}]|{_CAPITAL.pattern}")
MOST_PIECES = 12
# A name of at most so many cells is broken only when nothing else helps.
UNBROKEN = 26
# Where a line may be broken: not between a number and its unit.
_UNITS = "ns|µs|ms|s|min|h|d|%|[kMGTPE]?B|[kMGT]?bit|times?"
_BREAK = re.compile(rf"(?<!\d) | (?!(?:{_UNITS})(?:[^\w]|$))")
# Between what notes say of one column and of the next.
_NOTE = re.compile(r"(?<=[.;]) (?=[a-z0-9 ]+:)")
# Up to the next space outside quotes, as `shlex.quote` sets them.
_ARGUMENT = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")


@dataclass(frozen=True, slots=True)
class Column:
    """`least` > 0: text that may be broken into lines of so many cells; `spare` > 0: may be left out, the highest number
    first.
    """

    title: str
    right: bool = False
    least: int = 0
    spare: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a line; a `note` takes the place of the columns that have no cell."""

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
    words = [
        max((cell_len(word) for row in rows if at < len(row.cells) for word in row.cells[at].split()), default=0)
        for at in range(len(columns))
    ]
    kept, widths, gap = _fit(columns, natural, words, width - len(INDENT))
    lines = _lines(columns, kept, widths, gap, Row([column.title for column in columns], DIM), width)
    for row in rows:
        lines += _lines(columns, kept, widths, gap, row, width)
    left_out = [column.title for at, column in enumerate(columns) if at not in kept]
    return lines + (remarks(f"Columns left out for width: {', '.join(left_out)}.", width) if left_out else [])


def table_of_filled(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[Text]:
    """A table without those columns that can be spared and in which no row says anything."""
    kept = [
        at
        for at, column in enumerate(columns)
        if not column.spare or any(at < len(row.cells) and row.cells[at] not in ("", "-") for row in rows)
    ]
    narrowed = [Row([row.cells[at] for at in kept if at < len(row.cells)], row.style, row.note) for row in rows]
    return table([columns[at] for at in kept], narrowed, width)


def _fit(
    columns: Sequence[Column], natural: list[int], words: list[int], width: int
) -> tuple[list[int], list[int], int]:
    """Which columns stay (by place), how wide each is, and the gap between them. A column makes room for names in others, while
    one is left that can be spared; only then names are broken."""
    least = [min(wide, column.least or wide) for wide, column in zip(natural, columns, strict=True)]
    whole = [max(narrow, min(word, UNBROKEN)) for narrow, word in zip(least, words, strict=True)]
    kept = list(range(len(columns)))
    gap = 2
    while sum(whole[at] for at in kept) + gap * (len(kept) - 1) > width:
        spare = max(kept, key=lambda at: columns[at].spare)
        if columns[spare].spare:
            kept.remove(spare)
        elif gap > 1:
            gap = 1
        else:
            whole = _mostly_whole(least, whole, width - gap * (len(kept) - 1), kept)
            break
    room = width - gap * (len(kept) - 1) - sum(whole[at] for at in kept)
    return kept, _shared([whole[at] for at in kept], [natural[at] for at in kept], room), gap


def _mostly_whole(least: list[int], whole: list[int], width: int, kept: Sequence[int]) -> list[int]:
    """Widths where not all names fit: those columns get room for their whole names that need the least for it."""
    widths, room = list(least), width - sum(least[at] for at in kept)
    for at in sorted(kept, key=lambda at: whole[at] - least[at]):
        if (more := whole[at] - least[at]) <= room:
            widths[at] += more
            room -= more
    return widths


def _shared(least: list[int], natural: list[int], room: int) -> list[int]:
    """Widths from `least` up to `natural`: columns that want more share the room evenly."""
    widths = list(least)
    while room > 0 and (hungry := [at for at, wide in enumerate(widths) if wide < natural[at]]):
        portion = max(room // len(hungry), 1)
        for at in hungry[:room]:
            more = min(portion, natural[at] - widths[at])
            widths[at] += more
            room -= more
    return widths


def _lines(columns: Sequence[Column], kept: list[int], widths: list[int], gap: int, row: Row, width: int) -> list[Text]:
    """The lines of one row: text that is wider than its column goes on below."""
    cells = [
        (columns[at], wide, broken(row.cells[at], wide))
        for at, wide in zip(kept, widths, strict=True)
        if at < len(row.cells)
    ]
    lines = []
    for number in range(max([1, *(len(pieces) for _, _, pieces in cells)])):
        parts = []
        for column, wide, pieces in cells:
            text = pieces[number] if number < len(pieces) else ""
            padding = " " * (wide - cell_len(text))
            parts.append(padding + text if column.right else text + padding)
        if row.note and number == 0:
            parts.append(row.note)
        lines.append(Text(cut((INDENT + (" " * gap).join(parts)).rstrip(), width), style=row.style))
    return lines


def broken(text: str, width: int) -> list[str]:
    """Text in pieces of at most `width` cells: between words, also where that leaves little, before a name that fits a line of its
    own; behind a sign that joins parts of a name or before the capital letter of a part, where that leaves more than half a line
    or the next part fits a line; else anywhere. What is left of MOST_PIECES is cut."""
    pieces: list[str] = []
    while cell_len(text) > width > 0 and len(pieces) < MOST_PIECES - 1:
        end = len(set_cell_size(text, width).rstrip())
        space, joint = text.rfind(" ", 0, end + 1), max(text.rfind(sign, 0, end) + 1 for sign in JOINTS)
        joint = max([joint, *(part.start() for part in _CAPITAL.finditer(text, 0, end + 1))])
        name = text[space + 1 :].partition(" ")[0]
        whole = space > 0 and cell_len(name) <= width
        joins = 2 * joint > end or (joint > 0 and cell_len(_PART.split(text[joint:], maxsplit=1)[0]) < width)
        at = space if whole or 2 * space > end else joint if joins else max(end, 1)
        pieces.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*pieces, cut(text, width)]


def flow(parts: Iterable[str], width: int, separator: str = "   ", style: str = "") -> list[Text]:
    """Pieces one after another, a new line where the next one does not fit; a piece alone that is too wide is
    wrapped. What a separator begins with, such as a comma, stays at the end of a line.
    """
    lines: list[str] = []
    end = separator.rstrip()
    for part in parts:
        if lines and cell_len(lines[-1]) + len(separator) + cell_len(part) + len(end) <= width:
            lines[-1] += separator + part
        else:
            lines[-1:] = [line + end for line in lines[-1:]]
            lines += wrap(part, width)
    return [Text(line, style=style) for line in lines]


def wrap(text: str, width: int) -> list[str]:
    """Text broken between words, but never between a number and its unit; a word wider than a line goes on below, as far as
    MOST_PIECES.
    """
    lines = [""]
    for word in _BREAK.split(text):
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(word) > width:
            lines += _pieces(word, width)
        elif lines[-1]:
            lines[-1] += f" {word}"
        else:
            lines[-1:] = _pieces(word, width)
    return lines


def _pieces(word: str, width: int) -> list[str]:
    """A word as lines; a letter that is wider than a line is cut."""
    return [cut(piece, width) for piece in broken(word, width)]


def heading(text: str, width: int) -> Text:
    """The title of a section."""
    return Text(cut(text, width), style=HEADING)


def remarks(text: str, width: int) -> list[Text]:
    """Small print below a table; no line where there is no text."""
    if not text:
        return []
    return [Text(INDENT + line, style=DIM) for line in wrap(text, width - len(INDENT))]


def of_shown(notes: str, columns: Sequence[Column], shown: Sequence[Text]) -> str:
    """Notes ("queue: of the latency. p99: of these.") without what they say of columns that are not in the header of a table."""
    header, titles = f" {shown[0].plain} ", {column.title for column in columns}
    absent = {title for title in titles if not any(f" {line} " in header for line in _first_lines(title, titles))}
    kept = " ".join(each for each in _NOTE.split(notes) if each.partition(":")[0] not in absent)
    return f"{kept[:-1]}." if kept.endswith(";") else kept


def _first_lines(title: str, titles: set[str]) -> Iterator[str]:
    """What the first line of a header may have of a title: all of it, or where it is broken some words that are no other title."""
    words = title.split()
    lines = (" ".join(words[:count]) for count in range(1, len(words) + 1))
    return (line for line in lines if line == title or line not in titles)


def titled(
    title: str, columns: Sequence[Column], shown: Sequence[Row], total: int, command: str, width: int
) -> list[Text]:
    """The first rows of `total` under a title, and the `command` that shows the others, if any."""
    lines = [heading(title, width), *table_of_filled(columns, shown, width)]
    return lines + more(total - len(shown), command, width)


def more(hidden: int, command: str, width: int) -> list[Text]:
    """The lines under a table that was cut; nothing when nothing is hidden."""
    return suggestion(f"... and {hidden:,} more", command, width) if hidden > 0 else []


def suggestion(text: str, command: str, width: int) -> list[Text]:
    """Small print, and in parentheses the command that tells more, on lines of its own where there is no room."""
    line = f"{INDENT}{text} ({command})"
    if cell_len(line) <= width:
        return [Text(line, style=DIM)]
    return [
        *remarks(f"{text}:", width),
        *(Text(INDENT + part, style=DIM) for part in typed(command, width - len(INDENT))),
    ]


def typed(command: str, width: int) -> list[str]:
    """A command line in lines that a shell takes as one. An argument is never broken, however long."""
    lines = [""]
    for word in _ARGUMENT.findall(command):
        if lines[-1] and cell_len(lines[-1]) + 3 + cell_len(word) > width:
            lines[-1] += " \\"
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines
