"""The raw tables of facts from message bodies, which `resolve/*.sql` joins. One row is one fact of one message.

Facts that many messages repeat (a Metadata reply, an offer of versions) are written once, with the number of a `body`, which
represents all bodies with the same facts; `reported` has the exchanges that had this body, and when.
"""

from __future__ import annotations

from analyzer.base.tables import SQL_TYPES

_OF_BODY = "body int64"
_OF_EXCHANGE = "exchange int64, part int64"

_COLUMNS = {
    # time_ns: first byte of the message.
    "reported": f"{_OF_EXCHANGE}, body int64, time_ns int64",
    "cluster_facts": f"{_OF_BODY}, cluster_id string, controller_id int32",
    # lists_all: the message names all brokers of the cluster, not some of them.
    "broker_facts": f"{_OF_BODY}, node_id int32, host string, port int32, rack string, lists_all bool",
    # racks, whole_racks: where some of its partitions, and each of them, have a replica, with commas between.
    "topic_facts": f"{_OF_BODY}, topic_id string, topic string, racks string, whole_racks string",
    "asked_facts": f"{_OF_BODY}, asked_cluster_id string, asked_node_id int32",
    "version_facts": f"{_OF_BODY}, api_key int16, min_version int16, max_version int16",
    "group_steps": f"{_OF_EXCHANGE}, event string, group_type string, group_id string, member_id string, "
    "instance_id string, generation int32, sent_generation int32, leader string, members int32, protocol string, "
    "reason string, topics string, assigned_partitions int32, session_timeout_ms int32, rebalance_timeout_ms int32, "
    "error_code int16, group_status string, topic_id string, delivery_count int32, redelivered int64",
    # told_by_leader: from the leader's SyncGroup request, which has the assignments of all members.
    "assigned": f"{_OF_EXCHANGE}, group_id string, group_type string, member_id string, generation int32, topic string, "
    "topic_id string, partition int32, told_by_leader bool",
    "transaction_steps": f"{_OF_EXCHANGE}, event string, transactional_id string, producer_id int64, "
    "producer_epoch int16, new_producer_epoch int16, committed bool, group_id string, transaction_timeout_ms int32, "
    "error_code int16",
    "broker_steps": f"{_OF_EXCHANGE}, event string, broker_id int32, broker_state string, offline_log_dirs int32, "
    "topic string, topic_id string, partition int32, isr string, asked_isr string, partition_epoch int32, error_code int16",
    # accepted: whether the broker accepted the login, null when its answer does not say. end_ns: last byte seen.
    "login_steps": f"{_OF_EXCHANGE}, begin_ns int64, end_ns int64, step string, mechanism string, login_name string, "
    "token_id string, accepted bool, ended string, error_code int16, refusal string, expiry_ns int64",
    "token_owners": f"{_OF_EXCHANGE}, token_id string, owner string",
    # Filled from a matrix (`analyzer.ingest.facts.batches`).
    "batches": f"{_OF_EXCHANGE}, side string, topic string, topic_id string, partition int32, position int32, "
    "base_offset int64, last_offset int64, magic int8, codec string, records int32, bytes int64, "
    "uncompressed_bytes int64, unopened string, first_timestamp_ms int64, max_timestamp_ms int64, timestamp_type string, "
    "producer_id int64, producer_epoch int16, base_sequence int32, transactional bool, control bool, "
    "control_type string, crc int64, crc_ok bool",
    "envelopes": f"{_OF_EXCHANGE}, inner_api_key int16, inner_client_id string",
}


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    words = [each.split() for each in text.split(",")]
    return tuple((name, kind) for name, kind in words)


# Table -> (column, type as in `analyzer.base.tables`).
FACT_TABLES = {name: _pairs(text) for name, text in _COLUMNS.items()}


def no_rows(name: str) -> str:
    """SQL of a raw table without rows, for which a run wrote no file."""
    columns = ", ".join(f"CAST(NULL AS {SQL_TYPES[kind]}) AS {column}" for column, kind in FACT_TABLES[name])
    return f"SELECT {columns} WHERE false"
