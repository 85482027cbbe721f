#!/usr/bin/env bash
# @platformatic/kafka 1.35.0 puts keys where Java's producer puts them if the number of partitions is a power of two, else half.
#
# Expected: the client hashes keys with murmur2, as Java does (its source names Java's), so records of one key meet in one
#   partition, whichever of the two wrote them.
# Seen: Java drops the sign bit of the hash before it takes the remainder; this client reads all 32 bits as a number without
#   sign. The two differ by 2^31 for half of the keys. That is a multiple of 1, 2, 4, 8 and so on: all keys agree. With 3, 6, 12
#   or 50 partitions half of the keys go elsewhere. compatibilityPartitioner, which has to be asked for, agrees always.
# Why it matters: a test topic with 1, 2 or 4 partitions shows that both agree; the topic with 6 or 12 has keys in two partitions,
#   so order by key is lost, and joins of Kafka Streams find half of their partners. Adding partitions is when it begins.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
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
npm init -y >npm.log && npm install --silent --no-fund @platformatic/kafka@1.35.0 >>npm.log 2>&1
cat > Keys.java <<'JAVA'
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;  // what Java's producer asks
public class Keys {
    public static void main(String[] arguments) {
        for (int count : new int[] {1, 3, 4, 6, 8, 12}) {
            System.out.print(count);
            for (int n = 0; n < 200; n++) System.out.print(" " + BuiltInPartitioner.partitionForKey(("order-" + n).getBytes(), count));
            System.out.println();
        }
    }
}
JAVA
cat > keys.mjs <<'JS'
import { readFileSync } from "node:fs";
import { Admin, compatibilityPartitioner, Producer, stringSerializers } from "@platformatic/kafka";
const common = { clientId: "p", bootstrapBrokers: [process.argv[2]], serializers: stringSerializers };
const producers = [new Producer(common), new Producer({ ...common, partitioner: compatibilityPartitioner })];
const admin = new Admin(common);
for (const line of readFileSync("java", "utf8").trim().split("\n")) {
  const [count, ...partitions] = line.split(" ").map(Number);
  await admin.createTopics({ topics: [`of-${count}`], partitions: count, replicas: 1 });
  const agree = [0, 0];
  const send = (producer, n) => producer.send({ messages: [{ topic: `of-${count}`, key: `order-${n}`, value: "node" }], acks: 1 });
  for (const [which, producer] of producers.entries()) {
    const sent = await Promise.all(partitions.map((_, n) => send(producer, n)));
    agree[which] = sent.filter(({ offsets }, n) => offsets[0].partition === partitions[n]).length;
  }
  console.log(`${count} partitions: of 200 keys ${agree[0]} as Java; with compatibilityPartitioner ${agree[1]}`);
}
process.exit(0);
JS
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
java -cp 'jars/*' Keys.java >java
timeout 180 node keys.mjs "127.0.0.1:$port" > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
1 partitions: of 200 keys 200 as Java; with compatibilityPartitioner 200
3 partitions: of 200 keys 99 as Java; with compatibilityPartitioner 200
4 partitions: of 200 keys 200 as Java; with compatibilityPartitioner 200
6 partitions: of 200 keys 99 as Java; with compatibilityPartitioner 200
8 partitions: of 200 keys 200 as Java; with compatibilityPartitioner 200
12 partitions: of 200 keys 99 as Java; with compatibilityPartitioner 200
EXPECTED
echo "as described: half of the keys go elsewhere unless the number of partitions is a power of two"
