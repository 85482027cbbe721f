#!/usr/bin/env bash
# A header without a value, which every client reads, is a TypeError to kafkajs and kafka-python when a copy of the record is sent.
#
# Expected: what consumer.run() or poll() of a library hands out, its own producer sends: headers that are copied from record to record
#   (traces, routing) need no look. A header's value may be null in Kafka, and Java's, C's and Go's clients send such headers.
# Seen: kafkajs 2.2.4 reads null and throws ERR_INVALID_ARG_TYPE when null is sent; the whole send() is lost, its other messages
#   too. run() ends with a crash, and the next consumer of the group begins with the same record. kafka-python 3.0.12 reads None and
#   says "must be (str, bytes) tuples". librdkafka 2.16.0 copies null as it is.
# Why it matters: the first record with such a header, from a producer in another language, stops a relay for good: the group's
#   lag grows from that offset on, in one partition, while everything that was tried before went through.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
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
npm install --silent --no-fund --no-audit kafkajs@2.2.4 >npm.log 2>&1 || { cat npm.log; exit 1; }
cat > relay.py <<'PY'
import kafka, sys
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
address = {"bootstrap.servers": sys.argv[1]}
admin, first, producer = AdminClient(address), Consumer(address | {"group.id": "C"}), Producer(address)
for made in admin.create_topics([NewTopic(name, 1, 1) for name in ("in", "kafkajs", "kafka-python", "librdkafka")]).values():
    made.result(60)
for value, trace in ("first", b"1"), ("second", None), ("third", b"3"):
    producer.produce("in", value, partition=0, headers=[("trace", trace)])
    producer.flush(60)
first.assign([TopicPartition("in", 0, 0)])
for _ in range(3):
    message = first.poll(30)
    producer.produce("librdkafka", message.value(), headers=message.headers())
    producer.flush(60)
other = kafka.KafkaProducer(bootstrap_servers=sys.argv[1])
for message in kafka.KafkaConsumer("in", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest", consumer_timeout_ms=8000):
    try:
        other.send("kafka-python", message.value, headers=message.headers).get(30)
    except TypeError as error:
        print("kafka-python:", message.value.decode(), message.headers, error)
PY
cat > relay.mjs <<'JS'
import kafkajs from 'kafkajs'
const brokers = [process.argv[2]], client = new kafkajs.Kafka({ brokers, logLevel: 0 }), producer = client.producer(), calls = []
await producer.connect()
for (const run of ['first', 'next']) {
  const consumer = client.consumer({ groupId: 'relay' })
  await consumer.subscribe({ topics: ['in'], fromBeginning: true })
  const crashed = new Promise(resolve => consumer.on(consumer.events.CRASH, event => resolve(event.payload.error)))
  await consumer.run({ autoCommitThreshold: 1, eachMessage: async ({ message }) => {
    calls.push(message.value.toString())
    await producer.send({ topic: 'kafkajs', messages: [{ value: message.value, headers: message.headers }] })
  } })
  console.log('kafkajs,', (await crashed).cause.code, 'in the', run, 'consumer, which got', ...calls.splice(0))
  await consumer.disconnect()
}
process.exit(0)
JS
cat > read.py <<'PY'
import sys; from confluent_kafka import Consumer, TopicPartition
consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": "reader", "enable.partition.eof": True})
for topic in ("kafkajs", "kafka-python", "librdkafka"):
    consumer.assign([TopicPartition(topic, 0, 0)])
    print(f"copied by {topic}:", end="")
    while not (message := consumer.poll(60)).error():
        print(f" {message.value().decode()} {message.headers()[0][1]}", end="")
    print()
PY
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
at="127.0.0.1:$port"; { env/bin/python relay.py "$at" && timeout 120 node relay.mjs "$at" && env/bin/python read.py "$at"; } > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
kafka-python: second [('trace', None)] All headers items must be (str, bytes) tuples
kafkajs, ERR_INVALID_ARG_TYPE in the first consumer, which got first second
kafkajs, ERR_INVALID_ARG_TYPE in the next consumer, which got second
copied by kafkajs: first b'1'
copied by kafka-python: first b'1' third b'3'
copied by librdkafka: first b'1' second None third b'3'
EXPECTED
echo "as described: a null header is read, and cannot be sent"
