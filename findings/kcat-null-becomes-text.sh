#!/usr/bin/env bash
# kcat 1.7.1: a topic copied by `kcat -C -Z | kcat -P -Z` has the four letters NULL where there were tombstones.
#
# Expected: -Z is the switch for null at the consumer and at the producer, so with it at both ends of a pipe tombstones arrive as
#   tombstones.
# Seen: the consumer writes the text NULL, which the producer sends as a value of four bytes. It writes NULL for an empty value
#   as well, so the text stands for three different values. -Z at the producer alone makes null and the empty value null, none
#   at all makes both empty: no choice copies a topic that has both. Keys go the same way. -J tells null from "" (no reader of
#   it is built in), and so does %S in -f: -1 for null, 0 for empty.
# Why it matters: keys that were deleted come back on the copy with the value NULL, on a compacted topic for good, and readers
#   get a text that is not JSON. Counting tombstones by grep NULL counts empty values and that text too.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in kcat python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install confluent-kafka==2.16.1
timeout 120 env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import subprocess
from confluent_kafka import Consumer, Producer, TopicPartition

cluster = Producer({"test.mock.num.brokers": 1, "log_level": 3})  # a cluster inside of this process
(broker,) = cluster.list_topics(timeout=20).brokers.values()
address = f"{broker.host}:{broker.port}"

def records(topic):
    consumer = Consumer({"bootstrap.servers": address, "group.id": "g", "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, 0)])
    read = [(message.key(), message.value()) for message in consumer.consume(5, 20)]
    consumer.close()
    return read

def kcat(arguments, given=b""):
    command = ["kcat", "-q", "-b", address, "-X", "log_level=3", "-p", "0", *arguments.split()]
    return subprocess.run(command, input=given, capture_output=True, check=True, timeout=60).stdout

for key, value in (b"null", None), (b"empty", b""), (b"text", b"NULL"), (None, b"v"), (b"", b"v"):
    cluster.produce("source", value, key, partition=0)
    cluster.flush()
print("source:", records("source"))
read = "-C -t source -o beginning -e -K:"
for number, (reading, writing) in enumerate((("-Z", "-Z"), ("", "-Z"), ("", ""))):
    kcat(f"-P -t copy{number} -K: {writing}", kcat(f"{read} {reading}"))
    print(f"-C {reading} | -P {writing}:", records(f"copy{number}"))
print(kcat("-C -t source -o beginning -e -Z -f %s/%S:%k/%K;").decode())
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what kcat 1.7.1 did when this was written"; exit 1; }
source: [(b'null', None), (b'empty', b''), (b'text', b'NULL'), (None, b'v'), (b'', b'v')]
-C -Z | -P -Z: [(b'null', b'NULL'), (b'empty', b'NULL'), (b'text', b'NULL'), (b'NULL', b'v'), (b'NULL', b'v')]
-C  | -P -Z: [(b'null', None), (b'empty', None), (b'text', b'NULL'), (None, b'v'), (None, b'v')]
-C  | -P : [(b'null', b''), (b'empty', b''), (b'text', b'NULL'), (b'', b'v'), (b'', b'v')]
NULL/-1:null/4;NULL/0:empty/5;NULL/4:text/4;v/1:NULL/-1;v/1:NULL/0;
EXPECTED
echo "as described: tombstones come out as text"
