"""kanalyze on Spark: the plan, the stages and the SQL of a run on this machine, spread over executors.

from analyzer.spark import get_session, tables

spark = get_session()
with tables(spark, "s3://captures/2026-05-01/") as found:
    found.exchanges.groupBy("api_name").count().show()
    found.metric("latency").show()
    found.findings()
"""

from __future__ import annotations

from analyzer.spark.job import Tables, tables
from analyzer.spark.session import SparkError, get_session
from analyzer.spark.sink import write
from analyzer.spark.task_reader import add

__all__ = ["SparkError", "Tables", "add", "get_session", "tables", "write"]
