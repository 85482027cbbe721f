"""Records as kafka-python reads them from the same bytes: those of captures, and batches that kafka-python wrote.

Where the two may differ:

- A message of magic 0 has no timestamp: None there, -1 here.
- A compressed message of magic 1 whose offset is neither 0 nor at least that of the last message in it: kafka-python
  leaves the inner offsets as they stand; here it is a problem, since Apache's own reader refuses such a set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from struct import pack_into
from typing import Any

import pytest
from encode import nodes
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder
from paths import LAB, ROOT

from analyzer.base.options import Options
from analyzer.messages.bodies import each_message
from analyzer.run.local import open_dataset
from dissectors.kafka.messages.codecs import CODECS
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.messages.record_batches import Batch
from dissectors.kafka.messages.records import read_records

NAMES = ("basics", "broker_11", "broker_24", "clients", "old_java", "old_others", "transactions", "versions")

# (magic, codec) that can occur: zstd came with magic 2.
FORMATS = [(magic, codec) for magic in range(3) for codec in range(5) if magic == 2 or codec < 4]


def captures() -> list[Path]:
    """Those of the lab; without it the samples of the same names."""
    for folder in (LAB, ROOT / "samples"):
        found = [path for name in NAMES for path in sorted(folder.glob(f"{name}.pcap*"))]
        if found:
            return found
    return []


def fields_of(path: Path) -> list[bytes]:
    """Every `records` field of a capture that is not empty."""
    found: list[bytes] = []

    def take(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
        for side, frame in (("request", request), ("response", response)):
            body = None if frame is None else explain(row["api_key"], row["api_version"], side, frame).body
            for node in () if body is None else nodes(body):
                if node.field is not None and node.field.type == "records" and node.value:
                    found.append(bytes(node.value))

    with open_dataset([str(path)], Options()) as dataset:
        rows = dataset.query("SELECT exchange FROM exchanges WHERE api_name IN ('Produce', 'Fetch', 'ShareFetch')")
        each_message(dataset, [str(path)], Options(), take, {row["exchange"] for row in rows})
    return found


def ours(batch: Batch) -> list[tuple[Any, ...]]:
    assert batch.problem is None, batch
    assert batch.records is not None
    return [(each.offset, each.timestamp, each.key, each.value, list(each.headers)) for each in batch.records]


def theirs(batch: Any) -> list[tuple[Any, ...]]:
    return [
        (each.offset, -1 if batch.magic == 0 else each.timestamp, each.key, each.value, each.headers) for each in batch
    ]


def assert_same_header(mine: Batch, other: Any) -> None:
    assert (mine.magic, mine.codec) == (other.magic, CODECS[other.compression_type])
    assert mine.size_bytes == other.size_in_bytes
    kinds = {None: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}
    assert mine.timestamp_type == kinds[other.timestamp_type]
    if mine.magic < 2:
        return
    names = {
        "base_offset": "base_offset",
        "last_offset": "last_offset",
        "partition_leader_epoch": "leader_epoch",
        "crc": "crc",
        "base_timestamp": "first_timestamp",
        "max_timestamp": "max_timestamp",
        "count": "records_count",
        "producer_id": "producer_id",
        "producer_epoch": "producer_epoch",
        "base_sequence": "base_sequence",
        "last_sequence": "last_sequence",
        "transactional": "is_transactional",
        "control": "is_control_batch",
    }
    for name, their_name in names.items():
        assert getattr(mine, name) == getattr(other, their_name), name


def compare(data: bytes) -> Iterator[Batch]:
    """The batches of a field, all of them equal."""
    found = read_records(data, full=True)
    other = MemoryRecords(data)
    assert found.problem is None
    for batch in found.batches:
        their_batch = other.next_batch()
        assert_same_header(batch, their_batch)
        assert ours(batch) == theirs(their_batch)
        yield batch
    assert other.next_batch() is None
    assert found.partial_bytes == len(data) - other.valid_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name.partition(".")[0])
def test_records_of_a_capture(path: Path) -> None:
    records: Counter[tuple[int, str]] = Counter()
    fields = fields_of(path)
    for data in fields:
        for batch in compare(data):
            records[batch.magic, batch.codec] += len(batch.records or ())
    print(f"{path.name}: {sum(records.values())} records in {len(fields)} fields:", dict(sorted(records.items())))
    assert len(fields) > 10
    if path.name.startswith("old_java"):
        assert set(records) == {(magic, CODECS[codec]) for magic, codec in FORMATS}


# ---- batches that kafka-python wrote ----


def made(chance: Random, magic: int, codec: int, offset: int = 0) -> bytearray:
    """A batch of random records; long enough to be compressed."""
    producer = {"producer_id": 7, "producer_epoch": 1, "base_sequence": chance.choice((0, 2**31 - 2))}
    extra = {"transactional": True, **producer} if magic == 2 and chance.random() < 0.5 else {}
    builder = MemoryRecordsBuilder(magic, codec, 1 << 20, offset, **extra)
    for _ in range(chance.randint(2, 40)):
        key = chance.choice((None, b"", chance.randbytes(8)))
        value = chance.choice((None, b"", b"the quick brown fox " * chance.randint(1, 60)))
        headers = [("trace-ä", chance.choice((None, b"", chance.randbytes(5)))) for _ in range(chance.randint(0, 3))]
        builder.append(1_700_000_000_000 + chance.randint(-5000, 5000), key, value, headers if magic == 2 else None)
    builder.append(1_700_000_000_000, b"last", b"pressed " * 100)
    builder.close()
    return builder.buffer()


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_batches_of_kafka_python(magic: int, codec: int) -> None:
    for seed in range(15):
        chance = Random(f"{magic} {codec} {seed}")
        batches = [bytes(made(chance, magic, codec)) for _ in range(2)]
        found = list(compare(b"".join(batches)))
        assert {batch.codec for batch in found} == {CODECS[codec]}
        assert len(found) >= 2


@pytest.mark.parametrize(("magic", "codec"), [each for each in FORMATS if each[0] == 2 or all(each)])
def test_the_broker_s_time_replaces_that_of_the_producer(magic: int, codec: int) -> None:
    """LogAppendTime, as the attributes say: byte 17 of magic 1, the one at 22 of magic 2."""
    data = made(Random(f"append {magic} {codec}"), magic, codec)
    data[17 if magic == 1 else 22] |= 8
    if magic == 1:
        pack_into(">q", data, 18, 1_800_000_000_000)
    for batch in compare(bytes(data)):
        assert batch.timestamp_type == "LogAppendTime"
        assert {each.timestamp for each in batch.records or ()} == {batch.max_timestamp}


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_offsets_in_a_compressed_message_of_magic_1(codec: int) -> None:
    """Relative to that of the wrapper, which is the last; a wrapper at 0 leaves them as they are (old producers)."""
    data = made(Random(f"relative {codec}"), 1, codec)
    (as_written,) = compare(bytes(data))
    offsets = [each.offset for each in as_written.records or ()]
    assert offsets == list(range(len(offsets)))
    assert (as_written.base_offset, as_written.last_offset) == (0, len(offsets) - 1)
    for wrapper in (len(offsets) - 1, 1_000_000):
        pack_into(">q", data, 0, wrapper)
        (placed,) = compare(bytes(data))
        assert [each.offset for each in placed.records or ()] == [each + wrapper - offsets[-1] for each in offsets]
        assert (placed.last_offset, placed.count) == (wrapper, len(offsets))
    pack_into(">q", data, 0, 1)
    (refused,) = read_records(bytes(data), full=True).batches
    assert refused.problem is not None
    assert "offset" in str(refused.problem)


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_checksums_agree(magic: int, codec: int) -> None:
    """Of the whole batch, and of one with a byte changed."""
    data = made(Random(f"checksum {magic} {codec}"), magic, codec)
    for damaged in (False, True):
        if damaged:
            data[-1] ^= 1
        found = read_records(bytes(data), check_crc=True)
        other = MemoryRecords(bytes(data))
        verdicts = [other.next_batch().validate_crc() for _ in found.batches]
        assert [batch.crc_ok for batch in found.batches] == verdicts
        assert verdicts[-1] is not damaged
