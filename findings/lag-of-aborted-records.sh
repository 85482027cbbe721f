#!/usr/bin/env bash
# Aborted records stay in the lag of consumer groups of franz-go and kafkajs, for ever if nothing follows.
#
# Expected: a READ_COMMITTED group that has read all there is has lag 0, whatever producers took back.
# Seen: the offset that these clients commit is that of the last record given to the application, plus one. Control markers
#   and aborted records behind it are passed over in memory only: after one committed record and ten aborted transactions of
#   five records a group of franz-go 1.22.3 or kafkajs 2.2.4 has lag 61 with nothing to read, and a restart fetches all of it
#   again. kafka-python 3.0.12 commits where it stands: lag 0. One marker at the end is enough for the first two to stay at 1.
# Why it matters: alerts and autoscalers on lag see a stuck consumer while its producer fails, and which language the consumer
#   is written in decides whether they do.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in go mvn java node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
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
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
npm init -y >npm.log && npm install --silent --no-fund kafkajs@2.2.4 >>npm.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install kafka-python==3.0.12
cat > main.go <<'GO'
package main
import ("context"; "os"; "time"; "github.com/twmb/franz-go/pkg/kgo")
func check(err error) { if err != nil { panic(err) } }
func main() {
	ctx, broker := context.Background(), os.Args[1]
	producer, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.AllowAutoTopicCreation(), kgo.TransactionalID("t"), kgo.DefaultProduceTopic("orders")); check(err)
	for n := 0; n < 11; n++ {
		check(producer.BeginTransaction())
		for m := 0; m < 5 && (n > 0 || m == 0); m++ { check(producer.ProduceSync(ctx, kgo.StringRecord("order")).FirstErr()) }
		check(producer.EndTransaction(ctx, kgo.TransactionEndTry(n == 0)))
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics("orders"), kgo.ConsumerGroup("franz-go"), kgo.FetchIsolationLevel(kgo.ReadCommitted())); check(err)
	some, cancel := context.WithTimeout(ctx, 8*time.Second)
	for some.Err() == nil { client.PollFetches(some) }
	cancel(); check(client.CommitUncommittedOffsets(ctx)); client.Close()
}
GO
cat > read.js <<'JS'
const { Kafka, logLevel } = require("kafkajs");
(async () => {
  const consumer = new Kafka({ brokers: [process.argv[2]], logLevel: logLevel.NOTHING }).consumer({ groupId: "kafkajs" });
  await consumer.connect().then(() => consumer.subscribe({ topic: "orders", fromBeginning: true }));
  await consumer.run({ eachMessage: async () => {} });
  setTimeout(() => consumer.disconnect(), 10_000);
})();
JS
cat > read.py <<'PY'
import sys
import kafka

address, orders = sys.argv[1], kafka.TopicPartition("orders", 0)
reader = kafka.KafkaConsumer(bootstrap_servers=address, group_id="kafka-python", isolation_level="read_committed", auto_offset_reset="earliest", consumer_timeout_ms=8_000)
reader.subscribe(["orders"])
print(len(list(reader)), "record is read")
reader.close()
for name in "franz-go", "kafkajs", "kafka-python":
    group = kafka.KafkaConsumer(bootstrap_servers=address, group_id=name)
    print(name, group.end_offsets([orders])[orders] - group.committed(orders))
PY
{ go mod init finding && go get github.com/twmb/franz-go/pkg/kgo@v1.22.3; } >go.log 2>&1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
timeout 120 go run . "127.0.0.1:$port" && timeout 60 node read.js "127.0.0.1:$port" && env/bin/python read.py "127.0.0.1:$port" > seen
diff - seen <<'EXPECTED' || { echo "CHANGED: not what these clients did when this was written"; exit 1; }
1 record is read
franz-go 61
kafkajs 61
kafka-python 0
EXPECTED
echo "as described: aborted records stay in the lag of two clients"
