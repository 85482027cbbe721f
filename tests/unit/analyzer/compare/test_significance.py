"""The two tests behind `diff` against their definitions: pairs counted one by one, and how often chance alone is called news."""

from __future__ import annotations

import random
from math import sqrt

import pytest

from analyzer.compare.significance import above, percentile_bucket, rank_sum_z, rates_differ


def histogram(values: list[int]) -> dict[int, int]:
    return {value: values.count(value) for value in set(values)}


def z_by_pairs(before: list[int], after: list[int]) -> float:
    """Mann and Whitney's U by its definition: in how many pairs is `after` greater, a tie being half."""
    u = sum((a > b) + 0.5 * (a == b) for a in after for b in before)
    both = before + after
    n, m, total = len(before), len(after), len(both)
    ties = sum(both.count(value) ** 3 - both.count(value) for value in set(both))
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    return (u - n * m / 2) / sqrt(variance) if variance > 0 else 0.0


@pytest.mark.parametrize("seed", range(30))
def test_rank_sums_are_those_of_all_pairs(seed: int) -> None:
    choose = random.Random(seed)
    before = [choose.randrange(choose.choice([2, 5, 50])) for _ in range(choose.randrange(1, 60))]
    after = [choose.randrange(choose.choice([2, 5, 50])) for _ in range(choose.randrange(1, 60))]
    assert rank_sum_z(histogram(before), histogram(after)) == pytest.approx(z_by_pairs(before, after))


@pytest.mark.slow
def test_chance_is_seldom_news() -> None:
    choose = random.Random(3)
    called = 0
    for _ in range(2_000):
        before, after = ([int(choose.expovariate(1) * 20) for _ in range(100)] for _ in range(2))
        called += abs(rank_sum_z(histogram(before), histogram(after))) >= 3.29
    assert called <= 8  # two are expected of 2,000


def test_rates_that_are_equal_seldom_differ() -> None:
    choose = random.Random(4)
    called = 0
    for _ in range(2_000):
        before, after = (sum(choose.random() < 0.05 for _ in range(200)) for _ in range(2))
        called += rates_differ(before, 200, after, 200)
    assert called <= 8


@pytest.mark.parametrize(
    ("before", "before_of", "after", "after_of", "differ"),
    [
        (0, 1000, 0, 1000, False),
        # Binomial with p = 1/2: 2 * (1/2)^10 is above 0.1 %, 2 * (1/2)^11 below it.
        (0, 1000, 10, 1000, False),
        (0, 1000, 11, 1000, True),
        (10, 1000, 100, 10_000, False),
        (50, 1000, 5_000, 1000_000, True),
        (5, 0, 5, 10, False),
        (600, 100_000, 800, 100_000, True),
    ],
)
def test_rates(before: int, before_of: int, after: int, after_of: int, differ: bool) -> None:
    assert rates_differ(before, before_of, after, after_of) is differ


def test_percentiles_are_nearest_rank() -> None:
    assert percentile_bucket({}, 50) is None
    assert [percentile_bucket({1: 99, 7: 1}, percent) for percent in (50, 99, 100)] == [1, 1, 7]
    assert above({1: 99, 7: 2}, 1) == 2
