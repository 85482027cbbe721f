"""What is parked comes back as it was, into any slot, and is found by its flow; as compiled and as plain Python."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import pytest
from plain_stages import plain_stage

from dissectors.layout import UNKNOWN
from dissectors.matrix import new_matrix
from dissectors.parking import parking
from dissectors.parking.parking_columns import MOST_CELLS, PARKED_AT_ONCE

NOW = 1_800_000_000_000_000_000
LARGEST = (1 << 63) - 1
PART = 1  # the column that holds the part, in both groups
SLOTS = 50
Rows = list[list[int]]


@pytest.fixture(params=["built", "plain"])
def stage(request: pytest.FixtureRequest) -> ModuleType:
    return parking if request.param == "built" else plain_stage("dissectors.parking.parking")


def groups() -> tuple[Any, ...]:
    """Two stages: one with a row and two more for each slot, one with a row."""
    first, sides, second = new_matrix(SLOTS, 9), new_matrix(2 * SLOTS, 40), new_matrix(SLOTS, 3)
    return (PART, ((first, 1), (sides, 2))), (PART, ((second, 1),))


def state_of(found: tuple[Any, ...], slot: int) -> list[Rows]:
    return [
        [[matrix[row, column] for column in range(matrix.shape[1])] for row in range(rows * slot, rows * (slot + 1))]
        for _, matrices in found
        for matrix, rows in matrices
    ]


def some_value(chance: random.Random) -> int:
    """Zeros, small numbers, times, what lies at the edges of so many bytes, and anything."""
    edge = 1 << chance.randrange(64)
    near = NOW + chance.randrange(-(1 << 48), 1 << 48)
    small, times = (0, 0, 0, -1, 1, 9092), (NOW, NOW - 1, near)
    value = chance.choice(
        (*small, *times, edge, -edge, edge - 1, -edge - 1, UNKNOWN, LARGEST, chance.randrange(-LARGEST, LARGEST))
    )
    return max(UNKNOWN, min(LARGEST, value))


def fill(found: tuple[Any, ...], slot: int, part: int, chance: random.Random) -> None:
    zeros = chance.random() < 0.3
    for part_column, matrices in found:
        for place, (matrix, rows) in enumerate(matrices):
            for row in range(rows * slot, rows * (slot + 1)):
                for column in range(matrix.shape[1]):
                    matrix[row, column] = 0 if zeros else some_value(chance)
                if place == 0:
                    matrix[row, part_column] = part


def idle(slot: int, part: int, key: int, base: int = NOW, half_open: bool = False) -> tuple[int, ...]:
    return slot, part, key, base, 0, int(half_open)


def keys(*found: int) -> memoryview:
    matrix = new_matrix(1, max(1, len(found)))
    for row, key in enumerate(found):
        matrix[0, row] = key
    return matrix.cast("B").cast("q")


@pytest.mark.parametrize("base", [NOW, 0, UNKNOWN, LARGEST, -5])
def test_what_was_parked_comes_back(stage: ModuleType, base: int) -> None:
    chance = random.Random(base)
    found, lot = groups(), stage.Parking(SLOTS)
    for turn in range(6):
        before = {}
        for slot in range(SLOTS):
            fill(found, slot, 1000 * turn + slot, chance)
            before[slot] = state_of(found, slot)
        assert lot.park([idle(slot, 1000 * turn + slot, slot % 7, base) for slot in range(SLOTS)], found) == SLOTS
        # All of a flow come back together; into other slots than they had.
        for key in chance.sample(range(7), 7):
            entries = lot.wanted(keys(99, key, key), 3)
            assert lot.wanted(keys(key), 1) == []
            slots = chance.sample(range(SLOTS), len(entries))
            lot.take(entries, slots, found)
            came = sorted(state_of(found, slot) for slot in slots)
            assert came == sorted(before[slot] for slot in range(SLOTS) if slot % 7 == key)
        assert lot.count == 0


def test_rows_of_another_connection_do_not_come_back(stage: ModuleType) -> None:
    found, lot = groups(), stage.Parking(4)
    fill(found, 3, 7, random.Random(1))
    second = found[1][1][0][0]
    second[3, PART], second[5, 0] = 6, 1234  # the second stage has seen nothing of part 7 yet
    lot.park([idle(3, 7, 11)], found)
    first = state_of(found, 3)[:2]
    lot.take(lot.wanted(keys(11), 1), [5], found)
    assert state_of(found, 5)[:2] == first
    assert second[5, PART] == UNKNOWN


@pytest.mark.parametrize(("capacity", "order"), [(50, [0, 1, 2, 3, 4, 6, 7, 8, 9]), (12, [1, 2, 0, 3, 4, 6, 7, 8, 9])])
def test_who_goes_first(stage: ModuleType, capacity: int, order: list[int]) -> None:
    """The longest idle; the half-open ones (1, 2, 4, 5, 7, 8) alone while they are more than a quarter of the limit."""
    found, lot = groups(), stage.Parking(capacity)
    for slot in range(10):
        fill(found, slot, slot, random.Random(slot))
    lot.park([idle(slot, slot, slot, NOW + slot, slot % 3 != 0) for slot in range(10)], found)
    lot.take(lot.wanted(keys(5), 1), [20], found)
    went = []
    while lot.count:
        entries = lot.oldest(4)
        lot.take(entries, list(range(30, 30 + len(entries))), found)
        went += [found[0][1][0][0][30 + number, PART] for number in range(len(entries))]
    assert went == order


def test_no_more_are_parked_than_there_is_room_for(stage: ModuleType) -> None:
    """Whatever the values are: the chains of a full lot end before its cells do."""
    found, lot = groups(), stage.Parking(SLOTS)
    matrices = [matrix for _, each in found for matrix, _ in each]
    for matrix in matrices:
        for row in range(matrix.shape[0]):
            for column in range(matrix.shape[1]):
                matrix[row, column] = LARGEST - column
            matrix[row, PART] = 1
    assert sum(matrix.shape[1] for matrix in matrices) * 2 * 9 < MOST_CELLS * 64
    assert lot.park([idle(slot, 1, slot) for slot in range(SLOTS)], found) == SLOTS
    assert lot.park([idle(0, 1, 0)], found) == 0
    assert PARKED_AT_ONCE > SLOTS
