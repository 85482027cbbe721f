"""Compresses the emptied content of a batch to exactly the size that it had.

Zeros compress to less than what stood in their place. What is missing is filled in the way that each format has for it:
- gzip (RFC 1952): extra field, name and comment of a header, and further empty members;
- zstd (RFC 8878) and the frame format of LZ4: a skippable frame behind the others;
- snappy: lengths of literals written longer than needed, and literals where copies would do.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

from dissectors.kafka.messages.codecs import CodecError, decompress

_SKIPPABLE = 0x184D2A50
_SKIPPABLE_HEADER = 8
_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16
_MOST_FIELD = 65_000
_SPLITS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)


def repacked(codec: int, content: bytes, size: int, before: bytes | memoryview) -> bytes | None:
    """`content` compressed to `size` bytes; None when that does not work. `before` is what stood there, whose form is kept."""
    makers: dict[int, Callable[[bytes, int, bytes | memoryview], bytes | None]] = {
        1: _gzip,
        2: _snappy,
        3: _lz4,
        4: _zstd,
    }
    maker = makers.get(codec)
    packed = None if maker is None else maker(content, size, before)
    if packed is None or len(packed) != size:
        return None
    try:
        # Whoever reads it must find the content: a filling that a reader does not know is none.
        return packed if bytes(decompress(codec, packed, len(content) + 1)) == content else None
    except CodecError:
        return None


# ---- gzip ----


def _gzip(content: bytes, size: int, _: bytes | memoryview) -> bytes | None:
    for level in (9, 6, 1):
        squeezer = zlib.compressobj(level, zlib.DEFLATED, -15)
        body = squeezer.compress(content) + squeezer.flush()
        tail = struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)
        missing = size - 10 - len(body) - len(tail)
        if missing >= 0:
            return _member(body + tail, missing)
    return None


def _member(rest: bytes, missing: int) -> bytes:
    """A member whose header is `missing` bytes longer than it needs to be, and empty members where that is too much."""
    behind = b""
    while missing > 3 * _MOST_FIELD:
        empty = _header(2 * _MOST_FIELD) + b"\x03\x00" + bytes(8)
        behind += empty
        missing -= len(empty)
    return _header(missing) + rest + behind


def _header(missing: int) -> bytes:
    flags, fields = 0, b""
    if missing >= 2 + 8:
        count = min(missing - 2, _MOST_FIELD)
        flags |= 4
        fields += struct.pack("<H", count) + bytes(count)
        missing -= 2 + count
    for flag in (8, 16):
        if missing:
            count = min(missing, _MOST_FIELD)
            flags |= flag
            fields += b"0" * (count - 1) + b"\0"
            missing -= count
    return struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, flags, 0, 0, 255) + fields


# ---- frames that readers skip ----


def _filled(frames: Iterator[bytes], size: int) -> bytes | None:
    """The first of several forms that fits, or leaves room for a frame that is skipped."""
    for frame in frames:
        missing = size - len(frame)
        if missing == 0:
            return frame
        if missing >= _SKIPPABLE_HEADER:
            return (
                frame + struct.pack("<II", _SKIPPABLE, missing - _SKIPPABLE_HEADER) + bytes(missing - _SKIPPABLE_HEADER)
            )
    return None


def _zstd(content: bytes, size: int, _: bytes | memoryview) -> bytes | None:
    import cramjam

    def frames() -> Iterator[bytes]:
        for level in (3, 1, 9):
            yield bytes(cramjam.zstd.compress(content, level=level))
        for cut in _SPLITS:
            front, back = content[:cut], content[cut:]
            yield bytes(cramjam.zstd.compress(front, level=3)) + bytes(cramjam.zstd.compress(back, level=3))

    return _filled(frames(), size)


def _lz4(content: bytes, size: int, _: bytes | memoryview) -> bytes | None:
    import cramjam

    def frames() -> Iterator[bytes]:
        for level in (1, 9):
            yield bytes(cramjam.lz4.compress(content, level=level))
        for cut in _SPLITS:
            front, back = content[:cut], content[cut:]
            yield bytes(cramjam.lz4.compress(front, level=1)) + bytes(cramjam.lz4.compress(back, level=1))

    return _filled(frames(), size)


# ---- snappy ----


def _snappy(content: bytes, size: int, before: bytes | memoryview) -> bytes | None:
    """A raw block, or snappy-java's stream with one block, as it was before."""
    if before[: len(_XERIAL)] != _XERIAL:
        return _block(content, size)
    room = size - _XERIAL_HEADER - 4
    block = _block(content, room) if room > 0 else None
    if block is None:
        return None
    return _XERIAL + struct.pack(">II", 1, 1) + struct.pack(">I", room) + block


def _block(content: bytes, size: int) -> bytes | None:
    """A block of exactly so many bytes. Its first `count` bytes are literals of one byte, each in two to six bytes."""
    import cramjam

    preamble = _varint(len(content))
    if not content:
        return preamble if size == len(preamble) else None
    count = 0
    while count <= len(content):
        rest = content[count:]
        elements = bytes(cramjam.snappy.compress_raw(rest))[len(_varint(len(rest))) :] if rest else b""
        wanted = size - len(preamble) - len(elements)
        if wanted < 0:
            return None
        if 2 * count <= wanted <= 6 * count:
            return preamble + _literals(content[:count], wanted) + elements
        # Each further literal brings up to six bytes, and the rest becomes shorter by little.
        count += max(1, -(-(wanted - 6 * count) // 6)) if wanted > 6 * count else len(content) + 1
    return None


def _literals(data: bytes, size: int) -> bytes:
    """Literals of one byte each, `size` bytes together: a length of one may be written in up to four more bytes."""
    more = size - 2 * len(data)
    found = bytearray()
    for byte in data:
        extra = min(more, 4)
        more -= extra
        found += bytes([(59 + extra) << 2 if extra else 0]) + bytes(extra) + bytes([byte])
    return bytes(found)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
