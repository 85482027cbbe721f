"""Packets leave in the order of their times, whatever the blocks in which they come, as far as the window goes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest

from dissectors import layout
from dissectors.formats.time_order import TimeOrder
from dissectors.formats.time_order_limits import CALM_PACKETS, FIRST_PACKETS, NARROW_PACKETS, WIDE_PACKETS, WINDOW_NS
from dissectors.matrix import new_matrix

ROWS = 500
BYTES = 100
STEP_NS = 1_000


def rows_of(times: Sequence[int], first: int, size: int) -> memoryview:
    packets = new_matrix(layout.PACKET_COLUMNS, max(ROWS, len(times)))
    for row, time in enumerate(times):
        packets[layout.PACKET_NUMBER, row] = first + row + 1
        packets[layout.PACKET_TIME, row] = time
        packets[layout.PACKET_OFFSET, row] = size * (first + row)
        packets[layout.PACKET_CAPTURED, row] = size
    return packets


def put(order: TimeOrder, times: Sequence[int], first: int, size: int = BYTES) -> list[tuple[int, int]]:
    """(time, number) of what leaves while these packets are added."""
    packets = rows_of(times, first, size)
    found: list[tuple[int, int]] = []
    row = 0
    while row < len(times):
        begin = row
        row, direct = order.add(packets, row, len(times))
        found += told(order.ready, 0, order.ready_rows) + told(packets, begin, direct)
    return found


def told(packets: memoryview, begin: int, end: int) -> list[tuple[int, int]]:
    return [(packets[layout.PACKET_TIME, row], packets[layout.PACKET_NUMBER, row]) for row in range(begin, end)]


def in_order(
    times: Sequence[int], blocks: Iterable[int] = (), size: int = BYTES
) -> tuple[list[tuple[int, int]], TimeOrder]:
    """All packets as they leave, and the stage. `blocks` are the sizes of the first blocks; those behind have ROWS."""
    order = TimeOrder(ROWS)
    found: list[tuple[int, int]] = []
    sizes = iter(blocks)
    at = 0
    while at < len(times):
        count = next(sizes, ROWS)
        found += put(order, times[at : at + count], at, size)
        at += count
    order.finish()
    return found + told(order.ready, 0, order.ready_rows), order


def numbered(times: Sequence[int]) -> list[tuple[int, int]]:
    return [(time, number) for number, time in enumerate(times, 1)]


def moved(times: list[int], by: int, seed: int) -> list[int]:
    """Every time at most `by` packets from its place."""
    chance = random.Random(seed)
    keys = [n + chance.uniform(0, by) for n in range(len(times))]
    return [times[n] for n in sorted(range(len(times)), key=keys.__getitem__)]


@pytest.mark.parametrize("by", [1, 8, 20, 200, WIDE_PACKETS - 1])
def test_what_is_within_the_window_is_sorted(by: int) -> None:
    times = moved([1_000 * n for n in range(10_000)], by, seed=by)
    found, order = in_order(times)
    assert found == sorted(numbered(times))
    assert (order.late, order.steps_back) == (0, 0)


def test_equal_times_stay_in_the_order_of_the_file() -> None:
    times = moved([n // 7 for n in range(3_000)], 20, seed=1)
    assert in_order(times)[0] == sorted(numbered(times))


@pytest.mark.parametrize("seed", range(30))
def test_blocks_do_not_matter(seed: int) -> None:
    """Also where the window is exceeded, clocks jump, and times are missing."""
    chance = random.Random(seed)
    times = moved([chance.randrange(50) + 40 * n for n in range(2_000)], chance.choice([1, 30, 5_000]), seed)
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(times))
        times[at : at + chance.randrange(3)] = [layout.UNKNOWN] * chance.randrange(3)
        times.insert(at, times[at] + chance.choice([10, WINDOW_NS * 2, 10**18]) if times[at] > 0 else 7)
        cut = chance.randrange(len(times))
        back = chance.choice([0, 0, WINDOW_NS * 3])
        times[cut:] = [max(time - back, layout.UNKNOWN) for time in times[cut:]]
    size = chance.choice([1, 1_000, 30_000])
    whole, one = in_order(times, size=size)
    blocks = [chance.choice([1, 2, 3, 50, 499]) for _ in range(2_000)]
    parts, other = in_order(times, blocks, size)
    assert parts == whole
    assert sorted(number for _, number in whole) == list(range(1, len(times) + 1))
    facts = ("late", "late_ns", "steps_back", "first_number", "ahead", "first_ahead")
    assert [getattr(one, name) for name in facts] == [getattr(other, name) for name in facts]


def test_in_order_only_the_window_waits() -> None:
    order = TimeOrder(ROWS)
    count = FIRST_PACKETS + 3 * ROWS
    left = 0
    for at in range(0, count, ROWS):
        left += len(put(order, range(at, at + ROWS), at))
    assert count < CALM_PACKETS
    assert count + ROWS - left <= NARROW_PACKETS + ROWS
    assert order.lowest_offset(1 << 40) == left * BYTES
    order.move(1_000)
    assert order.lowest_offset(1 << 40) == left * BYTES - 1_000


def test_what_comes_too_late_leaves_next_and_is_counted() -> None:
    count = WIDE_PACKETS + 1_000
    assert count < FIRST_PACKETS
    times = [STEP_NS * n for n in range(count + 500)]
    times.insert(count, STEP_NS * 100)
    found, order = in_order(times)
    place = [number for _, number in found].index(count + 1)
    latest = STEP_NS * (count - WIDE_PACKETS - 1)  # of what has left when it comes
    assert found[place - 1][0] == latest
    assert (order.late, order.late_ns, order.first_number) == (1, latest - STEP_NS * 100, count + 1)


def test_a_clock_that_is_set_back_begins_anew() -> None:
    first = [10 * WINDOW_NS + n for n in range(50)]
    second = [2 * WINDOW_NS + n for n in (0, 2, 1, 3)]
    found, order = in_order([*first, *second])
    assert [time for time, _ in found] == [*first, *sorted(second)]
    assert (order.steps_back, order.late, order.first_number) == (1, 0, 51)


@pytest.mark.parametrize("ahead_ns", [1_000_000, WINDOW_NS // 2, 10**18])
def test_a_clock_that_jumps_ahead_for_one_packet_holds_nothing_up(ahead_ns: int) -> None:
    times = moved(list(range(10_000)), 8, seed=4)
    times.insert(3_000, times[3_000] + ahead_ns)
    found, order = in_order(times)
    assert [each for each in found if each[1] != 3_001] == sorted(each for each in numbered(times) if each[1] != 3_001)
    assert (order.late, order.steps_back) == (0, 0)


@pytest.mark.parametrize("ahead_ns", [WINDOW_NS + WINDOW_NS // 5 + 1, 10 * WINDOW_NS, 10**18])
@pytest.mark.parametrize("place", [0, 1, 50, 99])
def test_a_packet_far_ahead_of_both_neighbours_stays_in_its_place(ahead_ns: int, place: int) -> None:
    """However long the window: here all packets wait until the end. Those without a time stay behind it."""
    times = [WINDOW_NS // 5 * n for n in range(100)]
    times[place] += ahead_ns
    times.insert(place + 1, layout.UNKNOWN)
    found, order = in_order(times)
    assert [number for _, number in found] == list(range(1, 102))
    assert (order.late, order.steps_back) == (0, 0)
    assert (order.ahead, order.first_ahead) == ((1, place + 1) if place < 99 else (0, 0))


def test_packets_without_a_time_stay_behind_the_one_before_them() -> None:
    found, _ = in_order([30, layout.UNKNOWN, 10, layout.UNKNOWN, layout.UNKNOWN, 20])
    assert [number for _, number in found] == [3, 4, 5, 6, 1, 2]


def test_without_any_time_all_stay_in_their_places() -> None:
    found, _ = in_order([layout.UNKNOWN] * 1_200)
    assert [number for _, number in found] == list(range(1, 1_201))
