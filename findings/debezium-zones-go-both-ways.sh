#!/usr/bin/env bash
# Debezium's TimezoneConverter turns 10:00 UTC into 15:30 in one column and into 04:30 in the next one, for Asia/Kolkata.
#
# Expected: converted.timezone=Asia/Kolkata: Debezium writes UTC, and the transform adjusts times to that zone. Each column shows
#   15:30, or those without a zone stay as they are. Two columns of one moment stay together.
# Seen (debezium-core 3.4.3.Final; one row with one moment in five types):
#   A ZonedTimestamp becomes 15:30+05:30, the same moment in another form. Timestamp, MicroTimestamp, NanoTimestamp, and Connect's
#     own Timestamp, become 04:30, another moment: their digits are taken for Kolkata's and converted to UTC, the other way, which
#     mends a database's local DATETIME. By what is shown the two are eleven hours apart.
#   In Berlin, half an hour behind the end of summer time, a ZonedTimestamp is 03:30+02:00, where the clocks show 02:30+01:00; the
#     others go back two hours. A ZonedTime has the winter's offset in July as well. source.ts_ms stays. No error, no warning.
# Why it matters: which type a column has is decided by the database's type and by time.precision.mode. A trial with timestamptz has
#   local times, as was wished; timestamp columns of the same table are moved the other way, and two tables no longer join by time.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>io.debezium</groupId><artifactId>debezium-core</artifactId><version>3.4.3.Final</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>connect-runtime</artifactId><version>4.3.1</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import io.debezium.transforms.TimezoneConverter;
import java.time.*;
import java.util.*;
import org.apache.kafka.connect.data.*;
import org.apache.kafka.connect.source.SourceRecord;

public class Finding {
    static Schema named(SchemaBuilder builder, String name) { return builder.name("io.debezium.time." + name).optional().build(); }

    public static void main(String[] none) {
        Schema row = SchemaBuilder.struct().name("row").optional()
            .field("zoned", named(SchemaBuilder.string(), "ZonedTimestamp")).field("millis", named(SchemaBuilder.int64(), "Timestamp"))
            .field("micros", named(SchemaBuilder.int64(), "MicroTimestamp")).field("nanos", named(SchemaBuilder.int64(), "NanoTimestamp"))
            .field("connect", Timestamp.builder().optional().build()).field("time", named(SchemaBuilder.string(), "ZonedTime")).build();
        Schema source = SchemaBuilder.struct().name("io.debezium.connector.postgresql.Source").field("table", Schema.STRING_SCHEMA)
            .field("ts_ms", Schema.INT64_SCHEMA).build();
        Schema envelope = SchemaBuilder.struct().name("server.table.Envelope").field("before", row).field("after", row).field("source", source)
            .field("op", Schema.STRING_SCHEMA).field("ts_ms", Schema.OPTIONAL_INT64_SCHEMA).build();
        for (String[] one : new String[][] {{"Asia/Kolkata", "2026-07-01T10:00:00Z"}, {"Europe/Berlin", "2026-07-01T10:00:00Z"},
                {"Europe/Berlin", "2026-10-25T00:30:00Z"}, {"Europe/Berlin", "2026-10-25T01:30:00Z"}}) {
            long millis = Instant.parse(one[1]).toEpochMilli();
            Struct after = new Struct(row).put("zoned", one[1]).put("millis", millis).put("micros", millis * 1000).put("nanos", millis * 1_000_000)
                .put("connect", new java.util.Date(millis)).put("time", one[1].substring(11));
            Struct change = new Struct(envelope).put("after", after).put("op", "c").put("ts_ms", millis)
                .put("source", new Struct(source).put("table", "table").put("ts_ms", millis));
            try (var converter = new TimezoneConverter<SourceRecord>()) {
                converter.configure(Map.of("converted.timezone", one[0]));
                var value = (Struct) converter.apply(new SourceRecord(Map.of(), Map.of(), "topic", 0, null, null, envelope, change)).value();
                var seen = value.getStruct("after");
                System.out.printf("%s, %s: zoned %s | millis %s | micros %s | nanos %s | connect %s | time %s | source %s%n", one[0], one[1], seen.get("zoned"),
                    Instant.ofEpochMilli(seen.getInt64("millis")), Instant.ofEpochSecond(0, seen.getInt64("micros") * 1000),
                    Instant.ofEpochSecond(0, seen.getInt64("nanos")), ((java.util.Date) seen.get("connect")).toInstant(), seen.get("time"),
                    Instant.ofEpochMilli(value.getStruct("source").getInt64("ts_ms")));
            }
        }
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
Asia/Kolkata, 2026-07-01T10:00:00Z: zoned 2026-07-01T15:30:00+05:30 | millis 2026-07-01T04:30:00Z | micros 2026-07-01T04:30:00Z | nanos 2026-07-01T04:30:00Z | connect 2026-07-01T04:30:00Z | time 15:30:00+05:30 | source 2026-07-01T10:00:00Z
Europe/Berlin, 2026-07-01T10:00:00Z: zoned 2026-07-01T12:00:00+02:00 | millis 2026-07-01T08:00:00Z | micros 2026-07-01T08:00:00Z | nanos 2026-07-01T08:00:00Z | connect 2026-07-01T08:00:00Z | time 11:00:00+01:00 | source 2026-07-01T10:00:00Z
Europe/Berlin, 2026-10-25T00:30:00Z: zoned 2026-10-25T02:30:00+02:00 | millis 2026-10-24T22:30:00Z | micros 2026-10-24T22:30:00Z | nanos 2026-10-24T22:30:00Z | connect 2026-10-24T22:30:00Z | time 01:30:00+01:00 | source 2026-10-25T00:30:00Z
Europe/Berlin, 2026-10-25T01:30:00Z: zoned 2026-10-25T03:30:00+02:00 | millis 2026-10-24T23:30:00Z | micros 2026-10-24T23:30:00Z | nanos 2026-10-24T23:30:00Z | connect 2026-10-24T23:30:00Z | time 02:30:00+01:00 | source 2026-10-25T01:30:00Z
EXPECTED
echo "as described: columns of one moment go both ways"
