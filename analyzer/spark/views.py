"""Raw tables -> final tables -> metrics and findings, by Spark SQL: the same files as on DuckDB, in the same order.

Everything is a temporary view, made when something first reads it, under a name that clashes with nobody's: the session may be
shared. Only public calls that Spark Connect knows too.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from analyzer.base.filters import Filters
from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.query import metrics, run_findings
from analyzer.query.catalog import tables_read
from analyzer.query.resolve import FACTS
from analyzer.query.table_views import entries_of, shared_entry
from analyzer.run.raw_views import COMPUTED_ONCE
from analyzer.spark.dataflow import MOST_PARTITIONS, RAW_TABLES
from analyzer.spark.rows import SPARK_TYPES, _bytes
from analyzer.spark.session import told

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.query.dataset import Dataset

ALL = {table: f"all_{table}" for table in TABLES}
RAW = frozenset(f"raw_{name}" for name in RAW_TABLES)
# Computed when they are first read and held, so that the plan of whoever reads them ends there: nested as they are, planning
# alone would take minutes.
HELD = frozenset(ALL.get(name, name) for name in (*COMPUTED_ONCE, "errors") if name not in FACTS)
# Columns of tables that may be missing, because there was nothing to write.
COLUMNS = {f"raw_{name}": columns for name, columns in FACT_TABLES.items()} | {
    ALL[table]: tuple((column.name, column.type) for column in columns) for table, columns in TABLES.items()
}
# What names nothing (texts, comments); or a name behind FROM and JOIN, and whether it is given another.
_NAMES = re.compile(
    r"""(?P<quiet>"(?:[^"]|"")*"|'(?:[^']|'')*'|--[^\n]*)|\b(?P<word>from|join)\s+(?P<name>\w+)\b(?P<alias>\s+as\b)?""",
    re.IGNORECASE,
)


class Views(Mapping[str, "DataFrame"]):
    """The final tables by name, narrowed by the filters; `query`, `metric` and `findings` ask them as a Dataset is asked.

    `frames` are tables that are there, under the names that SQL gives them: `raw_exchanges`, `all_captures`; facts and final
    tables that are missing are empty. `sql` makes the others (`resolve.views`). `close` gives back what is held; frames that
    came from here end with it. What Spark refuses raises SparkError.
    """

    def __init__(
        self,
        spark: SparkSession,
        frames: Mapping[str, DataFrame],
        sql: Mapping[str, str] | None = None,
        filters: Filters | None = None,
    ) -> None:
        self._spark = spark
        self._frames = dict(frames)
        made = {ALL.get(name, name) for name in sql or ()}
        for name in COLUMNS.keys() - made - self._frames.keys():
            self._frames[name] = spark.createDataFrame([], _ddl(COLUMNS[name]))
        self._entries = entries_of(sql or {}, (), filters or Filters())
        self._persisted = made & set(ALL.values()) - HELD
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

    def metric(self, name: str, settings: Settings | None = None) -> DataFrame:
        """The rows of analyzer/query/metrics/<name>.sql, in its order. An unknown name is a KeyError."""
        return self.sql(metrics.text(name), settings)

    def findings(self) -> list[run_findings.Finding]:
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
            # Many read a raw table, and each would look for its rows in all that the stages gave.
            return self._keep(self._frames[name]) if name in RAW else self._frames[name]
        if name == "settings":
            return self._spark.sql(settings.sql())
        entry = self._entries.get(name) or shared_entry(name, settings)
        assert entry is not None, name
        frame = self._spark.sql(self._named(entry.sql, settings))
        if entry.kept or name in HELD:
            return self._held(frame)
        return self._keep(frame) if name in self._persisted else frame

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


def final_tables(
    spark: SparkSession, raw: Mapping[str, DataFrame], sql: Mapping[str, str], filters: Filters | None = None
) -> Views:
    """The final tables of raw ones. `raw`: the tables that both stages wrote, the small ones too, by their names in SQL
    (`raw_exchanges`, `captures`); `sql`: what `resolve.views` makes of them.
    """
    return Views(spark, {ALL.get(name, name): frame for name, frame in raw.items()}, sql, filters)


def written_tables(spark: SparkSession, tables: Mapping[str, DataFrame], filters: Filters | None = None) -> Views:
    """Final tables that were written before, by their names in `analyzer.base.tables`."""
    return Views(spark, {ALL[name]: frame for name, frame in tables.items()}, {}, filters)


def _ddl(columns: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"`{name}` {SPARK_TYPES[kind]}" for name, kind in columns)


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([_bytes(batch)], pa.binary())], names=["batch"])


def _unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for packs in batches:
        for data in packs.column(0):
            with pa.ipc.open_stream(data.as_buffer()) as stream:
                yield from stream
