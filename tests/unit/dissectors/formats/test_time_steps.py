"""Steps of time between neighbours in the file, whatever the blocks in which packets come."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from dissectors import layout
from dissectors.formats.time_order_limits import MOST_STEPS, PAUSE_NS, WINDOW_NS
from dissectors.formats.time_steps import TimeSteps
from dissectors.matrix import new_matrix

START_NS = 10**18


def steps_of(times: Sequence[int], interfaces: Sequence[int] = (), block: int = 7) -> TimeSteps:
    found = TimeSteps()
    for begin in range(0, len(times), block):
        some = times[begin : begin + block]
        packets = new_matrix(layout.PACKET_COLUMNS, len(some))
        for row, time in enumerate(some):
            packets[layout.PACKET_NUMBER, row] = begin + row + 1
            packets[layout.PACKET_TIME, row] = time
            packets[layout.PACKET_INTERFACE, row] = interfaces[begin + row] if interfaces else 0
        found.add(packets, len(some))
    return found


def test_jumps_are_kept_and_of_pauses_the_first_and_the_last() -> None:
    times = [START_NS]
    for step in (1, 10**10, 2 * 10**10, 3 * 10**10, 5, -WINDOW_NS - 1, 10**10, PAUSE_NS, 10**10, -WINDOW_NS, WINDOW_NS):
        times.append(times[-1] + step)
    kept = [(number, after - before) for number, before, after in steps_of(times).told()]
    assert kept == [(3, 10**10), (5, 3 * 10**10), (7, -WINDOW_NS - 1), (8, 10**10), (9, PAUSE_NS), (10, 10**10)]


def test_clocks_of_interfaces_that_differ_are_no_jumps() -> None:
    times = [START_NS + n if n % 2 else n for n in range(50)]
    assert not steps_of(times, [n % 2 for n in range(50)]).told()
    assert len(steps_of(times).told()) == 49


def test_packets_without_a_time_are_none_of_the_neighbours() -> None:
    assert not steps_of([START_NS, layout.UNKNOWN, START_NS + 1]).told()


def test_the_first_of_very_many_are_kept() -> None:
    found = steps_of([START_NS * (n % 2) for n in range(MOST_STEPS + 10)], block=500)
    assert (len(found.told()), found.dropped) == (MOST_STEPS, 9)


@pytest.mark.parametrize("seed", range(5))
def test_blocks_do_not_matter(seed: int) -> None:
    chance = random.Random(seed)
    times = [START_NS]
    for _ in range(300):
        times.append(times[-1] + chance.choice((1, 1, 1, 10**10, PAUSE_NS, -(10**10))))
    assert steps_of(times, block=1).told() == steps_of(times, block=300).told()
