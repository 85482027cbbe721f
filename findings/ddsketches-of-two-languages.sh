#!/usr/bin/env bash
# A DDSketch that Go wrote is empty to Python and JavaScript, and one that Java wrote has other quantiles: p99 of 1 to 1000 is 912, or 119.
#
# Expected: Datadog's four libraries share one protobuf message, so that one host's sketch is read and merged by another: a quantile is
#   within the accuracy (here 1 %) of the true one, whoever reads it, or what the reader does not know is an error.
# Seen (sketches-java 0.8.3, sketches-go 1.4.8, ddsketch 3.0.1 for Python, sketches-js 2.1.1; the integers 1 to 1000):
#   Go's default: count 0, no quantile in Python, NaN in JavaScript; they read one of the message's two ways to write buckets.
#   Java's default: p50 497.5 and p99 995 in Java, 459 and 912 in Python and JavaScript. With a linear mapping these two say 76
#     and 119, or 73 and 117. Java reads Go's right. No error anywhere.
# Why it matters: sketches are made to be sent. p99 of a Java service is 8 % too fast, and a Go service has had no request, where
#   Python adds them up; no test in one language shows it, and no error tells.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in go mvn java node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>com.datadoghq</groupId><artifactId>sketches-java</artifactId><version>0.8.3</version></dependency>
<dependency><groupId>com.google.protobuf</groupId><artifactId>protobuf-java</artifactId><version>3.25.5</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install 'ddsketch[serialization]==3.0.1'
npm install --silent --no-fund @datadog/sketches-js@2.1.1 protobufjs@8.8.1 > npm.log
{ go mod init finding && go get github.com/DataDog/sketches-go/ddsketch@v1.4.8 google.golang.org/protobuf@v1.36.12; } > go.log 2>&1
cat > Finding.java <<'JAVA'
import com.datadoghq.sketch.ddsketch.*; import com.datadoghq.sketch.ddsketch.mapping.*; import java.nio.file.*;
import com.datadoghq.sketch.ddsketch.store.UnboundedSizeDenseStore;
public class Finding {
    static void write(String file, DDSketch sketch) throws Exception {
        for (int value = 1; value <= 1000; value++) sketch.accept(value);
        Files.write(Path.of(file), DDSketchProtoBinding.toProto(sketch).toByteArray());
    }
    public static void main(String[] files) throws Exception {
        if (files[0].equals("write")) {
            write("Java", DDSketches.unboundedDense(0.01));
            write("Java-linear", new DDSketch(new LinearlyInterpolatedMapping(0.01), UnboundedSizeDenseStore::new));
        } else for (String file : files) {
            var message = com.datadoghq.sketch.ddsketch.proto.DDSketch.parseFrom(Files.readAllBytes(Path.of(file)));
            var sketch = DDSketchProtoBinding.fromProto(UnboundedSizeDenseStore::new, message);
            double[] values = sketch.getValuesAtQuantiles(new double[] {0.5, 0.99});
            System.out.printf("%s in Java: p50 %.1f, p99 %.1f, count %.0f%n", file, values[0], values[1], sketch.getCount());
        }
    }
}
JAVA
cat > main.go <<'GO'
package main
import ("os"; "github.com/DataDog/sketches-go/ddsketch"; "google.golang.org/protobuf/proto")
func check(err error) { if err != nil { panic(err) } }
func main() {
	sketch, err := ddsketch.NewDefaultDDSketch(0.01); check(err)
	for value := 1; value <= 1000; value++ { check(sketch.Add(float64(value))) }
	bytes, err := proto.Marshal(sketch.ToProto()); check(err); check(os.WriteFile("Go", bytes, 0o644))
}
GO
cat > finding.py <<'PY'
import pathlib, sys
from ddsketch.pb.ddsketch_pb2 import DDSketch as Message
from ddsketch.pb.proto import DDSketchProto

for file in sys.argv[1:]:
    sketch = DDSketchProto.from_proto(Message.FromString(pathlib.Path(file).read_bytes()))
    half, most = (value and round(value, 1) for value in map(sketch.get_quantile_value, (0.5, 0.99)))
    print(f"{file} in Python: p50 {half}, p99 {most}, count {sketch.count:.0f}")
PY
cat > finding.js <<'JS'
const { DDSketch } = require("@datadog/sketches-js"), { readFileSync } = require("fs");
for (const file of process.argv.slice(2)) {
  const sketch = DDSketch.fromProto(readFileSync(file)), [half, most] = [0.5, 0.99].map((q) => sketch.getValueAtQuantile(q).toFixed(1));
  console.log(`${file} in JavaScript: p50 ${half}, p99 ${most}, count ${sketch.count}`);
}
JS
export CLASSPATH='jars/*' sketches='Java Java-linear Go'
{ java Finding.java write && go run . && java Finding.java $sketches && env/bin/python finding.py $sketches && node finding.js $sketches
} > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
Java in Java: p50 497.5, p99 995.1, count 1000
Java-linear in Java: p50 501.7, p99 993.1, count 1000
Go in Java: p50 497.8, p99 982.6, count 1000
Java in Python: p50 459.1, p99 912.0, count 1000
Java-linear in Python: p50 76.1, p99 119.2, count 1000
Go in Python: p50 None, p99 None, count 0
Java in JavaScript: p50 459.1, p99 912.0, count 1000
Java-linear in JavaScript: p50 72.9, p99 116.7, count 1000
Go in JavaScript: p50 NaN, p99 NaN, count 0
EXPECTED
echo "as described: a quantile changes with the language that reads it"
