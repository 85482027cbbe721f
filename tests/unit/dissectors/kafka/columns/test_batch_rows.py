"""The compiled reader of batches, and the table `batches`, against the interpreter, the record reader and kafka-python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import batch_helpers
import pytest
import walk_helpers
from batch_helpers import compared, explained_rows, header_row, made_message, rows_of_field, rows_of_messages
from encode import nodes
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder
from paths import LAB, ROOT

from analyzer.base.options import Options
from analyzer.messages.bodies import each_message
from analyzer.run.local import open_dataset
from dissectors import layout
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.codecs import CODECS
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.messages.records import read_records
from dissectors.matrix import new_matrix

NAMES = ("basics", "broker_11", "groups_share", "old_java", "old_others", "transactions", "versions")
FORMATS = [(magic, codec) for magic in range(3) for codec in range(5) if magic == 2 or codec < 4]


def made(chance: Random, magic: int, codec: int) -> bytes:
    # All bytes of each field differ, so that one read from beside it is seen.
    producer = (0x0102030405060708, 0x0A0B, 0x0C0D0E0F) if magic == 2 and chance.random() < 0.5 else (-1, -1, -1)
    builder = MemoryRecordsBuilder(magic, codec, 1 << 20, 0, False, *producer)
    for _ in range(chance.randint(1, 20)):
        builder.append(1_700_000_000_000 + chance.randint(0, 5000), b"key", b"value " * chance.randint(1, 90))
    builder.close()
    return bytes(builder.buffer())


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_headers_are_those_of_the_record_reader(magic: int, codec: int) -> None:
    for seed in range(10):
        chance = Random(f"{magic} {codec} {seed}")
        data = b"".join(made(chance, magic, codec) for _ in range(3))
        batches = read_records(data, check_crc=True).batches
        rows = rows_of_field(data)
        assert len(rows) == len(batches)
        for number, (row, batch) in enumerate(zip(rows, batches, strict=True)):
            assert row[layout.BATCH_POSITION] == number
            assert compared(row).items() >= compared(header_row(batch)).items()
        assert rows_of_field(data, size=1) == rows, "an output of one row"


@pytest.mark.parametrize(("magic", "codec"), [(0, 0), (1, 2), (2, 0), (2, 3)])
def test_a_field_cut_anywhere_gives_its_whole_batches(magic: int, codec: int) -> None:
    data = b"".join(made(Random(seed), magic, codec) for seed in range(3))
    for cut in range(0, len(data), 7):
        assert len(rows_of_field(data[:cut])) == len(read_records(data[:cut]).batches)


def test_hostile_headers_end_the_reading() -> None:
    chance = Random(5)
    data = bytearray(made(chance, 2, 0))
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(61)] = chance.choice((0, 1, 127, 128, 255))
        for row in rows_of_field(bytes(damaged)):
            assert row[layout.BATCH_BYTES] <= len(data)
            last = row.get(layout.BATCH_LAST_OFFSET)
            assert last is None or row[layout.BATCH_MAGIC] < 2 or last >= row[layout.BATCH_BASE_OFFSET]


# ---- messages ----


def assert_as_the_interpreter_reads(messages: list[walk_helpers.Message]) -> int:
    """The walker's sets and the rows of their batches are those that the trees imply; returns how many there are."""
    decoded, rows = rows_of_messages(Walker(write_sets=True), messages)
    for message, verdict, got in zip(messages, decoded, rows, strict=True):
        want = explained_rows(message)
        assert (verdict == layout.DECODED_FULL) == (want is not None)
        assert [compared(row) for row in got] == (want or []), message
    return sum(map(len, rows))


def test_batches_of_messages_are_those_of_their_trees() -> None:
    assert assert_as_the_interpreter_reads([made_message(Random(seed)) for seed in range(400)]) > 1000


@pytest.mark.slow
def test_batches_of_apaches_messages_are_those_of_their_trees() -> None:
    assert assert_as_the_interpreter_reads(walk_helpers.apaches_messages()) > 0


def test_what_is_left_of_a_cut_message_is_true() -> None:
    """Of a frame that was captured in part there are the first of its batches, and no other."""
    for seed in range(60):
        message = made_message(Random(seed))
        (_, (whole,)) = rows_of_messages(Walker(write_sets=True), [message])
        cuts = list(range(1, len(message.frame), max(1, len(message.frame) // 60)))
        _, cut = rows_of_messages(Walker(write_sets=True), [message] * len(cuts), cuts)
        for rows in cut:
            assert rows == whole[: len(rows)]


def test_entries_and_outputs_of_any_size_change_nothing() -> None:
    messages = [made_message(Random(seed)) for seed in range(40)]
    _, want = rows_of_messages(Walker(write_sets=True), messages)
    assert rows_of_messages(Walker(write_entries=True, write_sets=True), messages)[1] == want
    for size in (1, 2, 7):
        assert rows_of_messages(Walker(write_sets=True), messages, size=size)[1] == want


def test_compressed_batches_are_listed_only_while_they_are_opened() -> None:
    reader = batch_helpers.new_reader()
    data = made(Random(1), 2, 4) + made(Random(2), 2, 0) + made(Random(3), 1, 1)
    frames, sets = new_matrix(layout.FRAME_COLUMNS, 1), new_matrix(layout.SET_COLUMNS, 1)
    sets[layout.SET_BYTES, 0] = len(data)
    for opens, listed, unopened in ((True, [0, 2], layout.UNKNOWN), (False, [], layout.UNOPENED_BUDGET)):
        out = new_matrix(layout.BATCH_COLUMNS, 9)
        reader.opens = opens
        assert reader.feed(data, b"", frames, sets, 1, 0, out, 0, 9) == (1, 3, layout.WHY_DONE)
        assert reader.to_open == listed
        assert [out[layout.BATCH_UNOPENED, row] for row in range(3)] == [unopened, layout.UNKNOWN, unopened]


def test_plain_python_gives_the_same_rows() -> None:
    environment = dict(os.environ, KANALYZE_UNCOMPILED="1", PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, batch_helpers.__file__], env=environment, capture_output=True, text=True, check=True
    )
    want = batch_helpers.digest([made_message(Random(seed)) for seed in range(60)])
    assert done.stdout.split() == ["batch_rows.py", want]


# ---- captures ----


def captures() -> list[Path]:
    for folder in (LAB, ROOT / "samples"):
        found = [path for name in NAMES for path in sorted(folder.glob(f"{name}.pcap*"))]
        if found:
            return found
    return []


def as_kafka_python_reads(path: Path, dataset: Any) -> dict[tuple[int, str], list[tuple[Any, ...]]]:
    """(exchange, side) -> what kafka-python says of each batch, in the order of the message."""
    found: dict[tuple[int, str], list[tuple[Any, ...]]] = defaultdict(list)

    def take(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
        for side, frame in (("request", request), ("response", response)):
            body = None if frame is None else explain(row["api_key"], row["api_version"], side, frame).body
            for node in () if body is None else nodes(body):
                if node.field is not None and node.field.type == "records" and node.value:
                    found[row["exchange"], side] += their_rows(bytes(node.value))

    wanted = dataset.query("SELECT exchange FROM exchanges WHERE api_key = 0 OR api_key = 1 OR api_key = 78")
    each_message(dataset, [str(path)], Options(), take, {row["exchange"] for row in wanted})
    return found


def their_rows(data: bytes) -> list[tuple[Any, ...]]:
    other = MemoryRecords(data)
    found = []
    while (batch := other.next_batch()) is not None:
        crc_ok = batch.validate_crc()
        records = list(batch)
        modern = batch.magic == 2
        has_producer = modern and batch.producer_id != -1
        found.append(
            (
                batch.magic,
                CODECS[batch.compression_type],
                batch.size_in_bytes,
                crc_ok,
                len(records),
                batch.base_offset if modern else min(record.offset for record in records),
                batch.last_offset if modern else max(record.offset for record in records),
                batch.is_transactional if modern else None,
                batch.is_control_batch if modern else None,
                batch.producer_id if has_producer else None,
                batch.producer_epoch if has_producer else None,
                batch.base_sequence if has_producer else None,
                batch.crc if modern else None,
            )
        )
    return found


OURS = """magic, codec, bytes, crc_ok, records, base_offset, last_offset, transactional, control, producer_id,
    producer_epoch, base_sequence, CASE WHEN magic = 2 THEN crc END AS crc"""


@pytest.mark.slow
@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name.partition(".")[0])
def test_batches_of_a_capture(path: Path) -> None:
    with open_dataset([str(path)], Options()) as dataset:
        rows = dataset.query(f"SELECT exchange, side, {OURS} FROM batches")
        found = defaultdict(list)
        for row in rows:
            values = tuple(row.values())
            found[values[:2]].append(values[2:])
        wanted = as_kafka_python_reads(path, dataset)
        assert {key: sorted(value, key=str) for key, value in found.items()} == {
            key: sorted(value, key=str) for key, value in wanted.items() if value
        }
        assert sum(map(len, found.values())) > 50
        stored_batches_lie_where_they_are_fetched(dataset)


def stored_batches_lie_where_they_are_fetched(dataset: Any) -> None:
    """A produced batch that is fetched again has the same producer sequence there, and the same offsets."""
    pairs = dataset.query(
        """SELECT p.stored_base_offset AS said, f.base_offset AS found, p.stored_last_offset AS last, f.last_offset AS there
        FROM batches AS p JOIN batches AS f
            ON f.side = 'response' AND coalesce(f.topic, f.topic_id) = coalesce(p.topic, p.topic_id)
            AND f.partition = p.partition AND f.producer_id = p.producer_id AND f.producer_epoch = p.producer_epoch
            AND f.base_sequence = p.base_sequence AND f.magic = 2 AND f.control = false
        WHERE p.side = 'request' AND p.magic = 2 AND p.stored_base_offset IS NOT NULL"""
    )
    assert all((row["said"], row["last"]) == (row["found"], row["there"]) for row in pairs)


def test_control_batches_say_what_they_are() -> None:
    path = next((path for path in captures() if path.name.startswith("transactions")), None)
    if path is None:
        pytest.skip("no capture of transactions")
    with open_dataset([str(path)], Options()) as dataset:
        rows = dataset.query("SELECT control_type, count(*) AS n FROM batches WHERE control GROUP BY control_type")
    assert {row["control_type"] for row in rows} >= {"commit", "abort"}
