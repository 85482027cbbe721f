#!/usr/bin/env bash
# 95 of 100 requests took 12 ms, five took 30 s: to two t-digests the median is 1.5 s, and to the one for Python p1 is -27.9 s.
#
# Expected: a t-digest is exact where the values are few, most of all at both ends, and no quantile lies outside of what was put in: p1, p10
#   and p50 of these are 12 ms, p99 is 30 s. What is uncertain is p95, where the one value ends and the other begins.
# Seen: tdigest 0.5.2.2 (PyPI) and tdigest 0.1.3 (npm, TDigest) keep equal values as one centroid, in which it is forgotten that they are
#   equal, and draw a line from one centroid to the next: p50 is 1511 ms, p90 25.5 s. Behind the lowest one the one for Python goes on
#   downwards: p1 and p10 are below zero. MergingDigest of Java's t-digest 3.3, Apache DataSketches 5.2.0 and fastdigest 0.12.0 for Python
#   say 12 ms for all of these. With 95 different values, 12.00, 12.01 and so on, in place of the equal ones, all are right.
# Why it matters: latencies in whole milliseconds have few values, and retries and timeouts have one. A median of 1.5 s starts a search
#   in the wrong half of the requests; with times that have a fraction, as in the libraries' tests, nothing is seen.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install tdigest==0.5.2.2 datasketches==5.2.0 fastdigest==0.12.0
npm install --silent --no-fund tdigest@0.1.3 > npm.log
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>com.tdunning</groupId><artifactId>t-digest</artifactId><version>3.3</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > finding.py <<'PY'
import datasketches, fastdigest, tdigest

def sketches():
    python, apache = tdigest.TDigest(), datasketches.tdigest_double(100)
    yield "tdigest (PyPI)", python.update, lambda share: python.percentile(100 * share)
    yield "DataSketches", apache.update, apache.get_quantile
    fast = fastdigest.TDigest()
    yield "fastdigest", fast.update, fast.quantile

for values in ([12.0] * 95, [12 + step / 100 for step in range(95)]):
    for name, update, quantile in sketches():
        for value in values + [30000.0] * 5:
            update(value)
        print(f"{len(set(values))} values, {name}:", *(f"p{round(100 * share)} {quantile(share):.0f}" for share in (0.01, 0.1, 0.5, 0.9, 0.99)))
PY
cat > finding.js <<'JS'
const { TDigest } = require("tdigest");
for (const distinct of [1, 95]) {
  const digest = new TDigest();
  for (let number = 0; number < 100; number++) digest.push(number < 95 ? 12 + (distinct > 1 ? number / 100 : 0) : 30000);
  const shown = [0.01, 0.1, 0.5, 0.9, 0.99].map((share) => `p${Math.round(100 * share)} ${digest.percentile(share).toFixed(0)}`);
  console.log(`${distinct} values, tdigest (npm): ${shown.join(" ")}`);
}
JS
cat > Finding.java <<'JAVA'
import com.tdunning.math.stats.TDigest;

public class Finding {
    public static void main(String[] none) {
        for (int distinct : new int[] {1, 95}) {
            var digest = TDigest.createMergingDigest(100);
            for (int number = 0; number < 100; number++) digest.add(number < 95 ? 12 + (distinct > 1 ? number / 100.0 : 0) : 30000);
            System.out.print(distinct + " values, t-digest (Java):");
            for (double share : new double[] {0.01, 0.1, 0.5, 0.9, 0.99})
                System.out.printf(" p%.0f %.0f", 100 * share, digest.quantile(share));
            System.out.println();
        }
    }
}
JAVA
{ env/bin/python finding.py && node finding.js && java -cp 'jars/*' Finding.java; } 2> log | LC_ALL=C sort > seen || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
1 values, DataSketches: p1 12 p10 12 p50 12 p90 12 p99 30000
1 values, fastdigest: p1 12 p10 12 p50 12 p90 12 p99 30000
1 values, t-digest (Java): p1 12 p10 12 p50 12 p90 12 p99 30000
1 values, tdigest (PyPI): p1 -27877 p10 -22479 p50 1511 p90 25502 p99 30000
1 values, tdigest (npm): p1 12 p10 12 p50 1511 p90 25502 p99 30000
95 values, DataSketches: p1 12 p10 12 p50 12 p90 13 p99 30000
95 values, fastdigest: p1 12 p10 12 p50 12 p90 13 p99 30000
95 values, t-digest (Java): p1 12 p10 12 p50 12 p90 13 p99 30000
95 values, tdigest (PyPI): p1 12 p10 12 p50 12 p90 13 p99 30000
95 values, tdigest (npm): p1 12 p10 12 p50 12 p90 13 p99 30000
EXPECTED
echo "as described: the median of equal values is another value"
