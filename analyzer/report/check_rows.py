"""Checks for programs: how each limit was kept."""

from __future__ import annotations

from typing import Any

from analyzer.compare.checks import PASSED, Result
from analyzer.report.readability_words import sentence


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
