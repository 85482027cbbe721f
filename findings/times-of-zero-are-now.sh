#!/usr/bin/env bash
# A record of time 0 that is copied by librdkafka, kafka-go or kafkajs is a record of now.
#
# Expected: a time that the caller gives is stored: 0 is the first moment of 1970, as 1 is the millisecond behind it. Only a record without
#   a time gets the present. What a consumer hands out as a record's time, the producer of the same library takes.
# Seen (Kafka 4.4.0, CreateTime): produce(timestamp=0) of confluent-kafka 2.16.1 (librdkafka 2.16.0), Time: time.UnixMilli(0) of kafka-go
#   0.4.51 and timestamp: 0 of kafkajs 2.2.4 store the present; with 1 they store 1. The same program as a copy of a topic (read,
#   send on with the record's time) keeps all times but this one; kafkajs does keep it so, since it reads "0", a text, and that is
#   true in JavaScript. kafka-python 3.0.12 and franz-go 1.22.3 store 0. No error, no warning.
# Why it matters: 0 is what imports and devices without a clock write for "unknown", and what is easily left out later on. Behind such a
#   copy it is a plausible time: the newest of the partition, so it ends windows, and keeps its segment as long as new data.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in go mvn java node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env && env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1 kafka-python==3.0.12
npm install --silent --no-fund kafkajs@2.2.4 > npm.log
{ go mod init finding && go get github.com/segmentio/kafka-go@v0.4.51 github.com/twmb/franz-go/pkg/kgo@v1.22.3; } > go.log 2>&1
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency></dependencies></project>
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
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties > broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (: < "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > write.py <<'PY'
import sys
from confluent_kafka import Producer
from kafka import KafkaProducer
producer, other = Producer({"bootstrap.servers": sys.argv[1]}), KafkaProducer(bootstrap_servers=sys.argv[1])
for time in (0, 1):
    producer.produce("times", key=b"librdkafka", timestamp=time)
    producer.flush()
    other.send("times", key=b"kafka-python", timestamp_ms=time).get(20)
PY
cat > write.js <<'JS'
const { Kafka, logLevel } = require("kafkajs");
(async () => {
  const producer = new Kafka({ brokers: [process.argv[2]], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  for (const timestamp of [0, "0", 1]) await producer.send({ topic: "times", messages: [{ key: `kafkajs, a ${typeof timestamp}`, value: "", timestamp }] });
  await producer.disconnect();
})();
JS
cat > main.go <<'GO'
package main
import ("context"; "os"; "time"; "github.com/segmentio/kafka-go"; "github.com/twmb/franz-go/pkg/kgo")
func check(err error) { if err != nil { panic(err) } }
func main() {
	ctx, writer := context.Background(), &kafka.Writer{Addr: kafka.TCP(os.Args[1]), Topic: "times", BatchSize: 1}
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.DefaultProduceTopic("times")); check(err)
	for _, at := range []time.Time{time.UnixMilli(0), time.UnixMilli(1)} {
		check(writer.WriteMessages(ctx, kafka.Message{Key: []byte("kafka-go"), Time: at}))
		check(client.ProduceSync(ctx, &kgo.Record{Key: []byte("franz-go"), Timestamp: at}).FirstErr())
	}
}
GO
cat > read.py <<'PY'
import sys
from kafka import KafkaConsumer
times = {}
for record in KafkaConsumer("times", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest", consumer_timeout_ms=5000):
    times.setdefault(record.key.decode(), []).append(record.timestamp if record.timestamp < 10 else "now")
for client, stored in times.items():
    print(client + ":", *stored)
PY
at="127.0.0.1:$port"; { env/bin/python write.py "$at" && node write.js "$at" && go run . "$at" && env/bin/python read.py "$at"; } > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
librdkafka: now 1
kafka-python: 0 1
kafkajs, a number: now 1
kafkajs, a string: 0
kafka-go: now 1
franz-go: 0 1
EXPECTED
echo "as described: the first moment of 1970 is now"
