"""Findings about the many clients of one application: they name it, and what one rule finds of several of them is one finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.query.findings import Rule

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

Told = tuple[Rule, dict[str, Any]]
# Columns by which rows about two clients of one application may differ, besides numbers.
_OF_A_CLIENT = frozenset(("who", "client_id", "client_address", "host", "principal"))
_APPLICATIONS = """
SELECT client_id, min(application) AS application, min(software) AS software
FROM applications
GROUP BY client_id
HAVING min(application) = max(application) AND min(software) = max(software)
"""


def of_applications(dataset: Dataset, told: Sequence[Told]) -> Sequence[Told]:
    """The rows (of each rule the worst first), where `who` is a client of an application with `application`, `software` and
    `application_clients`, of how many clients this is the worst; rows about others of them, alike in all words, are left out.
    """
    if not any(row.get("who") is not None for _, row in told):
        return told
    known = {row["client_id"]: row for row in dataset.ask(_APPLICATIONS)}
    kept: list[Told] = []
    worst: dict[tuple[Any, ...], dict[str, Any]] = {}
    for rule, row in told:
        application = known.get(row.get("who"))
        if application is None:
            kept.append((rule, row))
            continue
        own = {name: application[name] for name in ("application", "software")}
        words = [value for name, value in row.items() if isinstance(value, str) and name not in _OF_A_CLIENT]
        first = worst.setdefault((rule.name, *own.values(), *words), {**row, **own, "application_clients": 0})
        if not first["application_clients"]:
            kept.append((rule, first))
        first["application_clients"] += 1
        _lasts_as_long_as(first, row)
    return kept


def _lasts_as_long_as(first: dict[str, Any], other: dict[str, Any]) -> None:
    """The time of both together."""
    for name, outer in (("first_time_ns", min), ("last_time_ns", max)):
        if first.get(name) is not None and other.get(name) is not None:
            first[name] = outer(first[name], other[name])
