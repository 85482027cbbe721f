#!/usr/bin/env bash
# kafka-go 0.4.51 reads an empty value as nil, as if it were a tombstone: what it copies to a compacted topic deletes the key.
#
# Expected: nil is null and []byte{} is an empty value, as in Kafka and as in kafka-go's own Writer, which writes the two apart.
# Seen: Reader returns nil for both, in keys and headers too, so no program can tell them apart. A copy of message.Value into
#   kafka.Message, which is all that a mirror or a retry queue does, writes null where there was an empty value. Batches that
#   are compressed do the same. franz-go 1.22.3 and sarama 1.61.1 keep the difference.
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
	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo")
func check(err error) { if err != nil { panic(err) } }
func main() {
	ctx, broker := context.Background(), os.Args[1]
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: "source"})
	writer := &kafka.Writer{Addr: kafka.TCP(broker), Topic: "copy", BatchSize: 1, RequiredAcks: kafka.RequireAll}
	for n := 0; n < 4; n++ {
		message, err := reader.ReadMessage(ctx); check(err)
		fmt.Printf("kafka-go %d: value is nil %t, key is nil %t, header is nil %t\n", n, message.Value == nil, message.Key == nil, message.Headers[0].Value == nil)
		check(writer.WriteMessages(ctx, kafka.Message{Key: message.Key, Value: message.Value, Headers: message.Headers}))
	}
	check(writer.WriteMessages(ctx, kafka.Message{Key: []byte{}, Value: []byte{}, Headers: []kafka.Header{{Key: "h", Value: []byte{}}}}))
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics("source")); check(err)
	for n := 0; n < 4; { client.PollRecords(ctx, 4 - n).EachRecord(func(r *kgo.Record) {
		fmt.Printf("franz-go %d: value is nil %t, key is nil %t, header is nil %t\n", n, r.Value == nil, r.Key == nil, r.Headers[0].Value == nil); n++ }) }
	consumer, err := sarama.NewConsumer([]string{broker}, nil); check(err)
	partition, err := consumer.ConsumePartition("source", 0, 0); check(err)
	for n := 0; n < 4; n++ {
		m := <-partition.Messages()
		fmt.Printf("sarama %d: value is nil %t, key is nil %t, header is nil %t\n", n, m.Value == nil, m.Key == nil, m.Headers[0].Value == nil)
	}
}
GO
cat > lab.py <<'PY'
import sys
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

address = {"bootstrap.servers": sys.argv[1], "log_level": 3}
if sys.argv[2] == "write":
    admin = AdminClient(address)
    for made in admin.create_topics([NewTopic(name, 1, 1) for name in ("source", "copy")]).values():
        made.result(20)
    for compression in "none", "gzip":
        producer = Producer(address | {"compression.type": compression})
        for content in b"", None:
            producer.produce("source", content, content, partition=0, headers=[("h", content)])
            producer.flush()
else:
    for topic, count in ("source", 4), ("copy", 5):
        consumer = Consumer(address | {"group.id": "g"})
        consumer.assign([TopicPartition(topic, 0, 0)])
        print(topic, [message.value() for message in consumer.consume(count, 30)])
PY
{ go mod init finding && go get github.com/segmentio/kafka-go@v0.4.51 github.com/twmb/franz-go/pkg/kgo@v1.22.3 \
  github.com/IBM/sarama@v1.61.1; } >go.log 2>&1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
{ env/bin/python lab.py "127.0.0.1:$port" write && timeout 120 go run . "127.0.0.1:$port" \
  && env/bin/python lab.py "127.0.0.1:$port" read; } > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
kafka-go 0: value is nil true, key is nil true, header is nil true
kafka-go 1: value is nil true, key is nil true, header is nil true
kafka-go 2: value is nil true, key is nil true, header is nil true
kafka-go 3: value is nil true, key is nil true, header is nil true
franz-go 0: value is nil false, key is nil false, header is nil false
franz-go 1: value is nil true, key is nil true, header is nil true
franz-go 2: value is nil false, key is nil false, header is nil false
franz-go 3: value is nil true, key is nil true, header is nil true
sarama 0: value is nil false, key is nil false, header is nil false
sarama 1: value is nil true, key is nil true, header is nil true
sarama 2: value is nil false, key is nil false, header is nil false
sarama 3: value is nil true, key is nil true, header is nil true
source [b'', None, b'', None]
copy [None, None, None, None, b'']
EXPECTED
echo "as described: an empty value comes out as a tombstone"
