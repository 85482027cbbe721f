"""Rows to stdout in the format that was asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from analyzer.cli.table import TABLE_ROWS, print_result
from analyzer.query.export import Rows, write

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset


def print_rows(dataset: Dataset, sql: str, form: str, limit: int | None = None) -> None:
    """Writes the rows of a SELECT of ours; see `write_rows`."""
    write_rows(Rows(dataset, sql), form, limit)


def write_rows(rows: Rows, form: str, limit: int | None = None) -> None:
    """Writes rows as table, json, jsonl, csv or parquet.

    `limit` 0 is no limit, None the format's own: 1,000 rows for a table, none for the others.
    """
    if form == "table":
        print_result(rows, TABLE_ROWS if limit is None else limit)
        return
    sys.stdout.flush()
    write(rows, form, sys.stdout.buffer, limit or 0)
    sys.stdout.buffer.flush()
