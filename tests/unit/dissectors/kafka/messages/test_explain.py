"""The interpreter where messages are unusual, cut, wrong or hostile, and how its trees become JSON."""

from __future__ import annotations

import gzip
import json
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_reference import RELEASES
from kafka_vectors import vectors

from analyzer.messages.render import Renderer, decode_line, message
from dissectors.kafka.messages.explain import Node, Struct, explain
from dissectors.kafka.schema import lookup

CORRELATION = pack(">i", 7)


def text(value: str | None) -> bytes:
    return pack(">h", -1) if value is None else pack(">h", len(value.encode())) + value.encode()


def request(key: int, version: int, body: bytes, client: str | None = "me", tags: bytes = b"") -> bytes:
    return pack(">hh", key, version) + CORRELATION + text(client) + tags + body


def decode(key: int, version: int, direction: str, frame: bytes, records: bool = False) -> dict[str, Any]:
    line = {"api_key": key, "version": version, "direction": direction, "hex": frame.hex()}
    found = decode_line(line, records)
    json.dumps(found, allow_nan=False)
    return found


# Heartbeat v0 request: group_id, generation_id, member_id.
HEARTBEAT = text("g") + pack(">i", 5) + text("m")


def test_places_of_values() -> None:
    found = explain(12, 0, "request", request(12, 0, HEARTBEAT))
    assert found.error is None
    places = {name: (node.start, node.end) for name, node in (found.header.fields | found.body.fields).items()}
    assert places == {
        "request_api_key": (0, 2),
        "request_api_version": (2, 4),
        "correlation_id": (4, 8),
        "client_id": (8, 12),
        "group_id": (12, 15),
        "generation_id": (15, 19),
        "member_id": (19, 22),
    }


def test_bytes_after_the_body_are_counted() -> None:
    assert decode(12, 0, "request", request(12, 0, HEARTBEAT + b"xyz"))["leftover_bytes"] == 3


def test_null_is_accepted_and_noted_once() -> None:
    metadata = pack(">i", 2) + text(None) + text(None)
    found = decode(3, 1, "request", request(3, 1, metadata))
    assert found["body"] == {"topics": [{"name": None}, {"name": None}]}
    assert found["notes"] == ["name is null, which version 1 does not provide for"]
    expected = decode(3, 1, "request", request(3, 1, pack(">i", -1)))
    assert (expected["body"], expected["notes"]) == ({"topics": None}, [])


def test_text_that_is_not_utf8_is_noted() -> None:
    found = decode(12, 0, "request", request(12, 0, b"\x00\x02\xffg" + HEARTBEAT[3:]))
    assert found["body"]["group_id"] == "\ufffdg"
    assert len(found["notes"]) == 1
    honest = decode(12, 0, "request", request(12, 0, text("\ufffdg") + HEARTBEAT[3:]))
    assert honest["notes"] == []


def test_a_header_that_says_otherwise_is_noted() -> None:
    found = decode(12, 0, "request", request(12, 1, HEARTBEAT))
    assert found["notes"] == ["the header says key 12 version 1, read as key 12 version 0"]


def test_every_byte_but_zero_is_true() -> None:
    frame = request(3, 4, pack(">i", 0) + b"\x02")
    assert decode(3, 4, "request", frame)["body"]["allow_auto_topic_creation"] is True


# ApiVersions: an answer in a version that the broker does not know.


def test_a_refused_version_is_read_as_version_0() -> None:
    with_keys = CORRELATION + pack(">hihhh", 35, 1, 18, 0, 4)
    without_keys = CORRELATION + pack(">hi", 35, 0)
    for version in (1, 2, 3, 4, 5, 99):
        found = decode(18, version, "response", with_keys)
        assert found["body"] == {"error_code": 35, "api_keys": [{"api_key": 18, "min_version": 0, "max_version": 4}]}
        assert found["leftover_bytes"] == 0
        assert len(found["notes"]) == 1
        assert explain(18, version, "response", with_keys).body_version == 0
        assert decode(18, version, "response", without_keys)["body"] == {"error_code": 35, "api_keys": []}


def test_only_a_refusal_falls_back() -> None:
    other_error = CORRELATION + pack(">hihhh", 41, 1, 18, 0, 4)
    assert decode(18, 3, "response", other_error)["error"]["kind"] in ("truncated", "malformed")
    assert decode(18, 99, "response", other_error)["error"]["kind"] == "unsupported"
    cut = CORRELATION + pack(">hihh", 35, 1, 18, 0)
    assert decode(18, 1, "response", cut)["error"]["kind"] == "truncated"


# Tags: ApiVersions v3 request has two compact strings and a tagged section.

SOFTWARE = b"\x02s\x02v"


def test_unknown_tags_are_kept_and_known_ones_have_defaults() -> None:
    frame = request(18, 3, SOFTWARE + b"\x02\x05\x01a\x09\x00", tags=b"\x01\x07\x02hi")
    found = decode(18, 3, "request", frame)
    assert found["header"]["unknown_tags"] == {"7": "aGk="}
    assert found["body"]["unknown_tags"] == {"5": "YQ==", "9": ""}
    answer = decode(18, 3, "response", CORRELATION + pack(">h", 0) + b"\x01" + pack(">i", 0) + b"\x00")
    assert answer["body"]["finalized_features_epoch"] == -1
    assert answer["body"]["finalized_features"] == []
    assert answer["body"]["zk_migration_ready"] is False


def answer_with_tags(tags: bytes) -> dict[str, Any]:
    return decode(18, 3, "response", CORRELATION + pack(">h", 0) + b"\x01" + pack(">i", 0) + tags)


def test_a_known_tag_is_read_within_its_size() -> None:
    found = answer_with_tags(b"\x01\x01\x08" + pack(">q", 9))
    assert found["body"]["finalized_features_epoch"] == 9
    longer = answer_with_tags(b"\x01\x01\x09" + pack(">q", 9) + b"!")
    assert (longer["leftover_bytes"], len(longer["notes"])) == (0, 1)
    shorter = answer_with_tags(b"\x01\x01\x07" + pack(">q", 9))
    assert (shorter["error"]["kind"], shorter["error"]["path"]) == ("malformed", "finalized_features_epoch")


def test_a_tag_twice_is_noted() -> None:
    found = answer_with_tags(b"\x02\x01\x08" + pack(">q", 9) + b"\x01\x08" + pack(">q", 10))
    assert found["body"]["finalized_features_epoch"] == 10
    assert len(found["notes"]) == 1


# What cannot be read.


def test_a_count_beyond_the_bytes_is_refused_at_once() -> None:
    found = decode(3, 0, "request", request(3, 0, pack(">i", 0x7FFFFFFF) + b"\x00\x00"))
    assert found["error"]["kind"] == "truncated"
    assert found["error"]["path"] == "topics"
    ids = decode(
        1,
        7,
        "request",
        request(1, 7, bytes(4 * 4 + 1 + 4 * 2) + pack(">i", 0) + pack(">i", 1) + text("t") + pack(">i", 3) + bytes(8)),
    )
    assert (ids["error"]["path"], ids["error"]["message"]) == (
        "forgotten_topics_data[0].partitions",
        "expected 3 elements, got 8 bytes left",
    )


@pytest.mark.parametrize(
    ("version", "body", "path"),
    [
        (0, b"\xff\xfe", "group_id"),
        (4, b"\xff\xff\xff\xff\xff\x01", "group_id"),
        (4, b"\xff\xff\xff\xff\x1f", "group_id"),
    ],
)
def test_lengths_that_are_none(version: int, body: bytes, path: str) -> None:
    tags = b"\x00" if version == 4 else b""
    found = decode(12, version, "request", request(12, version, body, tags=tags))
    assert (found["error"]["kind"], found["error"]["path"]) == ("malformed", path)
    assert found["error"]["offset"] == len(request(12, version, b"", tags=tags))
    assert found["header"]["client_id"] == "me"
    assert found["body"] == {}


def test_partial_trees_end_before_the_error() -> None:
    frame = request(3, 0, pack(">i", 2) + text("one") + b"\x00\x09tw")
    found = decode(3, 0, "request", frame)
    assert found["error"] == {
        "kind": "truncated",
        "path": "topics[1].name",
        "offset": len(frame) - 2,
        "message": "expected 9 bytes, got 2 bytes left",
    }
    assert found["body"] == {"topics": [{"name": "one"}, {}]}


def test_unknown_keys_and_versions_show_their_header() -> None:
    newer = decode(12, 77, "request", request(12, 77, b"\x00?", tags=b""))
    assert newer["error"]["kind"] == "unsupported"
    assert newer["header"]["client_id"] == "me"
    assert newer["body"] is None
    nobody = decode(999, 0, "request", request(999, 0, b""))
    assert (nobody["error"]["kind"], nobody["header"]["correlation_id"]) == ("unsupported", 7)
    assert decode(999, 0, "response", CORRELATION)["error"]["kind"] == "unsupported"
    assert decode(12, -1, "request", request(12, -1, b""))["error"]["kind"] == "unsupported"
    assert decode(12, 0, "response", b"")["error"] == {
        "kind": "truncated",
        "path": "correlation_id",
        "offset": 0,
        "message": "expected 4 bytes, got 0 bytes left",
    }


@pytest.mark.parametrize(
    "line",
    [
        None,
        [],
        "x",
        {},
        {"api_key": "9", "version": 0, "direction": "request", "hex": ""},
        {"api_key": True, "version": 0, "direction": "request", "hex": ""},
        {"api_key": 9, "version": 0.5, "direction": "request", "hex": ""},
        {"api_key": 9, "version": 0, "direction": "both", "hex": ""},
        {"api_key": 9, "version": 0, "direction": "request", "hex": "abc"},
        {"api_key": 9, "version": 0, "direction": "request", "hex": "zz"},
        {"api_key": 9, "version": 0, "direction": "request", "hex": None},
    ],
)
def test_lines_that_ask_nothing(line: Any) -> None:
    found = decode_line(line)
    assert found["error"]["kind"] == "usage"
    assert found["error"]["message"]


@given(st.integers(-5, 100), st.integers(-2, 20), st.sampled_from(["request", "response"]), st.binary(max_size=200))
def test_any_bytes_give_a_tree_or_an_error(key: int, version: int, direction: str, frame: bytes) -> None:
    found = decode(key, version, direction, frame, records=True)
    assert ("error" in found) != ("leftover_bytes" in found)


@pytest.mark.parametrize("release", RELEASES)
def test_damaged_messages_give_a_tree_or_an_error(release: str) -> None:
    """One byte of each message made extreme, at three places."""
    for number, vector in enumerate(vectors(release)):
        frame = bytearray.fromhex(vector["hex"])
        for step, byte in enumerate((0xFF, 0x7F, 0x80)):
            place = (number * 31 + step * 97) % len(frame)
            damaged = bytes(frame[:place]) + bytes([byte]) + bytes(frame[place + 1 :])
            found = decode(vector["api_key"], vector["version"], vector["direction"], damaged, records=True)
            if "error" in found:
                assert found["error"]["kind"] in ("truncated", "malformed", "unsupported")


# Rendering.


def test_secrets_are_shown_only_on_request() -> None:
    frame = request(36, 0, pack(">i", 6) + b"\x00alice"[:6])
    found = explain(36, 0, "request", frame)
    assert message(found, Renderer())["body"] == {"auth_bytes": {"secret_bytes": 6}}
    assert message(found, Renderer(secrets=True))["body"] == {"auth_bytes": "AGFsaWNl"}


def test_values_of_secret_settings_are_not_shown() -> None:
    configs = [("ssl.keystore.password", "abc"), ("retention.ms", "5"), ("sasl.jaas.config", None)]
    listed = b"".join(text(name) + text(value) for name, value in configs)
    topic = text("t") + pack(">ih", 1, 1) + pack(">i", 0) + pack(">i", len(configs)) + listed
    found = explain(19, 2, "request", request(19, 2, pack(">i", 1) + topic + pack(">i", 0) + b"\x00"))
    assert found.error is None
    shown = Renderer().struct(found.body)["topics"][0]["configs"]
    assert [each["value"] for each in shown] == [{"secret_bytes": 3}, "5", None]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(float("nan"), "NaN"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity"), (1.5, 1.5), (None, None)],
)
def test_floats(value: float | None, shown: Any) -> None:
    field = lookup.Field("x", "float64", False, lookup.Span(0, 0), None, None, (), None, None, "", (), 0)
    assert Renderer().struct(Struct({"x": Node("x", value, 0, 8, field)})) == {"x": shown}


def test_all_records_of_a_message_share_one_budget() -> None:
    """Produce with 150 partitions, each a compressed message that becomes 1 MiB."""
    value = bytes(1 << 20)
    inner = pack(">qiIbbii", 0, 14 + len(value), 0, 0, 0, -1, len(value)) + value
    packed = gzip.compress(inner)
    wrapper = pack(">qiIbbii", 0, 14 + len(packed), 0, 0, 1, -1, len(packed)) + packed
    partitions = b"".join(pack(">ii", index, len(wrapper)) + wrapper for index in range(150))
    frame = request(0, 0, pack(">hi", 1, 1000) + pack(">i", 1) + text("t") + pack(">i", 150) + partitions)
    found = explain(0, 0, "request", frame)
    assert found.error is None
    renderer = Renderer()
    for _ in range(2):
        shown = message(found, renderer)["body"]["topic_data"][0]["partition_data"]
        refused = ["problem" in each["records"]["batches"][0] for each in shown]
        assert refused == [False] * 127 + [True] * 23
