"""Latency, throttling and errors of clients' requests by any key: what Spark's own DataFrames add up, where the rows are.

A key is a column of `exchanges` (docs/tables.md), of `connections` (`cluster`, `tap` ...), or `topic`, of error codes any column
of `errors`, too. By topic a request counts once for each topic that it names, and one that names none has the topic null.
Keys may be null: then nobody said. Requests between brokers are left out, as `kanalyze latency` leaves them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analyzer.base.tables import TABLES
from analyzer.spark.session import told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Tables = Mapping[str, DataFrame]

BY_API = ("api_name", "kind")
BY_CLIENT = ("client_address", "client_id", "principal", "api_name")
BY_ERROR = ("code", "name", "api_name", "topic", "client_address", "client_id")
# Percentiles are exact ranks up to about so many requests of a key, and of more within a ten thousandth of them.
ACCURACY = 10_000
TOPIC = "coalesce(topic, topic_id)"
# Of a column of `exchanges` the table `errors` has its own.
OF_ERRORS = tuple(column.name for column in TABLES["errors"])


def latency(tables: Tables, by: Sequence[str] = BY_API) -> DataFrame:
    """How long requests take, a row for each combination of the keys, the most frequent first.

    `requests`; `answered`, those whose latency is known; `p50_ms`, `p95_ms`, `p99_ms` and `max_ms` of the latency, from the
    request's last byte to the reply's first: null where none is answered. Raises ValueError for an unknown key, SparkError.
    """
    with told():
        found = _added_up(
            _of_clients(tables, by).where("status <> 'orphan_reply'"),
            by,
            "count(*) AS requests",
            "count(latency_ns) AS answered",
            f"percentile_approx(latency_ns, array(0.5, 0.95, 0.99), {ACCURACY}) AS points",
            "max(latency_ns) / 1e6D AS max_ms",
        )
        percentiles = [f"points[{place}] / 1e6D AS {name}_ms" for place, name in enumerate(("p50", "p95", "p99"))]
        return found.selectExpr(*map(_quoted, by), "requests", "answered", *percentiles, "max_ms")


def throttle(tables: Tables, by: Sequence[str] = BY_CLIENT) -> DataFrame:
    """How much replies say that clients are throttled, a row for each combination of the keys that has a throttled one, the most
    throttled first.

    `throttle_time_ms`, the sum of what replies tell, over all connections, and the greatest, `max_throttle_time_ms`; `throttled`,
    the replies that name any, of all `replies`; `unknown`, those that do not say. Raises as `latency`.
    """
    with told():
        return _added_up(
            _of_clients(tables, by).where("response_time_ns IS NOT NULL"),
            by,
            "sum(throttle_time_ms) FILTER (WHERE throttle_time_ms > 0) AS throttle_time_ms",
            "max(throttle_time_ms) AS max_throttle_time_ms",
            "count_if(throttle_time_ms > 0) AS throttled",
            "count(*) AS replies",
            "count_if(throttle_time_ms IS NULL) AS unknown",
        ).where("throttled > 0")


def errors(tables: Tables, by: Sequence[str] = BY_ERROR) -> DataFrame:
    """Error codes of replies, a row for each combination of the keys, the most frequent first.

    `count` of codes, at any depth of a reply; `exchanges`, the requests that got them; `expected`, codes of normal operation;
    `unexpected`, all others, those that nobody judged among them. Raises as `latency`.
    """
    from pyspark.sql.functions import expr

    with told():
        of_exchanges = [name for name in by if name not in OF_ERRORS]
        requests = _of_clients(tables, of_exchanges).select("exchange", *of_exchanges)
        return _added_up(
            tables["errors"].withColumn("topic", expr(TOPIC)).join(requests, "exchange"),
            by,
            "count(*) AS count",
            "count(DISTINCT exchange) AS exchanges",
            "count_if(expected) AS expected",
            "count(*) - count_if(expected) AS unexpected",
        )


def _added_up(rows: DataFrame, by: Sequence[str], first: str, *sums: str) -> DataFrame:
    """A row for each combination of the keys; those with the most of the first sum come first."""
    from pyspark.sql.functions import desc, expr

    return rows.groupBy(*by).agg(*map(expr, (first, *sums))).orderBy(desc(first.rpartition(" ")[2]), *by)


def _of_clients(tables: Tables, by: Sequence[str]) -> DataFrame:
    """Exchanges of clients with the keys of other tables. Raises ValueError for a key that no table has."""
    of_exchanges, of_connections = ([column.name for column in TABLES[name]] for name in ("exchanges", "connections"))
    if unknown := set(by).difference(of_exchanges, of_connections, ["topic"]):
        raise ValueError(f"cannot group by {min(unknown)!r}: no column of exchanges or connections, and not `topic`")
    rows = tables["exchanges"].where("role IS NULL OR role = 'client'")
    if of_link := [name for name in by if name not in of_exchanges and name != "topic"]:
        rows = rows.join(tables["connections"].select("connection", *of_link), "connection", "left")
    if "topic" in by:
        rows = rows.join(tables["entries"].selectExpr("exchange", f"{TOPIC} AS topic").distinct(), "exchange", "left")
    return rows


def _quoted(name: str) -> str:
    return f"`{name}`"
