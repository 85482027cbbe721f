"""Tables as views of an embedded DuckDB, which metrics and verbs ask.

Every table of `analyzer.base.tables` is there under two names: `all_exchanges` is everything, `exchanges` what the
filters leave (the same without filters). `captures` and `problems` are coverage and never filtered. `time_range` is one
row, `first_time_ns` and `last_time_ns` of the captures, narrowed by the filters, and `captured_ns`, how much of it files cover
(`all_time_range`: not narrowed); `tls_unread` are the connections whose TLS was not decrypted, and in which there may be what
the filters ask for; `settings` is one row, what the question is given (`Dataset.choose`); `kinds` are the classes of
`exchanges.kind`. Nothing heavy is imported before a dataset is opened.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from analyzer.base.filters import Filters, literal
from analyzer.base.memory import question_memory_bytes
from analyzer.base.retyped_inputs import PLACEHOLDER
from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES
from analyzer.query import engine_settings, metrics
from analyzer.query.catalog import IN_FILE, Catalog, Entry
from analyzer.query.frequent_keys import chosen
from analyzer.query.metric_rows import MetricRows, fetched
from analyzer.query.table_views import NEAR, entries_of, named_entries, shared_entry

if TYPE_CHECKING:
    import duckdb
    import pyarrow

    from analyzer.names.name_table import Names
    from dissectors.tls.keys import KeyLog

T = TypeVar("T")
# With more texts an ENUM type costs more than it saves: when a question is planned, types are compared text by text.
MOST_TEXTS = 8_000
# The view that hours can give.
_COUNTS = "latency_counts"
# A query that was interrupted may run on for so long.
PATIENCE_S = 5


class DatasetError(OSError):
    """A directory that is no dataset, or SQL that cannot be run. The text is a message for a person."""


class Hours(Protocol):
    """What `analyzer.query.hours` makes of the hours of a dataset."""

    def views(self) -> Mapping[str, Callable[[], str]]:
        """Name -> what gives SQL of the rows as they were written."""

    def counts(self, settings: Settings, filters: Filters) -> str | None:
        """SQL of what the view `latency_counts` gives for a question; None where it needs rows."""


class Dataset:
    """Tables that can be asked. Use it as a context manager: leaving it frees the database and runs `cleanup`.

    `views` maps names to the SQL of views, which may read each other. The SQL of a final table goes under the table's name, or
    a function that returns it, called when the table is first read; other SQL finds the table as `all_<table>`. Missing final
    tables are empty. A view is created when a question first names it; one in `materialized` is computed then, and held as a table;
    those `in_file` are held on disk, below `temp_directory`: they have so many rows that they would fill the memory for questions.
    `types` maps names of types, which the SQL of views may name, to a SELECT of their texts (`_create_type`).
    `warnings` are lines that a person must see; `failed`: some input could not be read; `limits`: options whose limit was reached.
    What does not fit `memory_bytes` (None: see `base.memory`) goes to a directory below `temp_directory` (None: the system's).
    `threads` None means one per core. `simple_plans` turns off most of the optimizer: for a few thousand rows it takes longer than
    any plan. `hours` answer instead of rows where they can (`analyzer.query.hours`). `names` are those of addresses, for columns
    of connections; without them connections have those that they were exported with. `files_in` are the directories, and
    single files, with all that views read: SQL of a person reads nothing else (`close_off`); None: it may read all.

    A full disk raises duckdb.IOException, too little memory duckdb.OutOfMemoryException.
    """

    def __init__(
        self,
        views: Mapping[str, str | Callable[[], str]],
        *,
        materialized: Collection[str] = (),
        in_file: Collection[str] = (),
        types: Mapping[str, str] | None = None,
        filters: Filters | None = None,
        cleanup: Callable[[], None] | None = None,
        warnings: Iterable[str] = (),
        failed: bool = False,
        limits: Iterable[str] = (),
        memory_bytes: int | None = None,
        threads: int | None = None,
        simple_plans: bool = False,
        temp_directory: Path | None = None,
        hours: Hours | None = None,
        names: Names | None = None,
        files_in: Collection[Path] | None = (),
    ) -> None:
        # The engine without the package around it, whose Python (2.0: a layer of relations) takes longer to import than a
        # small capture takes to read.
        import _duckdb as engine

        self.filters = filters or Filters()
        # For a dataset over some of the connections (`query.narrowed`).
        self.made_of: dict[str, Any] = {
            "views": views,
            "materialized": materialized,
            "types": types,
            "filters": filters,
            "names": names,
            "memory_bytes": memory_bytes,
            "threads": threads,
            "simple_plans": simple_plans,
            "temp_directory": temp_directory,
        }
        self.settings = Settings()
        # Whether a broker's log of requests was read beside the captures. Without one nobody asks about it.
        self.is_logged = "log_requests" in views
        self.names = names
        self.warnings = (*warnings, *(names.warnings() if names else ()))
        self.failed = failed
        # What an answer lacks -> why, and the bugs of ours among the reasons (`query.left_out`).
        self.left_out: dict[str, str] = {}
        self.bugs: list[Exception] = []
        # What a person types to name the captures again (`base.retyped_inputs`), for commands that a report suggests.
        self.captures = PLACEHOLDER
        self.limits = tuple(limits)
        # What `query.readability` measures, once.
        self.readability: dict[str, Any] | None = None
        # The TLS secrets of the captures, for `messages.bodies`, which reads the captures again.
        self.tls_keys: KeyLog | None = None
        # Is told what question is asked now, in a word or two, and with "" that it was answered.
        self.tell: Callable[[str], None] = lambda _: None
        self._cleanup = cleanup
        self._hours = hours
        self._files_in = files_in
        self.temp_directory = Path(temp_directory or tempfile.gettempdir())
        # DuckDB makes the directory when it spills, and not before.
        self._spill = self.temp_directory / f"kanalyze-sql-{uuid.uuid4().hex}"
        memory = question_memory_bytes() if memory_bytes is None else memory_bytes
        self._database = engine.connect(
            ":memory:", config=engine_settings.config(memory, self._spill, threads, simple_plans)
        )
        # Each thread has a connection for questions, and another one that creates views: a question may leave a transaction or
        # another default catalog behind in its connection.
        self._connections = threading.local()
        self._closing = threading.Lock()
        self._opened: list[duckdb.DuckDBPyConnection] = []
        if hours is not None:
            views = {**views, **hours.views()}
        late = {
            f"all_{name}" if name in TABLES else name: sql for name, sql in views.items() if not isinstance(sql, str)
        }
        ready = {name: sql for name, sql in views.items() if isinstance(sql, str)}
        near = [name.removeprefix(NEAR) for name in views if name.startswith(NEAR)]
        entries = entries_of(ready, materialized, self.filters, near, in_file)
        if names is not None:
            entries |= named_entries(entries["all_connections"])
            del entries["names"]

        def entry(name: str) -> Entry | None:
            if name == _COUNTS and (counts := self.hours_answer()) is not None:
                return Entry(counts, False)
            found = Entry(late[name](), False) if name in late else entries.get(name)
            return found or shared_entry(name, self.settings, materialized, in_file)

        every = (*entries, *late, *metrics.view_names())
        self._catalog = Catalog(every, entry, lambda sql: self.connection("making").execute(sql))
        try:
            engine_settings.set_up(self._database, simple_plans)
            self.choose(self.settings)
            if in_file:
                self._attach_file()
            if names is not None:
                names.create(self._database)
            for name, texts in (types or {}).items():
                self._create_type(name, texts)
        except BaseException:
            self.close()
            raise

    def _attach_file(self) -> None:
        """A database for tables that are held on disk. Nobody opens it again, so it needs no log, and no order at its end."""
        self._spill.mkdir(exist_ok=True)
        path = literal(str(self._spill / "tables.db"))
        self._database.execute(f"ATTACH {path} AS {IN_FILE} (RECOVERY_MODE NO_WAL_WRITES)")
        self._database.execute("PRAGMA disable_checkpoint_on_shutdown")

    def _create_type(self, name: str, texts: str) -> None:
        """A type for texts that are among those that a SELECT finds: an ENUM, in their order; of many texts VARCHAR."""
        run = self._database.execute
        distinct = f"SELECT DISTINCT text FROM ({texts}) AS t WHERE text IS NOT NULL LIMIT {MOST_TEXTS + 1}"
        run(f"CREATE TEMP TABLE found AS {distinct}")
        (count,) = run("SELECT count(*) FROM found").fetchone() or (0,)
        few = count <= MOST_TEXTS
        run(f"CREATE TYPE {name} AS {'ENUM (SELECT text FROM found ORDER BY text)' if few else 'VARCHAR'}")
        run("DROP TABLE found")

    def connection(self, purpose: str = "asking") -> duckdb.DuckDBPyConnection:
        """The connection that this thread has for a purpose; `close` closes it."""
        found: duckdb.DuckDBPyConnection | None = getattr(self._connections, purpose, None)
        if found is None:
            found = self._database.cursor()
            setattr(self._connections, purpose, found)
            self._opened.append(found)
            engine_settings.without_progress_bar(found)
        return found

    def close_off(self) -> None:
        """To be called before SQL that a person wrote is run: nothing but the files of the tables can be read from now on."""
        if self._files_in is not None:
            with self._closing:
                engine_settings.close_off(self._database, self._files_in)

    def choose(self, settings: Settings) -> None:
        """Gives settings to all metrics from now on: what to group by, how fine in time."""
        if settings.most is not None:
            self.choose(replace(settings, every_ns=None, most=None))
            self._run(chosen(metrics.text("latency"), settings.most))
        self.settings = settings
        self._run(f"CREATE OR REPLACE VIEW settings AS {settings.sql()}")
        self._catalog.forget(lambda name: name in metrics.view_names() and metrics.is_given_settings(name))

    def hours_answer(self) -> str | None:
        """SQL of the view `latency_counts` from the hours of the dataset; None where it has none, or the question needs rows."""
        return self._hours.counts(self.settings, self.filters) if self._hours else None

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """All rows as dictionaries; of two columns with one name the last wins. Raises DatasetError."""
        return list(fetched(self._run(sql, parameters)))

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """As `held`, of few rows."""
        return list(self.held(sql))

    def held(self, sql: str) -> MetricRows:
        """All rows of a SELECT of ours whose aliases have their AS: views become part of it. Raises DatasetError."""
        with sql_errors():
            return fetched(self.connection().execute(self._catalog.in_place(sql)))

    def first_rows(self, sql: str, most: int | None) -> tuple[list[dict[str, Any]], int]:
        """As `ask`: the first `most` rows, None: all, and how many there are. Those beyond are counted, and not held: there may be
        one for each of a million clients. Raises DatasetError."""
        with sql_errors():
            result = self.connection().execute(self._catalog.in_place(self.settings.folded(sql)))
            rows = list(fetched(result, most))
            total = len(rows)
            while most is not None and (beyond := len(result.fetchmany(10_000))):
                total += beyond
        return rows, total

    def arrow(self, sql: str, parameters: Sequence[Any] = ()) -> pyarrow.Table:
        """All rows as an Arrow table. Raises DatasetError."""
        with sql_errors():
            return self._relation(sql, parameters).to_arrow_table()

    def batches(self, sql: str, parameters: Sequence[Any] = (), rows: int = 50_000) -> pyarrow.RecordBatchReader:
        """The rows as Arrow batches of about `rows`, computed as they are taken: for results larger than memory. To be read to its
        end before the next question. Raises DatasetError."""
        with sql_errors():
            return self._relation(sql, parameters).to_arrow_reader(rows)

    def metric(self, name: str) -> list[dict[str, Any]]:
        """The rows of analyzer/query/metrics/<name>.sql, in its order. An unknown name is a KeyError."""
        return list(self.metric_rows(name))

    def metric_rows(self, name: str) -> MetricRows:
        """The same rows, also if they are very many."""
        with self.asking(name.replace("_", " ")):
            if (needed := metrics.NEEDS.get(name)) and not self.ask(f"SELECT 1 AS one FROM {needed} LIMIT 1"):
                return MetricRows((), ())
            return self.held(self.settings.folded(metrics.text(name)))

    def metric_in_portions(self, name: str, rows: int = 10_000) -> tuple[list[str], Iterator[list[dict[str, Any]]]]:
        """The columns of a metric and its rows, so many at a time; to be read to the end before the next question. Raises
        DatasetError, also while they are read."""
        with self.asking(name.replace("_", " ")), sql_errors():
            sql = self._catalog.in_place(self.settings.folded(metrics.text(name)))
            result = self.connection().execute(sql)
        names = [column[0] for column in result.description or ()]

        def portions() -> Iterator[list[dict[str, Any]]]:
            with sql_errors():
                while portion := result.fetchmany(rows):
                    yield [dict(zip(names, row, strict=True)) for row in portion]

        return names, portions()

    @contextmanager
    def asking(self, what: str) -> Iterator[None]:
        """Tells `tell` of a question that is asked inside."""
        self.tell(what)
        try:
            yield
        finally:
            self.tell("")

    def tables(self) -> list[str]:
        """Names of the final tables, in the order of the documentation."""
        return list(TABLES)

    def ensure(self, names: Sequence[str]) -> None:
        """Creates the views of these names, for SQL that runs on a connection of its own. Raises DatasetError."""
        with sql_errors():
            self._catalog.ensure(names)

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
        with sql_errors():
            return self._with_views(sql, lambda: self.connection().execute(sql, list(parameters)))

    def _with_views(self, sql: str, ask: Callable[[], T]) -> T:
        """Creates the views that the SQL names after FROM and JOIN, then asks. After an error about a name, views are created for
        all other words of the SQL too, and it is asked again."""
        import _duckdb as engine

        self._catalog.prepare(sql)
        try:
            return ask()
        except (engine.CatalogException, engine.BinderException):
            if not self._catalog.prepare_words(sql):
                raise
            return ask()

    def _relation(self, sql: str, parameters: Sequence[Any]) -> duckdb.DuckDBPyRelation:
        """The result as a relation, which streams Arrow batches; a cursor would first hold all rows."""
        import duckdb  # noqa: F401 (what gives connections their relations)

        relation = self._with_views(sql, lambda: self.connection().sql(sql, params=list(parameters)))
        if relation is None:
            raise DatasetError("this statement returns no rows; use a SELECT")
        return relation

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def sql_errors() -> Iterator[None]:
    """Errors in SQL become DatasetError. A full disk is not the fault of the question: the command line words that."""
    import _duckdb as engine

    try:
        yield
    except (engine.IOException, engine.OutOfMemoryException, engine.InterruptException):
        raise
    except engine.Error as error:
        raise DatasetError(str(error).strip()) from error
