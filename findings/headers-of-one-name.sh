#!/usr/bin/env bash
# Of two headers of one name rskafka and @platformatic/kafka (headers as text) keep the last, and kafkajs reorders all.
#
# Expected: headers are a list: names may repeat, order is kept (KIP-82), also where a program sends a message on with them.
# Seen: rskafka 0.6.0 reads headers into a BTreeMap: one value a name, in the order of the names. @platformatic/kafka 1.35.0 gives
#   a Map: with stringDeserializers it has the last value in the first one's place. kafkajs 2.2.4 makes an object: values of one
#   name are a list, names that are whole numbers come first, as JavaScript has it. librdkafka shows what their copies hold.
# Why it matters: retries, proxies and OpenTelemetry add a header under a name that is there (who failed first, who second).
#   Behind such a copy the first cause is gone, and a signature over the headers no longer fits.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in cargo node npm mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
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
CONF
java -cp 'jars/*' kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c server.properties >format.log 2>&1
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties >broker.log 2>&1 & broker=$!
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
npm init -y >npm.log && npm install --no-audit --no-fund kafkajs@2.2.4 @platformatic/kafka@1.35.0 >>npm.log 2>&1
{ cargo init -q --name finding; cargo add -q rskafka@=0.6.0; cargo add -q tokio@1 -F rt-multi-thread,macros; } 2>cargo.log
cat > src/main.rs <<'RUST'
use rskafka::client::{partition::{Compression, UnknownTopicHandling::Retry}, ClientBuilder};
#[tokio::main]
async fn main() {
    let client = ClientBuilder::new(vec![std::env::args().nth(1).unwrap()]).build().await.unwrap();
    let (source, copy) = (client.partition_client("source", 0, Retry), client.partition_client("rskafka", 0, Retry));
    let (records, _) = source.await.unwrap().fetch_records(0, 1..1_000_000, 1_000).await.unwrap();
    let records = records.into_iter().map(|one| one.record).collect();
    copy.await.unwrap().produce(records, Compression::NoCompression).await.unwrap();
}
RUST
cat > copy.mjs <<'JS'
import { Consumer, MessagesStreamModes, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import kafkajs from 'kafkajs'
const brokers = [process.argv[2]], client = { clientId: 'c', bootstrapBrokers: brokers }
const reader = new Consumer({ ...client, groupId: 'p', deserializers: stringDeserializers })
const writer = new Producer({ ...client, serializers: stringSerializers })
for await (const { value, headers } of await reader.consume({ topics: ['source'], mode: MessagesStreamModes.EARLIEST })) {
  await writer.send({ messages: [{ topic: 'platformatic', value, headers }] })
  break
}
const kafka = new kafkajs.Kafka({ brokers, logLevel: 0 })
const consumer = kafka.consumer({ groupId: 'k' }), producer = kafka.producer()
await Promise.all([consumer.connect(), producer.connect()])
await consumer.subscribe({ topic: 'source', fromBeginning: true })
const send = ({ value, headers }) => producer.send({ topic: 'kafkajs', messages: [{ value, headers }] })
consumer.run({ eachMessage: async ({ message }) => { await send(message); process.exit(0) } })
JS
cargo build -q 2>>cargo.log
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
env/bin/python - "127.0.0.1:$port" > seen 2> log <<'PY' || { cat log; exit 1; }
import subprocess, sys
from confluent_kafka import Consumer, Producer, TopicPartition, admin
address, topics = {"bootstrap.servers": sys.argv[1], "group.id": "g"}, ["source", "rskafka", "platformatic", "kafkajs"]
brokers, producer = admin.AdminClient(address), Producer(address)
for made in brokers.create_topics([admin.NewTopic(name, 1, 1) for name in topics]).values(): made.result(20)
producer.produce("source", b"v", headers=[("from", b"a"), ("7", b"n"), ("cause", b"c"), ("from", b"b")])
producer.flush()
for command in ["target/debug/finding"], ["node", "copy.mjs"]: subprocess.run([*command, sys.argv[1]], check=True, timeout=60)
for name in topics:
    consumer = Consumer(address)
    consumer.assign([TopicPartition(name, 0, 0)])
    print(name, *(f"{key}={value.decode()}" for key, value in consumer.consume(1, 20)[0].headers()))
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
source from=a 7=n cause=c from=b
rskafka 7=n cause=c from=b
platformatic from=b 7=n cause=c
kafkajs 7=n from=a from=b cause=c
EXPECTED
echo "as described: headers of one name are fewer behind a copy"
