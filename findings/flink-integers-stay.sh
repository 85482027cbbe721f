#!/usr/bin/env bash
# Flink SQL sums integers as INT and wraps, so that an average can be a third of the smallest value; deviations are integers, too.
#
# Expected: SUM of INT is a BIGINT, as in Spark, PostgreSQL and DuckDB, or an error; AVG does not depend on what else is selected; a
#   standard deviation has a fraction; TRY_CAST is null where a number does not fit, as it is for the same number in text.
# Seen, Flink 2.3.0, batch, of rows in which each value fits its column:
#   SUM(INT) is INT: three times two billion are 1705032704. SUM(TINYINT) of 100, 100 and 101 is 45, SUM(BIGINT) wraps as well.
#   AVG of the same rows is 2000000000 when selected alone, 568344234 beside a deviation, when it is made of that sum.
#   STDDEV_POP, VAR_POP, STDDEV_SAMP of 1, 2 and 4 are 1, 1, 1 (1.25, 1.56 and 1.53 of doubles), AVG is 2.
#   TRY_CAST(300 AS TINYINT) is 44, of a double with 3e10 it is -1; of the text '300' it is null.
#   TO_TIMESTAMP_LTZ(seconds * 1000, 3) of an INT column with Unix times is of 1969.
# Why it matters: bytes and latencies in an INT column are summed up in one window after the other, and those with little traffic
#   are right. A deviation of 0 says that all latencies are equal. Nothing fails.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
{
  echo '<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>'
  echo '<dependencies>'
  for artifact in clients table-planner-loader table-runtime table-api-java-bridge connector-files; do
    echo "<dependency><groupId>org.apache.flink</groupId><artifactId>flink-$artifact</artifactId><version>2.3.0</version></dependency>"
  done
  echo '</dependencies></project>'
} > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import org.apache.flink.table.api.*;

public class Finding {
    static final String[] ASKED = {
        "SUM(bytes_sent)", "AVG(bytes_sent)", "SUM(CAST(bytes_sent AS BIGINT))", "SUM(level)",
        "SUM(CAST(bytes_sent AS BIGINT) * 3000000000)", "AVG(retries)", "STDDEV_POP(retries)", "VAR_POP(retries)",
        "STDDEV_SAMP(retries)", "ROUND(STDDEV_POP(CAST(retries AS DOUBLE)), 2)",
        "MAX(TRY_CAST(size_of AS TINYINT))", "MAX(TRY_CAST(CAST(3e10 AS DOUBLE) AS TINYINT))",
        "MAX(TRY_CAST(CAST(size_of AS STRING) AS TINYINT))",
        "MAX(TO_TIMESTAMP_LTZ(moment * 1000, 3))", "MAX(TO_TIMESTAMP_LTZ(CAST(moment AS BIGINT) * 1000, 3))"};

    static void ask(TableEnvironment tables, String... asked) throws Exception {
        var result = tables.executeSql("SELECT " + String.join(", ", asked) + " FROM (VALUES "
            + "(2000000000, CAST(100 AS TINYINT), 1, 300, 1700000000), (2000000000, CAST(100 AS TINYINT), 2, 300, 1700000000), "
            + "(2000000000, CAST(101 AS TINYINT), 4, 300, 1700000000)) AS given (bytes_sent, level, retries, size_of, moment)");
        var types = result.getResolvedSchema().getColumnDataTypes();
        try (var rows = result.collect()) {
            var row = rows.next();
            for (int number = 0; number < asked.length; number++)
                System.out.println(asked[number] + ": " + row.getField(number) + ", " + types.get(number).nullable());
        }
    }

    public static void main(String[] args) throws Exception {
        var tables = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        tables.getConfig().set("parallelism.default", "1");
        tables.getConfig().set("table.local-time-zone", "UTC");
        ask(tables, "AVG(bytes_sent)");
        ask(tables, ASKED);
        System.exit(0);
    }
}
JAVA
timeout 400 java -Xmx900m -cp 'jars/*' Finding.java > seen 2> log || { grep -m1 Caused log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Flink 2.3.0 did when this was written"; exit 1; }
AVG(bytes_sent): 2000000000, INT
SUM(bytes_sent): 1705032704, INT
AVG(bytes_sent): 568344234, INT
SUM(CAST(bytes_sent AS BIGINT)): 6000000000, BIGINT
SUM(level): 45, TINYINT
SUM(CAST(bytes_sent AS BIGINT) * 3000000000): -446744073709551616, BIGINT
AVG(retries): 2, INT
STDDEV_POP(retries): 1, INT
VAR_POP(retries): 1, INT
STDDEV_SAMP(retries): 1, INT
ROUND(STDDEV_POP(CAST(retries AS DOUBLE)), 2): 1.25, DOUBLE
MAX(TRY_CAST(size_of AS TINYINT)): 44, TINYINT
MAX(TRY_CAST(CAST(3e10 AS DOUBLE) AS TINYINT)): -1, TINYINT
MAX(TRY_CAST(CAST(size_of AS STRING) AS TINYINT)): null, TINYINT
MAX(TO_TIMESTAMP_LTZ(moment * 1000, 3)): 1969-12-22T15:49:10.784Z, TIMESTAMP_LTZ(3)
MAX(TO_TIMESTAMP_LTZ(CAST(moment AS BIGINT) * 1000, 3)): 2023-11-14T22:13:20Z, TIMESTAMP_LTZ(3)
EXPECTED
echo "as described: sums of integers wrap"
