"""Records in the tree of a message: every one, on a line of its own, whatever is in it."""

from __future__ import annotations

import json
from random import Random

import pytest
from encode import encode
from random_batches import FORMATS, batch, records

from analyzer.messages.render import Renderer
from analyzer.messages.tree import tree
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.messages.record_batches import Record

PRODUCE = 0


def lines(data: bytes, with_records: bool = True) -> list[str]:
    partition = {"index": 0, "records": data}
    body = {"acks": 1, "timeout_ms": 1, "topic_data": [{"name": "t", "partition_data": [partition]}]}
    frame = encode(PRODUCE, 3, "request", {"client_id": "c"}, body)
    found = explain(PRODUCE, 3, "request", frame)
    assert found.error is None
    return [line.strip() for line in tree(found, Renderer(records=with_records))]


def told(data: bytes) -> list[str]:
    return [line for line in lines(data) if line.startswith("record ")]


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_each_record_of_each_format_has_its_line(magic: int, codec: int) -> None:
    rows = records(Random(magic * 10 + codec), magic, 7)
    data = batch(rows, magic, codec).data
    found = told(data)
    assert [int(line.split()[1].rstrip(",")) for line in found] == [row.offset for row in rows]
    for line, row in zip(found, rows, strict=True):
        assert ("no time" in line) == (row.timestamp == -1)
        assert line.count(", header ") >= len(row.headers)
    without = lines(data, with_records=False)
    assert without == [line for line in lines(data) if not line.startswith("record ")]


HOSTILE = "\x1b[31m\n\u202e\"', value \x9b"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (b"", '""'),
        ("grün".encode(), '"grün"'),
        (b"\xff\x00", 'base64 "/wA="'),
        (b"a" * 500, f'"{"a" * 159}... (502 characters)'),
    ],
)
def test_a_value_is_text_where_it_is_text(value: bytes | None, words: str) -> None:
    (line,) = told(batch([Record(5, 1_795_259_832_902, b"k", value, [("h", value)])], 2, 0).data)
    assert line == f'record 5, 2026-11-21 11:17:12.902 UTC, key "k", value {words}, header "h" {words}'


def test_a_hostile_record_stays_one_harmless_line() -> None:
    octets = HOSTILE.encode()
    (line,) = told(batch([Record(5, 0, octets, octets, [(HOSTILE, octets)])], 2, 0).data)
    assert not set(line) & set("\x1b\n\u202e\x9b")
    assert line.startswith("record 5, 1970-01-01 00:00:00.000 UTC, key ")
    key, end = json.JSONDecoder().raw_decode(line.partition("key ")[2])
    assert key == HOSTILE and end > len(HOSTILE)


@pytest.mark.parametrize("ms", [-(2**62), -2, 253_402_300_800_000, 2**62])
def test_a_time_beyond_the_calendar_is_a_number(ms: int) -> None:
    (line,) = told(batch([Record(5, ms, b"k", b"v")], 2, 0).data)
    assert line == f'record 5, time {ms} ms, key "k", value "v"'
