"""The primitive types of the Kafka protocol, read from memory that may be cut, wrong or hostile.

Source: the protocol guide of Apache Kafka (https://kafka.apache.org/protocol), KIP-482 (compact types, tagged fields).
Every length is checked against the bytes that are left before anything is sliced, allocated or looped over. A value
that runs over the end of the bytes is Truncated; one that runs over the end of the tagged field around it is Malformed,
since more bytes would not mend it.
"""

from __future__ import annotations

from contextlib import contextmanager
from struct import Struct
from typing import TYPE_CHECKING

from dissectors.errors import Malformed, Truncated

if TYPE_CHECKING:
    from collections.abc import Iterator

_INT16 = Struct(">h")
_UINT16 = Struct(">H")
_INT32 = Struct(">i")
_UINT32 = Struct(">I")
_INT64 = Struct(">q")
_FLOAT64 = Struct(">d")

# Bytes that one element of an array of this type takes at least, plain or compact.
LEAST_BYTES = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float64": 8,
    "uuid": 16,
    "string": 1,
    "bytes": 1,
    "records": 1,
    "struct": 1,
}


class Wire:
    """A place (`at`) in `data` and the end up to which may be read; every read moves the place behind the value.

    `path` is where in the message the reader is, as a list of parts; only used to say where an error is. The offset of
    an error is where the missing bytes should begin, or where the wrong value is. `whole` says that the bytes are
    known to be all there: then a value that needs more is Malformed.
    """

    __slots__ = ("at", "data", "end", "path", "whole")

    def __init__(self, data: bytes | memoryview, at: int = 0) -> None:
        self.data = memoryview(data)
        self.at = at
        self.end = len(self.data)
        self.whole = False
        self.path: list[str] = []

    @property
    def left(self) -> int:
        return self.end - self.at

    def where(self) -> str:
        return "".join(self.path).removeprefix(".")

    def malformed(self, wanted: str, got: str) -> Malformed:
        return Malformed(self.where(), self.at, wanted, got)

    def short(self, wanted: str) -> Truncated | Malformed:
        """The error for a value that needs more bytes than are left."""
        got = f"{self.left} bytes left"
        if self.whole:
            return Malformed(self.where(), self.at, wanted, got)
        return Truncated(self.where(), self.at, wanted, got)

    @contextmanager
    def inside(self, size: int) -> Iterator[None]:
        """Nothing beyond the next `size` bytes may be read meanwhile; afterwards the place is behind them.

        After an error nothing is put back: the reader is of no more use.
        """
        if size > self.left:
            raise self.short(f"{size} bytes")
        outer, self.end = self.end, self.at + size
        was_whole, self.whole = self.whole, True
        yield
        self.at, self.end, self.whole = self.end, outer, was_whole

    def _take(self, shape: Struct, wanted: str) -> int:
        if shape.size > self.end - self.at:
            raise self.short(wanted)
        value = shape.unpack_from(self.data, self.at)[0]
        self.at += shape.size
        return value

    def boolean(self) -> bool:
        """False is 0; every other byte is true."""
        return self.int8() != 0

    def int8(self) -> int:
        if self.at >= self.end:
            raise self.short("1 byte")
        value = self.data[self.at]
        self.at += 1
        return value - 256 if value > 127 else value

    def int16(self) -> int:
        return self._take(_INT16, "2 bytes")

    def uint16(self) -> int:
        return self._take(_UINT16, "2 bytes")

    def int32(self) -> int:
        return self._take(_INT32, "4 bytes")

    def uint32(self) -> int:
        return self._take(_UINT32, "4 bytes")

    def int64(self) -> int:
        return self._take(_INT64, "8 bytes")

    def float64(self) -> float:
        return self._take(_FLOAT64, "8 bytes")

    def uuid(self) -> bytes:
        """Its 16 bytes; all zero where Kafka means "none"."""
        return bytes(self.skip(16))

    def unsigned_varint(self) -> int:
        """0 to 2^32 - 1 in one to five bytes, seven bits each, low bits first."""
        return self._varint(5, 32)

    def varint(self) -> int:
        """A zigzag int32."""
        value = self._varint(5, 32)
        return (value >> 1) ^ -(value & 1)

    def varlong(self) -> int:
        """A zigzag int64."""
        value = self._varint(10, 64)
        return (value >> 1) ^ -(value & 1)

    def _varint(self, most: int, bits: int) -> int:
        value = 0
        for place in range(most):
            if self.at + place >= self.end:
                raise self.short("a varint")
            byte = self.data[self.at + place]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                if value >> bits:
                    raise self.malformed(f"a varint of {bits} bits", f"{value:#x}")
                self.at += place + 1
                return value
        raise self.malformed(f"a varint of at most {most} bytes", "a longer one")

    def skip(self, size: int) -> memoryview:
        """The next `size` bytes, as they are."""
        if size > self.end - self.at:
            raise self.short(f"{size} bytes")
        found = self.data[self.at : self.at + size]
        self.at += size
        return found

    def _sized(self, plain: Struct, compact: bool) -> memoryview | None:
        """The bytes behind a length, -1 (compact: 0) for null."""
        begin = self.at
        size = self.unsigned_varint() - 1 if compact else self._take(plain, f"a length of {plain.size} bytes")
        if size < -1:
            self.at = begin
            raise self.malformed("a length", str(size))
        return None if size == -1 else self.skip(size)

    def string(self, compact: bool) -> str | None:
        """UTF-8; bytes that are none become U+FFFD, as in Kafka itself."""
        found = self._sized(_INT16, compact)
        return None if found is None else str(found, "utf-8", "replace")

    def sized_bytes(self, compact: bool) -> memoryview | None:
        return self._sized(_INT32, compact)

    def array_count(self, compact: bool, least_bytes: int) -> int | None:
        """Elements that follow, each of at least `least_bytes`; None: null. More than can be there are refused here."""
        begin = self.at
        count = self.unsigned_varint() - 1 if compact else self._take(_INT32, "a count of 4 bytes")
        if count < -1:
            self.at = begin
            raise self.malformed("a count", str(count))
        if count * least_bytes > self.left:
            raise self.short(f"{count} elements")
        return None if count == -1 else count

    def tagged(self) -> Iterator[tuple[int, int]]:
        """(tag, size) of each tagged field; the caller reads or skips `size` bytes before it asks for the next."""
        count = self.unsigned_varint()
        if count * 2 > self.left:
            raise self.short(f"{count} tagged fields")
        for _ in range(count):
            tag = self.unsigned_varint()
            size = self.unsigned_varint()
            if size > self.left:
                raise self.short(f"{size} bytes of tag {tag}")
            yield tag, size
