#!/usr/bin/env bash
# segmentio/kafka-go 0.4.51 and rskafka 0.6.0 give the producer's time where the topic says
#   message.timestamp.type=LogAppendTime.
#
# Expected: the broker stamps records of such a topic, so every consumer sees the broker's time.
# Seen: a broker (4.4.0) does not touch the records: it sets bit 3 of the batch's attributes and the batch's maxTimestamp. A
#   client that adds a record's delta to baseTimestamp, as for CreateTime, returns what the producer claimed: here September
#   2001. kafka-go does so in its Reader, rskafka in fetch_records; neither shows the attribute. franz-go returns the broker's
#   time (so do the Java client, librdkafka, sarama, kafka-python, aiokafka and kafkajs).
# Why it matters: retention, offsets by time and lag in seconds follow the broker's time. Two consumers of one topic disagree
#   about it, and the delivery time that one of them reports is as wrong as its producers' clocks.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in go cargo mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
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
log.message.timestamp.type=LogAppendTime
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "finding"
version = "0.1.0"
edition = "2021"
[dependencies]
rskafka = "=0.6.0"
tokio = { version = "1", features = ["rt-multi-thread", "macros"] }
TOML
cat > src/main.rs <<'RUST'
use rskafka::client::{partition::UnknownTopicHandling::Retry, ClientBuilder};
#[tokio::main]
async fn main() {
    let client = ClientBuilder::new(vec![std::env::args().nth(1).unwrap()]).build().await.unwrap();
    let partition = client.partition_client("stamped", 0, Retry).await.unwrap();
    let (records, _) = partition.fetch_records(0, 1..1_000_000, 1_000).await.unwrap();
    println!("rskafka {}", records[0].record.timestamp.timestamp());
}
RUST
cat > main.go <<'GO'
package main
import ("context"; "fmt"; "os"; "time"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo")
func main() {
	ctx, broker, topic := context.Background(), os.Args[1], "stamped"
	kgoClient, _ := kgo.NewClient(kgo.SeedBrokers(broker), kgo.AllowAutoTopicCreation(), kgo.ConsumeTopics(topic))
	record := &kgo.Record{Topic: topic, Value: []byte("v"), Timestamp: time.Unix(1_000_000_000, 0)}
	if err := kgoClient.ProduceSync(ctx, record).FirstErr(); err != nil { panic(err) }
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: topic})
	message, err := reader.ReadMessage(ctx)
	if err != nil { panic(err) }
	fmt.Println("kafka-go", message.Time.Unix())
	read := kgoClient.PollFetches(ctx).Records()[0]
	fmt.Println("franz-go", time.Since(read.Timestamp) < time.Hour, "attribute", read.Attrs.TimestampType())
}
GO
go mod init finding >go.log 2>&1
go get github.com/segmentio/kafka-go@v0.4.51 github.com/twmb/franz-go/pkg/kgo@v1.22.3 >>go.log 2>&1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
{ go run . "127.0.0.1:$port"; cargo run -q -- "127.0.0.1:$port"; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
kafka-go 1000000000
franz-go true attribute 1
rskafka 1000000000
EXPECTED
echo "as described: two clients return the producer's time for LogAppendTime"
