#!/usr/bin/env bash
# prom-client adds up percentiles: p99 of four workers whose requests all took 0.3 s is 1.2 s, and no setting makes it right.
#
# Expected: what the aggregated metrics of a cluster's workers cannot have, as the quantiles of a Summary, is left out, or is a
#   quantile that a worker had. Counts and sums are added. A Summary without a recent value has NaN, as in Go and Java.
# Seen (prom-client 15.1.3 for Node; four registries with 100 requests of 0.3 s each, AggregatorRegistry.aggregate()):
#   Quantiles are added like counters: p50 and p99 are 1.2 s, four times the slowest request, and grow with the number of workers.
#   aggregator is one setting for all of it: with "max", "average" or "first" the quantiles are 0.3, and the count is 100 of 400.
#   With maxAgeSeconds a worker that had no request for a while has quantiles of 0, not NaN; an idle worker halves an average.
# Why it matters: Node's servers run one worker a core, so a service seems eight times slower on a larger machine. That metrics are
#   added by default is said in its README; what it means for a Summary is not, and a mended p99 breaks the rate of requests.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in node npm; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
npm install --silent --no-fund prom-client@15.1.3 > npm.log
cat > finding.js <<'JS'
const { AggregatorRegistry, Registry, Summary } = require("prom-client");
async function worker(values, settings, wait = 0) {
  const registry = new Registry();
  const summary = new Summary({ name: "seconds", help: "-", percentiles: [0.5, 0.99], registers: [registry], ...settings });
  for (const value of values) summary.observe(value);
  await new Promise((resolve) => setTimeout(resolve, wait));
  return registry.getMetricsAsJSON();
}
async function show(name, workers) {
  const text = await AggregatorRegistry.aggregate(await Promise.all(workers)).metrics();
  const number = (line) => +(+line.split(" ").pop()).toFixed(3);
  console.log(`${name}:`, ...text.split("\n").filter((line) => line.startsWith("seconds"))
    .map((line) => `${line.includes("0.99") ? "p99" : line.includes("0.5") ? "p50" : line.includes("_sum") ? "sum" : "count"} ${number(line)}`));
}
(async () => {
  const requests = Array(100).fill(0.3);
  for (const aggregator of [undefined, "max", "average", "first"])
    await show(`four workers, ${aggregator ?? "as it is"}`, Array.from({ length: 4 }, () => worker(requests, aggregator ? { aggregator } : {})));
  const recent = { maxAgeSeconds: 1, ageBuckets: 1, aggregator: "average" };
  await show("one worker, idle for 3 s", [worker(requests, recent, 3000)]);
  await show("one idle, one busy, average", [worker(requests, recent, 3000), worker(requests, { aggregator: "average" })]);
})();
JS
node finding.js > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
four workers, as it is: p50 1.2 p99 1.2 sum 120 count 400
four workers, max: p50 0.3 p99 0.3 sum 30 count 100
four workers, average: p50 0.3 p99 0.3 sum 30 count 100
four workers, first: p50 0.3 p99 0.3 sum 30 count 100
one worker, idle for 3 s: p50 0 p99 0 sum 30 count 100
one idle, one busy, average: p50 0.15 p99 0.15 sum 30 count 100
EXPECTED
echo "as described: percentiles are added up"
