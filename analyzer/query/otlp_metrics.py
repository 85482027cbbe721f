"""Sums of requests as OpenTelemetry metrics (OTLP 1): latency as exponential histograms of scale 6, counts as sums.

The log buckets of percentiles are the buckets of scale 6, numbered one higher (`analyzer.base.latency_buckets`): each is written as
it is, and nothing is lost. Attributes are those of the semantic conventions 1.44.0 (messaging, server, error); what they have no
name for is below `kafka.request`. Points are cumulative, from the first packet to the last one. Needs `kanalyze[otlp]`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.base.latency_buckets import NO_TIME, PER_DOUBLING
from analyzer.base.settings import Settings
from analyzer.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.metrics.v1.metrics_pb2 import ExponentialHistogramDataPoint, Metric

    from analyzer.query.dataset import Dataset

CONVENTIONS = "https://opentelemetry.io/schemas/1.44.0"
LATENCY = "kafka.request.latency"
SCALE = PER_DOUBLING.bit_length() - 1
# What the conventions have for an error that has no name.
OTHER_ERROR = "_OTHER"
_S = 1_000_000_000
_BY = Settings(by=("api", "error", "broker"))
# Column of counts -> name, unit and words of its sum.
SUMS = {
    "requests": ("kafka.request.count", "{request}", "Requests that have ended."),
    "errors": ("kafka.request.errors", "{request}", "Requests with an error code in their reply, of replies that were read."),
    "throttled": ("kafka.request.throttled", "{request}", "Requests whose reply throttles, of replies that were read."),
    "throttle_time_ms": ("kafka.request.throttle_time", "ms", "Throttle times that replies name."),
    "unread": ("kafka.request.unread", "{request}", "Requests whose reply could not be read: its errors are not counted."),
    "request_bytes": ("kafka.request.size", "By", "Bytes of requests."),
    "response_bytes": ("kafka.response.size", "By", "Bytes of replies."),
}  # fmt: skip

Attributes = tuple[tuple[str, str | int], ...]


class Latencies(NamedTuple):
    """Durations of requests with the same attributes. `buckets`: log bucket -> how many. `sum_ns` None: does not fit."""

    buckets: Counter[int]
    sum_ns: int | None
    least_ns: int
    most_ns: int


class Collected(NamedTuple):
    """What clients asked for, by attributes; `sums` by column of `SUMS` first."""

    latencies: dict[Attributes, Latencies]
    sums: dict[str, Counter[Attributes]]


def collected_of(dataset: Dataset) -> tuple[Collected, int, int]:
    """The sums of a dataset by API, what the request waits for, error and broker; the moments of its first and last packet, ns."""
    before = dataset.settings
    dataset.choose(_BY)
    try:
        rows = dataset.query(dataset.settings.folded("SELECT * FROM latency_counts"))
    finally:
        dataset.choose(before)
    (range_,) = dataset.query("SELECT first_time_ns, last_time_ns FROM time_range")
    return collected(rows), range_["first_time_ns"] or 0, range_["last_time_ns"] or 0


def collected(rows: Iterable[Mapping[str, Any]]) -> Collected:
    """Rows of `latency_counts`, of applications alone: what brokers ask each other is left out. What no row knows
    has no sum, which is not zero: a throttle time of requests that have no reply."""
    parts: dict[Attributes, list[Mapping[str, Any]]] = defaultdict(list)
    sums: dict[str, Counter[Attributes]] = defaultdict(Counter)
    for row in rows:
        if row["role"] == "client":
            attributes = _attributes(row)
            # Rows of a run that is watched do not have all of them.
            for column in SUMS.keys() & row.keys():
                place = attributes
                if column == "errors" and row[column] and not row.get("error_code"):
                    place = (*attributes, ("error.type", OTHER_ERROR))
                if row[column] is not None:
                    sums[column][place] += row[column]
            if row["n"]:
                parts[attributes].append(row)
    return Collected({attributes: _latencies(each) for attributes, each in parts.items()}, sums)


def _latencies(rows: list[Mapping[str, Any]]) -> Latencies:
    buckets: Counter[int] = Counter()
    for row in rows:
        buckets[row["bucket"]] += row["n"]
    sums = [row["measured_ns"] for row in rows]
    total = None if None in sums else sum(int(each) for each in sums)
    return Latencies(buckets, total, min(row["low"] for row in rows), max(row["high"] for row in rows))


def _attributes(row: Mapping[str, Any]) -> Attributes:
    from dissectors.kafka.schema.error_codes import known_errors

    code = row.get("error_code")
    known = known_errors().get(code) if code else None
    named = {
        "messaging.system": "kafka",
        "messaging.operation.name": row["api_name"],
        "kafka.request.kind": row["kind"],
        "error.type": (known.name if known else str(code)) if code else None,
        "server.address": row.get("broker_address"),
        "server.port": row.get("broker_port"),
    }
    return tuple((name, value) for name, value in named.items() if value is not None)


def request(collected: Collected, first_ns: int, last_ns: int) -> ExportMetricsServiceRequest:
    """The message that a collector takes. Moments are ns since the epoch."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

    made = ExportMetricsServiceRequest()
    resource = made.resource_metrics.add(schema_url=CONVENTIONS)
    _write_attributes(resource.resource, (("service.name", "kanalyze"), ("service.version", VERSION)))
    scope = resource.scope_metrics.add(schema_url=CONVENTIONS)
    scope.scope.name, scope.scope.version = "kanalyze", VERSION
    latency = scope.metrics.add(
        name=LATENCY, unit="s", description="From the last byte of a request to the first byte of its reply."
    )
    histogram = latency.exponential_histogram
    histogram.aggregation_temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
    for attributes, found in sorted(collected.latencies.items(), key=lambda item: str(item[0])):
        point = histogram.data_points.add(start_time_unix_nano=first_ns, time_unix_nano=last_ns)
        _write_attributes(point, attributes)
        _write_latencies(point, found)
    for column, (name, unit, about) in SUMS.items():
        if column not in collected.sums:
            continue
        metric = scope.metrics.add(name=name, unit=unit, description=about)
        metric.sum.aggregation_temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
        metric.sum.is_monotonic = True
        _write_sum(metric, collected.sums[column], first_ns, last_ns)
    return made


def _write_sum(metric: Metric, counts: Counter[Attributes], first_ns: int, last_ns: int) -> None:
    for attributes, count in sorted(counts.items(), key=lambda item: str(item[0])):
        point = metric.sum.data_points.add(
            start_time_unix_nano=first_ns, time_unix_nano=last_ns, as_int=min(count, 2**63 - 1)
        )
        _write_attributes(point, attributes)


def _write_latencies(point: ExponentialHistogramDataPoint, found: Latencies) -> None:
    point.count = found.buckets.total()
    if found.sum_ns is not None:
        point.sum = found.sum_ns / _S
    point.min, point.max = found.least_ns / _S, found.most_ns / _S
    point.scale = SCALE
    point.zero_count = found.buckets[NO_TIME]
    if counted := spans(found.buckets):
        # Bucket b of ours ends where theirs, b - 1, does.
        point.positive.offset = min(counted) - 1
        point.positive.bucket_counts.extend(found.buckets[b] for b in range(min(counted), max(counted) + 1))


def spans(buckets: Counter[int]) -> list[int]:
    """The log buckets that hold something, but for durations of zero, in order."""
    return sorted(bucket for bucket, n in buckets.items() if n and bucket != NO_TIME)


def _write_attributes(to: Any, attributes: Iterable[tuple[str, str | int]]) -> None:
    for name, value in attributes:
        place = to.attributes.add(key=name).value
        if isinstance(value, int):
            place.int_value = value
        else:
            place.string_value = value.encode("utf-8", "replace").decode()


class Rising:
    """Sums that never fall while a capture is watched: what was said once stays, where a later look counts a request under another
    kind."""

    def __init__(self) -> None:
        self._said = Collected({}, {})

    def of(self, now: Collected) -> Collected:
        """What is said now."""
        said = dict(self._said.latencies)
        for attributes, found in now.latencies.items():
            if attributes not in said or said[attributes].buckets <= found.buckets:
                said[attributes] = found
        sums = dict(self._said.sums)
        for column, counts in now.sums.items():
            before = sums.get(column, Counter())
            sums[column] = Counter({each: max(counts[each], before[each]) for each in {**before, **counts}})
        self._said = Collected(said, sums)
        return self._said


def lines(made: ExportMetricsServiceRequest) -> Iterator[str]:
    """OTLP as the collector's file receiver reads it: a line of JSON."""
    from google.protobuf.json_format import MessageToJson

    yield MessageToJson(made, use_integers_for_enums=True, indent=None) + "\n"
