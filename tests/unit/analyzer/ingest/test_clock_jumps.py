"""Which steps of time are jumps of a clock: that of a file is that of its pieces."""

from __future__ import annotations

import random

import pytest

from analyzer.ingest.clock_jumps import FOREVER, jumps, words
from dissectors.formats.time_order_limits import MOST_STEPS, PAUSE_NS

S = 1_000_000_000
YEAR = 365 * 86_400 * S


def steps(*sizes: int) -> list[tuple[int, int, int]]:
    """A step every ten packets."""
    found, time = [], 40 * YEAR
    for place, size in enumerate(sizes, 1):
        found.append((10 * place, time, time + size))
        time += size
    return found


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((30 * S, 10 * 60 * S), []),
        ((5 * YEAR,), [10]),
        ((PAUSE_NS,), [10]),
        ((-3 * S,), [10]),
        # There and back, and back and there.
        ((9 * S, -9 * S), [10, 20]),
        ((-60 * S, 59 * S), [10, 20]),
        # A pause beside a clock that was set back by much more, or much less.
        ((10 * S, -YEAR), [20]),
        ((-3 * S, 60 * S), [10]),
        ((30 * S, 5 * YEAR, 30 * S, -5 * YEAR, 30 * S), [20, 40]),
    ],
)
def test_jumps(sizes: tuple[int, ...], expected: list[int]) -> None:
    found = jumps(steps(*sizes), 0)
    assert [jump.packet for jump in found] == expected
    assert all(jump.until == jump.packet for jump in found)


def test_pauses_between_pieces_change_nothing() -> None:
    chance = random.Random(1)
    sizes = [chance.choice((5 * S, 10 * S, 11 * S, 60 * S, -11 * S, YEAR)) for _ in range(200)]
    pauses = [30 * S] * 3
    assert [jump.ahead_ns for jump in jumps(steps(*pauses, -30 * S, *pauses), 0)] == [30 * S, -30 * S, 30 * S]
    assert len(jumps(steps(*sizes), 0)) > 50


def test_behind_more_than_are_kept_all_is_in_doubt() -> None:
    many = steps(*[YEAR, -YEAR] * MOST_STEPS)
    found = jumps(many[:MOST_STEPS], len(many) - MOST_STEPS)
    assert len(found) == MOST_STEPS and found[-1].until == FOREVER
    assert found == jumps(many, 0)


def test_words_say_how_far_and_how_often() -> None:
    told = " and ".join(words(jumps(steps(YEAR, 2 * YEAR, -3 * YEAR), 0)))
    assert told == "the time jumps ahead by up to 730 days (2 times) and the time jumps back by more than 2 s (once)"
