"""Options of the TCP header against dpkt, and lists of them that lie about their lengths."""

from __future__ import annotations

import random
import struct

import dpkt
import pytest
from capture_tools import pcap_file, read_capture

from dissectors import layout


def packet(options: bytes) -> bytes:
    """An Ethernet packet with a TCP SYN that has these options, filled up to whole words with zero bytes."""
    options += bytes(-len(options) % 4)
    tcp = dpkt.tcp.TCP(sport=40_000, dport=9092, flags=2, off=5 + len(options) // 4, data=b"")
    tcp.opts = options
    ip = dpkt.ip.IP(src=b"\x0a\x00\x00\x01", dst=b"\x0a\x00\x00\x02", p=6, data=tcp)
    ip.len = 20 + len(bytes(tcp))
    return bytes(dpkt.ethernet.Ethernet(src=b"\x02" * 6, dst=b"\x04" * 6, type=0x0800, data=ip))


def read(*many: bytes) -> list[tuple[int, int]]:
    found = read_capture(pcap_file([packet(options) for options in many]))
    return [(row[layout.SEGMENT_TSVAL], row[layout.SEGMENT_OPTIONS]) for row in found.segments]


def by_dpkt(options: bytes) -> tuple[int, int]:
    stamp, found = layout.UNKNOWN, 0
    for kind, value in dpkt.tcp.parse_opts(options):
        if kind == dpkt.tcp.TCP_OPT_TIMESTAMP:
            stamp = struct.unpack(">I", value[:4])[0]
        elif kind == dpkt.tcp.TCP_OPT_SACK:
            found |= layout.OPTION_SACK
        elif kind == dpkt.tcp.TCP_OPT_MSS:
            found = found & 0xFFFF | struct.unpack(">H", value)[0] << 16
        elif kind == dpkt.tcp.TCP_OPT_WSCALE:
            found |= 1 + value[0] << 8
    return stamp, found


PIECES = {
    "nothing": b"\x01",
    "stamp": b"\x08\x0a" + struct.pack(">II", 0xFFFFFFF0, 7),
    "mss": b"\x02\x04\x05\xb4",
    "scale": b"\x03\x03\x07",
    "allowed": b"\x04\x02",
    "blocks": b"\x05\x0a" + bytes(range(8)),
    "unknown": b"\xfd\x04\x01\x02",
}


@pytest.mark.parametrize("seed", range(30))
def test_as_dpkt_reads_them(seed: int) -> None:
    chance = random.Random(seed)
    options = b""
    for name in chance.sample(sorted(PIECES), len(PIECES)):
        if len(options) + len(PIECES[name]) <= 40 and chance.random() < 0.7:
            options += PIECES[name]
    assert read(options) == [by_dpkt(options)]


def test_what_nearly_all_segments_have() -> None:
    assert read(b"\x01\x01" + PIECES["stamp"], b"") == [(0xFFFFFFF0, 0), (layout.UNKNOWN, 0)]


def test_lengths_that_lie_end_the_list() -> None:
    lies = (b"\x08\x00" + bytes(8), b"\x08\x01", b"\x08\xff", b"\x08", b"\x02\x28", PIECES["mss"] + b"\x08\x0b\x00\x00")
    found = read(*lies)
    assert [stamp for stamp, _ in found] == [layout.UNKNOWN] * len(lies)
    assert found[-1][1] == 0x05B4 << 16


def test_any_bytes_are_read_or_left() -> None:
    chance = random.Random(5)
    assert len(read(*(chance.randbytes(chance.randint(1, 40)) for _ in range(500)))) == 500
