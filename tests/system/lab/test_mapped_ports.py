"""The lab's listeners as if somebody translated their ports (containers, nodes of Kubernetes): clients ask at other ports than
brokers advertise, and that they get no further is told all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from transform import Packet, borders, read_pcap, write_pcap

import analyzer
from lab.score import DATA

# The port of the second listener, whose address is wrong, and where its clients come instead.
_ADVERTISED, _MAPPED = 9094, 31_094


def _mapped(packets: list[Packet]) -> Iterator[Packet]:
    """In the headers alone."""
    here, there = (port.to_bytes(2, "big") for port in (_ADVERTISED, _MAPPED))
    for packet in packets:
        if (at := borders(packet)) is not None:
            ends = packet.data[at.tcp : at.tcp + 2], packet.data[at.tcp + 2 : at.tcp + 4]
            ports = b"".join(there if end == here else end for end in ends)
            packet = replace(packet, data=packet.data[: at.tcp] + ports + packet.data[at.tcp + 4 :])
        yield packet


@pytest.mark.parametrize(
    ("name", "rule", "address"),
    [
        ("advertised_no_name", "advertised_unreachable", "kafka-1.internal.example:9094"),
        ("advertised_no_name_producers", "advertised_no_name", "kafka:9094"),
    ],
)
def test_an_address_that_leads_nowhere_is_told(name: str, rule: str, address: str, tmp_path: Path) -> None:
    header, packets = read_pcap(DATA / f"{name}.pcap.zst")
    with analyzer.read(write_pcap(tmp_path / f"{name}.pcap", header, _mapped(packets))) as capture:
        first = capture.findings[0]
    assert first.name == rule
    assert f"gets the advertised address {address}" in first.sentence and f":{_MAPPED}" in first.sentence
