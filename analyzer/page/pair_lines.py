"""Two captures over time from the beginning of each, in slots of one length."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from analyzer.base.settings import Settings
from analyzer.base.wait_kinds import WAIT
from analyzer.compare.significance import percentile_bucket
from analyzer.page.page_data import captured, time_of
from analyzer.query.dataset import Dataset

# Buckets of `latency_heat`: eight a doubling of a second; -250 is no time at all.
_PER_DOUBLING, _NO_TIME = 8, -250
# A line: (ns from the beginning, value), in the order of time; None where nothing was captured or nothing is known.
Line = list[tuple[int, float | None]]


@dataclass(slots=True)
class _Slot:
    """What is known of one slot: `begin` and `end` from the first packet on, `captured` how much of it files cover, ns."""

    begin: int
    end: int
    captured: int
    sums: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    buckets: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    # Names of sums that miss replies which could not be read.
    unknown: set[str] = field(default_factory=set)

    def add(self, other: _Slot) -> None:
        """Takes in a neighbour."""
        self.begin, self.end = min(self.begin, other.begin), max(self.end, other.end)
        self.captured += other.captured
        self.unknown |= other.unknown
        for name, each in other.sums.items():
            self.sums[name] += each
        for bucket, each in other.buckets.items():
            self.buckets[bucket] += each

    def rate(self, name: str) -> float | None:
        """A sum by captured second."""
        if not self.captured or (name in self.unknown and not self.sums[name]):
            return None
        return self.sums[name] * 1e9 / self.captured


def lines_of(dataset: Dataset, coverage: dict[str, Any], every_ns: int) -> dict[str, Line]:
    """Name -> line: `requests`, `errors`, `throttled`, `request_bytes`, `response_bytes` of clients a second, and `p99`, ns, of
    what is no wait by design. Raises DatasetError.
    """
    first, last = time_of(dataset, coverage)
    spans = captured(dataset, first, first, last)
    slots = {
        start: _slot(max(start, first) - first, min(start + every_ns, last) - first, spans)
        for start in range(first - first % every_ns, last, every_ns)
    }
    dataset.choose(Settings((), every_ns))
    try:
        with dataset.asking("activity"):
            activity = dataset.metric("activity")
            heat = dataset.metric("latency_heat")
    finally:
        dataset.choose(Settings())
    for row in activity:
        if not row["between_brokers"] and row["slot_ns"] in slots:
            for name in RATES:
                slot = slots[row["slot_ns"]]
                slot.sums[name] += row[name] or 0
                slot.unknown |= {name} if row[name] is None else set()
    for row in heat:
        if row["reach"] != WAIT and row["slot_ns"] in slots:
            slots[row["slot_ns"]].buckets[row["bucket"]] += row["n"]
    whole = _without_slivers(list(slots.values()), every_ns)
    made: dict[str, Line] = {name: [(_middle(each), each.rate(name)) for each in whole] for name in RATES}
    return made | {"p99": [(_middle(each), _p99(each.buckets)) for each in whole]}


RATES = ("requests", "errors", "throttled", "request_bytes", "response_bytes")


def _slot(begin: int, end: int, spans: list[list[int]]) -> _Slot:
    return _Slot(begin, end, sum(max(0, min(end, until) - max(begin, since)) for since, until in spans))


def _without_slivers(slots: list[_Slot], every_ns: int) -> list[_Slot]:
    """The first and the last slot may lie in the capture with a small part, whose rate would be that of one request: less than half
    a slot goes to its neighbour."""
    if len(slots) > 2 and slots[-1].end - slots[-1].begin < every_ns // 2:
        last = slots.pop()
        slots[-1].add(last)
    if len(slots) > 2 and slots[0].end - slots[0].begin < every_ns // 2:
        first = slots.pop(0)
        slots[0].add(first)
    return slots


def _middle(slot: _Slot) -> int:
    return (slot.begin + slot.end) // 2


def _p99(buckets: dict[int, int]) -> float | None:
    bucket = percentile_bucket(buckets, 99)
    if bucket is None:
        return None
    return 0.0 if bucket == _NO_TIME else 1e9 * 2 ** ((bucket - 0.5) / _PER_DOUBLING)
