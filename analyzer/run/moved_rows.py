"""Rows that must meet rows of other runs before they say what they mean.

Most raw rows are resolved where they lie (`resolved_runs`). Three things need rows of several runs side by side: a fetch session
goes on through the whole capture, what a client did while it was muted may lie in the next run, and whether an error was
normal is told by what the client did later. A `Move` says which rows leave a run, by which key they meet, and which final
tables are made of them there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.query import resolve
from analyzer.query.partitions import Order, Partitioned
from analyzer.query.table_views import parquet
from analyzer.run import run_sql
from analyzer.run.divided_rows import OPEN_CONNECTIONS, of_files
from analyzer.run.run_sql import Part, Tables

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset


FACTS = "facts"
MOMENT = "kanalyze_moment"


class Move(NamedTuple):
    """The rows of `view` move; those with the same `key` meet. They bring along columns of `connection_context`, or the moment of
    their exchange, which is not where they meet. `gives`: the final tables that are made of them."""

    view: str
    brought: tuple[str, ...]
    key: str
    gives: tuple[str, ...]

    def leaving(self) -> str:
        """SQL of the rows in a run."""
        if self.brings_moment:
            return (
                f"SELECT m.*, coalesce(x.request_time_ns, x.response_time_ns) AS {MOMENT} "
                f"FROM {self.view} AS m LEFT JOIN raw_exchanges AS x ON x.exchange = m.exchange"
            )
        columns = ", ".join(f"l.{name}" for name in self.brought)
        kafka = "JOIN connection_context AS l ON l.part = m.part WHERE l.is_kafka"
        return f"SELECT m.*, {columns} FROM ({resolve.once(self.view)}) AS m {kafka}"

    @property
    def brings_moment(self) -> bool:
        return self.brought == (MOMENT,)

    def moments(self, files: Sequence[Path]) -> str | None:
        """SQL of the columns of exchanges that tell their moments, of the rows that met; None: the rows have moments themselves."""
        if not self.brings_moment:
            return None
        return (
            f"SELECT exchange, any_value({MOMENT}) AS request_time_ns, CAST(NULL AS BIGINT) AS response_time_ns "
            f"FROM ({parquet(files)}) GROUP BY exchange"
        )

    def met(self) -> dict[str, str]:
        """The views behind which the rows are where they met, under the name `moved`."""
        views = {
            self.view: f"SELECT * EXCLUDE ({', '.join((*self.brought, 'run'))}) FROM moved",
            "forwarded": resolve.sql("no_forwarded"),
        }
        if not self.brings_moment:
            columns = ", ".join(self.brought)
            views["connection_context"] = f"SELECT DISTINCT part, {columns}, true AS is_kafka FROM moved"
        return views


FETCHES = Move(
    "fetch_names",
    ("connection", "cluster", "broker_address", "broker_port"),
    "CASE WHEN session_id <> 0 THEN hash(broker_address, broker_port, session_id) ELSE hash(part) END",
    ("fetch_positions",),
)
THROTTLES = Move("throttled_requests", ("connection", "mutes", "open_until_ns"), "hash(part)", ("mutes",))
ERRORS = Move("errors_told", (MOMENT,), "hash(client_address, client_id)", ("errors",))
# Fetches leave before a run is resolved, as the wait kinds of its exchanges come of them; the others with its resolved rows.
LATE = (THROTTLES, ERRORS)
MOVES = {move.view: move for move in (FETCHES, *LATE)}


class Met(NamedTuple):
    """What was made of rows that met: final tables, and of fetches what their sessions say about the exchanges of each run."""

    tables: dict[str, Part]
    states: dict[int, bytes]

    def divided(
        self, move: Move, files: Sequence[Path], name: str, folder: Path, options: Options
    ) -> Iterator[tuple[str, Partitioned, Path]]:
        """(table, file, where it lies) of the tables for a dataset that grows. `files`: those that met, in `folder`."""
        made = {table: folder / f"{table}.parquet" for table in self.tables}
        order = Order(name, folder / "divided", parquet([folder / FACTS / f"{OPEN_CONNECTIONS}.parquet"]))
        for table, file in of_files(made, order, options, move.moments(files)):
            yield table, file, order.folder / file.file.file


def leave(dataset: Dataset, move: Move, run: int, buckets: int, folder: Path) -> Iterator[tuple[int, bytes]]:
    """(bucket, Parquet file) of the rows of a run that move; rows with the same key have the same bucket."""
    path = folder / f"leaving_{move.view}.parquet"
    rows = f"SELECT *, CAST({run} AS BIGINT) AS run FROM ({move.leaving()}) AS leaving"
    if not run_sql.copied(dataset, rows, path):
        return
    if buckets == 1:
        yield 0, path.read_bytes()
        return
    for bucket in range(buckets):
        one = folder / f"leaving_{move.view}_{bucket}.parquet"
        if run_sql.copied(dataset, f"{parquet([path])} WHERE {move.key} % {buckets} = {bucket}", one):
            yield bucket, one.read_bytes()


def meet(
    move: Move, files: Sequence[Path], made: Mapping[str, str], facts: Tables, folder: Path, options: Options
) -> Met:
    """Resolves rows that met, which `leave` wrote to `files`. `made`: the SQL of `resolve`; `facts`: those for all runs."""
    views = {**made, **run_sql.given(facts, folder / FACTS), "moved": parquet(files), **move.met()}
    found = Met({}, {})
    with run_sql.opened(views, folder, options) as dataset:
        for table in move.gives:
            if part := run_sql.final(dataset, table, folder / f"{table}.parquet"):
                found.tables[table] = part
        if move is FETCHES:
            found.states.update(_states(dataset, folder))
    return found


def _states(dataset: Dataset, folder: Path) -> Iterator[tuple[int, bytes]]:
    """Run -> what fetch sessions say about its exchanges (`fetch_states`)."""
    path = folder / "states.parquet"
    told = (
        "SELECT m.run, s.* FROM fetch_states AS s "
        "JOIN (SELECT exchange, min(run) AS run FROM moved GROUP BY exchange) AS m ON m.exchange = s.exchange"
    )
    run_sql.copied(dataset, told, path)
    for row in dataset.query(f"SELECT DISTINCT run FROM ({parquet([path])}) AS told ORDER BY run"):
        one = folder / f"states_{row['run']}.parquet"
        run_sql.copied(
            dataset, f"SELECT * EXCLUDE (run) FROM ({parquet([path])}) AS told WHERE run = {row['run']}", one
        )
        yield int(row["run"]), one.read_bytes()
