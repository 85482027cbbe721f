#!/usr/bin/env bash
# Esper: the average of two times two billion is -147483648, and a NaN that left a window long ago stays in its sum.
#
# Expected: avg() is a double, its manual says, and lies between the least and the largest value; a window of two events knows no
#   third.
# Seen (esper 9.0.0 for Java, statements of EPL over events of type Map):
#   avg() of an int divides a sum that is an int and wraps: 2000000000 and 2000000000 make -147483648.0, beside a median of 2.0E9.
#   Of longs, as of times in nanoseconds, it wraps at 64 bits: from six such times on it is nonsense. uni() averages the same
#   right. Over #length(2), a NaN, as of a rate 0 / 0, makes sum() and avg() NaN, and so they stay when it has left the window;
#   max() and min() recover.
# Why it matters: a rule "avg(bytes) > 1000000" is silent just where requests are largest, and one NaN silences it for good: a
#   comparison with NaN is false. Nothing is raised.
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
    static void ask(String epl, List<Map<String, Object>> events) throws Exception {
        var settings = new Configuration();
        settings.getCommon().addEventType("R", Map.of("bytes", Integer.class, "ns", Long.class, "rate", Double.class));
        settings.getRuntime().getThreading().setInternalTimerEnabled(false);
        var runtime = EPRuntimeProvider.getRuntime(epl, settings);
        var module = EPCompilerProvider.getCompiler().compile("@name('s') " + epl, new CompilerArguments(settings));
        var id = runtime.getDeploymentService().deploy(module).getDeploymentId();
        System.out.println(epl);
        runtime.getDeploymentService().getStatement(id, "s").addListener((in, out, s, r) -> {
            for (var row : in) System.out.println("  " + new TreeMap<>((Map<?, ?>) row.getUnderlying()));
        });
        for (var event : events) runtime.getEventService().sendEventMap(event, "R");
        runtime.destroy();
    }

    public static void main(String[] none) throws Exception {
        var large = new ArrayList<Map<String, Object>>();
        for (int n = 0; n < 2; n++) large.add(Map.of("bytes", 2_000_000_000));
        ask("select avg(bytes) as average, sum(bytes) as total, median(bytes) as middle from R#keepall", large);
        ask("select average, total from R#keepall#uni(bytes)", large);
        var times = new ArrayList<Map<String, Object>>();
        for (int n = 0; n < 6; n++) times.add(Map.of("ns", 1_767_261_600_000_000_000L));
        ask("select avg(ns) as average from R#keepall", times);
        var rates = new ArrayList<Map<String, Object>>();
        for (double rate : new double[] {1, Double.NaN, 3, 4, 5}) rates.add(Map.of("rate", rate));
        ask("select sum(rate) as total, avg(rate) as average, max(rate) as largest from R#length(2)", rates);
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Esper 9.0.0 did when this was written"; exit 1; }
select avg(bytes) as average, sum(bytes) as total, median(bytes) as middle from R#keepall
  {average=2.0E9, middle=2.0E9, total=2000000000}
  {average=-1.47483648E8, middle=2.0E9, total=-294967296}
select average, total from R#keepall#uni(bytes)
  {average=2.0E9, total=2.0E9}
  {average=2.0E9, total=4.0E9}
select avg(ns) as average from R#keepall
  {average=1.7672616E18}
  {average=1.7672616E18}
  {average=1.7672616E18}
  {average=1.7672616E18}
  {average=1.7672616E18}
  {average=-1.30719574561825869E18}
select sum(rate) as total, avg(rate) as average, max(rate) as largest from R#length(2)
  {average=1.0, largest=1.0, total=1.0}
  {average=NaN, largest=NaN, total=NaN}
  {average=NaN, largest=NaN, total=NaN}
  {average=NaN, largest=4.0, total=NaN}
  {average=NaN, largest=5.0, total=NaN}
EXPECTED
echo "as described: an average below zero"
