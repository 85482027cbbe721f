"""Hours of a dataset: counts and sums of its requests by hour, API, version, error code, client, user, broker and latency
bucket, in a file beside each file of exchanges. They can be added, so a question about a month need not read the month's rows.

The buckets are those of every percentile of kanalyze (`metrics/views/latency_counts.sql`), so the answer is the one that rows give.
Where rows are needed they are read: for topics, groups and connections, other durations, filters but whole hours, and by client in
an hour with so many clients that the smallest were added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.filters import Filters, literal, time_condition
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    import pyarrow.parquet as pq

HOURS = "hours"
HOUR_NS = 3_600_000_000_000
# In an hour with more clients (id, address and user) those with the fewest requests are one.
MOST_CLIENTS = 1_000
OTHER = "(other)"
DIMENSIONS = ("api", "version", "error", "client", "principal", "broker")
_OF_CLIENTS = ("client", "principal")
_KEYS = (
    "role, own_kind, api_name, kind, api_version, error_code, client_id, client_address, principal, broker_id, broker_address, "
    "broker_port, bucket, parts_known"
)
_COUNTS = ("requests", "n", "errors", "throttled", "throttle_time_ms", "request_bytes", "response_bytes")
_DURATIONS = tuple(
    f"{part}_ns" for part in ("measured", "send", "queue", "muted", "broker", "network", "unknown", "receive")
)
_LEAST, _GREATEST = ("first_time_ns", "low"), ("last_time_ns", "high", "max_throttle_time_ms")

# The columns of the view `latency_counts`, from hours; see there and `request_slices`.
_AS_COUNTS = """
SELECT
    CASE WHEN s.every_ns > 0 THEN h.hour_ns - h.hour_ns % s.every_ns END AS slot_ns,
    h.role,
    h.own_kind,
    CASE WHEN coalesce(s.by_api, true) THEN h.api_name END AS api_name,
    CASE WHEN coalesce(s.by_api, true) THEN h.kind END AS kind,
    CASE WHEN s.by_version THEN h.api_version END AS api_version,
    CASE WHEN s.by_error THEN h.error_code END AS error_code,
    CASE WHEN s.by_client THEN h.client_id END AS client_id,
    CASE WHEN s.by_client THEN h.client_address END AS client_address,
    CASE WHEN s.by_principal THEN h.principal END AS principal,
    CASE WHEN s.by_broker THEN h.broker_id END AS broker_id,
    CASE WHEN s.by_broker THEN h.broker_address END AS broker_address,
    CASE WHEN s.by_broker THEN h.broker_port END AS broker_port,
    CAST(NULL AS BIGINT) AS connection,
    CAST(NULL AS INT) AS client_port,
    CAST(NULL AS STRING) AS group_id,
    CAST(NULL AS STRING) AS topic,
    CAST(NULL AS BIGINT) AS topics,
    h.bucket,
    h.parts_known,
    {added}
FROM ({rows}) AS h CROSS JOIN settings AS s
WHERE {condition}
GROUP BY ALL
"""


def beside(exchanges: str) -> str:
    """The name of the hours of a file of exchanges."""
    return f"{HOURS}/{exchanges.removeprefix('exchanges/')}"


def write_hours(exchanges: str, below: Path, threads: int | None = None) -> int:
    """Writes the hours of a file of exchanges, both below a directory; answers their rows. `threads` None: one per core. Raises
    duckdb.IOException for a full disk."""
    to = below / beside(exchanges)
    to.parent.mkdir(parents=True, exist_ok=True)
    with Dataset({"exchanges": parquet([below / exchanges])}, threads=threads) as dataset:
        dataset.choose(Settings(DIMENSIONS, HOUR_NS))
        clients = "slot_ns, client_id, client_address, principal"
        ranked = (
            f"SELECT {clients}, row_number() OVER (PARTITION BY slot_ns ORDER BY sum(requests) DESC, {clients}) "
            f"> {MOST_CLIENTS} AS is_other FROM latency_counts GROUP BY {clients}"
        )
        same = " AND ".join(f"c.{name} IS NOT DISTINCT FROM r.{name}" for name in clients.split(", "))
        folded = (
            "SELECT c.* EXCLUDE (slot_ns) REPLACE ("
            f"CASE WHEN r.is_other THEN '{OTHER}' ELSE c.client_id END AS client_id, "
            "CASE WHEN NOT r.is_other THEN c.client_address END AS client_address, "
            "CASE WHEN NOT r.is_other THEN c.principal END AS principal), c.slot_ns AS hour_ns, r.is_other "
            f"FROM latency_counts AS c JOIN ({ranked}) AS r ON {same}"
        )
        rows = f"SELECT hour_ns, is_other, {_KEYS}, {_added()} FROM ({folded}) GROUP BY ALL ORDER BY hour_ns, {_KEYS}"
        (written,) = dataset.query(f"COPY ({rows}) TO {literal(str(to))} (format parquet, compression zstd)")
        return int(written["Count"])


def _added() -> str:
    """SQL of the values of rows that are added. A sum of durations is exact, however absurd the times of a capture are."""
    return ", ".join((
        *(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in _COUNTS),
        *(f"sum(CAST({name} AS DECIMAL(38, 0))) AS {name}" for name in _DURATIONS),
        "sum(squares) AS squares",
        *(f"min({name}) AS {name}" for name in _LEAST),
        *(f"max({name}) AS {name}" for name in _GREATEST),
    ))  # fmt: skip


class Hours(NamedTuple):
    """The hours of a dataset that was opened. `files`: paths on this machine with their bytes, got when they are first needed."""

    files: Callable[[], Sequence[Path]]

    def sql(self) -> str:
        """The rows as they were written."""
        return parquet(self.files())

    def counts(self, settings: Settings, filters: Filters) -> str | None:
        """SQL of what the view `latency_counts` gives for a question; None where it needs rows."""
        edges = (filters.from_ns, filters.to_ns)
        if filters != Filters(from_ns=filters.from_ns, to_ns=filters.to_ns) or any(
            (edge or 0) % HOUR_NS for edge in edges
        ):
            return None
        if (
            settings.measure != "latency"
            or (settings.every_ns or 0) % HOUR_NS
            or not set(settings.by) <= set(DIMENSIONS)
        ):
            return None
        by_client = bool(set(settings.by) & set(_OF_CLIENTS))
        if any(_lacks_a_key(about) or (by_client and _has_others(about)) for about in self._footers()):
            return None
        condition = time_condition(filters, "hour_ns")
        return settings.folded(_AS_COUNTS.format(rows=self.sql(), added=_added(), condition=condition))

    def _footers(self) -> Iterator[pq.FileMetaData]:
        import pyarrow.parquet as pq

        return map(pq.read_metadata, self.files())


def _lacks_a_key(about: pq.FileMetaData) -> bool:
    """Whether the file was written by an older kanalyze, which kept fewer keys."""
    return not set(_KEYS.split(", ")) <= set(about.schema.names)


def _has_others(about: pq.FileMetaData) -> bool:
    """Whether clients were added up in the file."""
    column = about.schema.names.index("is_other")
    for group in range(about.num_row_groups):
        told = about.row_group(group).column(column).statistics
        if told is None or not told.has_min_max or told.max:
            return True
    return False
