#!/usr/bin/env bash
# kafkajs's admin.resetOffsets({earliest: true}) commits the offset -2: the group then reads nothing, in kafkajs, Java and kafka-python.
#
# Expected: behind a reset to the earliest offset a group reads a topic from its beginning, as with kafka-consumer-groups.sh --to-earliest:
#   the first offset of each partition is committed, and any client's consumer goes on from there.
# Seen (kafkajs 2.2.4, Kafka 4.4.0; ten records, a group that has committed 4): the commit becomes -2, which is how ListOffsets is asked for
#   the beginning, and the broker stores it. To Java's client, kafka-python 3.0.12 and kafkajs itself it is no commit, so
#   their own setting for new groups decides, "latest" by default: none of ten records is read, the six that were left neither.
#   librdkafka 2.16.0 takes -2 for the beginning and reads ten. Without the reset all read six.
# Why it matters: the reset is made to read again, and skips what had not been read yet; nothing says so, and there is no lag that
#   would show it. Each client that reads "from the beginning" by its own setting hides it.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3 npm node; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env && env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1 kafka-python==3.0.12
npm install --silent --no-fund kafkajs@2.2.4 > npm.log
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>4.4.0</version></dependency></dependencies></project>
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
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties > broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (: < "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > reset.js <<'JS'
const { Kafka, logLevel } = require("kafkajs");
const kafka = new Kafka({ brokers: [process.argv[2]], logLevel: logLevel.NOTHING }), admin = kafka.admin(), producer = kafka.producer();
(async () => {
  for (const client of [admin, producer]) await client.connect();
  await admin.createTopics({ topics: [{ topic: "orders", numPartitions: 1 }] });
  await producer.send({ topic: "orders", messages: [...Array(10).keys()].map((number) => ({ value: `order ${number}` })) });
  for (const what of ["as-it-was", "reset"])
    for (const name of ["kafkajs", "kafka-python", "librdkafka", "java"]) {
      const groupId = `${name}-${what}`;
      await admin.setOffsets({ groupId, topic: "orders", partitions: [{ partition: 0, offset: "4" }] });
      if (what === "reset") await admin.resetOffsets({ groupId, topic: "orders", earliest: true });
      if (name !== "kafkajs") continue;
      const consumer = kafka.consumer({ groupId }), read = [];
      await consumer.connect().then(() => consumer.subscribe({ topic: "orders" }));
      consumer.run({ eachMessage: async ({ message }) => { read.push(message); } });
      await new Promise((resolve) => setTimeout(resolve, 10000));
      console.log(`${groupId}: ${read.length} read`);
      await consumer.disconnect();
    }
  for (const client of [admin, producer]) await client.disconnect();
})();
JS
node reset.js "127.0.0.1:$port" > seen 2> log || { tail -n 5 log; exit 1; }
cat > finding.py <<'PY'
import sys, time, confluent_kafka, kafka
def kafka_python(group):
    consumer = kafka.KafkaConsumer("orders", bootstrap_servers=sys.argv[1], group_id=group)
    end, count = time.time() + 10, 0
    while time.time() < end:
        count += sum(map(len, consumer.poll(500).values()))
    return count
def librdkafka(group):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": sys.argv[1], "group.id": group})
    consumer.subscribe(["orders"])
    return len(consumer.consume(20, 12))
for what in "as-it-was", "reset":
    print(f"kafka-python {kafka_python(f'kafka-python-{what}')} read, librdkafka {librdkafka(f'librdkafka-{what}')} read, {what}")
PY
env/bin/python finding.py "127.0.0.1:$port" >> seen 2> log || { tail -n 5 log; exit 1; }
tool() { java -cp 'jars/*' "org.apache.kafka.tools.$1" --bootstrap-server "127.0.0.1:$port" "${@:2}" 2> log || true; }
for what in as-it-was reset; do echo "java-$what: $(tool consumer.ConsoleConsumer --topic orders --group java-$what --timeout-ms 10000 | grep -c order || true) read"; done >> seen
diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
kafkajs-as-it-was: 6 read
kafkajs-reset: 0 read
kafka-python 6 read, librdkafka 6 read, as-it-was
kafka-python 0 read, librdkafka 10 read, reset
java-as-it-was: 6 read
java-reset: 0 read
EXPECTED
echo "as described: a reset to the beginning skips what was left"
