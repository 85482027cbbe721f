"""Writes a pcapng file: draft-ietf-opsawg-pcapng.

Every block is in the byte order of little-endian machines; one section. What is written into a block is the caller's, as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import BinaryIO

from dissectors.formats.capture_facts import Interface

SECTION, INTERFACE, ENHANCED_PACKET, SECRETS = 0x0A0D0D0A, 1, 6, 10
END_OF_OPTIONS, COMMENT = 0, 1
APPLICATION = 4
INTERFACE_NAME, RESOLUTION, TIME_OFFSET = 2, 9, 14
NS_PER_SECOND = 1_000_000_000
# Options have a length of 16 bits.
MOST_COMMENT_BYTES = 65_535
_PACKET, _SIZE = struct.Struct("<IIIIIII"), struct.Struct("<I")


class PcapngFile:
    """Writes blocks to `sink`, the section header first."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._interfaces = 0
        head = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
        self._block(SECTION, head + _options([(APPLICATION, b"kanalyze")]))

    def interface(self, link: int, like: Interface) -> int:
        """Adds an interface with the link type `link`, and name, snap length and clock of another; returns its number."""
        options = [(RESOLUTION, bytes([_resolution(like.ticks_per_second)]))]
        if like.name:
            options.insert(0, (INTERFACE_NAME, like.name.encode(errors="surrogateescape")))
        if like.offset_seconds:
            options.append((TIME_OFFSET, struct.pack("<q", like.offset_seconds)))
        self._block(INTERFACE, struct.pack("<HHI", link, 0, like.snaplen_bytes) + _options(options))
        self._interfaces += 1
        return self._interfaces - 1

    def secrets(self, kind: int, data: bytes) -> None:
        """Adds a decryption secrets block, which must precede the packets that need it."""
        self._block(SECRETS, struct.pack("<II", kind, len(data)) + _padded(data))

    def packet(self, interface: int, ticks: int, data: bytes, length: int, comment: str = "") -> None:
        """Adds a packet of `length` bytes on the wire; `data` was captured of it, at `ticks` of its interface's clock."""
        options = _options([(COMMENT, _cut(comment.encode()))]) if comment else b""
        captured = len(data)
        padding = -captured % 4
        size = 32 + captured + padding + len(options)
        high, low = ticks >> 32 & 0xFFFFFFFF, ticks & 0xFFFFFFFF
        head = _PACKET.pack(ENHANCED_PACKET, size, interface, high, low, captured, length)
        self._sink.write(b"".join((head, data, bytes(padding), options, _SIZE.pack(size))))

    def _block(self, kind: int, body: bytes) -> None:
        size = struct.pack("<I", 12 + len(body))
        self._sink.write(struct.pack("<I", kind) + size + body + size)


def ticks_of(time_ns: int, interface: Interface) -> int:
    """The ticks of an interface's clock that a reader takes for this time, ns since the epoch.

    A reader rounds down to ns, so the first tick that is not before the time has it, where a tick is 1 ns or longer.
    """
    return -(-(time_ns - interface.offset_seconds * NS_PER_SECOND) * interface.ticks_per_second // NS_PER_SECOND)


def _resolution(ticks_per_second: int) -> int:
    """The value of if_tsresol: a negative power of 10, or of 2 with the highest bit set."""
    for power in range(128):
        if 10**power == ticks_per_second:
            return power
    return 0x80 | (ticks_per_second.bit_length() - 1)


def _options(options: Iterable[tuple[int, bytes]]) -> bytes:
    found = b"".join(struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options)
    return found and found + struct.pack("<HH", END_OF_OPTIONS, 0)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _cut(comment: bytes) -> bytes:
    """At most as much as an option holds, and no half character."""
    return comment[:MOST_COMMENT_BYTES].decode(errors="ignore").encode()
