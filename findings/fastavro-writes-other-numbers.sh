#!/usr/bin/env bash
# fastavro 1.13.1 writes what does not fit the type: integers as doubles, "false" as true, an int that Java reads as 0.
#
# Expected: an integer goes into the branch of a union that holds it, and a value that the type cannot hold is refused, as
#   Avro for Python (avro 1.12.2) does it, or as fastavro itself does with a long beyond 64 bits (OverflowError).
# Seen: the first branch to which a number could be converted is taken: of [null, double, long] the double, so 2^53 + 1 loses
#   its last digit, and of [null, float, long] the float, so 2^24 + 1 does. 2^31 in an int is written with 33 bits: fastavro
#   reads it back, Java (avro 1.12.2) reads 0. 1.9 in a long is 1, 1e39 in a float is infinity, any text that is not empty is
#   true, and fields that the record does not have are left out. strict=True refuses the last only, and validate() finds
#   neither the lost digits nor the infinity.
# Why it matters: serializers for Kafka in Python (confluent-kafka's among them) write with it. Moments in nanoseconds and
#   identifiers are beyond 2^53, and a round trip in Python shows no difference for the int that is 0 to everybody else.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.avro</groupId><artifactId>avro</artifactId><version>1.12.2</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install avro==1.12.2 fastavro==1.13.1
cat > Read.java <<'JAVA'
import java.nio.file.*;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.DecoderFactory;

public class Read {
    public static void main(String[] args) throws Exception {
        var content = DecoderFactory.get().binaryDecoder(Files.readAllBytes(Path.of("int")), null);
        System.out.println("Java reads " + new GenericDatumReader<>(Schema.create(Schema.Type.INT)).read(null, content));
    }
}
JAVA
cat > write.py <<'PY'
import io, json, avro.io, avro.schema, fastavro

def fast(schema, value, **options):
    written = io.BytesIO()
    fastavro.schemaless_writer(written, schema, value, **options)
    written.seek(0)
    return fastavro.schemaless_reader(written, schema)

def strict(schema, value):
    return fast(schema, value, strict=True)

def apache(schema, value):
    parsed, written = avro.schema.parse(json.dumps(schema)), io.BytesIO()
    avro.io.DatumWriter(parsed).write(value, avro.io.BinaryEncoder(written))
    written.seek(0)
    return avro.io.DatumReader(parsed).read(avro.io.BinaryDecoder(written))

def told(write, schema, value):
    try:
        return write(schema, value)
    except Exception as error:
        return type(error).__name__

record = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]}
for name, schema, value in (("double or long", ["null", "double", "long"], 2**53 + 1), ("int", "int", 2**31),
                            ("float or long", ["null", "float", "long"], 2**24 + 1), ("long", "long", 1.9),
                            ("float", "float", 1e39), ("boolean", "boolean", "false"), ("record", record, {"x": 1, "y": 2})):
    results = [told(write, schema, value) for write in (fast, strict, apache)]
    valid = fastavro.validate(value, schema, raise_errors=False)
    print(name, value, "fastavro:", results[0], "strict:", results[1], "validate:", valid, "avro:", results[2])
with open("int", "wb") as file:
    fastavro.schemaless_writer(file, "int", 2**31)
PY
{ env/bin/python -W ignore write.py; java -cp 'jars/*' Read.java; } > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
double or long 9007199254740993 fastavro: 9007199254740992.0 strict: 9007199254740992.0 validate: True avro: 9007199254740993
int 2147483648 fastavro: 2147483648 strict: 2147483648 validate: False avro: AvroTypeException
float or long 16777217 fastavro: 16777216.0 strict: 16777216.0 validate: True avro: 16777217
long 1.9 fastavro: 1 strict: 1 validate: False avro: AvroTypeException
float 1e+39 fastavro: inf strict: inf validate: True avro: OverflowError
boolean false fastavro: True strict: True validate: False avro: AvroTypeException
record {'x': 1, 'y': 2} fastavro: {'x': 1} strict: ValueError validate: True avro: AvroTypeException
Java reads 0
EXPECTED
echo "as described: other numbers than were given"
