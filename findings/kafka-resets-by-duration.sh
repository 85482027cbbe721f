#!/usr/bin/env bash
# auto.offset.reset=by_duration (Kafka 4.4.0): where no record is young enough a running consumer stands nowhere and skips what is written.
#
# Expected: by_duration:PT1H begins with the records of the last hour. Where there are none, that is the end: the consumer waits there and
#   reads what comes, as it does with latest.
# Seen, Java's consumer, both group protocols, a topic whose records are two hours old: the lookup finds no offset, and the consumer has no
#   position: position() is a TimeoutException, the group has no commit and so no lag. It asks again each 30 s (request.timeout.ms).
#   Three records with times of two hours ago, written while it polls, are never read; a record of now is read up to 30 s after it was
#   written, and the position is behind it: the three are skipped for good. With latest all four are read, within a second.
# Why it matters: imports, mirrors and replays keep the records' own times, and quiet topics are those for which "an hour back" was
#   chosen. What is lost was written before the consumer's eyes. A trial with fresh records, or with one in the topic, is right.
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
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties > broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (: < "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > Finding.java <<'JAVA'
import java.time.Duration; import java.util.*; import java.util.concurrent.*; import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*; import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Finding {
    static String run(String bootstrap, String protocol, String reset) throws Exception {
        long hoursAgo = System.currentTimeMillis() - 7_200_000;
        var partition = new TopicPartition(protocol + "-" + reset.split(":")[0], 0);
        try (var admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(partition.topic(), 1, (short) 1))).all().get(); }
        var producer = new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer());
        producer.send(new ProducerRecord<>(partition.topic(), 0, hoursAgo, "key", "before")).get();
        var consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", bootstrap, "group.id", partition.topic(), "group.protocol", protocol,
            "auto.offset.reset", reset), new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(partition.topic()));
        var seen = new ArrayList<String>();
        poll(consumer, 12, seen);
        var text = protocol + ", " + reset + ": " + position(consumer, partition);
        for (int number = 1; number <= 3; number++)
            producer.send(new ProducerRecord<>(partition.topic(), 0, hoursAgo + number, "key", "old " + number)).get();
        poll(consumer, 34, seen);  // over a second lookup
        producer.send(new ProducerRecord<>(partition.topic(), 0, null, "key", "new")).get();
        poll(consumer, 2, seen);
        text += ", reads " + seen;
        poll(consumer, 32, seen);
        return text + ", half a minute later " + seen + ", " + position(consumer, partition);
    }
    static void poll(KafkaConsumer<String, String> consumer, int seconds, List<String> seen) {
        for (long end = System.currentTimeMillis() + 1000L * seconds; System.currentTimeMillis() < end; )
            for (var record : consumer.poll(Duration.ofMillis(100))) seen.add(record.value());
    }
    static String position(KafkaConsumer<String, String> consumer, TopicPartition partition) {
        try { return "position " + consumer.position(partition, Duration.ofSeconds(2)); } catch (org.apache.kafka.common.errors.TimeoutException error) { return "no position"; }
    }
    public static void main(String[] args) throws Exception {
        var runs = new ArrayList<Future<String>>();
        var pool = Executors.newFixedThreadPool(4);
        for (var protocol : List.of("classic", "consumer"))
            for (var reset : List.of("latest", "by_duration:PT1H")) runs.add(pool.submit(() -> run(args[0], protocol, reset)));
        for (var run : runs) System.out.println(run.get());
        pool.shutdown();
    }
}
JAVA
timeout 200 java -Xmx256m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -n 5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
classic, latest: position 1, reads [old 1, old 2, old 3, new], half a minute later [old 1, old 2, old 3, new], position 5
classic, by_duration:PT1H: no position, reads [], half a minute later [new], position 5
consumer, latest: position 1, reads [old 1, old 2, old 3, new], half a minute later [old 1, old 2, old 3, new], position 5
consumer, by_duration:PT1H: no position, reads [], half a minute later [new], position 5
EXPECTED
echo "as described: old records are skipped while the consumer polls"
