"""The broker's own account of a request, from its log (`--request-log`), in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.report.format import duration

# Column of `exchanges` and, without `log_`, of sums -> what it is.
PARTS = {
    "log_queue_ns": "request queue",
    "log_local_ns": "local (its disk too)",
    "log_remote_ns": "remote (waits for others)",
    "log_response_queue_ns": "response queue",
    "log_send_ns": "send",
}


def account(row: Mapping[str, Any]) -> str | None:
    """12 ms: local (its disk too) 11 ms, request queue 0.5 ms, ..., the largest first; None: no log has this request."""
    if row["log_total_ns"] is None:
        return None
    parts = sorted((name for name in PARTS if row[name]), key=lambda name: -row[name])
    told = ", ".join(f"{PARTS[name]} {duration(row[name])}" for name in parts)
    return f"{duration(row['log_total_ns'])}{': ' if told else ''}{told}"
