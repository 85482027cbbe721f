#!/usr/bin/env bash
# Hazelcast SQL: 12.349 cast to DECIMAL(10, 2) is 12.349, 12 digits fit into DECIMAL(4, 2), and 0.5 ms is no interval.
#
# Expected: a cast to DECIMAL(10, 2) has two places, as one to VARCHAR(3) has three letters there, or an error; week 1 of a year
#   is 01.
# Seen (hazelcast-sql 5.5.0 for Java):
#   Precision and scale of a decimal are read and forgotten, so comparisons, groups and sums of cents go by all places. Its page
#   of types does not name them.
#   INTERVAL '0.0005' SECOND adds nothing, though timestamps have nanoseconds and '0.0015' adds 1 ms.
#   A mapping of JSON without columns reads ids as doubles, 9007199254740993 as ...992; with columns it reads it whole, and cuts
#   2.7 to 2 in an INT. TO_CHAR's pattern WW writes the week of the month twice: 11 on 1 January, 55 on 31 December.
# Why it matters: 12.349 and 12.351 are no group of 12.35, and totals of rounded amounts are those of unrounded ones: a query from
#   any other engine runs and answers otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>com.hazelcast</groupId><artifactId>hazelcast-sql</artifactId><version>5.5.0</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
mkdir records && echo '{"id": 9007199254740993, "ms": 2.7}' > records/a.json
cat > Finding.java <<'JAVA'
import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import java.nio.file.Path;

public class Finding {
    public static void main(String[] none) {
        var config = new Config().setProperty("hazelcast.phone.home.enabled", "false").setProperty("hazelcast.logging.type", "none");
        config.getJetConfig().setEnabled(true);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
        config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
        var member = Hazelcast.newHazelcastInstance(config);
        var files = "TYPE File OPTIONS ('path' = '" + Path.of("records").toAbsolutePath() + "', 'format' = 'json-flat')";
        member.getSql().execute("CREATE EXTERNAL MAPPING guessed " + files).close();
        member.getSql().execute("CREATE EXTERNAL MAPPING declared (id BIGINT, ms INT) " + files).close();
        for (var query : new String[] {
            "SELECT CAST(12.349 AS DECIMAL(10, 2)), CAST('12.349' AS DECIMAL(10, 2)), CAST(123456789012.3 AS DECIMAL(4, 2))",
            "SELECT CAST('abcdef' AS VARCHAR(3))",
            "SELECT SUM(CAST(n AS DECIMAL(10, 2))), COUNT(DISTINCT CAST(n AS DECIMAL(10, 2))) FROM (VALUES (12.349), (12.351)) AS t(n)",
            "SELECT CAST('2026-01-01T10:00:00' AS TIMESTAMP) + INTERVAL '0.0005' SECOND",
            "SELECT CAST('2026-01-01T10:00:00' AS TIMESTAMP) + INTERVAL '0.0015' SECOND",
            "SELECT TO_CHAR(CAST('2027-01-01' AS DATE), 'YYYY WW'), TO_CHAR(CAST('2026-12-31' AS DATE), 'YYYY WW')",
            "SELECT CAST(id AS DECIMAL), ms FROM guessed", "SELECT id, ms FROM declared"})
            try (var rows = member.getSql().execute(query)) {
                System.out.print(query + ":");
                for (var row : rows)
                    for (int n = 0; n < row.getMetadata().getColumnCount(); n++) System.out.print(" " + row.getObject(n));
                System.out.println();
            }
        member.shutdown();
    }
}
JAVA
timeout 120 java -cp 'jars/*' Finding.java > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Hazelcast 5.5.0 did when this was written"; exit 1; }
SELECT CAST(12.349 AS DECIMAL(10, 2)), CAST('12.349' AS DECIMAL(10, 2)), CAST(123456789012.3 AS DECIMAL(4, 2)): 12.349 12.349 123456789012.3
SELECT CAST('abcdef' AS VARCHAR(3)): abc
SELECT SUM(CAST(n AS DECIMAL(10, 2))), COUNT(DISTINCT CAST(n AS DECIMAL(10, 2))) FROM (VALUES (12.349), (12.351)) AS t(n): 24.70000000000000000000000000000000000000 2
SELECT CAST('2026-01-01T10:00:00' AS TIMESTAMP) + INTERVAL '0.0005' SECOND: 2026-01-01T10:00
SELECT CAST('2026-01-01T10:00:00' AS TIMESTAMP) + INTERVAL '0.0015' SECOND: 2026-01-01T10:00:00.001
SELECT TO_CHAR(CAST('2027-01-01' AS DATE), 'YYYY WW'), TO_CHAR(CAST('2026-12-31' AS DATE), 'YYYY WW'): 2027 11 2026 55
SELECT CAST(id AS DECIMAL), ms FROM guessed: 9007199254740992 2.7
SELECT id, ms FROM declared: 9007199254740993 2
EXPECTED
echo "as described: cents have three places"
