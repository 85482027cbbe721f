#!/usr/bin/env bash
# kafka-topics.sh --delete --topic orders.eu (Kafka 4.4.0) deletes orders-eu too: to it the name is a pattern.
#
# Expected: a topic is deleted, altered or described by its name. A dot in it is a dot, as it is to kafka-configs.sh, to
#   kafka-consumer-groups.sh and to the console tools; who wants a pattern asks for it (--include of the console consumer).
# Seen: kafka-topics.sh takes --topic for a regular expression (its help says so) that has to fit a whole name, and carries out
#   --alter and --delete for each topic that fits. No list is shown and no question asked; --delete prints nothing. To it
#   kafka-get-offsets.sh --topic is such a pattern too. kafka-configs.sh changes the one topic, and kafka-console-producer.sh
#   writes to the one. 'orders\.eu' is exact.
# Why it matters: dots are the usual separators of names, and a new naming rule often leaves orders-eu beside orders.eu for a while.
#   Cleaning up the one removes the other, and more partitions for the one give the other more, which no tool takes back.
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
run() { local tool=$1; shift; java -XX:TieredStopAtLevel=1 -cp 'jars/*' "$tool" --bootstrap-server "127.0.0.1:$port" "$@" 2>>log; }
topics() { run org.apache.kafka.tools.TopicCommand "$@"; }
for name in orders.eu orders-eu orders.eu.old; do topics --create --topic "$name" --partitions 1 >>log; done
{
  run org.apache.kafka.tools.ConfigCommand --alter --entity-type topics --entity-name orders.eu --add-config retention.ms=1000 >>log
  echo one | run org.apache.kafka.tools.ConsoleProducer --topic orders.eu
  echo "records:"; run org.apache.kafka.tools.GetOffsetShell --topic 'orders\.eu'
  echo "records, name as it is:"; run org.apache.kafka.tools.GetOffsetShell --topic orders.eu | sort
  topics --alter --topic orders.eu --partitions 3 >>log
  echo "partitions and retention:"
  topics --describe | awk -F'\t' '/PartitionCount/ { print $1, $3, ($5 ~ /retention.ms=1000/ ? "changed" : "") }' | sed 's/ *$//' | sort
  echo "deleted:"; topics --delete --topic orders.eu
  echo "left:"; topics --list
} > seen || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
records:
orders.eu:0:1
records, name as it is:
orders-eu:0:0
orders.eu:0:1
partitions and retention:
Topic: orders-eu PartitionCount: 3
Topic: orders.eu PartitionCount: 3 changed
Topic: orders.eu.old PartitionCount: 1
deleted:
left:
orders.eu.old
EXPECTED
echo "as described: a topic's name with a dot deletes its neighbours"
