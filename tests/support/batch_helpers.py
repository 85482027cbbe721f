"""What the tests of batch rows share: rows of a records field or of messages, and the rows that the interpreter's tree implies.

Run as a script, it prints a digest of the rows of some made messages (for compiled = uncompiled).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path
from random import Random

import google_crc32c
import implied_columns
import random_batches
import walk_helpers
from encode import encode
from walk_helpers import Message

from dissectors import layout
from dissectors.kafka.columns import batch_rows
from dissectors.kafka.columns.batch_rows import BatchRows
from dissectors.kafka.columns.program import HAVE_SETS
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.checksums import crc_fits, extend_crc32, extend_crc32c
from dissectors.kafka.messages.codecs import CODECS
from dissectors.kafka.messages.explain import Struct, explain
from dissectors.kafka.messages.record_batches import Batch
from dissectors.kafka.messages.records import read_records
from dissectors.kafka.schema import lookup
from dissectors.matrix import new_matrix

# Column -> value; what is unknown is left out.
Row = dict[int, object]


def new_reader() -> BatchRows:
    return BatchRows(crc_fits, extend_crc32c, extend_crc32)


def rows_of_field(data: bytes, size: int = 100) -> list[Row]:
    """The rows of a records field, written into an output of `size` rows at a time."""
    frames = new_matrix(layout.FRAME_COLUMNS, 1)
    sets = new_matrix(layout.SET_COLUMNS, 1)
    sets[layout.SET_BYTES, 0] = len(data)
    return read(new_reader(), data, frames, sets, 1, [b""], size)


def read(
    reader: BatchRows, block: bytes, frames: memoryview, sets: memoryview, count: int, texts: list[bytes], size: int
) -> list[Row]:
    found: list[Row] = []
    row, why = 0, layout.WHY_OUTPUT_FULL
    while why != layout.WHY_DONE:
        out = new_matrix(layout.BATCH_COLUMNS, size)
        row, used, why = reader.feed(block, b"", frames, sets, count, row, out, 0, size)
        found += [
            walk_helpers.known(out, layout.BATCH_COLUMNS, each, texts, {layout.BATCH_TOPIC}) for each in range(used)
        ]
    return found


def rows_of_messages(
    walker: Walker, messages: list[Message], held: list[int] | None = None, size: int = 50
) -> tuple[list[int], list[list[Row]]]:
    """(verdict of the walker, rows) of each message."""
    block, frames = walk_helpers.batch(messages, held)
    for row in range(len(messages)):
        frames[layout.FRAME_ID, row] = row
    values = new_matrix(layout.VALUE_COLUMNS, max(1, len(messages)))
    walker.walk(block, b"", frames, len(messages), values)
    sets, count = walker.rows_of_sets()
    found: list[list[Row]] = [[] for _ in messages]
    for each in read(new_reader(), block, frames, sets, count, walker.texts(), size):
        number = each.pop(layout.BATCH_EXCHANGE)
        begin = each.pop(layout.BATCH_OFFSET) - frames[layout.FRAME_OFFSET, number]  # type: ignore[operator, call-overload]
        found[number].append(each | {layout.BATCH_OFFSET: begin})  # type: ignore[call-overload]
    return [frames[layout.FRAME_DECODED, row] for row in range(len(messages))], found


# ---- what the tree implies ----


def implied_rows(message: Message, tree: Struct) -> list[Row]:
    """The rows that the tree of a message implies; BATCH_OFFSET from the begin of the frame."""
    if (message.key, message.direction) not in HAVE_SETS:
        return []
    found = []
    for element in implied_columns.elements(tree):
        for node in element.direct:
            if node.field.type != "records" or not node.value:
                continue
            around = implied_columns.context(element)
            for position, batch in enumerate(read_records(bytes(node.value), check_crc=True).batches):
                row = header_row(batch)
                implied_columns.put(row, layout.BATCH_TOPIC, around["topic"])
                implied_columns.put(row, layout.BATCH_TOPIC_ID_HIGH, around["topic_id"])
                implied_columns.put(row, layout.BATCH_PARTITION, around["partition"])
                row[layout.BATCH_POSITION] = position
                row[layout.BATCH_SIDE] = int(message.direction == "response")
                row[layout.BATCH_OFFSET] = node.end - len(node.value) + batch.start
                found.append(row)
    return found


def header_row(batch: Batch) -> Row:
    """What the header and the checksum of a batch say, as the columns have it."""
    row: Row = {
        layout.BATCH_MAGIC: batch.magic,
        layout.BATCH_BYTES: batch.size_bytes,
        layout.BATCH_CRC: batch.crc,
        layout.BATCH_CRC_OK: int(bool(batch.crc_ok)),
    }
    if batch.codec in CODECS:
        row[layout.BATCH_CODEC] = CODECS.index(batch.codec)
    if batch.magic == 2:
        assert batch.base_offset is not None
        row[layout.BATCH_TRANSACTIONAL] = int(bool(batch.transactional))
        row[layout.BATCH_CONTROL] = int(bool(batch.control))
        implied_columns.put(row, layout.BATCH_BASE_OFFSET, implied_columns.of_log(batch.base_offset))
        implied_columns.put(row, layout.BATCH_FIRST_TIMESTAMP, batch.base_timestamp)
        implied_columns.put(row, layout.BATCH_MAX_TIMESTAMP, batch.max_timestamp)
        if batch.last_offset >= batch.base_offset and 0 <= batch.base_offset <= 1 << 60:
            row[layout.BATCH_LAST_OFFSET] = batch.last_offset
        if batch.count is not None and batch.count >= 0:
            row[layout.BATCH_RECORDS] = batch.count
        if batch.producer_id != -1:
            implied_columns.put(row, layout.BATCH_PRODUCER_ID, batch.producer_id)
            row[layout.BATCH_PRODUCER_EPOCH] = batch.producer_epoch
            row[layout.BATCH_BASE_SEQUENCE] = batch.base_sequence
    return row


# What the interpreter tells too; of the legacy formats it does not tell a damaged message's offset and time.
COMPARED = (
    layout.BATCH_SIDE, layout.BATCH_TOPIC, layout.BATCH_TOPIC_ID_HIGH, layout.BATCH_TOPIC_ID_LOW, layout.BATCH_PARTITION,
    layout.BATCH_POSITION, layout.BATCH_OFFSET, layout.BATCH_MAGIC, layout.BATCH_BYTES, layout.BATCH_CRC,
    layout.BATCH_CRC_OK, layout.BATCH_CODEC,
)  # fmt: skip
OF_MAGIC_2 = (
    layout.BATCH_TRANSACTIONAL, layout.BATCH_CONTROL, layout.BATCH_BASE_OFFSET, layout.BATCH_LAST_OFFSET,
    layout.BATCH_FIRST_TIMESTAMP, layout.BATCH_MAX_TIMESTAMP, layout.BATCH_RECORDS, layout.BATCH_PRODUCER_ID,
    layout.BATCH_PRODUCER_EPOCH, layout.BATCH_BASE_SEQUENCE,
)  # fmt: skip


def compared(row: Row) -> Row:
    columns = COMPARED + (OF_MAGIC_2 if row[layout.BATCH_MAGIC] == 2 else ())
    return {column: row[column] for column in columns if column in row}


def explained_rows(message: Message) -> list[Row] | None:
    """What the interpreter says of the batches of a message; None when it cannot read the message to its end. Of a reply with more
    left over than a zero byte nothing is certain."""
    found = explain(message.key, message.version, message.direction, message.frame)
    if found.error is not None or found.body is None:
        return None
    if message.direction == "response" and found.leftover_bytes and message.frame[-found.leftover_bytes :] != b"\0":
        return []
    return [compared(row) for row in implied_rows(message, found.body)]


# ---- messages with batches ----


def summed(data: bytes) -> bytearray:
    """Whole batches with the checksums that they should have."""
    found, at = bytearray(data), 0
    while at < len(found):
        end = at + 12 + int.from_bytes(found[at + 8 : at + 12], "big")
        place, begin = (17, 21) if found[at + 16] == 2 else (12, 16)
        covered = bytes(found[at + begin : end])
        checksum = google_crc32c.value(covered) if found[at + 16] == 2 else zlib.crc32(covered)
        found[at + place : at + place + 4] = checksum.to_bytes(4, "big")
        at = end
    return found


def made_field(chance: Random) -> bytes:
    """Some batches, the last one perhaps cut; damaged ones, and copies of them, among them."""
    pieces: list[bytes] = []
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        magic, codec = chance.choice(random_batches.FORMATS)
        count = chance.choice((1, 1, 3, 12, 200))
        data = summed(random_batches.batch(random_batches.records(chance, magic, count), magic, codec).data)
        if chance.random() < 0.3:
            data[chance.randrange(16, len(data))] ^= 1 << chance.randrange(8)
        pieces += [bytes(data)] * chance.choice((1, 1, 1, 2, 3))
    whole = b"".join(pieces)
    return whole[: chance.randrange(len(whole) + 1)] if chance.random() < 0.3 else whole


def made_message(chance: Random) -> Message:
    """A message whose batches are facts, of any version."""
    key, direction = chance.choice(HAVE_SETS)
    api = lookup.api(key)
    assert api is not None
    version = chance.randint(api.versions.first, api.versions.last)
    topics, partitions, number = (
        ("topic_data", "partition_data", "index") if key == 0 else ("responses", "partitions", "partition_index")
    )
    by_id = key == 78 or version >= 13
    name = "topic_id" if by_id else "name" if key == 0 else "topic"
    body = {
        topics: [
            {
                name: chance.randbytes(16) if by_id else chance.choice(("orders", "payments", "")),
                partitions: [
                    {number: chance.randrange(50), "records": made_field(chance)}
                    for _ in range(chance.choice((0, 1, 3)))
                ],
            }
            for _ in range(chance.choice((0, 1, 2)))
        ]
    }
    return Message(key, version, direction, encode(key, version, direction, {}, body))


def digest(messages: Sequence[Message]) -> str:
    """Of all rows of messages."""
    return hashlib.sha256(repr(rows_of_messages(Walker(write_sets=True), list(messages))).encode()).hexdigest()


if __name__ == "__main__":
    print(Path(batch_rows.__file__).name, digest([made_message(Random(seed)) for seed in range(60)]))
