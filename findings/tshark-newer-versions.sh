#!/usr/bin/env bash
# tshark 4.0.17 reads Kafka requests of versions that it does not know by an older layout: numbers that nobody sent.
#
# Expected: what is newer than the dissector, for which it has a warning of its own (unsupported version, group Undecoded), is left
#   undecoded: no fields, or bytes.
# Seen: the warning is set, and the fields are filled all the same, as if the request had version 11. From Fetch v12 on the header
#   has one byte more, and from v15 on there is no replica id: a consumer that waits 500 ms is shown as replica 1 or 16777215
#   that waits for less than no time, with another session, and its READ_COMMITTED as uncommitted. The fields have the names
#   of those of version 11, which are right, and -T fields and display filters take both.
# Why it matters: today's Java clients and librdkafka send such versions. A table by kafka.max_wait_time or kafka.replica_id has
#   made-up rows beside true ones, and a filter misses the true. !kafka.unsupported_api_version leaves them out.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v tshark >/dev/null || { echo "needs tshark"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install dpkt==1.9.8
env/bin/python - <<'PY'
import struct
import dpkt

def fetch(version, number):
    """500 ms, 1 byte, 52428800 bytes, READ_COMMITTED, session 7, epoch 3; partition 0 from offset 42."""
    wanted = struct.pack(">iiibii", 500, 1, 52428800, 1, 7, 3)
    header = struct.pack(">hhih", 1, version, number, 6) + b"client"
    if version < 12:
        partition = struct.pack(">iiqqi", 0, -1, 42, -1, 1048576)
        body = struct.pack(">i", -1) + wanted + struct.pack(">ih5si", 1, 5, b"topic", 1) + partition + bytes(4) + bytes(2)
    else:
        partition = struct.pack(">iiqiqi", 0, -1, 42, -1, -1, 1048576) + b"\0"
        topic = bytes.fromhex("5f0d3c1a2b4e4f6a8b9c0d1e2f3a4b5c") + b"\2" + partition + b"\0"
        body = b"\0" + (struct.pack(">i", -1) if version < 15 else b"") + wanted + b"\2" + topic + b"\1" + b"\1" + b"\0"
    return struct.pack(">i", len(header + body)) + header + body

with open("fetch.pcap", "wb") as file:
    writer, sequence = dpkt.pcap.Writer(file), 1
    for number, version in enumerate((11, 13, 16)):
        data = fetch(version, number)
        tcp = dpkt.tcp.TCP(sport=40000, dport=9092, seq=sequence, ack=1, flags=24, data=data)
        sequence += len(data)
        ip = dpkt.ip.IP(src=b"\x0a\0\0\1", dst=b"\x0a\0\0\2", p=6, data=tcp)
        ip.len = len(ip)
        writer.writepkt(bytes(dpkt.ethernet.Ethernet(src=bytes(6), dst=bytes(6), data=ip)), ts=number)
PY
echo "version replica wait bytes isolation session" > seen
tshark -r fetch.pcap -T fields -E separator=' ' -e kafka.api_version -e kafka.replica_id -e kafka.max_wait_time -e kafka.min_bytes \
    -e kafka.isolation_level -e kafka.fetch_session_id 2>/dev/null >> seen
echo "waiting for 500 ms: $(tshark -r fetch.pcap -Y 'kafka.max_wait_time == 500' 2>/dev/null | wc -l) of 3" >> seen
echo "supported: $(tshark -r fetch.pcap -Y '!kafka.unsupported_api_version' 2>/dev/null | wc -l) of 3" >> seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what tshark 4.0.17 did when this was written"; exit 1; }
version replica wait bytes isolation session
11 -1 500 1 1 7
13 16777215 -16777215 -201326592 0 16777216
16 1 -201326592 16982016 0 117440512
waiting for 500 ms: 1 of 3
supported: 1 of 3
EXPECTED
echo "as described: numbers that nobody sent"
