"""Days (UTC) as directories of tables."""

from __future__ import annotations

from datetime import date, timedelta

DAY_NS = 86_400_000_000_000
HOUR_NS = 3_600_000_000_000
_EPOCH = date(1970, 1, 1)


def day_directory(day: int) -> str:
    """The directory of a day (UTC), counted since 1970: `date=2026-05-01`."""
    return f"date={_EPOCH + timedelta(days=day)}"
