"""Final tables as DataFrames, narrowed by filters in Spark SQL.

Each is a temporary view, made when something first reads it, under a name that clashes with nobody's: the session may be
shared. Only public calls that Spark Connect knows too.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from analyzer.base.filters import Filters
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.query.catalog import tables_read
from analyzer.query.table_views import entries_of
from analyzer.spark.rows import BATCH_ROWS, FINAL, SPARK_TYPES, conform, ddl, files, tuples
from analyzer.spark.session import told

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.spark.final import Final

ALL = {table: f"all_{table}" for table in TABLES}
# What names nothing (texts, comments); or a name behind FROM and JOIN, and whether it is given another.
_NAMES = re.compile(
    r"""(?P<quiet>"(?:[^"]|"")*"|'(?:[^']|'')*'|--[^\n]*)|\b(?P<word>from|join)\s+(?P<name>\w+)\b(?P<alias>\s+as\b)?""",
    re.IGNORECASE,
)


class Views(Mapping[str, "DataFrame"]):
    """The final tables by name, narrowed by the filters.

    `frames` are final tables under their names; those that are missing are empty. With `keep` a table is computed once, when
    something first reads it. `close` gives back what is held; frames that came from here end with it. What Spark refuses raises
    SparkError.
    """

    def __init__(
        self, spark: SparkSession, frames: Mapping[str, DataFrame], filters: Filters | None = None, keep: bool = False
    ) -> None:
        self._spark = spark
        self._frames = {ALL[name]: frame for name, frame in frames.items()}
        for name in TABLES.keys() - frames.keys():
            self._frames[ALL[name]] = _without_rows(spark, name)
        self._entries = entries_of({}, (), filters or Filters())
        self._keeps = keep
        self._prefix = f"kanalyze_{uuid.uuid4().hex[:12]}"
        self._made: dict[str, DataFrame] = {}
        self._kept: list[DataFrame] = []
        self._making = threading.RLock()

    def __getitem__(self, name: str) -> DataFrame:
        if name not in TABLES:
            raise KeyError(f"no table {name!r}; there are: {', '.join(TABLES)}")
        with told():
            return self._view(name)

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def sql(self, question: str) -> DataFrame:
        """The rows of a SELECT over the final tables, in Spark SQL."""
        with told():
            return self._spark.sql(self._named(question))

    def close(self) -> None:
        """Drops the views and frees what they held."""
        with self._making:
            while self._kept:
                self._kept.pop().unpersist()
            for name in self._made:
                self._spark.catalog.dropTempView(self._place(name))
            self._made.clear()

    def _named(self, sql: str) -> str:
        """The statement with the names of our views in it; they are made when they are not there yet."""
        read = {name for name in tables_read(sql) if name in self._frames or name in self._entries}

        def place(found: re.Match[str]) -> str:
            table = (found["name"] or "").lower()
            if table not in read:
                return found[0]
            self._view(table)
            return f"{found['word']} {self._place(table)}{found['alias'] or f' AS {table}'}"

        return _NAMES.sub(place, sql)

    def _place(self, name: str) -> str:
        """The name of a view in the session."""
        return f"{self._prefix}_{name}"

    def _view(self, name: str) -> DataFrame:
        with self._making:
            if name not in self._made:
                frame = self._frame(name)
                frame.createOrReplaceTempView(self._place(name))
                self._made[name] = frame
            return self._made[name]

    def _frame(self, name: str) -> DataFrame:
        if name not in self._frames:
            return self._spark.sql(self._named(self._entries[name].sql))
        if not self._keeps:
            return self._frames[name]
        from pyspark import StorageLevel

        self._kept.append(self._frames[name].persist(StorageLevel.DISK_ONLY))
        return self._kept[-1]


def made_tables(spark: SparkSession, final: Final, filters: Filters | None = None) -> Views:
    """Final tables that a run has made."""
    return Views(spark, {table: _of_files(final.frame, table) for table in TABLES}, filters, keep=True)


def written_tables(spark: SparkSession, tables: Mapping[str, DataFrame], filters: Filters | None = None) -> Views:
    """Final tables that were written before, by their names in `analyzer.base.tables`."""
    return Views(spark, tables, filters)


def _without_rows(spark: SparkSession, table: str) -> DataFrame:
    """A final table that has no rows, in such a way that Spark knows it: what joins it need not be planned or run."""
    columns = arrow_schema(table)
    nulls = ", ".join(f"CAST(NULL AS {SPARK_TYPES[str(field.type)]}) AS `{field.name}`" for field in columns)
    return spark.sql(f"SELECT {nulls} WHERE false")


def _of_files(frame: DataFrame, table: str) -> DataFrame:
    """The rows of a final table out of its files."""
    schema = arrow_schema(table)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for _, _, pieces in files(tuples(batches)):
            with pq.ParquetFile(pa.BufferReader(b"".join(pieces))) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=schema.names):
                    yield conform(batch, schema)

    chosen = frame.where(f"table LIKE '{FINAL}{table}/%'").select("table", "task", "batch")
    return chosen.mapInArrow(read, ddl(schema))
