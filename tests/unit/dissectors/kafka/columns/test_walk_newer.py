"""Messages that are newer than their schema: what proves itself is in the columns, everything else is not."""

from __future__ import annotations

import struct

import implied_columns
import pytest
from walk_helpers import Message, walked

from dissectors import layout
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.schema import lookup

VERSION = 60
HEARTBEAT, FIND_COORDINATOR, SHARE_HEARTBEAT, API_VERSIONS = 12, 10, 76, 18
THROTTLE, ERROR = layout.VALUE_THROTTLE_MS, layout.VALUE_ERROR_CODE
REPLY = struct.pack(">ib", 7, 0)


def read(key: int, direction: str, frame: bytes) -> dict[int, object]:
    """The values of a newer message, which the interpreter confirms."""
    message = Message(key, VERSION, direction, frame)
    got = walked(Walker(write_entries=True), [message])
    found = explain(*message[:4])
    assert (got.decoded, got.body, got.entries) == ([layout.DECODED_UNSUPPORTED], [layout.UNKNOWN], [[]])
    assert (got.values[0], got.entries[0], got.errors[0]) == implied_columns.project(found, frame)
    assert len(got.errors[0]) == (ERROR in got.values[0])
    return got.values[0]


@pytest.mark.parametrize(
    ("throttle", "error", "expected"),
    [
        (0, 0, {THROTTLE: 0}),  # other errors may stand behind one that is 0
        (1500, 0, {THROTTLE: 1500}),
        (0, 27, {THROTTLE: 0, ERROR: 27}),
        (3_600_000, -1, {THROTTLE: 3_600_000, ERROR: -1}),
        (3_600_001, 0, {}),
        (-1, 0, {}),
        (5, 1000, {}),
        (5, -2, {}),
    ],
)
def test_throttle_time_and_error_are_read_together_or_not_at_all(throttle: int, error: int, expected: object) -> None:
    front = struct.pack(">ih", throttle, error)
    assert read(HEARTBEAT, "response", REPLY + front + b"\x05more\0") == expected
    assert read(HEARTBEAT, "response", REPLY[:4] + b"\1\7\2ab" + front) == expected  # a tagged field in the header
    assert read(HEARTBEAT, "response", REPLY + front[:-1]) == {}
    assert read(HEARTBEAT, "response", REPLY[:4] + b"\x09" + front) == {}  # no header of a flexible message


@pytest.mark.parametrize(
    ("key", "behind", "is_read"),
    [
        (FIND_COORDINATOR, b"\1\0", True),  # an empty array
        (FIND_COORDINATOR, b"\3abcdef", True),
        (FIND_COORDINATOR, b"\0\0", False),  # null, which this array never was
        (FIND_COORDINATOR, b"\x7fabcdef", False),  # more elements than bytes
        (FIND_COORDINATOR, b"\xff\xff\xff\xff\xff", False),
        (FIND_COORDINATOR, b"", False),
        (SHARE_HEARTBEAT, b"\0\0", False),
        (SHARE_HEARTBEAT, b"\0\0\0", True),  # null is foreseen
        (SHARE_HEARTBEAT, b"\0\0\x09abc", False),
    ],
)
def test_the_length_behind_has_to_fit(key: int, behind: bytes, is_read: bool) -> None:
    assert read(key, "response", REPLY + struct.pack(">i", 30) + behind) == ({THROTTLE: 30} if is_read else {})


def request(body: bytes) -> bytes:
    return struct.pack(">hhih", API_VERSIONS, VERSION, 7, 2) + b"me\0" + body


def compact(text: str) -> bytes:
    return bytes((len(text) + 1,)) + text.encode()


@pytest.mark.parametrize(
    ("name", "version", "is_read"),
    [
        ("apache-kafka-java", "4.5.0", True),
        ("a", "0", True),
        ("", "4.5.0", False),
        ("kgo", "", False),
        ("kgo", "v1 ", False),
        ("-kgo", "1", False),
        ("k\x00o", "1", False),
        ("größe", "1", False),
        ("x" * 64, "1", True),
        ("x" * 65, "1", False),
    ],
)
def test_the_software_of_a_newer_client_is_read_if_it_can_be_one(name: str, version: str, is_read: bool) -> None:
    values = read(API_VERSIONS, "request", request(compact(name) + compact(version) + b"\0\xff\xff\xff\xff\0"))
    told = {layout.VALUE_SOFTWARE_NAME: name, layout.VALUE_SOFTWARE_VERSION: version} if is_read else {}
    assert values == {layout.VALUE_CLIENT_ID: "me"} | told


def test_a_newer_request_tells_its_client_alone() -> None:
    body = compact("orders") + bytes(4) + compact("m-1") + b"\0\0"
    frame = struct.pack(">hhih", HEARTBEAT, VERSION, 7, 2) + b"me\0" + body
    assert read(HEARTBEAT, "request", frame) == {layout.VALUE_CLIENT_ID: "me"}


def test_a_key_that_nobody_knows_has_a_flexible_header_and_a_name() -> None:
    key = max(lookup.known_keys()) + 1
    head = struct.pack(">hhih", key, 0, 7, 2) + b"me"
    found = explain(key, 0, "request", head + b"\1\7\2ab" + bytes(6))
    assert (found.error.kind, found.header.value("client_id"), found.header.unknown_tags) == (
        "unsupported",
        "me",
        {7: b"ab"},
    )
    assert explain(key, 0, "request", head).error.kind == "unsupported"  # without tagged fields
    assert explain(key, 0, "response", REPLY).header.unknown_tags == {}
    assert lookup.api_name(key) == f"key {key}"
