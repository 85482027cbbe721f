"""Two of the lab's captures as one, the second by other addresses and with another cluster id: what is found in each is found in
both together, and nothing of the one is put down to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from effort import also_long
from transform import Packet, borders, read_pcap, write_pcap

import analyzer
from lab.score import DATA

# The lab's addresses and its cluster, and as many bytes for those of another one: in headers, and in bodies.
_IN_HEADERS = (b"\x0a\x14", b"\x0a\x1e")
_IN_BODIES = ((b"10.20.", b"10.30."), (b"lab-lab-lab-lab-la", b"lab-lab-lab-lab-lb"))


def _elsewhere(packet: Packet) -> Packet:
    at = borders(packet)
    if at is None:
        return packet
    head, body = packet.data[: at.ip + 12], packet.data[at.payload :]
    addresses = b"".join(packet.data[place : place + 4].replace(*_IN_HEADERS) for place in (at.ip + 12, at.ip + 16))
    for here, there in _IN_BODIES:
        body = body.replace(here, there)
    return replace(packet, data=head + addresses + packet.data[at.ip + 20 : at.payload] + body)


def _time(packet: Packet) -> tuple[int, int]:
    return packet.seconds, packet.fraction


def _found(path: Path, header: bytes, packets: Sequence[Packet]) -> list[tuple[str, str, str]]:
    with analyzer.read(write_pcap(path, header, packets)) as capture:
        return [(each.name, each.severity, each.sentence.replace("10.30.", "10.20.")) for each in capture.findings]


@pytest.mark.parametrize(
    ("one", "other"),
    also_long(
        # An effect elsewhere; brokers that are compared; clients of one name.
        [("broker_killed", "isr_flaps"), ("disk_full", "log_dir_stalls_broker"), ("leaders_moved", "decommission")],
        [("broker_pauses", "wrong_password"), ("broker_stalled", "quota_one_client"), ("slow_consumer", "crash_loop")],
    ),
)
def test_what_is_said_of_each_is_what_is_said_of_it_alone(one: str, other: str, tmp_path: Path) -> None:
    (header, first), (same, second) = (read_pcap(DATA / f"{name}.pcap.zst") for name in (one, other))
    assert header == same
    # Moved by whole seconds to the time of the first; each as far as the shorter one goes.
    moved = second[0].seconds - first[0].seconds
    second = [replace(packet, seconds=packet.seconds - moved) for packet in second]
    end = min(_time(first[-1]), _time(second[-1]))
    alone, beside = ([each for each in packets if _time(each) <= end] for packets in (first, second))
    both = sorted([*alone, *map(_elsewhere, beside)], key=_time)
    apart = [*_found(tmp_path / "one.pcap", header, alone), *_found(tmp_path / "other.pcap", header, beside)]
    assert sorted(_found(tmp_path / "both.pcap", header, both)) == sorted(apart)
