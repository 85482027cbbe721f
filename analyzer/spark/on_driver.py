"""Metrics and findings of final tables: the local engine answers on the driver, from the files that Spark wrote.

Where `write` put the tables, in storage too, there they are read: of a dataset in storage the tables that a question needs are
copied when it is asked. Before that, and for tables that filters narrow, all files come to the driver once, to its directory
for temporary files.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base import temp_folders
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.base.tables import SQL_TYPES
from analyzer.query import metrics, run_findings
from analyzer.query.export import Rows
from analyzer.query.export_tables import manifest
from analyzer.query.exported import open_dataset
from analyzer.query.manifest import MANIFEST, PARQUET
from analyzer.spark.rows import FINAL, SPARK_TYPES, files, keep
from analyzer.spark.session import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from analyzer.query.dataset import Dataset
    from analyzer.query.incidents import Finding
    from analyzer.spark.final import Final

# Type of a column of an answer -> as Spark writes it.
TYPES = {sql: SPARK_TYPES[kind] for kind, sql in SQL_TYPES.items()} | {"DOUBLE": "double"}


class Answers:
    """Asks final tables of captures `inputs`, which it opens when the first question comes. One question at a time."""

    def __init__(self, spark: SparkSession, final: Final, inputs: Sequence[str], options: Options) -> None:
        self._spark = spark
        self._final = final
        self._inputs = list(inputs)
        self._options = options
        self._open = ExitStack()
        self._dataset: Dataset | None = None
        self._place: str | None = None
        self._asking = threading.Lock()

    def written(self, place: str) -> None:
        """The tables as they are, without filters, are a dataset at a place now."""
        self._place = place

    def metric(self, name: str, settings: Settings | None = None) -> DataFrame:
        """The rows of analyzer/query/metrics/<name>.sql, in its order. Raises KeyError for an unknown name, SparkError,
        DatasetError, and OSError for the driver's disk."""
        chosen = settings or Settings()
        sql = chosen.folded(metrics.text(name))
        with self._asking:
            dataset = self._asked()
            dataset.choose(chosen)
            described = Rows(dataset, sql)
            rows = [tuple(row.values()) for row in dataset.ask(sql)]
        columns = (f"`{name}` {TYPES[kind]}" for name, kind in zip(described.names, described.types, strict=True))
        with told():
            return self._spark.createDataFrame(rows, ", ".join(columns))

    def findings(self) -> list[Finding]:
        """What needs attention, the worst first. Raises as `metric`."""
        with self._asking:
            dataset = self._asked()
            dataset.choose(Settings())
            return run_findings.find(dataset)

    def close(self) -> None:
        """Closes the tables and removes what was copied."""
        self._open.close()

    def _asked(self) -> Dataset:
        if self._dataset is None:
            given = self._options
            found = open_dataset(
                self._place or self._copied(),
                filters=given.filters,
                memory_bytes=given.memory_bytes,
                temp_directory=given.temp_dir,
            )
            self._dataset = self._open.enter_context(found)
        return self._dataset

    def _copied(self) -> Path:
        """The files of all tables, in a directory of the driver. One partition after the other is in its memory."""
        folder = temp_folders.make(self._options.temp_dir)
        self._open.callback(temp_folders.remove, folder)
        with told():
            rows = self._final.frame.select("table", "task", "batch").toLocalIterator()
            for name, _, pieces in files((str(table), int(task), bytes(batch)) for table, task, batch in rows):
                path = folder / name.removeprefix(FINAL)
                path.parent.mkdir(parents=True, exist_ok=True)
                keep(pieces, path)
        (folder / MANIFEST).write_text(manifest(self._inputs, PARQUET, self._final.files))
        return folder
