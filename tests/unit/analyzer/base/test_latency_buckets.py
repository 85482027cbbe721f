"""Buckets of durations are those of Prometheus and OpenTelemetry, and SQL makes the same."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from made_rows import dataset, exchange

from analyzer.base.latency_buckets import NO_TIME, PER_DOUBLING, middle_ns

SECOND = 10**9


def bounds(bucket: int) -> tuple[float, float]:
    """(low, high] in seconds: Prometheus' native histograms, schema 6."""
    return 2 ** ((bucket - 1) / PER_DOUBLING), 2 ** (bucket / PER_DOUBLING)


@pytest.mark.parametrize("bucket", [-1_913, -640, -64, -1, 0, 1, 64, 1_000])
def test_the_middle_is_near_all_of_a_bucket(bucket: int) -> None:
    low, high = bounds(bucket)
    for edge in (low, high):
        assert abs(middle_ns(bucket) / SECOND - edge) <= edge * 0.0055 + 0.5 / SECOND


def test_what_took_no_time_has_a_bucket_of_its_own_below_all() -> None:
    assert middle_ns(NO_TIME) == 0
    assert bounds(NO_TIME)[1] < 1 / SECOND


def test_sql_puts_durations_into_these_buckets(tmp_path: Path) -> None:
    values = [0, 1, 2, 3, 999, 10**6, 10**9 // 2, 10**9 - 1, 10**9, 10**9 + 1, 2 * 10**9, 4 * 10**9, 123_456_789_012]
    rows = [exchange(number, latency_ns=value, client_id=str(number)) for number, value in enumerate(values)]
    with dataset(tmp_path, {"exchanges": rows}) as found:
        counts = {row["bucket"]: row["n"] for row in found.metric("latency_histogram")}
    expected: dict[int, int] = {}
    for value in values:
        bucket = math.ceil(PER_DOUBLING * math.log2(value / SECOND)) if value else NO_TIME
        expected[bucket] = expected.get(bucket, 0) + 1
        if value:
            low, high = bounds(bucket)
            assert low < value / SECOND <= high
    assert counts == expected
    assert counts[0] == 2  # 10^9 - 1 and 10^9: the upper bound belongs to the bucket
