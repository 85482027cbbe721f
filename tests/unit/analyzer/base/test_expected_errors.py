"""Which error codes are normal, where the time for which they lasted decides and where it is not known."""

from __future__ import annotations

import pytest

from analyzer.base.expected_errors import is_expected

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("api", "code", "lasted_ns", "expected"),
    [
        ("Metadata", 3, 5 * SECOND, True),
        ("Metadata", 3, 5 * SECOND + 1, False),
        # Packets without a time: neither true nor false.
        ("Metadata", 3, None, None),
        ("Fetch", 70, None, True),
        ("PushTelemetry", 117, 60 * SECOND + 1, False),
        ("Produce", 2, None, False),
        ("Produce", 46, None, True),
    ],
)
def test_a_code_is_judged_by_the_time_that_it_lasted(
    api: str, code: int, lasted_ns: int | None, expected: bool | None
) -> None:
    assert is_expected(api, code, lasted_ns) is expected
