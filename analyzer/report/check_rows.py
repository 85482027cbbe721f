"""Checks for programs: how each limit was kept."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Any

from analyzer.compare.checks import PASSED, UNITS, Result
from analyzer.report.readability_words import sentence

# Digits of a value that is measured.
_DIGITS = 3


def measured(value: Any, column: str, limits: Sequence[Decimal] = ()) -> str:
    """A limit, or a value that breaks one of `limits`, in the largest unit of its column that makes it 1 or more. A limit is not
    rounded; a value is to three digits, to more where it would look as if it kept the limit. A share is rounded to six digits."""
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return str(value)
    number = Decimal(str(value))
    units = next((units for end, units in UNITS.items() if column.endswith(end)), {})
    if units == UNITS["share"]:
        return f"{float(number * 100):.6g} %"
    if units and limits:
        number = _rounded(number, limits)
    decimal = {unit: each for unit, each in units.items() if unit not in ("us", "min", "h") and not unit.endswith("iB")}
    unit, each = max(
        ((unit, each) for unit, each in decimal.items() if abs(number) >= each),
        key=lambda pair: pair[1],
        default=("", Decimal(1)),
    )
    return f"{(number / each).normalize():f} {unit}".rstrip()


def _rounded(number: Decimal, limits: Sequence[Decimal]) -> Decimal:
    """The number with the fewest digits, at least three, on the same side of all limits."""
    sides = [number > limit for limit in limits], [number < limit for limit in limits]
    for digits in range(_DIGITS, len(number.as_tuple().digits)):
        rounded = Context(prec=digits).plus(number)
        if ([rounded > limit for limit in limits], [rounded < limit for limit in limits]) == sides:
            return rounded
    return number


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
