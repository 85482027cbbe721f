#!/usr/bin/env bash
# A batch of more than 11 seconds of a consumer's byte-rate quota is never delivered by a Kafka broker (4.4.0).
#
# Expected: consumer_byte_rate makes reading slow: what is too large for one second comes later, at the price of a longer wait.
# Seen: with 1000 bytes/s two batches of 9000 bytes arrive within half a minute, and one of 12000 bytes never, on an idle quota
#   too. The broker reads the batch, finds that the quota would be exceeded, drops what it read and answers without records and
#   with a throttle time. What was dropped does not count, so the next fetch after the wait finds the same: the whole window
#   (quota.window.num 11 x quota.window.size.seconds 1) is smaller than the batch. There is no error, heartbeats go on, and the
#   consumer stays at its offset for good. Producers are not stopped so: their batch is written first, the wait follows.
# Why it matters: with the usual limit of 1 MiB a batch, any quota under 95 KB/s can end a consumer, but only when a producer
#   compresses less or lingers longer. A capture shows empty Fetch responses with throttle_time_ms of 1 to 2 s, which looks
#   like a slow consumer, not a stopped one.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
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
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
java -cp 'jars/*' org.apache.kafka.tools.ConfigCommand --bootstrap-server "127.0.0.1:$port" --alter --entity-type clients \
  --entity-name slow --add-config consumer_byte_rate=1000 >config.log 2>&1

env/bin/python - "$port" > seen 2> log <<'PY' || { cat log; exit 1; }
import sys, time
from confluent_kafka import Consumer, Producer, TopicPartition

address = {"bootstrap.servers": f"127.0.0.1:{sys.argv[1]}", "log_level": 3}
producer = Producer(address)
for topic, sizes in {"small": (9000, 9000), "large": (12_000,)}.items():
    for size in sizes:
        producer.produce(topic, bytes(size), partition=0)
        producer.flush()

throttled = []
for topic, wait in ("large", 45), ("small", 30):
    consumer = Consumer(
        address
        | {"client.id": "slow", "group.id": "g", "auto.offset.reset": "earliest", "max.partition.fetch.bytes": 5000}
        | {"throttle_cb": lambda event: throttled.append(event.throttle_time)}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    end, read, errors = time.monotonic() + wait, [], 0
    while time.monotonic() < end and len(read) < 2:
        if message := consumer.poll(1):
            errors += message.error() is not None
            read.append(len(message.value()))
    print(topic, read, "errors:", errors, "throttled many times:", sum(value >= 1 for value in throttled) > 10)
    throttled.clear()
    consumer.close()
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
large [] errors: 0 throttled many times: True
small [9000, 9000] errors: 0 throttled many times: False
EXPECTED
echo "as described: a batch larger than the quota's window never arrives"
