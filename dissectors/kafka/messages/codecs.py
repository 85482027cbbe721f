"""Decompression of record batches, never into more memory than the caller allows.

A few bytes can claim to be gigabytes, so each codec writes into a buffer that only grows up to the ceiling. Sources:
KIP-110 (zstd), KIP-57 (the header checksum of LZ4 that Kafka wrote wrongly before magic 1), the stream format of
snappy-java.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

# Output of one batch: at most this many times its input, once it is beyond FREE_BYTES (deflate reaches 1,032).
MOST_RATIO = 1100
FREE_BYTES = 1 << 20

_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
# What cramjam says when the output buffer is too small, and the input otherwise fine so far.
_FULL = "failed to write whole buffer"


class CodecError(ValueError):
    """Bytes that the codec cannot read, or that would become more than allowed; the message says which.

    `tried_bytes` of output is what finding that out has cost at most.
    """

    def __init__(self, text: str, tried_bytes: int = 0) -> None:
        super().__init__(text)
        self.tried_bytes = tried_bytes


def decompress(codec: int, data: bytes | memoryview, most_bytes: int) -> bytes | memoryview:
    """What `data` holds, `codec` as numbered in a batch's attributes. Raises CodecError."""
    if codec == 0:
        return data
    ceiling = min(most_bytes, max(FREE_BYTES, MOST_RATIO * len(data)))
    import cramjam  # 10 ms: only when a compressed batch is opened

    if codec == 1:
        return _growing(cramjam.gzip.decompress_into, data, ceiling, "gzip")
    if codec == 2:
        return _snappy(cramjam.snappy, data, ceiling)
    if codec == 3:
        return _growing(cramjam.lz4.decompress_into, _lz4_with_checksum(data), ceiling, "lz4")
    if codec == 4:
        return _growing(cramjam.zstd.decompress_into, data, ceiling, "zstd")
    raise CodecError(f"codec {codec} is unknown")


def _too_big(ceiling: int, tried_bytes: int) -> CodecError:
    return CodecError(f"more than {ceiling} bytes when decompressed", tried_bytes)


def _snappy(snappy: Any, data: bytes | memoryview, ceiling: int) -> bytes:
    """One raw block, or the blocks of snappy-java's stream (each behind a length of 4 bytes)."""
    data = bytes(data)
    if not data.startswith(_XERIAL):
        return _snappy_block(snappy, data, ceiling, 0)
    blocks = []
    at = _XERIAL_HEADER
    done = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if size > len(data) - at or at > len(data):
            raise CodecError("not snappy: a block is cut off", done)
        blocks.append(_snappy_block(snappy, data[at : at + size], ceiling, done))
        done += len(blocks[-1])
        at += size
    return b"".join(blocks)


def _snappy_block(snappy: Any, block: bytes, ceiling: int, done: int) -> bytes:
    """A block behind others that gave `done` bytes; it begins with the length of its content."""
    wanted = 0
    try:
        wanted = snappy.decompress_raw_len(block)
        if done + wanted > ceiling:
            raise _too_big(ceiling, done)
        return bytes(snappy.decompress_raw(block))
    except codec_errors() as problem:
        raise CodecError(f"not snappy: {problem}", done + wanted) from None


def codec_errors() -> type[Exception]:
    """What cramjam raises."""
    import cramjam

    return cramjam.DecompressionError


def _growing(
    decompress_into: Callable[..., int], data: bytes | memoryview, ceiling: int, name: str
) -> bytes | memoryview:
    """Tries with a buffer four times as large each time: a frame need not say how long its content is."""
    size = min(ceiling, max(4 * len(data), 65536))
    while True:
        buffer = bytearray(size)
        try:
            return memoryview(buffer)[: decompress_into(data, buffer)].toreadonly()
        except codec_errors() as problem:
            if _FULL not in str(problem):
                raise CodecError(f"not {name}: {problem}", size) from None
        if size == ceiling:
            raise _too_big(ceiling, size)
        size = min(ceiling, size * 4)


def _lz4_with_checksum(data: bytes | memoryview) -> bytes:
    """The frame with the header checksum that the format wants: Kafka's old one covers the magic number too."""
    frame = bytearray(data)
    if len(frame) < 7 or not frame.startswith(_LZ4_MAGIC):
        raise CodecError("not lz4: no frame header")
    flags = frame[4]
    end = 6 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    if len(frame) <= end:
        raise CodecError("not lz4: the frame header is cut off")
    frame[end] = xxh32_short(bytes(frame[4:end])) >> 8 & 0xFF
    return bytes(frame)


def xxh32_short(data: bytes) -> int:
    """xxHash32 with seed 0 of fewer than 16 bytes. Source: the xxHash specification."""
    primes = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
    mask = 0xFFFFFFFF
    value = primes[4] + len(data)
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        value = (value + int.from_bytes(data[at : at + 4], "little") * primes[2]) & mask
        value = (value << 17 | value >> 15) * primes[3] & mask
    for byte in data[whole:]:
        value = (value + byte * primes[4]) & mask
        value = (value << 11 | value >> 21) * primes[0] & mask
    value = (value ^ value >> 15) * primes[1] & mask
    value = (value ^ value >> 13) * primes[2] & mask
    return value ^ value >> 16
