"""What the lab's captures would say had they been taken worse: begun late, cut short, with packets missing, cut or twice, of one
side alone, by a clock of milliseconds.

A healthy day stays one, however it was captured; an incident that lasts is told from what there is of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from effort import also_long, one_in
from transform import Packet, direction, doubled, read_pcap, write_pcap

from lab.score import DATA, judge, truths

_TRUTHS = truths()
_HEALTHY = [name for name, truth in _TRUTHS.items() if truth["kind"] == "healthy"]


def _begun_late(packets: Sequence[Packet]) -> Sequence[Packet]:
    return packets[len(packets) // 5 :]


def _cut_short(packets: Sequence[Packet]) -> Sequence[Packet]:
    return packets[: 3 * len(packets) // 4]


def _thinned(packets: Sequence[Packet]) -> Sequence[Packet]:
    chance = random.Random(5)
    return [packet for packet in packets if chance.random() > 0.005]


def _in_96_bytes(packets: Sequence[Packet]) -> Sequence[Packet]:
    return [replace(packet, data=packet.data[:96]) for packet in packets]


def _in_milliseconds(packets: Sequence[Packet]) -> Sequence[Packet]:
    unit = 1_000_000 if max(packet.fraction for packet in packets) >= 1_000_000 else 1000
    return [replace(packet, fraction=packet.fraction - packet.fraction % unit) for packet in packets]


def _requests_alone(packets: Sequence[Packet]) -> Sequence[Packet]:
    """What goes to the lower port, which is the broker's."""
    ends = ((packet, direction(packet)) for packet in packets)
    return [packet for packet, way in ends if way is not None and way[0][-2:] > way[1][-2:]]


def _spoiled(name: str, spoil: Callable[[Sequence[Packet]], Sequence[Packet]], folder: Path) -> Path:
    header, packets = read_pcap(DATA / f"{name}.pcap.zst")
    return write_pcap(folder / f"{name}.pcap", header, spoil(packets))


_WAYS = (_begun_late, _cut_short, _thinned, _in_96_bytes, _in_milliseconds, _requests_alone)
# Where the capture is cut here a broker is down, and not yet back.
_DOWN = ("tls_rolling_restart", _cut_short)
_SPOILED = [case for case in product(_HEALTHY, _WAYS) if case != _DOWN]
# Health checks whose PROXY header is cut; a proxy that takes less than a millisecond.
_KNOWN = [("balancer_checks", _in_96_bytes), ("ssh_forward", _in_milliseconds)]


# One in 17: each day in one way or none, each way on many days.
@pytest.mark.parametrize(("name", "spoil"), [*_SPOILED[:: one_in(17)], *_KNOWN])
def test_a_healthy_day_stays_one(
    name: str, spoil: Callable[[Sequence[Packet]], Sequence[Packet]], tmp_path: Path
) -> None:
    verdict = judge(_TRUTHS[name], _spoiled(name, spoil, tmp_path))
    assert verdict.right, verdict.said


@pytest.mark.parametrize(
    ("name", "begin_s", "end_s"),
    # Seconds after the broker was stopped; until it goes on it is 3, 4 and 14 s.
    [("broker_stalled", -5, 2), ("broker_stalled", 0.2, 2), ("broker_stalled_java", -5, 2), ("isr_shrunk", -5, 9)],
)
def test_a_stall_that_outlasts_the_capture_is_told(name: str, begin_s: float, end_s: float, tmp_path: Path) -> None:
    truth = _TRUTHS[name]
    header, packets = read_pcap(DATA / f"{name}.pcap.zst")
    second = 1e9 if header[0] == 0x4D else 1e6
    stopped = _seconds_of_day(truth["done"][0])
    kept = [
        packet
        for packet in packets
        if stopped + begin_s <= packet.seconds % 86_400 + packet.fraction / second <= stopped + end_s
    ]
    verdict = judge(truth, write_pcap(tmp_path / f"{name}.pcap", header, kept))
    assert verdict.right, verdict.said


def _seconds_of_day(done: str) -> float:
    hours, minutes, seconds = done[11:23].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


@pytest.mark.parametrize(
    "name", also_long(["lossy_broker", "quota_one_client"], ["broker_stalled_client", "slow_consumer"])
)
def test_packets_that_were_captured_twice_change_nothing(name: str, tmp_path: Path) -> None:
    path = _spoiled(name, lambda packets: list(doubled(packets)), tmp_path)
    assert judge(_TRUTHS[name], path).said == judge(_TRUTHS[name]).said
