#!/usr/bin/env bash
# A hundred thousand requests took 12 ms and one took 30 s: the max is 12 ms to Dropwizard and go-metrics, and 30 s for good to Yammer's.
#
# Expected: p99 of a histogram is an estimate, its max is not: it costs one number to keep. Count, min, max and mean are of the same values,
#   and libraries that are each other's copies (Coda Hale's Metrics, today Dropwizard's; go-metrics is its port) agree.
# Seen, of 99,999 times 12 and once 30000 in the usual reservoir (1028 values, exponentially decaying):
#   Dropwizard Metrics 4.2.33 and go-metrics (which sarama counts its request latencies with): max, min, mean and deviation are those of
#     the 1028 values that are kept; in 99 of 100 runs the slow one is not among them. go-metrics' Sum() does likewise, beside a Count() of all.
#   Yammer Metrics 2.2.0, their ancestor, which Kafka's broker still has: max and mean are of all values since the process began. Max
#     stays 30000 after a hundred million good ones, and the percentiles beside it forget.
# Why it matters: the one slow request is what max is looked at for, and a graph shows it by luck, 1 time in 100. Sum / Count, the
#   mean of a client, is a hundredth of the truth. A broker's Max shows the day on which it was worst, beside a client's of now.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java go; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>io.dropwizard.metrics</groupId><artifactId>metrics-core</artifactId><version>4.2.33</version></dependency>
<dependency><groupId>com.yammer.metrics</groupId><artifactId>metrics-core</artifactId><version>2.2.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import com.codahale.metrics.MetricRegistry; import com.yammer.metrics.Metrics; import com.yammer.metrics.core.MetricName;

public class Finding {
    static int value(int number) { return number == 50_000 ? 30_000 : 12; }

    public static void main(String[] args) {
        int kept = 0;
        for (int run = 0; run < 100; run++) {
            var histogram = new MetricRegistry().histogram("latency");
            for (int number = 0; number < 100_000; number++) histogram.update(value(number));
            if (histogram.getSnapshot().getMax() == 30_000) kept++;
        }
        System.err.println("kept " + kept);
        System.out.println("Dropwizard: max is 30000 in less than 10 of 100 runs: " + (kept < 10));
        var old = Metrics.newHistogram(new MetricName("finding", "requests", "latency"), true);
        for (int number = 0; number < 100_000; number++) old.update(value(number));
        for (int number = 0; number < 10_000_000; number++) old.update(5);
        System.out.printf(java.util.Locale.ROOT, "Yammer, ten million of 5 ms later: max %.0f, mean %.2f, p95 %.0f%n",
            old.max(), old.mean(), old.getSnapshot().get95thPercentile());
        System.exit(0);
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { tail -5 log; exit 1; }
printf 'module finding\ngo 1.24\nrequire github.com/IBM/sarama v1.61.1\nrequire github.com/rcrowley/go-metrics %s\n' v0.0.0-20250401214520-65e299d6c5c9 > go.mod
cat > main.go <<'GO'
package main

import (
	"fmt"

	_ "github.com/IBM/sarama" // its histograms are of this kind
	"github.com/rcrowley/go-metrics"
)

func main() {
	kept := 0
	var histogram metrics.Histogram
	for run := 0; run < 100; run++ {
		histogram = metrics.NewHistogram(metrics.NewExpDecaySample(1028, 0.015))
		for number := 0; number < 100000; number++ {
			histogram.Update(map[bool]int64{true: 30000, false: 12}[number == 50000])
		}
		if histogram.Max() == 30000 {
			kept++
		}
	}
	fmt.Println("go-metrics: max is 30000 in less than 10 of 100 runs:", kept < 10)
	fmt.Println("go-metrics: count", histogram.Count(), "sum below 50000:", histogram.Sum() < 50000)
}
GO
go mod tidy > go.log 2>&1 || { tail -3 go.log; exit 1; }
go run . >> seen
grep -h "NewExpDecaySample" "$(go list -m -f '{{.Dir}}' github.com/IBM/sarama)/metrics.go" | sed 's/^[[:space:]]*/sarama: /' >> seen

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
Dropwizard: max is 30000 in less than 10 of 100 runs: true
Yammer, ten million of 5 ms later: max 30000, mean 5.07, p95 5
go-metrics: max is 30000 in less than 10 of 100 runs: true
go-metrics: count 100000 sum below 50000: true
sarama: return metrics.NewHistogram(metrics.NewExpDecaySample(metricsReservoirSize, metricsAlphaFactor))
EXPECTED
echo "as described: max is of a sample, or of all time"
