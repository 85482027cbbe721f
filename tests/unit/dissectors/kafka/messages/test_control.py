"""Control records beyond the usual ones, which test_vectors compares with Apache's account."""

from __future__ import annotations

import json
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissectors.kafka.messages.control import control_of


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (pack(">hh", 0, 1), pack(">hi", 0, 5), {"type": "COMMIT", "coordinator_epoch": 5}),
        (pack(">hh", 7, 0) + b"more", pack(">hi", 3, 5) + b"more", {"type": "ABORT", "coordinator_epoch": 5}),
        (pack(">hh", 0, 4), b"\x00\x00\x00", {"type": "SNAPSHOT_FOOTER", "body": {"version": 0}}),
        (pack(">hh", 0, 7), b"", {"type": "UNKNOWN_7"}),
        (pack(">hh", 0, -1), b"", {"type": "UNKNOWN_-1"}),
        (pack(">hh", -1, 0), pack(">hi", 0, 5), None),
        (b"\x00\x00\x00", b"", None),
        (None, b"", None),
    ],
)
def test_control_records(key: bytes | None, value: bytes, said: dict | None) -> None:
    assert control_of(key, value) == said


def test_voters_of_both_versions() -> None:
    def message(version: int, directory: bytes) -> bytes:
        voters = b"\x02" + pack(">i", 4) + directory + b"\x00"
        return pack(">hi", version, 4) + voters + b"\x01" + b"\x00"

    key = pack(">hh", 0, 2)
    old = {"version": 0, "leader_id": 4, "voters": [{"voter_id": 4}], "granting_voters": []}
    assert control_of(key, message(0, b"")) == {"type": "LEADER_CHANGE", "body": old}
    voter = {"voter_id": 4, "voter_directory_id": "AAECAwQFBgcICQoLDA0ODw"}
    new = old | {"version": 1, "voters": [voter]}
    assert control_of(key, message(1, bytes(range(16)))) == {"type": "LEADER_CHANGE", "body": new}


@pytest.mark.parametrize("value", [None, b"", b"\x00", pack(">hi", 0, 4), pack(">hi", 2, 4) + b"\x01\x01\x00"])
def test_a_control_value_that_cannot_be_read_says_why(value: bytes | None) -> None:
    said = control_of(pack(">hh", 0, 2), value)
    assert said["type"] == "LEADER_CHANGE"
    assert said.keys() == {"type", "problem"}
    assert "expected" in said["problem"]


@given(st.integers(-1, 8), st.binary(max_size=60) | st.none())
def test_any_control_value_gives_something_that_json_can_say(kind: int, value: bytes | None) -> None:
    json.dumps(control_of(pack(">hh", 0, kind), value))
