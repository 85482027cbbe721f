"""The report for programs: the metrics as JSON. Keys are 16 hex digits, as in every JSON output; times are int64 ns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from analyzer.base.tables import is_key
from analyzer.base.text import json_text
from analyzer.query.run_findings import find_quickly
from analyzer.report.finding_rows import as_object

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
    "decoding",
    "problems",
)


def write_metrics(dataset: Dataset, form: str, stream: TextIO) -> None:
    """`json`: one object, metric -> rows (coverage: one row), and `findings`; `jsonl`: a line per row, its metric in front."""
    findings = [as_object(finding) for finding in find_quickly(dataset)]
    if form == "jsonl":
        for finding in findings:
            stream.write(json_text({"metric": "findings"} | finding) + "\n")
        for name in METRICS:
            for row in dataset.metric(name):
                stream.write(json_text({"metric": name} | _row(row)) + "\n")
        return
    found: dict[str, Any] = {name: [_row(row) for row in dataset.metric(name)] for name in METRICS}
    found["coverage"] = found["coverage"][0]
    found["findings"] = findings
    stream.write(json_text(found, indent=2) + "\n")


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: f"{value:016x}" if is_key(name) and value is not None else value for name, value in row.items()}
