"""A session of Spark for questions, and questions asked on DuckDB as kanalyze does and on Spark."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from same_rows import Answer

from analyzer.base.settings import Settings
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
# For rows that the plan itself holds, in one partition: nothing is shuffled or broadcast, a question is one task. Of a question
# over a few rows tasks, and what they are told, take half the time: each scan of a file tells them all of Hadoop's settings.
IN_ONE_TASK = CONFIGURATION | {"spark.sql.shuffle.partitions": "1", "spark.sql.autoBroadcastJoinThreshold": "-1"}


def session(beside: SparkSession, in_one_task: bool = False) -> SparkSession:
    """A session with settings and views of its own in the Java of another one: starting that takes long."""
    spark = beside.newSession()
    for name, value in (IN_ONE_TASK if in_one_task else CONFIGURATION).items():
        spark.conf.set(name, value)
    return spark


def frame(spark: SparkSession, table: str, path: Path) -> DataFrame:
    """A final table out of its file or directory, as the session's questions want it."""
    schema = arrow_schema(table)
    if spark.conf.get("spark.sql.shuffle.partitions") != "1":
        # Without a schema each file is a job that looks for one.
        return spark.read.schema(ddl(schema)).parquet(str(path))
    rows = pq.read_table(path).select(schema.names).cast(schema)
    return spark.createDataFrame(rows).coalesce(1)


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
    """Table -> its file in a directory that a run or `made_rows.write` wrote, or its directory in one that an export wrote."""
    paths = {table: (directory / f"{table}.parquet", directory / table) for table in tables}
    return {table: path for table, places in paths.items() for path in places if path.exists()}
