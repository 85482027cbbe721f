"""Reads the moments of files of tables with one library: `read_moments.py READER < files.json > answer.json`, in an environment
that has it.

`files.json`: table -> [paths, names of its TIMESTAMP columns]. Answer: table -> column -> microseconds since the epoch, sorted;
then how many are null.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any


def pandas(paths: list[str], column: str) -> list[Any]:
    frames = [import_module("pandas").read_parquet(path) for path in paths]
    moments = import_module("pandas").concat(frame[column] for frame in frames)
    unix = import_module("pandas").Timestamp(0, tz="UTC")
    micro = import_module("pandas").Timedelta(microseconds=1)
    return [None if str(each) == "NaT" else (each - unix) // micro for each in moments]


def polars(paths: list[str], column: str) -> list[Any]:
    pl = import_module("polars")
    found: list[Any] = pl.read_parquet(paths, hive_partitioning=False)[column].dt.epoch("us").to_list()
    return found


def duckdb(paths: list[str], column: str) -> list[Any]:
    asked = f"select epoch_us({column}) from read_parquet({paths!r}, hive_partitioning = false)"
    return [row[0] for row in import_module("duckdb").connect().execute(asked).fetchall()]


def pyspark(paths: list[str], column: str) -> list[Any]:
    session = import_module("pyspark.sql").SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    frame = session.getOrCreate().read.parquet(*paths)
    assert dict(frame.dtypes)[column] == "timestamp", frame.dtypes
    return [row[0] for row in frame.selectExpr(f"unix_micros({column})").collect()]


def sorted_with_nulls(values: list[Any]) -> list[Any]:
    known = sorted(int(value) for value in values if value is not None)
    return [*known, len(values) - len(known)]


if __name__ == "__main__":
    read = globals()[sys.argv[1]]
    print(
        json.dumps({
            table: {column: sorted_with_nulls(read(paths, column)) for column in columns}
            for table, (paths, columns) in json.load(sys.stdin).items()
        })
    )  # fmt: skip
