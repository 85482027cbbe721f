#!/usr/bin/env bash
# Headers that a Python producer passes again grow by a traceparent with each send, and all messages belong to one trace.
#
# Expected: OpenTelemetry's instrumentation gives each message its own traceparent, in place of one that is there (inject() of a
#   dict replaces it), and leaves what the caller passed as it was.
# Seen: three instrumentations (kafka-python, confluent-kafka and aiokafka, 0.66b1) append to the caller's own list. A constant
#   list, as one writes it for a tenant or a schema, has n traceparents at the n-th send, and message and request grow with it.
#   The consumers' instrumentations take the first: every message belongs to the trace of the first one. A message that is
#   sent on with its own headers (retry topics, routers) keeps the trace of the sender before. A new list for each send is right,
#   and so is a dict (confluent-kafka takes both).
# Why it matters: the trace of one order shows all orders, the others end at the producer; throughput falls as the process ages,
#   until messages are too large. A capture shows it: headers of one name, more from request to request.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
read -r port control < <(python3 -c 'import socket
a, b = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
cat > server.properties <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$control
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control
controller.listener.names=CONTROLLER
log.dirs=$work/data
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
python3 -m venv env
name=opentelemetry-instrumentation
env/bin/pip -q --disable-pip-version-check install kafka-python==3.0.12 confluent-kafka==2.16.1 aiokafka==0.14.0 \
    opentelemetry-sdk==1.45.1 $name-{kafka-python,confluent-kafka,aiokafka}==0.66b1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
timeout 120 env/bin/python - "127.0.0.1:$port" > seen 2> log <<'PY' || { cat log; exit 1; }
import asyncio, sys, aiokafka, confluent_kafka, kafka
from opentelemetry import trace
from opentelemetry.instrumentation.aiokafka import AIOKafkaInstrumentor
from opentelemetry.instrumentation.confluent_kafka import ConfluentKafkaInstrumentor
from opentelemetry.instrumentation.kafka import KafkaInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

address, spans = sys.argv[1], InMemorySpanExporter()
trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(spans))
for instrumentor in AIOKafkaInstrumentor, ConfluentKafkaInstrumentor, KafkaInstrumentor:
    instrumentor().instrument()
rdkafka, old = confluent_kafka.Producer({"bootstrap.servers": address}), kafka.KafkaProducer(bootstrap_servers=address)

async def run():
    new = aiokafka.AIOKafkaProducer(bootstrap_servers=address)
    await new.start()
    async def python(topic, headers): old.send(topic, b"v", headers=headers).get(10)
    async def confluent(topic, headers): rdkafka.produce(topic, b"v", headers=headers) or rdkafka.flush()
    async def asynchronous(topic, headers): await new.send_and_wait(topic, b"v", headers=headers)
    for name, send, headers in (("kafka-python", python, [("tenant", b"x")]), ("confluent-kafka", confluent, [("tenant", b"x")]),
                                ("aiokafka", asynchronous, [("tenant", b"x")]), ("confluent-kafka, dict", confluent, {"tenant": b"x"})):
        topic, own = "abcd"[len(shown)], []
        for _ in range(3):
            with trace.get_tracer("finding").start_as_current_span("order") as span:
                await send(topic, headers)
            own.append(span.get_span_context().trace_id)
        spans.clear()
        records = kafka.KafkaConsumer(topic, bootstrap_servers=address, auto_offset_reset="earliest")
        counts = [sum(key == "traceparent" for key, _ in next(records).headers) for _ in own]
        taken = [span for span in spans.get_finished_spans() if span.kind is trace.SpanKind.CONSUMER]
        seen = [own.index(span.parent.trace_id) + 1 for span in taken]
        shown.append(f"{name}: traceparents {counts}, traces that a consumer takes up {seen}")

shown = []
asyncio.run(run())
print("\n".join(shown))
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
kafka-python: traceparents [1, 2, 3], traces that a consumer takes up [1, 1, 1]
confluent-kafka: traceparents [1, 2, 3], traces that a consumer takes up [1, 1, 1]
aiokafka: traceparents [1, 2, 3], traces that a consumer takes up [1, 1, 1]
confluent-kafka, dict: traceparents [1, 1, 1], traces that a consumer takes up [1, 2, 3]
EXPECTED
echo "as described: headers grow, and messages belong to the first one's trace"
