#!/usr/bin/env bash
# Esper: the line through latencies that rise 2 ms each millisecond falls, or is NaN, and the variance of their times is 0.
#
# Expected: the views linest (slope and intercept), correl and uni (variance) take any numeric column; a straight line has the
#   correlation 1 and its own slope, wherever its x begins.
# Seen (esper 9.0.0 for Java; a hundred events, one each millisecond, whose latency rises by 2 ms each):
#   Over the events' numbers, 0 to 99, the slope is 2.0, the correlation 1.0, the variance 841.7.
#   Over the same events' times in epoch milliseconds, of the slopes behind each event 40 are below zero, 45 NaN and none near 2,
#   the correlation is NaN, the variance 0. Over seconds since 1970 the last slope is 2.54, the correlation 1.13, the variance
#   662. stddev() of the same times, a function and not a view, is right: 29.0.
# Why it matters: a trend of latency over time is what linest is for, and an event's time is its x; an alarm for a slope above 0
#   never comes, and one for a slope below 0 may. No warning.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>com.espertech</groupId><artifactId>esper-compiler</artifactId><version>9.0.0</version></dependency>
<dependency><groupId>com.espertech</groupId><artifactId>esper-runtime</artifactId><version>9.0.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.*;
import com.espertech.esper.runtime.client.*;
import java.util.*;

public class Finding {
    static void ask(String epl) throws Exception {
        var settings = new Configuration();
        settings.getCommon().addEventType("R", Map.of("number", Long.class, "atMillis", Long.class, "atSeconds", Double.class, "latency", Integer.class));
        settings.getRuntime().getThreading().setInternalTimerEnabled(false);
        var runtime = EPRuntimeProvider.getRuntime(epl, settings);
        var module = EPCompilerProvider.getCompiler().compile("@name('s') " + epl, new CompilerArguments(settings));
        var id = runtime.getDeploymentService().deploy(module).getDeploymentId();
        var rows = new ArrayList<Map<?, ?>>();
        runtime.getDeploymentService().getStatement(id, "s").addListener((in, out, s, r) -> rows.add((Map<?, ?>) in[0].getUnderlying()));
        for (int n = 0; n < 100; n++)
            runtime.getEventService().sendEventMap(
                Map.of("number", (long) n, "atMillis", 1_767_261_600_123L + n, "atSeconds", 1_767_261_600.0 + n, "latency", 5 + 2 * n), "R");
        System.out.print(epl + ": last");
        for (var value : new TreeMap<Object, Object>(rows.get(99)).entrySet()) System.out.printf(Locale.ROOT, " %s %.3g,", value.getKey(), value.getValue());
        var slopes = rows.stream().skip(2).map(row -> row.get("slope")).filter(Objects::nonNull).map(slope -> (double) slope).toList();
        if (!slopes.isEmpty())
            System.out.printf(" of %d slopes %d are 1.9 to 2.1, %d below zero, %d NaN", slopes.size(),
                slopes.stream().filter(slope -> Math.abs(slope - 2) < 0.1).count(), slopes.stream().filter(slope -> slope < 0).count(),
                slopes.stream().filter(slope -> slope.isNaN()).count());
        System.out.println();
        runtime.destroy();
    }

    public static void main(String[] none) throws Exception {
        for (var x : List.of("number", "atMillis", "atSeconds")) {
            ask("select slope from R#keepall#linest(" + x + ", latency)");
            ask("select correlation from R#keepall#correl(" + x + ", latency)");
            ask("select variance from R#keepall#uni(" + x + ")");
            ask("select stddev(" + x + ") as deviation from R#keepall");
        }
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Esper 9.0.0 did when this was written"; exit 1; }
select slope from R#keepall#linest(number, latency): last slope 2.00, of 98 slopes 98 are 1.9 to 2.1, 0 below zero, 0 NaN
select correlation from R#keepall#correl(number, latency): last correlation 1.00,
select variance from R#keepall#uni(number): last variance 842,
select stddev(number) as deviation from R#keepall: last deviation 29.0,
select slope from R#keepall#linest(atMillis, latency): last slope NaN, of 98 slopes 0 are 1.9 to 2.1, 40 below zero, 45 NaN
select correlation from R#keepall#correl(atMillis, latency): last correlation NaN,
select variance from R#keepall#uni(atMillis): last variance 0.00,
select stddev(atMillis) as deviation from R#keepall: last deviation 29.0,
select slope from R#keepall#linest(atSeconds, latency): last slope 2.54, of 98 slopes 2 are 1.9 to 2.1, 18 below zero, 53 NaN
select correlation from R#keepall#correl(atSeconds, latency): last correlation 1.13,
select variance from R#keepall#uni(atSeconds): last variance 662,
select stddev(atSeconds) as deviation from R#keepall: last deviation 29.0,
EXPECTED
echo "as described: a rising line falls"
