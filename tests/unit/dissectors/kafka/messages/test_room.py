"""How large a tree may become: what is before the limit is whole, what is behind it is counted, memory stays small."""

from __future__ import annotations

import resource
from struct import pack

import pytest
import random_batches
from encode import unsigned_varint
from random_batches import Record

from analyzer.messages.render import Renderer, message
from dissectors.errors import Limited
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.messages.records import read_records
from dissectors.kafka.messages.room import MOST_CONTENT_BYTES, MOST_VALUES, Room

METADATA, API_VERSIONS = 3, 18
HEAD_BYTES = 2 + 2 + 4 + 3


def metadata(count: int) -> bytes:
    """A request for so many topics with empty names: two bytes each, two values each (the element and its name)."""
    return pack(">hhihc", METADATA, 1, 1, 1, b"c") + pack(">i", count) + bytes(2 * count)


@pytest.mark.slow
def test_a_message_at_the_limit_is_whole_and_the_next_is_cut_there() -> None:
    most = (MOST_VALUES - 1) // 2  # the array itself is a value
    whole = explain(METADATA, 1, "request", metadata(most))
    assert whole.error is None and whole.body is not None and len(whole.body.value("topics")) == most
    frame = metadata(most + 100)
    cut = explain(METADATA, 1, "request", frame)
    assert isinstance(cut.error, Limited) and cut.body is not None
    kept = cut.body.value("topics")
    # Where the rest begins: behind the head, the count and the names that are there.
    assert cut.error.offset == HEAD_BYTES + 4 + 2 * most and len(frame) - cut.error.offset == 200
    assert all(element.value.value("name") == "" for element in kept[:most])
    shown = message(cut, Renderer())
    assert shown["error"]["kind"] == "limit" and "200 bytes are left out" in shown["error"]["message"]


@pytest.mark.slow
def test_a_megabyte_of_names_takes_no_gigabyte() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = explain(METADATA, 1, "request", metadata(5_000_000))
    message(found, Renderer())
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10 < 300


def tagged(tags: bytes, count: int) -> bytes:
    return pack(">hhihc", API_VERSIONS, 3, 1, 1, b"c") + b"\0\x02a\x02b" + unsigned_varint(count) + tags


def test_tags_count_by_number_and_by_size() -> None:
    many = b"".join(unsigned_varint(100 + number) + b"\0" for number in range(MOST_VALUES))
    found = explain(API_VERSIONS, 3, "request", tagged(many, MOST_VALUES))
    assert isinstance(found.error, Limited) and found.body is not None
    assert MOST_VALUES - 20 < len(found.body.unknown_tags) < MOST_VALUES
    for size, limited in ((MOST_CONTENT_BYTES - 9, False), (MOST_CONTENT_BYTES + 1, True)):
        found = explain(API_VERSIONS, 3, "request", tagged(b"\x63" + unsigned_varint(size) + bytes(size), 1))
        assert isinstance(found.error, Limited) is limited


def test_records_and_batches_take_from_one_room() -> None:
    rows = [Record(1000 + number, 1_700_000_000_000, None, b"v", []) for number in range(50)]
    batch = random_batches.batch(rows, 2, 0).data
    found = read_records(batch * 3, full=True, room=Room(values=20 + 50 * 5 + 20 + 10 * 5))
    assert [len(each.records or ()) for each in found.batches] == [50, 10]
    assert isinstance(found.batches[1].problem, Limited) and isinstance(found.problem, Limited)
    assert [len(each.records or ()) for each in read_records(batch * 3, full=True).batches] == [50, 50, 50]


def test_headers_without_end_are_cut() -> None:
    rows = [Record(1000, 1_700_000_000_000, None, None, [("", b"")] * 5000)]
    found = read_records(random_batches.batch(rows, 2, 0).data, full=True, room=Room(values=100))
    assert isinstance(found.batches[0].problem, Limited)
