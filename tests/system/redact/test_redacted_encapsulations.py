"""Kafka in tunnels, in fragments and behind further headers: redacted it tells the same but for names."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from effort import one_in
from encapsulations import LINKS, TUNNELS, Encapsulation, ah, esp, gre
from nested_encapsulations import FURTHER
from one_base import Base, base, write
from rare_encapsulations import RARE
from same_but_names import differences

from analyzer.base.options import Options
from analyzer.cli.main import main

PACKETS = 60
TABLE = [*TUNNELS, *LINKS, *RARE, *FURTHER]
# Each sort of way through: headers that are rewritten, an IP packet that is taken out, one that is made anew.
SOME = [row for row in TABLE if row.name in ("vxlan, pppoe inside", "ah", "ipv6, six headers")]
ROWS = SOME if one_in(2) > 1 else TABLE


def tells_the_same(path: Path, row: Encapsulation | None = None) -> bool:
    out = path.with_suffix(".out.pcapng")
    names = [
        word
        for port, tunnel in (row.decode_as if row else ())
        for word in ("--decode-as", f"udp.port=={port},{tunnel}")
    ]
    assert main(["redact", str(path), "-o", str(out), "--verify", *names]) == 0
    return differences(path, out, Options(decode_as=row.decode_as if row else ())) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_in_any_encapsulation(row: Encapsulation, tmp_path: Path) -> None:
    packets = base(row.six)[:PACKETS]
    path = write(tmp_path / "a.pcap", map(row.wrap, packets), (packet.time for packet in packets), row.link)
    assert tells_the_same(path, row)


def fragments(packet: bytes, most: int) -> Iterator[bytes]:
    """An IPv4 packet behind Ethernet in fragments (RFC 791), each with its own checksum of zero: left to the card."""
    head, data = packet[:34], packet[34:]
    for at in range(0, len(data), most):
        part = data[at : at + most]
        more = 0x2000 if at + most < len(data) else 0
        ip = head[14:16] + struct.pack(">H", 20 + len(part)) + head[18:20] + struct.pack(">H", more | at // 8)
        yield head[:14] + ip + head[22:24] + bytes(2) + head[26:34] + part


@pytest.mark.parametrize("wrap", [lambda packet: packet.ethernet, gre(0x0800)], ids=["plain", "gre"])
def test_in_fragments_of_ip(wrap: object, tmp_path: Path) -> None:
    """Headers of the tunnel and of what it carries lie in the first fragment, the message in all of them; ids come again."""
    assert callable(wrap)
    frames, times = [], []
    for number, packet in enumerate(base()[:PACKETS]):
        frame = bytearray(wrap(packet))
        frame[18:20] = (number % 40).to_bytes(2, "big")
        for piece in fragments(bytes(frame), 64):
            frames.append(piece)
            times.append(packet.time + number * 40_000_000_000)
    assert tells_the_same(write(tmp_path / "a.pcap", frames, times, 1))


def test_where_the_carrier_ends_before_the_packet(tmp_path: Path) -> None:
    """PPPoE and ESP say where a packet ends; IP behind it counts the padding of Ethernet too, which is no payload."""

    def padded(packet: Base) -> bytes:
        ip = bytearray(packet.ip)
        ip[2:4] = (len(ip) + 6).to_bytes(2, "big")
        session = struct.pack(">BBHHH", 0x11, 0, 33, 2 + len(ip), 0x21)
        return packet.ethernet[:12] + b"\x88\x64" + session + bytes(ip) + b"secret"

    packets = base()[:PACKETS]
    for wrap in (padded, esp(12), ah()):
        assert tells_the_same(write(tmp_path / "a.pcap", map(wrap, packets), (packet.time for packet in packets), 1))
        (tmp_path / "a.out.pcapng").unlink()
