#!/usr/bin/env bash
# librdkafka's consumers with group.protocol=consumer read nothing beside a broker that lacks it, and no error ever says so.
#
# Expected: who asks for the group protocol of KIP-848 where the broker does not have it (before 4.0, or switched off) is told. Java's
#   consumer ends with UnsupportedVersionException: "The cluster does not support the new CONSUMER group protocol".
# Seen: confluent-kafka 2.16.1 (librdkafka 2.16.0) beside Kafka 3.9.1: poll() returns None for as long as one looks (20 s here), with
#   records in the topic. Neither poll() nor error_cb nor the log at its usual level has a word. The consumer finds its coordinator,
#   and then sends no request of a group: the broker offers ConsumerGroupHeartbeat v0 (a preview) and no v1. With group.protocol=classic the same
#   program reads all. Java's console consumer 4.4.0 beside the same broker ends at once with the sentence above.
# Why it matters: a consumer that polls and gets None looks like one without work. Brokers count no error, the group does not exist,
#   so it has no lag either; it is found when somebody misses the records.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
jars() { # jars FOLDER DEPENDENCY...: the jars and what they need
  mkdir "$1"
  { echo '<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>'
    for each in "${@:2}"; do
      IFS=: read -r group name version <<< "$each"
      echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version></dependency>"
    done
    echo '</dependencies></project>'; } > "$1/pom.xml"
  (cd "$1" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log)
}
jars broker org.apache.kafka:kafka_2.13:3.9.1 org.apache.kafka:kafka-tools:3.9.1 org.slf4j:slf4j-reload4j:1.7.36
jars tools org.apache.kafka:kafka-tools:4.4.0 org.slf4j:slf4j-simple:1.7.36
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
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
CONF
java -cp 'broker/jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'broker/jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done

cat > read.py <<'PY'
import sys, time
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

at = {"bootstrap.servers": sys.argv[1]}
admin = AdminClient(at)
admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(60)
producer = Producer(at)
for number in range(5):
    producer.produce("orders", b"order %d" % number)
producer.flush(60)

def reads(protocol):
    told = []
    consumer = Consumer(at | {"group.id": protocol, "group.protocol": protocol, "auto.offset.reset": "earliest", "error_cb": told.append})
    consumer.subscribe(["orders"])
    end, values, errors = time.monotonic() + 20, 0, []
    while time.monotonic() < end and values < 5:
        message = consumer.poll(0.5)
        if message is not None and message.error():
            errors.append(message.error())
        elif message is not None:
            values += 1
    consumer.close()
    return f"group.protocol={protocol}: {values} records, errors {errors}, error_cb {told}"

print(reads("classic"))
print(reads("consumer"))
PY
env/bin/python read.py "127.0.0.1:$port" > seen 2> log || { cat log; tail -3 broker.log; exit 1; }
[ ! -s log ] || sed 's/^/log: /' log >> seen
echo 'group.protocol=consumer' > consumer.properties
java -cp 'tools/jars/*' org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "127.0.0.1:$port" --topic orders --from-beginning \
  --command-config consumer.properties --timeout-ms 20000 > java.log 2>&1 || true
grep -o 'UnsupportedVersionException: The cluster does not support the new CONSUMER group protocol' java.log | sort -u | sed 's/^/Java: /' >> seen || true

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; tail -5 java.log; exit 1; }
group.protocol=classic: 5 records, errors [], error_cb []
group.protocol=consumer: 0 records, errors [], error_cb []
Java: UnsupportedVersionException: The cluster does not support the new CONSUMER group protocol
EXPECTED
echo "as described: None for ever, and no error"
