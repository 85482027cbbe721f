"""The lab's brokers as if all ran on one machine, each at a port of its own: what happened to one of them is told of that port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from effort import also_long
from transform import Packet, borders, read_pcap, write_pcap

import analyzer
from lab.score import DATA

_HOST = IPv4Address("10.20.0.11")
_PORT = 9092
# Ports that the lab's brokers listen at lie below those that their clients have.
_LEAST_OF_CLIENTS = 20_000


def _on_one_host(packets: Sequence[Packet]) -> list[Packet]:
    """Broker 10.20.0.1x, at port p, is 10.20.0.11 at port p + 100 (x - 1): in headers, and wherever a body names both."""
    moved = {_HOST + place: 100 * place for place in range(5)}
    named = [
        (str(address).encode() + port.to_bytes(size, "big"), str(_HOST).encode() + (port + by).to_bytes(size, "big"))
        for address, by in moved.items()
        for port in (_PORT, _PORT + 1)
        for size in (2, 4)
    ]
    return [_moved(packet, moved, named) for packet in packets]


def _moved(packet: Packet, moved: dict[IPv4Address, int], named: Sequence[tuple[bytes, bytes]]) -> Packet:
    at = borders(packet)
    if at is None:
        return packet
    data = bytearray(packet.data)
    for address, port in ((at.ip + 12, at.tcp), (at.ip + 16, at.tcp + 2)):
        by = moved.get(IPv4Address(bytes(data[address : address + 4])))
        if by is not None:
            number = int.from_bytes(data[port : port + 2], "big")
            number = number + by if number < _LEAST_OF_CLIENTS else _LEAST_OF_CLIENTS + (number + 37 * by) % 45_000
            data[address : address + 4], data[port : port + 2] = _HOST.packed, number.to_bytes(2, "big")
    body = bytes(data[at.payload :])
    for there, here in named:
        body = body.replace(there, here)
    return replace(packet, data=bytes(data[: at.payload]) + body)


@pytest.mark.parametrize(
    ("name", "rule", "port", "others"),
    also_long(
        [
            ("broker_stalled", "broker_stalled", 9192, ()),
            # Not that the broker left that copies from others from the same address, nor that the dead one is back there.
            ("disk_full", "broker_gone", 9192, ()),
            ("coordinator_lost", "broker_gone", 9192, ()),
        ],
        [("broker_killed", "broker_gone", 9192, ()), ("log_dir_stalls", "slow_broker", 9192, ("head_of_line",))],
    ),
)
def test_what_happened_is_told_of_the_port(
    name: str, rule: str, port: int, others: Sequence[str], tmp_path: Path
) -> None:
    header, packets = read_pcap(DATA / f"{name}.pcap.zst")
    with analyzer.read(write_pcap(tmp_path / f"{name}.pcap", header, _on_one_host(packets))) as capture:
        found = list(capture.findings)
    assert found[0].name == rule and f"{_HOST}:{port}" in found[0].sentence
    assert "came back" not in found[0].sentence
    assert {each.name for each in found[1:]} == set(others), [each.sentence for each in found]
