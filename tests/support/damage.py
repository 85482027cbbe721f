"""Damaged frames: lengths that are wrong, and where in a message a byte lies."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack

from encode import SHAPES, Length, unsigned_varint, zigzag

from dissectors.kafka.messages.explain import Explained, Node, Struct

MOST = {"int16": 2**15 - 1, "int32": 2**31 - 1, "varint": 2**32 - 1, "zigzag": 2**31 - 1}


def with_length(frame: bytes, length: Length, written: bytes) -> bytes:
    return frame[: length.at] + written + frame[length.end :]


def huge(frame: bytes, length: Length) -> bytes:
    """The frame with the largest number that the length can say."""
    return with_length(frame, length, written(length.form, MOST[length.form]))


def wrong_lengths(frame: bytes, length: Length) -> Iterator[bytes]:
    """The frame with each wrong number: off by one, null, negative, huge, and one more than what follows."""
    left = len(frame) - length.end
    if length.form == "varint":
        # Its number is 1 above the size: 0 is null. 2^31 is negative for a reader of int32.
        numbers = {length.raw + 1, length.raw - 1, 0, 2**31, MOST["varint"], left + 2} - {-1}
    else:
        numbers = {length.raw + 1, length.raw - 1, -1, -2, MOST[length.form], min(left + 1, MOST[length.form])}
    for number in sorted(numbers - {length.raw}):
        yield with_length(frame, length, written(length.form, number))


def written(form: str, number: int) -> bytes:
    if form == "zigzag":
        return zigzag(number)
    return unsigned_varint(number) if form == "varint" else pack(SHAPES[form], number)


def places(found: Explained, size: int) -> list[dict[str, int]]:
    """For each byte of a whole message the paths of what it belongs to, outer ones first, each with its first byte."""
    assert found.body is not None
    covering: list[dict[str, int]] = [{} for _ in range(size)]
    for struct in (found.header, found.body):
        _cover(struct, "", covering)
    return covering


def _cover(struct: Struct, path: str, covering: list[dict[str, int]]) -> None:
    for node in struct.fields.values():
        _cover_node(node, f"{path}.{node.name}" if path else node.name, covering)


def _cover_node(node: Node, path: str, covering: list[dict[str, int]]) -> None:
    for byte in range(node.start, node.end):
        covering[byte].setdefault(path, node.start)
    if isinstance(node.value, Struct):
        _cover(node.value, path, covering)
    elif isinstance(node.value, list):
        for element in node.value:
            _cover_node(element, path + element.name, covering)
