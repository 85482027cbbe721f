#!/usr/bin/env bash
# Segments that the sender's kernel left whole: scapy cuts their frames at 65535 bytes, tcptrace leaves all of them out.
#
# Expected: a frame with 70000 bytes of TCP payload in a capture, snapshot length 262144, has 70000 bytes to every tool, or is
#   an error.
# Seen: the IPv4 length has 16 bits. With large segments (BIG TCP, segmentation left to the card) the kernel writes 0, and the
#   capture's own length is the only one. tshark 4.0 and dpkt 1.9.8 take that one. scapy 2.8.0 does too, but its reader takes
#   65535 bytes of any frame and drops the rest without a warning. tcptrace 6.6.7 counts 30 bytes of 73030 and two packets of
#   four. tcpdump 4.99.3 prints "bad-len 0" without ports, though its filter for the port lets these packets through.
# Why it matters: large segments are what a busy broker sends, so small requests are complete and Fetch responses are not:
#   rates come out a thousandth of the true ones, and behind a cut payload Kafka's lengths are read from the wrong place.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3 tcpdump tshark; do
  command -v $tool >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }
done
chmod 755 . && apt-get download tcptrace=6.6.7-6+b1 >apt.log 2>&1 || { cat apt.log; exit 1; }
dpkg -x tcptrace*.deb root
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install dpkt==1.9.8 scapy==2.8.0
cat > write.py <<'PY'
import socket, struct

def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)

def packet(sequence, data, total):
    hosts = socket.inet_aton("10.0.0.1") + socket.inet_aton("10.0.0.2")
    tcp = struct.pack(">HHIIBBHHH", 9092, 40_000, sequence, 1, 0x50, 0x18, 65_535, 0, 0) + data
    tcp = tcp[:16] + checksum(hosts + struct.pack(">HI", 6, len(tcp)) + tcp) + tcp[18:]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 1, 0, 64, 6, 0) + hosts
    return bytes(12) + b"\x08\x00" + ip[:10] + checksum(ip) + ip[12:] + tcp

with open("big.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
    sequence = 1
    for number, (size, total) in enumerate([(20, 60), (70_000, 0), (3_000, 0), (10, 50)]):
        data = packet(sequence, b"x" * size, total)
        file.write(struct.pack("<IIII", 1_795_827_358 + number, 0, len(data), len(data)) + data)
        sequence += size
PY
cat > read.py <<'PY'
import dpkt
from scapy.all import TCP, Raw, rdpcap

with open("big.pcap", "rb") as file:
    print("dpkt", [len(dpkt.ethernet.Ethernet(data).data.data.data) for _, data in dpkt.pcap.Reader(file)])
packets = rdpcap("big.pcap")
print("scapy", [len(packet[Raw].load) for packet in packets], "after the payload:", {type(packet.lastlayer()).__name__ for packet in packets})
print("scapy, whole frames", [len(packet.original) for packet in packets], "of", [packet.wirelen for packet in packets])
PY
python3 write.py
{
  tshark -r big.pcap -T fields -e tcp.len 2>>log | xargs echo tshark
  env/bin/python read.py 2>>log
  root/usr/bin/tcptrace -n -l big.pcap 2>>log | sed -nE 's/^ *(total packets|actual data bytes): +([0-9]+) .*/tcptrace \1 \2/p'
  tcpdump -n -t -r big.pcap tcp port 9092 2>>log | sed -E 's/: Flags.*length/: length/'
} > seen || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
tshark 20 70000 3000 10
dpkt [20, 70000, 3000, 10]
scapy [20, 65481, 3000, 10] after the payload: {'Raw'}
scapy, whole frames [74, 65535, 3054, 64] of [74, 70054, 3054, 64]
tcptrace total packets 2
tcptrace actual data bytes 30
IP 10.0.0.1.9092 > 10.0.0.2.40000: length 20
IP bad-len 0
IP bad-len 0
IP 10.0.0.1.9092 > 10.0.0.2.40000: length 10
EXPECTED
echo "as described: large segments are cut or left out"
