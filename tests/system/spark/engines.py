"""A session of Spark for tests, and questions asked on DuckDB as kanalyze does and on Spark."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession
from same_rows import Answer

from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES
from analyzer.query.dataset import Dataset
from analyzer.query.export import Rows
from analyzer.spark.views import Views

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


def on_duckdb(dataset: Dataset, sql: str, settings: Settings) -> Answer:
    """The answer of kanalyze's own engine, values of `settings` written into the question as `Dataset.metric` does."""
    if dataset.settings != settings:
        dataset.choose(settings)
    question = settings.folded(sql)
    described = Rows(dataset, question)
    rows = dataset.query(question)
    return Answer(described.names, described.types, [tuple(row.values()) for row in rows])


def on_spark(views: Views, sql: str, settings: Settings) -> Answer:
    """What Spark says."""
    found = views.sql(sql, settings)
    return Answer(found.columns, [kind for _, kind in found.dtypes], [tuple(row) for row in found.collect()])


def files(directory: Path, tables: Iterable[str] = TABLES) -> dict[str, Path]:
    """Table -> its file in a directory that an export, a run, or `made_rows.write` wrote."""
    return {table: path for table in tables if (path := directory / f"{table}.parquet").is_file()}
