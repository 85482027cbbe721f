#!/usr/bin/env bash
# A slow share consumer (KIP-932) works on each record five times, then its group has done with it; max.poll.records does not help.
#
# Expected: max.poll.records bounds what poll() returns, so a consumer that needs long for a record sets it low and stays within
#   the time that it has (group.share.record.lock.duration.ms, 30 s unless set). If it does not, an exception says so.
# Seen: Java's share consumer and broker 4.4.0: with max.poll.records=10 poll() returns all 40 records of a producer's batch, as
#   share.acquire.mode is batch_optimized unless set. The consumer needs 100 ms for a record, 4 s in all, and the lock (2 s here)
#   has ended when it acknowledges: all 40 are delivered again, until the fifth time. Then they are given up, and the group has no
#   lag: 200 records of work, none acknowledged. Nothing is raised: commitSync() returns the InvalidRecordStateException in its map,
#   which nobody has to read. With share.acquire.mode=record_limit ten come at a time, once each.
# Why it matters: five times the work for each record, and a record that fails at the fifth time is lost like one that was done. The
#   size of batches decides, which the producer chose (linger.ms): with small batches the same consumer is right.
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
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.share.min.record.lock.duration.ms=1000
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > Finding.java <<'JAVA'
import java.time.Duration; import java.util.*;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.config.ConfigResource; import org.apache.kafka.common.serialization.*;
public class Finding {
    public static void main(String[] args) throws Exception {
        var admin = Admin.create(Map.of("bootstrap.servers", args[0]));
        admin.createTopics(List.of(new NewTopic("orders", 1, (short) 1))).all().get();
        try (var producer = new KafkaProducer<>(Map.of("bootstrap.servers", args[0], "linger.ms", 1000), new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < 40; number++) producer.send(new ProducerRecord<>("orders", "order " + number)); }
        for (String mode : List.of("batch_optimized", "record_limit")) { // also the group's name
            var changes = new ArrayList<AlterConfigOp>();
            Map.of("share.auto.offset.reset", "earliest", "share.record.lock.duration.ms", "2000").forEach((name, value) ->
                changes.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
            admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, mode), changes)).all().get();
            work(Map.of("bootstrap.servers", args[0], "group.id", mode, "max.poll.records", 10, "share.acquire.mode", mode));
            var offsets = admin.listShareGroupOffsets(Map.of(mode, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(mode).get();
            System.out.println("  lag " + offsets.values().iterator().next().lag().get());
        }
        System.exit(0);
    }
    static void work(Map<String, Object> settings) {
        var times = new TreeMap<Long, Integer>();
        int largest = 0, failed = 0; var consumer = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of("orders"));
        for (int empty = 0; empty < 10 || times.isEmpty(); ) {
            var records = consumer.poll(Duration.ofMillis(500));
            empty = records.isEmpty() ? empty + 1 : 0; largest = Math.max(largest, records.count());
            for (var record : records) {
                try { Thread.sleep(100); } catch (InterruptedException end) { return; } // the work
                times.merge(record.offset(), 1, Integer::sum);
            }
            if (consumer.commitSync().values().stream().anyMatch(Optional::isPresent)) failed++;
        }
        consumer.close();
        System.out.println(settings.get("group.id") + ": polls of up to " + largest + ", " + times.size() + " records done "
            + new TreeSet<>(times.values()) + " times, " + failed + " commits with an error in their map");
    }
}
JAVA
timeout 200 java -Xmx256m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -5 log broker.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
batch_optimized: polls of up to 40, 40 records done [5] times, 5 commits with an error in their map
  lag 0
record_limit: polls of up to 10, 40 records done [1] times, 0 commits with an error in their map
  lag 0
EXPECTED
echo "as described: a slow share consumer does all five times, and none of it counts"
