"""The broker's own account of requests, from its log (`--request-log`), in words and as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from analyzer.base.wait_kinds import BROKER, kind_of
from analyzer.query.questions import NO_LOG
from analyzer.report import text_tables
from analyzer.report.dimension_columns import api, broker
from analyzer.report.facts import Facts
from analyzer.report.format import count, duration, share, things
from analyzer.report.text_tables import Column, Row

# Part of a broker's time, as columns are called -> what it is.
PARTS = {
    "queue": "request queue",
    "local": "local",
    "remote": "remote",
    "response_queue": "response queue",
    "send": "send",
}
COLUMNS = (
    Column("API", least=20),
    Column("broker", spare=1),
    Column("count", right=True),
    Column("p50", right=True, spare=2),
    Column("p99", right=True),
    Column("max", right=True, spare=4),
    Column("where the broker's time goes", least=28),
    Column("of the slowest 1 %", spare=3),
)
MEANING = (
    "By the broker's own log. Request queue: until a handler thread is free; local: work on this broker, its disk and locks too; "
    "remote: waits for followers (acks=all), for data or for members; response queue: until a network thread is free; send: until "
    "the reply is with the host's network."
)
# What is not in both: outcome -> in words.
_LOG = {
    "forwarded": "inside an Envelope",
    "outside": "before or after the capture",
    "no_connection": "of connections that were not captured",
    "encrypted": "on TLS without keys",
    "unread": "on connections without readable Kafka",
    "not_captured": "missing on connections that were read: lost on the way to the capture",
    "ambiguous": "not certain which",
    "no_clock": "that cannot be compared: too little agrees to know the difference of the clocks",
}
_CAPTURE = {
    "login": "of logins, which no broker logs",
    "envelope": "of API Envelope, which no broker logs",
    "outside": "before or after the log: it was rotated, or begins later",
    "no_reply": "without a reply in the capture",
    "no_clock": "that cannot be compared: too little agrees to know the difference of the clocks",
    "not_logged": "missing in the log",
}
# Clocks that differ by less are said to agree.
SAME_CLOCK_NS = 20_000_000


def account(row: Mapping[str, Any]) -> str | None:
    """12 ms: local 11 ms, request queue 0.5 ms, ..., the largest first; None: no log has this request."""
    if row["log_total_ns"] is None:
        return None
    times = {name: row[f"log_{name}_ns"] for name in PARTS}
    parts = sorted((name for name in PARTS if times[name]), key=lambda name: -times[name])
    told = ", ".join(f"{PARTS[name]} {duration(times[name])}" for name in parts)
    return f"{duration(row['log_total_ns'])}{': ' if told else ''}{told}"


def table(facts: Facts, width: int, limit: int | None, command: str) -> list[Text]:
    """Where the brokers' time went by their logs, and what only one side has; nothing where no log was given."""
    if not facts.is_logged:
        return []
    # Waits by design come last, here too.
    rows = sorted(facts.rows("broker_log"), key=lambda row: kind_of(row["kind"]).reach != BROKER)
    coverage = facts.rows("log_coverage")
    if not coverage:
        return []
    lines = [text_tables.heading("Time in the broker by its own log", width)]
    if rows:
        lines += text_tables.table(COLUMNS, [_line(row) for row in rows[:limit]], width)
        lines += text_tables.more(len(rows) - len(rows[:limit]), facts.ask(command), width)
    told = [_alone(coverage)] if facts.is_log_alone else _coverage(coverage)
    return lines + text_tables.remarks(" ".join([*told, *([MEANING] if rows else [])]), width)


def alone(facts: Facts, width: int, limit: int | None, command: str) -> list[Text]:
    """The table where it alone was asked for; a sentence where there is no log."""
    return table(facts, width, limit, command) or text_tables.remarks(NO_LOG, width)


def _line(row: Mapping[str, Any]) -> Row:
    name = api(dict(row))
    times = (duration(row[column]) for column in ("p50_ns", "p99_ns", "max_ns"))
    return Row([name, broker(dict(row)), count(row["requests"]), *times, _shares(row, "log"), _shares(row, "slow")])


def _shares(row: Mapping[str, Any], prefix: str) -> str:
    """local 92 %, request queue 6 %; what is below 1 % is left out, and so is all beyond the third."""
    times = {name: row[f"{prefix}_{name}_ns"] or 0 for name in PARTS}
    whole = sum(times.values())
    parts = sorted((name for name in PARTS if times[name] * 100 >= whole > 0), key=lambda name: -times[name])
    return ", ".join(f"{PARTS[name]} {share(times[name] / whole)}" for name in parts[:3]) or "-"


def _alone(rows: Any) -> str:
    """591 requests of the log, and 46 inside an Envelope, which only the table log_requests has."""
    logged = {row["outcome"]: row["requests"] for row in rows}
    told = f"{things(logged.get('joined', 0), 'request')} of the log"
    if "forwarded" in logged:
        told += f", and {count(logged['forwarded'])} inside an Envelope, which only the table log_requests has"
    return f"{told}."


def _coverage(rows: Any) -> list[str]:
    """What each side has, and what the other one lacks, in sentences."""
    logged = {row["outcome"]: row for row in rows if row["side"] == "log"}
    captured = {row["outcome"]: row["requests"] for row in rows if row["side"] == "capture"}
    joined = logged.pop("joined", None)
    found = [f"{things(joined['requests'] if joined else 0, 'request')} of the log found in the capture."]
    if logged:
        only = ", ".join(f"{count(row['requests'])} {_LOG[name]}" for name, row in logged.items())
        found.append(f"Only in the log: {only}.")
    if captured:
        only = ", ".join(f"{count(number)} {_CAPTURE[name]}" for name, number in captured.items())
        found.append(f"Only in the capture: {only}.")
    ahead = joined["ahead_ns"] if joined else None
    if ahead is not None and abs(ahead) >= SAME_CLOCK_NS:
        found.append(
            f"The broker's clock is {duration(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} the capture's."
        )
    return found
