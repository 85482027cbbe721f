#!/usr/bin/env bash
# kafka-go 0.4.51 reads an empty value as nil, as if it were a tombstone: what it copies to a compacted topic deletes the key.
#
# Expected: nil is null and []byte{} is an empty value, as in Kafka and as in kafka-go's own Writer, which writes the two apart.
# Seen: Reader returns nil for both, in keys and headers too, so no program can tell them apart. A copy of message.Value into
#   kafka.Message, which is all that a mirror or a retry queue does, writes null where there was an empty value. Batches that
#   are compressed do the same. franz-go 1.22.3 keeps the difference (so does sarama).
# Why it matters: an empty value says that the key exists and holds nothing; null tells a compacted topic, Kafka Streams' tables
#   and sinks to delete the key. A check "value == nil" for deletions, right for the other clients, deletes too much, and a
#   record's empty key, which has a partition of its own, becomes a null key that goes anywhere.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in go mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
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
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
cat > main.go <<'GO'
package main
import ("context"; "fmt"; "os"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo")
func check(err error) { if err != nil { panic(err) } }
func show(value, key, header []byte) string { return fmt.Sprintf(" %t/%t/%t", value == nil, key == nil, header == nil) }
func main() {
	ctx, broker := context.Background(), os.Args[1]
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: "source"})
	writer := &kafka.Writer{Addr: kafka.TCP(broker), Topic: "copy", BatchSize: 1, RequiredAcks: kafka.RequireAll}
	fmt.Print("nil or not: value/key/header\nkafka-go, source:")
	for n := 0; n < 4; n++ {
		message, err := reader.ReadMessage(ctx); check(err)
		fmt.Print(show(message.Value, message.Key, message.Headers[0].Value))
		check(writer.WriteMessages(ctx, kafka.Message{Key: message.Key, Value: message.Value, Headers: message.Headers}))
	}
	check(writer.WriteMessages(ctx, kafka.Message{Key: []byte{}, Value: []byte{}, Headers: []kafka.Header{{Key: "h", Value: []byte{}}}}))
	for which, count := range []int{4, 5} {
		client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics([]string{"source", "copy"}[which])); check(err)
		fmt.Print("\nfranz-go, ", []string{"source:", "copy:"}[which])
		for n := 0; n < count; { client.PollRecords(ctx, count - n).EachRecord(func(r *kgo.Record) { fmt.Print(show(r.Value, r.Key, r.Headers[0].Value)); n++ }) }
	}
	fmt.Println()
}
GO
cat > write.py <<'PY'
import sys
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

address = {"bootstrap.servers": sys.argv[1], "log_level": 3}
admin = AdminClient(address)
for made in admin.create_topics([NewTopic(name, 1, 1) for name in ("source", "copy")]).values():
    made.result(20)
for compression in "none", "gzip":
    producer = Producer(address | {"compression.type": compression})
    for content in b"", None:
        producer.produce("source", content, content, partition=0, headers=[("h", content)])
        producer.flush()
PY
go mod init finding >go.log 2>&1
go get github.com/segmentio/kafka-go@v0.4.51 github.com/twmb/franz-go/pkg/kgo@v1.22.3 >>go.log 2>&1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
{ env/bin/python write.py "127.0.0.1:$port" && timeout 120 go run . "127.0.0.1:$port"; } > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
nil or not: value/key/header
kafka-go, source: true/true/true true/true/true true/true/true true/true/true
franz-go, source: false/false/false true/true/true false/false/false true/true/true
franz-go, copy: true/true/true true/true/true true/true/true true/true/true false/false/false
EXPECTED
echo "as described: an empty value comes out as a tombstone"
