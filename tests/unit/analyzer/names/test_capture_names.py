"""Names that a capture holds: replies of DNS, by dpkt and by dnsmasq, and comments as ptcpdump writes them."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import dpkt
import pytest
from dns_messages import dns_reply, udp

from analyzer.names.dns_replies import reply
from analyzer.names.name_files import Name, NamesError
from analyzer.names.name_table import read
from lab.score import DATA

SECOND_NS = 1_000_000_000
INBOUND, OUTBOUND = 1, 2


def pcap(path: Path, packets: list[tuple[int, bytes]]) -> Path:
    """A capture of packets at these seconds."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
    records = (struct.pack("<IIII", at, 0, len(data), len(data)) + data for at, data in packets)
    path.write_bytes(head + b"".join(records))
    return path


def test_real_replies_name_brokers_as_they_are_called() -> None:
    """One name has all brokers' addresses: each broker's own counts before it."""
    truth = read([DATA / "names_by_dns.names.tsv"]).rows
    assert set(read([DATA / "names_by_dns.pcap.zst"]).rows) == set(truth)
    assert len(truth) == 2


def test_a_name_has_an_address_until_replies_leave_it_out(tmp_path: Path) -> None:
    moved = [(10, ["10.1.0.1"]), (20, ["10.1.0.1", "10.1.0.2"]), (30, ["10.1.0.2"]), (40, ["10.1.0.2"])]
    packets = [(at, udp(dns_reply("kafka.shop", addresses))) for at, addresses in moved]
    packets.append((35, udp(dns_reply("other.shop", ["10.1.0.1"], alias="o.cloud"))))
    assert set(read([pcap(tmp_path / "a.pcap", packets)]).rows) == {
        Name("10.1.0.1", None, 30 * SECOND_NS, host="kafka.shop"),
        Name("10.1.0.1", 30 * SECOND_NS, None, host="other.shop"),
        Name("10.1.0.2", 20 * SECOND_NS, None, host="kafka.shop"),
    }


@pytest.mark.parametrize(
    "message",
    [
        dns_reply("kafka", ["10.1.0.1"])[:-1],
        dns_reply("kafka", ["10.1.0.1"], rcode=3),
        dns_reply("kafka", []),
        dns_reply("kafka", ["10.1.0.1"])[:2] + b"\x00\x00" + dns_reply("kafka", ["10.1.0.1"])[4:],
        b"\x00\x07\x84\x00\x00\x01\x00\x01\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01",
    ],
)
def test_what_is_no_whole_reply_names_nobody(message: bytes) -> None:
    assert reply(message) is None


def test_replies_of_ipv6_and_bytes_of_any_sort() -> None:
    told = reply(dns_reply("Kafka.Shop", ["fd00::1"], kind=dpkt.dns.DNS_AAAA))
    assert told == ("kafka.shop", True, ("fd00::1",))
    chance = random.Random(53)
    whole = dns_reply("kafka.shop", ["10.1.0.1", "10.1.0.2"])
    for _ in range(3_000):
        message = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            message[chance.randrange(len(message))] = chance.randrange(256)
        reply(bytes(message[: chance.randrange(len(message) + 1)]))


def test_records_that_look_like_replies_are_none(tmp_path: Path) -> None:
    """What TCP carries is not searched, nor what comes from another port."""
    frame = udp(dns_reply("evil", ["10.1.0.1"]))
    segment = dpkt.tcp.TCP(sport=53, dport=9092, data=frame[14:])
    packet = dpkt.ip.IP(src=b"\x0a\0\0\1", dst=b"\x0a\0\0\2", p=6, data=segment)
    packet.len = len(packet)
    packets = [(1, bytes(dpkt.ethernet.Ethernet(data=packet))), (2, udp(dns_reply("odd", ["10.1.0.1"]), port=5353))]
    with pytest.raises(NamesError, match="holds no address with a name"):
        read([pcap(tmp_path / "a.pcap", packets)])


def pcapng(path: Path, packets: list[tuple[bytes, int, list[str]]], order: str) -> Path:
    """A capture of frames with a direction and comments, in a byte order."""

    def block(kind: int, body: bytes) -> bytes:
        size = struct.pack(f"{order}I", 12 + len(body))
        return struct.pack(f"{order}I", kind) + size + body + size

    def option(code: int, value: bytes) -> bytes:
        return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)

    blocks = [block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))]
    blocks.append(block(1, struct.pack(f"{order}HHI", 1, 0, 0)))
    for data, direction, comments in packets:
        options = b"".join(option(1, each.encode()) for each in comments)
        options += option(2, struct.pack(f"{order}I", direction)) + option(0, b"")
        head = struct.pack(f"{order}IIIII", 0, 0, 7, len(data), len(data))
        blocks.append(block(6, head + data + bytes(-len(data) % 4) + options))
    path.write_bytes(b"".join(blocks))
    return path


POD = "PodName: {}\nPodNamespace: shop\nPodUID: 1\nPodLabels: {{}}\nPodAnnotations: {{}}"
PROCESS = "PID: 99\nCmd: /usr/bin/{}\nArgs: {} -v"


@pytest.mark.parametrize("order", ["<", ">"])
def test_comments_of_ptcpdump_name_the_end_that_is_theirs(tmp_path: Path, order: str) -> None:
    def packet(source: str, target: str) -> bytes:
        return udp(b"any", source, target, port=9092)

    packets = [
        # A pod with several others: the address that is always there, whatever the direction says.
        (packet("10.0.0.1", "10.0.0.8"), INBOUND, [PROCESS.format("java", "java"), POD.format("shop-1")]),
        (packet("10.0.0.9", "10.0.0.1"), OUTBOUND, [PROCESS.format("java", "java"), POD.format("shop-1")]),
        # Always the same two: the direction.
        (packet("10.0.0.2", "10.0.0.8"), OUTBOUND, [PROCESS.format("curl", "curl")]),
        (packet("10.0.0.8", "10.0.0.2"), INBOUND, [PROCESS.format("curl", "curl")]),
        # A container of a host, and two processes of another one.
        (packet("10.0.0.3", "10.0.0.8"), OUTBOUND, [PROCESS.format("sh", "sh"), "ContainerName: web\nContainerId: 1"]),
        (packet("10.0.0.4", "10.0.0.8"), OUTBOUND, [PROCESS.format("one", "one")]),
        (packet("10.0.0.4", "10.0.0.8"), OUTBOUND, [PROCESS.format("two", "two")]),
        (packet("127.0.0.1", "127.0.0.1"), OUTBOUND, [PROCESS.format("here", "here")]),
    ]
    assert set(read([pcapng(tmp_path / "a.pcapng", packets, order)]).rows) == {
        Name("10.0.0.1", pod="shop-1", namespace="shop"),
        Name("10.0.0.2", host="curl"),
        Name("10.0.0.3", host="web"),
    }


def test_damaged_captures_get_one_line_or_names(tmp_path: Path) -> None:
    packets = [(udp(dns_reply("kafka", ["10.1.0.1"])), INBOUND, [POD.format("shop-1")])] * 20
    whole = pcapng(tmp_path / "whole.pcapng", packets, "<").read_bytes()
    chance = random.Random(57)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 9)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path = tmp_path / "damaged.pcapng"
        path.write_bytes(data[: chance.randrange(len(data))])
        try:
            read([path])
        except NamesError as error:
            assert "\n" not in str(error)
