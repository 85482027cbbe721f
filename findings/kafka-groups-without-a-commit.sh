#!/usr/bin/env bash
# kafka-consumer-groups.sh leaves partitions without a commit out of a group's lag, and "--to-current" sends them to their end.
#
# Expected: LAG, added up, is what a group has still to read; --to-current changes nothing (with --export it makes the backup to go
#   back to).
# Seen, Kafka 4.4.0, a topic of three partitions with 10 records each, a group, not running, that has committed 4 of the first only:
#   --describe has one row, LAG 6; with auto.offset.reset=earliest the group then reads 26 records.
#   --reset-offsets --to-current sets the other two to 10, their end: their 20 records are never read.
# Why it matters: partitions without a commit are usual after partitions were added, a first start that failed, or expired offsets.
#   The lag looks small just then, and the backup made before a reset is itself one that skips records.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>4.4.0</version></dependency>
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
cat > Finding.java <<'JAVA'
import java.time.Duration; import java.util.*; import java.util.stream.*; import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Finding {
    static String server;
    static int read() {
        Map<String, Object> settings = Map.of("bootstrap.servers", server, "group.id", "readers", "auto.offset.reset", "earliest",
            "enable.auto.commit", "false");
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(IntStream.range(0, 3).mapToObj(number -> new TopicPartition("orders", number)).toList());
            return IntStream.range(0, 10).map(number -> consumer.poll(Duration.ofMillis(500)).count()).sum();
        }
    }
    static void tool(String words) throws Exception {
        System.out.println(words);
        org.apache.kafka.tools.consumer.group.ConsumerGroupCommand.main(("--bootstrap-server " + server + " " + words).split(" "));
    }
    public static void main(String[] args) throws Exception {
        server = args[0];
        var broker = new Thread(() -> kafka.Kafka.main(new String[] {"server.properties"}));
        broker.setDaemon(true);
        broker.start();
        Map<String, Object> settings = Map.of("bootstrap.servers", server);
        var admin = Admin.create(settings);
        admin.createTopics(List.of(new NewTopic("orders", 3, (short) 1))).all().get();
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < 30; number++)
                producer.send(new ProducerRecord<>("orders", number % 3, null, "order"));
        }
        admin.alterConsumerGroupOffsets("readers", Map.of(new TopicPartition("orders", 0), new OffsetAndMetadata(4))).all().get();
        tool("--describe --group readers");
        System.out.println("records that the group reads: " + read());
        tool("--reset-offsets --group readers --topic orders --to-current --execute");
        System.out.println("records that the group reads: " + read());
        Runtime.getRuntime().halt(0);
    }
}
JAVA
timeout 150 java -Xmx600m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -5 log; exit 1; }
grep '^-\|^readers\|^records' seen | sed 's/  */ /g; s/[- ]*$//' > said

diff - said <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
--describe --group readers
readers orders 0 4 10 6
records that the group reads: 26
--reset-offsets --group readers --topic orders --to-current --execute
readers orders 0 4
readers orders 1 10
readers orders 2 10
records that the group reads: 6
EXPECTED
echo "as described: partitions without a commit"
