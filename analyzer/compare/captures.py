"""Two captures side by side: what got slower, which errors are new, which clients came and went.

A difference is told when it is more than noise (`analyzer.compare.significance`) and large enough to matter: latency by a
fifth and a tenth of a millisecond, of at least 30 requests on both sides. Waits by design are left out. Of p99 it is asked
whether more requests are beyond it than chance gives: of fewer than 300, some eleven have to be.

Latency, and how many requests an API had, come from the view `latency_counts`: of whole hours of a dataset that grows these are its
sums, and no row is read for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from analyzer.base.expected_errors import FAILURES
from analyzer.base.latency_buckets import middle_ns
from analyzer.base.settings import Settings
from analyzer.base.wait_kinds import WAIT, kind_of
from analyzer.compare.significance import Z, above, percentile_bucket, rank_sum_z, rates_differ
from analyzer.query.sql_words import folded

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

LEAST_REQUESTS = 30
LEAST_RATIO, LEAST_NS = 1.2, 100_000
# Changes that are judged as worse, the worst first: of a latency that moved both ways, too.
WORSE = ("slower", "faster_slower_p99", "slower_p99", "slower_faster_p99", "new", "more")


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """One API and kind of wait. `change` is slower or faster (p50), slower_p99 or faster_p99 (p99 alone), faster_slower_p99 or
    slower_faster_p99 (p50 moved one way, p99 the other), same, or unknown (too few requests)."""

    api_name: str
    kind: str | None
    before_count: int
    after_count: int
    before_p50_ns: int | None
    after_p50_ns: int | None
    before_p99_ns: int | None
    after_p99_ns: int | None
    change: str


@dataclass(frozen=True, slots=True)
class ErrorChange:
    """One code of one API, expected ones left out. `change` is new, gone, more, fewer, same, or unknown (there
    on one side only, too few to tell).

    Counts are messages with the code; `_requests` those of the API, so that captures of different length compare.
    """

    api_name: str
    code: int
    name: str | None
    before_count: int
    after_count: int
    before_requests: int
    after_requests: int
    change: str


@dataclass(frozen=True, slots=True)
class ClientChange:
    """A client by id, user and software (addresses and ports may change between two captures). `change`: new, gone, same."""

    client_id: str | None
    principal: str | None
    software_name: str | None
    software_version: str | None
    before_requests: int
    after_requests: int
    change: str


@dataclass(frozen=True, slots=True)
class FindingChange:
    """How often a rule of `analyzer.query.findings` found something. `change`: new, gone, same."""

    finding: str
    severity: str
    before_count: int
    after_count: int
    change: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it, what did not change included; the first in each list matters most."""

    latency: list[LatencyChange]
    errors: list[ErrorChange]
    clients: list[ClientChange]
    findings: list[FindingChange]


PARTS = tuple(each.name for each in fields(Comparison))


def compare(before: Dataset, after: Dataset, parts: Collection[str] = PARTS) -> Comparison:
    """Compares two datasets with the same filters; lists of other parts are empty. Raises DatasetError."""
    for dataset in (before, after):
        dataset.choose(Settings())
    asked = (compared(before, after) if part in parts else () for part, compared in _QUESTIONS.items())
    latency, errors, clients, findings = asked
    return Comparison(
        sorted(latency, key=_latency_order),
        sorted(errors, key=lambda each: (_order(each.change), -each.after_count, each.api_name, each.code)),
        sorted(clients, key=lambda each: (_order(each.change), str(each.client_id))),
        sorted(findings, key=lambda each: (_order(each.change), each.finding)),
    )


_CHANGES = (*WORSE, "faster", "faster_p99", "gone", "fewer", "unknown", "same")


def _order(change: str) -> int:
    return _CHANGES.index(change)


def _latency_order(each: LatencyChange) -> tuple[int, int, str, str]:
    grown = (each.after_p99_ns or 0) - (each.before_p99_ns or 0)
    return _order(each.change), -grown, each.api_name, each.kind or ""


Histogram = dict[int, int]


@dataclass(slots=True)
class _Latencies:
    requests: int = 0
    max_ns: int = 0
    buckets: Histogram | None = None

    def percentile(self, percent: int) -> int | None:
        """ns, the middle of the bucket as the latency metric gives it."""
        bucket = percentile_bucket(self.buckets or {}, percent)
        if bucket is None:
            return None
        return min(middle_ns(bucket), self.max_ns)


# A request without a latency is in a bucket too, and not counted in `n`.
_COUNTS = """
SELECT api_name, kind, bucket, CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(n) AS BIGINT) AS n, max(high) AS max_ns
FROM latency_counts
WHERE role = 'client' AND api_name IS NOT NULL
GROUP BY api_name, kind, bucket
"""


def _histograms(dataset: Dataset) -> dict[tuple[str, str | None], _Latencies]:
    found: dict[tuple[str, str | None], _Latencies] = {}
    for row in dataset.query(_COUNTS):
        latencies = found.setdefault((row["api_name"], row["kind"]), _Latencies(buckets={}))
        latencies.requests += row["requests"]
        if row["n"] and latencies.buckets is not None:
            latencies.buckets[row["bucket"]] = row["n"]
            latencies.max_ns = max(latencies.max_ns, row["max_ns"])
    return found


def _latency(before: Dataset, after: Dataset) -> Iterator[LatencyChange]:
    then, now = _histograms(before), _histograms(after)
    for api, kind in {**then, **now}:
        if kind_of(kind).reach == WAIT:
            continue
        old, new = then.get((api, kind), _Latencies()), now.get((api, kind), _Latencies())
        yield LatencyChange(
            api,
            kind,
            old.requests,
            new.requests,
            old.percentile(50),
            new.percentile(50),
            old.percentile(99),
            new.percentile(99),
            _latency_change(old, new),
        )


def _latency_change(old: _Latencies, new: _Latencies) -> str:
    before, after = old.buckets or {}, new.buckets or {}
    least = min(sum(before.values()), sum(after.values()))
    if least < LEAST_REQUESTS:
        return "unknown"
    return _MOVES[_p50_moved(old, new), _p99_moved(old, new)]


# What is said of p50 and p99 together: 1 grew, -1 shrank, 0 did not move, or not enough to tell.
_MOVES = {
    (1, 1): "slower",
    (1, 0): "slower",
    (1, -1): "slower_faster_p99",
    (0, 1): "slower_p99",
    (0, 0): "same",
    (0, -1): "faster_p99",
    (-1, 1): "faster_slower_p99",
    (-1, 0): "faster",
    (-1, -1): "faster",
}


def _p50_moved(old: _Latencies, new: _Latencies) -> int:
    z = rank_sum_z(old.buckets or {}, new.buckets or {})
    moved = _moved(old.percentile(50), new.percentile(50))
    return moved if abs(z) >= Z and (z > 0) == (moved > 0) else 0


def _p99_moved(old: _Latencies, new: _Latencies) -> int:
    before, after = old.buckets or {}, new.buckets or {}
    moved = _moved(old.percentile(99), new.percentile(99))
    limit = percentile_bucket(after if moved < 0 else before, 99) or 0
    counts = above(before, limit), sum(before.values()), above(after, limit), sum(after.values())
    return moved if rates_differ(*counts) else 0


def _moved(old: int | None, new: int | None) -> int:
    """1 or -1 when a latency grew or shrank enough to matter, else 0."""
    if old is None or new is None or abs(new - old) < LEAST_NS:
        return 0
    return 1 if new >= old * LEAST_RATIO else -1 if old >= new * LEAST_RATIO else 0


_REQUESTS = "SELECT api_name, CAST(sum(requests) AS BIGINT) AS n FROM latency_counts GROUP BY api_name"
_ERRORS = """
SELECT x.api_name, e.code, max(e.name) AS name, count(DISTINCT e.exchange) AS n
FROM errors AS e JOIN exchanges AS x ON x.exchange = e.exchange
WHERE e.expected IS NOT TRUE AND x.api_name IS NOT NULL
GROUP BY x.api_name, e.code
"""


def _errors(before: Dataset, after: Dataset) -> Iterator[ErrorChange]:
    asked = [{row["api_name"]: row["n"] for row in each.query(_REQUESTS)} for each in (before, after)]
    found = [{(row["api_name"], row["code"]): row for row in each.query(_ERRORS)} for each in (before, after)]
    for key in {**found[0], **found[1]}:
        api, code = key
        old, new = (each[key]["n"] if key in each else 0 for each in found)
        name = (found[1].get(key) or found[0][key])["name"]
        old_of, new_of = (each.get(api, 0) for each in asked)
        yield ErrorChange(api, code, name, old, new, old_of, new_of, _error_change(code, old, old_of, new, new_of))


def _error_change(code: int, old: int, old_of: int, new: int, new_of: int) -> str:
    """A code that is never normal is news when it appears; for the others the rate must differ, also from none at all."""
    differ = rates_differ(old, old_of, new, new_of)
    if not old:
        return "new" if differ or code in FAILURES else "unknown"
    if not differ:
        return "same" if new else "unknown"
    if not new:
        return "gone"
    return "more" if new * old_of > old * new_of else "fewer"


_CLIENTS = folded("""
SELECT x.client_id, c.principal, c.software_name, c.software_version, count(*) AS n
FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
WHERE x.request_time_ns IS NOT NULL AND is_client(x.role)
GROUP BY x.client_id, c.principal, c.software_name, c.software_version
""")


def _clients(before: Dataset, after: Dataset) -> Iterator[ClientChange]:
    names = ("client_id", "principal", "software_name", "software_version")
    found: list[dict[tuple[Any, ...], int]] = [
        {tuple(row[name] for name in names): row["n"] for row in each.query(_CLIENTS)} for each in (before, after)
    ]
    for key in {**found[0], **found[1]}:
        old, new = (each.get(key, 0) for each in found)
        client_id, principal, name, version = key
        change = "new" if not old else "gone" if not new else "same"
        yield ClientChange(client_id, principal, name, version, old, new, change)


def _findings(before: Dataset, after: Dataset) -> Iterator[FindingChange]:
    from analyzer.query.run_findings import find

    counts: dict[tuple[str, str], list[int]] = {}
    for at, dataset in enumerate((before, after)):
        for finding in find(dataset):
            counts.setdefault((finding.rule.name, finding.severity), [0, 0])[at] += 1
    for (name, severity), (old, new) in counts.items():
        yield FindingChange(name, severity, old, new, "new" if not old else "gone" if not new else "same")


# In the order of the lists of a Comparison.
_QUESTIONS: dict[str, Callable[[Dataset, Dataset], Iterator[Any]]] = {
    "latency": _latency,
    "errors": _errors,
    "clients": _clients,
    "findings": _findings,
}
