"""Questions whose answer has several parts, each a metric: what verbs print and the Python API returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzer.base.filters import like
from analyzer.query.metrics import data_rows, text

# Question -> part -> metric; the first part is what is answered when none is named.
PARTS = {
    "groups": {
        "groups": "groups",
        "rebalances": "rebalances",
        "members": "group_members",
        "unsteady": "unsteady_members",
        "timeline": "group_timeline",
    },
    "topics": {
        "topics": "topics",
        "producers": "topic_producers",
        "consumers": "topic_consumers",
        "partitions": "topic_partitions",
        "lag": "lag",
        "delivery": "delivery",
        "notes": "topics_of_note",
    },
    "transactions": {
        "transactions": "transactions",
        "list": "transaction_list",
        "producers": "producers",
        "resent": "resent",
    },
    "zones": {"flows": "zones", "clients": "zone_clients", "topics": "zone_topics"},
    "readiness": {"clients": "readiness", "versions": "readiness"},
}
# What `--part log` of `latency` and `profile` asks, and what it says where no log was given.
OF_LOG = "broker_log"
NO_LOG = "No broker's log of requests was read: give one with --request-log."
# Releases of Kafka that clients are judged for, the newest last: `metrics/views/materialized/kafka_releases.tsv` is the list.
RELEASES = tuple(row[0] for row in data_rows("kafka_releases"))
NEWEST_RELEASE = RELEASES[-1]


def narrowed(metric: str, wanted: Mapping[str, Sequence[str]]) -> str:
    """The metric's SQL with only the rows that are wanted: column -> globs; a row must match one."""
    sql = text(metric)
    conditions = [f"({' OR '.join(like(column, glob) for glob in globs)})" for column, globs in wanted.items() if globs]
    return f"SELECT * FROM ({sql.rstrip()}\n) AS metric WHERE {' AND '.join(conditions)}" if conditions else sql
