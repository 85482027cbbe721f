"""What a notebook asks of the tables of a run, on Spark as on this machine, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from analyzer.query.incidents import Finding

METRICS = ("latency", "throttle", "topics")


def answers(findings: Iterable[Finding], metric: Callable[[str], list[dict[str, Any]]]) -> str:
    """The findings with their evidence, and some metrics; rows in their order."""
    found = [
        {"rule": each.rule.name, "severity": each.severity, **each.row}
        | {f"packet_{number}": place.packet for number, place in enumerate(each.evidence)}
        for each in findings
    ]
    return json.dumps({"findings": found} | {name: metric(name) for name in METRICS})
