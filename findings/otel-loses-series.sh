#!/usr/bin/env bash
# OpenTelemetry's Prometheus exporters for JavaScript and Python lose exponential histograms, and each series beyond the 2000th.
#
# Expected: a view that makes a histogram exponential (the recommended form for latencies) gives a histogram at /metrics, or an error when
#   the view is made. A counter by partition has a series for each partition.
# Seen: JavaScript (sdk 2.12.1, exporter 0.223.0) writes "# TYPE latency untyped" and no sample, without an error or a warning.
#   Python (sdk 1.45.2, exporter 0.66b2) raises AttributeError at each scrape, and the sound counter beside it is gone as well.
#   Of a counter with 2500 attribute sets JavaScript has 1999 series and Python 2000; one named otel_metric_overflow has the sum of the
#   others. Nobody set a limit. Which partitions are in that sum is decided by who came first after the start.
# Why it matters: the histogram is right in the SDK and through OTLP, and silently absent in a scrape. With the limit, a topic of many
#   partitions, or a client id that changes, makes "messages by partition" too small, for other partitions after each restart.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
npm init -y >npm.log && npm install --silent --no-fund @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/exporter-prometheus@0.223.0 >>npm.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install opentelemetry-sdk==1.45.2 opentelemetry-exporter-prometheus==0.66b2 prometheus-client==0.26.0
cat > finding.js <<'JS'
const { AggregationType, MeterProvider } = require("@opentelemetry/sdk-metrics");
const { PrometheusExporter, PrometheusSerializer } = require("@opentelemetry/exporter-prometheus");

async function scrape(views) {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [exporter], views }).getMeter("finding");
  for (const value of [1, 2, 4]) meter.createHistogram("latency").record(value);
  for (let partition = 0; partition < 2500; partition++) meter.createCounter("messages").add(1, { partition });
  const { resourceMetrics, errors } = await exporter.collect();
  const lines = new PrometheusSerializer().serialize(resourceMetrics).split("\n");
  return { lines, errors };
}
(async () => {
  const { lines, errors } = await scrape([{ instrumentName: "latency", aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } }]);
  console.log("JavaScript, exponential:", lines.filter((line) => line.includes("latency") && !line.includes("HELP")).join(" "), "errors", errors.length);
  const plain = (await scrape([])).lines;
  console.log("JavaScript, explicit:", plain.filter((line) => line.startsWith("latency_bucket")).length, "buckets");
  const messages = plain.filter((line) => line.startsWith("messages_total"));
  const overflow = messages.filter((line) => line.includes("overflow"));
  console.log("JavaScript:", messages.length, "series,", overflow.length, "of them overflow with", overflow[0].split(" ")[1]);
})();
JS
cat > finding.py <<'PY'
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View
from prometheus_client import REGISTRY, generate_latest

for views in [View(instrument_name="latency", aggregation=ExponentialBucketHistogramAggregation())], []:
    reader = PrometheusMetricReader()
    meter = MeterProvider([reader], views=views).get_meter("finding")
    latency, messages = meter.create_histogram("latency"), meter.create_counter("messages")
    for value in (1, 2, 4):
        latency.record(value)
    for partition in range(2500):
        messages.add(1, {"partition": partition})
    try:
        lines = generate_latest(REGISTRY).decode().splitlines()
        series = [line for line in lines if line.startswith("messages_total")]
        overflow = [line.split(" ")[1] for line in series if 'overflow="true"' in line]
        told = f"{sum(line.startswith('latency_bucket') for line in lines)} buckets, {len(series)} series, overflow {overflow}"
    except Exception as error:
        told = f"the whole scrape is {type(error).__name__}"
    print("Python,", "exponential:" if views else "explicit:", told)
    reader.shutdown()
PY
{ node finding.js 2>&1 && env/bin/python finding.py 2>/dev/null; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
JavaScript, exponential: # TYPE latency untyped errors 0
JavaScript, explicit: 16 buckets
JavaScript: 2000 series, 1 of them overflow with 501
Python, exponential: the whole scrape is AttributeError
Python, explicit: 16 buckets, 2001 series, overflow ['500.0']
EXPECTED
echo "as described: histograms and series are lost on the way to Prometheus"
