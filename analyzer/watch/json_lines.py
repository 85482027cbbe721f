"""An answer as one line of JSON. Keys and values are those of `kanalyze report --format json`; times are int64 ns."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from analyzer.base.tables import is_key
from analyzer.base.text import json_text
from analyzer.report.finding_rows import as_object
from analyzer.report.readability_words import as_object as readable_object

if TYPE_CHECKING:
    from analyzer.report.facts import Rows
    from analyzer.watch.answers import Answer
    from analyzer.watch.findings_log import Told
    from analyzer.watch.told import Pulse


# Rows of errors in a line, of the most frequent ones.
MOST_ERRORS = 100


def line(answer: Answer, pulse: Pulse) -> str:
    """`from_ns` to `to_ns`: the time of packets that the rows are about. `run` counts since the beginning. A metric that a bug of
    ours keeps away is no key, and `not_shown` says why."""
    found = {
        "from_ns": answer.begin_ns,
        "to_ns": answer.end_ns,
        "readable": readable_object(answer.readable),
        "reading": asdict(pulse),
        "run": answer.run,
        "coverage": answer.coverage,
        "latency": _rows(answer.latency),
        "throttle": _rows(answer.throttle),
        "errors": _rows(answer.errors[:MOST_ERRORS]),
        "findings": [_finding(each, answer.end_ns or 0, each in answer.new) for each in answer.findings],
    }
    if answer.left_out:
        found = {name: value for name, value in found.items() if name not in answer.left_out}
        found["not_shown"] = answer.left_out
    return json_text(found)


def _finding(told: Told, now_ns: int, new: bool) -> dict[str, Any]:
    state = {"number": told.number, "new": new, "over": told.over, "age_ns": told.age_ns(now_ns)}
    return state | as_object(told.finding)


def _rows(rows: Rows) -> list[dict[str, Any]]:
    return [
        {name: f"{value:016x}" if is_key(name) and value is not None else value for name, value in row.items()}
        for row in rows
    ]
