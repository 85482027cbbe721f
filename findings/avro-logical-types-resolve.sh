#!/usr/bin/env bash
# Two Avro schemas that are compatible: Java and Go read another amount and another century, Python what was written.
#
# Expected: a field that changes from two decimal places to four, or from timestamp-millis to timestamp-micros, is refused by
#   the compatibility check (Avro's specification lets decimals match only if scale and precision do), or is converted.
# Seen: Avro for Java (1.12.2) calls both changes COMPATIBLE and gives the old bytes the new type: 12.34 is 0.1234, and 2026 is 21
#   January 1970. hamba/avro 2.31.0 (Go) does likewise. fastavro 1.13.1 and avro 1.12.2 for Python take the writer's type, so
#   the value is right. Nobody warns, and nobody refuses decimals of other scales.
# Why it matters: a registry whose check this is lets the change pass; from then on old records, and those of producers not yet
#   changed, are wrong for one consumer and right for another. New records are right everywhere, so a test with them passes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java go python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.avro</groupId><artifactId>avro</artifactId><version>1.12.2</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install avro==1.12.2 fastavro==1.13.1
cat > read.py <<'PY'
import io, json, sys, avro.io, avro.schema, fastavro
for line in sys.stdin:
    written, asked, content = line.split()
    fast = fastavro.schemaless_reader(io.BytesIO(bytes.fromhex(content)), json.loads(written), json.loads(asked))
    apache = avro.io.DatumReader(avro.schema.parse(written), avro.schema.parse(asked))
    print("fastavro", fast["x"], "avro", apache.read(avro.io.BinaryDecoder(io.BytesIO(bytes.fromhex(content))))["x"])
PY
cat > Read.java <<'JAVA'
import java.util.*;
import org.apache.avro.*;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.generic.*;
import org.apache.avro.io.DecoderFactory;

public class Read {
    public static void main(String[] args) throws Exception {
        var data = new GenericData();
        data.addLogicalTypeConversion(new Conversions.DecimalConversion());
        data.addLogicalTypeConversion(new TimeConversions.TimestampMicrosConversion());
        for (var in = new Scanner(System.in); in.hasNext();) {
            Schema writer = new Schema.Parser().parse(in.next()), reader = new Schema.Parser().parse(in.next());
            var content = DecoderFactory.get().binaryDecoder(HexFormat.of().parseHex(in.next()), null);
            var record = (GenericRecord) new GenericDatumReader<>(writer, reader, data).read(null, content);
            var judged = SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getType();
            System.out.println("Java " + judged + " " + record.get("x"));
        }
    }
}
JAVA
cat > main.go <<'GO'
package main
import ("encoding/hex"; "fmt"; "math/big"; "time"; "github.com/hamba/avro/v2")
func main() {
	for {
		var writer, reader, content string
		if n, _ := fmt.Scan(&writer, &reader, &content); n < 3 { return }
		both, err := avro.NewSchemaCompatibility().Resolve(avro.MustParse(reader), avro.MustParse(writer))
		if err != nil { panic(err) }
		bytes, _ := hex.DecodeString(content); record := map[string]any{}
		if err := avro.Unmarshal(both, bytes, &record); err != nil { panic(err) }
		if number, is := record["x"].(*big.Rat); is { record["x"] = number.FloatString(4) }
		if moment, is := record["x"].(time.Time); is { record["x"] = moment.UTC() }
		fmt.Println("Go", record["x"])
	}
}
GO
{ go mod init finding; go get github.com/hamba/avro/v2@v2.31.0; } >go.log 2>&1
python3 - > cases <<'PY'
import json
decimals = [{"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": scale} for scale in (2, 4)]
millis, micros = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros"))
for *kinds, content in (*decimals, "0404d2"), (millis, micros, "80a0d5edee66"):
    records = ({"type": "record", "name": "R", "fields": [{"name": "x", "type": kind}]} for kind in kinds)
    print(*(json.dumps(record, separators=(",", ":")) for record in records), content)
PY
{ java -cp 'jars/*' Read.java < cases; go run . < cases; env/bin/python -W ignore read.py < cases; } > seen 2> log || exit 1

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
Java COMPATIBLE 0.1234
Java COMPATIBLE 1970-01-21T10:53:45.600Z
Go 0.1234
Go 1970-01-21 10:53:45.6 +0000 UTC
fastavro 12.34 avro 12.34
fastavro 2026-01-01 00:00:00+00:00 avro 2026-01-01 00:00:00+00:00
EXPECTED
echo "as described: one record, two values"
