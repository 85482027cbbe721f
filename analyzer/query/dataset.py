"""The tables of one run, or of an exported directory, as views of an embedded DuckDB: what metrics and verbs read.

Every table of `analyzer.base.tables` is there under two names: `all_exchanges` is everything, `exchanges` what the
filters leave (the same without filters). `captures` and `problems` are coverage and never filtered. `time_range` is one
row, `first_time_ns` and `last_time_ns` of the captures, narrowed by the filters; `settings` is one row, what the question
was given (`Dataset.choose`); `kinds` are the classes of `exchanges.kind`. Nothing heavy is imported before a dataset is
opened.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

from analyzer.base.filters import Filters, attempt_condition, exchange_condition, literal, topic_condition
from analyzer.base.settings import Settings
from analyzer.base.storage.addresses import StorageError, is_storage_uri, parse_address
from analyzer.base.storage.objects import find_object
from analyzer.base.tables import SQL_TYPES, TABLES
from analyzer.base.wait_kinds import sql as kinds_sql
from analyzer.query import metrics
from analyzer.query.catalog import Catalog, Entry
from analyzer.query.table_directories import Folder, folder, table_files

if TYPE_CHECKING:
    import duckdb
    import pyarrow

    from dissectors.tls.keys import KeyLog

T = TypeVar("T")
MANIFEST = "manifest.json"
DEFAULT_MEMORY_BYTES = 256_000_000
# Steps of the engine's planning that pay for any number of rows.
NEEDED_OPTIMIZERS = (
    "cte_inlining",
    "deliminator",
    "expression_rewriter",
    "extension",
    "filter_pullup",
    "filter_pushdown",
    "in_clause",
    "regex_range",
    "unnest_rewriter",
    "unused_columns",
)
# Tables with exchanges that are not narrowed to those that the filters leave: `exchanges` has its own condition, the
# others are coverage, and facts about brokers.
UNFILTERED = ("exchanges", "problems", "offered_versions")
# So long a query that was told to stop may take to do so.
PATIENCE_S = 5


class DatasetError(OSError):
    """A directory that cannot be read as a dataset, or SQL that cannot be run: the text is a message for a person."""


class Dataset:
    """Tables that can be asked. Use as a context manager: leaving it frees the database and runs `cleanup`.

    `views` maps a name to the SQL of a view, which may read the others; the SQL of a final table goes under the table's
    name (or a function that gives it, called when the table is first asked), and other SQL finds it as `all_<table>`. Tables
    that are missing are empty. Each is made when a question first names it; those in `kept` are computed then and held: small
    ones that many questions read. `warnings` are lines that a person must see; `failed` says that some input could not be
    read. What does not fit `memory_bytes` goes to a directory of its own below `temp_directory` (None: the system's).
    `threads` None: one per core. `simple_plans`: of a few thousand rows, the search for a better plan takes longer than
    any plan. A full disk or memory that does not suffice raises duckdb.IOException or OutOfMemoryException.
    """

    def __init__(
        self,
        views: Mapping[str, str | Callable[[], str]],
        *,
        kept: Collection[str] = (),
        filters: Filters | None = None,
        cleanup: Callable[[], None] | None = None,
        warnings: Iterable[str] = (),
        failed: bool = False,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        threads: int | None = None,
        simple_plans: bool = False,
        temp_directory: Path | None = None,
    ) -> None:
        # The engine without the package around it, whose Python (2.0: a layer of relations) takes longer to import than a
        # small capture takes to read.
        import _duckdb as engine

        self.filters = filters or Filters()
        self.settings = Settings()
        self.warnings = tuple(warnings)
        self.failed = failed
        # Secrets that came with the captures, for whoever reads these again.
        self.tls_keys: KeyLog | None = None
        # Tables that were not made, because nobody asked for them and the captures are large.
        self.left_out: tuple[str, ...] = ()
        self._cleanup = cleanup
        # DuckDB makes the directory when it spills, and not before.
        self._spill = Path(temp_directory or tempfile.gettempdir()) / f"kanalyze-sql-{uuid.uuid4().hex}"
        config: dict[str, Any] = {"memory_limit": f"{memory_bytes}B", "temp_directory": str(self._spill)}
        if threads is not None:
            config["threads"] = threads
            config["async_threads"] = 0
        self._database = engine.connect(":memory:", config=config)
        # Each thread that asks has a connection of its own, and one more to make views: what a question leaves behind in its
        # own, a transaction or another catalog, does not touch them.
        self._connections = threading.local()
        self._opened: list[duckdb.DuckDBPyConnection] = []
        late = {f"all_{name}": sql for name, sql in views.items() if not isinstance(sql, str)}
        ready = {name: sql for name, sql in views.items() if isinstance(sql, str)}
        entries = _entries(ready, kept, self.filters)

        def entry(name: str) -> Entry | None:
            found = Entry(late[name](), False) if name in late else entries.get(name)
            return found or _shared(name, self.settings)

        names = (*entries, *metrics.view_names())
        self._catalog = Catalog(names, entry, lambda sql: self._connection("making").execute(sql))
        try:
            self._set_up(simple_plans)
        except BaseException:
            self.close()
            raise

    def _set_up(self, simple_plans: bool) -> None:
        if simple_plans:
            known = self._database.execute("SELECT name FROM duckdb_optimizers()").fetchall()
            dropped = ",".join(name for (name,) in known if name not in NEEDED_OPTIMIZERS)
            self._database.execute(f"SET GLOBAL disabled_optimizers = '{dropped}'")
        # Ten metrics read the footers of the same files, which do not change while they are open.
        self._database.execute("SET GLOBAL parquet_metadata_cache = true")
        self.choose(self.settings)

    def _connection(self, purpose: str = "asking") -> duckdb.DuckDBPyConnection:
        """The connection that the thread has for this."""
        found: duckdb.DuckDBPyConnection | None = getattr(self._connections, purpose, None)
        if found is None:
            found = self._database.cursor()
            setattr(self._connections, purpose, found)
            self._opened.append(found)
            _without_progress_bar(found)
        return found

    def choose(self, settings: Settings) -> None:
        """What the metrics asked from now on are given: by what to group, how fine in time."""
        self.settings = settings
        self._run(f"CREATE OR REPLACE VIEW settings AS {settings.sql()}")
        self._catalog.forget(lambda name: name in metrics.view_names() and metrics.is_given_settings(name))

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """All rows as dictionaries; of two columns with one name the last wins. Raises DatasetError."""
        result = self._run(sql, parameters)
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def arrow(self, sql: str, parameters: Sequence[Any] = ()) -> pyarrow.Table:
        """All rows as an Arrow table. Raises DatasetError."""
        with _told():
            return self._relation(sql, parameters).to_arrow_table()

    def batches(self, sql: str, parameters: Sequence[Any] = (), rows: int = 50_000) -> pyarrow.RecordBatchReader:
        """The rows as Arrow batches of about `rows`, computed as they are taken: for results larger than memory. To be
        read to its end before the next question. Raises DatasetError.
        """
        with _told():
            return self._relation(sql, parameters).to_arrow_reader(rows)

    def metric(self, name: str) -> list[dict[str, Any]]:
        """The rows of analyzer/query/metrics/<name>.sql, in its order. An unknown name is a KeyError."""
        return self.query(self.settings.folded(metrics.text(name)))

    def tables(self) -> list[str]:
        """Names of the final tables, in the order of the documentation."""
        return list(TABLES)

    def interrupt(self) -> None:
        """Stops the queries that are running, if there are any; may be called from another thread."""
        for connection in tuple(self._opened):
            connection.interrupt()

    def close(self) -> None:
        """Frees the database and everything temporary, and stops what still runs; a second call does nothing."""
        try:
            self._close_database()
        finally:
            if self._spill.exists():
                shutil.rmtree(self._spill)
            cleanup, self._cleanup = self._cleanup, None
            if cleanup is not None:
                cleanup()

    def _close_database(self) -> None:
        """The engine refuses to close a connection on which another thread has a query running."""
        import _duckdb as engine

        last = monotonic() + PATIENCE_S
        for connection in (*self._opened, self._database):
            while True:
                try:
                    connection.close()
                    break
                except engine.ResourceInUseException:
                    if monotonic() > last:
                        raise
                    connection.interrupt()
                    sleep(0.01)

    def _run(self, sql: str, parameters: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        with _told():
            return self._with_views(sql, lambda: self._connection().execute(sql, list(parameters)))

    def _with_views(self, sql: str, ask: Callable[[], T]) -> T:
        """Asks, with the views at hand that the SQL names; where they stand in an unusual place, a second time."""
        import _duckdb as engine

        self._catalog.prepare(sql)
        try:
            return ask()
        except (engine.CatalogException, engine.BinderException):
            if not self._catalog.prepare_words(sql):
                raise
            return ask()

    def _relation(self, sql: str, parameters: Sequence[Any]) -> duckdb.DuckDBPyRelation:
        """What Arrow results are taken from: a relation streams, a cursor would first hold the whole result."""
        import duckdb  # noqa: F401 (what gives connections their relations)

        relation = self._with_views(sql, lambda: self._connection().sql(sql, params=list(parameters)))
        if relation is None:
            raise DatasetError("this statement has no rows as its result; a SELECT has")
        return relation

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _without_progress_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """In a process without a script (`python -c`, a notebook) DuckDB would draw its own on stdout. Where it has none, in a
    notebook without widgets, it refuses to hear of it at all.
    """
    row = connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    if row and row[0]:
        connection.execute("SET enable_progress_bar = false")


@contextmanager
def _told() -> Iterator[None]:
    """Words what is wrong with SQL. A full disk is not the fault of the question: the command line words that."""
    import _duckdb as engine

    try:
        yield
    except (engine.IOException, engine.OutOfMemoryException, engine.InterruptException):
        raise
    except engine.Error as error:
        raise DatasetError(str(error).strip()) from error


def _entries(views: Mapping[str, str], kept: Collection[str], filters: Filters) -> dict[str, Entry]:
    """Name in the database -> what makes it: the views, every final table as all of it and as the filters leave it."""
    entries = {f"all_{name}" if name in TABLES else name: Entry(sql, name in kept) for name, sql in views.items()}
    for name in TABLES:
        entries.setdefault(f"all_{name}", Entry(_no_rows(name), False))
    for name, condition in _conditions(filters).items():
        entries[name] = Entry(f"SELECT * FROM all_{name} WHERE {condition}", False)
    first = _narrowed("greatest", "min(first_time_ns)", filters.from_ns)
    last = _narrowed("least", "max(last_time_ns)", filters.to_ns)
    entries["time_range"] = Entry(f"SELECT {first} AS first_time_ns, {last} AS last_time_ns FROM all_captures", True)
    entries["kinds"] = Entry(kinds_sql(), True)
    return entries


def _shared(name: str, settings: Settings) -> Entry | None:
    """A view that metrics share (analyzer/query/metrics/views)."""
    if name not in metrics.view_names():
        return None
    sql = metrics.view(name)
    return Entry(settings.folded(sql) if metrics.is_given_settings(name) else sql, metrics.is_kept(name))


def _conditions(filters: Filters) -> dict[str, str]:
    """Table -> SQL condition on the rows to show; exchanges come first, the others are narrowed to theirs."""
    conditions = dict.fromkeys(("exchanges", *TABLES), "true")
    if filters:
        conditions["exchanges"] = exchange_condition(filters)
        with_exchanges = "connection IN (SELECT connection FROM exchanges)"
        conditions["connections"] = f"{with_exchanges} OR ({attempt_condition(filters)})"
        for table, columns in TABLES.items():
            names = {column.name for column in columns}
            if "exchange" in names and table not in UNFILTERED:
                about_topics = {"topic", "topic_id"} <= names
                of_exchange = "exchange IN (SELECT exchange FROM exchanges)"
                conditions[table] = f"{of_exchange} AND {topic_condition(filters)}" if about_topics else of_exchange
    return conditions


def _narrowed(function: str, expression: str, limit: int | None) -> str:
    return expression if limit is None else f"{function}({expression}, {limit})"


def _no_rows(table: str) -> str:
    columns = ", ".join(_null(column.name, column.type) for column in TABLES[table])
    return f"SELECT {columns} WHERE false"


def _null(name: str, kind: str) -> str:
    return f'CAST(NULL AS {SQL_TYPES[kind]}) AS "{name}"'


def parquet(paths: Iterable[Path | str]) -> str:
    """SQL that reads Parquet files as one table; paths are taken as they are, not as globs."""
    files = ", ".join(literal(_unglob(str(path))) for path in paths)
    return f"SELECT * FROM read_parquet([{files}], union_by_name = true, hive_partitioning = false)"


def _unglob(path: str) -> str:
    """DuckDB expands globs in every path; in a bracket class a letter stands for itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def is_dataset(place: Path | str) -> bool:
    """True for a directory, here or in object storage, that `kanalyze export` or `kanalyze spark` wrote: one with a
    manifest, or with the Parquet files of a table. Raises StorageError when storage does not answer.
    """
    if isinstance(place, Path) or not is_storage_uri(place):
        where = folder(place)
        return where.names().get(MANIFEST) is False or any(table_files(where, table) for table in TABLES)
    try:
        at = parse_address(place)
    except StorageError:
        return False  # whoever reads captures says what is wrong with it
    if find_object(at.inside(MANIFEST)):
        return True
    where = folder(place)
    return any(table_files(where, table) for table in TABLES)


def open_dataset(place: Path | str, **options: Any) -> Dataset:
    """Opens an exported directory, here or in object storage; `options` are the keyword arguments of Dataset. Columns that
    it lacks are null, so an export of another version can be read. Tables in storage are copied to the temporary directory
    when they are first asked. Raises DatasetError, StorageError.
    """
    where = folder(place, options.get("temp_directory"))
    counts = _check_manifest(where)
    files = {table: found for table in TABLES if (found := table_files(where, table))}
    if not files:
        raise DatasetError(f"{where}: no tables of kanalyze in it, wanted exchanges.parquet and others")
    for table, rows in counts.items():
        if rows and table in TABLES and table not in files:
            raise DatasetError(f"{where}: {table} is missing, the manifest says it has {rows:,} rows; export again")
    late = {table: partial(_completed, where, table, names, counts.get(table)) for table, names in files.items()}
    views = late if where.is_remote else {table: sql() for table, sql in late.items()}
    return Dataset(views, cleanup=where.close, **options)


def _check_manifest(where: Folder) -> dict[str, int]:
    """Rows of each table, as far as the manifest says; it is written last, so without one many files are not all."""
    if where.names().get(MANIFEST) is not False:
        if where.is_remote or any(where.names().get(table) for table in TABLES):
            raise DatasetError(f"{where}: no {MANIFEST}, so its export is not finished or failed; export again")
        return {}
    try:
        told = json.loads(where.read(MANIFEST))
        form, counts = told["format"], dict(told.get("tables") or {})
        if not all(isinstance(rows, int) for rows in counts.values()):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"{where}/{MANIFEST}: not a manifest that kanalyze export wrote") from error
    if form != "parquet":
        raise DatasetError(f"{where}: exported as {form}; only --format parquet can be read again")
    return counts


def _completed(where: Folder, table: str, names: Sequence[str], rows: int | None) -> str:
    """SQL for a table of an export, with exactly the columns of the contract; all of its rows, when they were counted."""
    import pyarrow.parquet

    present: set[str] = set()
    held = 0
    paths = where.here(names)
    for name, path in zip(names, paths, strict=True):
        try:
            about = pyarrow.parquet.read_metadata(path)
        except (OSError, pyarrow.ArrowException) as error:
            raise DatasetError(f"{where}/{name}: not a Parquet file that can be read") from error
        held += about.num_rows
        present.update(about.schema.to_arrow_schema().names)
    if rows is not None and held != rows:
        raise DatasetError(f"{where}: {table} has {held:,} rows, and the manifest says {rows:,}; export again")
    columns = (f'"{name}"' if name in present else _null(name, kind) for name, kind, _ in TABLES[table])
    return f"SELECT {', '.join(columns)} FROM ({parquet(paths)})"
