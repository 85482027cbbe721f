"""What a broker tells the controller, of messages that Apache's schemas write, whole and cut."""

from __future__ import annotations

from typing import Any

import pytest
from encode import encode
from test_collect import Frames

from analyzer.ingest.facts import clusters
from analyzer.ingest.facts.collect import Collector
from analyzer.ingest.facts.fact_kinds import FactKind
from dissectors import layout

Fields = dict[str, Any]
TOPIC = bytes(range(16))
BEAT = {"broker_id": 3, "broker_epoch": 9, "current_metadata_offset": 5, "want_fence": True, "want_shut_down": False}
FENCED = {"throttle_time_ms": 0, "error_code": 0, "is_caught_up": True, "is_fenced": True, "should_shut_down": False}


def body(key: int, version: int, direction: str, fields: Fields) -> bytes:
    """A message without its header."""
    header = {"correlation_id": 1, "client_id": ""} if direction == "request" else {"correlation_id": 1}
    sizes = {"request": 2 + 2 + 4 + 2 + 1, "response": 4 + 1}
    return encode(key, version, direction, header, fields)[sizes[direction] :]


def altered(isr: list[int], epoch: int, error: int = 0) -> tuple[Fields, Fields]:
    """A change to brokers 1, 2, 3 and 4, and a reply with this ISR."""
    asked = {"partition_index": 0, "leader_epoch": 1, "new_isr": [4, 1, 2, 3], "partition_epoch": epoch}
    told = {"partition_index": 0, "error_code": error, "leader_id": 2, "leader_epoch": 1, "isr": isr}
    request = {"broker_id": 2, "broker_epoch": 9, "topics": [{"topic_id": TOPIC, "partitions": [asked]}]}
    answer = {"topic_id": TOPIC, "partitions": [told | {"partition_epoch": epoch + 1}]}
    return request, {"throttle_time_ms": 0, "error_code": 0, "topics": [answer]}


@pytest.mark.parametrize(
    ("error", "answered", "isr"), ((0, [2, 3, 4], "2,3,4"), (0, [1, 2, 3, 4], "1,2,3,4"), (95, [], "1,2,3,4"))
)
def test_an_isr_is_what_the_controller_made_of_it(error: int, answered: list[int], isr: str) -> None:
    """A change that ends a reassignment takes brokers out, too."""
    request, reply = altered(answered, 7, error)
    frames = Frames()
    frames.exchange(56, 2, body(56, 2, "request", request), body(56, 2, "response", reply))
    (row,) = frames.end()["broker_steps"]
    assert (row["isr"], row["partition_epoch"], row["error_code"], row["broker_id"]) == (isr, 7, error, 2)


def test_a_cut_message_has_no_wrong_isr() -> None:
    request, reply = altered([1, 2, 3, 4], 7)
    whole = body(56, 2, "request", request)
    for size in range(len(whole)):
        frames = Frames()
        frames.feed(layout.FRAME_REQUEST_SEEN, 56, 2, whole[:size], 7, 1, FRAME_DECODED=layout.DECODED_TRUNCATED)
        frames.feed(layout.FRAME_REPLY_SEEN, 56, 2, body(56, 2, "response", reply), 7, 1)
        assert {row["isr"] for row in frames.end()["broker_steps"]} <= {"1,2,3,4"}


def test_a_heartbeat_that_is_cut_before_its_wishes_has_no_state() -> None:
    """Whether it asks not to be in service is not known: only that it is not."""
    whole = body(63, 0, "request", BEAT)
    states = []
    for size in range(len(whole) + 1):
        frames = Frames()
        decoded = layout.DECODED_FULL if size == len(whole) else layout.DECODED_TRUNCATED
        frames.feed(layout.FRAME_REQUEST_SEEN, 63, 0, whole[:size], 7, 1, FRAME_DECODED=decoded)
        frames.feed(layout.FRAME_REPLY_SEEN, 63, 0, body(63, 0, "response", FENCED), 7, 1)
        states.append([row["broker_state"] for row in frames.end()["broker_steps"]])
    assert states[-1] == ["starting"]
    assert [each for each in states if each and each != ["starting"]] == []


def test_a_registration_tells_where_a_broker_is() -> None:
    """It is read for the facts of clusters, and no other kind of facts may read it instead."""
    listener = {"name": "PLAINTEXT", "host": "kafka-3", "port": 9092, "security_protocol": 0}
    fields = {"broker_id": 3, "cluster_id": "east", "incarnation_id": TOPIC, "listeners": [listener], "features": []}
    frames = Frames()
    frames.exchange(62, 0, body(62, 0, "request", fields | {"rack": None}), None)
    rows = frames.end()
    assert [(row["node_id"], row["host"], row["port"]) for row in rows["broker_facts"]] == [(3, "kafka-3", 9092)]
    with pytest.raises(AssertionError, match="would be lost"):
        Collector([*clusters.KINDS, FactKind(62, "broker_id", None, clusters.registration)], frames.take)
