"""Thresholds on metrics, for CI: a TOML file of checks, each a limit on a column of a metric.

    [produce-is-fast]
    metric = "latency"               # a file of analyzer/query/metrics, or "findings" (columns finding, severity, count)
    where = { api_name = "Produce", client_id = "orders-*" }    # columns of it: globs, numbers, true or false
    column = "p99_ns"                # every row must keep the limit; `sum = "..."` instead: their sum
    max = "50 ms"                    # and, or, min

A limit is text with a unit where the column's name says one: `_ns` and `_ms` take `50 ms`, `_bytes` `10 MB` (decimal),
`share` `5 %`; else a number. What was not measured does not pass: a name in `where` that does not occur in the capture, rows
without a value, no rows where a metric lists what there is, and whatever could not be read (`query.readability`). Only where
rows are events (EVENTS), and in sums, no row means that there was none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from analyzer.base.filters import like
from analyzer.base.tables import TABLES
from analyzer.base.wait_kinds import KINDS
from analyzer.query import metrics
from analyzer.query.findings import SEVERITIES, rules
from analyzer.query.readability import WHOLE, Readability, readability
from analyzer.query.run_findings import find
from dissectors.kafka.schema.error_codes import known_errors

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

FINDINGS = "findings"
# Metrics with a row only for what happened: without one it did not.
EVENTS = (
    FINDINGS,
    "attempts",
    "connections_of_note",
    "errors",
    "problems",
    "rebalances",
    "refused",
    "throttle",
    "unanswered",
)
PASSED, FAILED, NOT_MEASURED = "passed", "failed", "not_measured"
_WORDS = {"metric", "where", "column", "sum", "max", "min"}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(\S+)?")
_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# End of a column's name -> what one of each unit is in the column's own.
UNITS: dict[str, dict[str, Decimal]] = {
    "_ns": {unit: Decimal(ns) for unit, ns in _NS.items()},
    "_ms": {unit: Decimal(ns) / 10**6 for unit, ns in _NS.items()},
    "_bytes": {unit: Decimal(size) for unit, size in _BYTES.items()},
    "share": {"%": Decimal("0.01")},
}


VERDICTS = ("already_failing", "breaks", "undetermined", "unknown", "fine_as_far_as_seen", "upgrade_note")
# Tables that name what was there.
_NAMING = ("connections", "exchanges", "entries", "group_events", "brokers")


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
    """How a check went. `verdict`: PASSED, FAILED, or NOT_MEASURED for the reason `unknown`, or because of what could not be
    read (`readability`). `failed` are the rows that break the limit (for a sum: one row, of that column alone)."""

    check: Check
    matched: int
    judged: int
    failed: list[dict[str, Any]]
    unknown: str
    readability: Readability

    @property
    def verdict(self) -> str:
        if self.failed:
            return FAILED
        return NOT_MEASURED if self.unknown or self.readability.verdict != WHOLE else PASSED


def parse(text: str) -> list[Check]:
    """The checks of a TOML file. Raises CheckError."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CheckError(f"not TOML: {error}") from error
    if not tables:
        raise CheckError("contains no check, expected tables like [produce-is-fast]")
    return [_check(name, table) for name, table in tables.items()]


def _check(name: str, table: Any) -> Check:
    if not isinstance(table, dict):
        raise CheckError(f"{name}: expected a table [{name}], got {table!r}")
    unknown = sorted(set(table) - _WORDS)
    if unknown:
        raise CheckError(f"[{name}] {unknown[0]}: not a key of a check; keys are {', '.join(sorted(_WORDS))}")
    metric = table.get("metric")
    if metric != FINDINGS and metric not in metrics.names():
        raise CheckError(f"[{name}] metric: no {metric!r}; there are {', '.join([FINDINGS, *metrics.names()])}")
    columns = [table[word] for word in ("column", "sum") if word in table]
    if len(columns) != 1 or not isinstance(columns[0], str):
        raise CheckError(f'[{name}] expected one of column = "..." and sum = "..."')
    limits = {word: amount(table[word], columns[0], f"[{name}] {word}") for word in ("min", "max") if word in table}
    if not limits:
        raise CheckError(f"[{name}] expected a limit: max, min or both")
    where = table.get("where", {})
    if not isinstance(where, dict):
        raise CheckError(f"[{name}] where: expected a table of columns, got {where!r}")
    return Check(name, metric, columns[0], "sum" in table, limits.get("min"), limits.get("max"), where)


def amount(value: Any, column: str, place: str) -> Decimal:
    """A limit in the unit of `column`. Raises CheckError, which begins with `place`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise CheckError(f'{place}: expected a number, or text like "50 ms", got {value!r}')
    units = next((units for end, units in UNITS.items() if column.endswith(end)), {})
    found = _AMOUNT.fullmatch(str(value).strip())
    unit = found[2] if found else None
    # 0 is the same in every unit.
    if found is None or ((unit or (units and Decimal(found[1]))) and unit not in units):
        takes = f"a number with a unit ({', '.join(units)})" if units else "a number"
        raise CheckError(f"{place}: {column} takes {takes}, got {value!r}")
    try:
        return Decimal(found[1]) * (units[unit] if unit else 1)
    except InvalidOperation as error:
        raise CheckError(f"{place}: {value!r} is not a number") from error


def run(dataset: Dataset, checks: list[Check]) -> list[Result]:
    """How the checks go. Raises CheckError for a column that its metric does not have, and for a name that nothing can have;
    DatasetError."""
    metrics_asked = dict.fromkeys(check.metric for check in checks)
    found: dict[int, Result] = {}
    for metric in metrics_asked:
        tallies = {number: _Tally(check) for number, check in enumerate(checks) if check.metric == metric}
        # Some rows at a time: of readiness there may be millions.
        columns, batches = _findings(dataset) if metric == FINDINGS else dataset.metric_in_portions(metric)
        for tally in tallies.values():
            tally.begin(columns)
        for rows in batches:
            for tally in tallies.values():
                tally.add(rows)
        found |= {number: tally.result(dataset) for number, tally in tallies.items()}
    return [found[number] for number in range(len(checks))]


def _findings(dataset: Dataset) -> tuple[list[str], Iterator[list[dict[str, Any]]]]:
    counts: dict[tuple[str, str], int] = {}
    for finding in find(dataset):
        key = (finding.rule.name, finding.severity)
        counts[key] = counts.get(key, 0) + 1
    rows = [{"finding": name, "severity": severity, "count": n} for (name, severity), n in counts.items()]
    return ["finding", "severity", "count"], iter([rows])


class _Tally:
    """What the rows of a metric, which come some at a time, say of a check."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._rows = self._matched = self._judged = self._total_rows = 0
        self._sum: Any = 0
        self._failed: list[dict[str, Any]] = []
        # What `where` names and no row had so far.
        self._absent = [
            (column, name)
            for column, wanted in check.where.items()
            for name in (wanted if isinstance(wanted, list) else [wanted])
            if not isinstance(name, bool)
        ]

    def begin(self, columns: Sequence[str]) -> None:
        check = self._check
        for column in (check.column, *check.where):
            if column not in columns:
                raise CheckError(f"[{check.name}] {check.metric} has no column {column!r}; it has {', '.join(columns)}")

    def add(self, rows: list[dict[str, Any]]) -> None:
        check = self._check
        if not self._rows and rows:
            self._total_rows = rows[0].get("total_rows", 0)
        self._rows += len(rows)
        self._absent = [
            (column, name) for column, name in self._absent if not any(_fits(r[column], name) for r in rows)
        ]
        matched = [row for row in rows if all(_fits(row[name], wanted) for name, wanted in check.where.items())]
        self._matched += len(matched)
        judged = [row for row in matched if row[check.column] is not None]
        self._judged += len(judged)
        if check.total:
            self._sum += sum(row[check.column] for row in judged)
        else:
            self._failed += [row for row in judged if not _keeps(check, row[check.column])]

    def result(self, dataset: Dataset) -> Result:
        check = self._check
        if self._total_rows > self._rows:
            listed = f"{self._rows:,} of {self._total_rows:,} rows"
            raise CheckError(
                f"[{check.name}] {check.metric} lists {listed}: narrow it with --client, --api and the like"
            )
        failed = self._failed
        if check.total and self._judged and not _keeps(check, self._sum):
            failed = [{check.column: self._sum}]
        unknown = _absent(dataset, check, self._absent) or _unmeasured(check, self._rows, self._matched, self._judged)
        return Result(check, self._matched, self._judged, failed, unknown, readability(dataset, check.metric))


def _unmeasured(check: Check, rows: int, matched: int, judged: int) -> str:
    """Why there is nothing to judge; empty where there is, or where no row means that nothing happened."""
    if judged:
        return ""
    if matched:
        return f"{check.column} is not known in any of the {matched:,} rows"
    if check.least is None and (check.metric in EVENTS or (check.total and rows)):
        return ""
    return "no row matches"


def _absent(dataset: Dataset, check: Check, names: Sequence[tuple[str, Any]]) -> str:
    """Says which of the names that no row has does not occur in the capture; empty: all do. Raises CheckError for one that
    nothing can have."""
    for column, name in names:
        words = _vocabulary(dataset, check.metric, column)
        if words is not None:
            if not any(_fits(word, name) for word in words):
                raise CheckError(f"[{check.name}] where: there is no {column} {name!r}")
        elif not _occurs(dataset, column, name):
            return f"{column} {name!r} does not occur in the capture"
    return ""


def _vocabulary(dataset: Dataset, metric: str, column: str) -> Collection[Any] | None:
    """What can be in a column whose values are ours or Kafka's; None: the capture gives them."""
    match metric, column:
        case "errors", "code":
            return known_errors().keys()
        case "errors", "name":
            return {error.name for error in known_errors().values()}
        case "findings", "finding":
            return {rule.name for rule in rules()}
        case "findings", "severity":
            return SEVERITIES
        case "readiness", "verdict":
            return VERDICTS
        case "readiness", "release":
            return {row["release"] for row in dataset.query("SELECT release FROM kafka_releases")}
        case _, "kind":
            return KINDS.keys()
        case _, "reach":
            return {kind.reach for kind in KINDS.values()}
    return None


def _occurs(dataset: Dataset, column: str, name: Any) -> bool:
    """Whether anything that the filters leave has this name, where a table has the column."""
    fits = like(f"CAST({column} AS VARCHAR)", str(name))
    return any(
        dataset.query(f"SELECT 1 AS one FROM {table} WHERE {fits} LIMIT 1")
        for table in _NAMING
        if any(each.name == column for each in TABLES[table])
    )


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
