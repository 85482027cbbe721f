#!/usr/bin/env bash
# Kafka Connect's transforms (4.4.0) make records of tombstones and tombstones of records; others stop at a tombstone.
#
# Expected: a tombstone (a key without a value) means "delete this key", and a transform of values leaves it alone: it has no
#   value to work on. A record with a value does not become a tombstone.
# Seen: HoistField makes {"order":null} of a tombstone, with or without a schema: the key is never deleted. ExtractField makes a
#   tombstone of a record without a schema whose field is null, and of every record where no such field exists, be it misspelt or
#   nested ("customer.id" needs field.syntax.version=V2). With a schema a field that is missing is an error, and one that is null
#   makes JsonConverter write the text null, four bytes that compaction keeps. MaskField, ValueToKey and HeaderFrom end with a
#   DataException at the first tombstone; InsertField and Cast pass it on.
# Why it matters: on a compacted topic, or in a sink with delete.enabled, this is data that never goes, or data that is gone. No
#   error is logged or goes to a dead letter queue. A pipeline that was tried with inserts alone fails at the first delete.
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
import org.apache.kafka.connect.data.*;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.*;

public class Finding {
    static final JsonConverter JSON = new JsonConverter();

    public static void main(String[] args) {
        JSON.configure(Map.of("schemas.enable", "false"), false);
        var order = SchemaBuilder.struct().optional().field("total", Schema.OPTIONAL_INT32_SCHEMA).build();
        show("HoistField", new HoistField.Value<>(), Map.of("field", "order"), read(null));
        show("HoistField, schema", new HoistField.Value<>(), Map.of("field", "order"), record(order, null));
        for (String field : List.of("total", "totl", "customer.id"))
            show("ExtractField " + field, new ExtractField.Value<>(), Map.of("field", field), read("{\"total\":null,\"customer\":{\"id\":7}}"));
        for (String field : List.of("total", "totl"))
            show("ExtractField " + field + ", schema", new ExtractField.Value<>(), Map.of("field", field), record(order, new Struct(order)));
        show("MaskField", new MaskField.Value<>(), Map.of("fields", "total"), read(null));
        show("ValueToKey", new ValueToKey<>(), Map.of("fields", "total"), read(null));
        show("HeaderFrom", new HeaderFrom.Value<>(), Map.of("fields", "total", "headers", "total", "operation", "copy"), read(null));
        show("InsertField", new InsertField.Value<>(), Map.of("static.field", "a", "static.value", "b"), read(null));
        show("Cast", new Cast.Value<>(), Map.of("spec", "total:int8"), read(null));
    }

    static SinkRecord read(String json) {
        var value = JSON.toConnectData("orders", json == null ? null : json.getBytes());
        return record(value.schema(), value.value());
    }

    static SinkRecord record(Schema schema, Object value) {
        return new SinkRecord("orders", 0, null, "order-1", schema, value, 0);
    }

    static void show(String name, Transformation<SinkRecord> transform, Map<String, ?> settings, SinkRecord record) {
        transform.configure(settings);
        System.out.print(name + ": " + (record.value() == null ? "tombstone" : "record") + " -> ");
        try {
            SinkRecord made = transform.apply(record);
            byte[] bytes = JSON.fromConnectData(made.topic(), made.valueSchema(), made.value());
            System.out.println(bytes == null ? "tombstone" : bytes.length + " bytes, " + new String(bytes));
        } catch (DataException | IllegalArgumentException error) {
            System.out.println(error.getClass().getSimpleName());
        }
    }
}
JAVA
java -cp 'jars/*' Finding.java > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Connect 4.4.0 did when this was written"; exit 1; }
HoistField: tombstone -> 14 bytes, {"order":null}
HoistField, schema: tombstone -> 14 bytes, {"order":null}
ExtractField total: record -> tombstone
ExtractField totl: record -> tombstone
ExtractField customer.id: record -> tombstone
ExtractField total, schema: record -> 4 bytes, null
ExtractField totl, schema: record -> IllegalArgumentException
MaskField: tombstone -> DataException
ValueToKey: tombstone -> DataException
HeaderFrom: tombstone -> DataException
InsertField: tombstone -> tombstone
Cast: tombstone -> tombstone
EXPECTED
echo "as described: tombstones are made and unmade"
