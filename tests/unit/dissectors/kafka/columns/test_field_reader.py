"""The reader of chosen fields against the reference interpreter, over every message that Apache's encoder wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kafka_reference import RELEASES
from kafka_vectors import name_of, vectors

from dissectors.kafka.columns.field_reader import message_reader, wanted_fields
from dissectors.kafka.messages.explain import Struct, explain
from dissectors.kafka.schema import lookup

if TYPE_CHECKING:
    pass

KEYS = lookup.readable_keys()


def every_field(fields: tuple[lookup.Field, ...]) -> dict[str, Any]:
    """All fields of a message, as `wanted_fields` would give them; floats are nothing that anybody asks for."""
    return {each.name: every_field(each.fields) for each in fields if each.type != "float64"}


def projection(struct: Struct, wanted: dict[str, Any]) -> dict[str, Any]:
    """What the reader should give of a struct that the interpreter read: only what is on the wire."""
    found = {}
    for name, inside in wanted.items():
        node = struct.fields.get(name)
        if node is None or (node.field.tag is not None and node.start == node.end):
            continue
        found[name] = plain(node, inside)
    return found


def plain(node: Any, wanted: dict[str, Any]) -> Any:
    value = node.value
    if isinstance(value, Struct):
        return projection(value, wanted)
    if isinstance(value, list):
        return [plain(each, wanted) for each in value]
    if isinstance(value, memoryview):
        return (node.end - len(value), len(value))
    return value


def body_of(vector: dict[str, Any]) -> bytes:
    return bytes.fromhex(vector["hex"])


def of_key(key: int) -> list[dict[str, Any]]:
    return [vector for release in RELEASES for vector in vectors(release) if vector["api_key"] == key]


def wanted_of(vector: dict[str, Any]) -> dict[str, Any]:
    return every_field(lookup.api(vector["api_key"]).message(vector["direction"]).fields)


def read(vector: dict[str, Any], wanted: dict[str, Any], end: int | None = None) -> tuple[dict[str, Any], bool]:
    frame = body_of(vector)
    reader = message_reader(vector["api_key"], vector["version"], vector["direction"], wanted)
    return reader.read(frame, vector["body_offset"], len(frame) if end is None else end)


def tree(vector: dict[str, Any]) -> Struct:
    return explain(vector["api_key"], vector["version"], vector["direction"], body_of(vector)).body


@pytest.mark.parametrize("key", KEYS)
def test_all_fields_equal_the_interpreters(key: int) -> None:
    for vector in of_key(key):
        wanted = wanted_of(vector)
        assert read(vector, wanted) == (projection(tree(vector), wanted), True), name_of(vector)


@pytest.mark.parametrize("key", KEYS)
def test_each_field_alone_equals_the_interpreters(key: int) -> None:
    """What is not wanted is passed over by the right number of bytes."""
    for vector in of_key(key)[::5]:
        body = tree(vector)
        for name, inside in wanted_of(vector).items():
            chosen = {name: inside}
            assert read(vector, chosen) == (projection(body, chosen), True), f"{name_of(vector)} {name}"


def is_beginning(part: Any, whole: Any) -> bool:
    """Whether `part` says nothing that `whole` does not."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and is_beginning(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and all(map(is_beginning, part, whole)) and len(part) <= len(whole)
    return part == whole


@pytest.mark.parametrize("key", [0, 1, 3, 11, 13, 18, 60, 68])
def test_cut_at_every_byte_gives_only_what_is_true(key: int) -> None:
    for vector in of_key(key)[::7]:
        wanted = wanted_of(vector)
        whole, _ = read(vector, wanted)
        begin, end = vector["body_offset"], len(body_of(vector))
        for cut in range(begin, end, max(1, (end - begin) // 60)):
            part, complete = read(vector, wanted, cut)
            assert is_beginning(part, whole), f"{name_of(vector)} cut at {cut}"
            assert part == whole or not complete, f"{name_of(vector)} cut at {cut}"


def test_nothing_behind_the_last_wanted_field_is_read() -> None:
    frame = bytes.fromhex("00000000") + bytes.fromhex(
        "00000001 00000007 0001 68 00002384 ffff 0001 63".replace(" ", "")
    )
    reader = message_reader(3, 2, "response", wanted_fields("brokers(node_id host port) cluster_id"))
    found = {"brokers": [{"node_id": 7, "host": "h", "port": 9092}], "cluster_id": "c"}
    assert reader.read(frame, 4, len(frame)) == (found, True)


def test_more_elements_than_bytes_end_the_reading() -> None:
    frame = bytes.fromhex("7fffffff")
    reader = message_reader(3, 0, "response", wanted_fields("brokers(node_id) topics(name)"))
    assert reader.read(frame, 0, 4) == ({"brokers": []}, False)


def test_unknown_versions_have_no_reader() -> None:
    assert message_reader(3, 99, "response", {}) is None
    assert message_reader(999, 0, "response", {}) is None
    assert wanted_fields("a b(c d(e)) f") == {"a": {}, "b": {"c": {}, "d": {"e": {}}}, "f": {}}


def test_of_a_struct_that_lacks_a_marked_field_nothing_is_read() -> None:
    """CreateTopics tells the ids of topics from version 7 on: of older versions no name is read."""
    wanted = wanted_fields("topics(name topic_id!)")
    old = bytes.fromhex("00000001 0001 74 0000")
    assert message_reader(19, 0, "response", wanted).read(old, 0, len(old)) == ({}, True)
    identity = bytes(range(16))
    new = bytes.fromhex("00000000 02 0274") + identity + bytes.fromhex("0000 00 00000001 0001 00 00 00")
    found, whole = message_reader(19, 7, "response", wanted).read(new, 0, len(new))
    assert whole and [each["name"] for each in found["topics"]] == ["t"] and "topic_id" in found["topics"][0]
    assert message_reader(19, 0, "response", wanted_fields("topics(name)")).read(old, 0, len(old)) == (
        {"topics": [{"name": "t"}]},
        True,
    )
