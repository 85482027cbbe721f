"""Record batches (magic 2) and the message sets before them (magic 0 and 1), as they stand in a `records` field.

Headers are always read; records only when asked for, except those of a compressed message of magic 0 or 1, whose header
tells neither its first offset nor its count. A broker cuts the last batch of a Fetch at the size it was asked for: that
is no error. A batch that is wrong in itself carries a `problem`; reading goes on behind it. Offsets of problems count
from the start of the field, inside compressed data from the start of the decompressed bytes.
Sources: the protocol guide and "message format" of Apache Kafka's documentation, KIP-98 (magic 2), KIP-32 (magic 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dissectors.errors import DissectError, Malformed
from dissectors.kafka.codecs import CODECS, CodecError, decompress
from dissectors.kafka.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Sequence

# Decompressed bytes of one records field; whoever needs more has a bomb.
MOST_BYTES = 128 << 20

# Offset and length stand before every batch, magic 2 or not.
_FRAME_BYTES = 12
_LEAST_BYTES = {0: 14, 1: 22, 2: 49}
_MAGIC_AT = 16
# Length, attributes, two deltas, two lengths, a count: one byte each at least.
_LEAST_RECORD_BYTES = 7

_CONTROL_TYPES = (
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
)


@dataclass(slots=True)
class Record:
    """`offset` is absolute as far as the batch's is, `timestamp` epoch ms (-1: none); key and value may be null.

    `control` says what a record of a control batch means: its type, and for ABORT and COMMIT the coordinator's epoch.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()
    control: dict[str, Any] | None = None


@dataclass(slots=True)
class Batch:
    """What a batch says of itself. `start` is its place in the field, `size_bytes` includes offset and length.

    Of magic 0 and 1 an uncompressed message is a batch of one, a compressed one a batch of what it wraps; base offset
    and count are None when that cannot be opened. `base_timestamp` and what stands below it exist from magic 2 on, else
    None; it holds the delete horizon when there is one. `records` is None unless asked for; with a `problem` it ends
    before the first that could not be read.
    """

    start: int
    size_bytes: int
    magic: int
    codec: str = "none"
    base_offset: int | None = None
    last_offset: int = 0
    crc: int = 0
    timestamp_type: str = "CreateTime"
    max_timestamp: int = -1
    count: int | None = None
    base_timestamp: int | None = None
    delete_horizon_ms: int | None = None
    partition_leader_epoch: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    base_sequence: int | None = None
    last_sequence: int | None = None
    transactional: bool | None = None
    control: bool | None = None
    records: list[Record] | None = field(default=None, repr=False)
    problem: DissectError | None = None

    def header(self) -> dict[str, Any]:
        """The fields that this magic has, by name."""
        names = [name for name in self.__slots__ if name not in ("start", "records", "problem")]
        found = {name: getattr(self, name) for name in names}
        if self.magic < 2:
            return {name: found[name] for name in names[: names.index("base_timestamp")]}
        if self.delete_horizon_ms is None:
            del found["delete_horizon_ms"]
        return found


@dataclass(slots=True)
class Records:
    """The batches of a field; bytes of a last one that is cut off; why reading stopped, if it stopped early."""

    batches: list[Batch]
    partial_bytes: int = 0
    problem: DissectError | None = None


def read_records(data: bytes | memoryview, full: bool = False, most_bytes: int = MOST_BYTES) -> Records:
    """The batches of a `records` field, with each record when `full`; decompresses at most `most_bytes` in all."""
    found = Records([])
    reader = _Reader(memoryview(data), full, most_bytes)
    at = 0
    while at < len(data):
        if len(data) - at < _MAGIC_AT + 1:
            found.partial_bytes = len(data) - at
            break
        try:
            batch = reader.batch(at, len(found.batches))
        except DissectError as problem:
            found.problem = problem
            break
        if batch is None:
            found.partial_bytes = len(data) - at
            break
        found.batches.append(batch)
        at += batch.size_bytes
    return found


class _Reader:
    """Reads batches one by one; `budget` is what may still be decompressed."""

    def __init__(self, data: memoryview, full: bool, budget: int) -> None:
        self.data = data
        self.full = full
        self.budget = budget

    def batch(self, at: int, index: int) -> Batch | None:
        """The batch at `at`; None: it is cut off. Raises Malformed when no later batch can be found."""
        wire = Wire(self.data, at)
        wire.path.append(f"batches[{index}]")
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
        wire.end, wire.whole = wire.at + size, True
        try:
            if magic == 2:
                self.modern(batch, base_offset, wire)
            else:
                self.legacy(batch, base_offset, wire)
        except DissectError as problem:
            batch.problem = problem
        return batch

    def modern(self, batch: Batch, base_offset: int, wire: Wire) -> None:
        batch.base_offset = base_offset
        batch.partition_leader_epoch = wire.int32()
        wire.int8()  # magic
        batch.crc = wire.uint32()
        attributes = wire.int16()
        last_offset_delta = wire.int32()
        batch.last_offset = base_offset + last_offset_delta
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
        batch.records = records = []
        for index in range(count):
            inner.path.append(f".records[{index}]")
            records.append(modern_record(batch, inner))
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
        if attributes & 7 == 0:
            batch.base_offset, batch.count = offset, 1
            records = [Record(offset, batch.max_timestamp, copy(key), copy(value))]
        else:
            if value is None:
                raise wire.malformed("a compressed message set", "null")
            records = self.wrapped(batch, self.open(attributes & 7, value, wire))
            batch.base_offset, batch.count = (records[0].offset if records else None), len(records)
        if self.full:
            batch.records = records

    def wrapped(self, batch: Batch, wire: Wire) -> list[Record]:
        """The messages inside a compressed one; in magic 1 their offsets are relative to that of the last."""
        found: list[Record] = []
        path = list(wire.path)
        while wire.left:
            wire.path[:] = [*path, f".records[{len(found)}]"]
            offset = wire.int64()
            size = wire.int32()
            if size < 0:
                raise wire.malformed("a length", str(size))
            with wire.inside(size):
                found.append(self.inner(batch, offset, wire))
        if found and batch.magic == 1:
            shift = batch.last_offset - found[-1].offset
            for record in found:
                record.offset += shift
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
        return Record(offset, timestamp, copy(key), copy(wire.sized_bytes(compact=False)))

    def open(self, codec: int, payload: memoryview, wire: Wire) -> Wire:
        """A place at the start of the decompressed bytes, its path that of `wire`."""
        try:
            content = decompress(codec, payload, self.budget)
        except CodecError as problem:
            raise Malformed(wire.where(), wire.at, "compressed records", str(problem)) from None
        if codec:
            self.budget -= len(content)
        inner = Wire(content)
        inner.whole = True
        inner.path.extend(wire.path)
        return inner


def modern_record(batch: Batch, wire: Wire) -> Record:
    size = wire.varint()
    if size < 0:
        raise wire.malformed("a length", str(size))
    with wire.inside(size):
        wire.int8()  # attributes: none is defined
        timestamp = (batch.base_timestamp or 0) + wire.varlong()
        offset = (batch.base_offset or 0) + wire.varint()
        if batch.timestamp_type == "LogAppendTime":
            timestamp = batch.max_timestamp
        key = varint_bytes(wire)
        value = varint_bytes(wire)
        record = Record(offset, timestamp, key, value, record_headers(wire))
        if wire.left:
            raise wire.malformed("the end of the record", f"{wire.left} more bytes")
    if batch.control:
        record.control = control_of(record)
    return record


def record_headers(wire: Wire) -> Sequence[tuple[str, bytes | None]]:
    count = wire.varint()
    if count < 0 or count * 2 > wire.left:
        raise wire.malformed("a count of headers", str(count))
    found = []
    for _ in range(count):
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


def control_of(record: Record) -> dict[str, Any] | None:
    """The type that the key of a control record names; None when the key is no such thing."""
    key, value = record.key, record.value
    if key is None or len(key) < 4:
        return None
    number = int.from_bytes(key[2:4], "big", signed=True)
    if not 0 <= number < len(_CONTROL_TYPES):
        return {"type": f"UNKNOWN_{number}"}
    found: dict[str, Any] = {"type": _CONTROL_TYPES[number]}
    if number < 2 and value is not None and len(value) >= 6:
        found["coordinator_epoch"] = int.from_bytes(value[2:6], "big", signed=True)
    return found


def codec_name(attributes: int) -> str:
    """One that nobody knows is called by its number."""
    number = attributes & 7
    return CODECS[number] if number < len(CODECS) else f"unknown_{number}"


def last_sequence(base: int, last_offset_delta: int) -> int:
    """Sequence number of the last record; they go on at 0 after 2^31 - 1; -1: the producer uses none."""
    return -1 if base == -1 else (base + last_offset_delta) & 0x7FFFFFFF


def copy(value: memoryview | None) -> bytes | None:
    return None if value is None else bytes(value)
