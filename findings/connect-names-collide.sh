#!/usr/bin/env bash
# Where a transform of Kafka Connect (4.4.0) gives two fields one name, one of their values is gone; which one lies in the hash of
#   the names, and in how many other fields there are.
#
# Expected: a rename to a name that exists, or two fields that flatten to one name, is an error, as it is for records with a schema
#   (SchemaBuilderException); or one rule says whose value stays.
# Seen: records without a schema (JsonConverter with schemas.enable=false) lose one value without an error. They are hash maps, and
#   the field that is walked last stays. With renames=ts:time that is the renamed one, with id:key the old one, in whatever order
#   the JSON text has them; with when:at it is the renamed one, and in a record with eleven more fields (a larger table) the old
#   one. Flatten (delimiter _) of {"user_id":1,"user":{"id":2}} keeps the 2, and the 1 where the field is called "a".
# Why it matters: a test with other names or a shorter record shows the other result. A field "time" that a producer adds one day
#   takes the place of the renamed one, or does not, record by record.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>connect-transforms</artifactId><version>4.4.0</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>connect-json</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import java.util.*;
import org.apache.kafka.connect.errors.SchemaBuilderException;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.*;

public class Finding {
    public static void main(String[] args) {
        StringBuilder others = new StringBuilder();
        for (int number = 0; number < 11; number++) others.append(",\"f").append(number).append("\":0");
        for (String names : List.of("ts:time", "id:key", "when:at")) {
            String[] name = names.split(":");
            String two = "\"" + name[0] + "\":1,\"" + name[1] + "\":2", back = "\"" + name[1] + "\":2,\"" + name[0] + "\":1";
            for (String fields : List.of(two, back, two + others))
                System.out.println("rename " + names + " in {" + fields.replace(others, " and 11 others") + "}: "
                    + only(name[1], made(new ReplaceField.Value<>(), Map.of("renames", names), "{" + fields + "}", false)));
        }
        for (String name : List.of("user", "a")) {
            String fields = "{\"" + name + "_id\":1,\"" + name + "\":{\"id\":2}}";
            System.out.println("flatten " + fields + ": " + made(new Flatten.Value<>(), Map.of("delimiter", "_"), fields, false));
        }
        String field = "{\"type\":\"int32\",\"field\":\"%s\"}";
        String schema = "{\"type\":\"struct\",\"fields\":[" + field.formatted("ts") + "," + field.formatted("time") + "]}";
        System.out.println("rename ts:time with a schema: " + made(new ReplaceField.Value<>(), Map.of("renames", "ts:time"),
            "{\"schema\":" + schema + ",\"payload\":{\"ts\":1,\"time\":2}}", true));
    }

    static String only(String name, String json) {
        return name + "=" + json.replaceAll(".*\"" + name + "\":(\\d+).*", "$1");
    }

    static String made(Transformation<SinkRecord> transform, Map<String, String> settings, String json, boolean schemas) {
        transform.configure(settings);
        try (var converter = new JsonConverter()) {
            converter.configure(Map.of("schemas.enable", schemas), false);
            var value = converter.toConnectData("topic", json.getBytes());
            SinkRecord made = transform.apply(new SinkRecord("topic", 0, null, null, value.schema(), value.value(), 0));
            return new String(converter.fromConnectData("topic", made.valueSchema(), made.value()));
        } catch (SchemaBuilderException error) {
            return error.getClass().getSimpleName();
        }
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Connect 4.4.0 did when this was written"; exit 1; }
rename ts:time in {"ts":1,"time":2}: time=1
rename ts:time in {"time":2,"ts":1}: time=1
rename ts:time in {"ts":1,"time":2 and 11 others}: time=1
rename id:key in {"id":1,"key":2}: key=2
rename id:key in {"key":2,"id":1}: key=2
rename id:key in {"id":1,"key":2 and 11 others}: key=2
rename when:at in {"when":1,"at":2}: at=1
rename when:at in {"at":2,"when":1}: at=1
rename when:at in {"when":1,"at":2 and 11 others}: at=2
flatten {"user_id":1,"user":{"id":2}}: {"user_id":2}
flatten {"a_id":1,"a":{"id":2}}: {"a_id":1}
rename ts:time with a schema: SchemaBuilderException
EXPECTED
echo "as described: of two values with one name one is lost"
