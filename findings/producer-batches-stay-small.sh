#!/usr/bin/env bash
# Java's producer (Kafka 4.4.0) fills batches of 16384 bytes with 260: what compresses well is sent in tiny batches for a long time.
#
# Expected: batch.size is the upper bound of a batch, and linger.ms how long it waits for more. With compression, records that wait
#   anyway fill the batch: some hundred of 1 kB that shrink to a few bytes each, at most after a few batches by which the producer
#   has learned how well they compress.
# Seen (zstd, linger.ms=10000, 30000 records that are queued at once): the first batch has 16 records and 271 bytes, the 100th the same,
#   the 500th 20 or so, the 1000th 20 to 50, and none of these has 500 bytes. A batch is closed by the size that is expected of it,
#   with a ratio that begins at 1 and comes down by small steps, batch by batch; in a new process it begins anew, for each topic. In a
#   longer run the 1200th batch has hundreds of records. compression-rate-avg is splendid all the while.
# Why it matters: with the settings for throughput (linger, zstd) twenty times as many batches are sent, each with 61 bytes of head and
#   without what compression gains from neighbours, and consumers and brokers have them so for good. A job that sends some ten
#   thousand records and ends never leaves this state. A larger batch.size mends it, which looks absurd at 260 bytes a batch.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
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
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > Finding.java <<'JAVA'
import java.io.File; import java.util.*;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.producer.*; import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.serialization.*;
public class Finding {
    public static void main(String[] args) throws Exception {
        for (int batchSize : new int[] {16384, 524288}) {
            Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "compression.type", "zstd", "linger.ms", 10000, "batch.size", batchSize);
            String topic = "orders-" + batchSize;
            Admin.create(settings).createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
            var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
            for (int number = 0; number < 30000; number++)
                producer.send(new ProducerRecord<>(topic, 0, null, ("{\"order\":" + number + ",\"state\":\"delivered\"}").repeat(30)));
            producer.close();
            int batches = 0;
            for (var batch : FileRecords.open(new File("data/" + topic + "-0/00000000000000000000.log")).batches()) {
                batches++;
                int records = batch.countOrNull(), bytes = batch.sizeInBytes();
                int most = batches == 1 ? 16 : batches <= 500 ? 30 : 60;
                if (batchSize == 16384 && List.of(1, 100, 500, 1000).contains(batches))
                    System.out.println("batch " + batches + ": up to " + most + " records, less than 500 bytes: " + (records <= most && bytes < 500));
            }
            System.out.println("batch.size " + batchSize + ": " + (batches > 1000 ? "more than 1000" : batches < 100 ? "less than 100" : batches) + " batches");
        }
        System.exit(0);
    }
}
JAVA
timeout 100 java -Xmx256m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -5 log broker.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
batch 1: up to 16 records, less than 500 bytes: true
batch 100: up to 30 records, less than 500 bytes: true
batch 500: up to 30 records, less than 500 bytes: true
batch 1000: up to 60 records, less than 500 bytes: true
batch.size 16384: more than 1000 batches
batch.size 524288: less than 100 batches
EXPECTED
echo "as described: batches that could hold hundreds of records hold a few"
