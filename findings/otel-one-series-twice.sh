#!/usr/bin/env bash
# OpenTelemetry's Prometheus exporters of Go and Python disagree about attributes and counters that Prometheus cannot tell apart; in
#   Go one such pair takes every metric of the process away.
#
# Expected: "a.b" and "a_b" are one label to Prometheus, 1 and "1" one value, "requests" and "requests.total" one counter. The
#   specification joins the values of such labels by ";". At worst a pair spoils itself, and its exporter says so.
# Seen, each in a process that has a sound counter beside it (exporters of Go 0.69.0, Python 0.66b2):
#   two names: Go joins them; Python keeps the last.
#   two values, or two counters: Go answers the whole scrape with 500, so that the sound counter is gone too, until the process is
#   started anew, as series are not forgotten. Python writes one series twice, with different numbers.
# Why it matters: one call that passes a partition or a status as a number where another one passes text is enough, be it in a
#   library. The target counts as down though it works; where it is not, numbers are lost. Through OTLP nothing fails.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
for tool in go python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done

mkdir go && cat > go/main.go <<'GO'
package main
import ("context"; "fmt"; "net/http/httptest"
	"github.com/prometheus/client_golang/prometheus"; "github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"; exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"; sdk "go.opentelemetry.io/otel/sdk/metric")
func main() {
	for _, pair := range []string{"names", "values", "counters"} {
		registry := prometheus.NewRegistry()
		reader, err := exporter.New(exporter.WithRegisterer(registry))
		if err != nil { panic(err) }
		meter := sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("finding")
		add := func(name string, value int64, attributes ...attribute.KeyValue) {
			counter, _ := meter.Int64Counter(name)
			counter.Add(context.Background(), value, metric.WithAttributes(attributes...))
		}
		add("sound", 7)
		switch pair {
		case "names": add("requests", 1, attribute.String("a.b", "x"), attribute.String("a_b", "y"))
		case "values": add("requests", 1, attribute.Int("status", 1)); add("requests", 2, attribute.String("status", "1"))
		case "counters": add("requests", 1); add("requests.total", 2)
		}
		answer := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		fmt.Println("==", pair, answer.Code)
		fmt.Println(answer.Body.String())
	}
}
GO
(cd go && go mod init finding && go get go.opentelemetry.io/otel/exporters/prometheus@v0.69.0 go.opentelemetry.io/otel/sdk/metric@v1.47.0 \
  github.com/prometheus/client_golang@v1.25.0 && go mod tidy && go build -o finding .) >go.log 2>&1 || { tail -3 go.log; exit 1; }

python3 -m venv env
env/bin/pip -q --disable-pip-version-check install opentelemetry-sdk==1.45.2 opentelemetry-exporter-prometheus==0.66b2 prometheus-client==0.26.0
cat > finding.py <<'PY'
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY, generate_latest

for pair in ("names", "values", "counters"):
    reader = PrometheusMetricReader()
    meter = MeterProvider([reader]).get_meter("finding")
    meter.create_counter("sound").add(7)
    requests = meter.create_counter("requests")
    if pair == "names":
        requests.add(1, {"a.b": "x", "a_b": "y"})
    elif pair == "values":
        requests.add(1, {"status": 1})
        requests.add(2, {"status": "1"})
    else:
        requests.add(1)
        meter.create_counter("requests.total").add(2)
    print("==", pair, 200)
    print(generate_latest(REGISTRY).decode())
    reader.shutdown()
PY
told() { # told LANGUAGE: the answers' series, without labels that name the scope
  sed -E 's/,?otel_scope_[a-z_]+="[^"]*"//g; s/\{,/{/; s/\{\}//; s/ ([0-9]+)\.0$/ \1/' \
    | grep -E '^(==|requests|sound)' | tr '\n' ' ' | sed -E "s/ ?== /\n$1 /g; s/ $//"
}
{ go/finding 2>/dev/null | told Go
  env/bin/python finding.py 2>/dev/null | told Python; echo; } | sed '/^$/d' > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these exporters did when this was written"; exit 1; }
Go names 200 requests_total{a_b="x;y"} 1 sound_total 7
Go values 500
Go counters 500
Python names 200 sound_total 7 requests_total{a_b="y"} 1
Python values 200 sound_total 7 requests_total{status="1"} 1 requests_total{status="1"} 2
Python counters 200 sound_total 7 requests_total 1 requests_total 2
EXPECTED
echo "as described: one pair, and no metrics in Go"
