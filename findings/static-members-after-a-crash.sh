#!/usr/bin/env bash
# A static member that crashed and is started again cannot join its group by Kafka's new protocol: the consumer ends with an error.
#
# Expected: group.instance.id is there for restarts (KIP-345): a process that comes back with its name takes its own place, without a
#   rebalance. So it is with group.protocol=classic, and nothing says that group.protocol=consumer (KIP-848) is otherwise.
# Seen (Kafka 4.4.0, broker and client): a consumer is killed and started again at once. classic: it has its partitions after a moment.
#   consumer: poll() throws UnreleasedInstanceIdException ("the instance id is owned by ... member") within a second, and the consumer is
#   of no more use. So does each further start until the session of the dead one has ended (group.consumer.session.timeout.ms, 45 s
#   unless set, 6 s here). Of two that run with one name the old protocol ends the first and the new one the second. close() leaves
#   the name free; only a crash, a kill -9 or a lost host does not.
# Why it matters: a crashed pod comes back in a second or two, dies of the exception, and comes back later and later (back-off), so a
#   restart that was no event is an outage of minutes. A planned restart closes, and works: the trial before the change shows nothing.
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
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=6000
group.consumer.min.session.timeout.ms=6000
group.consumer.session.timeout.ms=6000
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > Finding.java <<'JAVA'
import java.time.Duration; import java.util.*;
import org.apache.kafka.clients.admin.*; import org.apache.kafka.clients.consumer.*; import org.apache.kafka.common.serialization.*;
public class Finding { // consumes until it has partitions, and then ends without a word to the broker, or by close()
    public static void main(String[] args) throws Exception {
        var settings = new HashMap<String, Object>(Map.of("bootstrap.servers", args[0], "group.protocol", args[1], "group.id", args[1]));
        settings.put("group.instance.id", "pod-0");
        if (args[1].equals("classic")) settings.put("session.timeout.ms", 6000);
        try (var admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
            if (args[2].equals("first")) admin.createTopics(List.of(new NewTopic(args[1], 2, (short) 1))).all().get();
        }
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(args[1]));
        String end = "no partition";
        try {
            for (int i = 0; i < 100 && consumer.assignment().isEmpty(); i++) consumer.poll(Duration.ofMillis(100));
            if (!consumer.assignment().isEmpty()) end = consumer.assignment().size() + " partitions";
        } catch (RuntimeException error) { end = error.getClass().getSimpleName(); }
        System.out.println(args[1] + ", " + args[2] + " start: " + end);
        if (args[2].startsWith("last")) consumer.close();
        Runtime.getRuntime().halt(0);
    }
}
JAVA
javac -cp 'jars/*' Finding.java
run() { timeout 60 java -Xmx128m -XX:TieredStopAtLevel=1 -cp 'jars/*:.' Finding "127.0.0.1:$port" "$@" 2>>log; }
for protocol in classic consumer; do
  run $protocol first
  run $protocol second
  [ $protocol = classic ] || run $protocol third
  sleep 9
  run $protocol "last but one"
  run $protocol "last, after close(),"
done > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kafka 4.4.0 did when this was written"; exit 1; }
classic, first start: 2 partitions
classic, second start: 2 partitions
classic, last but one start: 2 partitions
classic, last, after close(), start: 2 partitions
consumer, first start: 2 partitions
consumer, second start: UnreleasedInstanceIdException
consumer, third start: UnreleasedInstanceIdException
consumer, last but one start: 2 partitions
consumer, last, after close(), start: 2 partitions
EXPECTED
echo "as described: a crashed static member has to wait"
