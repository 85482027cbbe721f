#!/usr/bin/env bash
# A batch with a tombstone, once compacted, says that it begins tomorrow: baseTimestamp is then no record's time.
#
# Expected: baseTimestamp is the first record's time, at most maxTimestamp, and timestamp deltas are small numbers.
# Seen: the first cleaning of a compacted partition (Kafka 4.4.0) writes into baseTimestamp the moment at which the tombstone
#   may go: the time of the cleaning plus delete.retention.ms, a day by default. Bit 6 of the attributes says so, the deltas
#   become large negative numbers, and maxTimestamp, a day less, lies before baseTimestamp. Records keep their times, so
#   clients that add the delta show the right one (librdkafka 2.16.1 here). Consumers receive the batch just so.
# Why it matters: a tool that takes a batch's time from its header, for compressed batches above all, finds records of
#   tomorrow: age, delivery time and clock offset of such a batch are wrong by the retention, and only on compacted topics,
#   __consumer_offsets among them.
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
log.cleaner.backoff.ms=500
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
env/bin/python - "$port" > seen 2> log <<'PY' || { cat log; exit 1; }
import socket, struct, sys, time
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

port, topic = int(sys.argv[1]), "compacted"
address = {"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 3}
config = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "1000"}
admin = AdminClient(address)
admin.create_topics([NewTopic(topic, 1, 1, config=config)])[topic].result(20)
producer = Producer(address)

def send(key, value):
    producer.produce(topic, value, key, partition=0)
    producer.flush()
    time.sleep(1.5)

def fetch():
    """The batches of a Fetch response, version 4, as the broker sends them."""
    body = struct.pack(">iiiibi", -1, 100, 1, 1 << 20, 0, 1) + struct.pack(">h", len(topic)) + topic.encode()
    body += struct.pack(">iiqi", 1, 0, 0, 1 << 20)
    request = struct.pack(">hhih", 1, 4, 7, -1) + body
    with socket.create_connection(("127.0.0.1", port)) as peer, peer.makefile("rb") as answers:
        peer.sendall(struct.pack(">i", len(request)) + request)
        answer = answers.read(*struct.unpack(">i", answers.read(4)))
    records = answer[12 + 2 + len(topic) + 4 + 4 + 2 + 8 + 8 + 4 + 4 :]
    attributes, _, base, most = struct.unpack_from(">hiqq", records, 21)
    return attributes, base, most

send("key", None)
attributes, base, most = fetch()
print("as produced: attributes", attributes, "baseTimestamp is maxTimestamp:", base == most)
for _ in range(20):
    if not attributes:
        send("other", b"value")
        attributes, base, most = fetch()
consumer = Consumer(address | {"group.id": "g"})
consumer.assign([TopicPartition(topic, 0, 0)])
(message,) = consumer.consume(1, 20)
print("as compacted: attributes", attributes, "offset", message.offset(), "value", message.value())
print("hours from now to baseTimestamp:", round((base / 1000 - time.time()) / 3600, 1))
print("the record's time is maxTimestamp still:", message.timestamp()[1] == most)
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
as produced: attributes 0 baseTimestamp is maxTimestamp: True
as compacted: attributes 64 offset 0 value None
hours from now to baseTimestamp: 24.0
the record's time is maxTimestamp still: True
EXPECTED
echo "as described: a compacted batch begins tomorrow"
