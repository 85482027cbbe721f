"""Packets on their way: headers are written at once, payloads when the message that they belong to was read.

A spool is a temporary file of packets in the order in which they will be written, payloads as zeros. Redacted bytes are written
over these zeros, and nothing else is: a byte of a payload that nobody has understood stays zero.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

# Pieces of a payload that lies in several packets: (bytes before it, bytes, place).
Pieces = Sequence[tuple[int, int, int]]

_HEAD = struct.Struct("<IIQIIiiiIB")
_MODE = 0o600
_BUFFER_BYTES = 1 << 20


class Spooled(NamedTuple):
    """A packet: its interface and clock's ticks, its bytes, and where its IP and TCP headers are (-1: none)."""

    file: int
    interface: int
    ticks: int
    length: int
    ip: int
    tcp: int
    end: int
    sent: int  # bytes of the TCP segment on the wire, header included
    checksum: int
    data: bytearray


class Spool:
    """The file. First all packets are added, then payloads are written, then packets are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE)
        self._file = os.fdopen(opened, "r+b", buffering=_BUFFER_BYTES)
        self._descriptor = self._file.fileno()
        self._at = 0

    def add(self, packet: Spooled) -> int:
        """Returns the place of its first byte."""
        head = _HEAD.pack(
            *packet[:4], len(packet.data), packet.ip, packet.tcp, packet.end, packet.sent, packet.checksum
        )
        self._file.write(head)
        self._file.write(packet.data)
        place = self._at + _HEAD.size
        self._at = place + len(packet.data)
        return place

    def complete(self) -> None:
        """All packets are there, or all so far."""
        self._file.flush()

    def write(self, place: int, data: bytes | bytearray | memoryview) -> None:
        os.pwrite(self._descriptor, data, place)

    def read(self, place: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, place)

    def packets(self) -> Iterator[Spooled]:
        """All packets, as they are now."""
        self._file.seek(0)
        while head := self._file.read(_HEAD.size):
            file, interface, ticks, length, size, ip, tcp, end, sent, checksum = _HEAD.unpack(head)
            data = bytearray(self._file.read(size))
            yield Spooled(file, interface, ticks, length, ip, tcp, end, sent, checksum, data)

    def close(self) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)


class Places:
    """Where the payload of each packet of captures is in the spool: a file, since there may be billions of packets.

    Captures are begun in the order of their numbers, from 0; packets are known by their numbers in the capture.
    """

    _BLOCK = 1 << 16

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE), "r+b", buffering=0)
        self._first: list[int] = []  # of each capture, the entry that packet 0 would have
        self._end = 0
        self._block = -1
        self._held = bytearray()
        self._changed = False

    def begin(self) -> None:
        """Packets of the next capture follow."""
        self._first.append(self._end)

    def set(self, number: int, place: int) -> None:
        """The payload of a packet of the newest capture begins at `place`."""
        entry = self._first[-1] + number
        self._end = max(self._end, entry + 1)
        at = self._turn(entry)
        struct.pack_into("<q", self._held, at, place)
        self._changed = True

    def get(self, file: int, number: int) -> int:
        """The place of a packet's payload; 0 where it has none."""
        entry = self._first[file] + number
        if entry >= self._end:
            return 0
        at = self._turn(entry)
        found: int = struct.unpack_from("<q", self._held, at)[0]
        return found

    def _turn(self, entry: int) -> int:
        block, at = divmod(8 * entry, self._BLOCK)
        if block != self._block:
            if self._changed:
                os.pwrite(self._file.fileno(), self._held, self._block * self._BLOCK)
                self._changed = False
            self._held = bytearray(
                os.pread(self._file.fileno(), self._BLOCK, block * self._BLOCK).ljust(self._BLOCK, b"\0")
            )
            self._block = block
        return at

    def close(self) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)
