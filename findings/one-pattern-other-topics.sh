#!/usr/bin/env bash
# librdkafka's consumers subscribe to other topics for one pattern when group.protocol becomes consumer; \d is the letter d before.
#
# Expected: the subscription "^orders" means the same topics whichever group protocol carries it, and \d is a digit, as to Java,
#   Python and the broker.
# Seen (librdkafka 2.16.0 in confluent-kafka 2.16.1, Kafka 4.4.0): group.protocol=classic searches with the C library's regcomp:
#   "^orders" takes orders-dlq too, "^orders-\d" takes orders-d and orders-dlq and leaves orders-7 out, and (?!dlq) is refused.
#   With group.protocol=consumer the broker decides with RE2/J and wants the whole name: only orders, and only orders-7; (?!dlq) is
#   refused still. Java's client wants the whole name with both protocols. kafka-python 3.0.12 looks at the beginning: "^orders" takes all of
#   them, and \d is a digit. No client warns.
# Why it matters: a migration to the new protocol is one setting, and a group that read orders-dlq or orders.eu stops doing so
#   without an error; lag of a topic that nobody is subscribed to is not shown. "^orders.*" means the same everywhere, and so does [0-9].
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
echo '<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
</dependencies></project>' > pom.xml
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log; read -r port control < <(python3 -c 'import socket
a, b = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$control" \
  "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control" controller.listener.names=CONTROLLER "log.dirs=$work/data" \
  offsets.topic.replication.factor=1 offsets.topic.num.partitions=1 group.initial.rebalance.delay.ms=0 > server.properties
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
python3 -m venv env && env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1 kafka-python==3.0.12
cat > Ask.java <<'JAVA'
import java.util.*; import org.apache.kafka.clients.consumer.*;
public class Ask {
    public static void main(String[] told) {
        for (String protocol : List.of("classic", "consumer")) {
            var topics = new TreeSet<String>();
            String text = "org.apache.kafka.common.serialization.StringDeserializer";
            try (var consumer = new KafkaConsumer<String, String>(Map.of("bootstrap.servers", told[0], "auto.offset.reset", "earliest",
                    "group.id", "java " + protocol + told[1], "group.protocol", protocol, "key.deserializer", text, "value.deserializer", text))) {
                consumer.subscribe(java.util.regex.Pattern.compile(told[1]));
                for (long end = System.currentTimeMillis() + 10_000; System.currentTimeMillis() < end; )
                    for (var record : consumer.poll(java.time.Duration.ofMillis(200))) topics.add(record.topic());
            }
            System.out.println("Java, " + protocol + ": " + String.join(" ", topics));
        }}}
JAVA
cat > ask.py <<'PY'
import kafka, sys
from confluent_kafka import Consumer, KafkaException, Producer

address, producer = sys.argv[1], Producer({"bootstrap.servers": sys.argv[1]})
for name in ("orders", "orders-dlq", "orders-7", "orders-d"):
    producer.produce(name, b"value")
producer.flush(60)
for pattern in sys.argv[2:]:
    for protocol in "classic", "consumer":
        settings = {"group.protocol": protocol, "group.id": f"C {protocol} {pattern}", "auto.offset.reset": "earliest"}
        consumer, topics = Consumer({"bootstrap.servers": address} | settings), set()
        try:
            consumer.subscribe([pattern])
            for _ in range(50):
                message = consumer.poll(0.2)
                topics |= {message.topic()} if message and not message.error() else set()
        except KafkaException:
            topics = {"refused"}
        print(f"{pattern} librdkafka, {protocol}:", *sorted(topics))
    consumer = kafka.KafkaConsumer(group_id=f"Python {pattern}", bootstrap_servers=address, auto_offset_reset="earliest", consumer_timeout_ms=8000)
    consumer.subscribe(pattern=pattern)
    print(f"{pattern} kafka-python:", *sorted({message.topic for message in consumer}))
PY
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
patterns=('^orders' '^orders-\d' '^orders-(?!d).*')
{ env/bin/python -W ignore ask.py "127.0.0.1:$port" "${patterns[@]}"
  for pattern in "${patterns[@]:0:2}"; do java -cp 'jars/*' Ask.java "127.0.0.1:$port" "$pattern"; done; } > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
^orders librdkafka, classic: orders orders-7 orders-d orders-dlq
^orders librdkafka, consumer: orders
^orders kafka-python: orders orders-7 orders-d orders-dlq
^orders-\d librdkafka, classic: orders-d orders-dlq
^orders-\d librdkafka, consumer: orders-7
^orders-\d kafka-python: orders-7
^orders-(?!d).* librdkafka, classic: refused
^orders-(?!d).* librdkafka, consumer: refused
^orders-(?!d).* kafka-python: orders-7
Java, classic: orders
Java, consumer: orders
Java, classic: orders-7
Java, consumer: orders-7
EXPECTED
echo "as described: one pattern, other topics by protocol and by client"
