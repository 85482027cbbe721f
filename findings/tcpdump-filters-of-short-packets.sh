#!/usr/bin/env bash
# A packet is neither X nor "not X" to tcpdump, and "X or Y" is not "Y or X", if X looks at a byte that the packet does not have.
#
# Expected: a filter is a condition: each packet fits X or fits "not X", and the order of "or" changes nothing but the time.
# Seen (tcpdump 4.99.3, libpcap 1.10.3): a filter that reads behind the packet's last byte ends there and drops the packet, whatever
#   else it says. Of a connection with two Kafka requests, a reply and two acknowledgements, "tcp[24:2] = 1" (the API's key, Fetch)
#   finds one and "not tcp[24:2] = 1" two of the other four: the acknowledgements, which have no byte 24, fit neither. So
#   "tcp[24:2] = 1 or tcp[tcpflags] = tcp-ack" finds the one request, and the same with its halves exchanged finds all
#   three. No error and no warning.
# Why it matters: such filters pick requests out of large captures, or leave them out to keep the rest. What is lost are just the
#   packets without payload: acknowledgements, SYN and FIN, so round trips, ends of connections and window updates are missing. No
#   counter shows it. With "tcp[tcpflags] & tcp-push != 0 and (...)" in front all is well.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in tcpdump python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > finding.py <<'PY'
import struct


def frame(data, flags):
    tcp = struct.pack(">HHIIBBHHH", 40000, 9092, 1, 1, 0x50, flags, 65535, 0, 0) + data
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    return bytes(12) + b"\x08\x00" + head + tcp


def message(*numbers):
    body = struct.pack(">hhi", *numbers) if len(numbers) == 3 else struct.pack(">ii", *numbers)
    return struct.pack(">i", len(body)) + body


frames = [frame(message(1, 12, 7), 0x18), frame(b"", 0x10), frame(message(0, 9, 8), 0x18), frame(message(7, 0), 0x18), frame(b"", 0x10)]
with open("requests.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
    for number, packet in enumerate(frames):
        file.write(struct.pack("<IIII", 1_700_000_000 + number, 0, len(packet), len(packet)) + packet)
PY
python3 finding.py
while read -r filter; do
  echo "$filter: $(tcpdump -nr requests.pcap "$filter" 2>log | wc -l)"
done > seen <<'FILTERS'
tcp
tcp[24:2] = 1
not tcp[24:2] = 1
tcp[24:2] != 1
tcp[24:2] = 1 or tcp[tcpflags] = tcp-ack
tcp[tcpflags] = tcp-ack or tcp[24:2] = 1
tcp[tcpflags] = tcp-ack or not tcp[24:2] = 1
not (tcp[tcpflags] & tcp-push != 0 and tcp[24:2] = 1)
FILTERS

diff - seen <<'EXPECTED' || { echo "CHANGED: not what tcpdump 4.99.3 did when this was written"; exit 1; }
tcp: 5
tcp[24:2] = 1: 1
not tcp[24:2] = 1: 2
tcp[24:2] != 1: 2
tcp[24:2] = 1 or tcp[tcpflags] = tcp-ack: 1
tcp[tcpflags] = tcp-ack or tcp[24:2] = 1: 3
tcp[tcpflags] = tcp-ack or not tcp[24:2] = 1: 4
not (tcp[tcpflags] & tcp-push != 0 and tcp[24:2] = 1): 4
EXPECTED
echo "as described: short packets fit neither a filter nor its contrary"
