"""Compressed captures: recognised by their first bytes, unpacked as a stream; damage raises after all bytes before it."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

# Compressed bytes read at a time; so many unpacked bytes before damage may be lost with codecs of the standard library.
CHUNK_BYTES = 65_536
# pyarrow loses the bytes that the failing call had unpacked, so its pieces are small.
ARROW_PIECE_BYTES = 4_096


class Raw(Protocol):
    """Anything with a `read` that returns no bytes at its end."""

    def read(self, size: int) -> bytes:
        """At most `size` bytes."""


class PackedDataError(Exception):
    """Compressed data that are cut or damaged; the message is for a person. All readable bytes have been yielded before."""


class _Gzip:
    """zlib with the interface that `lzma` and `bz2` share."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)
        self._tail = b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        unpacked = self._inner.decompress(self._tail + data, max_length)
        self._tail = self._inner.unconsumed_tail
        return unpacked

    @property
    def needs_input(self) -> bool:
        return not self._tail

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


# First bytes -> name, maker of a decoder. zstd and lz4 are pyarrow's, imported only when such a file is opened.
_STANDARD: dict[bytes, tuple[str, Callable[[], Any]]] = {
    b"\x1f\x8b": ("gzip", _Gzip),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMADecompressor),
}
_ARROW = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}


def packing(head: bytes) -> str | None:
    """The name of the compression that a file starting with `head` has, None for none."""
    for magic, (name, _) in _STANDARD.items():
        if head.startswith(magic):
            return name
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:
        return "zstd"  # a skippable frame, as seekable zstd files begin
    return _ARROW.get(head[:4])


def unpack(raw: Raw, name: str) -> Iterator[bytes]:
    """Yields the unpacked bytes of `raw` in small pieces, members one after the other. Raises `PackedDataError`."""
    for magic, (standard, make) in _STANDARD.items():
        if name == standard:
            return _standard_pieces(raw, name, magic, make)
    return _arrow_pieces(raw, name)


def _standard_pieces(raw: Raw, name: str, magic: bytes, make: Callable[[], Any]) -> Iterator[bytes]:
    decoder = make()
    data = raw.read(CHUNK_BYTES)
    while True:
        try:
            piece = decoder.decompress(data, CHUNK_BYTES)
        except (zlib.error, lzma.LZMAError, OSError, ValueError) as error:
            raise PackedDataError(f"the {name} data are damaged ({error})") from error
        if piece:
            yield piece
        data = b""
        if decoder.eof:
            data = _next_member(raw, decoder.unused_data)
            if not data:
                return
            if not data.startswith(magic[: len(data)]):
                raise PackedDataError(f"the {name} data are followed by other bytes")
            decoder = make()
        elif decoder.needs_input:
            data = raw.read(CHUNK_BYTES)
            if not data:
                raise PackedDataError(f"the {name} data end in the middle")


def _next_member(raw: Raw, data: bytes) -> bytes:
    """The bytes that follow the end of a member, without the zero bytes that tapes and block devices add."""
    data = data.lstrip(b"\0")
    while not data:
        more = raw.read(CHUNK_BYTES)
        if not more:
            return b""
        data = more.lstrip(b"\0")
    return data


def _arrow_pieces(raw: Raw, name: str, piece_bytes: int = ARROW_PIECE_BYTES) -> Iterator[bytes]:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.PythonFile(raw, "r"), name) as stream:
        while True:
            try:
                piece = stream.read(piece_bytes)
            except OSError as error:
                raise PackedDataError(_arrow_reason(name, str(error))) from error
            if not piece:
                return
            yield piece


def _arrow_reason(name: str, message: str) -> str:
    if "Truncated" in message:
        return f"the {name} data end in the middle"
    return f"the {name} data are damaged ({message})"


def last_bytes(raw: Raw, name: str, have_bytes: int) -> Iterator[bytes]:
    """The bytes of damaged data that `unpack` did not yield, from a second reading: those beyond `have_bytes`, one by one.

    Only pyarrow's codecs lose bytes. Ends where the damage is, without an error: `unpack` has raised it.
    """
    if name not in _ARROW.values():
        return
    import pyarrow as pa

    with suppress(OSError), pa.CompressedInputStream(pa.PythonFile(raw, "r"), name) as stream:
        while have_bytes and (known := stream.read(min(have_bytes, 1 << 20))):
            have_bytes -= len(known)
        while byte := stream.read(1):
            yield byte
