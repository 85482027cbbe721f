#!/usr/bin/env bash
# The gzip header inside a record batch tells which library wrote it; of Python's clients it tells their host's clock.
#
# Expected: a gzip batch is a function of its records; the header's time (MTIME), that of a file, is 0.
# Seen: kafka-python 3.0.12 and aiokafka 0.14.0 write the wall clock in seconds, so the same records give other bytes each
#   second. The Go clients (sarama 1.61.1, kafka-go 0.4.51, franz-go 1.22.3) write 0x886E0900, which file(1) shows as 2042:
#   Go's zero time, cut to 32 bits by the klauspost library (Go's own writes 0). librdkafka 2.16 writes 0 and system 3 (Unix),
#   so does Node; Java 16 and later 0 and 255.
# Why it matters: of a capture alone one can say which family a client that names no software belongs to, and how far a Python
#   producer's clock is off; batches that were sent twice cannot be told by equal bytes; whoever blanks records by hand and
#   gives a capture away gives away the clock.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v go >/dev/null || { echo "needs Go 1.26 or newer"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install kafka-python==3.0.12 aiokafka==0.14.0 confluent-kafka==2.16.1
cat > go.mod <<'GO'
module finding
go 1.26.0
require github.com/IBM/sarama v1.61.1
require github.com/segmentio/kafka-go v0.4.51
require github.com/twmb/franz-go v1.22.3
require github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c
require github.com/twmb/franz-go/pkg/kmsg v1.15.1
GO
cat > main.go <<'GO'
package main
import ("context"; "encoding/binary"; "fmt"; "os"; "os/exec"; "time"
	"github.com/IBM/sarama"; "github.com/segmentio/kafka-go"; "github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"; "github.com/twmb/franz-go/pkg/kmsg"; "github.com/twmb/franz-go/pkg/kversion")
func check(err error) { if err != nil { panic(err) } }
func must[T any](value T, err error) T { check(err); return value }
func main() {
	names := []string{"kafka-python", "aiokafka", "librdkafka", "sarama", "kafka-go", "franz-go"}
	cluster := must(kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, names...)))
	address, ctx, value := cluster.ListenAddrs()[0], context.Background(), make([]byte, 2000)
	config := sarama.NewConfig()
	config.Producer.Compression, config.Producer.Return.Successes = sarama.CompressionGZIP, true
	producer := must(sarama.NewSyncProducer([]string{address}, config))
	check(producer.SendMessages([]*sarama.ProducerMessage{{Topic: "sarama", Value: sarama.ByteEncoder(value)}}))
	writer := &kafka.Writer{Addr: kafka.TCP(address), Topic: "kafka-go", Compression: kafka.Gzip}
	check(writer.WriteMessages(ctx, kafka.Message{Value: value}))
	client := must(kgo.NewClient(kgo.SeedBrokers(address), kgo.ProducerBatchCompression(kgo.GzipCompression()), kgo.MaxVersions(kversion.V2_8_0())))
	check(client.ProduceSync(ctx, &kgo.Record{Topic: "franz-go", Value: value}).FirstErr())
	python := exec.Command("env/bin/python", "produce.py", address)
	python.Stderr = os.Stderr
	check(python.Run())
	for _, name := range names {
		request := kmsg.NewPtrFetchRequest() // Kafka 2.8 fetches by name
		topic, partition := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
		partition.PartitionMaxBytes = 1 << 20
		topic.Topic, topic.Partitions = name, append(topic.Partitions, partition)
		request.MaxBytes, request.Topics = 1<<20, append(request.Topics, topic)
		response := must(client.Broker(0).Request(ctx, request))
		header := response.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches[61:71]
		written := int64(binary.LittleEndian.Uint32(header[4:]))
		age := time.Now().Unix() - written
		told := fmt.Sprintf("%#x", written)
		if age >= 0 && age < 600 { told = "the wall clock" }
		fmt.Printf("%s: %x time %s system %d\n", name, header[:4], told, header[9])
	}
}
GO
cat > produce.py <<'PY'
import asyncio, sys
import aiokafka, confluent_kafka, kafka

address, value = sys.argv[1], bytes(2000)
producer = kafka.KafkaProducer(bootstrap_servers=address, compression_type="gzip")
producer.send("kafka-python", value).get(20)
producer = confluent_kafka.Producer({"bootstrap.servers": address, "compression.type": "gzip", "log_level": 3})
producer.produce("librdkafka", value)
producer.flush(20)
async def main():
    async with aiokafka.AIOKafkaProducer(bootstrap_servers=address, compression_type="gzip") as producer:
        await producer.send_and_wait("aiokafka", value)
asyncio.run(main())
PY
go mod tidy >go.log 2>&1 && go run . > seen || { cat go.log; exit 1; }
diff - seen <<'EXPECTED' || { echo "CHANGED: not what these clients did when this was written"; exit 1; }
kafka-python: 1f8b0800 time the wall clock system 255
aiokafka: 1f8b0800 time the wall clock system 255
librdkafka: 1f8b0800 time 0x0 system 3
sarama: 1f8b0800 time 0x886e0900 system 255
kafka-go: 1f8b0800 time 0x886e0900 system 255
franz-go: 1f8b0800 time 0x886e0900 system 255
EXPECTED
echo "as described: clocks and libraries show in gzip headers"
