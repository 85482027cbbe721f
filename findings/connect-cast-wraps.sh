#!/usr/bin/env bash
# Kafka Connect's Cast (4.4.0) makes 44 of the number 300 for an int8; the text "300" is an error.
#
# Expected: what the smaller type cannot hold is a DataException, whatever it was before, so that errors.tolerance and the dead
#   letter queue take it; "300" is told so: out of range for requested data type.
# Seen: integers keep their low bits: 300 is 44, 2^40 is 0 in an int32, and a moment in milliseconds is any number. 1e20 is the
#   largest int64 or int32, but -1 in an int16, NaN is 0, and 1e300 in a float32 is infinity. Of texts only "true" is true in a
#   boolean: "1" and "yes" are false, while the number 2 is true and 0.5 is false. "5d" and "5f" are doubles (Java's suffixes),
#   " 5" is a double and no integer, and bytes become Base64 text.
# Why it matters: the documentation's own example is to force an integer to a smaller width. The first value that does not fit
#   comes long after the connector was tried, and is a plausible number.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>connect-transforms</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
cat > Finding.java <<'JAVA'
import java.util.*;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Cast;

public class Finding {
    public static void main(String[] args) {
        for (Object value : List.of(300, "300", 1L << 40, 1e20, Double.NaN)) cast(value, "int8", "int16", "int32", "int64");
        cast(1_795_827_358_123L, "int32");
        cast(1e300, "float32");
        for (Object value : List.of(2, 0.5, "TRUE", "1", "yes")) cast(value, "boolean");
        for (Object value : List.of("5d", "5f", "0x5", " 5")) cast(value, "int32", "float64");
        cast(new byte[] {65, 66}, "string");
    }

    static void cast(Object value, String... types) {
        System.out.print(value instanceof String ? "text \"" + value + "\"" : value instanceof byte[] ? "bytes AB" : value);
        for (String type : types) {
            try (var cast = new Cast.Value<SinkRecord>()) {
                cast.configure(Map.of("spec", type));
                System.out.print(" " + type + "=" + cast.apply(new SinkRecord("topic", 0, null, null, null, value, 0)).value());
            } catch (DataException | NumberFormatException error) {
                System.out.print(" " + type + "=(" + error.getClass().getSimpleName() + ")");
            }
        }
        System.out.println();
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Connect 4.4.0 did when this was written"; exit 1; }
300 int8=44 int16=300 int32=300 int64=300
text "300" int8=(DataException) int16=300 int32=300 int64=300
1099511627776 int8=0 int16=0 int32=0 int64=1099511627776
1.0E20 int8=-1 int16=-1 int32=2147483647 int64=9223372036854775807
NaN int8=0 int16=0 int32=0 int64=0
1795827358123 int32=531028395
1.0E300 float32=Infinity
2 boolean=true
0.5 boolean=false
text "TRUE" boolean=true
text "1" boolean=false
text "yes" boolean=false
text "5d" int32=(DataException) float64=5.0
text "5f" int32=(DataException) float64=5.0
text "0x5" int32=(DataException) float64=(DataException)
text " 5" int32=(DataException) float64=5.0
bytes AB string=QUI=
EXPECTED
echo "as described: values that do not fit are other numbers"
