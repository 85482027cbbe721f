"""Sums over windows that have left: rows of metrics and views that can be added, and how.

Percentiles are made of the sums of log buckets by the view that makes them in every report (`latency_slices`). A total names its
keys, and the columns that are added or whose least or greatest value stays. All others cannot be added, and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.left_out import is_bug
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    import pyarrow

# Of a total with more rows those with the smallest sums become one, with all keys null.
MOST_ROWS = 20_000


class Total(NamedTuple):
    """`keys` and the columns that are added (SUM), or whose extreme stays; `by` orders rows where there are too many."""

    keys: tuple[str, ...]
    added: tuple[str, ...]
    least: tuple[str, ...] = ()
    greatest: tuple[str, ...] = ()
    by: str = ""


_PARTS = tuple(
    f"{part}_ns" for part in ("measured", "send", "queue", "muted", "proxy", "broker", "network", "unknown", "receive")
)
LATENCY = "latency_counts"
TOTALS: Mapping[str, Total] = {
    LATENCY: Total(
        ("role", "own_kind", "api_name", "kind", "bucket", "parts_known"),
        ("requests", "n", "errors", "throttled", "unread", "request_bytes", "response_bytes", "squares", *_PARTS),
        ("first_time_ns", "low"),
        ("last_time_ns", "high"),
        "requests",
    ),
    "errors": Total(
        ("between_brokers", "code", "name", "retriable", "api_name", "topic", "client_id", "client_address"),
        ("count", "exchanges", "expected", "unexpected", "unjudged"),
        ("first_time_ns",),
        ("last_time_ns", "burst", "level", "entity", "error_message"),
        "count",
    ),
    "throttle": Total(
        ("client_address", "client_id", "principal", "api_name"),
        ("replies", "unknown", "throttled", "refused", "throttle_time_ms", "held_ns", "paused_ns", "sent_inside", "delayed",
         "delayed_ns", "unsure"),
        (),
        ("max_throttle_time_ms", "throttled_ns", "share", "connections"),
        "throttle_time_ms",
    ),
    "statuses": Total(
        (),
        ("requests", "answered", "no_reply_expected", "reply_lost", "pending", "closed", "abandoned", "orphan_replies",
         "request_bytes", "response_bytes"),
    ),
    "links": Total(
        (),
        ("connections", "kafka_connections", "tls_connections", "kafka_bytes", "framed_bytes", "skipped_sync_bytes",
         "skipped_malformed_bytes", "skipped_unfinished_bytes", "broken_off_bytes", "skipped_foreign_bytes",
         "skipped_encrypted_bytes", "gaps", "gap_bytes", "cut_bytes"),
    ),
}  # fmt: skip
# Total -> the metric that has its rows, where the names differ.
_METRICS = {"statuses": "coverage", "links": "coverage"}


class Totals:
    """The totals so far, a Parquet file each in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Totals that a bug of ours made incomplete.
        self._lost: dict[str, Exception] = {}
        folder.mkdir()

    def add_exchanges(self, dataset: Dataset) -> None:
        """Adds the exchanges of windows that leave."""
        for name in TOTALS:
            if name != "links":
                self._add(name, dataset)

    def add_connections(self, dataset: Dataset) -> None:
        """Adds the connections that ended in them."""
        self._add("links", dataset)

    def with_rows(self, name: str, dataset: Dataset) -> pyarrow.Table:
        """A total, with the rows of a dataset added: the whole run. Raises what made it incomplete."""
        if name in self._lost:
            raise self._lost[name]
        return self._added(name, _rows(dataset, name))

    def latency(self, dataset: Dataset, captures: str) -> list[dict[str, Any]]:
        """The rows of the metric `latency` over the whole run; `captures`: SQL of its captures."""
        import pyarrow.parquet as pq

        path = self._folder / "whole.parquet"
        pq.write_table(self.with_rows(LATENCY, dataset), path)
        nulls = ("slot_ns", "api_version", "error_code", "client_id", "client_address", "application", "client_name", "principal",
                 "broker_id", "broker_address", "broker_port", "connection", "client_port", "group_id", "topic",
                 "topics")  # fmt: skip
        columns = ", ".join(f"NULL AS {name}" for name in nulls)
        with Dataset(
            {LATENCY: f"SELECT *, {columns} FROM ({parquet([path])})", "captures": captures}, threads=1
        ) as whole:
            return whole.metric("latency")

    def _add(self, name: str, dataset: Dataset) -> None:
        import pyarrow.parquet as pq

        try:
            rows = _rows(dataset, name)
        except Exception as error:
            if not is_bug(error):
                raise
            self._lost[name] = error
            return
        path = self._path(name)
        unfinished = path.with_suffix(".new")
        pq.write_table(self._added(name, rows), unfinished)
        unfinished.replace(path)

    def _added(self, name: str, rows: pyarrow.Table) -> pyarrow.Table:
        import duckdb

        with duckdb.connect(":memory:", config={"threads": 1}) as database:
            database.register("rows_now", rows)
            before = f" UNION ALL BY NAME {parquet([self._path(name)])}" if self._path(name).exists() else ""
            columns = ", ".join((*TOTALS[name].keys, *_values(TOTALS[name])))
            return database.sql(_merged(name, f"SELECT {columns} FROM rows_now{before}")).to_arrow_table()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.parquet"


def _values(total: Total) -> tuple[str, ...]:
    return (*total.added, *total.least, *total.greatest)


def _merged(name: str, rows: str) -> str:
    """SQL that adds rows key by key. Types stay what they are: a sum beyond int64 is null, as in the metrics."""
    total = TOTALS[name]
    sums = [f"{_cast(column)}(sum({column}){_end(column)} AS {column}" for column in total.added]
    least = [f"min({column}) AS {column}" for column in total.least]
    greatest = [f"max({column}) AS {column}" for column in total.greatest]
    values = ", ".join((*sums, *least, *greatest))
    if not total.keys:
        return f"SELECT {values} FROM ({rows})"
    keys = ", ".join(total.keys)
    ranked = f"SELECT {keys}, {values} FROM ({rows}) GROUP BY {keys}"
    kept = (
        f"SELECT *, row_number() OVER (ORDER BY {total.by} DESC NULLS LAST) <= {MOST_ROWS} AS is_kept FROM ({ranked})"
    )
    folded = ", ".join(f"CASE WHEN is_kept THEN {key} END AS {key}" for key in total.keys)
    columns = ", ".join(_values(total))
    return f"SELECT {keys}, {values} FROM (SELECT {folded}, {columns} FROM ({kept})) GROUP BY {keys}"


def _cast(column: str) -> str:
    return "" if column == "squares" else "TRY_CAST"


def _end(column: str) -> str:
    return ")" if column == "squares" else " AS BIGINT)"


def _rows(dataset: Dataset, name: str) -> pyarrow.Table:
    if name == LATENCY:
        return dataset.arrow(f"SELECT * FROM {LATENCY}")
    return dataset.arrow(dataset.settings.folded(metrics.text(_METRICS.get(name, name))))
