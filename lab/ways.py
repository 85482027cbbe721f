"""Disturbed ways that a seed draws, with the broker's own log: is the broker's time told right? `python -m lab.ways 1 2`.

A run is seen beside the client, at the switch and beside the broker. The captures of each place go to `build/lab/ways` as those of
a lab are (`NAME.pcap`, `NAME.requests.jsonl.zst`); `tests/system/lab/attribution.py --ways build/lab/ways` judges them. They are
not kept in git. Limits of `resolve/exchanges.sql` are fitted on some seeds, and others are opened only to count.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import cramjam

from lab.clients import consume, produce
from lab.jars import BROKER_VERSION, CACHE, NEW_VERSION
from lab.namespaces import command
from lab.session import Lab
from lab.wire import Habits

SECONDS = 25
PLACES = ("client", "switch", "broker")


@dataclass(frozen=True, slots=True)
class Way:
    """What a seed means: the way between the clients and the broker, and what crosses it."""

    seed: int
    at_broker: bool  # the wire stands before the broker, or before the clients
    rate_mbps: float  # 0: no limit
    queue_ms: int
    delay_ms: int  # each way
    loss: float  # share of packets, each way
    mtu: int
    window_bytes: int  # the most that the clients' kernel takes in, 0: what Linux has
    cross: bool  # somebody reads as much as the way gives, at the same time
    record_bytes: int
    per_s: float
    version: str
    jitter_ms: int  # each way
    strangers: bool  # beside the clients another host writes half of what the broker's wire carries, in bursts


def draw(seed: int) -> Way:
    """The same for the same seed."""
    chance = random.Random(f"way {seed}")
    return Way(
        seed=seed,
        at_broker=chance.random() < 0.3,
        rate_mbps=chance.choice([0.0, 2.0, 4.0, 8.0, 20.0]),
        queue_ms=chance.choice([20, 60, 150, 400]),
        delay_ms=chance.choice([0, 2, 10, 30, 80]),
        loss=chance.choice([0.0, 0.0, 0.002, 0.01]),
        mtu=chance.choice([1500, 1500, 1400, 9000]),
        window_bytes=chance.choice([0, 0, 32768]),
        cross=chance.random() < 0.6,
        record_bytes=chance.choice([100, 1000, 20000]),
        per_s=chance.choice([5.0, 20.0, 60.0]),
        version=chance.choice([BROKER_VERSION, NEW_VERSION]),
        jitter_ms=chance.choice([0, 0, 2, 8]),
        strangers=chance.random() < 0.5,
    )


def run(lab: Lab, way: Way) -> None:
    """Does it, captured at all PLACES."""
    habits = Habits(
        delay_s=way.delay_ms / 1000,
        jitter_s=way.jitter_ms / 1000,
        loss_out=way.loss,
        loss_into=way.loss,
        rate_bps=way.rate_mbps * 1e6,
        queue_s=way.queue_ms / 1000,
        seed=way.seed,
    )
    (broker,) = lab.cluster(1, habits={1: Habits()} if way.at_broker else None, version=way.version)
    lab.topics(orders={"partitions": 2}, history={"partitions": 2}, stock={"partitions": 1})
    lab.fill("history", 30000, 1000)
    wire = lab.wires[1] if way.at_broker else lab.wire("office", Habits())
    client = lab.host("office") if way.at_broker else wire.host
    for namespace in lab.network.namespaces:
        _set_mtu(namespace, way.mtu)
    if way.window_bytes:
        client.call(_small_windows, way.window_bytes)
    wire.change(**{name: value for name, value in asdict(habits).items() if value != getattr(Habits(), name)})
    with lab.capture(client=client, switch=lab.network.hub, broker=broker.host):
        lab.start(client, produce, lab.bootstrap, "orders-in", "orders", per_s=way.per_s, size=way.record_bytes)
        lab.start(client, consume, lab.bootstrap, "packing", "packing", "orders")
        lab.start(client, produce, lab.bootstrap, "clicks-in", "orders", per_s=3, size=300, acks="all")
        if way.strangers and way.at_broker and way.rate_mbps:
            lab.start(
                lab.host("depot"), produce, lab.bootstrap, "stock-in", "stock", per_s=way.rate_mbps / 1.6, size=100_000
            )
        if way.cross:
            time.sleep(SECONDS / 5)
            lab.start(client, consume, lab.bootstrap, "history", "history", "history", auto_commit_interval_ms=500)
        time.sleep(SECONDS)


def _set_mtu(namespace: str, mtu: int) -> None:
    """Of all links in there: one that is smaller on the way drops what the hosts may send."""
    for link in json.loads(command("ip", "-n", namespace, "-j", "link")):
        if link["ifname"] != "lo":
            command("ip", "-n", namespace, "link", "set", link["ifname"], "mtu", str(mtu))


def _small_windows(most: int) -> None:
    Path("/proc/sys/net/ipv4/tcp_rmem").write_text(f"4096 {most // 2} {most}")


def _log_lines(path: Path, begin: float, end: float) -> Iterator[str]:
    """The broker's log as the lab's captures have it: JSON objects with the time at which each was written."""
    for line in path.read_text(encoding="utf-8").splitlines():
        moment, brace, rest = line.partition("{")
        with contextlib.suppress(ValueError):
            stamp = moment.split()[0].replace(",", ".") + "Z"
            row = json.loads(brace + rest) | {"logged_at": stamp}
            if begin <= _seconds(stamp) <= end:
                yield json.dumps(row)


def _seconds(stamp: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(stamp).timestamp()


def make(seed: int, folder: Path) -> None:
    """Runs a seed: its captures, a log for each and what was drawn."""
    way, scratch = draw(seed), folder / f"run-{seed}"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    lab, begin = Lab(scratch), time.time()
    try:
        run(lab, way)
        log = lab.brokers[0].requests
    finally:
        lab.close()
    lines = "\n".join(_log_lines(log, begin, time.time()))
    for place in PLACES:
        (captured,) = lab.captures[place]
        shutil.move(captured, folder / f"way{seed}_{place}.pcap")
        (folder / f"way{seed}_{place}.requests.jsonl.zst").write_bytes(bytes(cramjam.zstd.compress(lines.encode())))
    (folder / f"way{seed}.json").write_text(json.dumps(asdict(way), indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(scratch, ignore_errors=True)
    print(way, flush=True)


def main(words: list[str]) -> int:
    """Makes the captures of some seeds."""
    if os.geteuid():
        print("the lab makes network namespaces: it must be run as root", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = CACHE / "ways"
    folder.mkdir(parents=True, exist_ok=True)
    for word in words:
        make(int(word), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
