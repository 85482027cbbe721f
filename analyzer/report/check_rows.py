"""Checks for programs: how each limit was kept."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from analyzer.compare.checks import PASSED, UNITS, Result
from analyzer.report.readability_words import sentence


def measured(value: Any, column: str) -> str:
    """A limit, or a value that is held against one, in the largest unit of its column that makes it 1 or more; not rounded, so
    that what breaks a limit never looks like it. A share is rounded to six digits."""
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return str(value)
    number = Decimal(str(value))
    units = next((units for end, units in UNITS.items() if column.endswith(end)), {})
    if units == UNITS["share"]:
        return f"{float(number * 100):.6g} %"
    decimal = {unit: each for unit, each in units.items() if unit not in ("us", "min", "h") and not unit.endswith("iB")}
    unit, each = max(
        ((unit, each) for unit, each in decimal.items() if abs(number) >= each),
        key=lambda pair: pair[1],
        default=("", Decimal(1)),
    )
    return f"{(number / each).normalize():f} {unit}".rstrip()


def as_object(result: Result) -> dict[str, Any]:
    """One check; `failed` are the rows that break its limit, `not_measured` says why it is not known whether it was kept."""
    check = result.check
    return {
        "check": check.name,
        "passed": result.verdict == PASSED,
        "verdict": result.verdict,
        "metric": check.metric,
        "column": check.column,
        "min": None if check.least is None else float(check.least),
        "max": None if check.most is None else float(check.most),
        "matched": result.matched,
        "judged": result.judged,
        "failed": result.failed,
        "not_measured": result.unknown or sentence(result.readability) or None,
    }
