#!/usr/bin/env bash
# Kafka 4.4.0 names a deleted record as the one with the largest time: maxTimestamp() is offset 2 where the log starts at 5.
#
# Expected: listOffsets(maxTimestamp()) gives a record that is there: who seeks to it reads it. After deleteRecords() that is the
#   largest time of those left, as forTimestamp() and earliest() heed the new start.
# Seen: of ten records the third had the largest time. After deleteRecords() before offset 5, maxTimestamp() is still offset 2 with
#   its time; earliest() is 5, and forTimestamp() of a moment between finds none. A consumer that seeks to 2 is out of range: it
#   begins at 5 with auto.offset.reset=earliest, and with latest, the default, it reads none of the five records.
# Why it matters: "how fresh is this topic" is asked by maxTimestamp(). It is the age of a record that was deleted, perhaps because
#   its time or its content was wrong, and a reader that trusts the offset skips what is left.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
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
log.retention.hours=-1
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
cat > Finding.java <<'JAVA'
import java.time.Duration; import java.util.*; import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Finding {
    static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    static Admin admin;
    static String offset(OffsetSpec asked) throws Exception {
        var answer = admin.listOffsets(Map.of(ORDERS, asked)).partitionResult(ORDERS).get();
        return "offset " + answer.offset() + ", time " + answer.timestamp();
    }
    static void read(String server, String reset, long offset) {
        Map<String, Object> settings = Map.of("bootstrap.servers", server, "auto.offset.reset", reset);
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(ORDERS));
            consumer.seek(ORDERS, offset);
            var values = new ArrayList<String>();
            for (int i = 0; i < 10; i++) consumer.poll(Duration.ofMillis(300)).forEach(record -> values.add(record.value()));
            System.out.println("read from " + offset + ", " + reset + ": " + values);
        }
    }
    public static void main(String[] args) throws Exception {
        var broker = new Thread(() -> kafka.Kafka.main(new String[] {"server.properties"}));
        broker.setDaemon(true);
        broker.start();
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0]);
        admin = Admin.create(settings);
        admin.createTopics(List.of(new NewTopic("orders", 1, (short) 1))).all().get();
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < 10; number++)
                producer.send(new ProducerRecord<>("orders", 0, number == 2 ? 9000L : 5000L, null, "order " + number)).get();
        }
        System.out.println("max before: " + offset(OffsetSpec.maxTimestamp()));
        admin.deleteRecords(Map.of(ORDERS, RecordsToDelete.beforeOffset(5))).all().get();
        System.out.println("max after: " + offset(OffsetSpec.maxTimestamp()));
        System.out.println("earliest after: " + offset(OffsetSpec.earliest()));
        System.out.println("at 8000 after: " + offset(OffsetSpec.forTimestamp(8000)));
        read(args[0], "earliest", 2);
        read(args[0], "latest", 2);
        Runtime.getRuntime().halt(0);
    }
}
JAVA
timeout 150 java -Xmx600m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -5 log; exit 1; }
grep '^max\|^earliest\|^at \|^read ' seen > said

diff - said <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
max before: offset 2, time 9000
max after: offset 2, time 9000
earliest after: offset 5, time -1
at 8000 after: offset -1, time -1
read from 2, earliest: [order 5, order 6, order 7, order 8, order 9]
read from 2, latest: []
EXPECTED
echo "as described: the largest time is that of a deleted record"
