"""Rows as an aligned table: cut to the terminal's width, never cut on a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.base.text import exchange_id, printable, shown_name
from analyzer.cli.outcome import say
from analyzer.cli.screen import screen

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.query.export import Rows
    from analyzer.report.text_tables import Column

# As many rows as a person may scroll through; more are for the other formats.
TABLE_ROWS = 1000
# Cells that text may be cut down to on a terminal, and the width of a pipe.
_LEAST = 8
_NO_END = 100_000


def print_result(rows: Rows, limit: int) -> None:
    """Prints up to `limit` rows (0: all) under the names of their columns, and says on stderr when there are more."""
    from analyzer.report.text_tables import Column

    keys = rows.keys()
    found = rows.batches(limit=limit + 1 if limit else 0).read_all().columns
    fetched = list(zip(*(_values(column) for column in found), strict=True))
    shown = fetched[:limit] if limit else fetched
    numeric = [not key and all(isinstance(row[i], int | float | None) for row in shown) for i, key in enumerate(keys)]
    cells = [[cell(value, key) for value, key in zip(row, keys, strict=True)] for row in shown]
    columns = [
        Column(printable(name), right=is_number, least=0 if is_number or key else _LEAST)
        for name, is_number, key in zip(rows.names, numeric, keys, strict=True)
    ]
    print_table(columns, cells)
    say_when_cut(len(fetched), limit)


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Python has no times of nanoseconds: those are texts."""
    return (column.cast("string") if getattr(column.type, "unit", None) == "ns" else column).to_pylist()


def say_when_cut(found: int, limit: int) -> None:
    """Says that rows were left out, when more than `limit` were found."""
    if limit and found > limit:
        say(f"only the first {limit:,} rows are shown; --limit 0 shows all, --format csv or jsonl streams them")


def cell(value: Any, key: bool = False) -> str:
    """A value as a table shows it: nothing for null, 16 hex digits for a key."""
    if value is None:
        return ""
    if key:
        return exchange_id(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return shown_name(value) if isinstance(value, str) else printable(str(value))


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Prints cells in columns. A terminal gets what fits it; a pipe gets whole cells, for whoever searches in them."""
    from rich.text import Text

    from analyzer.report.text_tables import Row, table

    with screen(None if sys.stdout.isatty() else _NO_END) as console:
        lines = table(columns, [Row(cells) for cells in rows], console.width)
        console.print(Text("\n").join(lines), soft_wrap=True, highlight=False, markup=False, emoji=False)
