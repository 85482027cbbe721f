"""A dataset with each connection once, for findings: what several capture points that have names saw happened once.

Tables keep a row for each of them (`--tap`). A count, a threshold, or a walk from one life of a client to the next has no use for
the second one. The row that stays is that of a point that saw both sides, for much longer than others, from the beginning, with the
fewest bytes missing; among equal ones that of the point with the most packets. Of two that saw one side each both stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from analyzer.base.tables import TABLES
from analyzer.query.dataset import Dataset
from analyzer.query.table_views import NEAR

_AGAIN = "seen_again"
# Clocks of capture points differ.
_SLACK_NS = 1_000_000_000
_SEEN_AGAIN = f"""
WITH links AS (
    SELECT
        connection, tap, one_way, client_address, client_port, broker_address, broker_port, first_time_ns, last_time_ns,
        row(
            one_way IS NOT NULL, -floor(log2(1 + (last_time_ns - first_time_ns) / {_SLACK_NS}) / 2),
            seen_from <> 'syn', client_gap_bytes + broker_gap_bytes,
            -sum(client_packets + broker_packets) OVER (PARTITION BY tap), tap
        ) AS place
    FROM all_connections
)
SELECT DISTINCT b.connection
FROM links AS a JOIN links AS b
    ON b.client_address = a.client_address AND b.client_port = a.client_port AND b.broker_address = a.broker_address
    AND b.broker_port = a.broker_port
WHERE b.tap <> a.tap AND b.place > a.place AND (a.one_way IS NULL OR a.one_way = b.one_way)
    AND b.first_time_ns <= a.last_time_ns + {_SLACK_NS} AND a.first_time_ns <= b.last_time_ns + {_SLACK_NS}
"""


@contextmanager
def seen_once(dataset: Dataset) -> Iterator[Dataset]:
    """The dataset itself, unless two capture points saw the same connection. Raises DatasetError."""
    (taps,) = dataset.ask("SELECT min(tap) < max(tap) AS are_several FROM all_connections")
    again = [row["connection"] for row in dataset.ask(_SEEN_AGAIN)] if taps["are_several"] else []
    if not again:
        yield dataset
        return
    once = _without(dataset, again)
    try:
        yield once
    finally:
        once.close()


def _without(dataset: Dataset, connections: list[int]) -> Dataset:
    views = dict(dataset.made_of["views"])
    # Held as a table: each question would read them again.
    views[_AGAIN] = f"SELECT unnest([{', '.join(map(str, sorted(connections)))}]) AS connection"
    for table, columns in TABLES.items():
        if any(column.name == "connection" for column in columns):
            for name in {table, f"{NEAR}{table}"} & set(views):
                views[name] = _narrowed(views[name])
    found = Dataset(**{**dataset.made_of, "views": views, "materialized": {*dataset.made_of["materialized"], _AGAIN}})
    found.captures, found.tell = dataset.captures, dataset.tell
    return found


def _narrowed(view: str | Callable[[], str]) -> str | Callable[[], str]:
    def sql(of: str) -> str:
        kept = f"seen.connection IS NULL OR seen.connection NOT IN (SELECT connection FROM {_AGAIN})"
        return f"SELECT seen.* FROM ({of}) AS seen WHERE {kept}"

    return sql(view) if isinstance(view, str) else lambda: sql(view())
