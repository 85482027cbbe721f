"""Random rows of every table that fit together, with a null wherever the contract allows one: what captures seldom hold."""

from __future__ import annotations

import random
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, capture, connection, exchange

from analyzer.base.tables import TABLES, Column

# The few values of columns on which questions group or decide; the others get a small number, or a word of their own.
VALUES: dict[str, tuple[Any, ...]] = {
    "acks": (0, 1, -1),
    "api_version": (3, 11, 12),
    "asked_cluster_id": ("east", "west"),
    "close": ("fin", "rst", "none"),
    "cluster": ("east", "west"),
    "code": (1, 3, 6, 7, 19, 22, 25, 27, 29, 45, 46, 47, 79, 89, 90, 129),
    "codec": ("none", "gzip", "zstd"),
    "control_type": ("abort", "commit"),
    "error_code": (0, 0, 0, 16, 25, 27, 47, 90),
    "event": ("join", "sync", "leave", "heartbeat", "commit"),
    "group_type": ("classic", "consumer", "share"),
    "isolation_level": (0, 1),
    "level": ("message", "topic", "partition", "group"),
    "magic": (1, 2),
    "outcome": ("ok", "failed", "open"),
    "protocol": ("range", "cooperative-sticky"),
    "replica_id": (-1, -1, -1, 2),
    "request_decoded": ("full", "header", "malformed", "none"),
    "response_decoded": ("full", "header", "malformed", "none"),
    "role": ("client", "client", "follower"),
    "sender": ("client", "broker"),
    "side": ("request", "response"),
    "software_name": ("apache-kafka-java", "librdkafka"),
    "software_version": ("3.9.1", "2.6.0"),
    "timestamp_type": ("create", "log_append"),
}
EVENTS = {
    "transaction_events": ("init", "add_partitions", "add_offsets", "commit_offsets", "end", "verify"),
    "broker_events": ("heartbeat", "isr"),
}
APIS = (
    (0, "Produce", ("produce_acks_0", "produce_acks_1", "produce_acks_all")),
    (1, "Fetch", ("fetch_backlog", "fetch_tail", "fetch_empty", "fetch_now", "fetch_unknown")),
    (3, "Metadata", (None,)),
    (8, "OffsetCommit", (None,)),
    (11, "JoinGroup", ("join_wait", None)),
    (12, "Heartbeat", (None,)),
    (14, "SyncGroup", ("sync_wait", None)),
    (18, "ApiVersions", (None,)),
    (22, "InitProducerId", (None,)),
    (24, "AddPartitionsToTxn", (None,)),
    (26, "EndTxn", (None,)),
    (28, "TxnOffsetCommit", (None,)),
    (78, "ShareFetch", ("wait",)),
)
STATUSES = ("answered",) * 12 + ("no_reply_expected", "reply_lost", "pending", "closed", "abandoned", "orphan_reply")
OF_REPLIES = ("error_code", "error_count", "receive_ns", "throttle_time_ms")
# There is one row for each combination of these; of the other tables one for an exchange.
ONE_EACH = {
    "entries": ("exchange", "side", "topic", "partition"),
    "fetch_positions": ("exchange", "topic", "partition"),
    "batches": ("exchange", "side", "topic", "partition", "position"),
    "assignments": ("exchange", "topic", "partition"),
    "queued_packets": ("connection", "sender", "packet"),
    "unread_silences": ("connection", "begin_ns"),
    "offered_versions": ("exchange", "api_key"),
    "brokers": ("cluster", "broker_id"),
    "topic_ids": ("cluster", "topic_id"),
}
NULLS = 0.15


class Maker:
    """Makes the rows; the same number gives the same rows."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)

    def tables(self, exchanges: int, connections: int) -> dict[str, Rows]:
        """Every table: so many exchanges on so many connections, and rows about them."""
        links = [self._connection(number) for number in range(connections)]
        asked = [self._exchange(number, self._choose.choice(links)) for number in range(exchanges)]
        made = {"captures": [capture()], "connections": links, "exchanges": asked}
        replied = [row for row in asked if row.get("response_time_ns") and row["request_time_ns"]]
        for table in TABLES:
            if table not in made:
                about = asked if table in ("entries", "problems") else replied
                rows = [self._about(table, self._choose.choice(about)) for _ in range(exchanges)]
                made[table] = _one_each(rows, ONE_EACH.get(table, ("exchange",)))
        return made

    def _connection(self, number: int) -> dict[str, Any]:
        values = {column.name: self._cell("connections", column) for column in TABLES["connections"]}
        addresses = {"client_address": f"10.0.0.{number % 3}", "broker_address": f"10.0.1.{number % 2}"}
        kept = connection(number)
        free = {name: value for name, value in values.items() if name not in kept or name == "close"}
        return kept | free | addresses | {"protocol": "kafka"}

    def _exchange(self, number: int, link: dict[str, Any]) -> dict[str, Any]:
        """No two exchanges have a moment in common: what comes first is never a matter of taste."""
        key, name, sorts = self._choose.choice(APIS)
        kept = exchange(
            number,
            status=self._choose.choice(STATUSES),
            at_ns=START_NS + self._choose.randrange(9 * SECOND_NS // 1000) * 1000 + number % 1000,
            latency_ns=int(10 ** self._choose.uniform(3, 9)),
        )
        values = {column.name: self._cell("exchanges", column) for column in TABLES["exchanges"]}
        free = {each: value for each, value in values.items() if each not in kept or each == "error_count"}
        free |= {each: None for each in free if each.endswith(("_time_ns", "_end_ns", "latency_ns", "total_ns"))}
        if not kept.get("response_time_ns"):
            free |= {each: None for each in free if each.startswith("response_") or each in OF_REPLIES}
        if kept["status"] != "orphan_reply":
            sort = self._choose.choice(sorts)
            free |= {"api_key": key, "api_name": name, "kind": sort, "client_id": values["client_id"]}
            free |= {"api_version": self._choose.choice(VALUES["api_version"])}
        for part in ("queue_ns", "muted_ns", "service_ns"):
            free[part] = None if free[part] is None or not kept.get("latency_ns") else kept["latency_ns"] // 4
        of_link = ("connection", "client_address", "client_port", "broker_address", "broker_port", "role", "broker_id")
        return kept | free | {each: link[each] for each in of_link}

    def _about(self, table: str, asked: dict[str, Any]) -> dict[str, Any]:
        row = {column.name: self._cell(table, column) for column in TABLES[table]}
        same = ("exchange", "connection", "client_id", "client_address", "group_id", "member_id", "transactional_id")
        row |= {name: asked[name] for name in same if name in row and asked.get(name) is not None}
        begins = asked["request_time_ns"] or asked["response_time_ns"]
        ends = asked.get("response_end_ns") or begins
        moments = {"begin_ns": begins, "end_ns": begins + SECOND_NS, "time_ns": ends}
        moments |= {"first_time_ns": begins, "last_time_ns": ends}
        row |= {name: value for name, value in moments.items() if name in row}
        if "topic_id" in row:
            row |= self._topic(row["topic"], table == "topic_ids")
        return row

    def _topic(self, name: str | None, both: bool) -> dict[str, str | None]:
        """A topic by its name, its id or both; a name has one id, and an id alone is of a topic that nobody names."""
        if name is None:
            return {"topic": None, "topic_id": "id_of_topic_9"}
        return {"topic": name, "topic_id": f"id_of_{name}" if both or self._choose.random() < 0.5 else None}

    def _cell(self, table: str, column: Column) -> Any:
        if "null" in column.sentence and self._choose.random() < NULLS:
            return None
        if column.name == "event" and table in EVENTS:
            return self._choose.choice(EVENTS[table])
        if column.name in VALUES:
            return self._choose.choice(VALUES[column.name])
        if column.type == "bool":
            return self._choose.random() < 0.5
        number = self._choose.randrange(3)
        return f"{column.name}_{number}" if column.type == "string" else number


def _one_each(rows: Rows, columns: tuple[str, ...]) -> Rows:
    return list({tuple(row[column] for column in columns): row for row in rows}.values())
