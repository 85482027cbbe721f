"""Who asks two brokers the same is no proxy, however many there are: a client on their host, or instances of it on two hosts."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from made_capture import START_US, Conversation, merged, pcap, reply

import analyzer

HERE = 0x7F000001


def asking(
    port: int,
    broker_port: int,
    begin_us: int,
    waits_us: int,
    times: int = 20,
    hosts: tuple[int, int] = (HERE, HERE),
    shakes: bool = True,
) -> Conversation:
    """ListGroups every 100 ms, answered after so long."""
    made = Conversation(HERE, port, begin_us - 2000)
    made.ends = (hosts[0], port, hosts[1], broker_port)
    if shakes:
        made.shake()
    for number in range(times):
        made.clock = begin_us + number * 100_000
        correlation = port * 1000 + number
        made.frame(0, struct.pack(">hhih", 16, 0, correlation, 3) + b"app")
        made.clock = begin_us + number * 100_000 + waits_us
        made.frame(1, reply(correlation))
    return made


@pytest.mark.parametrize("waits_us", [1000, 1500, 2900])
def test_who_asks_two_brokers_the_same_is_no_proxy(waits_us: int, tmp_path: Path) -> None:
    """The second one is asked a little later, and answers before the first, or at the same time."""
    path = tmp_path / "two.pcap"
    path.write_bytes(
        pcap(merged([asking(40001, 9092, START_US, 3000), asking(40002, 9093, START_US + 200, waits_us - 200)]))
    )
    with analyzer.read(path) as opened:
        (asked,) = opened.sql("SELECT count(*) AS n, count(DISTINCT broker_port) AS brokers FROM exchanges").to_pylist()
    assert asked == {"n": 40, "brokers": 2}


@pytest.mark.parametrize("shakes", [True, False])
def test_two_instances_in_step_are_no_proxy(shakes: bool, tmp_path: Path) -> None:
    """An agent on two hosts, which asks a broker each at even times; one broker is slower."""
    path, hosts = tmp_path / "two.pcap", ((0x0A000001, 0x0A000101), (0x0A000002, 0x0A000102))
    one = asking(40001, 9092, START_US, 3000, hosts=hosts[0], shakes=shakes)
    other = asking(40002, 9092, START_US + 200, 1000, hosts=hosts[1], shakes=shakes)
    path.write_bytes(pcap(merged([one, other])))
    with analyzer.read(path) as opened:
        (asked,) = opened.sql(
            "SELECT count(*) AS n, count(DISTINCT broker_address) AS brokers FROM exchanges"
        ).to_pylist()
    assert asked == {"n": 40, "brokers": 2}


def test_many_clients_alike_are_not_compared_each_with_all(tmp_path: Path) -> None:
    """A hundred connections to each of two brokers, with fifty requests each: all pairs of them did not fit into memory."""
    path = tmp_path / "many.pcap"
    legs = [
        asking(begin + number, port, START_US + later + 7 * number, waits, times=50)
        for number in range(100)
        for begin, port, later, waits in ((20_001, 9092, 0, 3000), (40_001, 9093, 200, 1000))
    ]
    path.write_bytes(pcap(merged(legs)))
    with analyzer.read(path) as opened:
        (asked,) = opened.sql("SELECT count(*) AS n FROM exchanges").to_pylist()
    assert asked == {"n": 10_000}
