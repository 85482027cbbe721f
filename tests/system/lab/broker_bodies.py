"""The broker's own account of a body, in our names: what its log says, and what it leaves unsaid.

Brokers since 2.8 log Apache's JSON. That of 2.8.2 has the names of its time; those of 1.1.1 and 2.4.1 log text, which
became JSON without knowing the types. `body` changes names and shapes, never values. Where a log has no value there
stands UNSAID, and of bytes that it only counts a `Sized`; every such place is named in this module with its reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cramjam
from body_comparison import UNSAID, Sized
from oracle import connection

from dissectors.kafka.schema import lookup

PRODUCE, LIST_OFFSETS = 0, 2


@dataclass(frozen=True, slots=True)
class Account:
    """A line of the log: who asked what, and both bodies as they stand there. `is_text`: made from text."""

    connection: str
    correlation_id: int
    api_key: int
    version: int
    bodies: dict[str, dict[str, Any]]
    is_text: bool


def read_accounts(path: Path) -> list[Account]:
    """All lines but those of forwarded requests: they have the header of one frame and the connection of another."""
    lines = bytes(cramjam.zstd.decompress(path.read_bytes())).decode().splitlines()
    return [_account(row) for row in map(json.loads, lines) if not row["isForwarded"]]


def _account(row: dict[str, Any]) -> Account:
    header = row["requestHeader"]
    return Account(
        connection=connection(row["connection"]),
        correlation_id=header["correlationId"],
        api_key=header["requestApiKey"],
        version=header["requestApiVersion"],
        bodies={side: row[side] or {} for side in ("request", "response")},
        is_text="clientInformation" not in row,
    )


# The name in logs of 1.1.1, 2.4.1, 2.8.2, 3.9.1 or 4.3.1 -> ours (those of 4.4.0); of several the one that the message has.
OLDER_NAMES: dict[str, tuple[str, ...]] = {
    "acceptable_recovery_lag": ("acceptable_recovery_lag_legacy",),
    "api_versions": ("api_keys",),
    "assignment": ("assignments",),
    "client_metrics_resources": ("config_resources",),
    "config_entries": ("configs",),
    "config_name": ("name",),
    "config_names": ("configuration_keys",),
    "config_synonyms": ("synonyms",),
    "config_value": ("value",),
    "coordinator_key": ("key",),
    "coordinator_type": ("key_type",),
    "create_topic_requests": ("topics",),
    "current_isr_version": ("partition_epoch",),
    "end_points": ("endpoints",),
    "epoch": ("session_epoch",),
    "error_code": ("partition_error_code",),
    "errors": ("results_by_topic_v3_and_below",),
    "forgetten_topics_data": ("forgotten_topics_data",),
    "generation_id": ("generation_id_or_member_epoch",),
    "group_assignment": ("assignments",),
    "group_id": ("key",),
    "group_protocol": ("protocol_name",),
    "group_protocols": ("protocols",),
    "host": ("host_name", "host_filter"),
    "id": ("broker_id",),
    "is_future": ("is_future_key",),
    "isr": ("isr_nodes",),
    "leader": ("leader_id",),
    "leader_id": ("leader",),
    "listener_name": ("listener",),
    "log_append_time": ("log_append_time_ms",),
    "log_dir": ("path",),
    "log_dirs": ("results", "dirs"),
    "max_bytes": ("partition_max_bytes",),
    "max_wait_time": ("max_wait_ms",),
    "member_assignment": ("assignment",),
    "member_metadata": ("metadata",),
    "metadata": ("committed_metadata",),
    "name": ("topic_name",),
    "offset": ("committed_offset",),
    "offsets": ("old_style_offsets",),
    "partition": ("partition_index", "index"),
    "partition_errors": ("results_by_partition",),
    "partition_index": ("partitions",),
    "partition_metadata": ("partitions",),
    "partition_responses": ("partitions",),
    "partition_states": ("ungrouped_partition_states",),
    "partitions": ("partition_indexes", "partition_errors", "ungrouped_partitions"),
    "partitions_remaining": ("remaining_partitions",),
    "principal": ("principal_filter",),
    "producer_epoch": ("v3_and_below_producer_epoch",),
    "producer_id": ("v3_and_below_producer_id",),
    "protocol_metadata": ("metadata",),
    "protocol_name": ("name",),
    "rebalance_timeout": ("rebalance_timeout_ms",),
    "replica_assignment": ("assignments",),
    "replicas": ("replica_nodes",),
    "resource_name": ("resource_name_filter",),
    "resource_pattern_type_filter": ("pattern_type_filter",),
    "resource_type": ("resource_type_filter",),
    "resources": ("results", "responses"),
    "responses": ("topics",),
    "results": ("results_by_topic_v3_and_below", "results_by_partition"),
    "retention_time": ("retention_time_ms",),
    "security_protocol_type": ("security_protocol",),
    "session_timeout": ("session_timeout_ms",),
    "size": ("partition_size",),
    "timeout": ("timeout_ms",),
    "timestamp": ("commit_timestamp",),
    "topic": ("name", "topic_name"),
    "topic_error_codes": ("responses",),
    "topic_errors": ("results", "topics"),
    "topic_metadata": ("topics",),
    "topic_partitions": ("topics",),
    "topics": ("v3_and_below_topics", "results", "topic_names"),
    "transaction_markers": ("markers",),
    "transaction_result": ("committed",),
    "transactional_id": ("v3_and_below_transactional_id",),
    "zk_version": ("partition_epoch",),
}
# Structs of the old logs whose fields stand in the struct around them today.
FLATTENED = ("partition_header", "new_partitions", "coordinator")
# A configuration value with a comma in a text log: what came behind the comma was taken for a field of its own.
SPLIT_TEXT = "text"
RECORD_SIZES = ("records_size_in_bytes", "record_set_size_in_bytes", "unaligned_records_size_in_bytes")
RECORDS = ("records", "unaligned_records")
# 1.1.1 and 2.4.1 print bytes as java.nio.HeapByteBuffer[pos=0 lim=22 cap=22].
BUFFER = re.compile(r"java\.nio\.\w+\[pos=(\d+) lim=(\d+) cap=\d+\]")


@cache
def snake(camel: str) -> str:
    """fooBarBaz -> foo_bar_baz."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z])(?=[a-z])", r"_\1\2", camel).lower()


def body(account: Account, side: str, version: int) -> dict[str, Any]:
    """The body of "request" or "response" in our names; `version` is that of the body."""
    api = lookup.api(account.api_key)
    assert api is not None
    said = _in_our_names(account.bodies[side], api.message(side).fields, version)
    for name in _unsaid(account, side, said):
        said[name] = UNSAID
    return said


def _unsaid(account: Account, side: str, said: dict[str, Any]) -> Iterator[str]:
    """Fields of a whole message that the log passes over, each for the reason given."""
    if account.is_text and side == "request":
        # The text of a Produce request has acks, timeout and sizes.
        if account.api_key == PRODUCE and account.version >= 3:
            yield "transactional_id"
        # 1.1.1 keeps what version 0 asks in a map of its own, which its text leaves out.
        if (account.api_key, account.version) == (LIST_OFFSETS, 0) and said["topics"] == []:
            yield "topics"


def _in_our_names(value: Any, fields: Sequence[lookup.Field], version: int) -> dict[str, Any]:
    """A struct of the log; what has no name of ours keeps that of the log."""
    present = {field.name: field for field in fields if version in field.versions}
    plain = {snake(name): inner for name, inner in value.items()}
    if SPLIT_TEXT in plain:
        plain["config_value"] += "," + plain.pop(SPLIT_TEXT)
    for outer in FLATTENED:
        if isinstance(plain.get(outer), dict) and outer not in present:
            plain |= {snake(name): inner for name, inner in plain.pop(outer).items()}
    found: dict[str, Any] = {}
    for name, inner in plain.items():
        ours, said = _records(name, inner, present) or (_our_name(name, present, plain), inner)
        assert ours not in found, f"two fields of the log are {ours}: {value}"
        found[ours] = _value(said, present[ours], version) if ours in present else said
    return found


def _our_name(name: str, present: dict[str, lookup.Field], plain: dict[str, Any]) -> str:
    if name in present:
        return name
    return next((newer for newer in OLDER_NAMES.get(name, ()) if newer in present and newer not in plain), name)


def _records(name: str, inner: Any, present: dict[str, lookup.Field]) -> tuple[str, Any] | None:
    """Records, of which a log has at most the size: 1.1.1 and 2.4.1 print Java objects of a Fetch (`record_set`), and
    since 4.1 the records of ShareFetch are logged as empty."""
    ours = next((each for each in RECORDS if each in present), None)
    if ours is None:
        return None
    if name in RECORD_SIZES:
        return ours, Sized(inner)
    if name in ("record_set", "records") and (name == "record_set" or inner == ""):
        return ours, UNSAID
    return None


def _value(value: Any, field: lookup.Field, version: int) -> Any:
    if not field.is_array:
        return _single(value, field, version)
    if not isinstance(value, list):
        return value
    return [_single(_unwrapped(each, field), field, version) for each in value]


def _unwrapped(element: Any, field: lookup.Field) -> Any:
    """An element that was a struct of one field in the old logs, or that has become one."""
    if field.type == "struct" and not isinstance(element, dict):
        return {"name": element}
    if field.type != "struct" and isinstance(element, dict) and len(element) == 1:
        return next(iter(element.values()))
    return element


def _single(value: Any, field: lookup.Field, version: int) -> Any:
    if field.type == "struct" and isinstance(value, dict):
        return _in_our_names(value, field.fields, version)
    if field.type == "bytes" and isinstance(value, str):
        buffer = BUFFER.fullmatch(value)
        return Sized(int(buffer[2]) - int(buffer[1])) if buffer else value
    return value
