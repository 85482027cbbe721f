"""Tables as Parquet files by day, for a dataset that grows: TABLE/date=2026-05-01/part-RUN-0000.parquet, days in UTC.

A row belongs to the day of its moment; rows of entries, errors and batches, which have none, to that of their exchange. Rows of
connections that are not over have files of their own, as the next run gives them anew. Captures are in one file a run; topic ids
and brokers, of which every run may say more, in one file that the newest run makes of its own and the one before.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.filters import literal
from analyzer.base.tables import TABLES
from analyzer.query.days import DAY_NS, day_directory
from analyzer.query.export_tables import COPY_OPTIONS, MOMENTS, Written, copy_rows
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.query.dataset import Dataset

# Tables that are small, and are written as one file.
OF_INPUTS = "captures"
# Table -> how its rows of several runs become one.
MERGED = {
    "topic_ids": "SELECT cluster, topic_id, topic, min(first_time_ns) AS first_time_ns, max(last_time_ns) AS last_time_ns "
    "FROM ({rows}) GROUP BY cluster, topic_id, topic",
    "brokers": "SELECT cluster, broker_id, host, port, max(rack) AS rack, bool_or(controller) AS controller, "
    "min(first_time_ns) AS first_time_ns, max(last_time_ns) AS last_time_ns "
    "FROM ({rows}) GROUP BY cluster, broker_id, host, port",
}


class Partitioned(NamedTuple):
    """A file that was written, and whether its rows are open."""

    file: Written
    is_open: bool


class Order(NamedTuple):
    """What is written: by the run of this name, below `folder`. `open_rows`: SQL of the keys of connections that are not over;
    `first_file`: captures are told from this number on; `earlier`: table of MERGED -> its files of the run before."""

    run: str
    folder: Path
    open_rows: str
    first_file: int
    earlier: dict[str, list[Path]]


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
    dataset.query(f"COPY ({marked}) TO {literal(str(sorting))} ({COPY_OPTIONS})")
    rows = parquet([sorting])
    found = dataset.query(
        "SELECT kanalyze_day AS day, kanalyze_open AS open, count(*) AS rows, min(kanalyze_moment) AS first, "
        f"max(kanalyze_moment) AS last FROM ({rows}) GROUP BY day, open ORDER BY day, open"
    )
    for each in found:
        of_day = "IS NULL" if each["day"] is None else f"= {each['day']}"
        chosen = f"kanalyze_open = {each['open']} AND kanalyze_day {of_day}"
        folder = table if each["day"] is None else f"{table}/{day_directory(each['day'])}"
        name = f"{folder}/part-{order.run}{'-open' if each['open'] else ''}.parquet"
        (order.folder / folder).mkdir(exist_ok=True)
        columns = f"SELECT * EXCLUDE (kanalyze_moment, kanalyze_day, kanalyze_open) FROM ({rows}) WHERE {chosen}"
        copy_rows(dataset, table, columns, order.folder, name)
        yield Partitioned(Written(name, each["rows"], each["first"], each["last"]), each["open"])
    sorting.unlink()


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
