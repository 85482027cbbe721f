"""Clients and brokers on one host: a client that asks two brokers the same is no proxy, however many there are."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest
from made_capture import START_US, Conversation, merged, pcap, reply

import analyzer

HERE = 0x7F000001


def asking(port: int, broker_port: int, begin_us: int, waits_us: int, times: int = 20) -> Conversation:
    """ListGroups every 100 ms, answered after so long."""
    made = Conversation(HERE, port, begin_us - 2000)
    made.ends = (HERE, port, HERE, broker_port)
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


def test_many_clients_alike_are_not_compared_each_with_all(tmp_path: Path) -> None:
    """A hundred connections to each of two brokers, with fifty requests each: all pairs of them did not fit into memory."""
    path, before = tmp_path / "many.pcap", time.process_time()
    legs = [
        asking(begin + number, port, START_US + later + 7 * number, waits, times=50)
        for number in range(100)
        for begin, port, later, waits in ((20_001, 9092, 0, 3000), (40_001, 9093, 200, 1000))
    ]
    path.write_bytes(pcap(merged(legs)))
    with analyzer.read(path) as opened:
        (asked,) = opened.sql("SELECT count(*) AS n FROM exchanges").to_pylist()
    assert asked == {"n": 10_000} and time.process_time() - before < 20
