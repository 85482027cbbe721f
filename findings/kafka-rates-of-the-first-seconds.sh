#!/usr/bin/env bash
# Kafka's rates of a new topic or client: the broker's is 180 times too high for minutes, the client's 30 times too low.
#
# Expected: FifteenMinuteRate is the average of a quarter of an hour, and 1000 messages in an hour's first second, then none, are
#   1.1 a second in it. A client's record-send-rate is what it sends in a second, and both say the same of the same messages.
# Seen, broker and client 4.4.0, 1000 messages in the first moments of a topic:
#   broker: the three rates of a new meter begin with what its first 5 s saw, so OneMinuteRate, FiveMinuteRate and FifteenMinuteRate
#     are all 200. A minute later, with nothing sent, FifteenMinuteRate is still above 180: it falls to 1.1 after 78 minutes.
#   client: the rate is over 30 s at least, also where the client is a second old: about 30 a second at the moment when 1000
#     were sent in less than one. A process that lives for some seconds never shows its true rate.
# Why it matters: topics' meters are made anew with each topic and each start of a broker, so after a restart with its rush of
#   clients a "15 minute average" shows the rush for an hour; a short job's rate looks like a trickle. Counters are right in both.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
cat > Finding.java <<'JAVA'
import java.lang.management.ManagementFactory; import java.util.*; import javax.management.ObjectName;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.StringSerializer;

public class Finding {
    static double meter(String attribute) throws Exception {
        var name = new ObjectName("kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=orders");
        return ((Number) ManagementFactory.getPlatformMBeanServer().getAttribute(name, attribute)).doubleValue();
    }

    static double metric(Producer<String, String> producer, String name) {
        return producer.metrics().entrySet().stream()
            .filter(entry -> entry.getKey().name().equals(name) && entry.getKey().group().equals("producer-metrics"))
            .mapToDouble(entry -> (Double) entry.getValue().metricValue()).findFirst().getAsDouble();
    }

    public static void main(String[] args) throws Exception {
        var broker = new Thread(() -> kafka.Kafka.main(new String[] {"server.properties"}));  // in this process, for its meters
        broker.setDaemon(true);
        broker.start();
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0]);
        var admin = Admin.create(settings);
        admin.createTopics(List.of(new NewTopic("orders", 1, (short) 1), new NewTopic("first", 1, (short) 1))).all().get();
        var warm = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        warm.send(new ProducerRecord<>("first", "order")).get();  // classes are loaded, connections made
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.partitionsFor("orders");
        long begun = System.nanoTime();
        for (int number = 0; number < 1000; number++) producer.send(new ProducerRecord<>("orders", "order " + number));
        producer.flush();
        double seconds = (System.nanoTime() - begun) / 1e9, rate = metric(producer, "record-send-rate");
        System.out.println("client: " + metric(producer, "record-send-total") + " sent, faster than 200 a second: "
            + (1000 / seconds > 200) + ", record-send-rate from 28 to 34: " + (rate > 28 && rate < 34));
        System.err.println(seconds + " s, record-send-rate " + rate);
        while (meter("OneMinuteRate") == 0) Thread.sleep(100);
        System.out.printf("broker: %.0f messages, rates of 1, 5 and 15 minutes %.0f %.0f %.0f%n", meter("Count"),
            meter("OneMinuteRate"), meter("FiveMinuteRate"), meter("FifteenMinuteRate"));
        Thread.sleep(60_000);
        System.out.printf("a minute later: %.0f messages, 15 minutes above 180: %s%n", meter("Count"),
            meter("FifteenMinuteRate") > 180);
        Runtime.getRuntime().halt(0);
    }
}
JAVA
timeout 200 java -Xmx600m -cp 'jars/*' Finding.java "127.0.0.1:$port" > seen 2> log || { tail -5 log; exit 1; }
grep '^[a-z]*:\|^a minute' seen > said || true

diff - said <<'EXPECTED' || { tail -3 log; echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
client: 1000.0 sent, faster than 200 a second: true, record-send-rate from 28 to 34: true
broker: 1000 messages, rates of 1, 5 and 15 minutes 200 200 200
a minute later: 1000 messages, 15 minutes above 180: true
EXPECTED
echo "as described: rates of the first seconds"
