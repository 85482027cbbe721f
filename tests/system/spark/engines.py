"""A session of Spark for questions, and tables read by DuckDB as kanalyze does and by Spark."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from same_rows import Answer

from analyzer.base.tables import TABLES, arrow_schema
from analyzer.query.dataset import Dataset
from analyzer.query.export import Rows
from analyzer.spark.rows import ddl
from analyzer.spark.views import Views

# Of a session, not of its Java: see run_job.py for that.
CONFIGURATION = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    # Compiling code for each question takes longer than answering it from a few thousand rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def session(beside: SparkSession) -> SparkSession:
    """A session with settings and views of its own in the Java of another one: starting that takes long."""
    spark = beside.newSession()
    for name, value in CONFIGURATION.items():
        spark.conf.set(name, value)
    return spark


def frame(spark: SparkSession, table: str, path: Path) -> DataFrame:
    """A final table out of its file or directory. Without a schema each file is a job that looks for one."""
    return spark.read.schema(ddl(arrow_schema(table))).parquet(str(path))


def on_duckdb(dataset: Dataset, table: str) -> Answer:
    """The rows of a table as kanalyze's own engine reads it."""
    question = f"SELECT * FROM {table}"
    described = Rows(dataset, question)
    rows = dataset.query(question)
    return Answer(described.names, described.types, [tuple(row.values()) for row in rows])


def on_spark(views: Views, table: str) -> Answer:
    """What Spark says, asked in its SQL."""
    found = views.sql(f"SELECT * FROM {table}")
    return Answer(found.columns, [kind for _, kind in found.dtypes], [tuple(row) for row in found.collect()])


def files(directory: Path, tables: Iterable[str] = TABLES) -> dict[str, Path]:
    """Table -> its file in a directory that a run or `made_rows.write` wrote, or its directory in one that an export wrote."""
    paths = {table: (directory / f"{table}.parquet", directory / table) for table in tables}
    return {table: path for table, places in paths.items() for path in places if path.exists()}
