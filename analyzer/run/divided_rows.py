"""Rows of final tables as the files of a dataset that grows: by day, those of open connections apart, with the sums of each day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.query.hours import beside, write_sums
from analyzer.query.partitions import Order, Partitioned, write_partitions
from analyzer.query.table_views import parquet
from analyzer.run import run_sql

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset

# The table of keys of connections that are not over: every run reads it.
OPEN_CONNECTIONS = "open_connections"


def open_rows(unsettled: Path) -> str:
    """SQL of the keys of connections that are not over. `unsettled`: as `open_connections.choose` writes it."""
    return f"SELECT connection FROM raw_framed_parts WHERE part IN (SELECT part FROM ({parquet([unsettled])}))"


def divided(
    dataset: Dataset, tables: Iterable[str], order: Order, threads: int | None = None
) -> list[tuple[str, Partitioned]]:
    """Writes the rows of some tables, and the sums of each day's exchanges by as many threads: (table or sums, file)."""
    found: list[tuple[str, Partitioned]] = []
    days: dict[str, dict[str, list[Partitioned]]] = {}
    for table in tables:
        for each in write_partitions(dataset, table, order):
            found.append((table, each))
            if table in ("exchanges", "entries"):
                of_day = days.setdefault(beside(each.file.file, "sums"), {"exchanges": [], "entries": []})
                of_day[table].append(each)
    for of_day in days.values():
        if exchanges := of_day["exchanges"]:
            names, entries = ([each.file.file for each in of_day[table]] for table in ("exchanges", "entries"))
            for name, rows in write_sums(names, order.folder, entries, threads).items():
                file = exchanges[0].file._replace(
                    file=beside(names[0], name), rows=rows, last_time_ns=exchanges[-1].file.last_time_ns
                )
                found.append((name, Partitioned(file, exchanges[0].is_open)))
    return found


def of_files(
    files: Mapping[str, Path], order: Order, options: Options, moments: str | None = None
) -> list[tuple[str, Partitioned]]:
    """The same of tables that are Parquet files, by one thread. `moments`: SQL of exchanges with the columns that tell when they
    were, where these are not among the files."""
    views = {table: parquet([path]) for table, path in files.items()}
    if moments:
        views["exchanges"] = moments
    order.folder.mkdir(exist_ok=True)
    with run_sql.opened(views, order.folder, options, ()) as dataset:
        return divided(dataset, files, order, threads=1)
