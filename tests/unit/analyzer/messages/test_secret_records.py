"""Records that hold settings or credentials: their values and headers are shown by nothing but `decode`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from encode import encode
from random_batches import batch

from analyzer.messages.render import Renderer, decode_line, message
from analyzer.messages.tree import tree
from dissectors.kafka.messages.explain import Explained, explain
from dissectors.kafka.messages.record_batches import Record

PRODUCE, FETCH, FETCH_SNAPSHOT = 0, 1, 59
METADATA_ID = bytes(15) + b"\x01"
PASSWORD, SEEN = b'{"properties": {"database.password": "hunter2"}}', b"seen-all-right"


def of(record: Record) -> bytes:
    return bytes(batch([record], 2, 0).data)


def produce(topic: str, record: Record) -> tuple[int, int, str, bytes]:
    """One topic before it, one behind it: what a topic is told to be ends with it."""
    named = [("before", Record(0, 0, None, SEEN)), (topic, record), ("behind", Record(0, 0, None, SEEN))]
    data = [{"name": name, "partition_data": [{"index": 0, "records": of(each)}]} for name, each in named]
    body = {"acks": 1, "timeout_ms": 1, "topic_data": data}
    return PRODUCE, 3, "request", encode(PRODUCE, 3, "request", {"client_id": "c"}, body)


def fetch(version: int, topic: dict[str, Any], record: Record) -> tuple[int, int, str, bytes]:
    body = {"responses": [topic | {"partitions": [{"partition_index": 0, "records": of(record)}]}]}
    return FETCH, version, "response", encode(FETCH, version, "response", {"correlation_id": 1}, body)


def snapshot(record: Record) -> tuple[int, int, str, bytes]:
    partition = {"index": 0, "unaligned_records": of(record)}
    body = {"topics": [{"name": "__cluster_metadata", "partitions": [partition]}]}
    return FETCH_SNAPSHOT, 0, "response", encode(FETCH_SNAPSHOT, 0, "response", {"correlation_id": 1}, body)


def read(asked: tuple[int, int, str, bytes]) -> Explained:
    found = explain(*asked)
    assert found.error is None
    return found


def shown(asked: tuple[int, int, str, bytes]) -> str:
    """What JSON and text say."""
    texts = "\n".join(tree(read(asked), Renderer(records=True)))
    return f"{json.dumps(message(read(asked), Renderer(records=True)))}\n{texts}"


def decoded(asked: tuple[int, int, str, bytes]) -> str:
    key, version, direction, frame = asked
    line = {"api_key": key, "version": version, "direction": direction, "hex": bytes(frame).hex()}
    return json.dumps(decode_line(line, records=True))


def b64(value: bytes) -> str:
    from base64 import b64encode

    return b64encode(value).decode()


HEADERS = [("trace", b"hunter2")]
SETTING = Record(0, 0, b"k", PASSWORD, HEADERS)
SECRET = {
    "metadata by name": fetch(12, {"topic": "__cluster_metadata"}, SETTING),
    "metadata by id": fetch(13, {"topic_id": METADATA_ID}, SETTING),
    "snapshot of metadata": snapshot(SETTING),
    "metadata that is sent": produce("__cluster_metadata", SETTING),
    "connector": produce("any-name", Record(0, 0, b"connector-orders", PASSWORD, HEADERS)),
    "task": fetch(13, {"topic_id": b"0123456789abcdef"}, Record(0, 0, b"task-orders-0", PASSWORD, HEADERS)),
    "session key": produce("connect-configs", Record(0, 0, b"session-key", b'{"key": "hunter2"}', HEADERS)),
}


@pytest.mark.parametrize("name", SECRET)
def test_values_with_settings_are_hidden(name: str) -> None:
    told = shown(SECRET[name])
    assert "hunter2" not in told and b64(PASSWORD) not in told and b64(b"hunter2") not in told
    assert told.count("secret_bytes") == 4
    assert b64(b"hunter2") in decoded(SECRET[name])


@pytest.mark.parametrize(
    "record",
    [
        Record(0, 0, b"k", SEEN),
        Record(0, 0, b"task-1", SEEN),
        Record(0, 0, b"connector-", PASSWORD),
        Record(0, 0, None, SEEN, HEADERS),
    ],
)
def test_other_values_are_seen(record: Record) -> None:
    told = shown(produce("payments", record))
    assert b64(record.value or b"") in told and "secret_bytes" not in told


def test_a_topic_beside_the_metadata_is_seen() -> None:
    told = shown(produce("__cluster_metadata", SETTING))
    assert told.count(b64(SEEN)) == 2 and told.count(SEEN.decode()) == 2


def test_a_deleted_setting_is_null() -> None:
    assert "secret_bytes" not in shown(produce("connect-configs", Record(0, 0, b"connector-orders", None)))
