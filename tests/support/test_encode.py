"""The encoder of the tests against Apache's: the same bytes for every message that Apache's encoder wrote."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import random_messages
from encode import encode, plain
from kafka_reference import RELEASES
from kafka_vectors import name_of, vectors
from random_messages import Kind

from analyzer.messages.render import Renderer
from dissectors.kafka.messages.explain import explain


def test_apache_s_messages_are_written_byte_for_byte() -> None:
    seen = set()
    for vector in (each for release in RELEASES for each in vectors(release)):
        kind = Kind(vector["api_key"], vector["version"], vector["direction"])
        frame = bytes.fromhex(vector["hex"])
        found = explain(*kind, frame)
        assert found.body is not None
        assert encode(*kind, plain(found.header), plain(found.body)) == frame, name_of(vector)
        seen.add(kind)
    assert seen == set(random_messages.kinds())


def test_what_is_rendered_can_be_written() -> None:
    """All but records: as JSON only their size and their batches are left."""
    renderer = Renderer(secrets=True)
    for kind in random_messages.kinds():
        sample = random_messages.sample(kind, Random(str(kind)), full=True)
        found = explain(*kind, sample.frame)
        if found.body is None or any(length.kind == "records" for length in sample.lengths):
            continue
        header, body = renderer.struct(found.header), renderer.struct(found.body)
        assert encode(*kind, header, body) == sample.frame, kind


def test_what_is_not_named_has_its_default() -> None:
    frame = encode(1, 12, "request", {"client_id": "app"}, {"topics": [{"topic": "orders", "partitions": [{}]}]})
    found = explain(1, 12, "request", frame)
    assert found.error is None
    assert found.body is not None
    body = Renderer().struct(found.body)
    assert (body["max_bytes"], body["session_epoch"], body["cluster_id"]) == (2147483647, -1, None)
    assert body["topics"][0]["partitions"][0]["log_start_offset"] == -1
    assert found.body.fields["cluster_id"].end == found.body.fields["cluster_id"].start
    named = explain(1, 12, "request", encode(1, 12, "request", {}, {"cluster_id": None}))
    assert named.body is not None
    assert named.body.fields["cluster_id"].end > named.body.fields["cluster_id"].start


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"topicz": []}, "topicz"),
        ({"rack_id": "r"}, "rack_id"),
        ({"max_wait_ms": None}, "no null"),
        ({"topics": [{"partitions": [None]}]}, "no null"),
    ],
)
def test_what_cannot_be_written_is_refused(body: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode(1, 4, "request", {}, body)


def test_nan_is_written() -> None:
    """Random messages leave it out since it equals nothing."""
    value = {"entity": [], "values": [{"key": "producer_byte_rate", "value": "NaN"}]}
    found = explain(48, 0, "response", encode(48, 0, "response", {}, {"entries": [value]}))
    assert found.body is not None
    assert Renderer().struct(found.body)["entries"] == [value]
