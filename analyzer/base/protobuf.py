"""Fields of protobuf messages as bytes, for the few messages that are written without its library (encoding: protobuf.dev).

A message is its fields, one behind the other; where it is a field of another one its bytes are.
"""

from __future__ import annotations

import struct

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_MASK = (1 << 64) - 1


def varint(value: int) -> bytes:
    """Base 128, the lowest bits first; negative numbers as 64 bits of two's complement."""
    value &= _MASK
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A field of type int64, uint64, enum or bool."""
    return varint(field << 3 | _VARINT) + varint(value)


def zigzag(field: int, value: int) -> bytes:
    """A field of type sint64, in which small negative numbers are short."""
    return number(field, value << 1 ^ value >> 63)


def data(field: int, value: bytes) -> bytes:
    """A field of type bytes, or a message."""
    return varint(field << 3 | _BYTES) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    """A field of type string; what UTF-8 has no form for becomes a question mark."""
    return data(field, value.encode("utf-8", "replace"))


def fixed64(field: int, value: int) -> bytes:
    """A field of type fixed64."""
    return varint(field << 3 | _FIXED64) + (value & _MASK).to_bytes(8, "little")


def double(field: int, value: float) -> bytes:
    """A field of type double."""
    return varint(field << 3 | _FIXED64) + struct.pack("<d", value)
