"""The interpreter against every message that Apache's encoder wrote, of every API that has a schema file."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from kafka_reference import RELEASES, table
from kafka_vectors import name_of, ours, snake_path, vectors

from analyzer.messages.render import Renderer
from dissectors.kafka.messages.explain import Explained, Node, Struct, explain
from dissectors.kafka.messages.records import Batch, Record, read_records
from dissectors.kafka.schema import headers, lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = lookup.readable_keys()


def of_key(key: int) -> list[dict[str, Any]]:
    return [vector for release in RELEASES for vector in vectors(release) if vector["api_key"] == key]


def read(vector: dict[str, Any]) -> Explained:
    found = explain(vector["api_key"], vector["version"], vector["direction"], bytes.fromhex(vector["hex"]))
    assert found.error is None, f"{name_of(vector)}: {found.error}"
    return found


def drop_absent(struct: Struct) -> None:
    """Leaves out tagged fields that are not on the wire, as Apache's JSON does."""
    for name, node in list(struct.fields.items()):
        if node.field is not None and node.field.tag is not None and node.start == node.end:
            del struct.fields[name]
            continue
        for inner in node.value if isinstance(node.value, list) else [node]:
            if isinstance(inner.value, Struct):
                drop_absent(inner.value)


def walk(struct: Struct, path: str = "") -> Iterator[tuple[str, Struct | Node]]:
    """(path, what stands there) of every struct and field."""
    yield path, struct
    for name, node in struct.fields.items():
        inner_path = f"{path}.{name}".removeprefix(".")
        yield inner_path, node
        elements = node.value if isinstance(node.value, list) else [node]
        for element in elements:
            if isinstance(element.value, Struct):
                yield from walk(element.value, inner_path + (element.name if element is not node else ""))


def without_batches(value: Any) -> Any:
    if isinstance(value, list):
        return [without_batches(each) for each in value]
    if isinstance(value, dict):
        if "batches" in value:
            return {"size_bytes": value["size_bytes"]}
        return {name: without_batches(each) for name, each in value.items() if name != "unknown_tags"}
    return value


def exact(value: Any) -> str:
    """Tells 1 from true and 0.0 from -0.0."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("key", KEYS)
def test_bodies_equal_those_of_apache(key: int) -> None:
    for vector in of_key(key):
        found = read(vector)
        assert found.leftover_bytes == 0, name_of(vector)
        assert found.notes == [], name_of(vector)
        drop_absent(found.body)
        rendered = Renderer(secrets=True).struct(found.body)
        assert exact(without_batches(rendered)) == exact(ours(vector["body"])), name_of(vector)


@pytest.mark.parametrize("key", KEYS)
def test_headers_equal_those_of_apache(key: int) -> None:
    for vector in of_key(key):
        found = read(vector)
        wanted = {"correlation_id": vector["correlation_id"]}
        if vector["direction"] == "request":
            wanted |= {"request_api_key": vector["api_key"], "request_api_version": vector["version"]}
            if vector["header_version"] > 0:
                wanted["client_id"] = vector["client_id"]
        assert {name: node.value for name, node in found.header.fields.items()} == wanted, name_of(vector)
        tags = {tag["tag"]: tag["hex"] for tag in vector.get("header_unknown_tags", [])}
        assert {tag: value.hex() for tag, value in found.header.unknown_tags.items()} == tags, name_of(vector)
        first = min((node.start for node in found.body.fields.values()), default=vector["body_offset"])
        assert first == vector["body_offset"], name_of(vector)


@pytest.mark.parametrize("key", KEYS)
def test_unknown_tags_are_kept(key: int) -> None:
    for vector in of_key(key):
        structs = [(path, each) for path, each in walk(read(vector).body) if isinstance(each, Struct)]
        found = {(path, tag, value.hex()) for path, each in structs for tag, value in each.unknown_tags.items()}
        wanted = {(snake_path(tag["path"]), tag["tag"], tag["hex"]) for tag in vector.get("unknown_tags", [])}
        assert found == wanted, name_of(vector)


def test_every_version_and_direction_has_vectors() -> None:
    """So that the tests above cannot pass by looking at nothing."""
    seen = {(each["api_key"], each["version"], each["direction"]) for key in KEYS for each in of_key(key)}
    for key in KEYS:
        versions = lookup.api(key).versions
        wanted = {
            (key, version, direction)
            for version in range(versions.first, versions.last + 1)
            for direction in ("request", "response")
        }
        assert wanted <= seen


@pytest.mark.parametrize("key", KEYS)
def test_a_message_cut_anywhere_is_truncated(key: int) -> None:
    """And what was read before the cut is what the whole message has there."""
    for number, vector in enumerate(of_key(key)):
        whole = {(path, node.start, node.end) for path, node in single_values(read(vector))}
        frame = bytes.fromhex(vector["hex"])
        stride = max(1, len(frame) // 12)
        for cut in range(number % stride, len(frame), stride):
            found = explain(key, vector["version"], vector["direction"], frame[:cut])
            assert found.error is not None, f"{name_of(vector)} cut at {cut}"
            assert found.error.kind == "truncated", f"{name_of(vector)} cut at {cut}: {found.error}"
            assert found.error.offset <= cut
            assert {(path, node.start, node.end) for path, node in single_values(found)} <= whole


def single_values(found: Explained) -> Iterator[tuple[str, Node]]:
    """Those that are on the wire."""
    for struct in (found.header, found.body):
        for path, node in walk(struct) if struct is not None else ():
            if isinstance(node, Node) and not isinstance(node.value, (list, Struct)) and node.end > node.start:
                yield path, node


@pytest.mark.slow
def test_small_messages_cut_at_every_byte() -> None:
    for release in RELEASES:
        for vector in vectors(release):
            frame = bytes.fromhex(vector["hex"])
            if len(frame) <= 120 and vector["api_key"] in KEYS:
                for cut in range(len(frame)):
                    found = explain(vector["api_key"], vector["version"], vector["direction"], frame[:cut])
                    assert found.error.kind == "truncated", f"{name_of(vector)} cut at {cut}"


def test_header_versions() -> None:
    rows = table("header_versions")
    assert len(rows) > 300
    for row in rows:
        key, name, version, request, response = row.values()
        found = (headers.request_version(int(key), int(version)), headers.response_version(int(key), int(version)))
        assert found == (int(request), int(response)), f"{name} v{version}"


@pytest.mark.parametrize("key", [0, 1, 59, 78])
def test_records_equal_those_of_apache(key: int) -> None:
    compared = 0
    for vector in of_key(key):
        fields = {path: node.value for path, node in walk(read(vector).body) if isinstance(node, Node)}
        for account in vector.get("records", []):
            data = fields[snake_path(account["path"])]
            assert len(data) == account["size"]
            if account.get("unaligned"):
                continue
            found = read_records(data, full=True, check_crc=True)
            assert found.problem is None, name_of(vector)
            assert found.partial_bytes == account["partial"], name_of(vector)
            assert [as_account(batch) for batch in found.batches] == [wanted(batch) for batch in account["batches"]], (
                name_of(vector)
            )
            compared += len(found.batches)
    assert compared > 0 or key == 59


def wanted(batch: dict[str, Any]) -> dict[str, Any]:
    """A batch of the account, with our names in what control records say."""
    records = [dict(record) for record in batch["records"]]
    for record in records:
        if "control" in record:
            record["control"] = ours(record["control"])
    return batch | {"records": records}


def as_account(batch: Batch) -> dict[str, Any]:
    """A batch as the vectors tell of it."""
    assert batch.problem is None, batch.problem
    found = batch.header()
    assert found.pop("crc_ok") is True
    found["size"] = found.pop("size_bytes")
    return found | {"records": [record_account(record) for record in batch.records]}


def record_account(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {"offset": record.offset, "timestamp": record.timestamp}
    found |= {"key": short(record.key), "value": short(record.value)}
    if record.headers:
        found["headers"] = [{"key": key, "value": short(value)} for key, value in record.headers]
    if record.control is not None:
        found["control"] = record.control
    return found


def short(value: bytes | None) -> Any:
    if value is None:
        return None
    if len(value) > 48:
        return {"size": len(value), "crc32": crc32(value)}
    return b64encode(value).decode()


def test_headers_of_batches_do_not_depend_on_reading_records() -> None:
    for vector in of_key(1):
        for _, node in walk(read(vector).body):
            if isinstance(node, Node) and node.name == "records" and node.value is not None:
                plain, full = read_records(node.value), read_records(node.value, full=True)
                assert [batch.header() for batch in plain.batches] == [batch.header() for batch in full.batches]
                assert all(batch.records is None for batch in plain.batches)
