"""Rows of one run -> rows of final tables, where the run's raw tables lie.

Before the facts of all runs are known: `signs`. After: `Run`, which is given them (`facts_of_runs`) and what fetch sessions
said about the run's exchanges (`moved_rows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.distributed.resolved_spans import RAW_OF_EXCHANGES, STRAY
from analyzer.distributed.resolved_spans import RAW_THAT_STAYS as RAW
from analyzer.query.days import DAY_NS, day_directory
from analyzer.query.hours import least_rows
from analyzer.query.partitions import Order, Partitioned
from analyzer.query.table_views import parquet
from analyzer.run import raw_views, run_sql
from analyzer.run.divided_rows import OPEN_CONNECTIONS, of_files
from analyzer.run.facts_of_runs import SIGNS
from analyzer.run.moved_rows import FETCHES, Move, leave
from analyzer.run.run_sql import Part, Tables

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset

# Final tables whose rows each run makes for itself: of `problems` those of exchanges.
FINAL = (
    "exchanges",
    "entries",
    "problems",
    "group_events",
    "assignments",
    "transaction_events",
    "broker_events",
    "batches",
    "queued_packets",
)
_SOURCES = {"problems": "exchange_problems"}
# A run does not see the connections of other runs between the same hosts: any of them may have been busy where the way is not
# quiet.
CROWDED = (
    "SELECT x.exchange FROM raw_exchanges AS x JOIN connection_context AS l ON l.part = x.part "
    "WHERE NOT l.is_beside AND NOT l.is_quiet"
)
NO_STATES = "SELECT CAST(NULL AS BIGINT) AS exchange, false AS redirected, CAST(NULL AS STRING) AS state WHERE false"
# Where a run is given facts.
GIVEN = "given"
_DAY = f"coalesce(request_time_ns, response_time_ns) // {DAY_NS}"


def signs(folder: Path, made: Mapping[str, str], options: Options) -> None:
    """Writes what a run knows of connections, members and fetches beside its raw tables, into the same folder, and as
    `stray_NAME` those rows of each raw table whose exchange may have rows in other runs, where the run did not do so itself
    (`read_task` with `strays_apart`)."""
    names = (*SIGNS, FETCHES.view)
    rows = raw_views.rows_of([folder])
    with run_sql.opened({**made, **_staying(rows, folder)}, folder, options, ()) as dataset:
        for name in names:
            run_sql.copied(dataset, f"SELECT * FROM {name}", folder / f"{name}.parquet")
        for name in RAW if _straddling(folder) else ():
            # Packets stay: each was read by one run. The run of strays has none, yet asks for them.
            strays = "exchange IN (SELECT exchange FROM raw_straddling)" if name in RAW_OF_EXCHANGES else "false"
            stray = f"SELECT * FROM ({rows[f'raw_{name}']}) AS x WHERE {strays}"
            run_sql.copied(dataset, stray, folder / f"{STRAY}{name}.parquet")


def _straddling(folder: Path) -> bool:
    """Whether a run knows of exchanges that may have rows in other runs."""
    import pyarrow.parquet as pq

    path = folder / "raw_straddling.parquet"
    return path.exists() and pq.read_metadata(path).num_rows > 0


def _staying(rows: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The raw tables of a run without the rows of such exchanges."""
    if not _straddling(folder):
        return dict(rows)
    chosen = {f"raw_{name}" for name in RAW_OF_EXCHANGES} & rows.keys()
    return {
        **rows,
        **{
            name: f"SELECT * FROM ({rows[name]}) AS x WHERE exchange NOT IN (SELECT exchange FROM raw_straddling)"
            for name in chosen
        },
        "raw_straddling": parquet([folder / "raw_straddling.parquet"]),
    }


def collect_strays(folders: Sequence[Path], target: Path, made: Mapping[str, str], options: Options) -> bool:
    """Makes a run of the rows that strayed from all runs, in `target`; False: there are none."""
    found = {
        name: files
        for name in RAW
        if (files := [path for each in folders if (path := each / f"{STRAY}{name}.parquet").exists()])
    }
    if not found:
        return False
    target.mkdir()
    with run_sql.opened({}, target, options, ()) as dataset:
        for name, files in found.items():
            run_sql.copied(dataset, parquet(files), target / f"raw_{name}.parquet")
    signs(target, made, options)
    return True


class Run:
    """The raw tables of a run, in `folder`, with the facts that it is `given`, as a database. Use it as a context manager."""

    def __init__(self, folder: Path, number: int, made: Mapping[str, str], given: Tables, options: Options) -> None:
        self._folder = folder
        self._number = number
        self._options = options
        views = {FETCHES.view: parquet([fetches])} if (fetches := folder / f"{FETCHES.view}.parquet").exists() else {}
        facts = run_sql.given(given, folder / GIVEN)
        rows = _staying(raw_views.rows_of([folder]), folder)
        if "raw_joined" in facts:
            rows = {
                name: raw_views.under_joined_parts(sql) if name in raw_views.OF_TASKS else sql
                for name, sql in rows.items()
            }
            views = {name: raw_views.under_joined_parts(sql) for name, sql in views.items()}
        views |= {
            "part_evidence": "SELECT * FROM throttled_parts",
            "fetch_states": NO_STATES,
            "crowded_exchanges": CROWDED,
        }
        types: dict[str, str] = {}
        if raw_views.is_large(folder):
            types = raw_views.types_of([folder])
            rows, made = raw_views.numbered(rows, made, are_written=True)
        self._open = run_sql.opened({**made, **rows, **views, **facts}, folder, options, types=types)

    def __enter__(self) -> Run:
        self._dataset: Dataset = self._open.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.__exit__(None, None, None)

    def view_times(self) -> bytes:
        """The view of that name."""
        path = self._folder / "view_times.parquet"
        run_sql.copied(self._dataset, "SELECT * FROM view_times", path)
        return path.read_bytes()

    def leaving(self, move: Move, buckets: int) -> Iterator[tuple[int, bytes]]:
        """(bucket, Parquet file) of the rows that move."""
        return leave(self._dataset, move, self._number, buckets, self._folder)

    def final(self, by_day: bool) -> Iterator[tuple[str, Part]]:
        """(name, file) of the run's rows of final tables; of exchanges one for each day (UTC) on request, whose name
        is `exchanges/date=2026-05-01`."""
        for table in FINAL:
            source = _SOURCES.get(table, f"all_{table}")
            for name, where in self._pieces(table, by_day):
                if part := run_sql.final(self._dataset, table, self._folder / f"final_{table}.parquet", where, source):
                    yield name, part

    def divided(self, name: str) -> Iterator[tuple[str, Partitioned, Path]]:
        """(table or sums, file, where it lies) of the same rows for a dataset that grows, as those that a run of this name adds."""
        files = {table: self._folder / f"final_{table}.parquet" for table, _ in self.final(by_day=False)}
        order = Order(name, self._folder / "divided", parquet([self._folder / GIVEN / f"{OPEN_CONNECTIONS}.parquet"]))
        for table, file in of_files(files, order, self._options):
            yield table, file, order.folder / file.file.file

    def least_rows_of_sums(self) -> dict[str, int]:
        """Of the exchanges that `final` gave last: about how many rows their sums would have at least (`hours.least_rows`)."""
        return least_rows(self._dataset, parquet([self._folder / "final_exchanges.parquet"]))

    def _pieces(self, table: str, by_day: bool) -> Sequence[tuple[str, str]]:
        if table != "exchanges" or not by_day:
            return [(table, "true")]
        days = self._dataset.query(f"SELECT DISTINCT {_DAY} AS day FROM all_exchanges ORDER BY day")
        return [
            (table, f"{_DAY} IS NULL") if day is None else (f"{table}/{day_directory(day)}", f"{_DAY} = {day}")
            for day in (row["day"] for row in days)
        ]
