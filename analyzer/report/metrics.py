"""The report for programs: the metrics as JSON. Keys are 16 hex digits, as in every JSON output; times are int64 ns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from analyzer.text import escape_json

if TYPE_CHECKING:
    from analyzer.dataset import Dataset

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
KEYS = ("connection", "exchange", "example_exchange")


def write_metrics(dataset: Dataset, form: str, stream: TextIO) -> None:
    """`json`: one object, metric -> rows (coverage: one row); `jsonl`: a line per row, its metric in front."""
    if form == "jsonl":
        for name in METRICS:
            for row in dataset.metric(name):
                stream.write(_json({"metric": name} | _row(row)) + "\n")
        return
    found: dict[str, Any] = {name: [_row(row) for row in dataset.metric(name)] for name in METRICS}
    found["coverage"] = found["coverage"][0]
    stream.write(_json(found, indent=2) + "\n")


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: f"{value:016x}" if name in KEYS and value is not None else value for name, value in row.items()}


def _json(value: Any, indent: int | None = None) -> str:
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent))
