"""Reads all files of a table with one library of Python: `read_tables.py READER < files.json > answer.json`.

`files.json`: table -> paths. Answer: table -> column -> [rows, values that are not null, sum of integers or null]. Runs in an
environment that has the reader, and nothing of kanalyze.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Answer = dict[str, list[Any]]


def of_table(table: Any) -> Answer:
    """Of an Arrow table. A sum of keys is beyond int64, so halves of them are added."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def total(column: Any) -> int | None:
        if not pa.types.is_integer(column.type):
            return None
        whole = column.cast(pa.int64())
        low, high = pc.bit_wise_and(whole, 0xFFFF), pc.shift_right(whole, 16)
        return (pc.sum(low).as_py() or 0) + ((pc.sum(high).as_py() or 0) << 16)

    columns = {name: table.column(name) for name in table.column_names}
    return {name: [len(each), len(each) - each.null_count, total(each)] for name, each in columns.items()}


def pyarrow(paths: list[str]) -> Answer:
    return of_table(import_module("pyarrow.dataset").dataset(paths, format="parquet").to_table())


def polars(paths: list[str]) -> Answer:
    return of_table(import_module("polars").scan_parquet(paths, hive_partitioning=False).collect().to_arrow())


def daft(paths: list[str]) -> Answer:
    return of_table(import_module("daft").read_parquet(paths).to_arrow())


def datafusion(paths: list[str]) -> Answer:
    import pyarrow as pa

    frames = [import_module("datafusion").SessionContext().read_parquet(path) for path in paths]
    return of_table(pa.concat_tables([pa.Table.from_batches(each.collect(), each.schema()) for each in frames]))


def pyiceberg(paths: list[str]) -> Answer:
    """The files become those of a table as they are."""
    import pyarrow.parquet as pq

    with TemporaryDirectory() as folder:
        catalog = import_module("pyiceberg.catalog").load_catalog(
            "lake", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}"
        )
        catalog.create_namespace("kafka")
        table = catalog.create_table("kafka.rows", pq.read_schema(paths[0]))
        table.add_files(paths)
        return of_table(table.scan().to_arrow())


def deltalake(paths: list[str]) -> Answer:
    """The files become those of a table as they are, with the days of their directories as partitions."""
    import pyarrow as pa

    library = import_module("deltalake")
    with TemporaryDirectory() as folder:
        days = ["date="] if any("/date=" in path for path in paths) else []
        for path in paths:
            to = Path(folder, *Path(path).parts[-2 if days else -1 :])
            to.parent.mkdir(exist_ok=True)
            to.symlink_to(path)
        by = library.Schema([library.Field("date", "date")])
        given = {"partition_by": by, "partition_strategy": "hive"} if days else {}
        library.convert_to_deltalake(folder, **given)
        asked = library.QueryBuilder().register("rows_of_table", library.DeltaTable(folder))
        return of_table(pa.table(asked.execute("select * from rows_of_table").read_all()))


def pandas(paths: list[str]) -> Answer:
    return _of_frames([import_module("pandas").read_parquet(path) for path in paths])


def pandas_of_arrow(paths: list[str]) -> Answer:
    return _of_frames([import_module("pandas").read_parquet(path, dtype_backend="pyarrow") for path in paths])


def fastparquet(paths: list[str]) -> Answer:
    return _of_frames([import_module("fastparquet").ParquetFile(path).to_pandas() for path in paths])


def _of_frames(frames: list[Any]) -> Answer:
    """Of pandas, which may have made doubles of integers."""
    whole = import_module("pandas").concat(frames)

    def total(column: Any) -> int | None:
        is_number = column.dtype.kind in "iuf" or str(column.dtype).startswith("int")
        return sum(int(value) for value in column.dropna()) if is_number else None

    return {name: [len(whole), int(whole[name].notna().sum()), total(whole[name])] for name in whole.columns}


def duckdb(paths: list[str]) -> Answer:
    ask = import_module("duckdb").connect().execute
    source = f"read_parquet({paths!r}, hive_partitioning = false)"
    columns = [
        (name, kind.endswith("INT") or kind == "INTEGER")
        for name, kind, *_ in ask(f"describe from {source}").fetchall()
    ]
    return _asked(lambda text: ask(text).fetchone(), source, columns, "cast(sum(cast({} as hugeint)) as varchar)", '"')


def chdb(paths: list[str]) -> Answer:
    """ClickHouse inside a process; all files of a table as one, by a pattern."""

    def rows(text: str) -> list[list[Any]]:
        answer = str(import_module("chdb").query(text, "JSONCompactEachRow"))
        return [json.loads(line) for line in answer.splitlines()]

    source = f"file('{{{','.join(path.removeprefix('/') for path in paths)}}}', 'Parquet')"
    source = source.replace("file('{", "file('/{") if len(paths) > 1 else f"file('{paths[0]}', 'Parquet')"
    columns = [(row[0], "Int" in row[1]) for row in rows(f"describe {source}")]
    return _asked(lambda text: rows(text)[0], source, columns, "toString(sum(toInt256({})))")


def pyspark(paths: list[str]) -> Answer:
    session = import_module("pyspark.sql").SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = session.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(*paths)
    frame.createOrReplaceTempView("rows_of_table")
    columns = [(name, kind in ("bigint", "int", "smallint", "tinyint")) for name, kind in frame.dtypes]
    return _asked(
        lambda text: spark.sql(text).first(),
        "rows_of_table",
        columns,
        "cast(sum(cast({} as decimal(38, 0))) as string)",
    )


def _asked(
    ask: Callable[[str], Sequence[Any]], source: str, columns: list[tuple[str, bool]], total: str, quote: str = "`"
) -> Answer:
    """By one SELECT with two values for each column; `columns`: name, and whether it holds integers; `total`: SQL of the sum of a
    column as text."""
    parts = ["count(*)"]
    for name, is_integer in columns:
        column = f"{quote}{name}{quote}"
        parts += [f"count({column})", total.format(column) if is_integer else "null"]
    rows, *values = ask(f"select {', '.join(parts)} from {source}")
    sums = [None if value is None else int(value) for value in values[1::2]]
    return {each[0]: [int(rows), int(n), whole] for each, n, whole in zip(columns, values[::2], sums, strict=True)}


if __name__ == "__main__":
    read = globals()[sys.argv[1]]
    print(json.dumps({table: read(paths) for table, paths in json.load(sys.stdin).items()}))
