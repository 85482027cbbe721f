#!/usr/bin/env bash
# The lag of a paused consumer stands still: records-lag is 0 while a thousand records wait, and so is currentLag() (Kafka 4.4.0).
#
# Expected: records-lag, records-lag-max and consumer.currentLag() tell how far the position is from the partition's end. A consumer
#   that pauses because its work piles up falls behind, and these grow; after a seek() they are those of the new position.
# Seen: they are written when records are handed out and by fetch responses, and a paused partition is not fetched. A consumer that
#   has read 100 of 100 records and pauses has records-lag 0 with a thousand more in the topic, as long as it is paused (5 s
#   here), though it polls all the time. After seek() to 0 the metric is still 0; currentLag(), which starts from the position, says
#   100 of 1100. An admin client has the true ones.
# Why it matters: pause() is the recommended way to slow down, and frameworks do it by themselves. Alerts and autoscalers that
#   read the client's metric see the best of all consumers while it does nothing; the lag jumps when it goes on.
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
import java.time.Duration; import java.util.*;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Finding {
    static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    static void show(String when, KafkaConsumer<String, String> consumer, Admin admin) throws Exception {
        for (int i = 0; i < 10; i++) consumer.poll(Duration.ofMillis(500));
        var lag = consumer.metrics().entrySet().stream().filter(entry -> entry.getKey().name().equals("records-lag")).findFirst();
        long end = admin.listOffsets(Map.of(ORDERS, OffsetSpec.latest())).partitionResult(ORDERS).get().offset();
        System.out.println(when + ": records-lag " + lag.get().getValue().metricValue() + ", currentLag() "
            + consumer.currentLag(ORDERS).getAsLong() + ", true " + (end - consumer.position(ORDERS)));
    }
    public static void main(String[] args) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "auto.offset.reset", "earliest");
        var admin = Admin.create(settings);
        admin.createTopics(List.of(new NewTopic("orders", 1, (short) 1))).all().get();
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        for (int number = 0; number < 100; number++) producer.send(new ProducerRecord<>("orders", "order " + number));
        producer.flush();
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.assign(List.of(ORDERS));
        show("all read", consumer, admin);
        consumer.pause(List.of(ORDERS));
        show("paused", consumer, admin);
        for (int number = 0; number < 1000; number++) producer.send(new ProducerRecord<>("orders", "order " + number));
        producer.flush();
        show("paused, 1000 more", consumer, admin);
        consumer.seek(ORDERS, 0);
        show("paused at 0", consumer, admin);
        consumer.resume(List.of(ORDERS));
        show("all read", consumer, admin);
        System.exit(0);
    }
}
JAVA
timeout 100 java -Xmx256m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -5 log broker.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
all read: records-lag 0.0, currentLag() 0, true 0
paused: records-lag 0.0, currentLag() 0, true 0
paused, 1000 more: records-lag 0.0, currentLag() 0, true 1000
paused at 0: records-lag 0.0, currentLag() 100, true 1100
all read: records-lag 0.0, currentLag() 0, true 0
EXPECTED
echo "as described: the lag of a paused consumer stands still"
