"""OTLP as protobuf's own library and a receiver on this machine read it, held against the rows of tables."""

from __future__ import annotations

import json
import math
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import cramjam
import pytest
from google.protobuf import json_format
from kanalyze_process import COMMAND
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from paths import SAMPLES

from analyzer.base.latency_buckets import NO_TIME
from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.query.otlp_metrics import OTHER_ERROR, SUMS, Rising, collected, lines, request
from analyzer.query.otlp_receivers import OtlpError, post
from analyzer.run.local import open_dataset

CAPTURE = SAMPLES / "throttle.pcap.zst"


def attributes_of(point: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in point.attributes}


def row(**more: Any) -> dict[str, Any]:
    found = {
        "role": "client",
        "api_name": "Fetch",
        "kind": "fetch_data",
        "bucket": 1,
        "n": 1,
        "measured_ns": 5,
        "low": 5,
        "high": 5,
    }
    return found | dict.fromkeys(SUMS, 1) | more


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> ExportMetricsServiceRequest:
    """What `export --otlp FILE` says of a capture, read by protobuf."""
    to = tmp_path_factory.mktemp("otlp") / "metrics.jsonl"
    assert main(["export", str(CAPTURE), "--otlp", str(to)]) == 0
    (line,) = to.read_text(encoding="utf-8").splitlines()
    made = json_format.Parse(line, ExportMetricsServiceRequest())
    assert json.loads(line)["resourceMetrics"]
    return made


def test_histograms_and_sums_are_those_of_the_rows(written: ExportMetricsServiceRequest) -> None:
    metrics = {each.name: each for each in written.resource_metrics[0].scope_metrics[0].metrics}
    asked = (
        "SELECT api_name, broker_port, latency_ns, error_count, throttle_time_ms, request_bytes FROM exchanges WHERE {}"
    )
    with open_dataset([str(CAPTURE)], Options()) as dataset:
        rows = dataset.query(asked.format("coalesce(role, 'client') = 'client' AND status <> 'orphan_reply'"))
    wanted: dict[str, list[int]] = {}
    for each in rows:
        if each["latency_ns"] is not None:
            wanted.setdefault(each["api_name"], []).append(each["latency_ns"])
    points = metrics["kafka.request.latency"].exponential_histogram.data_points
    counts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for point in points:
        api = attributes_of(point)["messaging.operation.name"]
        assert point.scale == 6 and sum(point.positive.bucket_counts) + point.zero_count == point.count
        counts[api] += point.count
        sums[api] += round(point.sum * 1e9)
        # The law of the scale (OpenTelemetry, "Exponential Scale"): bucket i holds (2^(i / 64), 2^((i + 1) / 64)].
        ns = [latency for latency in wanted[api] if point.min * 1e9 - 1 <= latency <= point.max * 1e9 + 1]
        if len(ns) == point.count:
            indexes = Counter(math.ceil(64 * math.log2(latency / 1e9)) - 1 for latency in ns)
            found = {point.positive.offset + i: n for i, n in enumerate(point.positive.bucket_counts) if n}
            assert found == indexes
    assert counts == {api: len(each) for api, each in wanted.items()}
    assert sums == {api: sum(each) for api, each in wanted.items()}
    found_totals = totals(written)
    assert found_totals["kafka.request.count"] == len(rows)
    assert found_totals["kafka.request.errors"] == sum(bool(each["error_count"]) for each in rows) > 0
    assert found_totals["kafka.request.throttle_time"] == sum(each["throttle_time_ms"] or 0 for each in rows) > 0
    assert found_totals["kafka.request.size"] == sum(each["request_bytes"] for each in rows)
    failed = [p for p in metrics["kafka.request.errors"].sum.data_points if p.as_int]
    assert all(attributes_of(point)["error.type"].isupper() for point in failed)


def test_a_duration_of_zero_is_in_no_bucket_and_a_sum_that_does_not_fit_is_left_out() -> None:
    found = collected([row(bucket=NO_TIME, n=3, measured_ns=0, low=0), row(bucket=-64, n=2, measured_ns=None)])
    (point,) = request(found, 0, 1).resource_metrics[0].scope_metrics[0].metrics[0].exponential_histogram.data_points
    assert (point.count, point.zero_count, point.positive.offset, list(point.positive.bucket_counts)) == (
        5,
        3,
        -65,
        [2],
    )
    assert not point.HasField("sum")


def test_errors_without_a_name_have_that_of_the_conventions() -> None:
    found = collected(
        [row(errors=2), row(errors=1, error_code=3), row(errors=1, error_code=9_999), row(role="follower")]
    )
    named = {dict(attributes).get("error.type"): n for attributes, n in found.sums["errors"].items() if n}
    assert named == {OTHER_ERROR: 2, "UNKNOWN_TOPIC_OR_PARTITION": 1, "9999": 1}
    assert found.sums["requests"].total() == 3
    # A run that is watched has no throttle times, which is not zero.
    lacking = collected([{name: value for name, value in row().items() if name != "throttle_time_ms"}])
    assert "throttle_time_ms" not in lacking.sums


def test_what_was_said_of_a_run_never_falls() -> None:
    rising = Rising()
    rising.of(collected([row(n=5, requests=5, errors=0)]))
    found = rising.of(collected([row(n=4, requests=4, errors=0), row(kind="other", n=1)]))
    assert sorted(each.buckets.total() for each in found.latencies.values()) == [1, 5]
    assert sorted(found.sums["requests"].values()) == [1, 5]


class Receiver(HTTPServer):
    """Takes what is posted to it, and answers `status` with `body`."""

    def __init__(self) -> None:
        self.status, self.body, self.taken = 200, b"", list[tuple[str, str, bytes]]()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Receiver)
        data = self.rfile.read(int(self.headers["Content-Length"]))
        server.taken.append((self.path, self.headers["Content-Type"], data))
        self.send_response(server.status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(server.body)))
        self.end_headers()
        self.wfile.write(server.body)

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def test_a_receiver_gets_what_a_file_has(receiver: Receiver, written: ExportMetricsServiceRequest) -> None:
    to = f"http://127.0.0.1:{receiver.server_port}"
    assert main(["export", str(CAPTURE), "--otlp", to]) == 0
    ((path, kind, data),) = receiver.taken
    assert (path, kind) == ("/v1/metrics", "application/x-protobuf")
    assert ExportMetricsServiceRequest.FromString(data) == written
    assert main(["export", str(CAPTURE), "--otlp", f"{to}/own/path?x=1"]) == 0
    assert receiver.taken[1][0] == "/own/path?x=1"


@pytest.mark.parametrize(("status", "told"), [(307, "307"), (503, "503"), (200, "7 points were not taken: too old")])
def test_what_was_not_taken_is_said(receiver: Receiver, status: int, told: str) -> None:
    answer = ExportMetricsServiceResponse()
    answer.partial_success.rejected_data_points, answer.partial_success.error_message = 7, "too old"
    receiver.status, receiver.body = status, answer.SerializeToString()
    with pytest.raises(OtlpError, match=told):
        post(f"http://127.0.0.1:{receiver.server_port}", request(collected([row()]), 0, 1))
    # No redirect is followed.
    assert [path for path, *_ in receiver.taken] == ["/v1/metrics"]


@pytest.mark.parametrize("to", ["http://", "http://user:word@127.0.0.1:4318", "http://127.0.0.1:99999"])
def test_an_address_that_cannot_be_asked_is_one_line(to: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(CAPTURE), "--otlp", to]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "word" not in said


def test_a_token_in_an_address_is_not_said(receiver: Receiver) -> None:
    receiver.status = 503
    with pytest.raises(OtlpError, match="503") as raised:
        post(f"http://127.0.0.1:{receiver.server_port}/v1/metrics?token=word", request(collected([row()]), 0, 1))
    assert "word" not in str(raised.value)


def test_a_sum_that_is_not_known_is_left_out_and_what_was_said_of_it_stays() -> None:
    found = collected([row(response_bytes=7), row(response_bytes=None), row(kind="other", response_bytes=None)])
    assert list(found.sums["response_bytes"].values()) == [7] and found.sums["requests"].total() == 3
    rising = Rising()
    rising.of(collected([row(throttle_time_ms=9)]))
    lacking = {name: value for name, value in row().items() if name != "throttle_time_ms"}
    assert rising.of(collected([lacking])).sums["throttle_time_ms"].total() == 9


def test_captured_text_is_valid_in_every_form() -> None:
    made = request(collected([row(api_name="a\ud800\x1b")]), 0, 1)
    (line,) = lines(made)
    assert line.count("\n") == 1 and "\x1b" not in line
    assert json_format.Parse(line, ExportMetricsServiceRequest()) == made


def test_a_run_that_is_watched_has_the_counts_of_an_export(
    tmp_path: Path, written: ExportMetricsServiceRequest
) -> None:
    to = tmp_path / "metrics.jsonl"
    capture = bytes(cramjam.zstd.decompress(CAPTURE.read_bytes()))
    words = [*COMMAND, "watch", "-", "--format", "jsonl", "--otlp", str(to)]
    subprocess.run(words, input=capture, capture_output=True, timeout=120, check=True)
    last = json_format.Parse(to.read_text(encoding="utf-8").splitlines()[-1], ExportMetricsServiceRequest())
    assert totals(last).pop("kafka.request.throttle_time", None) is None
    assert totals(last).items() <= totals(written).items()
    assert len(totals(last)) == len(SUMS)


def totals(made: ExportMetricsServiceRequest) -> dict[str, int]:
    """Metric -> the sum of its points."""
    return {
        each.name: sum(point.as_int for point in each.sum.data_points)
        or sum(point.count for point in each.exponential_histogram.data_points)
        for each in made.resource_metrics[0].scope_metrics[0].metrics
    }


def test_a_file_that_is_there_is_not_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    assert main(["watch", str(CAPTURE), "--otlp", str(there), "--format", "jsonl"]) == 2
    assert there.read_text() == "mine" and "name a new file" in capsys.readouterr().err
