"""Record batches (magic 2) and the message sets before them (magic 0 and 1), as they are in a `records` field.

Headers are always read; records only when asked for, except those of a compressed message of magic 0 or 1, whose header
tells neither its first offset nor its count. A broker cuts the last batch of a Fetch at the size it was asked for: that
is no error. A batch that is wrong in itself carries a `problem`; reading goes on behind it. Offsets of problems count
from the start of the field, inside compressed data from the start of the decompressed bytes.
Sources: the protocol guide and "message format" of Apache Kafka's documentation, KIP-98 (magic 2), KIP-32 (magic 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count as counting
from typing import TYPE_CHECKING

from dissectors.errors import DissectError, Malformed
from dissectors.kafka.messages.checksums import crc_fits
from dissectors.kafka.messages.codecs import CodecError, decompress
from dissectors.kafka.messages.control import control_of
from dissectors.kafka.messages.record_batches import Batch, Record, Records, codec_name, fitting, last_sequence
from dissectors.kafka.messages.room import Room
from dissectors.kafka.messages.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Decompressed bytes of one records field, or of one message; whoever needs more has a bomb.
MOST_BYTES = 128 << 20

# Offset and length precede every batch, magic 2 or not.
_FRAME_BYTES = 12
_LEAST_BYTES = {0: 14, 1: 22, 2: 49}
_MAGIC_AT = 16
# What a batch, and a record, count for in a `Room`: the values that are shown of them.
_BATCH_VALUES = 20
_RECORD_VALUES = 5
_NO_END = 1 << 62
# Length, attributes, two deltas, two lengths, a count: one byte each at least.
_LEAST_RECORD_BYTES = 7


@dataclass(slots=True)
class Budget:
    """Bytes that may still be decompressed; one for all fields of a message bounds them together."""

    left: int = MOST_BYTES


def read_records(
    data: bytes | memoryview,
    full: bool = False,
    budget: Budget | None = None,
    check_crc: bool = False,
    room: Room | None = None,
) -> Records:
    """The batches of a `records` field; with each record when `full`, with `crc_ok` when `check_crc`.

    Decompression takes from `budget` (None: one of its own); what is beyond it is a batch's `problem`. Batches and records
    take from `room` (None: there is no end of it); what is beyond it is left out, and a `problem` says so.
    """
    found = Records([])
    reader = _Reader(memoryview(data), full, budget or Budget(), check_crc, room or Room(_NO_END, _NO_END))
    found.batches.extend(_batches(reader, found))
    return found


def each_record(data: bytes | memoryview, told: Callable[[Record], None], budget: Budget) -> None:
    """Hands each record of a `records` field to `told`, and keeps none: a field may hold millions of them."""
    reader = _Reader(memoryview(data), True, budget, False, Room(_NO_END, _NO_END), told)
    for _ in _batches(reader, Records([])):
        pass


def _batches(reader: _Reader, found: Records) -> Iterator[Batch]:
    """The batches of a field, one by one; what is behind the last whole one is noted in `found`."""
    at, size = 0, len(reader.data)
    for index in counting():
        if at >= size:
            return
        if size - at < _MAGIC_AT + 1:
            break
        try:
            batch = reader.batch(at, index)
        except DissectError as problem:
            found.problem = bare(problem)
            return
        if batch is None:
            break
        yield batch
        at += batch.size_bytes
    found.partial_bytes = size - at


class _Reader:
    """Reads batches one by one. Records are `told` where someone wants them, else they are kept in their batch."""

    def __init__(
        self,
        data: memoryview,
        full: bool,
        budget: Budget,
        check_crc: bool,
        room: Room,
        told: Callable[[Record], None] | None = None,
    ) -> None:
        self.data = data
        self.full = full
        self.budget = budget
        self.check_crc = check_crc
        self.room = room
        self.told = told

    def batch(self, at: int, index: int) -> Batch | None:
        """The batch at `at`; None: it is cut off. Raises Malformed when no later batch can be found."""
        wire = Wire(self.data, at)
        wire.path.append(f"batches[{index}]")
        self.room.take(wire, values=_BATCH_VALUES)
        base_offset = wire.int64()
        size = wire.int32()
        magic = self.data[at + _MAGIC_AT]
        if magic not in _LEAST_BYTES:
            raise wire.malformed("magic 0, 1 or 2", str(magic))
        if size < _LEAST_BYTES[magic]:
            raise wire.malformed(f"a batch of at least {_LEAST_BYTES[magic]} bytes", str(size))
        if size > wire.left:
            return None
        batch = Batch(at, size + _FRAME_BYTES, magic)
        if self.check_crc:
            batch.crc_ok = crc_fits(self.data[at : at + batch.size_bytes], magic)
        wire.end, wire.whole = wire.at + size, True
        try:
            if magic == 2:
                self.modern(batch, base_offset, wire)
            else:
                self.legacy(batch, base_offset, wire)
        except DissectError as problem:
            batch.problem = bare(problem)
        return batch

    def modern(self, batch: Batch, base_offset: int, wire: Wire) -> None:
        batch.base_offset = base_offset
        batch.partition_leader_epoch = wire.int32()
        wire.int8()  # magic
        batch.crc = wire.uint32()
        attributes = wire.int16()
        last_offset_delta = wire.int32()
        batch.last_offset = fitting(base_offset + last_offset_delta)
        batch.base_timestamp = wire.int64()
        batch.max_timestamp = wire.int64()
        batch.producer_id = wire.int64()
        batch.producer_epoch = wire.int16()
        batch.base_sequence = wire.int32()
        batch.last_sequence = last_sequence(batch.base_sequence, last_offset_delta)
        batch.count = wire.int32()
        batch.codec = codec_name(attributes)
        batch.timestamp_type = "LogAppendTime" if attributes & 0x08 else "CreateTime"
        batch.transactional = bool(attributes & 0x10)
        batch.control = bool(attributes & 0x20)
        if attributes & 0x40:
            batch.delete_horizon_ms = batch.base_timestamp
        if self.full:
            self.modern_records(batch, attributes, wire)

    def modern_records(self, batch: Batch, attributes: int, wire: Wire) -> None:
        count = batch.count or 0
        inner = self.open(attributes & 7, wire.skip(wire.left), wire)
        if count < 0 or count * _LEAST_RECORD_BYTES > inner.left:
            raise inner.malformed("a count of records", str(count))
        batch.records = []
        take = self.told or batch.records.append
        for index in range(count):
            inner.path.append(f".records[{index}]")
            take(modern_record(batch, inner, self.room))
            inner.path.pop()
        if inner.left:
            raise inner.malformed("the end of the batch", f"{inner.left} more bytes")

    def legacy(self, batch: Batch, offset: int, wire: Wire) -> None:
        batch.last_offset = offset
        batch.crc = wire.uint32()
        wire.int8()  # magic
        attributes = wire.int8()
        batch.codec = codec_name(attributes)
        if batch.magic == 0:
            batch.timestamp_type = "NoTimestampType"
        else:
            batch.timestamp_type = "LogAppendTime" if attributes & 0x08 else "CreateTime"
            batch.max_timestamp = wire.int64()
        key = wire.sized_bytes(compact=False)
        value = wire.sized_bytes(compact=False)
        if wire.left:
            raise wire.malformed("the end of the message", f"{wire.left} more bytes")
        if attributes & 7 == 0:
            batch.base_offset, batch.count = offset, 1
            records = [Record(offset, batch.max_timestamp, copy(key), copy(value))]
        else:
            if value is None:
                raise wire.malformed("a compressed message set", "null")
            records = self.wrapped(batch, offset, self.open(attributes & 7, value, wire))
            batch.base_offset, batch.count = (records[0].offset if records else None), len(records)
        if self.told is not None:
            for record in records:
                self.told(record)
        elif self.full:
            batch.records = records

    def wrapped(self, batch: Batch, around: int, wire: Wire) -> list[Record]:
        """The messages inside a compressed one. In magic 1 their offsets count from the first, and that of the wrapper
        is the last one's; some old producers leave it at 0, as if the first were 0."""
        found: list[Record] = []
        offset = 0
        path = list(wire.path)
        while wire.left:
            wire.path[:] = [*path, f".records[{len(found)}]"]
            offset = wire.int64()
            size = wire.int32()
            if size < 0:
                raise wire.malformed("a length", str(size))
            with wire.inside(size):
                self.room.take(wire, size if self.full else 0, _RECORD_VALUES)
                found.append(self.inner(batch, offset, wire))
        if found and batch.magic == 1:
            if 0 != around < offset:
                raise wire.malformed(f"an offset of at least {offset} around the messages", str(around))
            batch.last_offset = around or offset
            for record in found:
                assert record.offset is not None  # `inner` reads one of each
                record.offset = fitting(record.offset + batch.last_offset - offset)
        return found

    def inner(self, batch: Batch, offset: int, wire: Wire) -> Record:
        wire.uint32()  # its own checksum
        magic = wire.int8()
        attributes = wire.int8()
        if magic not in (0, 1) or attributes & 7:
            raise wire.malformed("an uncompressed message of magic 0 or 1", f"magic {magic}, attributes {attributes}")
        timestamp = wire.int64() if magic == 1 else -1
        if batch.timestamp_type == "LogAppendTime":
            timestamp = batch.max_timestamp
        key = wire.sized_bytes(compact=False)
        value = wire.sized_bytes(compact=False)
        if wire.left:
            raise wire.malformed("the end of the message", f"{wire.left} more bytes")
        return Record(offset, timestamp, copy(key), copy(value))

    def open(self, codec: int, payload: memoryview, wire: Wire) -> Wire:
        """A place at the start of the decompressed bytes, its path that of `wire`."""
        try:
            content = decompress(codec, payload, self.budget.left)
        except CodecError as problem:
            # A field full of bombs must cost no more than a field full of records.
            self.budget.left -= min(problem.tried_bytes, self.budget.left)
            raise Malformed(wire.where(), wire.at, "compressed records", str(problem)) from None
        if codec:
            self.budget.left -= len(content)
        inner = Wire(content)
        inner.whole = True
        inner.path.extend(wire.path)
        return inner


def modern_record(batch: Batch, wire: Wire, room: Room) -> Record:
    size = wire.varint()
    if size < 0:
        raise wire.malformed("a length", str(size))
    room.take(wire, size, _RECORD_VALUES)
    with wire.inside(size):
        wire.int8()  # attributes: none is defined
        timestamp = fitting((batch.base_timestamp or 0) + wire.varlong())
        offset = fitting((batch.base_offset or 0) + wire.varint())
        if batch.timestamp_type == "LogAppendTime":
            timestamp = batch.max_timestamp
        key = varint_bytes(wire)
        value = varint_bytes(wire)
        record = Record(offset, timestamp, key, value, record_headers(wire, room))
        if wire.left:
            raise wire.malformed("the end of the record", f"{wire.left} more bytes")
    if batch.control:
        record.control = control_of(record.key, record.value)
    return record


def record_headers(wire: Wire, room: Room) -> Sequence[tuple[str, bytes | None]]:
    count = wire.varint()
    if count < 0 or count * 2 > wire.left:
        raise wire.malformed("a count of headers", str(count))
    found = []
    for _ in range(count):
        room.take(wire, values=2)
        key = varint_bytes(wire)
        if key is None:
            raise wire.malformed("a header's key", "null")
        found.append((str(key, "utf-8", "replace"), varint_bytes(wire)))
    return found


def varint_bytes(wire: Wire) -> bytes | None:
    size = wire.varint()
    if size < -1:
        raise wire.malformed("a length", str(size))
    return None if size == -1 else bytes(wire.skip(size))


def copy(value: memoryview | None) -> bytes | None:
    return None if value is None else bytes(value)


def bare(problem: DissectError) -> DissectError:
    """Without the frames that it went through: they would keep their buffers alive as long as the batch is."""
    problem.__traceback__ = problem.__context__ = None
    return problem
