#!/usr/bin/env bash
# Kafka's broker metrics named requests per second count partitions: one Produce request for twelve partitions is twelve.
#
# Expected: TotalProduceRequestsPerSec and TotalFetchRequestsPerSec (kafka.server, BrokerTopicMetrics) are the broker's numbers of
#   such requests, as RequestsPerSec of kafka.network is; its ErrorsPerSec with error=NONE counts the answers without an error.
# Seen (Kafka 4.4.0, JMX): a producer sends one request for twelve partitions. RequestsPerSec is 1, and TotalProduceRequestsPerSec is
#   12. ErrorsPerSec with NONE is 12 as well: it counts each partition's code. Of ten Fetch requests of an idle consumer, which after
#   the first name no partition at all (fetch sessions), TotalFetchRequestsPerSec makes 120, and ErrorsPerSec about 22: here the code
#   of the answer counts as well as those of the partitions that are in it.
# Why it matters: "requests" of a dashboard is a multiple of what a capture, a quota or the network threads see, and the factor is
#   the number of partitions, so a topic with more partitions looks like more load. The share of errors is wrong in another way for
#   each API: one partition of 100 that fails is 1 % of Produce, where each request is hurt.
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
    static long count(String name) throws Exception {
        long sum = 0;
        for (ObjectName bean : broker.queryNames(new ObjectName(name), null)) sum += (Long) broker.getAttribute(bean, "Count");
        return sum;
    }
    static long[] counts(String api) throws Exception {
        return new long[] {count("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=" + api + ",version=*"),
            count("kafka.server:type=BrokerTopicMetrics,name=Total" + api + "RequestsPerSec"),
            count("kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=" + api + ",error=NONE")};
    }
    public static void main(String[] args) throws Exception {
        var service = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + args[1] + "/jmxrmi");
        broker = JMXConnectorFactory.connect(service).getMBeanServerConnection();
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "linger.ms", 1000, "auto.offset.reset", "latest");
        Admin.create(settings).createTopics(List.of(new NewTopic("orders", 12, (short) 1))).all().get();
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.partitionsFor("orders");
        for (int partition = 0; partition < 12; partition++) producer.send(new ProducerRecord<>("orders", partition, null, "order"));
        producer.flush();
        Thread.sleep(1000); // a request is counted when its answer is out
        System.out.println("Produce: requests, total requests, answers without an error " + Arrays.toString(counts("Produce")));
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.assign(IntStream.range(0, 12).mapToObj(partition -> new TopicPartition("orders", partition)).toList());
        consumer.poll(Duration.ofMillis(5000));
        Thread.sleep(1000);
        long[] fetch = counts("Fetch");
        System.out.println("Fetch: total is 12 for each request " + (fetch[0] >= 8 && fetch[1] == 12 * fetch[0])
            + ", answers " + (fetch[2] == fetch[0] + 12 ? "one for each and 12" : Arrays.toString(fetch)));
        System.exit(0);
    }
}
JAVA
timeout 100 java -Xmx256m -cp 'jars/*' Finding.java "127.0.0.1:$port" "$jmx" > seen 2> log || { tail -5 log broker.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
Produce: requests, total requests, answers without an error [1, 12, 12]
Fetch: total is 12 for each request true, answers one for each and 12
EXPECTED
echo "as described: counters of requests count partitions"
