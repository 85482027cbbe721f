"""What is behind each name that a dataset's SQL may read: final tables as all of them and as the filters leave them, what goes
with every dataset, and the views that metrics share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from analyzer.base.filters import (
    Filters,
    attempt_condition,
    exchange_condition,
    literal,
    time_condition,
    tls_condition,
    topic_condition,
)
from analyzer.base.settings import NAMES, Settings
from analyzer.base.tables import SQL_TYPES, TABLES
from analyzer.base.wait_kinds import sql as kinds_sql
from analyzer.query import metrics
from analyzer.query.catalog import Entry
from analyzer.query.frequent_keys import of_most

# Tables with a column `exchange` that filters do not narrow by it: `exchanges` has a condition of its own, `problems` are
# coverage, and `offered_versions` are facts about brokers.
UNFILTERED = ("exchanges", "problems", "offered_versions")
# Before the name of a table: its rows of about the time that the filters leave.
NEAR = "near_"
# TLS in which Kafka may be: without failed handshakes, after which nothing came, and without what agreed on HTTP.
_TLS_UNREAD = (
    "SELECT * FROM all_connections WHERE protocol = 'tls' AND is_kafka IS NOT TRUE AND tls_decrypted IS NOT TRUE "
    "AND tls_handshake IS DISTINCT FROM 'failed' AND coalesce(tls_alpn, '') NOT LIKE '%h2%' "
    "AND coalesce(tls_alpn, '') NOT LIKE '%http/%'"
)
# The view `names` of a dataset without any.
_NO_NAMES = "SELECT NULL AS address, NULL AS begin_ns, NULL AS end_ns WHERE false"
# The same for what is not grouped by names.
_NO_CLIENT_NAMES = "SELECT NULL AS connection, CAST(NULL AS VARCHAR) AS client_name WHERE false"
# In place of the view of that name, which is not made for a question that does not ask for applications.
_NO_APPLICATIONS = "SELECT NULL AS client_address, NULL AS client_id, NULL AS application WHERE false"


def entries_of(
    views: Mapping[str, str],
    materialized: Collection[str],
    filters: Filters,
    near: Collection[str] = (),
    in_file: Collection[str] = (),
) -> dict[str, Entry]:
    """Name in the database -> what makes it, for `views`, every final table, `time_range`, `tls_unread` and `kinds`.

    A final table has two names: `all_NAME` is all of it, NAME what the filters leave. Views in `materialized` are computed once,
    and those of them that are `in_file` are held there.
    `near`: names of tables with a view NEAR + name, with all that the filters leave and little else.
    """
    entries = {
        f"all_{name}" if name in TABLES else name: _held(name, sql, materialized, in_file)
        for name, sql in views.items()
    }
    for name in TABLES:
        entries.setdefault(f"all_{name}", Entry(no_rows(name), False))
    for name, condition in _conditions(filters).items():
        source = f"{NEAR}{name}" if name in near else f"all_{name}"
        entries[name] = Entry(f"SELECT * FROM {source} WHERE {condition}", False)
    entries["time_range"] = Entry(_time_range(filters) if filters else "SELECT * FROM all_time_range", bool(filters))
    entries["all_time_range"] = Entry(_time_range(Filters()), True)
    # Without filters one pass over the exchanges serves both.
    left = metrics.view("all_totals").replace("FROM all_exchanges", "FROM exchanges") if filters else None
    entries["totals"] = Entry(left or "SELECT * FROM all_totals", bool(filters))
    left = metrics.view("all_group_requests").replace("FROM all_exchanges", "FROM exchanges") if filters else None
    entries["group_requests"] = Entry(left or "SELECT * FROM all_group_requests", bool(filters))
    news = f"SELECT * FROM all_group_news WHERE {_conditions(filters)['group_events']}"
    entries["group_news"] = Entry(news, bool(filters))
    entries["tls_unread"] = Entry(f"{_TLS_UNREAD} AND ({tls_condition(filters)})", False)
    entries["kinds"] = Entry(views.get("kinds", kinds_sql()), True)
    entries["names"] = Entry(_NO_NAMES, False)
    return entries


def named_entries(connections: Entry) -> dict[str, Entry]:
    """Name -> what makes it, where addresses have names (the table `names`): those that were valid when a connection began.
    What is not named keeps the names with which a dataset was exported."""
    fields = {"client": ("host", "pod", "namespace", "workload", "zone"), "broker": ("host", "pod", "zone")}
    named = ", ".join(
        f"CASE WHEN {side}_n.address IS NULL THEN c.{side}_{field} ELSE {side}_n.{field} END AS {side}_{field}"
        for side, mine in fields.items()
        for field in mine
    )
    joins = " ".join(
        f"LEFT JOIN names AS {side}_n ON {side}_n.address = c.{side}_address "
        f"AND c.first_time_ns >= {side}_n.begin_ns AND c.first_time_ns < {side}_n.end_ns"
        for side in fields
    )
    rows = f"SELECT c.* REPLACE ({named}) FROM unnamed_connections AS c {joins}"
    return {"unnamed_connections": Entry(connections.sql, False), "all_connections": connections._replace(sql=rows)}


def _held(name: str, sql: str, materialized: Collection[str], in_file: Collection[str]) -> Entry:
    return Entry(sql, name in materialized, name in materialized and name in in_file)


def shared_entry(
    name: str, settings: Settings, materialized: Collection[str] = (), in_file: Collection[str] = ()
) -> Entry | None:
    """What makes a view that metrics share (analyzer/query/metrics/views), which may be among those that this dataset computes once
    besides; None: there is no such view."""
    if name not in metrics.view_names():
        return None
    sql = metrics.view(name)
    if metrics.is_given_settings(name):
        sql = settings.folded(sql)
    if name == "request_slices" and "app" not in settings.by:
        sql = sql.replace("JOIN applications AS", f"JOIN ({_NO_APPLICATIONS}) AS")
    if name == "request_slices" and not set(NAMES) & set(settings.by):
        sql = sql.replace("JOIN client_names AS", f"JOIN ({_NO_CLIENT_NAMES}) AS")
    if name == "request_slices" and settings.most is not None:
        sql = of_most(sql)
    return _held(name, sql, (name,) if metrics.is_materialized(name) else materialized, in_file)


def _conditions(filters: Filters) -> dict[str, str]:
    """Table -> SQL condition on its rows. Exchanges come first: other tables are narrowed to the exchanges that are left."""
    conditions = dict.fromkeys(("exchanges", *TABLES), "true")
    if filters:
        conditions["exchanges"] = exchange_condition(filters)
        with_exchanges = "connection IN (SELECT connection FROM exchanges)"
        conditions["connections"] = f"{with_exchanges} OR ({attempt_condition(filters)})"
        # Also of TLS that was not decrypted, which has no exchanges.
        conditions["queued_packets"] = (
            f"connection IN (SELECT connection FROM connections) AND {time_condition(filters, 'time_ns')}"
        )
        conditions["unread_silences"] = "connection IN (SELECT connection FROM tls_unread)"
        for table, columns in TABLES.items():
            names = {column.name for column in columns}
            if "exchange" in names and table not in UNFILTERED:
                about_topics = {"topic", "topic_id"} <= names
                of_exchange = "exchange IN (SELECT exchange FROM exchanges)"
                conditions[table] = f"{of_exchange} AND {topic_condition(filters)}" if about_topics else of_exchange
    return conditions


def _time_range(filters: Filters) -> str:
    """SQL of one row: the first and the last moment that counts, and how long of that time was captured: `captured_ns`, without
    the time between files. Files that were written by turns have gaps of a few packets: up to a second, or a tenth of a file.
    """
    first = _narrowed("greatest", "min(first_time_ns)", filters.from_ns)
    last = _narrowed("least", "max(last_time_ns)", filters.to_ns)
    begins = _narrowed("greatest", "first_time_ns", filters.from_ns)
    ends = _narrowed("least", "last_time_ns", filters.to_ns)
    return f"""
        WITH files AS (
            SELECT first_time_ns, last_time_ns, {begins} AS begin_ns, {ends} AS end_ns FROM all_captures
        ),
        turns AS (
            SELECT
                first_time_ns,
                last_time_ns,
                begin_ns,
                end_ns,
                max(end_ns) OVER (ORDER BY begin_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
            FROM files
            WHERE first_time_ns IS NOT NULL
        )
        SELECT
            {first} AS first_time_ns,
            {last} AS last_time_ns,
            CAST(sum(CASE
                WHEN end_ns <= begin_ns OR end_ns <= before_ns THEN 0
                WHEN begin_ns - before_ns > greatest(1000000000, (end_ns - begin_ns) / 10) THEN end_ns - begin_ns
                ELSE end_ns - coalesce(before_ns, begin_ns)
            END) AS BIGINT) AS captured_ns
        FROM turns"""


def _narrowed(function: str, expression: str, limit: int | None) -> str:
    return expression if limit is None else f"{function}({expression}, {limit})"


def no_rows(table: str) -> str:
    """SQL of a table without rows."""
    columns = ", ".join(null_column(column.name, column.type) for column in TABLES[table])
    return f"SELECT {columns} WHERE false"


def null_column(name: str, kind: str) -> str:
    return f'CAST(NULL AS {SQL_TYPES[kind]}) AS "{name}"'


def parquet(paths: Iterable[Path | str]) -> str:
    """SQL that reads Parquet files as one table; in a path no character means another one."""
    files = ", ".join(literal(unglob(str(path))) for path in paths)
    return f"SELECT * FROM read_parquet([{files}], union_by_name = true, hive_partitioning = false)"


def unglob(path: str) -> str:
    """A path that DuckDB, which expands globs in every path, takes literally: in brackets a character means itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)
