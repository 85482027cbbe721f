#!/usr/bin/env bash
# Tablesaw cuts times to milliseconds, makes a double of an id plus one, and counts no row without a key where another count has
#   one.
#
# Expected: a column of LocalDateTime or Instant holds what is put into it; a long plus one is a long. "How many rows by key" has
#   one answer, and rows that are not equal to 1 are those of which that is known.
# Seen (tech.tablesaw:tablesaw-core 0.44.4 for Java):
#   10:00:00.123456 of a CSV file is .123, in a column of Instant or LocalTime as well: a request and its response 300 us later are
#     equal, countUnique() is 1 and isEqualTo() finds both.
#   max() and sum() of a LongColumn are doubles, and so is id + 1: 9007199254740993 + 1 is 9007199254740992, less than before.
#   countBy("client") and xTabCounts("client") have 0 for the row without a client, summarize(..., count) of that group has 1.
#   isNotEqualTo(1) finds missing values too, isLessThan() and isGreaterThan() do not.
# Why it matters: latencies below a millisecond are 0 and the order of two events is lost, though the file had it; counts by client
#   do not add up to the number of rows. Nothing is raised.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>tech.tablesaw</groupId><artifactId>tablesaw-core</artifactId><version>0.44.4</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
printf '%s\n' at,client,id 2026-01-01T10:00:00.123456,a,1 2026-01-01T10:00:00.123756,a,9007199254740993 > events.csv
cat > Finding.java <<'JAVA'
import static tech.tablesaw.aggregate.AggregateFunctions.count;
import java.time.Instant;
import tech.tablesaw.api.*;

public class Finding {
    public static void main(String[] none) {
        var events = Table.read().csv("events.csv");
        var at = events.dateTimeColumn("at");
        System.out.printf("times: %s %s, different ones: %d, equal to the second: %d%n", at.get(0), at.get(1), at.countUnique(), at.isEqualTo(at.get(1)).size());
        System.out.println("an Instant: " + InstantColumn.create("at", Instant.ofEpochSecond(1_767_261_600, 123_456_789)).get(0));
        var id = (LongColumn) events.column("id");
        System.out.printf("ids: %s, plus 1: %s, max() == 9007199254740993: %s%n", id.get(1), (long) (double) id.add(1).get(1), (long) id.max() == id.getLong(1));
        var table = Table.create("t", StringColumn.create("client", "a", "a", "b", ""), IntColumn.create("ms", new Integer[] {1, 2, null, 4}));
        for (var counts : new Table[] {table.countBy("client"), table.xTabCounts("client"), table.summarize("ms", count).by("client")}) {
            System.out.print(counts.name() + ":");
            for (var row : counts) System.out.printf(" '%s' %s", counts.get(row.getRowNumber(), 0), counts.get(row.getRowNumber(), 1));
            System.out.println();
        }
        var ms = table.intColumn("ms");
        System.out.printf("of 1, 2, missing, 4: not 1: %d, below 1: %d, above 1: %d%n", ms.isNotEqualTo(1).size(), ms.isLessThan(1).size(), ms.isGreaterThan(1).size());
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
times: 2026-01-01T10:00:00.123 2026-01-01T10:00:00.123, different ones: 1, equal to the second: 2
an Instant: 2026-01-01T10:00:00.123Z
ids: 9007199254740993, plus 1: 9007199254740992, max() == 9007199254740993: false
t summary: 'a' 2 'b' 1 '' 0
t summary: 'a' 2 'b' 1 '' 0
t summary: 'a' 2.0 'b' 0.0 '' 1.0
of 1, 2, missing, 4: not 1: 3, below 1: 0, above 1: 2
EXPECTED
echo "as described: times have milliseconds"
