"""Adds days of captures to a dataset, and merges it after each into tables of Iceberg and Delta, by the code of the guide.

merge_days.py RECIPE FOLDER PACKAGES CAPTURE...     The dataset is FOLDER/kafka.

Prints, for each table, its rows after each day as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from analyzer.base.options import Options
from analyzer.run import additions

TABLES = {"iceberg": "lake.kafka.exchanges", "delta": "kafka.exchanges"}
COLUMNS = ("exchange", "status", "latency_ns")


def session(folder: Path, packages: str) -> SparkSession:
    """One session with both."""
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.jars.packages": packages,
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,"
        "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "iceberg"),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(folder / "delta"),
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(recipe: str, folder: Path, packages: str, captures: list[str]) -> None:
    """The recipe runs twice behind the last day, as a job does that is tried again."""
    spark = session(folder, packages)
    spark.sql("CREATE DATABASE kafka")
    given: dict[str, Any] = {"__name__": "recipe"}
    exec(Path(recipe).read_text(), given)
    given["LAKE"] = str(folder / "kafka")
    found: dict[str, list[Any]] = {name: [] for name in TABLES}
    for capture in captures:
        additions.add([capture], given["LAKE"], Options(jobs=1))
        for given["FORMAT"], given["TABLE"] in TABLES.items():
            for _ in range(1 + (capture == captures[-1])):
                given["merge"](spark)
            rows = spark.table(given["TABLE"]).select(*COLUMNS).collect()
            found[given["FORMAT"]].append(sorted(map(list, rows), key=repr))
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
