"""Record batches without their content: keys, values and headers become zeros of the same length, all that counts stays.

Batches of all three formats (magic 0, 1 and 2), compressed or not. A compressed batch is opened, emptied and compressed again, and
filled up to the size that it had (`repacking`). One that cannot be opened, or does not fit, becomes opaque: its header stays, its
content is zero. Checksums are made anew; one that was wrong stays wrong, and one of a batch that is not whole becomes zero.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from analyzer.redact.repacking import repacked
from dissectors.kafka.messages.checksums import crc_fits, extend_crc32, extend_crc32c
from dissectors.kafka.messages.codecs import CodecError, decompress

if TYPE_CHECKING:
    from analyzer.redact.counts import Counts

    Empty = Callable[[memoryview, memoryview], None]

# Decompressed bytes of one batch; a larger one becomes opaque.
MOST_BYTES = 64 << 20
_HEADER = {0: 18, 1: 26, 2: 61}
_MAGIC_AT = 16
_LEAST_SIZE = {0: 14, 1: 22, 2: 49}
_CRC = {0: (12, 16), 1: (12, 16), 2: (17, 21)}
_CONTROL = 0x20
_CODEC = 7
_CONTROL_KEY_BYTES, _END_TXN_BYTES = 4, 6
# Types of control records: abort, commit.
_END_TXN_TYPES = (b"\0\0", b"\0\1")


class _Odd(Exception):
    """These bytes are no records: what was written of them so far is all."""


def redact_records(data: memoryview, out: memoryview, counts: Counts) -> None:
    """Writes a records field over as many zeros; it may end within a batch. Nothing is copied: one batch may be all that memory has
    room for."""
    at = 0
    while at + _MAGIC_AT < len(data):
        size = 12 + int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        magic = data[at + _MAGIC_AT]
        if magic not in _HEADER or size < 12 + _LEAST_SIZE[magic]:
            break
        _batch(data[at : at + size], size, magic, out[at : at + size], counts)
        at += size


def _batch(batch: memoryview, size: int, magic: int, out: memoryview, counts: Counts) -> None:
    counts.batches += 1
    header = min(_HEADER[magic], len(batch))
    out[:header] = batch[:header]
    whole = len(batch) == size
    begin, end = _CRC[magic]
    right = whole and crc_fits(batch, magic)
    with suppress(_Odd):
        if magic == 2:
            _modern(batch, whole, out, counts)
        else:
            _legacy(batch, magic, whole, out, counts)
    if not whole:
        # A checksum tells something of its bytes, those that were taken out included.
        out[begin : min(end, len(out))] = bytes(max(0, min(end, len(out)) - begin))
        return
    _write_crc(out, magic, right)


def _write_crc(out: memoryview, magic: int, right: bool) -> None:
    begin, end = _CRC[magic]
    crc = (extend_crc32c if magic == 2 else extend_crc32)(0, out[end:])
    out[begin:end] = (crc if right else crc ^ 0xFFFFFFFF).to_bytes(4, "big")


def _modern(batch: memoryview, whole: bool, out: memoryview, counts: Counts) -> None:
    if len(batch) < _HEADER[2]:
        return
    attributes = batch[22]
    content = batch[_HEADER[2] :]
    codec = attributes & _CODEC
    is_control = bool(attributes & _CONTROL)
    count = int.from_bytes(batch[57:61], "big", signed=True)
    if codec == 0:
        _records(content, count, is_control, out[_HEADER[2] :])
        return

    def empty(opened: memoryview, emptied: memoryview) -> None:
        _records(opened, count, is_control, emptied)

    _repack(content, codec, whole, empty, out[_HEADER[2] :], counts)


def _repack(content: memoryview, codec: int, whole: bool, empty: Empty, out: memoryview, counts: Counts) -> None:
    """Writes the content of a compressed batch; `empty` writes what may stay of the opened content."""
    packed = None
    if whole:
        with suppress(CodecError):
            opened = memoryview(decompress(codec, content, MOST_BYTES))
            emptied = bytearray(len(opened))
            with suppress(_Odd):
                empty(opened, memoryview(emptied))
            packed = repacked(codec, bytes(emptied), len(content), content)
    if packed is None:
        counts.opaque_batches += 1
        return
    counts.repacked_batches += 1
    out[:] = packed


def _records(data: memoryview, count: int, is_control: bool, out: memoryview) -> None:
    """Records of magic 2, one behind the other."""
    at = 0
    for _ in range(count):
        if at >= len(data):
            return
        size, at = _varint(data, at, out)
        end = at + size
        if size < 0:
            raise _Odd
        at = _record(data, at, min(end, len(data)), is_control, out)
        if end > len(data):
            raise _Odd
        at = end


def _record(data: memoryview, at: int, end: int, is_control: bool, out: memoryview) -> int:
    if at >= end:
        raise _Odd
    at += 1  # attributes: none is defined
    _, at = _varint(data, at, out, 10)
    _, at = _varint(data, at, out)
    size, at = _varint(data, at, out)
    key = at
    at += max(size, 0)
    if at > end:
        raise _Odd
    if is_control and size == _CONTROL_KEY_BYTES:
        out[key:at] = data[key:at]
    size, at = _varint(data, at, out)
    if is_control and size == _END_TXN_BYTES and at + size <= end and data[key + 2 : key + 4] in _END_TXN_TYPES:
        out[at : at + size] = data[at : at + size]
    at += max(size, 0)
    if at > end:
        raise _Odd
    count, at = _varint(data, at, out)
    for _ in range(count):
        for _ in range(2):
            size, at = _varint(data, at, out)
            at += max(size, 0)
            if at > end:
                raise _Odd
    return at


def _varint(data: memoryview, at: int, out: memoryview, most: int = 5) -> tuple[int, int]:
    """(number, place behind it) of a zigzag varint, which is written."""
    number = shift = 0
    for place in range(at, min(at + most, len(data))):
        byte = data[place]
        number |= (byte & 127) << shift
        if byte < 128:
            out[at : place + 1] = data[at : place + 1]
            return (number >> 1) ^ -(number & 1), place + 1
        shift += 7
    raise _Odd


def _legacy(batch: memoryview, magic: int, whole: bool, out: memoryview, counts: Counts) -> None:
    """A message of magic 0 or 1: key and value, or in its value a set of such messages."""
    fields = 26 if magic == 1 else 18
    if len(batch) < fields:
        return
    codec = batch[17] & _CODEC
    at = _sized(batch, fields, out)
    if at + 4 > len(batch):
        return
    size = int.from_bytes(batch[at : at + 4], "big", signed=True)
    out[at : at + 4] = batch[at : at + 4]
    at += 4
    if codec == 0 or size < 0:
        return
    content = batch[at : at + size]
    _repack(content, codec, whole and len(content) == size, _message_set, out[at : at + len(content)], counts)


def _sized(data: memoryview, at: int, out: memoryview) -> int:
    """The place behind bytes with a length of four bytes, which is written."""
    if at + 4 > len(data):
        raise _Odd
    size = int.from_bytes(data[at : at + 4], "big", signed=True)
    if size < -1:
        raise _Odd
    out[at : at + 4] = data[at : at + 4]
    return at + 4 + max(size, 0)


def _message_set(data: memoryview, out: memoryview) -> None:
    """The messages inside a compressed one: offset, size, checksum, magic, attributes, time, key, value."""
    at = 0
    while at + 17 < len(data):
        size = 12 + int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        magic = data[at + _MAGIC_AT]
        if magic not in (0, 1) or size < 12 + _LEAST_SIZE[magic] or at + size > len(data):
            raise _Odd
        fields = 26 if magic == 1 else 18
        message, written = data[at : at + size], out[at : at + size]
        right = crc_fits(message, magic)
        written[:fields] = message[:fields]
        behind = _sized(message, fields, written)
        if behind + 4 <= size:
            _sized(message, behind, written)
        _write_crc(written, magic, right)
        at += size
