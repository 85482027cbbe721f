"""Hours and days of a dataset: counts and sums of its requests by what questions group by, in files beside each file of exchanges.
They can be added, so a question about a month need not read the month's rows.

One file with all dimensions would have a row for nearly every request where many clients meet many brokers. So there are several
(`SUMS`), and a question reads the first that has its dimensions and its slots of time. Buckets are those of every percentile of
kanalyze (`metrics/views/latency_counts.sql`), so the answer is the one that rows give. Where rows are needed they are read: for
topics, groups and connections, other durations, filters but whole slots, and by client where there are so many clients that
the smallest were added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.filters import Filters, literal, time_condition
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.query.days import DAY_NS
from analyzer.query.frequent_keys import of_most
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    import pyarrow.parquet as pq

HOUR_NS = 3_600_000_000_000
OTHER = "(other)"


class Sums(NamedTuple):
    """Which sums files of a directory hold. `column`: the moment at which the slot of a row begins. In a slot with more than
    `most_clients` (id, address and user) those with the fewest requests are one, OTHER."""

    name: str
    by: tuple[str, ...]
    slot_ns: int
    most_clients: int | None = None

    @property
    def column(self) -> str:
        return "hour_ns" if self.slot_ns == HOUR_NS else "day_ns"

    def answers(self, settings: Settings, filters: Filters) -> bool:
        """Whether these sums have what a question asks for."""
        return (
            set(settings.by) <= set(self.by)
            and not (settings.every_ns or 0) % self.slot_ns
            and not any((edge or 0) % self.slot_ns for edge in (filters.from_ns, filters.to_ns))
        )


# In the order in which they are looked at: the smallest first.
SUMS = (
    Sums("api_hours", ("api", "version", "error"), HOUR_NS),
    Sums("broker_days", ("api", "broker"), DAY_NS),
    Sums("client_days", ("api", "client", "principal"), DAY_NS, 10_000),
    Sums("hours", ("api", "version", "error", "client", "principal", "broker"), HOUR_NS, 1_000),
)
SUM_NAMES = tuple(sums.name for sums in SUMS)
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
_VALUES = (*_COUNTS, *_DURATIONS, "squares", *_LEAST, *_GREATEST)

# Rows of sums with the keys that are asked for, as `request_slices` has them.
_KEYED = """
SELECT
    CASE WHEN s.every_ns > 0 THEN h.{column} - h.{column} % s.every_ns END AS slot_ns,
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
    {values}
FROM ({rows}) AS h CROSS JOIN settings AS s
WHERE {condition}
"""


def beside(exchanges: str, name: str) -> str:
    """The name of the file of sums of a file of exchanges."""
    return f"{name}/{exchanges.removeprefix('exchanges/')}"


def write_sums(exchanges: str, below: Path, threads: int | None = None) -> dict[str, int]:
    """Writes all sums of a file of exchanges, below the same directory; answers their rows by name. `threads` None: one per core.
    Raises duckdb.IOException for a full disk."""
    counts = {}
    with Dataset({"exchanges": parquet([below / exchanges])}, threads=threads) as dataset:
        for sums in SUMS:
            to = below / beside(exchanges, sums.name)
            to.parent.mkdir(parents=True, exist_ok=True)
            dataset.choose(Settings(sums.by, sums.slot_ns))
            rows = f"{_folded(sums)} ORDER BY {sums.column}, {_KEYS}"
            (written,) = dataset.query(f"COPY ({rows}) TO {literal(str(to))} (format parquet, compression zstd)")
            counts[sums.name] = int(written["Count"])
    return counts


def _folded(sums: Sums) -> str:
    """SQL of the rows of sums; `is_other` where several clients are one."""
    if sums.most_clients is None:
        return (
            f"SELECT slot_ns AS {sums.column}, false AS is_other, {_KEYS}, {_added()} FROM latency_counts GROUP BY ALL"
        )
    clients = "slot_ns, client_id, client_address, principal"
    ranked = (
        f"SELECT {clients}, row_number() OVER (PARTITION BY slot_ns ORDER BY sum(requests) DESC, {clients}) "
        f"> {sums.most_clients} AS is_other FROM latency_counts GROUP BY {clients}"
    )
    same = " AND ".join(f"c.{name} IS NOT DISTINCT FROM r.{name}" for name in clients.split(", "))
    folded = (
        "SELECT c.* EXCLUDE (slot_ns) REPLACE ("
        f"CASE WHEN r.is_other THEN '{OTHER}' ELSE c.client_id END AS client_id, "
        "CASE WHEN NOT r.is_other THEN c.client_address END AS client_address, "
        f"CASE WHEN NOT r.is_other THEN c.principal END AS principal), c.slot_ns AS {sums.column}, r.is_other "
        f"FROM latency_counts AS c JOIN ({ranked}) AS r ON {same}"
    )
    return f"SELECT {sums.column}, is_other, {_KEYS}, {_added()} FROM ({folded}) GROUP BY ALL"


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
    """The sums of a dataset that was opened. `files`: by name, what gets paths on this machine when they are first needed."""

    files: Mapping[str, Callable[[], Sequence[Path]]]

    def views(self) -> dict[str, Callable[[], str]]:
        """Name -> what gives SQL of the rows as they were written."""
        return {name: partial(self._sql, name) for name in self.files}

    def _sql(self, name: str) -> str:
        return parquet(self.files[name]())

    def counts(self, settings: Settings, filters: Filters) -> str | None:
        """SQL of what the view `latency_counts` gives for a question; None where it needs rows."""
        if settings.measure != "latency" or filters != Filters(from_ns=filters.from_ns, to_ns=filters.to_ns):
            return None
        by_client = bool(set(settings.by) & set(_OF_CLIENTS))
        for sums in SUMS:
            if sums.name in self.files and sums.answers(settings, filters) and self._is_whole(sums.name, by_client):
                condition = time_condition(filters, sums.column)
                rows = self._sql(sums.name)
                values = ", ".join(f"h.{name}" for name in _VALUES)
                keyed = _KEYED.format(rows=rows, column=sums.column, values=values, condition=condition)
                keyed = settings.folded(keyed)
                if settings.most is not None:
                    keyed = of_most(keyed, settings.most, "sum(requests)")
                return f"SELECT * EXCLUDE ({', '.join(_VALUES)}), {_added()} FROM ({keyed}) AS h GROUP BY ALL"
        return None

    def _is_whole(self, name: str, by_client: bool) -> bool:
        """Whether all files have all keys."""
        import pyarrow.parquet as pq

        return not any(
            _lacks_a_key(about) or (by_client and _has_others(about))
            for about in map(pq.read_metadata, self.files[name]())
        )


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
