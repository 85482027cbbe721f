#!/usr/bin/env bash
# tshark 4.0.17 shows the times of a Kafka record batch as minutes after 1970, with a negative fraction; its records' are right.
#
# Expected: kafka.batch_first_timestamp and kafka.batch_last_timestamp are the batch's baseTimestamp and maxTimestamp, as
#   kafka.message_timestamp is that of a record: milliseconds since 1970.
# Seen: the 64-bit number is read as 32 bits of seconds and 32 bits of nanoseconds. All batches of these years lie some seven
#   minutes after midnight of 1 January 1970, and half of them have a fraction of more than a second below zero, printed as "-"
#   and digits. A display filter that asks for these fields after 1971 finds nothing. The records' own times, with their deltas,
#   are right.
# Why it matters: a batch's time beside its packet's time tells how late a record is, and which of two batches is the older. A
#   filter for the batches of yesterday finds none and says nothing, and the oddest of the values look like a broken producer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v tshark >/dev/null || { echo "needs tshark"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install kafka-python==3.0.12 dpkt==1.9.8
env/bin/python - <<'PY'
import struct
import dpkt
from kafka.record.default_records import DefaultRecordBatchBuilder

def produce(first, last):
    """A Produce request, version 3, of one batch with two records."""
    batch = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 16)
    for offset, time in enumerate((first, last)): batch.append(offset, time, b"k", b"v", [])
    records = bytes(batch.build())
    text = struct.Struct(">h5s").pack(5, b"topic")
    body = struct.pack(">hhihhhii", 0, 3, 1, -1, -1, 1, 1000, 1) + text + struct.pack(">iii", 1, 0, len(records)) + records
    return struct.pack(">i", len(body)) + body

with open("batches.pcap", "wb") as file:
    writer, sequence = dpkt.pcap.Writer(file), 1
    for first, last in (1_795_827_358_123, 1_795_827_358_125), (1_793_827_358_123, 1_793_827_360_123):
        data = produce(first, last)
        tcp = dpkt.tcp.TCP(sport=40000, dport=9092, seq=sequence, ack=1, flags=24, data=data)
        sequence += len(data)
        ip = dpkt.ip.IP(src=b"\x0a\0\0\1", dst=b"\x0a\0\0\2", p=6, data=tcp)
        ip.len = len(ip)
        writer.writepkt(bytes(dpkt.ethernet.Ethernet(src=bytes(6), dst=bytes(6), data=ip)), ts=last / 1000)
PY
read_fields() { tshark -r batches.pcap "$@" 2>/dev/null; }
{ for field in batch_first_timestamp batch_last_timestamp message_timestamp; do
    echo "$field"; TZ=UTC read_fields -T fields -e kafka.$field
    echo "later than 1971: $(read_fields -Y "kafka.$field > \"1971-01-01\"" | wc -l) of 2"
  done; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what tshark 4.0.17 did when this was written"; exit 1; }
batch_first_timestamp
Jan  1, 1970 00:06:58.531028395 UTC
Jan  1, 1970 00:06:57.-1468971605 UTC
later than 1971: 0 of 2
batch_last_timestamp
Jan  1, 1970 00:06:58.531028397 UTC
Jan  1, 1970 00:06:57.-1468969605 UTC
later than 1971: 0 of 2
message_timestamp
Nov 28, 2026 00:55:58.123000000 UTC,Nov 28, 2026 00:55:58.125000000 UTC
Nov  4, 2026 21:22:38.123000000 UTC,Nov  4, 2026 21:22:40.123000000 UTC
later than 1971: 2 of 2
EXPECTED
echo "as described: batches of 1970 with records of today"
