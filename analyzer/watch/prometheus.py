"""What is watched as text for Prometheus (exposition format 0.0.4).

Counters and classic histograms are of the whole run, gauges of now. Bounds of buckets are powers of two of a second, which are
bounds of the log buckets that percentiles are made of: counts are exact. Captured strings are label values, escaped, and bounded
in number: beyond MOST_LABELS they are `(other)`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

from analyzer.base.latency_buckets import PER_DOUBLING
from analyzer.base.text import shown_name
from analyzer.query.findings import SEVERITIES

if TYPE_CHECKING:
    from analyzer.watch.answers import Answer
    from analyzer.watch.told import Pulse

MOST_LABELS = 50
OTHER = "(other)"
_LONGEST_LABEL = 120
# From 0.24 ms to 64 s.
POWERS = tuple(range(-12, 7))
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_Labels = tuple[tuple[str, str], ...]


class Exposition:
    """Writes metrics of a session. Counters never fall: what was told once stays, where a later look counts a request under another
    kind."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, _Labels], float] = {}

    def text(self, answer: Answer | None, pulse: Pulse) -> str:
        """All metrics, each with its help and type."""
        lines: list[str] = []
        for name, kind, text, samples in (*_of_pulse(pulse), *(_of_answer(answer) if answer else ())):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            for end, labels, value in samples:
                whole = name + end
                told = self._risen(whole, labels, value) if kind in ("counter", "histogram") else value
                lines.append(f"{whole}{_written(labels)} {told:.17g}")
        return "\n".join(lines) + "\n"

    def _risen(self, name: str, labels: _Labels, value: float) -> float:
        told = max(value, self._told.get((name, labels), 0))
        self._told[name, labels] = told
        return told


_Sample = tuple[str, _Labels, float]
_Metric = tuple[str, str, str, Iterable[_Sample]]


def _of_pulse(pulse: Pulse) -> Iterator[_Metric]:
    counters = (
        ("kanalyze_segments_total", "TCP segments read.", pulse.segments),
        ("kanalyze_capture_bytes_total", "Bytes of captures read.", pulse.bytes),
        ("kanalyze_requests_total", "Requests that have ended.", pulse.requests),
        ("kanalyze_ring_lost_files_total", "Capture files written over before they were read.", pulse.lost_files),
        ("kanalyze_ring_lost_bytes_total", "Bytes written over before they were read.", pulse.lost_bytes),
    )
    for name, text, value in counters:
        yield name, "counter", text, [("", (), value)]
    yield (
        "kanalyze_waiting_bytes",
        "gauge",
        "Bytes that are there and were not read yet.",
        [("", (), pulse.waiting_bytes)],
    )
    if pulse.latest_ns is not None:
        text = "Time of the newest packet, seconds since the epoch."
        yield "kanalyze_newest_packet_seconds", "gauge", text, [("", (), pulse.latest_ns / 1e9)]


def _of_answer(answer: Answer) -> Iterator[_Metric]:
    yield (
        "kanalyze_readable",
        "gauge",
        "1: all that matters of the capture could be read.",
        [("", (), int(answer.is_readable))],
    )
    yield (
        "kafka_latency_seconds",
        "histogram",
        "From a request to its reply, by API and what it waits for.",
        _histograms(answer),
    )
    for name, column, text in (
        (
            "kafka_request_errors_total",
            "errors",
            "Requests with an error code in their reply, of replies that were read.",
        ),
        ("kafka_request_throttled_total", "throttled", "Requests whose reply throttles, of replies that were read."),
        (
            "kafka_replies_unread_total",
            "unread",
            "Replies that could not be read: what they say of errors is not counted.",
        ),
        ("kafka_request_bytes_total", "request_bytes", "Bytes of requests."),
        ("kafka_response_bytes_total", "response_bytes", "Bytes of replies."),
    ):
        yield name, "counter", text, _sums(answer, column)
    yield (
        "kafka_throttle_share",
        "gauge",
        "Part of its connection's life that a client was throttled.",
        _throttled(answer),
    )
    yield "kafka_errors", "gauge", "Unexpected error codes in the time that is looked at.", _errors(answer)
    yield "kanalyze_findings", "gauge", "Findings that are true now, by severity.", _findings(answer)


def _histograms(answer: Answer) -> Iterator[_Sample]:
    counts: dict[_Labels, Counter[int]] = defaultdict(Counter)
    sums: Counter[_Labels] = Counter()
    for row in answer.counts.to_pylist():
        if row["role"] == "client" and row["n"]:
            labels = _api(row)
            counts[labels][row["bucket"]] += row["n"]
            sums[labels] += row["measured_ns"] or 0
    for labels, buckets in sorted(counts.items()):
        for power in POWERS:
            below = sum(n for bucket, n in buckets.items() if bucket <= power * PER_DOUBLING)
            yield "_bucket", (*labels, ("le", f"{2.0**power:.10g}")), below
        total = buckets.total()
        yield "_bucket", (*labels, ("le", "+Inf")), total
        yield "_sum", labels, sums[labels] / 1e9
        yield "_count", labels, total


def _sums(answer: Answer, column: str) -> Iterator[_Sample]:
    found: Counter[_Labels] = Counter()
    for row in answer.counts.to_pylist():
        if row["role"] == "client":
            found[_api(row)] += row[column] or 0
    for labels, value in sorted(found.items()):
        yield "", labels, value


def _api(row: dict[str, object]) -> _Labels:
    return ("api", str(row["api_name"] or OTHER)), ("kind", str(row["kind"] or ""))


def _throttled(answer: Answer) -> Iterator[_Sample]:
    found: dict[_Labels, float] = {}
    others: _Labels = (("client_id", OTHER), ("client_address", OTHER))
    for row in answer.throttle[: 4 * MOST_LABELS]:
        labels: _Labels = (("client_id", row["client_id"] or ""), ("client_address", row["client_address"] or ""))
        key = labels if labels in found or len(found) < MOST_LABELS else others
        found[key] = max(found.get(key, 0), row["share"] or 0)
    for labels, value in found.items():
        yield "", labels, value


def _errors(answer: Answer) -> Iterator[_Sample]:
    found: Counter[_Labels] = Counter()
    for row in answer.errors:
        if row["unexpected"]:
            found[("api", row["api_name"] or OTHER), ("error", row["name"] or str(row["code"]))] += row["unexpected"]
    for labels, value in found.most_common(MOST_LABELS):
        yield "", labels, value


def _findings(answer: Answer) -> Iterator[_Sample]:
    for severity in SEVERITIES:
        yield "", (("severity", severity),), sum(not t.over and t.finding.severity == severity for t in answer.findings)


def _written(labels: _Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    """On one line, without what a terminal would act upon; quotes and backslashes as the format wants them. What was cut off still
    tells two values apart: a server refuses all samples when two have the same labels."""
    text = shown_name(value[:_LONGEST_LABEL])
    if len(value) > _LONGEST_LABEL:
        text += f"… {sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return text.replace("\\", "\\\\").replace('"', '\\"')
