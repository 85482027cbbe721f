"""Rows as an aligned table: cut to the terminal's width, never cut on a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.cli.outcome import say
from analyzer.cli.screen import screen
from analyzer.report.format import exchange_id
from analyzer.text import printable

if TYPE_CHECKING:
    from analyzer.export import Rows

# As many rows as a person may scroll through; more are for the other formats.
TABLE_ROWS = 1000


def print_result(rows: Rows, limit: int) -> None:
    """Prints up to `limit` rows (0: all) under the names of their columns, and says on stderr when there are more."""
    keys = rows.keys()
    columns = rows.batches(limit=limit + 1 if limit else 0).read_all().columns
    fetched = list(zip(*(column.to_pylist() for column in columns), strict=True))
    shown = fetched[:limit] if limit else fetched
    numeric = [not key and all(isinstance(row[i], int | float | None) for row in shown) for i, key in enumerate(keys)]
    cells = [[cell(value, key) for value, key in zip(row, keys, strict=True)] for row in shown]
    print_table(rows.names, cells, numeric)
    say_when_cut(len(fetched), limit)


def say_when_cut(found: int, limit: int) -> None:
    """Says that rows were left out, when more than `limit` were found."""
    if limit and found > limit:
        say(f"the first {limit:,} rows; --limit 0 shows all, --format csv or jsonl streams them")


def cell(value: Any, key: bool = False) -> str:
    """A value as a table shows it: nothing for null, 16 hex digits for a key."""
    if value is None:
        return ""
    if key:
        return exchange_id(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return printable(str(value))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    """Prints cells in columns, those marked `right` to the right; on a terminal long cells end in an ellipsis."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="bold")
    for name, is_right in zip(header, right, strict=True):
        table.add_column(
            Text(printable(name)), justify="right" if is_right else "left", no_wrap=True, overflow="ellipsis"
        )
    for row in rows:
        table.add_row(*(Text(text) for text in row))
    # A pipe gets whole cells: whoever reads it may search for them.
    with screen(None if sys.stdout.isatty() else 100_000) as console:
        console.print(table)
