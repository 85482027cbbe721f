#!/usr/bin/env bash
# The newest record of a transactional partition is none: Kafka 4.4.0 answers questions about times with its own commit marker.
#
# Expected: ListOffsets finds records. OffsetSpec.maxTimestamp() is the record with the largest time, and offsetsForTimes() of a time
#   behind all records is null, as its documentation has it ("if there is no such message").
# Seen: the markers by which commits and aborts are written have a time, that of the coordinator's clock, and both questions take
#   them for records. Of three records of 2023, imported in a transaction, the largest time is now, at offset 3, which no consumer
#   can read; of the same records without a transaction it is that of the third. offsetsForTimes() for a time behind all of them names
#   offset 3 and the marker's time, where the plain topic has null; read_committed changes nothing. An aborted transaction does
#   likewise: its marker is the newest record of a partition in which nothing can be read.
# Why it matters: "how old is the newest record" is measured so, and a topic whose source stands still, or that was copied from an
#   archive, is fresh by each empty or aborted transaction. "Is there anything since noon" is yes where nothing is, and who reads
#   until something comes waits for ever.
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
log.retention.ms=-1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > Finding.java <<'JAVA'
import java.time.Duration; import java.util.*;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Finding {
    static final long OLD = 1_700_000_000_000L;
    static String when(long time) {
        return time < OLD + 60_000 ? "" + (time - OLD) : Math.abs(System.currentTimeMillis() - time) < 60_000 ? "now" : "" + time;
    }
    public static void main(String[] args) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "isolation.level", "read_committed");
        var admin = Admin.create(settings);
        for (String topic : List.of("plain", "committed", "aborted")) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
            var all = new HashMap<>(settings);
            if (!topic.equals("plain")) all.put("transactional.id", topic);
            var producer = new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
            if (!topic.equals("plain")) { producer.initTransactions(); producer.beginTransaction(); }
            for (int number = 0; number < 3; number++) producer.send(new ProducerRecord<>(topic, 0, OLD + number, null, "order " + number));
            producer.flush();
            if (topic.equals("committed")) producer.commitTransaction();
            if (topic.equals("aborted")) producer.abortTransaction();
            var partition = new TopicPartition(topic, 0);
            var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            int records = 0;
            for (int i = 0; i < 6; i++) records += consumer.poll(Duration.ofMillis(500)).count();
            var newest = admin.listOffsets(Map.of(partition, OffsetSpec.maxTimestamp())).partitionResult(partition).get();
            var behind = consumer.offsetsForTimes(Map.of(partition, OLD + 10)).get(partition);
            System.out.println(topic + ": " + records + " records, newest at offset " + newest.offset() + ", time " + when(newest.timestamp())
                + "; behind all: " + (behind == null ? "null" : "offset " + behind.offset() + ", time " + when(behind.timestamp())));
        }
        System.exit(0);
    }
}
JAVA
timeout 100 java -Xmx256m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -5 log broker.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
plain: 3 records, newest at offset 2, time 2; behind all: null
committed: 3 records, newest at offset 3, time now; behind all: offset 3, time now
aborted: 0 records, newest at offset 3, time now; behind all: offset 3, time now
EXPECTED
echo "as described: a marker is the newest record"
