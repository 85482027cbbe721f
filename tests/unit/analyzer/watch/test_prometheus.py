"""Text that Prometheus reads, whatever was captured."""

from __future__ import annotations

import math
import re
from typing import Any

import pyarrow as pa
import pytest

from analyzer.query.readability import WHOLE, Readability
from analyzer.watch.answers import Answer
from analyzer.watch.prometheus import MOST_LABELS, OTHER, Exposition
from analyzer.watch.told import Pulse

# A sample line of the exposition format 0.0.4.
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)(\{{{LABEL}(?:,{LABEL})*\}})? (\S+)")
HOSTILE = 'a"b\\c\nd\x1b[31m\u202e' + "x" * 500


def count_row(bucket: int, n: int, **more: Any) -> dict[str, Any]:
    row = {"role": "client", "api_name": "Fetch", "kind": "fetch_data", "bucket": bucket, "n": n, "requests": n,
           "measured_ns": n * 1_000_000, "errors": 0, "throttled": 0, "unread": 0, "request_bytes": 10,
           "response_bytes": 20}  # fmt: skip
    return row | more


def answer(counts: list[dict[str, Any]], throttle: Any = (), errors: Any = ()) -> Answer:
    readable = Readability("everything", WHOLE, ())
    rows = pa.Table.from_pylist(counts)
    return Answer(0, 1, {}, readable, [], [], 1, list(throttle), list(errors), [], [], rows, {}, 0)


def bucket_of(ns: int) -> int:
    return math.ceil(64 * math.log2(ns / 1e9))


def samples(text: str) -> dict[str, float]:
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match, line
            found[match[1] + (match[2] or "")] = float(match[3])
    return found


def test_buckets_are_counts_below_their_bound() -> None:
    latencies_ns = [200_000, 300_000, 1_000_000, 1_000_001, 7_812_500, 7_812_501, 100_000_000_000]
    counts = [count_row(bucket_of(ns), 1) for ns in latencies_ns]
    found = samples(Exposition().text(answer(counts), Pulse()))
    for name, value in found.items():
        if bound := re.search(r'le="([\d.e+-]+)"', name):
            assert value == sum(ns <= float(bound[1]) * 1e9 for ns in latencies_ns), name
    labels = '{api="Fetch",kind="fetch_data"'
    assert found[f'kafka_latency_seconds_bucket{labels},le="+Inf"}}'] == len(latencies_ns)
    assert found[f"kafka_latency_seconds_count{labels}}}"] == len(latencies_ns)


def test_captured_strings_stay_inside_their_quotes() -> None:
    throttle = [{"client_id": HOSTILE, "client_address": "10.0.0.1", "share": 0.5}]
    text = Exposition().text(answer([count_row(1, 1)], throttle), Pulse())
    samples(text)
    assert "\x1b" not in text and "\u202e" not in text
    assert max(map(len, text.splitlines())) < 400


def test_labels_are_bounded_in_number() -> None:
    throttle = [{"client_id": f"c{n}", "client_address": "a", "share": n / 1000} for n in range(MOST_LABELS * 3)]
    errors = [{"unexpected": 1, "api_name": f"A{n}", "name": "E", "code": 1} for n in range(MOST_LABELS * 3)]
    found = samples(Exposition().text(answer([count_row(1, 1)], throttle, errors), Pulse()))
    shares = [name for name in found if name.startswith("kafka_throttle_share")]
    assert len(shares) == MOST_LABELS + 1
    assert any(OTHER in name for name in shares)
    assert sum(name.startswith("kafka_errors{") for name in found) == MOST_LABELS


def test_replies_that_were_not_read_are_counted() -> None:
    """0 errors of these are none that was seen."""
    found = samples(Exposition().text(answer([count_row(1, 5, unread=4)]), Pulse()))
    labels = '{api="Fetch",kind="fetch_data"}'
    assert (found[f"kafka_replies_unread_total{labels}"], found[f"kafka_request_errors_total{labels}"]) == (4, 0)


def test_counters_never_fall() -> None:
    exposition = Exposition()
    first = samples(exposition.text(answer([count_row(1, 5)]), Pulse(segments=9)))
    second = samples(exposition.text(answer([count_row(1, 3)]), Pulse(segments=10)))
    name = 'kafka_latency_seconds_count{api="Fetch",kind="fetch_data"}'
    assert (first[name], second[name]) == (5, 5)
    assert second["kanalyze_segments_total"] == 10


@pytest.mark.parametrize("text", [Exposition().text(None, Pulse())])
def test_before_the_first_answer_there_is_the_pulse(text: str) -> None:
    assert samples(text)["kanalyze_segments_total"] == 0
