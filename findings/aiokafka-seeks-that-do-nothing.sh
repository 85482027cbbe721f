#!/usr/bin/env bash
# aiokafka: seek_to_beginning() right after end_offsets() leaves the consumer at the end, says True, and no record is read.
#
# Expected: await consumer.seek_to_beginning(partition) returns True once the position is the beginning. A question before it, such as
#   where the partition ends, changes no position.
# Seen (aiokafka 0.14.0, Kafka 4.4.0, ten records, a consumer with assign()): the first position of a partition is looked up in the
#   background by auto_offset_reset. While that answer is on its way, which is mostly so when one await of end_offsets() or
#   beginning_offsets() has returned, a seek_to_beginning() is overwritten by it: with "latest", the default, the position is 10 and none
#   of ten records is read, in 15 or more of 20 tries; with "earliest" a seek_to_end() gives position 0 and all ten. True is returned
#   each time. Without the question both do what they say.
# Why it matters: "read all there is, up to the end as it is now" is written in just these three lines, assign, end_offsets and
#   seek_to_beginning, and reads nothing, without an error; a tail that wants new records only handles the whole topic again.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
for tool in mvn java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install aiokafka==0.14.0
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
java -Xmx512m -cp 'jars/*' kafka.Kafka server.properties > broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (: < "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 1; done
cat > finding.py <<'PY'
import asyncio, sys
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

ORDERS = TopicPartition("orders", 0)
async def lost(reset, question, seek):
    """Whether the position is another one than that which was sought, and the records read of it."""
    consumer = AIOKafkaConsumer(bootstrap_servers=sys.argv[1], auto_offset_reset=reset)
    await consumer.start()
    consumer.assign([ORDERS])
    if question:
        await getattr(consumer, question)([ORDERS])
    assert await getattr(consumer, seek)(ORDERS) is True
    wrong = await consumer.position(ORDERS) != (0 if seek == "seek_to_beginning" else 10)
    records = sum(map(len, (await consumer.getmany(timeout_ms=1000)).values())) if wrong else None
    await consumer.stop()
    return records


async def main():
    admin = AIOKafkaAdminClient(bootstrap_servers=sys.argv[1])
    await admin.start()
    await admin.create_topics([NewTopic("orders", 1, 1)])
    await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for number in range(10):
            await producer.send_and_wait("orders", b"order %d" % number)
    for reset, seek in ("latest", "seek_to_beginning"), ("earliest", "seek_to_end"):
        for question in None, "end_offsets", "beginning_offsets":
            tries = [await lost(reset, question, seek) for _ in range(20)]
            wrong = [records for records in tries if records is not None]
            print(f"{reset}, {question}, {seek}: 5 of 20 or more do nothing {len(wrong) >= 5}, none {not wrong}, then records read", set(wrong))
            print(len(wrong), file=sys.stderr)


asyncio.run(main())
PY
timeout 100 env/bin/python finding.py "127.0.0.1:$port" > seen 2> log || { tail -n 5 log; exit 1; }
cat log >&2

diff - seen <<'EXPECTED' || { echo "CHANGED: not what aiokafka 0.14.0 did when this was written"; exit 1; }
latest, None, seek_to_beginning: 5 of 20 or more do nothing False, none True, then records read set()
latest, end_offsets, seek_to_beginning: 5 of 20 or more do nothing True, none False, then records read {0}
latest, beginning_offsets, seek_to_beginning: 5 of 20 or more do nothing True, none False, then records read {0}
earliest, None, seek_to_end: 5 of 20 or more do nothing False, none True, then records read set()
earliest, end_offsets, seek_to_end: 5 of 20 or more do nothing True, none False, then records read {10}
earliest, beginning_offsets, seek_to_end: 5 of 20 or more do nothing True, none False, then records read {10}
EXPECTED
echo "as described: a question before it undoes a seek"
