"""Metrics as protobuf, read by its library: native histograms have every bucket, and who does not ask gets text."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields
from test_prometheus import HOSTILE, answer, bucket_of, count_row, samples

from analyzer.base.latency_buckets import NO_TIME
from analyzer.watch.prometheus import Exposition
from analyzer.watch.prometheus_formats import POWERS, wants_protobuf
from analyzer.watch.told import Pulse

# metrics.proto of prometheus/client_model, as far as it matters: message -> field -> (number, type).
FIELDS: dict[str, dict[str, tuple[int, str]]] = {
    "LabelPair": {"name": (1, "string"), "value": (2, "string")},
    "Gauge": {"value": (1, "double")},
    "Counter": {"value": (1, "double")},
    "BucketSpan": {"offset": (1, "sint32"), "length": (2, "uint32")},
    "Bucket": {"cumulative_count": (1, "uint64"), "upper_bound": (2, "double")},
    "Histogram": {
        "sample_count": (1, "uint64"),
        "sample_sum": (2, "double"),
        "bucket": (3, "*Bucket"),
        "schema": (5, "sint32"),
        "zero_threshold": (6, "double"),
        "zero_count": (7, "uint64"),
        "positive_span": (12, "*BucketSpan"),
        "positive_delta": (13, "*sint64"),
    },
    "Metric": {
        "label": (1, "*LabelPair"),
        "gauge": (2, "Gauge"),
        "counter": (3, "Counter"),
        "histogram": (7, "Histogram"),
    },
    "MetricFamily": {"name": (1, "string"), "help": (2, "string"), "type": (3, "int32"), "metric": (4, "*Metric")},
}


def family_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", package="m", syntax="proto2")
    kinds = descriptor_pb2.FieldDescriptorProto
    for message, fields in FIELDS.items():
        made = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            field = made.field.add(name=name, number=number, label=label)
            plain = kind.removeprefix("*")
            if plain in FIELDS:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".m.{plain}"
            else:
                field.type = getattr(kinds, f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("m.MetricFamily"))


def families(data: bytes) -> dict[str, Any]:
    from google.protobuf.internal.decoder import _DecodeVarint32

    made, found, at = family_class(), {}, 0
    while at < len(data):
        length, at = _DecodeVarint32(data, at)
        family = made.FromString(data[at : at + length])
        assert not len(unknown_fields.UnknownFieldSet(family))
        found[family.name] = family
        at += length
    return found


def native(histogram: Any) -> Counter[int]:
    """Bucket -> count, by the rules of Prometheus: spans, and deltas."""
    found: Counter[int] = Counter()
    at = count = place = 0
    for span in histogram.positive_span:
        at += span.offset
        for _ in range(span.length):
            count += histogram.positive_delta[place]
            found[at] = count
            at, place = at + 1, place + 1
    assert place == len(histogram.positive_delta)
    return found


def test_a_native_histogram_has_every_bucket() -> None:
    latencies_ns = [1, 200_000, 200_001, 300_000, 1_000_000, 1_000_001, 7_812_500, 7_900_000, 100_000_000_000]
    counts = [count_row(bucket_of(ns), 3) for ns in latencies_ns] + [count_row(NO_TIME, 2)]
    (metric,) = families(Exposition().protobuf(answer(counts), Pulse()))["kafka_latency_seconds"].metric
    histogram = metric.histogram
    assert {pair.name: pair.value for pair in metric.label} == {"api": "Fetch", "kind": "fetch_data"}
    expected: Counter[int] = Counter()
    for ns in latencies_ns:
        expected[bucket_of(ns)] += 3
    assert native(histogram) == expected and (histogram.schema, histogram.zero_count) == (6, 2)
    # Prometheus: bucket i holds values above base ** (i - 1), up to base ** i.
    base = 2**2.0**-histogram.schema
    for ns in latencies_ns:
        (bucket,) = (b for b in expected if base ** (b - 1) < ns / 1e9 <= base**b * (1 + 1e-12))
        assert expected[bucket] >= 3
    assert histogram.sample_count == expected.total() + 2
    assert histogram.sample_sum == pytest.approx(histogram.sample_count * 1e-3)
    assert all(b.offset > 0 for a, b in pairwise(histogram.positive_span))
    # The classic one is in it, too, for who has dashboards of it.
    assert [bucket.upper_bound for bucket in histogram.bucket] == [2.0**power for power in POWERS]
    for bucket in histogram.bucket:
        assert bucket.cumulative_count == 2 + 3 * sum(ns <= bucket.upper_bound * 1e9 for ns in latencies_ns)


def test_one_without_durations_is_still_native() -> None:
    (metric,) = families(Exposition().protobuf(answer([count_row(NO_TIME, 4)]), Pulse()))[
        "kafka_latency_seconds"
    ].metric
    assert [(span.offset, span.length) for span in metric.histogram.positive_span] == [(0, 0)]
    assert metric.histogram.sample_count == metric.histogram.zero_count == 4


def test_both_forms_say_the_same() -> None:
    throttle = [{"client_id": HOSTILE, "client_address": "10.0.0.1", "share": 0.5}]
    given = answer([count_row(1, 5, errors=2)], throttle), Pulse(segments=7, latest_ns=5)
    text, found = samples(Exposition().text(*given)), families(Exposition().protobuf(*given))
    types = {0: "counter", 1: "gauge"}
    for name, value in text.items():
        family = found.get(name.partition("{")[0])
        if family is not None and family.type in types:
            values = [getattr(metric, types[family.type]).value for metric in family.metric]
            assert value in values and len(values) == sum(each.partition("{")[0] == family.name for each in text)
    (metric,) = found["kafka_throttle_share"].metric
    assert "\x1b" not in str(metric.label) and {pair.name for pair in metric.label} == {"client_id", "client_address"}
    assert families(Exposition().protobuf(None, Pulse()))["kanalyze_segments_total"].metric[0].counter.value == 0


def test_no_bucket_falls() -> None:
    exposition = Exposition()
    first, second = answer([count_row(1, 5), count_row(9, 1)]), answer([count_row(1, 3), count_row(4, 2)])
    exposition.text(first, Pulse())
    (metric,) = families(exposition.protobuf(second, Pulse()))["kafka_latency_seconds"].metric
    assert native(metric.histogram) == {1: 5, 4: 2, 9: 1} and metric.histogram.sample_count == 8


@pytest.mark.parametrize("n", [0, 1, -1, 63, -64, 2**31 - 1, -(2**31)])
def test_spans_may_begin_anywhere(n: int) -> None:
    counts = [count_row(n, 2), count_row(n + 1, 7)] if abs(n) < 2**31 - 2 else [count_row(n, 2)]
    (metric,) = families(Exposition().protobuf(answer(counts), Pulse()))["kafka_latency_seconds"].metric
    assert native(metric.histogram) == {row["bucket"]: row["n"] for row in counts}
    assert math.isfinite(metric.histogram.sample_sum)


PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (f"{PROTOBUF};q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1", True),
        (f"text/plain;version=0.0.4;q=0.6, {PROTOBUF};q=0.2", False),
        (PROTOBUF.replace(";", " ; "), True),
        (f"{PROTOBUF};q=0", False),
        (f"{PROTOBUF};q=x", False),
        (PROTOBUF.replace("delimited", "text"), False),
        (PROTOBUF.replace("MetricFamily", "Other"), False),
        ("application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1", False),
        ("*/*", False),
        ("", False),
        (";;=,q=,", False),
    ],
)  # fmt: skip
def test_who_asks_for_protobuf_gets_it(accept: str, wanted: bool) -> None:
    assert wants_protobuf(accept) is wanted
