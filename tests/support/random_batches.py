"""Random record batches of every magic and codec whose every length is known, for tests that damage them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from random import Random
from struct import pack
from typing import NamedTuple

import cramjam
from encode import SHAPES, Length, zigzag

from dissectors.kafka.messages.record_batches import Record

COMPRESS = (
    lambda data: data,
    lambda data: gzip.compress(data, mtime=0),
    lambda data: bytes(cramjam.snappy.compress_raw(data)),
    lambda data: bytes(cramjam.lz4.compress(data)),
    lambda data: bytes(cramjam.zstd.compress(data)),
)
FORMATS = [(magic, codec) for magic in range(3) for codec in range(5) if magic == 2 or codec < 4]
BASE_OFFSET = 1000
BASE_TIMESTAMP = 1_700_000_000_000


class Packed(NamedTuple):
    """Bytes and the lengths in them, by what is counted: "size", "key", "value", "headers", "name", "count"."""

    data: bytes
    lengths: list[Length]


class _Out:
    def __init__(self) -> None:
        self.data = bytearray()
        self.lengths: list[Length] = []

    def length(self, raw: int, form: str, kind: str) -> None:
        begin = len(self.data)
        self.data += zigzag(raw) if form == "zigzag" else pack(SHAPES[form], raw)
        self.lengths.append(Length(begin, len(self.data), form, kind, raw))

    def sized(self, value: bytes | None, form: str, kind: str) -> None:
        self.length(-1 if value is None else len(value), form, kind)
        self.data += value or b""

    def append(self, inner: _Out) -> None:
        begin = len(self.data)
        self.lengths += [each._replace(at=each.at + begin, end=each.end + begin) for each in inner.lengths]
        self.data += inner.data

    def packed(self) -> Packed:
        return Packed(bytes(self.data), self.lengths)


def records(chance: Random, magic: int, count: int) -> list[Record]:
    """Those of magic 2 have headers, those of magic 0 no timestamps. Offsets start at BASE_OFFSET, with gaps."""

    def octets() -> bytes | None:
        return chance.choice((None, b"", b"\x00", b"value " * chance.randint(1, 12), chance.randbytes(9)))

    found = []
    offset = BASE_OFFSET
    for _ in range(count):
        stamp = BASE_TIMESTAMP + chance.randint(-100, 100_000) if magic else -1
        names = ["", "a", "häder"][: chance.randint(0, 3)]
        headers = [(name, octets()) for name in names] if magic == 2 else ()
        found.append(Record(offset, stamp, octets(), octets(), headers))
        offset += chance.choice((1, 1, 1, 70))
    return found


def payload(rows: Sequence[Record], magic: int, first_offset: int = BASE_OFFSET) -> Packed:
    """What a codec compresses: records of magic 2, or messages; `first_offset` is what their offsets count from."""
    out = _Out()
    for each in rows:
        inner = _Out()
        if magic == 2:
            _record(inner, each)
            out.length(len(inner.data), "zigzag", "size")
        else:
            _message(inner, each, magic, 0)
            out.data += pack(">q", each.offset - first_offset)
            out.length(len(inner.data), "int32", "size")
        out.append(inner)
    return out.packed()


def _record(out: _Out, record: Record) -> None:
    out.data += b"\x00" + zigzag(record.timestamp - BASE_TIMESTAMP) + zigzag(record.offset - BASE_OFFSET)
    out.sized(record.key, "zigzag", "key")
    out.sized(record.value, "zigzag", "value")
    out.length(len(record.headers), "zigzag", "headers")
    for name, value in record.headers:
        out.sized(name.encode(), "zigzag", "name")
        out.sized(value, "zigzag", "value")


def _message(out: _Out, record: Record, magic: int, attributes: int) -> None:
    """From the checksum on, which is 0: a damaged one would be as wrong, and nobody asks for it here."""
    body = _Out()
    body.data += pack(">bb", magic, attributes) + (pack(">q", record.timestamp) if magic else b"")
    body.sized(record.key, "int32", "key")
    body.sized(record.value, "int32", "value")
    out.data += bytes(4)
    out.append(body)


def wrap(rows: Sequence[Record], inner: bytes, magic: int, codec: int) -> Packed:
    """A batch of magic 2, or the compressed message around a message set; `inner` is the payload, damaged or not."""
    out, body = _Out(), _Out()
    last = rows[-1]
    if magic == 2:
        body.data += pack(">ibIh", 3, 2, 0, codec)
        body.data += pack(">iqqqhi", last.offset - BASE_OFFSET, BASE_TIMESTAMP, last.timestamp, -1, -1, -1)
        body.length(len(rows), "int32", "count")
        body.data += COMPRESS[codec](inner)
    else:
        _message(body, Record(last.offset, last.timestamp, None, COMPRESS[codec](inner)), magic, codec)
    out.data += pack(">q", BASE_OFFSET if magic == 2 else last.offset)
    out.length(len(body.data), "int32", "size")
    out.append(body)
    return out.packed()


def batch(rows: Sequence[Record], magic: int, codec: int) -> Packed:
    """The bytes of a `records` field; its lengths are those that no codec hides."""
    if magic < 2 and codec == 0:
        return payload(rows, magic, 0)
    inner = payload(rows, magic, BASE_OFFSET if magic else 0)
    wrapped = wrap(rows, inner.data, magic, codec)
    if codec:
        return wrapped
    begin = len(wrapped.data) - len(inner.data)
    shifted = [each._replace(at=each.at + begin, end=each.end + begin) for each in inner.lengths]
    return Packed(wrapped.data, wrapped.lengths + shifted)
