#!/usr/bin/env bash
# Kafka Connect's JsonConverter (4.4.0) makes 0, false or null of a value that does not fit its schema, and 0.0 of its own NaN.
#
# Expected: an int64 field that holds "1795827358123" (as text: what JavaScript programs write of large numbers) is that
#   number or a DataException, which errors.tolerance and the dead letter queue exist for.
# Seen: no error at all. Text, true, lists and objects become 0 of a number, "true" and 1 become false, and a number becomes a
#   null in a string field, though the schema says "not optional". What does not fit the width is cut to its low bits: 300 is
#   44 in an int8. NaN and Infinity are written as the texts "NaN" and "Infinity", so the converter itself reads them back as
#   0.0. Without schemas 18446744073709551615, the largest uint64, is -1.
# Why it matters: a producer in another language changes the type of one field, and every row of the sink has a plausible
#   zero from then on, with no record in the dead letter queue.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>connect-json</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.json.JsonConverter;

public class Finding {
    public static void main(String[] args) {
        var typed = new JsonConverter();
        typed.configure(Map.of("converter.type", "value", "schemas.enable", "true"));
        String[][] cases = {
            {"int64", "\"1795827358123\""}, {"int64", "true"}, {"int64", "[7]"}, {"int64", "1.9"}, {"double", "\"1.5\""},
            {"int8", "300"}, {"int32", "4294967297"}, {"boolean", "\"true\""}, {"boolean", "1"}, {"string", "5"}, {"bytes", "5"},
        };
        for (String[] one : cases) {
            String json = "{\"schema\":{\"type\":\"%s\",\"optional\":false},\"payload\":%s}".formatted((Object[]) one);
            System.out.println(one[0] + " " + one[1] + " is " + read(typed, json.getBytes()));
        }
        for (double value : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
            byte[] json = typed.fromConnectData("topic", Schema.FLOAT64_SCHEMA, value);
            System.out.println(value + " comes back as " + read(typed, json));
        }
        var free = new JsonConverter();
        free.configure(Map.of("converter.type", "value", "schemas.enable", "false"));
        System.out.println("uint64 without a schema is " + read(free, "18446744073709551615".getBytes()));
    }

    static Object read(JsonConverter converter, byte[] json) {
        try {
            return converter.toConnectData("topic", json).value();
        } catch (DataException error) {
            return error.getMessage();
        }
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what JsonConverter 4.4.0 did when this was written"; exit 1; }
int64 "1795827358123" is 0
int64 true is 0
int64 [7] is 0
int64 1.9 is 1
double "1.5" is 0.0
int8 300 is 44
int32 4294967297 is 1
boolean "true" is false
boolean 1 is false
string 5 is null
bytes 5 is null
NaN comes back as 0.0
Infinity comes back as 0.0
uint64 without a schema is -1
EXPECTED
echo "as described: values that do not fit become zeros without an error"
