"""Tables as Parquet files by day, for a dataset that grows: TABLE/date=2026-05-01/part-RUN.parquet, days in UTC.

A row belongs to the day of its moment; rows of entries, errors and batches, which have none, to that of their exchange. A day with
many rows is several files, each of some whole minutes: the manifest tells their moments, and a question about ten minutes reads,
and copies from storage, files of its time alone. They lie in one directory: engines refuse tables in which only some days have
directories for hours.

Rows of connections that are not over have files of their own, as the next run gives them anew. Captures are in one file a run;
topic ids and brokers, about which every run may say more, in one file that the newest run makes of its own and the one before.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.base.filters import literal
from analyzer.base.tables import TABLES
from analyzer.query.days import DAY_NS, day_directory
from analyzer.query.export_tables import COPY_OPTIONS, MOMENTS, Written, copy_rows
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from analyzer.query.dataset import Dataset

    Rows = dict[str, Any]

# A file with so many rows is not small: a day is cut into files with as many at least (some 50 MB of exchanges).
LARGE_ROWS = 1_000_000
_OPEN = "-open"
MINUTE_NS = 60_000_000_000
DAY_MINUTES = DAY_NS // MINUTE_NS
# Tables that are small, and are written as one file.
OF_INPUTS = "captures"
# A table with rows of connections, and of captures as a whole.
OF_CAPTURES_TOO = "problems"
# Table -> how its rows of several runs become one.
MERGED = {
    "topic_ids": "SELECT cluster, topic_id, topic, max_by(racks, (last_time_ns, racks, whole_racks)) AS racks, "
    "max_by(whole_racks, (last_time_ns, racks, whole_racks)) AS whole_racks, "
    "min(first_time_ns) AS first_time_ns, max(last_time_ns) AS last_time_ns "
    "FROM ({rows}) GROUP BY cluster, topic_id, topic",
    "brokers": "SELECT cluster, broker_id, host, port, max(rack) AS rack, bool_or(controller) AS controller, "
    "min(first_time_ns) AS first_time_ns, max(last_time_ns) AS last_time_ns "
    "FROM ({rows}) GROUP BY cluster, broker_id, host, port",
}


class Partitioned(NamedTuple):
    """A file that was written, and whether its rows are open."""

    file: Written
    is_open: bool


def is_open(table: str, file: str) -> bool:
    """Whether the next run gives the rows of a file anew, by its name."""
    return table in MERGED or _OPEN in file.rpartition("/")[2]


class Order(NamedTuple):
    """What is written: by the run of this name, below `folder`. `open_rows`: SQL of the keys of connections that are not over;
    `first_file`: captures are told from this number on; `earlier`: table of MERGED -> its files of the run before."""

    run: str
    folder: Path
    open_rows: str
    first_file: int = 0
    earlier: Mapping[str, Sequence[Path]] = {}


def write_partitions(dataset: Dataset, table: str, order: Order) -> Iterator[Partitioned]:
    """Writes a table; gives its files, each with at least one row."""
    name = f"part-{order.run}.parquet"
    if table == OF_INPUTS:
        yield from _one(dataset, table, f"SELECT * FROM {table} WHERE file >= {order.first_file}", order, name, False)
    elif table in MERGED:
        rows = f"SELECT * FROM {table}"
        if order.earlier.get(table):
            rows += f" UNION ALL BY NAME {parquet(order.earlier[table])}"
        yield from _one(dataset, table, MERGED[table].format(rows=rows), order, name, True)
    else:
        yield from _by_day(dataset, table, order)


def _by_day(dataset: Dataset, table: str, order: Order) -> Iterator[Partitioned]:
    """All rows are computed once, into a file beside, and then divided."""
    (order.folder / table).mkdir()
    sorting = order.folder / table / "sorting.parquet"
    marked = (
        f"SELECT *, kanalyze_moment // {DAY_NS} AS kanalyze_day, "
        f"coalesce(connection IN ({order.open_rows}), false) AS kanalyze_open FROM ({_with_moment(table)})"
    )
    if table == OF_CAPTURES_TOO:
        # Captures of earlier runs are known to this one, and their problems are told.
        marked += f" WHERE coalesce(connection IS NOT NULL OR file >= {order.first_file}, true)"
    dataset.query(f"COPY ({marked}) TO {literal(str(sorting))} ({COPY_OPTIONS})")
    rows = parquet([sorting])
    found = dataset.query(
        f"SELECT kanalyze_day AS day, kanalyze_open AS open, kanalyze_moment // {MINUTE_NS} AS minute, count(*) AS rows, "
        f"min(kanalyze_moment) AS first, max(kanalyze_moment) AS last FROM ({rows}) GROUP BY ALL ORDER BY day, open, minute"
    )
    for (day, of_open), minutes in groupby(found, lambda each: (each["day"], each["open"])):
        folder = table if day is None else f"{table}/{day_directory(day)}"
        (order.folder / folder).mkdir(exist_ok=True)
        pieces = _pieces(list(minutes))
        for piece in pieces:
            first, last = piece[0]["first"], piece[-1]["last"]
            of_time = "IS NULL" if day is None else f"BETWEEN {first} AND {last}"
            chosen = f"kanalyze_open = {of_open} AND kanalyze_moment {of_time}"
            begin = "-t{:02}{:02}".format(*divmod(piece[0]["minute"] % DAY_MINUTES, 60)) if len(pieces) > 1 else ""
            name = f"{folder}/part-{order.run}{_OPEN if of_open else ''}{begin}.parquet"
            columns = f"SELECT * EXCLUDE (kanalyze_moment, kanalyze_day, kanalyze_open) FROM ({rows}) WHERE {chosen}"
            copy_rows(dataset, table, columns, order.folder, name)
            yield Partitioned(Written(name, sum(each["rows"] for each in piece), first, last), of_open)
    sorting.unlink()


def _pieces(minutes: Sequence[Rows]) -> list[list[Rows]]:
    """The minutes of a day, in order, as files: each of LARGE_ROWS at least, and the last one gets what is left."""
    pieces: list[list[Rows]] = [[]]
    rows = 0
    for minute in minutes:
        if rows >= LARGE_ROWS:
            pieces.append([])
            rows = 0
        pieces[-1].append(minute)
        rows += minute["rows"]
    if len(pieces) > 1 and rows < LARGE_ROWS:
        rest = pieces.pop()
        pieces[-1] += rest
    return pieces


def _with_moment(table: str) -> str:
    names = {column.name for column in TABLES[table]}
    moments = next((columns for columns in MOMENTS if names.issuperset(columns)), ())
    if moments:
        return f"SELECT *, coalesce({', '.join((*moments, 'NULL'))}) AS kanalyze_moment FROM {table}"
    return (
        "SELECT t.*, coalesce(x.request_time_ns, x.response_time_ns) AS kanalyze_moment "
        f"FROM {table} AS t LEFT JOIN exchanges AS x ON x.exchange = t.exchange"
    )


def _one(dataset: Dataset, table: str, rows: str, order: Order, name: str, is_open: bool) -> Iterator[Partitioned]:
    (order.folder / table).mkdir()
    written = copy_rows(dataset, table, rows, order.folder, f"{table}/{name}")
    if written.rows:
        yield Partitioned(written, is_open)
