"""A batch that was emptied, and compressed to the size that it had: other libraries must find the same content."""

from __future__ import annotations

import gzip
import io
from random import Random

import cramjam
import lz4.frame
import pytest
import snappy

from analyzer.redact.repacking import repacked

CODECS = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
CHANCE = Random("repacking")


def packed(codec: int, content: bytes) -> bytes:
    if codec == 1:
        return gzip.compress(content, CHANCE.choice((1, 6, 9)))
    if codec == 2:
        block = bytes(cramjam.snappy.compress_raw(content))
        if CHANCE.random() < 0.5:
            return block
        return b"\x82SNAPPY\0\0\0\0\1\0\0\0\1" + len(block).to_bytes(4, "big") + block
    maker = cramjam.lz4 if codec == 3 else cramjam.zstd
    return bytes(maker.compress(content))


def opened(codec: int, data: bytes) -> bytes:
    """By libraries that the code does not use."""
    if codec == 1:
        return gzip.decompress(data)
    if codec == 2:
        return _unsnapped(data)
    if codec == 3:
        return _unframed(data)
    import pyarrow as pa

    with pa.CompressedInputStream(io.BytesIO(data), "zstd") as stream:
        return bytes(stream.read())


def _unsnapped(data: bytes) -> bytes:
    if data.startswith(b"\x82SNAPPY"):
        data = data[20:]
    return bytes(snappy.uncompress(data))


def _unframed(data: bytes) -> bytes:
    found = b""
    while data:
        if data[:4] == b"\x50\x2a\x4d\x18":
            data = data[8 + int.from_bytes(data[4:8], "little") :]
            continue
        maker = lz4.frame.LZ4FrameDecompressor()
        found += maker.decompress(data)
        data = maker.unused_data or b""
    return found


def content(count: int) -> tuple[bytes, bytes]:
    """Records of random sizes, and the same with zeros for values."""
    was, now = bytearray(), bytearray()
    for number in range(count):
        value = (
            CHANCE.randbytes(CHANCE.randrange(1, 40))
            if CHANCE.random() < 0.5
            else b"hello world " * CHANCE.randrange(9)
        )
        head = bytes((len(value) & 127, number & 127, 7))
        was += head + value
        now += head + bytes(len(value))
    return bytes(was), bytes(now)


@pytest.mark.parametrize("codec", CODECS)
def test_content_is_found_at_the_same_size(codec: int) -> None:
    fitted = 0
    for count in [*range(1, 30), 100, 500, 3000]:
        was, now = content(count)
        before = packed(codec, was)
        found = repacked(codec, now, len(before), before)
        if found is None:
            continue  # it stays opaque
        fitted += 1
        assert len(found) == len(before) and opened(codec, found) == now
    assert fitted >= 28


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("missing", range(40))
def test_any_filling_is_found_or_refused(codec: int, missing: int) -> None:
    was = bytes(200) + b"abc"
    plain = packed(codec, was)
    before = plain + bytes(missing)
    found = repacked(codec, was, len(before), plain)
    assert found is None or (len(found) == len(before) and opened(codec, found) == was)
    assert found is not None or missing < {1: 0, 2: 2, 3: 16, 4: 16}[codec]


def test_a_large_filling_of_gzip_takes_several_members() -> None:
    found = repacked(1, b"x" * 10, 700_000, b"")
    assert found is not None and len(found) == 700_000 and gzip.decompress(found) == b"x" * 10


def test_what_does_not_fit_is_refused() -> None:
    for codec in CODECS:
        assert repacked(codec, CHANCE.randbytes(1000), 500, b"") is None
    assert repacked(7, b"x", 100, b"") is None
