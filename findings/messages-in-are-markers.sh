#!/usr/bin/env bash
# A hundred messages in a hundred transactions are 200 messages to their topic's MessagesInPerSec, and 500 to the broker's.
#
# Expected: MessagesInPerSec (kafka.server, BrokerTopicMetrics; "message in rate" by topic and for all topics) counts what producers
#   send. A consumer reads as many records from the topic.
# Seen (Kafka 4.4.0, JMX): markers of commits and aborts, which no consumer is given, are counted as messages of the topic. The rate
#   without a topic counts, as well, the records of __transaction_state (three for each transaction) and of __consumer_offsets (one
#   for each commit of a partition). A hundred plain messages are 100 in both; in a hundred transactions, half of them aborted, 200
#   and 500; a hundred commits of a consumer that reads nothing are 100 messages in. BytesInPerSec counts them too.
# Why it matters: "messages in" beside "records consumed" is how lost or doubled records are looked for, and what capacity is planned
#   by. A topic that becomes transactional doubles without one more message, the more the smaller its transactions are, and the
#   broker's total is five times what its topics were sent.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > pom.xml <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency></dependencies></project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars >mvn.log
read -r port control < <(python3 -c 'import socket
a, b = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$control" "log.dirs=$work/data" \
  "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control" controller.listener.names=CONTROLLER \
  offsets.topic.replication.factor=1 transaction.state.log.replication.factor=1 transaction.state.log.min.isr=1 > server.properties
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
cat > Finding.java <<'JAVA'
import java.lang.management.ManagementFactory; import java.util.*; import javax.management.ObjectName;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Finding {
    static String server;
    static long count(String topic) throws Exception {
        var name = new ObjectName("kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec" + topic);
        var beans = ManagementFactory.getPlatformMBeanServer();
        return beans.isRegistered(name) ? (Long) beans.getAttribute(name, "Count") : 0;
    }
    interface Work { void run() throws Exception; }
    static void told(String what, String topic, Work work) throws Exception {
        long all = count(""), own = count(",topic=" + topic);
        work.run();
        Thread.sleep(2000);
        System.out.println(what + ": topic " + (count(",topic=" + topic) - own) + ", all " + (count("") - all));
    }
    static KafkaProducer<String, String> producer(String setting, String value) {
        return new KafkaProducer<>(Map.of("bootstrap.servers", server, setting, value), new StringSerializer(), new StringSerializer());
    }
    public static void main(String[] args) throws Exception {
        var broker = new Thread(() -> kafka.Kafka.main(new String[] {"server.properties"}));
        broker.setDaemon(true);
        broker.start();
        server = args[0];
        var topics = List.of(new NewTopic("plain", 1, (short) 1), new NewTopic("paid", 1, (short) 1));
        Admin.create(Map.of("bootstrap.servers", server)).createTopics(topics).all().get();
        var sender = producer("client.id", "finding");
        told("100 plain messages", "plain", () -> {
            for (int i = 0; i < 100; i++) sender.send(new ProducerRecord<>("plain", "order " + i)).get();
        });
        var producer = producer("transactional.id", "finding");
        producer.initTransactions();
        told("100 messages in 100 transactions", "paid", () -> {
            for (int i = 0; i < 100; i++) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("paid", "order " + i)).get();
                if (i % 2 == 0) producer.commitTransaction(); else producer.abortTransaction();
            }
        });
        Map<String, Object> settings = Map.of("bootstrap.servers", server, "group.id", "finding");
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        var plain = new TopicPartition("plain", 0);
        consumer.commitSync(Map.of(plain, new OffsetAndMetadata(0)));
        told("100 commits of a consumer", "plain", () -> {
            for (int i = 0; i < 100; i++) consumer.commitSync(Map.of(plain, new OffsetAndMetadata(0)));
        });
        Runtime.getRuntime().halt(0);
    }
}
JAVA
timeout 150 java -Xmx600m -cp 'jars/*' Finding.java "127.0.0.1:$port" > all 2> log || { tail -5 log; exit 1; }
grep '^100 ' all > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
100 plain messages: topic 100, all 100
100 messages in 100 transactions: topic 200, all 500
100 commits of a consumer: topic 0, all 100
EXPECTED
echo "as described: messages in that nobody sent"
