#!/usr/bin/env bash
# OpenTelemetry's four Prometheus exporters disagree about attributes and counters that Prometheus cannot tell apart; in Go and Java
#   one such pair takes every metric of the process away.
#
# Expected: "a.b" and "a_b" are one label to Prometheus, 1 and "1" one value, "requests" and "requests.total" one counter. The
#   specification joins the values of such labels by ";". At worst a pair spoils itself, and its exporter says so.
# Seen, each in a process that has a sound counter beside it:
#   two names     Go and Java join them; Python keeps the last; JavaScript writes the label twice in one series.
#   two values    Go answers 500; Java leaves the counter out, with a warning; Python and JavaScript write one series twice, with
#                 different numbers.
#   two counters  Go and Java answer 500; Python and JavaScript write one family twice, with different numbers.
#   A 500 is the answer to the whole scrape: the sound counter is gone with the pair, until the process is started anew, as series
#   are not forgotten. (Exporters of Go 0.69.0, Python 0.66b2, JavaScript 0.223.0, Java 1.66.0-alpha.)
# Why it matters: one call that passes a partition or a status as a number where another one passes text is enough, be it in a
#   library. The target counts as down though it works; where it is not, numbers are lost at random. Through OTLP nothing fails.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
for tool in go node npm mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done

mkdir go && cat > go/main.go <<'GO'
package main
import ("context"; "fmt"; "net/http/httptest"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric")
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

npm install --silent --no-fund --no-audit @opentelemetry/exporter-prometheus@0.223.0 @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/api@1.9.0 >npm.log 2>&1
cat > finding.js <<'JS'
const { PrometheusExporter } = require("@opentelemetry/exporter-prometheus");
const { MeterProvider } = require("@opentelemetry/sdk-metrics");
(async () => {
  for (const pair of ["names", "values", "counters"]) {
    const exporter = new PrometheusExporter({ preventServerStart: true });
    const meter = new MeterProvider({ readers: [exporter] }).getMeter("finding");
    meter.createCounter("sound").add(7);
    const requests = meter.createCounter("requests");
    if (pair === "names") requests.add(1, { "a.b": "x", a_b: "y" });
    else if (pair === "values") { requests.add(1, { status: 1 }); requests.add(2, { status: "1" }); }
    else { requests.add(1); meter.createCounter("requests.total").add(2); }
    const answer = { statusCode: 200, setHeader() {} };
    const text = await new Promise((done) => exporter.getMetricsRequestHandler({}, { ...answer, end: done }));
    console.log("==", pair, answer.statusCode);
    console.log(text);
  }
})();
JS

mkdir java && cat > java/pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies>
<dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-exporter-prometheus</artifactId><version>1.66.0-alpha</version></dependency>
<dependency><groupId>io.opentelemetry</groupId><artifactId>opentelemetry-sdk</artifactId><version>1.66.0</version></dependency>
</dependencies></project>
XML
(cd java && mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log)
cat > java/Finding.java <<'JAVA'
import static io.opentelemetry.api.common.AttributeKey.*;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.prometheus.PrometheusHttpServer;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import java.net.*;
import java.net.http.*;

public class Finding {
    public static void main(String[] args) throws Exception {
        for (String pair : new String[] {"names", "values", "counters"}) {
            int port;
            try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) { port = free.getLocalPort(); }
            var server = PrometheusHttpServer.builder().setHost("127.0.0.1").setPort(port).build();
            var meter = SdkMeterProvider.builder().registerMetricReader(server).build().get("finding");
            meter.counterBuilder("sound").build().add(7);
            var requests = meter.counterBuilder("requests").build();
            if (pair.equals("names")) requests.add(1, Attributes.of(stringKey("a.b"), "x", stringKey("a_b"), "y"));
            else if (pair.equals("values")) {
                requests.add(1, Attributes.of(longKey("status"), 1L));
                requests.add(2, Attributes.of(stringKey("status"), "1"));
            } else {
                requests.add(1);
                meter.counterBuilder("requests.total").build().add(2);
            }
            var ask = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics")).build();
            var answer = HttpClient.newHttpClient().send(ask, HttpResponse.BodyHandlers.ofString());
            System.out.println("== " + pair + " " + answer.statusCode());
            System.out.println(answer.body());
        }
        System.exit(0);
    }
}
JAVA
told() { # told LANGUAGE: the answers' series, without labels that name the scope
  sed -E 's/,?otel_scope_[a-z_]+="[^"]*"//g; s/\{,/{/; s/\{\}//; s/ ([0-9]+)\.0$/ \1/' \
    | grep -E '^(==|requests|sound|# TYPE requests)' | sed "s/^/$1 /"
}
{ go/finding 2>/dev/null | told Go
  env/bin/python finding.py 2>/dev/null | told Python
  node finding.js 2>/dev/null | told JavaScript
  java -cp 'java/jars/*' java/Finding.java 2>/dev/null | told Java; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these exporters did when this was written"; exit 1; }
Go == names 200
Go # TYPE requests_total counter
Go requests_total{a_b="x;y"} 1
Go sound_total 7
Go == values 500
Go == counters 500
Python == names 200
Python sound_total 7
Python # TYPE requests_total counter
Python requests_total{a_b="y"} 1
Python == values 200
Python sound_total 7
Python # TYPE requests_total counter
Python requests_total{status="1"} 1
Python requests_total{status="1"} 2
Python == counters 200
Python sound_total 7
Python # TYPE requests_total counter
Python requests_total 1
Python # TYPE requests_total counter
Python requests_total 2
JavaScript == names 200
JavaScript sound_total 7
JavaScript # TYPE requests_total counter
JavaScript requests_total{a_b="x",a_b="y"} 1
JavaScript == values 200
JavaScript sound_total 7
JavaScript # TYPE requests_total counter
JavaScript requests_total{status="1"} 1
JavaScript requests_total{status="1"} 2
JavaScript == counters 200
JavaScript sound_total 7
JavaScript # TYPE requests_total counter
JavaScript requests_total 1
JavaScript # TYPE requests_total counter
JavaScript requests_total 2
Java == names 200
Java # TYPE requests_total counter
Java requests_total{a_b="x;y"} 1
Java sound_total 7
Java == values 200
Java sound_total 7
Java == counters 500
EXPECTED
echo "as described: four exporters, four answers"
