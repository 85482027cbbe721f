#!/usr/bin/env bash
# Two Kafka clients that ask for READ_COMMITTED return records of aborted transactions; one returns the markers as messages.
#
# Expected: with isolation level 1 in the Fetch request a consumer sees committed records only.
# Seen: the broker (4.4.0) sends aborted records all the same, and a list of aborted transactions: leaving them out is the
#   client's work. segmentio/kafka-go 0.4.51 (Reader, ReadCommitted) does not do it: it returns every record, and for each
#   commit or abort a message of six zero bytes, which no producer sent. @platformatic/kafka 1.35.0 (isolationLevel 1, its
#   default) remembers one aborted transaction of a producer per response: of three the first two are returned. franz-go,
#   sarama, kafka-python, aiokafka, librdkafka and kafkajs leave out what was aborted.
# Why it matters: "exactly once" fails just for retried work, so duplicates are put down to the producer. Both send the right
#   isolation level, so a capture of the request shows no fault; a test with a single abort passes with the second.
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
npm init -y >npm.log && npm install --silent --no-fund @platformatic/kafka@1.35.0 >>npm.log
cat > main.go <<'GO'
package main
import ("context"; "fmt"; "os"; "time"; "github.com/segmentio/kafka-go"; "github.com/twmb/franz-go/pkg/kgo")
func check(err error) { if err != nil { panic(err) } }
func main() {
	ctx, broker, topic := context.Background(), os.Args[1], "orders"
	producer, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.AllowAutoTopicCreation(), kgo.TransactionalID("t"), kgo.DefaultProduceTopic(topic))
	check(err)
	for n, value := range []string{"kept 1", "aborted 1", "kept 2", "aborted 2", "aborted 3", "kept 3"} {
		check(producer.BeginTransaction())
		check(producer.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr())
		check(producer.EndTransaction(ctx, kgo.TransactionEndTry(n == 0 || n == 2 || n == 5)))
	}
	consumer, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	check(err)
	for read := 0; read < 3; { for _, record := range consumer.PollFetches(ctx).Records() { read++; fmt.Printf("franz-go: %q\n", record.Value) } }
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: topic, IsolationLevel: kafka.ReadCommitted, MaxWait: time.Second})
	fmt.Print("kafka-go:")
	for n := 0; n < 12; n++ {
		message, err := reader.ReadMessage(ctx)
		check(err)
		fmt.Printf(" %q", message.Value)
	}
	fmt.Println()
}
GO
cat > read.mjs <<'JS'
import { Consumer, stringDeserializers } from "@platformatic/kafka";
const consumer = new Consumer({ groupId: "g", clientId: "c", bootstrapBrokers: [process.argv[2]], deserializers: stringDeserializers });
const stream = await consumer.consume({ topics: ["orders"], mode: "earliest", isolationLevel: 1 });
const read = [];
for await (const message of stream) if (read.push(message.value) && message.value === "kept 3") break;
console.log("platformatic:", read.join(", "));
process.exit(0);
JS
go mod init finding >go.log 2>&1
go get github.com/segmentio/kafka-go@v0.4.51 github.com/twmb/franz-go/pkg/kgo@v1.22.3 >>go.log 2>&1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
{ timeout 120 go run . "127.0.0.1:$port"; timeout 60 node read.mjs "127.0.0.1:$port"; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these clients did when this was written"; exit 1; }
franz-go: "kept 1"
franz-go: "kept 2"
franz-go: "kept 3"
kafka-go: "kept 1" "\x00\x00\x00\x00\x00\x00" "aborted 1" "\x00\x00\x00\x00\x00\x00" "kept 2" "\x00\x00\x00\x00\x00\x00" "aborted 2" "\x00\x00\x00\x00\x00\x00" "aborted 3" "\x00\x00\x00\x00\x00\x00" "kept 3" "\x00\x00\x00\x00\x00\x00"
platformatic: kept 1, aborted 1, kept 2, aborted 2, kept 3
EXPECTED
echo "as described: records of aborted transactions are returned"
