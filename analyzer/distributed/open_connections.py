"""Connections that are open where captures end, kept so that a later run over the captures that follow can finish them.

What is kept is what tasks of the run left of them: their fragments, and the raw rows of their resolved spans. To the next run it
is one more task that is read already. It stitches these fragments with those of its own tasks, and gives the rows of these
connections anew, from their first packet on: their ids stay, and no exchange is broken in two. Until then the rows that the run
gave of them are not settled (`unsettled`).

A connection that was silent for `SILENT_NS` is not kept: brokers close an idle one after ten minutes. One that was closed is kept
while its last packets may still come.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.filters import literal
from analyzer.base.json_shapes import ShapeError, by_name, each, flag, loaded, record, text, whole
from analyzer.distributed.fragments import schema
from analyzer.distributed.resolved_spans import RAW_OF_EXCHANGES, STRAY
from analyzer.ingest.facts.fact_tables import FACT_TABLES, no_rows
from analyzer.ingest.summary import Summary
from analyzer.query.table_views import parquet
from dissectors import layout
from dissectors.kafka.columns import exchange_columns
from dissectors.tcp import state_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

FRAGMENTS = "fragments.parquet"
SUMMARY = "summary.json"
UNSETTLED = "unsettled.parquet"
FLOWS = "open_flows.parquet"
PARTS = "open_parts.parquet"
# Exchanges that may have rows in several runs, as tasks write them.
OF_SEVERAL_RUNS = "raw_straddling"
SILENT_NS = 86_400_000_000_000
LINGER_NS = 120_000_000_000
# Raw tables in which tasks keep rows of spans.
_OF_SPANS = (
    "exchanges",
    "entries",
    "errors",
    "queued",
    *(name for name, columns in FACT_TABLES.items() if ("part", "int64") in columns),
)
_OF_BODIES = tuple(name for name, columns in FACT_TABLES.items() if ("part", "int64") not in columns)
_SUMMARY = record(
    {
        "api_keys": each(whole(-(1 << 15), (1 << 15) - 1)),
        "several_points": flag,
        "odd": flag,
        "rows": by_name(lambda _: whole(least=0)),
        "layout": text,
    }
)
# What runs have of connections: all that `leave` copies.
OF_RUNS = (
    "fragments",
    OF_SEVERAL_RUNS,
    *(f"raw_{name}" for name in (*_OF_SPANS, *_OF_BODIES)),
    *(f"{STRAY}{name}" for name in RAW_OF_EXCHANGES),
)
# What resolution asks of the captures from which kept rows come.
OF_CAPTURES = ("captures", "raw_splits", "raw_jumps")
# What is kept of settled connections, as views of `resolve` have it. Members whose own reply said what they were assigned: the
# connection of the group's leader, whose request says the same once more, may be open. Which cluster an address belongs to, and
# which node it is, may never be told again.
KNOWN = ("own_assignments", "known_clusters", "known_nodes")
# The files of what was kept that whoever is in charge of a run reads.
OF_DRIVER = (SUMMARY, *(f"{name}.parquet" for name in (*KNOWN, *OF_CAPTURES)))
# Which constants tell the places of numbers in fragments and markers: (module, how their names begin).
_PLACES = ((layout, ""), (state_columns, "SIDE_"), (exchange_columns, "LAST_REPLY_"))


class Carried(NamedTuple):
    """What earlier runs kept, in `folder`; None: nothing. The run that continues numbers its captures from `first_file` on and
    their splits from `first_split` on."""

    folder: Path | None
    first_file: int = 0
    first_split: int = 0

    def summary(self) -> Summary:
        """The summary of the earlier runs, as far as it concerns the connections that were kept."""
        if self.folder is None:
            return Summary(set(), set(), Counter(), 0, Counter(), False, False, Counter())
        told = loaded((self.folder / SUMMARY).read_bytes(), _SUMMARY)
        keys, several, odd, rows = (told[name] for name in ("api_keys", "several_points", "odd", "rows"))
        return Summary(set(keys), set(), Counter(), 0, Counter(), several, odd, Counter(rows))

    def behind(self, name: str, table: pa.Table) -> pa.Table:
        """A table of `OF_CAPTURES`, whose files are numbered from 0, as the run needs it: with the rows of earlier captures."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        if "file" not in table.column_names or not (self.first_file or self.folder):
            return table
        place = table.column_names.index("file")
        field = table.schema.field("file")
        table = table.set_column(place, field, pc.cast(pc.add(table["file"], self.first_file), field.type))
        path = self.folder / f"{name}.parquet" if self.folder else None
        if name not in OF_CAPTURES or path is None or not path.exists():
            return table
        return pa.concat_tables([pq.read_table(path, schema=table.schema), table])

    def known(self, name: str) -> Path | None:
        """The file of one of KNOWN, if there is one."""
        path = self.folder / f"{name}.parquet" if self.folder else None
        return path if path and path.exists() else None


NOTHING_CARRIED = Carried(None)


def layout_key() -> str:
    """Tells two forms apart: fragments and markers hold rows of numbers, which mean something by their places alone."""
    names = sorted(
        (name, value)
        for module, prefix in _PLACES
        for name, value in vars(module).items()
        if name.startswith(prefix) and isinstance(value, int)
    )
    return sha256(repr((names, schema().names, OF_SEVERAL_RUNS)).encode()).hexdigest()[:16]


def can_continue(folder: Path) -> bool:
    """Whether what was kept in `folder` was written with this layout."""
    try:
        told = loaded((folder / SUMMARY).read_bytes(), _SUMMARY)
    except (FileNotFoundError, ShapeError):
        return False
    return bool(told["layout"] == layout_key())


def keep(folders: Sequence[Path], stitched: Sequence[Path], small: Path, summary: Summary, target: Path) -> None:
    """Keeps, in `target`, what a run left of open connections: `folders` are those of its tasks, with what was carried to it,
    `stitched` those of its partitions; `small` has the tables of `OF_CAPTURES`, and gets what `choose` writes."""
    choose(stitched, small)
    target.mkdir()
    leave(folders, small, target)
    keep_small(small, summary, rows_of_spans(target), target)


def choose(stitched: Sequence[Path], small: Path) -> None:
    """Writes, into `small`, which connections stay open: FLOWS of fragments and PARTS of tasks that keep something, and
    UNSETTLED, the parts whose rows are not settled. `stitched`: the folders of the partitions that were stitched."""
    import duckdb

    with duckdb.connect(":memory:") as database:
        database.execute(
            f"CREATE TABLE parts AS SELECT part, close, last_time_ns FROM ({parquet(_found(stitched, 'raw_parts'))})"
        )
        database.execute(
            f"CREATE TABLE framed AS SELECT part, flow FROM ({parquet(_found(stitched, 'raw_framed_parts'))})"
        )
        database.execute(
            "CREATE TABLE flows AS SELECT DISTINCT f.flow FROM parts AS p JOIN framed AS f ON f.part = p.part "
            f"JOIN (SELECT max(last_time_ns) AS end_ns FROM parts) AS e ON p.last_time_ns >= e.end_ns - {SILENT_NS} "
            f"WHERE p.close = 'none' OR p.last_time_ns >= e.end_ns - {LINGER_NS}"
        )
        database.execute("CREATE TABLE unsettled AS SELECT part FROM framed WHERE flow IN (SELECT flow FROM flows)")
        kept = f"SELECT part FROM ({parquet(_found(stitched, 'raw_joined'))}) WHERE joined_to IN (SELECT part FROM unsettled)"
        for name, rows in ((FLOWS, "FROM flows"), (PARTS, kept), (UNSETTLED, "FROM unsettled")):
            database.execute(f"COPY ({rows}) TO {literal(str(small / name))} (format parquet)")


def known(unsettled: Path) -> dict[str, str]:
    """SQL of KNOWN; members of groups about which open connections have messages. `unsettled`: as `choose` writes it."""
    parts = f"SELECT part FROM ({parquet([unsettled])})"
    groups = f"SELECT group_id FROM raw_group_steps WHERE part IN ({parts})"
    return {
        "own_assignments": f"SELECT * FROM own_assignments WHERE group_id IN ({groups})",
        "known_clusters": "SELECT * FROM known_clusters",
        "known_nodes": "SELECT * FROM known_nodes",
    }


def leave(folders: Sequence[Path], chosen: Path, target: Path) -> None:
    """Copies what runs, tasks or what was carried, have of these connections (`choose`) into `target`. Rows of exchanges that have
    rows in several runs may lie apart in the folders (`read_task`), and do not in `target`, which names these exchanges."""
    import duckdb

    flows, parts = (parquet([chosen / name]) for name in (FLOWS, PARTS))
    with duckdb.connect(":memory:") as database:
        _copy(database, _found(folders, "fragments"), f"flow IN ({flows})", target / FRAGMENTS)
        for name in _OF_SPANS:
            files = [*_found(folders, f"raw_{name}"), *_found(folders, f"{STRAY}{name}")]
            _copy(database, files, f"part IN ({parts})", target / f"raw_{name}.parquet")
        if reported := _found([target], "raw_reported"):
            for name in _OF_BODIES:
                of_kept = f"body IN (SELECT body FROM ({parquet(reported)}))"
                _copy(database, _found(folders, f"raw_{name}"), of_kept, target / f"raw_{name}.parquet")
        kept = [path for name in RAW_OF_EXCHANGES for path in _found([target], f"raw_{name}")]
        strays = [path for name in RAW_OF_EXCHANGES for path in _found(folders, f"{STRAY}{name}")]
        files = [*_found(folders, OF_SEVERAL_RUNS), *strays]
        if kept and files:
            here = f"exchange IN (SELECT exchange FROM ({parquet(kept)}))"
            _copy(database, files, here, target / f"{OF_SEVERAL_RUNS}.parquet", "DISTINCT exchange")


def join(folders: Sequence[Path], target: Path) -> None:
    """Makes one of what several of `leave` gave."""
    import duckdb

    with duckdb.connect(":memory:") as database:
        for name in sorted({path.stem for folder in folders for path in folder.iterdir()}):
            once = name.removeprefix("raw_") in _OF_BODIES or name == OF_SEVERAL_RUNS
            chosen = "DISTINCT *" if once else "*"
            _copy(database, _found(folders, name), "true", target / f"{name}.parquet", chosen)


def keep_small(small: Path, summary: Summary, rows: Mapping[str, int], target: Path) -> None:
    """Keeps, in `target`, what the next run must know before it is given the rows: `OF_CAPTURES` out of `small`, and SUMMARY."""
    import duckdb

    with duckdb.connect(":memory:") as database:
        for name in OF_CAPTURES:
            _copy(database, _found([small], name), "true", target / f"{name}.parquet")
    told = {
        "api_keys": sorted(summary.api_keys),
        "several_points": summary.saw_several_points,
        "odd": summary.odd,
        "rows": dict(rows),
        "layout": layout_key(),
    }
    (target / SUMMARY).write_text(json.dumps(told))


def bring(state: Path, folder: Path) -> None:
    """Puts what was kept in `state` into the folder of a run of its own. Columns of facts that an older kanalyze did not know are
    null."""
    import duckdb
    import pyarrow.parquet as pq

    for path in (path for name in OF_RUNS for path in _found([state], name)):
        name = path.stem.removeprefix("raw_")
        if {column for column, _ in FACT_TABLES.get(name, ())} <= {*pq.read_schema(path).names}:
            path.rename(folder / path.name)
            continue
        rows = f"{parquet([path])} UNION ALL BY NAME {no_rows(name)}"
        with duckdb.connect(":memory:") as database:
            database.execute(f"COPY ({rows}) TO {literal(str(folder / path.name))} (format parquet, compression zstd)")


def without(folder: Path, flows: Sequence[int], target: Path) -> Path:
    """Copies what was kept to `target`, without the fragments of `flows`: those about which the earlier run turned out wrong."""
    import duckdb

    target.mkdir()
    for path in folder.iterdir():
        if path.name != FRAGMENTS:
            (target / path.name).hardlink_to(path)
    with duckdb.connect(":memory:") as database:
        left = f"flow NOT IN ({', '.join(map(str, flows))})"
        _copy(database, _found([folder], "fragments"), left, target / FRAGMENTS)
    return target


def rows_of_spans(folder: Path) -> dict[str, int]:
    """The rows of each table of spans that were kept in a folder."""
    from pyarrow.parquet import read_metadata

    return {name: sum(read_metadata(path).num_rows for path in _found([folder], f"raw_{name}")) for name in _OF_SPANS}


def _found(folders: Sequence[Path], name: str) -> list[Path]:
    return [path for folder in folders if (path := folder / f"{name}.parquet").exists()]


def _copy(database: DuckDBPyConnection, files: Sequence[Path], where: str, to: Path, chosen: str = "*") -> None:
    if files:
        database.execute(
            f"COPY (SELECT {chosen} FROM ({parquet(files)}) WHERE {where}) TO {literal(str(to))} "
            "(format parquet, compression zstd)"
        )
