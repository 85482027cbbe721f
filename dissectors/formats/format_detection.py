"""Tells the format of a capture file by its first bytes and makes the reader for it."""

from __future__ import annotations

from dissectors.errors import Malformed
from dissectors.formats.pcap import MAGICS, PcapReader
from dissectors.formats.pcapng import SECTION_MAGIC, PcapngReader

# Bytes that `open_reader` needs: a pcapng section header without options, which is longer than a pcap file header.
HEAD_BYTES = 28
# So many of them say whether it is a capture.
MAGIC_BYTES = 4
# So many show what a file is that is none, a tar archive too.
TELLING_BYTES = 512
REQUEST_LOG = "a broker's log of requests"

Reader = PcapReader | PcapngReader

_OTHER_FORMATS = (
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x04\x22\x4d\x18", "lz4 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"BZh", "bzip2 data"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"snoop\x00\x00\x00", "a snoop capture"),
    (b"\x54\x52\x00\x64\x00", "a packet trace of NetScaler"),
    (b"RTSS", "a Microsoft Network Monitor 1 capture"),
    (b"GMBU", "a Microsoft Network Monitor 2 capture"),
    (b"TRSNIFF data", "a Sniffer capture"),
    (b"XCP\x00", "a NetXRay capture"),
    (b"ElfFile\x00", "a Windows event log"),
    (b"\x7fELF", "a program"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "a database"),
    (b"%PDF", "a PDF document"),
)

# The years 2000 and 2100, seconds since 1970.
_ERF_FIRST_S, _ERF_LAST_S = 946_684_800, 4_102_444_800


def open_reader(head: bytes) -> Reader:
    """The reader for a file that starts with `head`: HEAD_BYTES bytes, or all of a shorter file.

    The reader must be fed the file from its first byte on. Raises `Malformed` when this is no pcap or pcapng file; its `got`
    says in a few words what it is instead.
    """
    if not is_capture(head):
        raise Malformed("capture", 0, "a pcap or pcapng file", describe(head))
    return PcapngReader(head) if head[:4] == SECTION_MAGIC else PcapReader(head)


def is_capture(head: bytes) -> bool:
    """Whether the first four bytes are those of a pcap or pcapng file."""
    return head[:4] == SECTION_MAGIC or head[:4] in MAGICS


def is_request_log(head: bytes) -> bool:
    """Whether a file that starts with `head` has a line of a broker's kafka.request.logger."""
    return b"Completed request:" in head or (b'"requestHeader":' in head and head.lstrip()[:1] == b"{")


def describe(head: bytes) -> str:
    """A few words that say what a file is that is no pcap or pcapng file."""
    if not head:
        return "an empty file"
    for magic, name in _OTHER_FORMATS:
        if head.startswith(magic):
            return name
    if is_request_log(head):
        return REQUEST_LOG
    if head[257:262] == b"ustar":
        return "a tar archive"
    lowered = head.lstrip().lower()
    if lowered.startswith((b"<!doctype html", b"<html")):
        return "an HTML page"
    if not any(head):
        return "zero bytes"
    if _looks_like_text(head):
        return "text"
    if _looks_like_erf(head):
        return "an ERF capture"
    return f"unknown data starting with {head[:4].hex(' ')}"


def _looks_like_text(head: bytes) -> bool:
    return all(byte >= 32 or byte in b"\t\n\r\f\x1b" for byte in head) and 0x7F not in head


def _looks_like_erf(head: bytes) -> bool:
    """Endace's format has no magic: a record's time, type, length and wire length must fit together (Endace EDM04-01).

    Records are padded to 8 bytes. The time of Wireshark's own metadata is 0. Of random bytes some one in a hundred looks like it.
    """
    if len(head) < 16:
        return False
    seconds = int.from_bytes(head[4:8], "little")
    kind, record_bytes, wire_bytes = head[8] & 0x7F, int.from_bytes(head[10:12]), int.from_bytes(head[14:16])
    return (
        (seconds == 0 or _ERF_FIRST_S <= seconds <= _ERF_LAST_S)
        and 1 <= kind <= 48
        and record_bytes % 8 == 0
        and 16 <= record_bytes <= wire_bytes + 64
        and wire_bytes > 0
    )
