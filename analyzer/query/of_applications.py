"""Findings about the many clients of one application: they name it, and what one rule finds of several of them is one finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.query.findings import Rule

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

Told = tuple[Rule, dict[str, Any]]
# Columns by which rows about two clients of one application may differ, besides numbers.
_OF_A_CLIENT = frozenset(("who", "client_id", "client_address", "host", "principal"))
# What a row is about, besides what is text.
_OF_WHAT = frozenset(("partition", "api_version"))
_APPLICATIONS = """
SELECT client_id, min(application) AS application, min(software) AS software
FROM applications
GROUP BY client_id
HAVING min(application) = max(application) AND min(software) = max(software)
"""


def of_applications(dataset: Dataset, told: Sequence[Told]) -> Sequence[Told]:
    """The rows (of each rule the worst first), where `who` is a client of an application with `application`, `software` and
    `application_clients`, of how many clients this is the worst; rows about others of them, about the same, are left out.
    """
    if not any(row.get("who") is not None for _, row in told):
        return told
    known = {row["client_id"]: row for row in dataset.ask(_APPLICATIONS)}
    kept: list[Told] = []
    worst: dict[tuple[Any, ...], dict[str, Any]] = {}
    clients = defaultdict[tuple[Any, ...], set[tuple[Any, Any]]](set)
    for rule, row in told:
        application = known.get(row.get("who"))
        if application is None:
            kept.append((rule, row))
            continue
        own = {name: application[name] for name in ("application", "software")}
        about = ((name, value) for name, value in row.items() if isinstance(value, str) or name in _OF_WHAT)
        key = (rule.name, *own.values(), *(each for each in about if each[0] not in _OF_A_CLIENT))
        first = worst.setdefault(key, {**row, **own})
        if not clients[key]:
            kept.append((rule, first))
        clients[key].add((row["who"], row.get("client_address")))
        first["application_clients"] = len(clients[key])
        _lasts_as_long_as(first, row)
    return kept


def _lasts_as_long_as(first: dict[str, Any], other: dict[str, Any]) -> None:
    """The time of both together."""
    for name, outer in (("first_time_ns", min), ("last_time_ns", max)):
        if first.get(name) is not None and other.get(name) is not None:
            first[name] = outer(first[name], other[name])
