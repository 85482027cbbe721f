"""What all runs together know of connections, clusters, groups and topics: small tables, which one process makes and every run
is given before its rows are resolved.

Each run hands on its small raw tables, and views of `resolve.OF_RUNS` over its own rows: what its requests prove of a
connection, client ids of members of groups. A database over all of these makes the views below with the SQL of a run on this
machine, and the final tables that need no other rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed.open_connections import NOTHING_CARRIED, Carried, known
from analyzer.ingest.run_tables import small_tables
from analyzer.query.table_views import parquet
from analyzer.run import raw_views, run_sql
from analyzer.run.divided_rows import OPEN_CONNECTIONS, open_rows
from analyzer.run.run_sql import Part, Tables
from dissectors.layout import SPLIT_SHIFT

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.ingest.summary import Summary
    from analyzer.inputs.readings import Reading
    from analyzer.names.name_table import Names

# Raw tables with a row for each connection, group step or fact at most.
SMALL = (
    *("parts", "framed_parts", "tls", "silences", "problems", "joined", "reported"),
    *("cluster_facts", "broker_facts", "topic_facts", "asked_facts", "version_facts"),
    *("group_steps", "login_steps", "token_owners"),
)
# Views over the rows of a run that it hands on with them.
SIGNS = ("part_marks", "part_signs", "last_answers", "member_clients", "batch_marks")
# Final tables that are made of these alone.
FINAL = (
    "captures",
    "connections",
    "unread_silences",
    "problems",
    "topic_ids",
    "brokers",
    "offered_versions",
    "logins",
    "forwards",
)
# What every run is given, and of what it is given the rows about its own connections.
FOR_ALL = (
    "raw_splits",
    "raw_jumps",
    "topic_names",
    "static_members",
    "group_types",
    "own_assignments",
    "group_clients",
    "client_answers",
)
FOR_PARTS = ("connection_context", "part_group_types", "throttled_parts")
THROTTLED = "SELECT part, throttled FROM part_evidence WHERE throttled = 1"


# The run that is made of rows of exchanges that several runs have parts of (`resolved_runs.collect_strays`).
STRAYS = -1
# What earlier runs kept of open connections (`analyzer.distributed.open_connections`), as one run.
CARRIED = -2


class Told(NamedTuple):
    """What runs told beside their tables, which lie in `folder`, a directory for each run, named by its number; also the strays
    if there are any."""

    folder: Path
    runs: Sequence[int]
    readings: Sequence[Reading]
    summary: Summary

    def folders(self) -> list[Path]:
        return [self.folder / str(run) for run in self.runs]

    @property
    def strays(self) -> Path | None:
        folder = self.folder / str(STRAYS)
        return folder if folder.exists() else None

    def sign(self, name: str) -> str:
        """SQL of the rows of a view of SIGNS that all runs gave."""
        folders = (*self.folders(), *([self.strays] if self.strays else []))
        rows = parquet([path for folder in folders if (path := folder / f"{name}.parquet").exists()])
        joined = any((folder / "raw_joined.parquet").exists() for folder in self.folders())
        return raw_views.under_joined_parts(rows) if joined else rows


def made_of(told: Told) -> dict[str, str]:
    """Name -> SQL of the views that make final tables of the raw ones of all runs."""
    return raw_views.made_of(told.summary, told.folders(), told.sign("part_marks"))


class Facts:
    """The database over what runs told. Use it as a context manager.

    `seen_again`: connections were captured several times on their way, or carried on by a proxy. Then `view_times` are needed,
    files with the view of that name; runs give it when they are asked for the `asked_parts`. `carried`: what earlier runs kept;
    `named`: views that say more than runs do, name -> SQL; `names`: those of addresses.
    """

    def __init__(
        self,
        told: Told,
        options: Options,
        view_times: Sequence[Path] = (),
        carried: Carried = NOTHING_CARRIED,
        named: Mapping[str, str] | None = None,
        names: Names | None = None,
    ) -> None:
        import pyarrow.parquet as pq

        self._folder = told.folder
        self._carried = carried
        # Exchanges are not here: what is odd about them each run says for itself.
        made = made_of(told._replace(summary=replace(told.summary, odd=False)))
        self.seen_again = "asked_parts" in made
        views = made | raw_views.rows_of(told.folders()) | {"throttled_parts": THROTTLED}
        self._joined = "raw_joined" in views
        for name, table in small_tables(told.readings, told.summary).items():
            pq.write_table(carried.behind(name, table), told.folder / f"{name}.parquet")
            views[name] = parquet([told.folder / f"{name}.parquet"])
        views |= named or {}
        for name in SIGNS:
            views[name] = told.sign(name)
        if told.strays:
            tables = (
                f"SELECT part FROM ({parquet([path])}) AS x" for path in sorted(told.strays.glob("raw_*.parquet"))
            )
            views["strays"] = " UNION ".join(tables)
        if view_times:
            views["view_times"] = parquet(view_times)
        self._open = ExitStack()
        materialized = (*raw_views.COMPUTED_ONCE, *FOR_ALL, *FOR_PARTS)
        self._dataset = self._open.enter_context(run_sql.opened(views, told.folder, options, materialized, names=names))

    def __enter__(self) -> Facts:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def asked_parts(self, run: int) -> Tables:
        """What a run needs to give `view_times`."""
        return self._of_run(run, ("asked_parts",))

    def for_all(self) -> Tables:
        """What every run is given."""
        return dict(self._copies((name, f"SELECT * FROM {name}") for name in FOR_ALL))

    def for_run(self, run: int) -> Tables:
        """What a run is given beside that: the rows about connections that it has rows of."""
        return self._of_run(run, (*FOR_PARTS, *(("part_views", "forwarded") if self.seen_again else ())))

    def open_connections(self, unsettled: Path) -> bytes:
        """The keys of connections that are not over: every run reads them."""
        ((_, data),) = self._copies([(OPEN_CONNECTIONS, open_rows(unsettled))])
        return data

    def keep_known(self, unsettled: Path, folder: Path) -> None:
        """Writes what the next run must know of them."""
        for name, sql in known(unsettled).items():
            run_sql.copied(self._dataset, sql, folder / f"{name}.parquet")

    def final(self) -> Iterator[tuple[str, Part]]:
        """(name, file) of the final tables that are made of small tables alone."""
        for table in FINAL:
            if part := run_sql.final(self._dataset, table, self._folder / f"final_{table}.parquet"):
                yield table, part

    def _of_run(self, run: int, names: Iterable[str]) -> Tables:
        own, parts = self._own(run, "part"), self._with_joined(run, "part")
        # An exchange of one run may have been carried on over a connection of another.
        wider = {"forwarded": f"{parts} OR {self._with_joined(run, 'from_part')}"}
        tables = dict(self._copies((name, f"SELECT * FROM {name} WHERE {wider.get(name, parts)}") for name in names))
        if self._joined:
            tables |= dict(self._copies([("raw_joined", f"SELECT * FROM raw_joined WHERE {own}")]))
        return tables

    def _own(self, run: int, column: str) -> str:
        if run == STRAYS:
            return f"{column} IN (SELECT part FROM strays)"
        # Parts are numbered on from run to run.
        is_own = f"< {self._carried.first_split}" if run == CARRIED else f"= {run}"
        return f"{column} >> {SPLIT_SHIFT} {is_own}"

    def _with_joined(self, run: int, column: str) -> str:
        own = self._own(run, column)
        if not self._joined:
            return own
        return f"({own} OR {column} IN (SELECT joined_to FROM raw_joined WHERE {self._own(run, 'part')}))"

    def _copies(self, questions: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
        for name, sql in questions:
            path = self._folder / f"given_{name}.parquet"
            run_sql.copied(self._dataset, sql, path)
            yield name, path.read_bytes()
