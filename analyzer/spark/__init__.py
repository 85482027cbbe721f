"""kanalyze on Spark: the plan and the stages of a run on this machine, spread over executors.

from analyzer.spark import get_session, tables

spark = get_session()
with tables(spark, "s3://captures/2026-05-01/") as found:
    found["exchanges"].groupBy("api_name").count().show()
    found.latency(by=("client_id", "api_name")).show()
    found.metric("latency").show()
    found.findings()

- On Spark (`analyzer/spark`) executors do that. A step gives files as rows of (table, task, piece of its bytes),
  which are kept on executors' disks, so that no step is computed twice and nothing between two processes decodes a
  row. Final tables are such files too: `write` stores them as they are, and so they come to the driver, whose DuckDB answers
  metrics and findings (`on_driver.py`). Spark adds up latency, throttling and errors by any key (`statistics.py`).
  Outcomes of runs are encrypted with a key of the run: they may hold TLS secrets.
"""

from __future__ import annotations

from analyzer.spark.adding import add
from analyzer.spark.job import Tables, tables
from analyzer.spark.session import SparkError, get_session
from analyzer.spark.sink import write

__all__ = ["SparkError", "Tables", "add", "get_session", "tables", "write"]
