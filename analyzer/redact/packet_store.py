"""What is known of single packets of captures, on disk: there may be billions of them."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from dissectors.layout import SPLIT_SHIFT

_MODE = 0o600


class PacketStore:
    """One record of fixed size for each packet, zeros where nothing was put. Packets are known by capture and number
    (`SEGMENT_NUMBER`); `captures`: how many there are. Raises OSError when the disk is full."""

    def __init__(self, path: Path, record: str, captures: int) -> None:
        self._record = struct.Struct(record)
        self._captures = captures
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE)

    def put(self, number: int, *values: int) -> None:
        os.pwrite(self._descriptor, self._record.pack(*values), self._place(number))

    def get(self, number: int) -> tuple[int, ...]:
        data = os.pread(self._descriptor, self._record.size, self._place(number))
        return self._record.unpack(data.ljust(self._record.size, b"\0"))

    def _place(self, number: int) -> int:
        capture, packet = number >> SPLIT_SHIFT, number & (1 << SPLIT_SHIFT) - 1
        return (packet * self._captures + capture) * self._record.size

    def close(self) -> None:
        os.close(self._descriptor)
        self._path.unlink(missing_ok=True)


class ByteStore:
    """Bytes that are put one after the other, and found by their place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE), "r+b", buffering=1 << 20)
        self._is_flushed = True
        self.size = 0

    def put(self, data: bytes | memoryview) -> int:
        """Returns the place of the first byte."""
        place = self.size
        self._file.write(data)
        self._is_flushed = False
        self.size += len(data)
        return place

    def get(self, place: int, size: int) -> bytes:
        if not self._is_flushed:
            self._file.flush()
            self._is_flushed = True
        return os.pread(self._file.fileno(), size, place)

    def close(self) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)
