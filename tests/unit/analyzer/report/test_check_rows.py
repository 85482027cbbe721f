"""Limits and values of `check` in the units of their columns."""

from __future__ import annotations

from decimal import Decimal

import pytest

from analyzer.report.check_rows import measured


@pytest.mark.parametrize(
    ("value", "column", "expected"),
    [
        (2_752_871_942, "p99_ns", "2.75 s"),
        (50_000_001, "p99_ns", "50.000001 ms"),
        (50_004_000, "p99_ns", "50.004 ms"),
        (49_996_000, "p99_ns", "49.996 ms"),
        (123_456, "count", "123456"),
    ],
)
def test_a_value_is_rounded_as_long_as_it_still_breaks_its_limit(value: int, column: str, expected: str) -> None:
    assert measured(value, column, [Decimal(50_000_000)]) == expected


@pytest.mark.parametrize(
    ("value", "column", "expected"),
    [
        (Decimal(50_000_000), "p99_ns", "50 ms"),
        (1_000_000_000, "p99_ns", "1 s"),
        (50_000_001, "p99_ns", "50.000001 ms"),
        (0, "p99_ns", "0"),
        (2_500, "throttle_time_ms", "2.5 s"),
        (10_000_000, "record_bytes", "10 MB"),
        (Decimal("0.05"), "share", "5 %"),
        (0.9765432109, "muted_share", "97.6543 %"),
        (12, "count", "12"),
        (None, "p99_ns", "None"),
    ],
)
def test_a_value_has_the_unit_of_its_column(value: object, column: str, expected: str) -> None:
    assert measured(value, column) == expected
