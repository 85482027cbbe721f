#!/usr/bin/env bash
# An empty key goes to one partition from every client but librdkafka's, whose default spreads it over all of them.
#
# Expected: an empty key is a key: Java's producer hashes it like any other, and only a record without a key (null) goes anywhere.
#   So "consistent_random" and "murmur2_random" of librdkafka differ in the hash alone.
# Seen: librdkafka 2.16.0 takes an empty key for no key with consistent_random, its default, and sends records to any partition; with
#   the other five partitioners, murmur2_random and fnv1a_random among them, all are in one. kafka-python 3.0.12 and Java's
#   producer 4.4.0 agree with murmur2_random. Consumers get the empty key, no null.
# Why it matters: ids that are missing become "" in many programs, and their records share a key to compaction, joins and group-by,
#   but not an order: a compacted topic keeps one "last" value in each partition, and a table made of them whichever was read last.
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
cat > ask.py <<'PY'
import sys
import kafka
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

address = {"bootstrap.servers": sys.argv[1]}
partitioners = ("consistent_random", "fnv1a_random", "murmur2_random", "consistent", "fnv1a", "murmur2")
admin = AdminClient(address)
for made in admin.create_topics([NewTopic(name, 16, 1) for name in (*partitioners, "kafka-python", "java")]).values():
    made.result(60)
for name in partitioners:
    producer = Producer(address | {"partitioner": name, "sticky.partitioning.linger.ms": 0})
    for number in range(100):
        producer.produce(name, str(number).encode(), key=b"")
    producer.flush(60)
producer = kafka.KafkaProducer(bootstrap_servers=sys.argv[1])
for number in range(100):
    producer.send("kafka-python", str(number).encode(), key=b"")
producer.flush(60)
PY
cat > read.py <<'PY'
import sys
from confluent_kafka import Consumer, TopicPartition

consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": "reader"})
for name in ("consistent_random", "fnv1a_random", "murmur2_random", "consistent", "fnv1a", "murmur2", "kafka-python", "java"):
    consumer.assign([TopicPartition(name, partition, 0) for partition in range(16)])
    read = [consumer.poll(60) for _ in range(100)]
    found = sorted({record.partition() for record in read})
    print(f"{name}: keys {({record.key() for record in read})},", f"partition {found[0]}" if len(found) == 1 else "many partitions" if len(found) > 9 else found)
PY
cat > Send.java <<'JAVA'
import java.util.Map; import org.apache.kafka.clients.producer.*;
public class Send {
    public static void main(String[] told) {
        String text = "org.apache.kafka.common.serialization.StringSerializer";
        try (var producer = new KafkaProducer<String, String>(Map.of("bootstrap.servers", told[0], "key.serializer", text, "value.serializer", text))) {
            for (int number = 0; number < 100; number++) producer.send(new ProducerRecord<>("java", "", "" + number));
        }
    }
}
JAVA
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
{ env/bin/python -W ignore ask.py "127.0.0.1:$port" && java -cp 'jars/*' Send.java "127.0.0.1:$port" && env/bin/python read.py "127.0.0.1:$port"; } \
  > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
consistent_random: keys {b''}, many partitions
fnv1a_random: keys {b''}, partition 11
murmur2_random: keys {b''}, partition 9
consistent: keys {b''}, partition 0
fnv1a: keys {b''}, partition 11
murmur2: keys {b''}, partition 9
kafka-python: keys {b''}, partition 9
java: keys {b''}, partition 9
EXPECTED
echo "as described: an empty key is a key to all but librdkafka's default"
