"""A capture out of the order of time: the rows are the base's, but for packet numbers, which are those of the file."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from one_base import Row, base, rows_of, write
from program import run_kanalyze

from analyzer.base.options import Options
from analyzer.run.local import open_dataset

Order = Callable[[list[int], random.Random], list[int]]
SECOND = 1_000_000_000


def within(packets: int) -> Order:
    """Each packet at most so many from its place."""
    return lambda order, chance: sorted(order, key=lambda n: n + chance.uniform(0, packets))


def by_turns(queues: int, packets: int) -> Order:
    """Threads that each write what they have collected, one after the other."""

    def arranged(order: list[int], chance: random.Random) -> list[int]:
        found = []
        for at in range(0, len(order), packets):
            of_queue: list[list[int]] = [[] for _ in range(queues)]
            for n in order[at : at + packets]:
                chance.choice(of_queue).append(n)
            found += [n for queue in reversed(of_queue) for n in queue]
        return found

    return arranged


def appended(parts: int) -> Order:
    """Captures of the same time, one appended to the other."""
    return lambda order, _: [n for part in range(parts) for n in order[part::parts]]


ORDERS: dict[str, Order] = {
    "within_2": within(2),
    "within_8": within(8),
    "within_20": within(20),
    "within_100": within(100),
    "within_1000": within(1_000),
    "two_queues_of_32": by_turns(2, 32),
    "four_queues_of_64": by_turns(4, 64),
    "eight_queues_of_512": by_turns(8, 512),
    "two_appended": appended(2),
    "five_appended": appended(5),
    "backwards": lambda order, _: order[::-1],
    "blocks_backwards": lambda order, _: [n for at in range(1_190, -10, -10) for n in order[max(at, 0) : at + 10]],
    "replies_first": lambda order, _: sorted(order, key=lambda n: (n // 50, -base()[n].side)),
    "shuffled": lambda order, chance: chance.sample(order, len(order)),
}


def times() -> list[int]:
    """Those of the base, as if it had taken a second."""
    first, last = base()[0].time, base()[-1].time
    return [first + (packet.time - first) * SECOND // (last - first) for packet in base()]


def written(path: Path, order: list[int]) -> Path:
    moments = times()
    return write(path, (base()[n].ethernet for n in order), (moments[n] for n in order), link=1)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return rows_of(written(tmp_path_factory.mktemp("base") / "base.pcap", list(range(len(base())))))


def warnings_of(path: Path) -> list[str]:
    with open_dataset([str(path)], Options()) as dataset:
        return list(dataset.warnings)


def renumbered(rows: list[Row], order: list[int]) -> list[str]:
    """Rows of the sorted capture with the packet numbers of another order."""
    number: dict[Any, Any] = {n + 1: place for place, n in enumerate(order, 1)} | {None: None}
    places = ("request_packet", "response_packet")
    return sorted(str(row | {name: number[row[name]] for name in places}) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDERS)
def test_the_rows_are_those_of_the_sorted_capture(name: str, expected: list[Row], tmp_path: Path) -> None:
    order = ORDERS[name](list(range(len(base()))), random.Random(name))
    assert sorted(order) == list(range(len(base())))
    path = written(tmp_path / "base.pcap", order)
    assert sorted(map(str, rows_of(path))) == renumbered(expected, order)
    assert not warnings_of(path)


@pytest.mark.slow
def test_rows_of_overlapping_files_out_of_order(expected: list[Row], tmp_path: Path) -> None:
    """One file for each direction, both out of order."""
    order = within(20)(list(range(len(base()))), random.Random(1))
    for side in (0, 1):
        written(tmp_path / f"{side}.pcap", [n for n in order if base()[n].side == side])
    rows = run_kanalyze([tmp_path / "0.pcap", tmp_path / "1.pcap"]).exchanges
    names = ("correlation_id", "request_time_ns", "request_end_ns", "response_time_ns", "response_end_ns", "status")
    assert sorted(str([row[name] for name in names]) for row in rows) == sorted(
        str([row[name] for name in names]) for row in expected
    )


@pytest.mark.slow
def test_what_the_order_does_not_reach_is_said(tmp_path: Path) -> None:
    """A capture of ten seconds backwards."""
    moments = [base()[0].time + (time - base()[0].time) * 10 for time in times()][::-1]
    path = write(tmp_path / "base.pcap", (packet.ethernet for packet in base()[::-1]), moments, link=1)
    (warning,) = warnings_of(path)
    assert "the time jumps back by more than 2 s (" in warning
    assert "reordercap" in warning


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [[0], [40, 90, 120]])
def test_packets_far_ahead_keep_their_places_and_are_told(
    wrong: list[int], expected: list[Row], tmp_path: Path
) -> None:
    """A wrong time costs the times that begin or end with it; messages, and all other times, are those of the right capture."""
    moments = times()
    for n in wrong:
        moments[n] += 9 * SECOND
    path = write(tmp_path / "base.pcap", (packet.ethernet for packet in base()), moments, link=1)
    rows = rows_of(path)
    names = ("correlation_id", "api_key", "api_version", "status", "request_packet", "response_packet")
    facts = [sorted(str([row[name] for name in names]) for row in each) for each in (rows, expected)]
    assert facts[0] == facts[1]
    assert sum(row["latency_ns"] not in {each["latency_ns"] for each in expected} for row in rows) <= 2 * len(wrong)
    (warning,) = warnings_of(path)
    assert f"packet {wrong[0] + 1}" in warning
    assert "more than 2 s ahead of neighbouring packets" in warning
