"""Reads every final table with both engines, as filters leave it, too; a line of JSON per table.

run_job.py runs it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from effort import LONG
from engines import files, frame, on_duckdb, on_spark, session
from made_rows import SECOND_NS, START_NS, write
from made_tables import Maker
from pyspark.sql import SparkSession
from same_rows import difference

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.query.export_tables import export
from analyzer.query.exported import open_dataset
from analyzer.run import local
from analyzer.spark.views import written_tables

# What people may type, and what either engine could take for more than text.
FILTERS = {
    "clients": Filters(clients=("CLIENT*_[0-1]", "*'\\${env:HOME}%_!*", "10.0.0.[2-9]:4?*")),
    "others": Filters(clients=("*[!1]",), topics=("topic_?", "ID_of_*", "*[a-c"), from_ns=START_NS + SECOND_NS),
    "brokers": Filters(brokers=("1", "10.0.1.0:9*"), apis=("1", "produc?", "[j-s]*"), to_ns=START_NS + 8 * SECOND_NS),
}
# A table of each sort that filters narrow: exchanges, what is of them, what is of their topics, and connections; and by which.
FILTERED = {
    "exchanges": tuple(FILTERS),
    "connections": tuple(FILTERS) if LONG else ("brokers",),
    "entries": tuple(FILTERS) if LONG else ("others",),
    "errors": tuple(FILTERS) if LONG else ("clients",),
    "transaction_events": tuple(FILTERS) if LONG else ("others",),
}


def read_both(beside: SparkSession, scratch: Path, answers: Path, captures: list[str]) -> None:
    """`scratch`: an empty directory; `answers`: the file of the answers."""
    with answers.open("w") as out:
        for report in (*_of_captures(session(beside), scratch, captures), *_of_made_rows(session(beside), scratch)):
            print(json.dumps(report), file=out)


def _of_captures(spark: SparkSession, scratch: Path, captures: list[str]) -> Iterator[dict[str, Any]]:
    with local.open_dataset(captures, Options(temp_dir=scratch)) as dataset:
        export(dataset, scratch / "exported", "parquet")
    yield from _read("captures", spark, scratch / "exported", TABLES)


def _of_made_rows(spark: SparkSession, scratch: Path) -> Iterator[dict[str, Any]]:
    """Rows with nulls everywhere, as filters leave them."""
    folder = scratch / "made"
    folder.mkdir()
    write(folder, Maker(seed=5).tables(exchanges=600, connections=40))
    for name, filters in FILTERS.items():
        narrowed = [table for table, by in FILTERED.items() if name in by]
        yield from _read(f"made, {name} filtered", spark, folder, narrowed, filters)


def _read(
    label: str, spark: SparkSession, folder: Path, tables: Iterable[str], filters: Filters | None = None
) -> Iterator[dict[str, Any]]:
    """Of each table how many rows it has, and what is not the same."""
    frames = {table: frame(spark, table, path) for table, path in files(folder).items()}
    views = written_tables(spark, frames, filters)
    with open_dataset(folder, filters=filters, threads=1) as dataset:
        for table in tables:
            expected = on_duckdb(dataset, table)
            told = difference(expected, on_spark(views, table))
            yield {"table": table, "of": label, "rows": len(expected.rows), "difference": told}
    views.close()
