#!/usr/bin/env bash
# Kafka Connect's TimestampConverter (4.4.0) reads six digits of a second as milliseconds: up to 17 minutes too late.
#
# Expected: with format yyyy-MM-dd'T'HH:mm:ss.SSSSSS microseconds are cut to milliseconds, as the documentation warns, and a text
#   that does not fit the format is an error, as a text without digits is.
# Seen: S counts milliseconds however often it is written. .123456 is 123.456 seconds: two minutes later. Nine digits are up to
#   eleven days, and .5 under SSS is 5 ms. What follows the part that fits is not read, so of 10:00:00+05:00 the offset is
#   dropped and the time taken as UTC. Month 13 is next January, and a date of the other order, 2026/11/28 under dd/MM/yyyy, is
#   a day of the year 34. Written with SSSSSS, 123 ms come out as .000123. All pass without an error, so nothing goes to the
#   dead letter queue.
# Why it matters: databases and logs write microseconds, and most values of a column are plausible: late by 0 to 17 minutes, at
#   random. Latencies computed behind such a connector are nonsense that looks like lag.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>connect-transforms</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import java.util.Date;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.TimestampConverter;

public class Finding {
    public static void main(String[] args) {
        String seconds = "yyyy-MM-dd'T'HH:mm:ss";
        read(seconds + ".SSSSSS'Z'", "2026-11-28T10:00:00.123456Z");
        read(seconds + ".SSSSSS'Z'", "2026-11-28T10:00:00.999999Z");
        read(seconds + ".SSSSSSSSS'Z'", "2026-11-28T10:00:00.123456789Z");
        read(seconds + ".SSS'Z'", "2026-11-28T10:00:00.5Z");
        read(seconds, "2026-11-28T10:00:00+05:00");
        read("yyyy-MM-dd", "2026-13-45");
        read("dd/MM/yyyy", "2026/11/28");
        read(seconds, "yesterday");
        var moment = new Date(1_795_860_000_123L);
        System.out.println("written: " + convert(Map.of("target.type", "string", "format", seconds + ".SSSSSS"), Timestamp.SCHEMA, moment));
    }

    static void read(String format, String text) {
        String read;
        try {
            read = ((Date) convert(Map.of("target.type", "Timestamp", "format", format), null, text)).toInstant().toString();
        } catch (DataException error) {
            read = "an error";
        }
        System.out.println(format + " reads " + text + " as " + read);
    }

    static Object convert(Map<String, String> settings, Schema schema, Object value) {
        var converter = new TimestampConverter.Value<SourceRecord>();
        converter.configure(settings);
        return converter.apply(new SourceRecord(null, null, "topic", 0, schema, value)).value();
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what TimestampConverter 4.4.0 did when this was written"; exit 1; }
yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z' reads 2026-11-28T10:00:00.123456Z as 2026-11-28T10:02:03.456Z
yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z' reads 2026-11-28T10:00:00.999999Z as 2026-11-28T10:16:39.999Z
yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z' reads 2026-11-28T10:00:00.123456789Z as 2026-11-29T20:17:36.789Z
yyyy-MM-dd'T'HH:mm:ss.SSS'Z' reads 2026-11-28T10:00:00.5Z as 2026-11-28T10:00:00.005Z
yyyy-MM-dd'T'HH:mm:ss reads 2026-11-28T10:00:00+05:00 as 2026-11-28T10:00:00Z
yyyy-MM-dd reads 2026-13-45 as 2027-02-14T00:00:00Z
dd/MM/yyyy reads 2026/11/28 as 0034-05-17T00:00:00Z
yyyy-MM-dd'T'HH:mm:ss reads yesterday as an error
written: 2026-11-28T10:00:00.000123
EXPECTED
echo "as described: microseconds are read as milliseconds"
