#!/usr/bin/env bash
# To QuestDB no port is below 40000 in WHERE, and each is in SELECT; sum(ms * 2) is four billion, and below zero when it is divided.
#
# Expected: an expression means the same in WHERE and in SELECT. A number too large for a column's type is larger than all of it, or
#   an error, as it is for an INSERT. A sum is the same number, whether it is divided by something or not.
# Seen (org.questdb:questdb 9.3.4 for Java, on x86-64; SHORT with 5, -3 and 30000, INT with 5, -3 and two billion): Filters are
#   compiled to machine code, and there the constant is cut to the column's 16 or 8 bits: 40000 is -25536. So < 40000 finds none, >
#   40000 all, = 65541 the row with 5. With 40000L, in a CASE and of a subquery's column the filter is not compiled, and right. The
#   project's own tests have found it since, so later versions may differ.
#   sum(ms * 2) is 4000000004, as it is rewritten to sum(ms) * 2. In sum(ms * 2) / count(), avg(ms * 2) and max(ms * 2) the product
#     wraps in 32 bits: a mean of -98322430.7, and 10 as the largest.
#   0.1 + 0.2 = 0.3 is true; round(2.5, 0) is 3 and round(-2.5, 0) -2.
# Why it matters: ports, sizes and error codes are the SHORTs of such tables. A query that shows the condition, to see what is
#   wrong, shows that all is right; a total that was checked is right, and the mean made of it in the same query is not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
test "$(uname -m)" = x86_64 || { echo "needs x86-64: filters are compiled there"; exit 1; }
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.questdb</groupId><artifactId>questdb</artifactId><version>9.3.4</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
mkdir data
cat > Finding.java <<'JAVA'
import io.questdb.cairo.*;
import io.questdb.cairo.security.AllowAllSecurityContext;
import io.questdb.griffin.SqlExecutionContextImpl;
import io.questdb.std.str.StringSink;
import java.nio.file.Path;

public class Finding {
    public static void main(String[] none) throws Exception {
        try (var engine = new CairoEngine(new DefaultCairoConfiguration(Path.of("data").toAbsolutePath().toString()))) {
            var context = new SqlExecutionContextImpl(engine, 1).with(AllowAllSecurityContext.INSTANCE, null);
            engine.execute("CREATE TABLE t (ts TIMESTAMP, port SHORT, ttl BYTE, ms INT) TIMESTAMP(ts) PARTITION BY DAY", context);
            engine.execute("INSERT INTO t VALUES ('2026-01-01T10:00:00Z', 5, 5, 5), ('2026-01-01T10:00:01Z', -3, -3, -3), "
                + "('2026-01-01T10:00:02Z', 30000, 100, 2000000000)", context);
            for (String sql : new String[] {
                "SELECT count() FROM t WHERE port < 40000", "SELECT count() FROM t WHERE port > 40000",
                "SELECT count() FROM t WHERE port = 65541", "SELECT count() FROM t WHERE ttl < 200",
                "SELECT port < 40000, count() FROM t", "SELECT count() FROM (SELECT port < 40000 AS low FROM t) WHERE low",
                "SELECT count() FROM t WHERE port < 40000L", "SELECT count() FROM t WHERE CASE WHEN port < 40000 THEN true ELSE false END",
                "SELECT sum(ms * 2) FROM t", "SELECT sum(ms * 2) / count() FROM t", "SELECT avg(ms * 2), max(ms * 2) FROM t",
                "SELECT 0.1 + 0.2 = 0.3, round(2.5, 0), round(-2.5, 0)"}) {
                var sink = new StringSink();
                try (var factory = engine.select(sql, context); var cursor = factory.getCursor(context)) {
                    CursorPrinter.println(cursor, factory.getMetadata(), sink, false, false);
                }
                System.out.println("FOUND " + sql + ": " + sink.toString().strip().replace("\t", " "));
            }
        }
    }
}
JAVA
java --add-opens java.base/java.lang=ALL-UNNAMED -cp 'jars/*' Finding.java > out 2>&1 || { cat out; exit 1; }
sed -n 's/^FOUND //p' out > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
SELECT count() FROM t WHERE port < 40000: 0
SELECT count() FROM t WHERE port > 40000: 3
SELECT count() FROM t WHERE port = 65541: 1
SELECT count() FROM t WHERE ttl < 200: 0
SELECT port < 40000, count() FROM t: true 3
SELECT count() FROM (SELECT port < 40000 AS low FROM t) WHERE low: 3
SELECT count() FROM t WHERE port < 40000L: 3
SELECT count() FROM t WHERE CASE WHEN port < 40000 THEN true ELSE false END: 3
SELECT sum(ms * 2) FROM t: 4000000004
SELECT sum(ms * 2) / count() FROM t: -98322430
SELECT avg(ms * 2), max(ms * 2) FROM t: -9.832243066666667E7 10
SELECT 0.1 + 0.2 = 0.3, round(2.5, 0), round(-2.5, 0): true 3.0 -2.0
EXPECTED
echo "as described: a port is below 40000 where it is shown, and not where it is sought"
