#!/usr/bin/env bash
# One record from before 1970 moves the other records of its batch to the year 51: sarama 1.61.1.
#
# Expected: a record's time is baseTimestamp plus its delta, whatever the sign. A broker takes times before 1970 and -1 ("no
#   time"), and producers in C, Python, JavaScript and Go send them.
# Seen: sarama reads a negative baseTimestamp as Go's zero time (year 1) and adds the deltas to that. The record from 1969 comes
#   out in year 1, and its neighbours of today, right in themselves, in year 51. Nothing is logged. Batches of positive times
#   and of other orders are right, so a record is right or wrong by what it was batched with. franz-go 1.22.3 returns all of them
#   as written; kafka-go 0.4.51 loses the negative one only.
# Why it matters: import jobs write dates of birth and other old days, and -1 where a time is unknown. Ages, windows and
#   retention copies of a consumer written with sarama are wrong by 1969 years for records that had a good time.
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
log.retention.ms=-1
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
cat > write.py <<'PY'
import sys
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

address = {"bootstrap.servers": sys.argv[1], "log_level": 3}
topics = {"together": [-5_000, 1_600_000_000_000], "unknown": [-1, 1_600_000_000_000], "behind": [1_600_000_000_000, -5_000]}
admin = AdminClient(address)
for made in admin.create_topics([NewTopic(name, 1, 1) for name in topics]).values():
    made.result(20)
producer = Producer(address | {"linger.ms": 1000})  # one batch a topic
for topic, times in topics.items():
    for time in times:
        producer.produce(topic, b"value", partition=0, timestamp=time)
    producer.flush()
PY
cat > main.go <<'GO'
package main
import ("context"; "fmt"; "os"
	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo")
func check(err error) { if err != nil { panic(err) } }
func main() {
	ctx, broker := context.Background(), os.Args[1]
	consumer, err := sarama.NewConsumer([]string{broker}, nil); check(err)
	for _, topic := range []string{"together", "unknown", "behind"} {
		client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics(topic)); check(err)
		fmt.Print(topic, ": franz-go")
		for _, record := range client.PollRecords(ctx, 2).Records() { fmt.Print(" ", record.Timestamp.UTC().Format("2006-01-02")) }
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: topic})
		fmt.Print(", kafka-go")
		for n := 0; n < 2; n++ { message, err := reader.ReadMessage(ctx); check(err); fmt.Print(" ", message.Time.UTC().Format("2006-01-02")) }
		partition, err := consumer.ConsumePartition(topic, 0, 0); check(err)
		fmt.Print(", sarama")
		for n := 0; n < 2; n++ { fmt.Print(" ", (<-partition.Messages()).Timestamp.UTC().Format("2006-01-02")) }
		fmt.Println()
	}
}
GO
{ go mod init finding && go get github.com/segmentio/kafka-go@v0.4.51 github.com/twmb/franz-go/pkg/kgo@v1.22.3 \
  github.com/IBM/sarama@v1.61.1; } >go.log 2>&1
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
{ env/bin/python write.py "127.0.0.1:$port" && timeout 120 go run . "127.0.0.1:$port"; } > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
together: franz-go 1969-12-31 2020-09-13, kafka-go 0001-01-01 2020-09-13, sarama 0001-01-01 0051-09-14
unknown: franz-go 1969-12-31 2020-09-13, kafka-go 0001-01-01 2020-09-13, sarama 0001-01-01 0051-09-14
behind: franz-go 2020-09-13 1969-12-31, kafka-go 2020-09-13 0001-01-01, sarama 2020-09-13 1969-12-31
EXPECTED
echo "as described: records of 2020 are in the first century"
