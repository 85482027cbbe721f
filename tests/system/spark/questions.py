"""What a notebook asks of the tables of a run, on Spark as on this machine; of Spark also its statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from analyzer.query.incidents import Finding

if TYPE_CHECKING:
    from analyzer.spark import Tables

METRICS = ("latency", "throttle", "topics")
Rows = list[dict[str, Any]]


def answers(findings: Iterable[Finding], metric: Callable[[str], Rows]) -> dict[str, Rows]:
    """The findings with their evidence, and some metrics; rows in their order."""
    found = [
        {"rule": each.rule.name, "severity": each.severity, **each.row}
        | {f"packet_{number}": place.packet for number, place in enumerate(each.evidence)}
        for each in findings
    ]
    return {"findings": found} | {name: metric(name) for name in METRICS}


def statistics(found: Tables) -> dict[str, Rows]:
    """By the keys that they have by themselves, and by others: of a connection, of topics, of error codes alone."""
    frames = {
        "latency": found.latency(),
        "latency_by_topic": found.latency(by=("topic", "api_name", "kind")),
        "latency_by_tap": found.latency(by=["tap"]),
        "throttle": found.throttle(),
        "throttle_by_api": found.throttle(by=("api_name",)),
        "errors": found.errors(),
        "errors_by_code": found.errors(by=("code", "cluster")),
    }
    return {name: [row.asDict() for row in frame.collect()] for name, frame in frames.items()}
