#!/usr/bin/env bash
# Protobuf's own JSON functions read a trace id of OTLP/JSON as another one of 24 bytes, and say nothing.
#
# Expected: OTLP is defined as protobuf, and protobuf has one mapping to JSON: json_format.Parse() of what a collector writes is the
#   trace, or an error. MessageToJson() writes what a collector reads.
# Seen: OTLP/JSON writes ids in hexadecimal, protobuf's mapping in base64, and 32 or 16 hexadecimal digits are valid base64. Python's
#   json_format (protobuf 6.33.6, opentelemetry-proto 1.45.2) makes 24 bytes of a trace id's 16 and 12 of a span id's 8, none of them
#   the right ones. Written by the same functions the text is as it was, so a test by round trip passes. The collector's own code (Go,
#   pdata 1.71.0) reads it, and refuses what MessageToJson() makes of the right bytes (length mismatch). Numbers, times, enums and
#   the names of fields fit both ways.
# Why it matters: traces are kept in topics and files as OTLP/JSON, and Python reads them with what the package has. Names, times and
#   parents are right; only a join by trace id with logs or with traceparent headers finds nothing, and a table of ids as bytes has
#   ids of 24 bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
for tool in go python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip install -q opentelemetry-proto==1.45.2 protobuf==6.33.6
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "go.opentelemetry.io/collector/pdata/ptrace")
func main() {
	for _, name := range os.Args[1:] {
		text, _ := os.ReadFile(name)
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(text)
		if err != nil { fmt.Println("collector", name, "an error"); continue }
		span := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		fmt.Println("collector", name, span.TraceID(), span.SpanID(), span.Kind())
	}
}
GO
cat > go.mod <<'GO'
module finding
go 1.25
require go.opentelemetry.io/collector/pdata v1.71.0
GO
GOFLAGS=-mod=mod go mod tidy > go.log 2>&1
cat > collector.json <<'JSON'
{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","name":"orders send",
"kind":4,"startTimeUnixNano":"1795910400000000000","endTimeUnixNano":"1795910400001000000"}]}]}]}
JSON
cat > finding.py <<'PY'
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

with open("collector.json") as file:
    traces = json_format.Parse(file.read(), TracesData())
span = traces.resource_spans[0].scope_spans[0].spans[0]
print("protobuf collector.json", len(span.trace_id), "bytes", span.trace_id.hex(), len(span.span_id), "bytes", span.span_id.hex())
with open("again.json", "w") as file:
    file.write(json_format.MessageToJson(traces))
span.trace_id, span.span_id = bytes.fromhex("4bf92f3577b34da6a3ce929d0e0e4736"), bytes.fromhex("00f067aa0ba902b7")
with open("python.json", "w") as file:
    file.write(json_format.MessageToJson(traces))
PY
{ env/bin/python finding.py; go run . collector.json again.json python.json; } > seen 2> log || { tail -5 log go.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
protobuf collector.json 24 bytes e1b7fdd9fdf9efb6f7e1d6ba6b771ef76f5dd1ed1ee3bdfa 12 bytes d347f4ebb69ad1b6bdd366fb
collector collector.json 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 Producer
collector again.json 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 Producer
collector python.json an error
EXPECTED
echo "as described: hexadecimal is read as base64"
