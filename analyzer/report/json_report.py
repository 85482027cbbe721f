"""The report for programs: the metrics as JSON. Keys are 16 hex digits, as in every JSON output; times are int64 ns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from analyzer.base.tables import is_key
from analyzer.base.text import json_text
from analyzer.query.left_out import leave_out
from analyzer.query.readability import readability
from analyzer.query.run_findings import find_all
from analyzer.report.finding_rows import as_object
from analyzer.report.readability_words import as_object as as_object_of

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

METRICS = (
    "coverage",
    "latency",
    "throttle",
    "errors",
    "connections_of_note",
    "unanswered",
    "clients",
    "topics",
    "groups",
    "decoding",
    "offered_beyond",
    "broker_software",
    "between",
    "problems",
)
# Asked only where a broker's log of requests was read.
OF_LOGS = ("broker_log", "log_coverage")


def write_metrics(dataset: Dataset, form: str, stream: TextIO) -> None:
    """`json`: one object, metric -> rows (coverage: one row), and `findings`, and `readable`: what could not be
    read; `jsonl`: a line per row, its metric in front.

    Metrics that could not be asked, for lack of memory or disk or by a bug, are named under `not_shown`, with the reason, and so
    are rules; `findings` is null when none could be asked.
    """
    found: dict[str, Any] = {}
    questions: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "findings": lambda: [as_object(finding) for finding in find_all(dataset)]
    }
    metrics = (*METRICS, *(OF_LOGS if dataset.is_logged else ()))
    questions |= {name: partial(_rows, dataset, name) for name in metrics}
    for name, ask in questions.items():
        try:
            found[name] = ask()
        except Exception as error:
            if leave_out(dataset, name, error) is None:
                raise
    if form == "jsonl":
        for name, rows in found.items():
            for row in rows:
                stream.write(json_text({"metric": name} | row) + "\n")
        for name, reason in dataset.left_out.items():
            stream.write(json_text({"metric": "not_shown", "name": name, "reason": reason}) + "\n")
        return
    findings = found.pop("findings", None)
    if "coverage" in found:
        found["coverage"] = found["coverage"][0]
    found["findings"] = findings
    found["readable"] = as_object_of(readability(dataset))
    if dataset.left_out:
        found["not_shown"] = dataset.left_out
    stream.write(json_text(found, indent=2) + "\n")


def _rows(dataset: Dataset, metric: str) -> list[dict[str, Any]]:
    return [_row(row) for row in dataset.metric(metric)]


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: f"{value:016x}" if is_key(name) and value is not None else value for name, value in row.items()}
