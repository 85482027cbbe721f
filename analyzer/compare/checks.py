"""Thresholds on metrics, for CI: a TOML file of checks, each a limit on a column of a metric.

    [produce-is-fast]
    metric = "latency"               # a file of analyzer/query/metrics, or "findings" (columns finding, severity, count)
    where = { api_name = "Produce", client_id = "orders-*" }    # columns of it: globs, numbers, true or false
    column = "p99_ns"                # every row must keep the limit; `sum = "..."` instead: their sum
    max = "50 ms"                    # and, or, min

A limit is a number in the column's own unit, or text with a unit where the column's name says one: `_ns` and `_ms` take
`50 ms`, `_bytes` `10 MB` (decimal), `share` `5 %`. A row whose value is null is not judged; when no row could be judged, a
`max` holds only if no row matched at all, and a `min` never does: what is not known does not pass.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from analyzer.query import metrics
from analyzer.query.run_findings import find

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

FINDINGS = "findings"
_WORDS = {"metric", "where", "column", "sum", "max", "min"}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(\S+)?")
_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# End of a column's name -> what one of each unit is in the column's own.
_UNITS: dict[str, dict[str, Decimal]] = {
    "_ns": {unit: Decimal(ns) for unit, ns in _NS.items()},
    "_ms": {unit: Decimal(ns) / 10**6 for unit, ns in _NS.items()},
    "_bytes": {unit: Decimal(size) for unit, size in _BYTES.items()},
    "share": {"%": Decimal("0.01")},
}


class CheckError(ValueError):
    """A check that cannot be meant: the text is a line for a person."""


@dataclass(frozen=True, slots=True)
class Check:
    """One limit. `total`: on the sum of the column over the rows, else on each row."""

    name: str
    metric: str
    column: str
    total: bool
    least: Decimal | None
    most: Decimal | None
    where: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """How a check went. `failed` are the rows that break the limit (for a sum: one row, of that column alone)."""

    check: Check
    passed: bool
    matched: int
    judged: int
    failed: list[dict[str, Any]]


def parse(text: str) -> list[Check]:
    """The checks of a TOML file. Raises CheckError."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CheckError(f"not TOML: {error}") from error
    if not tables:
        raise CheckError("no check in it, wanted tables like [produce-is-fast]")
    return [_check(name, table) for name, table in tables.items()]


def _check(name: str, table: Any) -> Check:
    if not isinstance(table, dict):
        raise CheckError(f"{name}: wanted a table [{name}], got {table!r}")
    unknown = sorted(set(table) - _WORDS)
    if unknown:
        raise CheckError(f"[{name}] {unknown[0]}: not a word of a check; those are {', '.join(sorted(_WORDS))}")
    metric = table.get("metric")
    if metric != FINDINGS and metric not in metrics.names():
        raise CheckError(f"[{name}] metric: no {metric!r}; there are {', '.join([FINDINGS, *metrics.names()])}")
    columns = [table[word] for word in ("column", "sum") if word in table]
    if len(columns) != 1 or not isinstance(columns[0], str):
        raise CheckError(f'[{name}] wanted one of column = "..." and sum = "..."')
    limits = {word: amount(table[word], columns[0], f"[{name}] {word}") for word in ("min", "max") if word in table}
    if not limits:
        raise CheckError(f"[{name}] wanted a limit: max, min or both")
    where = table.get("where", {})
    if not isinstance(where, dict):
        raise CheckError(f"[{name}] where: wanted a table of columns, got {where!r}")
    return Check(name, metric, columns[0], "sum" in table, limits.get("min"), limits.get("max"), where)


def amount(value: Any, column: str, place: str) -> Decimal:
    """A limit in the unit of `column`. Raises CheckError, which begins with `place`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise CheckError(f'{place}: wanted a number, or text like "50 ms", got {value!r}')
    if not isinstance(value, str):
        return Decimal(str(value))
    found = _AMOUNT.fullmatch(value.strip())
    units = next((units for end, units in _UNITS.items() if column.endswith(end)), {})
    unit = found[2] if found else None
    if found is None or (unit is not None and unit not in units):
        takes = f"a number with {', '.join(units)}" if units else "a number"
        raise CheckError(f"{place}: {column} takes {takes}, got {value!r}")
    try:
        return Decimal(found[1]) * (units[unit] if unit else 1)
    except InvalidOperation as error:
        raise CheckError(f"{place}: {value!r} is no number") from error


def run(dataset: Dataset, checks: list[Check]) -> list[Result]:
    """How the checks go. Raises CheckError for a column that its metric does not have, DatasetError."""
    known: dict[str, list[dict[str, Any]]] = {}
    for check in checks:
        if check.metric not in known:
            known[check.metric] = _findings(dataset) if check.metric == FINDINGS else dataset.metric(check.metric)
    return [_result(check, known[check.metric]) for check in checks]


def _findings(dataset: Dataset) -> list[dict[str, Any]]:
    counts: dict[tuple[str, str], int] = {}
    for finding in find(dataset):
        key = (finding.rule.name, finding.severity)
        counts[key] = counts.get(key, 0) + 1
    return [{"finding": name, "severity": severity, "count": n} for (name, severity), n in counts.items()]


def _result(check: Check, rows: list[dict[str, Any]]) -> Result:
    for column in (check.column, *check.where):
        if rows and column not in rows[0]:
            raise CheckError(f"[{check.name}] {check.metric} has no column {column!r}; it has {', '.join(rows[0])}")
    if rows and rows[0].get("total_rows", 0) > len(rows):
        listed = f"{len(rows):,} of {rows[0]['total_rows']:,} rows"
        raise CheckError(f"[{check.name}] {check.metric} lists {listed}: narrow it with --client, --api and the like")
    matched = [row for row in rows if all(_fits(row[name], wanted) for name, wanted in check.where.items())]
    judged = [row for row in matched if row[check.column] is not None]
    of = judged
    if check.total and judged:
        of = [{check.column: sum(row[check.column] for row in judged)}]
    failed = [row for row in of if not _keeps(check, row[check.column])]
    passed = not failed if judged else not matched and check.least is None
    return Result(check, passed, len(matched), len(judged), failed)


def _fits(value: Any, wanted: Any) -> bool:
    """Text is a glob; a list holds alternatives."""
    if isinstance(wanted, list):
        return any(_fits(value, each) for each in wanted)
    if isinstance(wanted, str):
        return value is not None and fnmatchcase(str(value), wanted)
    return bool(value == wanted)


def _keeps(check: Check, value: Any) -> bool:
    number = Decimal(str(value))
    return (check.least is None or number >= check.least) and (check.most is None or number <= check.most)
