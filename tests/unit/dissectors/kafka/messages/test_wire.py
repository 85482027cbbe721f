"""Primitive values at the ends of their ranges, and lengths that lie."""

from __future__ import annotations

from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissectors.errors import Malformed, Truncated
from dissectors.kafka.messages.wire import Wire


@pytest.mark.parametrize(
    ("method", "data", "value"),
    [
        ("boolean", b"\x00", False),
        ("boolean", b"\x80", True),
        ("int8", b"\x80", -128),
        ("int16", b"\x80\x00", -32768),
        ("uint16", b"\xff\xff", 65535),
        ("int32", b"\x80\x00\x00\x00", -(2**31)),
        ("uint32", b"\xff\xff\xff\xff", 2**32 - 1),
        ("int64", b"\x7f" + b"\xff" * 7, 2**63 - 1),
        ("float64", b"\x3f\xf8" + bytes(6), 1.5),
        ("uuid", bytes(range(16)), bytes(range(16))),
        ("unsigned_varint", b"\x00", 0),
        ("unsigned_varint", b"\xac\x02", 300),
        ("unsigned_varint", b"\xff\xff\xff\xff\x0f", 2**32 - 1),
        ("varint", b"\x01", -1),
        ("varint", b"\xff\xff\xff\xff\x0f", -(2**31)),
        ("varlong", b"\xff" * 9 + b"\x01", -(2**63)),
        ("varlong", b"\xfe" + b"\xff" * 8 + b"\x01", 2**63 - 1),
    ],
)
def test_values(method: str, data: bytes, value: Any) -> None:
    wire = Wire(b"?" + data + b"?", 1)
    assert getattr(wire, method)() == value
    assert wire.at == 1 + len(data)
    for size in range(len(data)):
        with pytest.raises(Truncated):
            getattr(Wire(data[:size]), method)()


@pytest.mark.parametrize(
    ("method", "data"),
    [
        ("unsigned_varint", b"\xff\xff\xff\xff\x10"),
        ("unsigned_varint", b"\x80\x80\x80\x80\x80\x00"),
        ("varlong", b"\x80" * 10 + b"\x00"),
        ("varlong", b"\xff" * 9 + b"\x02"),
    ],
)
def test_varints_that_are_too_long(method: str, data: bytes) -> None:
    with pytest.raises(Malformed):
        getattr(Wire(data), method)()


@given(st.integers(0, 2**32 - 1))
def test_varints_of_any_size(value: int) -> None:
    data = bytearray()
    rest = value
    while rest > 0x7F:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    assert Wire(bytes(data) + bytes([rest])).unsigned_varint() == value


def test_texts_and_bytes() -> None:
    assert Wire(b"\xff\xff").string(compact=False) is None
    assert Wire(b"\x00").string(compact=True) is None
    assert Wire(b"\x00\x00").string(compact=False) == ""
    assert Wire(b"\x01").string(compact=True) == ""
    assert Wire(b"\x03\xc3\xa4").string(compact=True) == "\u00e4"
    assert Wire(pack(">i", -1)).sized_bytes(compact=False) is None
    assert Wire(pack(">i", 2) + b"ab").sized_bytes(compact=False) == b"ab"
    for data in (pack(">h", -2), pack(">h", -32768)):
        with pytest.raises(Malformed):
            Wire(data).string(compact=False)
    with pytest.raises(Truncated):
        Wire(pack(">i", 0x7FFFFFFF) + b"ab").sized_bytes(compact=False)


def test_counts() -> None:
    assert Wire(pack(">i", 2) + bytes(8)).array_count(compact=False, least_bytes=4) == 2
    assert Wire(pack(">i", -1)).array_count(compact=False, least_bytes=4) is None
    assert Wire(b"\x00").array_count(compact=True, least_bytes=1) is None
    with pytest.raises(Truncated):
        Wire(pack(">i", 2) + bytes(7)).array_count(compact=False, least_bytes=4)
    with pytest.raises(Malformed):
        Wire(pack(">i", -2)).array_count(compact=False, least_bytes=4)
    with pytest.raises(Truncated):
        list(Wire(b"\xff\x01" + bytes(20)).tagged())


def test_what_runs_over_a_whole_part_is_malformed() -> None:
    wire = Wire(bytes(8))
    wire.path += [".a", "[2]", ".b"]
    with pytest.raises(Malformed) as caught, wire.inside(3):
        wire.int32()
    assert (caught.value.path, caught.value.offset) == ("a[2].b", 0)
    again = Wire(bytes(8))
    with again.inside(3):
        assert again.left == 3
    assert (again.at, again.left) == (3, 5)
