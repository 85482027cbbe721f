"""Final tables -> metrics and findings, by Spark SQL: the same files as on DuckDB.

Everything is a temporary view, made when something first reads it, under a name that clashes with nobody's: the session may be
shared. Only public calls that Spark Connect knows too.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from analyzer.base.filters import Filters
from analyzer.base.retyped_inputs import PLACEHOLDER
from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.query import incidents, metrics, run_findings
from analyzer.query.catalog import tables_read
from analyzer.query.table_views import entries_of, shared_entry
from analyzer.spark.dataflow import MOST_PARTITIONS
from analyzer.spark.rows import BATCH_ROWS, FINAL, SPARK_TYPES, conform, ddl, files, ipc, tuples
from analyzer.spark.session import told

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.query.dataset import Dataset
    from analyzer.spark.final import Final

ALL = {table: f"all_{table}" for table in TABLES}
# What names nothing (texts, comments); or a name behind FROM and JOIN, and whether it is given another.
_NAMES = re.compile(
    r"""(?P<quiet>"(?:[^"]|"")*"|'(?:[^']|'')*'|--[^\n]*)|\b(?P<word>from|join)\s+(?P<name>\w+)\b(?P<alias>\s+as\b)?""",
    re.IGNORECASE,
)


class Views(Mapping[str, "DataFrame"]):
    """The final tables by name, narrowed by the filters; `query`, `metric` and `findings` ask them as a Dataset is asked.

    `frames` are final tables under their names; those that are missing are empty. With `keep` a table is computed once, when
    something first reads it. `close` gives back what is held; frames that came from here end with it. What Spark refuses raises
    SparkError.
    """

    # What a person would type for them in a command line is not known here.
    captures = PLACEHOLDER

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
        # Settings -> their number. Views that depend on them have names of their own for each: with Spark Connect a frame is
        # planned when it is read, so a view must never come to mean something else.
        self._settings: dict[Settings, int] = {}
        self._made: dict[str, DataFrame] = {}
        self._kept: list[DataFrame] = []
        self._making = threading.RLock()

    def __getitem__(self, name: str) -> DataFrame:
        if name not in TABLES:
            raise KeyError(f"no table {name!r}; there are: {', '.join(TABLES)}")
        with told():
            return self._view(name, Settings())

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def sql(self, question: str, settings: Settings | None = None) -> DataFrame:
        """The rows of a SELECT over the final tables, the views of metrics, and `settings`."""
        chosen = settings or Settings()
        with told():
            return self._spark.sql(self._named(chosen.folded(question), chosen))

    def query(self, question: str) -> list[dict[str, Any]]:
        """All rows as dictionaries."""
        found = self.sql(question)
        with told():
            return [row.asDict() for row in found.collect()]

    ask = query

    def asking(self, what: str) -> AbstractContextManager[None]:
        """Nobody is told of a question that is asked inside: Spark shows its own progress."""
        del what
        return nullcontext()

    def metric(self, name: str, settings: Settings | None = None) -> DataFrame:
        """The rows of analyzer/query/metrics/<name>.sql, in its order. An unknown name is a KeyError."""
        return self.sql(metrics.text(name), settings)

    def findings(self) -> list[incidents.Finding]:
        """What needs attention, the worst first."""
        return run_findings.find(cast("Dataset", self))

    def close(self) -> None:
        """Drops the views and frees what they held."""
        with self._making:
            while self._kept:
                self._kept.pop().unpersist()
            for name in self._made:
                self._spark.catalog.dropTempView(name)
            self._made.clear()

    def _named(self, sql: str, settings: Settings) -> str:
        """The statement with the names of our views in it; they are made when they are not there yet."""
        read = {name for name in tables_read(sql) if self._is_ours(name)}

        def place(found: re.Match[str]) -> str:
            table = (found["name"] or "").lower()
            if table not in read:
                return found[0]
            self._view(table, settings)
            return f"{found['word']} {self._place(table, settings)}{found['alias'] or f' AS {table}'}"

        return _NAMES.sub(place, sql)

    def _is_ours(self, name: str) -> bool:
        return name == "settings" or name in self._frames or name in self._entries or name in metrics.view_names()

    def _place(self, name: str, settings: Settings) -> str:
        """The name of a view in the session."""
        given = name == "settings" or (name in metrics.view_names() and metrics.is_given_settings(name))
        number = f"{self._settings.setdefault(settings, len(self._settings))}_" if given else ""
        return f"{self._prefix}_{number}{name}"

    def _view(self, name: str, settings: Settings) -> DataFrame:
        place = self._place(name, settings)
        with self._making:
            if place not in self._made:
                frame = self._frame(name, settings)
                frame.createOrReplaceTempView(place)
                self._made[place] = frame
            return self._made[place]

    def _frame(self, name: str, settings: Settings) -> DataFrame:
        if name in self._frames:
            return self._keep(self._frames[name]) if self._keeps else self._frames[name]
        if name == "settings":
            return self._spark.sql(settings.sql())
        entry = self._entries.get(name) or shared_entry(name, settings)
        assert entry is not None, name
        frame = self._spark.sql(self._named(entry.sql, settings))
        return self._held(frame) if entry.materialized else frame

    def _keep(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        self._kept.append(frame.persist(StorageLevel.DISK_ONLY))
        return self._kept[-1]

    def _held(self, frame: DataFrame) -> DataFrame:
        """The rows as they are now, computed; whoever reads them plans nothing of how they came to be."""
        from pyspark.errors import PySparkNotImplementedError

        # Where plans do not adapt, Spark 3.5 cannot join with rows of which it knows how they are spread. This leaves them where
        # they are, and it knows that no more.
        frame = frame.coalesce(MOST_PARTITIONS)
        try:
            return frame.localCheckpoint()
        except PySparkNotImplementedError:  # Connect before 4.0
            packs = [(row["batch"],) for row in frame.mapInArrow(_packed, "batch binary").collect()]
            rows = self._spark.createDataFrame(packs, "batch binary")
            return self._keep(rows.mapInArrow(_unpacked, frame.schema))


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
                for batch in file.iter_batches(BATCH_ROWS):
                    yield conform(batch, schema)

    chosen = frame.where(f"table LIKE '{FINAL}{table}/%'").select("table", "task", "batch")
    return chosen.mapInArrow(read, ddl(schema))


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([ipc(batch)], pa.binary())], names=["batch"])


def _unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for packs in batches:
        for data in packs.column(0):
            with pa.ipc.open_stream(data.as_buffer()) as stream:
                yield from stream
