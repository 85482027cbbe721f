"""Kafka behind PROXY headers, SOCKS and HTTP CONNECT: the rows are those of the same conversation without them."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from capture_tools import tshark
from effort import in_turn
from made_capture import ACK, FIN, PSH, RST, START_US, Conversation, merged, pcap
from opening_bytes import EXCHANGES, FOR, FOR_6, OPENINGS, TARGET, conversation, version_1, version_2
from transform import Packet, borders, read_pcap, write_pcap

import analyzer


def rows(path: Path, **options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Exchanges without what follows from times and packet numbers, and the connection."""
    with analyzer.read(path, **options) as read:
        exchanges = read.sql(
            "select api_name, api_version, correlation_id, status, client_id, request_bytes, response_bytes, "
            "request_decoded, response_decoded from exchanges order by correlation_id"
        ).to_pylist()
        (connection,) = read.connections.to_pylist()
    return exchanges, connection


@lru_cache(None)
def without_opening(packets_lost: int, ports: tuple[int, ...]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of the same conversation that begins with Kafka, without its first packets."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.pcap"
        plain.write_bytes(pcap(conversation([], "segments").packets[packets_lost:]))
        return rows(plain, ports=ports)


@pytest.mark.parametrize(
    ("name", "how", "ports"), in_turn(OPENINGS, ["segments", "joined", "bytes"], [(), (9092,)], every=4)
)
def test_rows_are_those_without_the_opening(name: str, how: str, ports: tuple[int, ...], tmp_path: Path) -> None:
    said, opening, proxied_for = OPENINGS[name]
    with_opening = tmp_path / "opening.pcap"
    with_opening.write_bytes(pcap(conversation(said, how).packets))
    expected, usual = without_opening(0, ports)
    found, connection = rows(with_opening, ports=ports)
    assert len(expected) == EXCHANGES and found == expected
    assert (connection["opening"], connection["proxied_for"]) == (opening, proxied_for)
    assert (usual["opening"], usual["proxied_for"]) == (None, None)
    for side, who in enumerate(("client", "broker")):
        size = sum(len(data) for sender, data in said if sender == side)
        assert connection[f"{who}_framed_bytes"] == usual[f"{who}_framed_bytes"]
        assert connection[f"{who}_skipped_foreign_bytes"] == size
        assert connection[f"{who}_stream_bytes"] == usual[f"{who}_stream_bytes"] + size


@pytest.mark.parametrize(
    ("name", "packets_lost", "how"),
    in_turn(
        [name for name, (said, _, _) in OPENINGS.items() if len(said) == 1],
        [1, 2, 3],
        ["segments", "joined", "bytes"],
        every=5,
    ),
)
def test_a_proxy_header_is_read_without_a_handshake(name: str, packets_lost: int, how: str, tmp_path: Path) -> None:
    """The capture began after the SYN; with the SYN alone lost, the broker has sent the first packet."""
    said, opening, proxied_for = OPENINGS[name]
    late = tmp_path / "late.pcap"
    late.write_bytes(pcap(conversation(said, how).packets[packets_lost:]))
    expected, _ = without_opening(packets_lost, ())
    found, connection = rows(late)
    assert len(expected) == EXCHANGES and found == expected
    assert (connection["opening"], connection["proxied_for"]) == (opening, proxied_for)
    assert connection["client_skipped_foreign_bytes"] == sum(len(data) for _, data in said)


def test_an_opening_that_ends_nowhere_loses_nothing(tmp_path: Path) -> None:
    """A header of which only the start comes, and nothing else: its bytes are counted."""
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(Conversation().shake().put(0, PSH | ACK, version_1(FOR, TARGET)[:20]).close().packets))
    with analyzer.read(path) as read:
        (connection,) = read.connections.to_pylist()
    assert connection["client_stream_bytes"] == 20 and connection["opening"] is None
    assert connection["is_kafka"] is not True


CHECKS = {
    name: said for name, (said, opening, _) in OPENINGS.items() if name != "proxy 1 and socks 5" and "proxy" in opening
}


@pytest.mark.parametrize(
    ("name", "end"), in_turn(CHECKS, ["client fin", "client rst", "broker fin", "broker rst", "none"], every=3)
)
def test_a_header_without_traffic_behind_it_is_a_health_check(name: str, end: str, tmp_path: Path) -> None:
    """Beside a client that is served at the same port, through the same balancer."""
    who, how = ("client", "none") if end == "none" else end.split()
    checks = []
    for number in range(7):
        check = Conversation(port=41_000 + number, start_us=START_US + 2_000 * number).shake()
        for side, data in CHECKS[name]:
            check.put(side, PSH | ACK, data)
        if end != "none":
            side = ("client", "broker").index(who)
            check.put(side, (FIN if how == "fin" else RST) | ACK)
            if how == "fin":
                check.put(1 - side, FIN | ACK).put(side, ACK)
        checks.append(check)
    path = tmp_path / "checks.pcap"
    path.write_bytes(pcap(merged([conversation(CHECKS[name], "segments"), *checks])))
    with analyzer.read(path) as read:
        (coverage,) = read.metric("coverage").to_pylist()
        assert (coverage["kafka_connections"], coverage["health_checks"], coverage["silent_connections"]) == (1, 7, 0)
        assert coverage["skipped_foreign_bytes"] == 0 and coverage["framed_bytes"] == coverage["kafka_bytes"]
        (row,) = read.metric("empty_connections").to_pylist()
        assert (row["connections"], row["opening"], row["close"]) == (7, OPENINGS[name][1], how)
        assert row["closed_by"] == (None if end == "none" else who)
        assert read.metric("foreign_connections").to_pylist() == []
        assert [finding.name for finding in read.findings] == []


@pytest.mark.parametrize("source", [FOR, FOR_6])
@pytest.mark.parametrize("version", [version_1, version_2])
def test_tshark_reads_the_same_address(source: str, version: Any, tmp_path: Path) -> None:
    target = TARGET if ip_address(source).version == 4 else "2001:db8::1"
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap(conversation([(0, version(source, target))], "segments").packets))
    fields = ["proxy.src.ipv4", "proxy.src.ipv6"]
    told = {
        value for row in tshark(path, fields, "-o", "tcp.try_heuristic_first:TRUE") for value in row.values() if value
    }
    assert told == {rows(path)[1]["proxied_for"]}


@pytest.mark.parametrize("name", ["tls12", "tls13"])
@pytest.mark.parametrize("header", [version_1(FOR, TARGET), version_2(FOR, TARGET)])
def test_tls_behind_a_proxy_header_is_decrypted(name: str, header: bytes, shared: Path, tmp_path: Path) -> None:
    lab = shared / "captures" / "lab"
    first, packets = read_pcap(lab / f"{name}.pcap")
    path = write_pcap(tmp_path / "proxied.pcap", first, with_header(packets, header))
    question = (
        "select client_port, api_name, api_version, correlation_id, status, request_bytes, response_bytes "
        "from exchanges order by all"
    )
    found = []
    for capture in (lab / f"{name}.pcap", path):
        with analyzer.read(capture, tls_key_logs=(lab / f"{name}.keylog",)) as read:
            found.append(read.sql(question).to_pylist())
            connections = read.sql("select distinct proxied_for from connections where tls_decrypted").to_pylist()
    assert len(found[0]) > 10 and found[0] == found[1]
    assert connections == [{"proxied_for": FOR}]


def with_header(packets: Iterable[Packet], header: bytes) -> Iterable[Packet]:
    """Each connection begins with `header` in a segment of its own; sequence numbers behind it move on."""
    clients: set[tuple[bytes, bytes]] = set()
    begun: set[tuple[bytes, bytes]] = set()
    for packet in packets:
        place = borders(packet)
        if place is None:
            yield packet
            continue
        data = bytearray(packet.data)
        ends = bytes(data[place.ip + 12 : place.ip + 16]) + bytes(data[place.tcp : place.tcp + 2])
        peer = bytes(data[place.ip + 16 : place.ip + 20]) + bytes(data[place.tcp + 2 : place.tcp + 4])
        syn, ack = data[place.tcp + 13] & 2, data[place.tcp + 13] & 16
        if syn and not ack:
            clients.add((ends, peer))
        elif (ends, peer) in clients:
            if (ends, peer) not in begun and len(data) > place.payload:
                begun.add((ends, peer))
                yield header_packet(packet, place, header)
            if (ends, peer) in begun:
                _add(data, place.tcp + 4, len(header))
        elif (peer, ends) in begun:
            _add(data, place.tcp + 8, len(header))
        yield Packet(packet.seconds, packet.fraction, packet.wire_bytes, bytes(data))


def _add(data: bytearray, at: int, count: int) -> None:
    data[at : at + 4] = struct.pack(">I", (struct.unpack_from(">I", data, at)[0] + count) & 0xFFFFFFFF)


def header_packet(packet: Packet, place: Any, header: bytes) -> Packet:
    data = bytearray(packet.data[: place.payload]) + header
    data[place.ip + 2 : place.ip + 4] = struct.pack(">H", len(data) - place.ip)
    return Packet(packet.seconds, packet.fraction, len(data), bytes(data))
