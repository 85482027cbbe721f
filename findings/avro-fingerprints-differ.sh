#!/usr/bin/env bash
# One Avro schema with a timestamp has three fingerprints: Java and fastavro agree, Avro's own Python library and hamba's Go do not.
#
# Expected: the specification defines a canonical form, without logical types and with full names, and a fingerprint of it (CRC-64-AVRO)
#   that is the same in every language. Single-object messages begin with it, and that is how a reader finds the schema.
# Seen (Avro for Java 1.12.1, avro 1.12.2 and fastavro 1.13.1 for Python, hamba/avro 2.31.0 for Go):
#   a logical type: avro leaves {"type":"long"} where "long" is right, hamba keeps the logical type;
#   the name of a fixed or an enum in its second place: avro writes the definition again;
#   a record without a namespace inside one with a namespace: avro and hamba move it into the outer one;
#   an "error" type: Java and fastavro call it a record. Schemas without these have one fingerprint in all four.
# Why it matters: timestamps and decimals are in most schemas. A Go or Python producer's message names a schema that a Java consumer has
#   and does not find, and a cache or registry by fingerprint keeps one schema several times.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
for tool in go java mvn python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > schemas <<'AVRO'
plain {"type":"record","name":"lab.Row","doc":"a row","fields":[{"name":"k","type":{"type":"string"},"default":""},{"name":"next","type":["null","Row"]}]}
timestamp {"type":"record","name":"Row","fields":[{"name":"t","type":{"type":"long","logicalType":"timestamp-millis"}}]}
decimal {"type":"record","name":"Row","fields":[{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}}]}
fixed-twice {"type":"record","name":"lab.Row","fields":[{"name":"a","type":{"type":"fixed","name":"Id","size":4}},{"name":"b","type":"lab.Id"}]}
no-namespace {"type":"record","name":"lab.Row","fields":[{"name":"a","type":{"type":"record","name":"Inner","namespace":"","fields":[]}}]}
error {"type":"error","name":"Failure","fields":[{"name":"code","type":"int"}]}
AVRO
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.avro</groupId><artifactId>avro</artifactId><version>1.12.1</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install avro==1.12.2 fastavro==1.13.1
cat > Finding.java <<'JAVA'
import java.nio.file.*;
import org.apache.avro.*;

public class Finding {
    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of("schemas"))) {
            var schema = new Schema.Parser().parse(line.split(" ", 2)[1]);
            System.out.println(java.util.HexFormat.of().formatHex(SchemaNormalization.parsingFingerprint("CRC-64-AVRO", schema)));
        }
    }
}
JAVA
cat > finding.py <<'PY'
import json
import avro.schema
from fastavro.schema import fingerprint, to_parsing_canonical_form

with open("schemas") as file, open("avro", "w") as own, open("fastavro", "w") as fast:
    for text in (line.split(" ", 1)[1] for line in file):
        own.write(avro.schema.parse(text).fingerprint("CRC-64-AVRO").hex() + "\n")
        fast.write(fingerprint(to_parsing_canonical_form(json.loads(text)), "CRC-64-AVRO") + "\n")
PY
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "strings"; "github.com/hamba/avro/v2")
func main() {
	text, _ := os.ReadFile("schemas")
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		schema, err := avro.ParseWithCache(strings.SplitN(line, " ", 2)[1], "", &avro.SchemaCache{})
		if err != nil { panic(err) }
		print, _ := schema.FingerprintUsing(avro.CRC64AvroLE)
		fmt.Printf("%x\n", print)
	}
}
GO
{ go mod init finding && go get github.com/hamba/avro/v2@v2.31.0; } >go.log 2>&1
java -cp 'jars/*' Finding.java > java 2>log && env/bin/python finding.py && go run . > hamba
{ echo schema Java fastavro avro hamba; paste -d ' ' <(cut -d ' ' -f 1 schemas) java fastavro avro hamba; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these libraries did when this was written"; exit 1; }
schema Java fastavro avro hamba
plain 1484d1d086398fc4 1484d1d086398fc4 1484d1d086398fc4 1484d1d086398fc4
timestamp e7cee1735410e127 e7cee1735410e127 396c67a90d3491ce 70de00ddcf397ed0
decimal 765145edc7504dcf 765145edc7504dcf e37e4089c7263782 5b174d082f40e7dc
fixed-twice 338583329c3c44e3 338583329c3c44e3 5c7a0d23c55741cd 338583329c3c44e3
no-namespace 861592c6a92cb72c 861592c6a92cb72c a82df7b0d33fe9df a82df7b0d33fe9df
error 0839c6c4bdd6e0c6 0839c6c4bdd6e0c6 1248db2e0993eafe 1248db2e0993eafe
EXPECTED
echo "as described: fingerprints of one schema differ"
