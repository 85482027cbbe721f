"""The tables of a dataset, asked on DuckDB as kanalyze does, and on Spark SQL."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from same_rows import Answer

from analyzer import kinds, metrics
from analyzer.dataset import Dataset
from analyzer.export import Rows
from analyzer.settings import Settings
from analyzer.tables import TABLES

SPARK_TYPES = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "string": "STRING",
    "bool": "BOOLEAN",
}
TIME_RANGE = "SELECT min(first_time_ns) AS first_time_ns, max(last_time_ns) AS last_time_ns FROM all_captures"
CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    # What takes time is the start of everything: neither the optimising compiler nor a collector with threads pays here.
    # With that compiler alone Java keeps 48 MB for code, which some hundred plans fill: compiling would stop for good.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    # Compiling code for each question takes longer than answering it from a few thousand rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def session(scratch: Path) -> SparkSession:
    """A Spark of its own on this machine, which nobody else can reach; what it writes goes to `scratch`."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(scratch)}
    builder = SparkSession.builder.master("local[2]").appName("kanalyze tests")
    for name, value in (CONFIGURATION | {"spark.sql.warehouse.dir": str(scratch / "warehouse")}).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    # What goes wrong is told with the question that it belongs to.
    spark.sparkContext.setLogLevel("OFF")
    logging.disable()
    return spark


def on_duckdb(dataset: Dataset, sql: str) -> Answer:
    """The answer of kanalyze's own engine, values of `settings` written into the question as `Dataset.metric` does."""
    question = dataset.settings.folded(sql)
    described = Rows(dataset, question)
    rows = dataset.query(question)
    return Answer(described.names, described.types, [tuple(row.values()) for row in rows])


class OnSpark:
    """Tables as temporary views under the names that a Dataset gives them. `tables`: name -> its Parquet file."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._empty = {table: spark.sql(_no_rows(table)) for table in TABLES}

    def load(self, tables: Mapping[str, Path]) -> None:
        """Replaces the tables; those that are not named are empty."""
        for table in TABLES:
            found = self._read(table, tables[table]) if table in tables else self._empty[table]
            for name in (table, f"all_{table}"):
                found.createOrReplaceTempView(name)
        self._view("time_range", TIME_RANGE)
        self._view("kinds", kinds.sql())
        self._shared: set[str] = set()
        self.choose(Settings())

    def choose(self, settings: Settings) -> None:
        """What questions from now on are given."""
        self._view("settings", settings.sql())
        self._shared -= {name for name in metrics.view_names() if metrics.is_given_settings(name)}

    def answer(self, sql: str) -> Answer:
        """What Spark says, with the shared views at hand that the question names."""
        for name in metrics.views_in(sql):
            if name not in self._shared:
                self._view(name, metrics.view(name), metrics.is_kept(name))
                self._shared.add(name)
        found = self._spark.sql(sql)
        return Answer(found.columns, [kind for _, kind in found.dtypes], [tuple(row) for row in found.collect()])

    def _view(self, name: str, sql: str, kept: bool = False) -> None:
        found = self._spark.sql(sql)
        (found.localCheckpoint() if kept else found).createOrReplaceTempView(name)

    def _read(self, table: str, path: Path) -> DataFrame:
        columns = ", ".join(f"`{column.name}` {SPARK_TYPES[column.type]}" for column in TABLES[table])
        return self._spark.read.schema(columns).parquet(str(path))


def files(directory: Path, tables: Iterable[str] = TABLES) -> dict[str, Path]:
    """Table -> its file in a directory that an export (or `made_rows.write`) wrote."""
    return {table: path for table in tables if (path := directory / f"{table}.parquet").is_file()}


def _no_rows(table: str) -> str:
    columns = ", ".join(f"CAST(NULL AS {SPARK_TYPES[column.type]}) AS `{column.name}`" for column in TABLES[table])
    return f"SELECT {columns} WHERE false"
