#!/usr/bin/env bash
# Each request took 300 ms, and Micrometer's percentiles of them, p50 and p99 alike, are 285 ms.
#
# Expected: a percentile of equal values is that value, or, as its histogram has buckets, the bucket's upper end, so that p99 of a
#   promise is not better than what happened: so does HdrHistogram, which Micrometer is built on.
# Seen (Micrometer 1.16.0, publishPercentiles of Timer and DistributionSummary): unless percentilePrecision is set there is one digit,
#   and the lower end of the bucket is given: p50 and p99 are up to 5 % below each value that was recorded, while max and mean of the
#   same snapshot are exact. 300 is 285, 150 is 143, 70 is 67, 1000 is 973; p99 is below the mean. percentilePrecision(3) gives 299.9.
#   HdrHistogram with the same one digit gives 302.
# Why it matters: a goal "p99 below 290 ms" is met by requests none of which met it. Beside a Prometheus histogram, a load tester or a
#   capture of the same requests the service is always a few percent faster, which is then put down to the network.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>io.micrometer</groupId><artifactId>micrometer-core</artifactId><version>1.16.0</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import io.micrometer.core.instrument.*; import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration; import java.util.Locale; import org.HdrHistogram.Histogram;
public class Finding {
    static double[] p99(int milliseconds, Integer precision) {
        var builder = Timer.builder("requests").publishPercentiles(0.5, 0.99);
        if (precision != null) builder.percentilePrecision(precision);
        var timer = builder.register(new SimpleMeterRegistry());
        for (int i = 0; i < 1000; i++) timer.record(Duration.ofMillis(milliseconds));
        var snapshot = timer.takeSnapshot();
        return new double[] {snapshot.percentileValues()[0].value() / 1e6, snapshot.percentileValues()[1].value() / 1e6,
            snapshot.max() / 1e6, snapshot.mean() / 1e6};
    }
    static double byHdrHistogram(int milliseconds) {
        var histogram = new Histogram(1);
        for (int i = 0; i < 1000; i++) histogram.recordValue(milliseconds * 1_000_000L);
        return histogram.getValueAtPercentile(99) / 1e6;
    }
    public static void main(String[] args) {
        for (int milliseconds : new int[] {10, 70, 150, 300, 1000, 30000}) {
            double[] usual = p99(milliseconds, null), precise = p99(milliseconds, 3);
            System.out.println(String.format(Locale.ROOT, "all %d ms: p50 %.1f, p99 %.1f, max %.1f, mean %.1f; precision 3: p99 %.1f; HdrHistogram: %.1f",
                milliseconds, usual[0], usual[1], usual[2], usual[3], precise[1], byHdrHistogram(milliseconds)));
        }
        var summary = DistributionSummary.builder("sizes").publishPercentiles(0.99).register(new SimpleMeterRegistry());
        for (int i = 0; i < 1000; i++) summary.record(1000);
        System.out.println("all 1000 bytes: p99 " + summary.takeSnapshot().percentileValues()[0].value());
    }
}
JAVA
timeout 100 java -Xmx256m -cp 'jars/*' Finding.java > seen 2> log || { tail -n 5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Micrometer 1.16.0 did when this was written"; exit 1; }
all 10 ms: p50 10.0, p99 10.0, max 10.0, mean 10.0; precision 3: p99 10.0; HdrHistogram: 10.5
all 70 ms: p50 67.1, p99 67.1, max 70.0, mean 70.0; precision 3: p99 70.0; HdrHistogram: 71.3
all 150 ms: p50 142.6, p99 142.6, max 150.0, mean 150.0; precision 3: p99 149.9; HdrHistogram: 151.0
all 300 ms: p50 285.2, p99 285.2, max 300.0, mean 300.0; precision 3: p99 299.9; HdrHistogram: 302.0
all 1000 ms: p50 973.1, p99 973.1, max 1000.0, mean 1000.0; precision 3: p99 999.8; HdrHistogram: 1006.6
all 30000 ms: p50 28991.0, p99 28991.0, max 30000.0, mean 30000.0; precision 3: p99 29997.7; HdrHistogram: 30064.8
all 1000 bytes: p99 992.0
EXPECTED
echo "as described: percentiles below each of the values"
