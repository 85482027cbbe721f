#!/usr/bin/env bash
# Of three Kafka requests in one packet pyshark shows the first, a program that reads tshark's JSON the last, and a table all in one cell.
#
# Expected: the ways to get fields out of tshark give the same requests. JSON is what programs read, so a packet's three requests are a
#   list there, or in some other way none is lost.
# Seen (tshark 4.0.17, pyshark 0.6; a packet of three Heartbeats with ids 1, 2, 3, and one Metadata request for three topics):
#   -T json has the object "kafka" three times in one object: Python's json, like JavaScript's and jq, keeps the last: id 3. So it does with
#     the topics of one request: the last of three. --no-duplicate-keys makes lists of them; then a packet with one request has an object.
#   pyshark: packet.kafka is the first request, id 1, and packet.kafka.topic_name the first topic. get_multiple_layers("kafka") has three,
#     with use_json=True one.
#   -T fields: 1,2,3 in one cell. -T ek has lists.
# Why it matters: clients send requests behind each other when they are busy, so a quarter of the requests is missing just under load, by
#   the tool at the one end or at the other, and pairs of request and reply are made with the wrong id. One request a packet is right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in tshark python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyshark==0.6
cat > finding.py <<'PY'
import json
import logging
import struct
import subprocess

import pyshark

logging.disable()


def text(value):
    return struct.pack("!h", len(value)) + value.encode()


def request(key, version, identity, body):
    frame = struct.pack("!hhi", key, version, identity) + text("app") + body
    return struct.pack("!i", len(frame)) + frame


def tshark(*options):
    return subprocess.run(["tshark", "-r", "in.pcap", *options], capture_output=True, text=True).stdout


heartbeats = b"".join(request(12, 0, number, text("group") + struct.pack("!i", 7) + text("member")) for number in (1, 2, 3))
metadata = request(3, 1, 4, struct.pack("!i", 3) + text("orders") + text("payments") + text("returns"))
with open("in.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    sent = 1
    for number, payload in enumerate((heartbeats, metadata)):
        segment = struct.pack("!HHIIBBHHH", 40000, 9092, sent, 1, 0x50, 0x18, 64000, 0, 0) + payload
        packet = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), number, 0x4000, 64, 6, 0, b"\n\0\0\1", b"\n\0\0\2") + segment
        frame = b"\2" * 6 + b"\4" * 6 + b"\x08\0" + packet
        file.write(struct.pack("<IIII", 1700000000 + number, 0, len(frame), len(frame)) + frame)
        sent += len(payload)

print("-T fields:", *tshark("-T", "fields", "-e", "kafka.correlation_id", "-e", "kafka.topic_name").split())
layers = [packet["_source"]["layers"]["kafka"] for packet in json.loads(tshark("-T", "json"))]
print("-T json:", *(layer["kafka.correlation_id"] for layer in layers), layers[1]["Topic"]["kafka.topic_name"])
layers = [packet["_source"]["layers"]["kafka"] for packet in json.loads(tshark("-T", "json", "--no-duplicate-keys"))]
print("-T json --no-duplicate-keys:", *(type(layer).__name__ for layer in layers), *(layer["kafka.correlation_id"] for layer in layers[0]))
layers = [json.loads(line)["layers"]["kafka"] for line in tshark("-T", "ek").splitlines() if '"layers"' in line]
print("-T ek:", *(layer["kafka_kafka_correlation_id"] for layer in layers[0]), *layers[1]["kafka_kafka_topic_name"])
for as_json in False, True:
    with pyshark.FileCapture("in.pcap", use_json=as_json) as capture:
        packets = list(capture)
    print("pyshark" + (", use_json:" if as_json else ":"), *(packet.kafka.correlation_id for packet in packets),
        "of", *(len(packet.get_multiple_layers("kafka")) for packet in packets))
    if not as_json:
        print("  its topic:", packets[1].kafka.topic_name)
PY
env/bin/python finding.py > seen 2> log || { tail -3 log; exit 1; }

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what tshark 4.0.17 and pyshark 0.6 did when this was written"; exit 1; }
-T fields: 1,2,3 4 orders,payments,returns
-T json: 3 4 returns
-T json --no-duplicate-keys: list dict 1 2 3
-T ek: 1 2 3 orders payments returns
pyshark: 1 4 of 3 1
  its topic: orders
pyshark, use_json: 1 4 of 1 1
EXPECTED
echo "as described: the first request, the last, or all of them"
