"""kanalyze on Spark: the plan, the stages and the SQL of a run on this machine, spread over executors.

from analyzer.spark import get_session, tables

spark = get_session()
with tables(spark, "s3://captures/2026-05-01/") as found:
    found.exchanges.groupBy("api_name").count().show()
    found.metric("latency").show()
    found.findings()

- On Spark (`analyzer/spark`) executors do that. A step gives files as rows of (table, task, piece of its bytes),
  which are kept on executors' disks, so that no step is computed twice and nothing between two processes decodes a
  row. Final tables are such files too: `write` stores them as they are. Spark SQL is for questions over final tables.
  Outcomes of runs are encrypted with a key of the run: they may hold TLS secrets.
"""

from __future__ import annotations

from analyzer.spark.job import Tables, tables
from analyzer.spark.session import SparkError, get_session
from analyzer.spark.sink import write
from analyzer.spark.task_reader import add

__all__ = ["SparkError", "Tables", "add", "get_session", "tables", "write"]
