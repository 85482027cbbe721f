"""What is watched as metrics for Prometheus.

Counters and histograms are of the whole run, gauges of now. Captured strings are label values, escaped, and bounded in number:
beyond MOST_LABELS they are `(other)`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from analyzer.query.findings import SEVERITIES
from analyzer.watch.prometheus_formats import Durations, Labels, Metric, as_protobuf, as_text

if TYPE_CHECKING:
    from analyzer.watch.answers import Answer
    from analyzer.watch.told import Pulse

MOST_LABELS = 50
OTHER = "(other)"


# Name -> column of counts, and help.
_COUNTERS = {
    "kafka_request_errors_total": ("errors", "Requests with an error code in their reply, of replies that were read."),
    "kafka_request_throttled_total": ("throttled", "Requests whose reply throttles, of replies that were read."),
    "kafka_replies_unread_total": ("unread", "Replies that could not be read: what they say of errors is not counted."),
    "kafka_request_bytes_total": ("request_bytes", "Bytes of requests."),
    "kafka_response_bytes_total": ("response_bytes", "Bytes of replies."),
}


class Exposition:
    """Metrics of a session. Counters and buckets never fall: what was told once stays, where a later look counts a request under
    another kind."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, Labels], float | Durations] = {}

    def text(self, answer: Answer | None, pulse: Pulse) -> str:
        """All metrics as text."""
        return as_text(self._metrics(answer, pulse))

    def protobuf(self, answer: Answer | None, pulse: Pulse) -> bytes:
        """All metrics as protobuf, with native histograms."""
        return as_protobuf(self._metrics(answer, pulse))

    def _metrics(self, answer: Answer | None, pulse: Pulse) -> Iterator[Metric]:
        for metric in (*_of_pulse(pulse), *(_of_answer(answer) if answer else ())):
            if metric.kind == "gauge":
                yield metric
                continue
            risen = {labels: self._risen(metric.name, labels, value) for labels, value in metric.samples.items()}
            yield metric._replace(samples=risen)

    def _risen(self, name: str, labels: Labels, value: float | Durations) -> float | Durations:
        told = self._told.get((name, labels))
        if isinstance(value, Durations) and isinstance(told, Durations):
            value = Durations(value.buckets | told.buckets, max(value.sum_s, told.sum_s))
        elif not isinstance(value, Durations) and told is not None and not isinstance(told, Durations):
            value = max(value, told)
        self._told[name, labels] = value
        return value


def _of_pulse(pulse: Pulse) -> Iterator[Metric]:
    counters = (
        ("kanalyze_segments_total", "TCP segments read.", pulse.segments),
        ("kanalyze_capture_bytes_total", "Bytes of captures read.", pulse.bytes),
        ("kanalyze_requests_total", "Requests that have ended.", pulse.requests),
        ("kanalyze_ring_lost_files_total", "Capture files written over before they were read.", pulse.lost_files),
        ("kanalyze_ring_lost_bytes_total", "Bytes written over before they were read.", pulse.lost_bytes),
    )
    for name, text, value in counters:
        yield Metric(name, "counter", text, {(): value})
    waiting = "Bytes that are there and were not read yet."
    yield Metric("kanalyze_waiting_bytes", "gauge", waiting, {(): pulse.waiting_bytes})
    if pulse.latest_ns is not None:
        text = "Time of the newest packet, seconds since the epoch."
        yield Metric("kanalyze_newest_packet_seconds", "gauge", text, {(): pulse.latest_ns / 1e9})


def _of_answer(answer: Answer) -> Iterator[Metric]:
    readable = "1: all that matters of the capture could be read."
    yield Metric("kanalyze_readable", "gauge", readable, {(): int(answer.is_readable)})
    latency = "From a request to its reply, by API and what it waits for."
    yield Metric("kafka_latency_seconds", "histogram", latency, _histograms(answer))
    for name, (column, text) in _COUNTERS.items():
        yield Metric(name, "counter", text, _sums(answer, column))
    throttled = "Part of its connection's life that a client was throttled."
    yield Metric("kafka_throttle_share", "gauge", throttled, _throttled(answer))
    errors = "Unexpected error codes in the time that is looked at."
    yield Metric("kafka_errors", "gauge", errors, _errors(answer))
    yield Metric("kanalyze_findings", "gauge", "Findings that are true now, by severity.", _findings(answer))


def _histograms(answer: Answer) -> dict[Labels, Durations]:
    counts: dict[Labels, Counter[int]] = defaultdict(Counter)
    sums: Counter[Labels] = Counter()
    for row in answer.counts.to_pylist():
        if row["role"] == "client" and row["n"]:
            labels = _api(row)
            counts[labels][row["bucket"]] += row["n"]
            sums[labels] += row["measured_ns"] or 0
    return {labels: Durations(buckets, sums[labels] / 1e9) for labels, buckets in sorted(counts.items())}


def _sums(answer: Answer, column: str) -> dict[Labels, float]:
    found: Counter[Labels] = Counter()
    for row in answer.counts.to_pylist():
        if row["role"] == "client":
            found[_api(row)] += row[column] or 0
    return dict(sorted(found.items()))


def _api(row: dict[str, object]) -> Labels:
    return ("api", str(row["api_name"] or OTHER)), ("kind", str(row["kind"] or ""))


def _throttled(answer: Answer) -> dict[Labels, float]:
    found: dict[Labels, float] = {}
    others: Labels = (("client_id", OTHER), ("client_address", OTHER))
    for row in answer.throttle[: 4 * MOST_LABELS]:
        labels: Labels = (("client_id", row["client_id"] or ""), ("client_address", row["client_address"] or ""))
        key = labels if labels in found or len(found) < MOST_LABELS else others
        found[key] = max(found.get(key, 0), row["share"] or 0)
    return found


def _errors(answer: Answer) -> dict[Labels, float]:
    found: Counter[Labels] = Counter()
    for row in answer.errors:
        if row["unexpected"]:
            found[("api", row["api_name"] or OTHER), ("error", row["name"] or str(row["code"]))] += row["unexpected"]
    return dict(found.most_common(MOST_LABELS))


def _findings(answer: Answer) -> dict[Labels, float]:
    true = [told.finding.severity for told in answer.findings if not told.over]
    return {(("severity", severity),): true.count(severity) for severity in SEVERITIES}
