#!/usr/bin/env bash
# The size of a broker's purgatory (Kafka 4.4.0) counts requests that ended long ago, once for each of their partitions.
#
# Expected: PurgatorySize of DelayedOperationPurgatory is the number of requests that wait. The documentation's table of metrics says
#   so, "requests waiting in the fetch purgatory", and that the size depends on the consumers' fetch.max.wait.ms.
# Seen (JMX): one consumer of twelve partitions polls for 5 s, ten requests of 500 ms one after the other. Five seconds after it has
#   gone the size is 120: each request was entered under each of its partitions, and those that ended by time stay in these lists until
#   1000 requests have gathered (fetch.purgatory.purge.interval.requests) or something is written to the partition. Then one record, to
#   one of the partitions, takes away what stands there, ten. NumDelayedOperations beside it is 0: that is the number of requests that
#   wait.
# Why it matters: on an idle broker the graph is a saw tooth whose height is the number of partitions times the idle consumers, which
#   looks like requests that pile up. With 1000 partitions a single consumer writes half a million into it.
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
read -r port control jmx < <(python3 -c 'import socket
servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(server.getsockname()[1] for server in servers))')
cat > server.properties <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$control
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control
controller.listener.names=CONTROLLER
log.dirs=$work/data
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
remote=com.sun.management.jmxremote
java -Xmx512m -D$remote.port="$jmx" -D$remote.rmi.port="$jmx" -D$remote.authenticate=false -D$remote.ssl=false \
  -D$remote.host=127.0.0.1 -Djava.rmi.server.hostname=127.0.0.1 -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > Finding.java <<'JAVA'
import java.time.Duration; import java.util.*; import java.util.stream.*; import javax.management.*; import javax.management.remote.*;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*; import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition; import org.apache.kafka.common.serialization.*;
public class Finding {
    static MBeanServerConnection broker;
    static Object value(String name) throws Exception {
        return broker.getAttribute(new ObjectName("kafka.server:type=DelayedOperationPurgatory,name=" + name + ",delayedOperation=Fetch"), "Value");
    }
    static void show(String when) throws Exception {
        System.out.println(when + ": PurgatorySize " + value("PurgatorySize") + ", NumDelayedOperations " + value("NumDelayedOperations"));
    }
    public static void main(String[] args) throws Exception {
        var service = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + args[1] + "/jmxrmi");
        broker = JMXConnectorFactory.connect(service).getMBeanServerConnection();
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "linger.ms", 1000, "auto.offset.reset", "latest");
        Admin.create(settings).createTopics(List.of(new NewTopic("orders", 12, (short) 1))).all().get();
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.partitionsFor("orders");
        show("before");
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.assign(IntStream.range(0, 12).mapToObj(partition -> new TopicPartition("orders", partition)).toList());
        consumer.poll(Duration.ofMillis(5250));
        consumer.close();
        Thread.sleep(5000);
        int size = (Integer) value("PurgatorySize");
        System.out.println("nobody waits: requests of the past " + (size >= 8 * 12 && size <= 14 * 12)
            + ", NumDelayedOperations " + value("NumDelayedOperations"));
        producer.send(new ProducerRecord<>("orders", 3, null, "order")).get();
        System.out.println("one partition written: a twelfth of them less " + ((Integer) value("PurgatorySize") == size - size / 12));
        System.exit(0);
    }
}
JAVA
timeout 100 java -Xmx256m -cp 'jars/*' Finding.java "127.0.0.1:$port" "$jmx" > seen 2> log || { tail -5 log broker.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
before: PurgatorySize 0, NumDelayedOperations 0
nobody waits: requests of the past true, NumDelayedOperations 0
one partition written: a twelfth of them less true
EXPECTED
echo "as described: requests that have ended are in the purgatory"
