#!/usr/bin/env bash
# librdkafka's mock cluster (confluent-kafka 2.16.1) keeps 5 MB of a partition and knows no offset for any time.
#
# Expected: a test double (test.mock.num.brokers) without settings for retention keeps what it acknowledged, and answers
#   offsets_for_times with the first record at or after the time: the records carry their times.
# Seen: older batches go as soon as a partition holds more than 5 MB. Delivery reports name the offsets all the same, the low
#   watermark moves, and a consumer at offset 0 is reset "out of range". Of a time ListOffsets answers -1 (end of the
#   partition) for all times, those before the first record too.
# Why it matters: the mock is inside every client built on librdkafka, so tests of consumers rest on it, and captures of such
#   tests have these answers: lost records and "no offset for this time" are then no fault of the client.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1

env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
from confluent_kafka import Consumer, Producer, TopicPartition

producer = Producer({"bootstrap.servers": "", "test.mock.num.brokers": 1})
broker = next(iter(producer.list_topics(timeout=10).brokers.values()))
address = {"bootstrap.servers": f"{broker.host}:{broker.port}"}

acknowledged = []
for _ in range(8):
    producer.produce("large", bytes(900_000), partition=0, on_delivery=lambda error, message: acknowledged.append(message.offset()))
    producer.flush()
print("acknowledged:", *acknowledged)
consumer = Consumer(address | {"group.id": "g", "auto.offset.reset": "earliest"})
print("watermarks:", *consumer.get_watermark_offsets(TopicPartition("large", 0), timeout=10))
consumer.assign([TopicPartition("large", 0, 0)])
print("read from offset 0:", consumer.consume(1, 20)[0].offset())

for second in range(3):
    producer.produce("timed", b"v", partition=0, timestamp=(1_000 + second) * 1_000)
producer.flush()
consumer.assign([TopicPartition("timed", 0, 0)])
print("times:", *(message.timestamp()[1] for message in consumer.consume(3, 20)))
for time in 1, 1_000_500, 1_002_000, 9_000_000:
    (found,) = consumer.offsets_for_times([TopicPartition("timed", 0, time)], timeout=10)
    print(f"offset for {time}:", found.offset)
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what librdkafka's mock did when this was written"; exit 1; }
acknowledged: 0 1 2 3 4 5 6 7
watermarks: 3 8
read from offset 0: 3
times: 1000000 1001000 1002000
offset for 1: -1
offset for 1000500: -1
offset for 1002000: -1
offset for 9000000: -1
EXPECTED
echo "as described: the mock forgets, and knows no offset for a time"
