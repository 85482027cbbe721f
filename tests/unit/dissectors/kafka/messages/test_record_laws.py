"""Laws over random record batches of every magic and codec, and over structs inside bytes fields."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import damage
import pytest
import random_batches
import random_messages
from encode import encode_struct_with_lengths, nodes, plain
from random_batches import BASE_OFFSET, FORMATS

from dissectors.errors import Malformed
from dissectors.kafka.messages.codecs import CODECS
from dissectors.kafka.messages.embedded import read_struct
from dissectors.kafka.messages.record_batches import Record, Records
from dissectors.kafka.messages.records import read_records
from dissectors.kafka.schema import lookup

STRUCTS = [
    (name, version)
    for name in lookup.embedded_names()
    for version in range(lookup.embedded(name).versions.first, lookup.embedded(name).versions.last + 1)
]
SEEDS = range(8)


def sets(magic: int, codec: int) -> list[list[Record]]:
    return [random_batches.records(Random(f"{magic} {codec} {seed}"), magic, 1 + seed) for seed in SEEDS]


def all_records(found: Records) -> list[Record]:
    return [record for batch in found.batches for record in batch.records or ()]


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_every_format_reads_back(magic: int, codec: int) -> None:
    for rows in sets(magic, codec):
        data = random_batches.batch(rows, magic, codec).data
        found = read_records(data, full=True)
        assert all_records(found) == rows
        assert [batch.problem for batch in found.batches] == [None] * len(found.batches)
        assert {(batch.magic, batch.codec) for batch in found.batches} == {(magic, CODECS[codec])}
        assert sum(batch.size_bytes for batch in found.batches) == len(data)


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_a_cut_batch_is_partial_and_no_record_is_made_up(magic: int, codec: int) -> None:
    rows = sets(magic, codec)[3]
    data = random_batches.batch(rows, magic, codec).data
    for cut in range(len(data)):
        found = read_records(data[:cut], full=True)
        assert found.problem is None
        assert sum(batch.size_bytes for batch in found.batches) + found.partial_bytes == cut
        whole = all_records(found)
        assert whole == rows[: len(whole)]


def outcome(found: Records) -> str:
    for problem in (found.problem, *(batch.problem for batch in found.batches)):
        if problem is not None:
            assert problem.path.startswith("batches["), problem
            assert problem.offset >= 0, problem
            return "problem"
    return "partial" if found.partial_bytes else "unnoticed"


def is_another_value(rows: list[Record], found: Records, magic: int, codec: int, data: bytes) -> bool:
    """Whether the damaged bytes are exactly those of other records, with null where "" was; or of the same ones, when
    it was the key of a wrapper, which means nothing."""
    others = all_records(found)
    if codec and magic < 2 and others == rows:
        return True
    return len(others) == len(rows) and random_batches.batch(others, magic, codec).data == data


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_wrong_lengths_are_told(magic: int, codec: int) -> None:
    """Those around the codec, and those inside it, compressed anew."""
    told: Counter[str] = Counter()
    for rows in sets(magic, codec):
        outer = random_batches.batch(rows, magic, codec)
        frames = [frame for length in outer.lengths for frame in damage.wrong_lengths(outer.data, length)]
        if codec:
            inner = random_batches.payload(rows, magic, BASE_OFFSET if magic else 0)
            frames += [
                random_batches.wrap(rows, wrong, magic, codec).data
                for length in inner.lengths
                for wrong in damage.wrong_lengths(inner.data, length)
            ]
        for frame in frames:
            found = read_records(frame, full=True)
            kind = outcome(found)
            if kind == "unnoticed" and is_another_value(rows, found, magic, codec, frame):
                kind = "another value"
            told[kind] += 1
    print(magic, CODECS[codec], dict(told))
    assert told["unnoticed"] == 0
    assert told["problem"] > 100


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_huge_lengths_cost_no_more_memory_than_the_batch(magic: int, codec: int) -> None:
    rows = sets(magic, codec)[7]
    outer = random_batches.batch(rows, magic, codec)
    inner = random_batches.payload(rows, magic, BASE_OFFSET if magic else 0)
    frames = [damage.huge(outer.data, length) for length in outer.lengths]
    if codec:
        wrong = [damage.huge(inner.data, length) for length in inner.lengths]
        frames += [random_batches.wrap(rows, each, magic, codec).data for each in wrong]
    read_records(outer.data, full=True)
    peaks = [peak_bytes(lambda frame=frame: read_records(frame, full=True)) for frame in frames]  # type: ignore[misc]
    # A codec's first buffer has 64 KiB.
    assert max(peaks) < 2 * 65536 + 40 * len(inner.data), max(peaks)


def peak_bytes(run: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---- structs inside bytes fields ----


@pytest.mark.parametrize(("name", "version"), STRUCTS)
@pytest.mark.parametrize("full", [False, True])
def test_embedded_structs_read_back(name: str, version: int, full: bool) -> None:
    for seed in range(30):
        values, data, _ = random_messages.struct(name, version, Random(f"{name} {version} {seed}"), full)
        found = read_struct(name, data)
        assert (found.error, found.notes, found.leftover_bytes) == (None, [], 0)
        assert plain(found.body) == values
        assert found.version == version


@pytest.mark.parametrize(("name", "version"), STRUCTS)
def test_cut_embedded_structs_say_where_they_end(name: str, version: int) -> None:
    for seed in range(10):
        _, data, _ = random_messages.struct(name, version, Random(f"{name} {version} {seed}"), full=True)
        for cut in range(len(data)):
            error = read_struct(name, data[:cut]).error
            assert isinstance(error, Malformed), (name, version, data[:cut])
            assert 0 <= error.offset <= cut


@pytest.mark.parametrize(("name", "version"), STRUCTS)
def test_wrong_lengths_in_embedded_structs_are_told(name: str, version: int) -> None:
    for seed in range(10):
        _, data, lengths = random_messages.struct(name, version, Random(f"{name} {version} {seed}"), full=True)
        for length in lengths:
            for wrong in damage.wrong_lengths(data, length):
                found = read_struct(name, wrong)
                assert sum(1 for _ in nodes(found.body)) <= len(wrong)
                if found.error is None and not found.notes and not found.leftover_bytes:
                    # Null for "", say: the bytes are those of another struct.
                    assert encode_struct_with_lengths(name, version, plain(found.body))[0] == wrong, (name, wrong)
