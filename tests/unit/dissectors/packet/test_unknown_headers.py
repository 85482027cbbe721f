"""Packets behind headers without a function of their own: believed where they prove themselves, and only there."""

from __future__ import annotations

import struct
from random import Random

import pytest
from capture_tools import pcap_file, read_capture
from one_base import base
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPerror, TCPerror
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from dissectors import layout

SEGMENT = (
    IP(src="10.1.2.3", dst="192.0.2.9") / TCP(sport=40000, dport=9092, seq=5, flags="PA") / Raw(b"sixteen bytes ...")
)
SIX = IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP(sport=40000, dport=9092, seq=5, flags="PA") / Raw(b"0123456789")
UNKNOWN_LINK, UNKNOWN_TYPE = 250, 0x9999
OUTER = IP(src="172.16.0.1", dst="172.16.0.2")


def found(data: bytes | Packet, link: int) -> list[tuple[int, ...]]:
    return read_capture(pcap_file([bytes(data)], link)).segments


@pytest.mark.parametrize("packet", [SEGMENT, SIX], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("size", [0, 1, 17, 60, 95])
def test_a_header_of_any_size_is_passed_over(packet: Packet, size: int) -> None:
    head = b"\x99" * size
    for data, link in (
        (head + bytes(packet), UNKNOWN_LINK),
        (Ether(type=UNKNOWN_TYPE) / Raw(b"\0" + head[1:] + bytes(packet)), 1),
        (OUTER / UDP(sport=700, dport=701) / Raw(head + bytes(packet)), 101),
        (IP(proto=200) / Raw(head + bytes(packet)), 101),
        (head + bytes(packet) + bytes(16), UNKNOWN_LINK),
    ):
        (segment,) = found(data, link)
        assert segment[layout.SEGMENT_OFFSET] == bytes(packet)[-segment[layout.SEGMENT_LENGTH] :]


def test_what_is_not_proved_is_not_believed() -> None:
    whole = bytes(SEGMENT)
    wrong = whole[:8] + b"\x01" + whole[9:]  # its checksum is another packet's
    assert found(b"\x99" * 160 + whole, UNKNOWN_LINK) == []  # too far
    assert found(OUTER / UDP(sport=700, dport=701) / Raw(b"\x99" * 96 + whole), 101) == []
    assert found(whole + bytes(17), UNKNOWN_LINK) == []  # maybe one of several packets
    assert found(b"\x99" * 8 + wrong, UNKNOWN_LINK) == []
    assert found(Ether(type=UNKNOWN_TYPE) / Raw(whole), 1) == []  # a damaged type
    assert found(b"\x99" * 8 + bytes(IPv6() / UDP() / Raw(bytes(40))), UNKNOWN_LINK) == []


@pytest.mark.slow
def test_copies_of_packets_are_no_packets() -> None:
    """Errors quote what did not arrive, sFlow holds one packet of many."""
    quoted = OUTER / ICMP(type=3, code=1) / IPerror(bytes(SEGMENT)[:20]) / TCPerror(bytes(SEGMENT)[20:])
    assert found(quoted, 101) == []
    sample = OUTER / UDP(sport=50000, dport=6343) / Raw(b"\0\0\0\x05" * 8 + bytes(Ether() / SEGMENT))
    assert found(sample, 101) == []


@pytest.mark.slow
@pytest.mark.parametrize("link", [UNKNOWN_LINK, 1])
def test_random_bytes_are_no_packets(link: int) -> None:
    chance = Random(7)
    head = b"" if link != 1 else bytes(Ether(type=UNKNOWN_TYPE))
    some = [head + chance.randbytes(chance.choice((60, 200, 1_400))) for _ in range(20_000)]
    assert read_capture(pcap_file(some, link)).segments == []


def stt(frame: bytes, place: int, size: int, number: int, sport: int = 40_000) -> bytes:
    """A piece of a frame."""
    head = struct.pack(">HHHHIBBHHH", sport, 7471, len(frame), place, number, 0x50, 0x18, 0, 0, 0)
    return bytes(IP(src="172.16.0.1", dst="172.16.0.2", proto=6) / Raw(head + frame[place : place + size]))


def test_pieces_of_an_stt_frame_are_put_together() -> None:
    """As the network card cuts them, of any size; two frames at once, their pieces in any order behind the first."""
    big = [packet for packet in base() if len(packet.ip) > 600][:2]
    frames = [bytes(18) + packet.ethernet for packet in big]
    pieces = [
        [stt(frame, place, 211, number) for place in range(0, len(frame), 211)] for number, frame in enumerate(frames)
    ]
    mixed = pieces[0][:1] + pieces[1][:1] + pieces[1][:0:-1] + pieces[0][:0:-1]
    result = read_capture(pcap_file(mixed, 101))
    payloads = {segment[layout.SEGMENT_OFFSET] for segment in result.segments}
    assert payloads == {
        packet.ip[-len(payload) :] for packet in big for payload in payloads if packet.ip.endswith(payload)
    }
    assert len(payloads) == len(result.segments) == 2
    assert result.stage.outcomes()[layout.SEEN_TCP] == len(mixed)
    assert len(result.stage.fragments) == 0


def test_tcp_on_the_port_of_stt_is_tcp() -> None:
    """Sequence numbers that look like pieces of a frame, data that look like nothing."""
    chance = Random(3)
    some = [
        OUTER / TCP(sport=40_000, dport=7471, seq=200 << 16 | place, ack=9, flags="PA") / Raw(chance.randbytes(100))
        for place in (0, 100, 150, 0, 40_000)
    ]
    result = read_capture(pcap_file([bytes(packet) for packet in some], 101))
    assert result.stage.outcomes()[layout.SEEN_TCP] == len(result.segments) == len(some)
    assert {segment[layout.SEGMENT_DST_PORT] for segment in result.segments} == {7471}
