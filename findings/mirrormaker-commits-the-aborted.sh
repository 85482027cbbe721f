#!/usr/bin/env bash
# MirrorMaker 2 (Kafka 4.3.1) makes good records of aborted ones: at the copy read_committed returns all that the source took back.
#
# Expected: the copy of a topic means the same to its readers. A consumer with isolation.level=read_committed sees at the copy what it
#   sees at the source, if a moment later.
# Seen: MirrorMaker reads with read_uncommitted, the consumers' default, and writes without transactions. Of six orders, each in a
#   transaction, three of them aborted, read_committed finds three at the source and six at the copy: there, nothing tells the aborted
#   from the others. source.consumer.isolation.level=read_committed mends it for new records; it has to be set for each flow.
# Why it matters: the copy is where one goes after a disaster. Retried work is there twice, and what was refused has happened. Counts
#   of source and copy do not show it, since the source's own offsets count markers.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" "${mirror:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.3.1</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>connect-mirror</artifactId><version>4.3.1</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>connect-runtime</artifactId><version>4.3.1</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
read -r port control < <(python3 -c 'import socket
a, b = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$control" "log.dirs=$work/data" \
  "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control" controller.listener.names=CONTROLLER \
  offsets.topic.replication.factor=1 transaction.state.log.replication.factor=1 transaction.state.log.min.isr=1 > server.properties
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
cat > finding.py <<'PY'
import sys, time
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

servers = {"bootstrap.servers": sys.argv[2]}

def write():
    admin = AdminClient(servers)
    admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result()
    producer = Producer({**servers, "transactional.id": "finding"})
    producer.init_transactions()
    for number in range(6):
        producer.begin_transaction()
        producer.produce("orders", str(number))
        producer.flush()
        (producer.abort_transaction if number % 2 else producer.commit_transaction)()

def read(topic, least):
    """What read_committed returns; of a topic that is being copied, once there are so many and no more come."""
    settings = {"group.id": "finding", "isolation.level": "read_committed", "topic.metadata.refresh.interval.ms": 1000}
    consumer, values, quiet = Consumer({**servers, **settings}), [], 0
    consumer.assign([TopicPartition(topic, 0, 0)])
    end = time.time() + 120
    while time.time() < end and (quiet < 5 or len(values) < least):
        message = consumer.poll(1)
        good = message is not None and message.error() is None
        quiet = 0 if good else quiet + 1
        values += [message.value().decode()] if good else []
    print(f"read_committed of {topic}:", *values)

write() if sys.argv[1] == "write" else read(sys.argv[1], 3)
PY
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
env/bin/python finding.py write "127.0.0.1:$port" 2>write.log || { tail -5 write.log broker.log; exit 1; }
env/bin/python finding.py orders "127.0.0.1:$port" > seen
for source in usual careful; do
  printf '%s\n' "clusters=$source,copy" "$source.bootstrap.servers=127.0.0.1:$port" "copy.bootstrap.servers=127.0.0.1:$port" \
    "$source->copy.enabled=true" "$source->copy.topics=orders" "copy->$source.enabled=false" emit.heartbeats.enabled=false \
    {,checkpoints.topic.,heartbeats.topic.,offset-syncs.topic.,{offset,status,config}.storage.}replication.factor=1 \
    careful.consumer.isolation.level=read_committed > $source.properties
  java -Xmx400m -cp 'jars/*' org.apache.kafka.connect.mirror.MirrorMaker $source.properties >$source.log 2>&1 & mirror=$!
  env/bin/python finding.py $source.orders "127.0.0.1:$port" >> seen
  kill $mirror; wait $mirror || true
done

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.3.1 did when this was written"; exit 1; }
read_committed of orders: 0 2 4
read_committed of usual.orders: 0 1 2 3 4 5
read_committed of careful.orders: 0 2 4
EXPECTED
echo "as described: aborted records are good ones at the copy"
