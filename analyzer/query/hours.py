"""Hours and days of a dataset: counts and sums of its requests by what questions group by, in files beside each file of exchanges.
They can be added, so a question about a month need not read the month's rows.

One file with all dimensions would have a row for nearly every request where many clients meet many brokers. So there are several
(`SUMS`), and a question reads the first that has its dimensions and its slots of time. Buckets are those of every percentile of
kanalyze (`metrics/views/latency_counts.sql`), so the answer is the one that rows give. Where rows are needed they are read: for
groups and connections, other durations, and filters but whole slots.

Of clients, users and topics there may be any number, so sums keep those of a slot with the most requests, and the others are one,
OTHER. An answer has them as one too, and who shows it says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from analyzer.base.filters import Filters, literal, time_condition
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.query.days import DAY_NS, HOUR_NS
from analyzer.query.frequent_keys import of_most
from analyzer.query.table_views import parquet

OTHER = "(other)"
# What the name of one of several files of a day ends with (`partitions`).
_OF_TIME = re.compile(r"-t\d{4}(?=\.parquet$)")
_TOPIC = "topic"
_IS_REST = "is_rest"


class Sums(NamedTuple):
    """Which sums files of a directory hold. `column`: the moment at which the slot of a row begins. In a slot with more than
    `most` clients (id, address and user), or topics, those with the fewest requests are one, OTHER; of users who are only
    among these clients, too. By topic a request counts for each topic that it names."""

    name: str
    by: tuple[str, ...]
    slot_ns: int
    most: int | None = None

    @property
    def column(self) -> str:
        return "hour_ns" if self.slot_ns == HOUR_NS else "day_ns"

    @property
    def of_topics(self) -> bool:
        """Whether they are made of entries too."""
        return _TOPIC in self.by

    @property
    def keys(self) -> str:
        """The columns by which rows are told apart within a slot."""
        return f"{_KEYS}, topic, topics" if self.of_topics else _KEYS

    def answers(self, settings: Settings, filters: Filters) -> bool:
        """Whether these sums have what a question asks for."""
        return (
            set(settings.by) <= set(self.by)
            and self.of_topics == (_TOPIC in settings.by)
            and not (settings.every_ns or 0) % self.slot_ns
            and not any((edge or 0) % self.slot_ns for edge in (filters.from_ns, filters.to_ns))
        )


# In the order in which they are looked at: the smallest first.
SUMS = (
    Sums("api_hours", ("api", "version", "error"), HOUR_NS),
    Sums("broker_days", ("api", "broker"), DAY_NS),
    Sums("topic_days", ("api", "error", "topic"), DAY_NS, 1_000),
    Sums("client_days", ("api", "client", "principal"), DAY_NS, 10_000),
    Sums("hours", ("api", "version", "error", "client", "principal", "broker"), HOUR_NS, 1_000),
)
SUM_NAMES = tuple(sums.name for sums in SUMS)
_KEYS = (
    "role, own_kind, api_name, kind, api_version, error_code, client_id, client_address, principal, broker_id, broker_address, "
    "broker_port, bucket, parts_known"
)
_OF_CLIENTS = "client_id, client_address, principal"
_EXACT = "DECIMAL(38, 0)"
_TOPICS = ((_TOPIC, "STRING"), ("topics", "BIGINT"))
_COUNTS = ("requests", "n", "errors", "throttled", "unread", "throttle_time_ms", "request_bytes", "response_bytes")
# Durations, and squares of one: of absurd times they do not fit into int64.
_DURATIONS = (
    *(
        f"{part}_ns"
        for part in ("measured", "send", "queue", "muted", "proxy", "broker", "network", "unknown", "receive")
    ),
    "squares",
)
_LEAST, _GREATEST = ("first_time_ns", "low"), ("last_time_ns", "high", "max_throttle_time_ms")
_VALUES = (*_COUNTS, *_DURATIONS, *_LEAST, *_GREATEST)

# The columns of exchanges that tell the rows of sums apart, by the words of `Sums.by`; of an hour as of a day.
_COLUMNS = {
    "api": "api_name, kind",
    "version": "api_version",
    "error": "error_code",
    "client": "client_id, client_address",
    "principal": "principal",
    "broker": "broker_id, broker_address, broker_port",
}
# The bucket of a request whose latency is measured, as `latency_counts.sql` has it.
_BUCKET = "CASE WHEN latency_ns > 0 THEN CAST(ceil(64 * ln(latency_ns / 1e9) / ln(2)) AS INT) ELSE -2000 END"
# Sums with more than this part of the rows of exchanges help nobody, and to make them takes as long as to make the exchanges.
MOST_OF_ROWS = 0.5
FEW_ROWS = 10_000

# Rows of sums with the keys that are asked for, as `request_slices` has them. Sums of older datasets have no role for clients.
_KEYED = """
SELECT
    CASE WHEN s.every_ns > 0 THEN h.{column} - h.{column} % s.every_ns END AS slot_ns,
    coalesce(h.role, 'client') AS role,
    h.own_kind,
    CASE WHEN coalesce(s.by_api, true) THEN h.api_name END AS api_name,
    CASE WHEN coalesce(s.by_api, true) THEN h.kind END AS kind,
    CASE WHEN s.by_version THEN h.api_version END AS api_version,
    CASE WHEN s.by_error THEN h.error_code END AS error_code,
    CASE WHEN s.by_client THEN h.client_id END AS client_id,
    CASE WHEN s.by_client THEN h.client_address END AS client_address,
    CAST(NULL AS STRING) AS application,
    CAST(NULL AS STRING) AS client_name,
    CASE WHEN s.by_principal THEN h.principal END AS principal,
    CASE WHEN s.by_broker THEN h.broker_id END AS broker_id,
    CASE WHEN s.by_broker THEN h.broker_address END AS broker_address,
    CASE WHEN s.by_broker THEN h.broker_port END AS broker_port,
    CAST(NULL AS BIGINT) AS connection,
    CAST(NULL AS INT) AS client_port,
    CAST(NULL AS STRING) AS group_id,
    {topic} AS topic,
    {topics} AS topics,
    h.bucket,
    h.parts_known,
    {values}
FROM ({rows}) AS h CROSS JOIN settings AS s
WHERE {condition}
"""


def beside(file: str, name: str) -> str:
    """The name of the file of another table, or of sums, with the same exchanges; of sums all files of a run's day have one."""
    return f"{name}/{_OF_TIME.sub('', file.partition('/')[2])}"


def least_rows(dataset: Dataset, exchanges: str) -> dict[str, int]:
    """About how many rows each of the sums that are not by topic would have at least. `exchanges`: SQL of a file's rows."""
    wanted = [sums for sums in SUMS if not sums.of_topics]
    many = f"approx_count_distinct(hash({_OF_CLIENTS}))"
    counts = []
    for sums in wanted:
        # Where some clients are one, rows without clients are the least that is left.
        all_keys, fewer = (
            f"approx_count_distinct(hash({', '.join([*(_COLUMNS[key] for key in by), 'bucket'])}))"
            for by in (sums.by, [key for key in sums.by if key not in ("client", "principal")])
        )
        if fewer != all_keys and sums.most is not None:
            all_keys = f"CASE WHEN {many} <= {sums.most} THEN {all_keys} ELSE {fewer} END"
        counts.append(f"{all_keys} AS {sums.name}")
    (row,) = dataset.query(
        f"SELECT {', '.join(counts)} FROM (SELECT *, {_BUCKET} AS bucket FROM ({exchanges}) AS x) AS e"
    )
    return {sums.name: int(row[sums.name]) for sums in wanted}


def worth_writing(least: Mapping[str, int], exchanges: int) -> list[str]:
    """The names of those sums, not by topic, that are much shorter than so many exchanges, or short. `least`: about how many rows
    each has at least."""
    most = max(FEW_ROWS, MOST_OF_ROWS * exchanges)
    return [sums.name for sums in SUMS if not sums.of_topics and least.get(sums.name, 0) <= most]


def write_sums(
    exchanges: Sequence[str],
    below: Path,
    entries: Sequence[str] | None,
    threads: int | None = None,
    names: Collection[str] = SUM_NAMES,
) -> dict[str, int]:
    """Writes all sums of a day's files of exchanges, or those of some `names`, below the same directory; answers their rows by
    name. `entries`: the files that have all entries of these exchanges; None: not known, and so no sums by topic. `threads` None:
    one per core. Raises duckdb.IOException for a full disk."""
    views = {"exchanges": parquet([below / file for file in exchanges])}
    if entries:
        views["entries"] = parquet([below / file for file in entries])
    counts = {}
    with Dataset(views, threads=threads) as dataset:
        for sums in SUMS:
            if sums.name not in names or (sums.of_topics and entries is None):
                continue
            to = below / beside(exchanges[0], sums.name)
            to.parent.mkdir(parents=True, exist_ok=True)
            dataset.choose(Settings(sums.by, sums.slot_ns))
            dataset.query("CREATE OR REPLACE TEMP TABLE counted AS SELECT * FROM latency_counts")
            counts[sums.name] = copy_sums(dataset, _rows(dataset, sums), to)
    return counts


def copy_sums(dataset: Dataset, rows: str, to: Path) -> int:
    """Writes rows of sums, in the order of their columns, as the file `to`; answers how many."""
    names = ", ".join(f'NULL AS "{each["column_name"]}"' for each in dataset.query(f"DESCRIBE {rows}"))
    # Without rows, which DuckDB finds out only when it runs. So it declares every column as one that may be null, as in the other
    # files of these sums: else engines that take the columns from one file read nulls of others as zero.
    nulls = f"SELECT {names} FROM range(0)"
    ordered = f"SELECT * FROM ({rows}) UNION ALL BY NAME {nulls} ORDER BY ALL"
    (written,) = dataset.query(f"COPY ({ordered}) TO {literal(str(to))} (format parquet, compression zstd)")
    return int(written["Count"])


def _rows(dataset: Dataset, sums: Sums) -> str:
    """SQL of the rows of sums, from the table `counted`."""
    keys = "topic" if sums.of_topics else _OF_CLIENTS
    per_slot = f"SELECT slot_ns, count(*) AS n FROM (SELECT DISTINCT slot_ns, {keys} FROM counted) GROUP BY slot_ns"
    if sums.most is not None and dataset.query(f"SELECT 1 AS one FROM ({per_slot}) WHERE n > {sums.most} LIMIT 1"):
        return _folded(sums, sums.most)
    kinds = dict.fromkeys(_COUNTS, "BIGINT") | dict.fromkeys(_DURATIONS, _EXACT)
    values = (f"CAST({name} AS {kinds[name]}) AS {name}" if name in kinds else name for name in _VALUES)
    return f"SELECT slot_ns AS {sums.column}, false AS {_IS_REST}, {sums.keys}, {', '.join(values)} FROM counted"


def _folded(sums: Sums, most: int) -> str:
    """SQL of the rows of sums where several keys are one, with `is_rest`."""
    of_slot = f"SELECT {sums.column}, {_IS_REST}, {sums.keys}, {_added()}"
    if sums.of_topics:
        rows = (
            f"SELECT * REPLACE ({_or_other('topic', 'topic_rank', most)}), slot_ns AS {sums.column}, "
            f"topic_rank > {most} AS {_IS_REST} FROM ({_ranked('topic', 'topic_rank', 'counted')})"
        )
    else:
        ranked = _ranked("principal", "user_rank", "counted")
        ranked = _ranked(_OF_CLIENTS, "client_rank", f"({ranked})")
        rank = "least(client_rank, user_rank)"
        rows = (
            f"SELECT * REPLACE (CASE WHEN client_rank > {most} THEN '{OTHER}' ELSE client_id END AS client_id, "
            f"CASE WHEN client_rank <= {most} THEN client_address END AS client_address, "
            f"{_or_other('principal', rank, most)}), slot_ns AS {sums.column}, "
            f"client_rank > {most} AS {_IS_REST} FROM ({ranked})"
        )
    return f"{of_slot} FROM ({rows}) GROUP BY ALL"


def _or_other(key: str, rank: str, most: int) -> str:
    return f"CASE WHEN {key} IS NOT NULL AND {rank} > {most} THEN '{OTHER}' ELSE {key} END AS {key}"


def _ranked(keys: str, name: str, rows: str) -> str:
    """SQL of rows with the place, from 1 on, that their key has in its slot by its requests."""
    columns = f"slot_ns, {keys}"
    ranks = (
        f"SELECT {columns}, row_number() OVER (PARTITION BY slot_ns ORDER BY sum(requests) DESC, {columns}) AS {name} "
        f"FROM {rows} GROUP BY {columns}"
    )
    same = " AND ".join(f"c.{each} IS NOT DISTINCT FROM r.{each}" for each in columns.split(", "))
    return f"SELECT c.*, r.{name} FROM {rows} AS c JOIN ({ranks}) AS r ON {same}"


def _added() -> str:
    """SQL of the values of rows that are added. A sum of durations is exact, however absurd the times of a capture are."""
    return ", ".join((
        *(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in _COUNTS),
        *(f"sum(CAST({name} AS {_EXACT})) AS {name}" for name in _DURATIONS),
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
        for sums in SUMS:
            if sums.name in self.files and sums.answers(settings, filters) and self._has_keys(sums):
                condition = time_condition(filters, sums.column)
                rows = self._sql(sums.name)
                values = ", ".join(f"h.{name}" for name in _VALUES)
                topic = [f"h.{name}" if sums.of_topics else f"CAST(NULL AS {kind})" for name, kind in _TOPICS]
                keyed = _KEYED.format(
                    rows=rows, column=sums.column, values=values, condition=condition, topic=topic[0], topics=topic[1]
                )
                keyed = settings.folded(keyed)
                if settings.most is not None:
                    keyed = of_most(keyed)
                return f"SELECT * EXCLUDE ({', '.join(_VALUES)}), {_added()} FROM ({keyed}) AS h GROUP BY ALL"
        return None

    def _has_keys(self, sums: Sums) -> bool:
        """Whether all files have all keys: an older kanalyze kept fewer."""
        import pyarrow.parquet as pq

        needed = {*sums.keys.split(", "), _IS_REST}
        return all(needed <= set(pq.read_metadata(path).schema.names) for path in self.files[sums.name]())
