"""Metrics in the two forms that Prometheus reads: text (exposition format 0.0.4), and protobuf for who asks for it.

A histogram in text is a classic one: bounds are powers of two of a second, which are bounds of our log buckets, so counts are
exact. In protobuf (metrics.proto of prometheus/client_model) it is that and a native one of schema 6, whose buckets are ours:
nothing is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from analyzer.base.latency_buckets import NO_TIME, PER_DOUBLING
from analyzer.base.protobuf import data, double, number, text, varint, zigzag
from analyzer.base.text import shown_name

# From 0.24 ms to 64 s.
POWERS = tuple(range(-12, 7))
TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PROTOBUF, _MESSAGE, _DELIMITED = "application/vnd.google.protobuf", "io.prometheus.client.MetricFamily", "delimited"
PROTOBUF_TYPE = f"{_PROTOBUF}; proto={_MESSAGE}; encoding={_DELIMITED}"
_LONGEST_LABEL = 120
_SCHEMA = PER_DOUBLING.bit_length() - 1
# Kind -> (number of the type in a MetricFamily, number of the field in a Metric).
_COUNTER, _GAUGE, _HISTOGRAM = (0, 3), (1, 2), (4, 7)
_NUMBERS = {"counter": _COUNTER, "gauge": _GAUGE, "histogram": _HISTOGRAM}

Labels = tuple[tuple[str, str], ...]


class Durations(NamedTuple):
    """The value of a histogram. `buckets`: log bucket -> how many."""

    buckets: Counter[int]
    sum_s: float

    def below(self) -> Iterator[tuple[float, int]]:
        """(bound, how many are not longer) of a classic histogram, without the last one, which has no bound."""
        for power in POWERS:
            yield 2.0**power, sum(n for bucket, n in self.buckets.items() if bucket <= power * PER_DOUBLING)


class Metric(NamedTuple):
    """`kind`: counter, gauge or histogram; `samples`: values by labels."""

    name: str
    kind: str
    help: str
    samples: Mapping[Labels, float | Durations]


def wants_protobuf(accept: str) -> bool:
    """Whether an Accept header (RFC 9110, 12.5.1) prefers protobuf to text."""
    weights = {"text/plain": 0.0, _PROTOBUF: 0.0}
    for offer in accept.split(","):
        kind, *rest = (part.strip().lower() for part in offer.split(";"))
        told = dict(part.split("=", 1) for part in rest if "=" in part)
        is_ours = (told.get("proto"), told.get("encoding")) == (_MESSAGE.lower(), _DELIMITED)
        if kind in weights and (kind != _PROTOBUF or is_ours):
            weights[kind] = max(weights[kind], _weight(told.get("q", "1")))
    return weights[_PROTOBUF] > 0 and weights[_PROTOBUF] >= weights["text/plain"]


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0


def as_text(metrics: Iterable[Metric]) -> str:
    """Each metric with its help and type."""
    lines = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        for end, labels, value in _lines_of(metric):
            lines.append(f"{metric.name}{end}{_written(labels)} {value:.17g}")
    return "\n".join(lines) + "\n"


def _lines_of(metric: Metric) -> Iterator[tuple[str, Labels, float]]:
    for labels, value in metric.samples.items():
        if not isinstance(value, Durations):
            yield "", labels, value
            continue
        total = value.buckets.total()
        for bound, n in value.below():
            yield "_bucket", (*labels, ("le", f"{bound:.10g}")), n
        yield "_bucket", (*labels, ("le", "+Inf")), total
        yield "_sum", labels, value.sum_s
        yield "_count", labels, total


def _written(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    """Quotes and backslashes as the format wants them."""
    return _shown(value).replace("\\", "\\\\").replace('"', '\\"')


def _shown(value: str) -> str:
    """On one line, without what a terminal would act upon. What was cut off still tells two values apart: a server refuses all
    samples when two have the same labels."""
    text = shown_name(value[:_LONGEST_LABEL])
    if len(value) > _LONGEST_LABEL:
        text += f"… {sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return text


def as_protobuf(metrics: Iterable[Metric]) -> bytes:
    """A MetricFamily for each metric that has samples, its length before it."""
    families = [_family(metric) for metric in metrics if metric.samples]
    return b"".join(varint(len(family)) + family for family in families)


def _family(metric: Metric) -> bytes:
    kind, field = _NUMBERS[metric.kind]
    head = text(1, metric.name) + text(2, metric.help) + number(3, kind)
    return head + b"".join(data(4, _sample(labels, field, value)) for labels, value in metric.samples.items())


def _sample(labels: Labels, field: int, value: float | Durations) -> bytes:
    pairs = b"".join(data(1, text(1, name) + text(2, _shown(label))) for name, label in labels)
    return pairs + data(field, _histogram(value) if isinstance(value, Durations) else double(1, value))


def _histogram(value: Durations) -> bytes:
    counts = {bucket: n for bucket, n in sorted(value.buckets.items()) if n and bucket != NO_TIME}
    classic = b"".join(data(3, number(1, n) + double(2, bound)) for bound, n in value.below())
    zero = double(6, 0.0) + number(7, value.buckets[NO_TIME])
    whole = number(1, value.buckets.total()) + double(2, value.sum_s)
    return whole + classic + zigzag(5, _SCHEMA) + zero + _spans([*counts]) + _deltas([*counts.values()])


def _spans(buckets: Sequence[int]) -> bytes:
    """Runs of neighbouring buckets: how far each begins behind the one before, and its length. One of no length says that the
    histogram is a native one, though it holds nothing."""
    runs: list[list[int]] = []
    end = 0
    for bucket in buckets:
        if not runs or bucket != end:
            runs.append([bucket - end, 0])
        runs[-1][1] += 1
        end = bucket + 1
    return b"".join(data(12, zigzag(1, offset) + number(2, length)) for offset, length in runs or [[0, 0]])


def _deltas(counts: Sequence[int]) -> bytes:
    """The count of each of these buckets, but for the first as the difference from the one before."""
    return b"".join(zigzag(13, n - before) for before, n in zip([0, *counts], counts, strict=False))
