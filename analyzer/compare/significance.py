"""Is a difference between two captures more than noise? Two tests that need counts only, at one level of doubt.

The level is 0.1 %, two-sided: of a thousand comparisons of equal things one is called different. Both tests ask whether the
numbers could come from one and the same distribution; how large a difference must be to matter is not theirs to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, sqrt

Z = 3.29  # the normal quantile of 0.9995
LEVEL = 0.001
MOST_EXACT = 1_000


def rank_sum_z(before: Mapping[int, int], after: Mapping[int, int]) -> float:
    """Wilcoxon's rank-sum statistic of two histograms (bucket -> count), ties corrected: above 0 when `after` is greater.

    0 when one of them is empty, or all values are in one bucket (Mann and Whitney, 1947; normal approximation).
    """
    n, m = sum(before.values()), sum(after.values())
    total = n + m
    if not n or not m:
        return 0.0
    below, ranks, ties = 0, 0.0, 0
    for bucket in sorted({*before, *after}):
        here = before.get(bucket, 0) + after.get(bucket, 0)
        ranks += after.get(bucket, 0) * (below + (here + 1) / 2)
        ties += here**3 - here
        below += here
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1))) if total > 1 else 0.0
    return (ranks - m * (total + 1) / 2) / sqrt(variance) if variance > 0 else 0.0


def rates_differ(before: int, before_of: int, after: int, after_of: int) -> bool:
    """Do `before` events in `before_of` tries and `after` in `after_of` speak of two rates?

    Given that there were before + after events in all, their split is binomial when the rates are equal (Przyborowski and
    Wilenski, 1940); exact up to MOST_EXACT events, then the normal approximation.
    """
    events, tries = before + after, before_of + after_of
    if not events or not before_of or not after_of:
        return False
    part = after_of / tries
    if events > MOST_EXACT:
        return abs(after - events * part) >= Z * sqrt(events * part * (1 - part))
    lower = sum(_binomial(events, part, k) for k in range(after + 1))
    upper = sum(_binomial(events, part, k) for k in range(after, events + 1))
    return 2 * min(lower, upper) < LEVEL


def _binomial(n: int, p: float, k: int) -> float:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def percentile_bucket(histogram: Mapping[int, int], percent: int) -> int | None:
    """The bucket of the nearest-rank percentile; None of nothing."""
    total, upto = sum(histogram.values()), 0
    for bucket in sorted(histogram):
        upto += histogram[bucket]
        if upto * 100 >= total * percent:
            return bucket
    return None


def above(histogram: Mapping[int, int], bucket: int) -> int:
    """How many values lie in greater buckets."""
    return sum(count for each, count in histogram.items() if each > bucket)
