#!/usr/bin/env bash
# tshark 4.0.17 loses the beginning of a Kafka batch in zstd that is larger than 128 KB unpacked, and shows pieces of records as
#   records.
#
# Expected: the dissector unpacks batches, so a batch of 1500 records has 1500 keys and values in zstd as it has in gzip, snappy and
#   lz4. What cannot be unpacked is left as it is, with a warning.
# Seen (one Produce request, records of some 100 bytes, aiokafka's own batches): 1000 records, 102 KB, are right in all codecs. Of
#   1500 records in zstd the first 209 are gone; in their place stand keys and values that begin and end in the middle of others,
#   and the records behind them are right. Of 5000 the last 1289 are left. It looks as if each further 128 KB were unpacked to where
#   the first had been. Some warnings "Invalid record length field" stand among the rows, none on the batch. gzip, snappy and lz4
#   have all.
# Why it matters: librdkafka fills batches up to 1 MB unless told otherwise, and zstd is the codec for large ones. A count of
#   records by key, a search for one order, offsets of what was sent: all say "was never sent" of the first part of each batch. The
#   capture is complete, and small batches, those of a test, are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v tshark >/dev/null || { echo "needs tshark"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install aiokafka==0.14.0 cramjam==2.14.0 dpkt==1.9.8
cat > finding.py <<'PY'
import struct
import subprocess

import dpkt
from aiokafka.record.default_records import DefaultRecordBatchBuilder

def value(number):
    return b'{"order":%d,"customer":"c%d","amount":%d.%02d,"state":"paid","note":"","tenant":"a"}' % (number, number * 7919 % 1000, number * 31 % 500, number * 17 % 100)

def batch(codec, count):
    builder = DefaultRecordBatchBuilder(magic=2, compression_type=codec, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=-1, batch_size=2**24)
    for number in range(count):
        builder.append(number, 1_795_000_000_000 + number, b"k%d" % number, value(number), [])
    return bytes(builder.build())

def produce(records):
    body = struct.pack("!hhihc", 0, 7, 1, 1, b"c") + struct.pack("!hhiih", -1, 1, 1000, 1, 6) + b"orders" + struct.pack("!iii", 1, 0, len(records)) + records
    return struct.pack("!i", len(body)) + body

def write(name, message):
    with open(name, "wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=101)
        for start in range(0, len(message), 1400):
            tcp = dpkt.tcp.TCP(sport=40000, dport=9092, seq=1 + start, ack=1, flags=dpkt.tcp.TH_ACK, data=message[start : start + 1400])
            writer.writepkt(bytes(dpkt.ip.IP(src=b"\x0a\0\0\1", dst=b"\x0a\0\0\2", p=6, len=40 + len(tcp.data), data=tcp)), 1_795_000_000 + start / 1e8)

for codec, name in (1, "gzip"), (2, "snappy"), (3, "lz4"), (4, "zstd"):
    for count in 1000, 1500, 5000:
        write("t.pcap", produce(batch(codec, count)))
        command = ["tshark", "-r", "t.pcap", "-d", "tcp.port==9092,kafka", "-T", "fields", "-E", "aggregator=|", "-e", "kafka.message_key", "-e", "kafka.message_value"]
        keys, values = set(), set()
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
            shown = [{bytes.fromhex(cell) if all(sign in "0123456789abcdef" for sign in cell) and len(cell) % 2 == 0 else cell.encode() for cell in column.split("|") if cell} for column in line.split("\t")]
            keys |= shown[0]
            values |= shown[1]
        sent = {b"k%d" % number: value(number) for number in range(count)}
        first = min((int(key[1:]) for key in keys & sent.keys()), default=None)
        print(f"{name}, {count} records: {len(keys & sent.keys())} keys, the first k{first}, {len(values & set(sent.values()))} values; {'some' if values - set(sent.values()) else 'none'} that nobody sent")
PY
env/bin/python finding.py > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
gzip, 1000 records: 1000 keys, the first k0, 1000 values; none that nobody sent
gzip, 1500 records: 1500 keys, the first k0, 1500 values; none that nobody sent
gzip, 5000 records: 5000 keys, the first k0, 5000 values; none that nobody sent
snappy, 1000 records: 1000 keys, the first k0, 1000 values; none that nobody sent
snappy, 1500 records: 1500 keys, the first k0, 1500 values; none that nobody sent
snappy, 5000 records: 5000 keys, the first k0, 5000 values; none that nobody sent
lz4, 1000 records: 1000 keys, the first k0, 1000 values; none that nobody sent
lz4, 1500 records: 1500 keys, the first k0, 1500 values; none that nobody sent
lz4, 5000 records: 5000 keys, the first k0, 5000 values; none that nobody sent
zstd, 1000 records: 1000 keys, the first k0, 1000 values; none that nobody sent
zstd, 1500 records: 1291 keys, the first k209, 1291 values; some that nobody sent
zstd, 5000 records: 1289 keys, the first k3711, 1289 values; some that nobody sent
EXPECTED
echo "as described: large batches in zstd lose their beginning"
