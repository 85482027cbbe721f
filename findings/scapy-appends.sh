#!/usr/bin/env bash
# scapy 2.8.0 appends to a capture without a look at its head: other times, an unreadable file, or frames of another link type.
#
# Expected: wrpcap(name, packets, append=True) adds packets that a reader of the whole file gets back, or raises.
# Seen: records are always little-endian, in microseconds, as if scapy had written the file. Behind a head in nanoseconds .123456 s is
#   read as .000123456 s. Behind a big-endian head the next reader meets a packet of 1 GB; with a capture that a machine with
#   such a processor wrote the first half is fine and the rest lost. A packet without Ethernet (an IP packet from "any" or a tunnel)
#   becomes an Ethernet frame whose first bytes are the IP header. No error and no warning in any of them; scapy's own PcapReader
#   reads the file as wrongly as others do. A plain write of the same packets keeps nanoseconds if asked (nano=True).
# Why it matters: "add what we sent to what was recorded" is what append is for. Times of the added packets are within their second, so
#   they look right and are up to a second early: before the requests that they answer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install scapy==2.8.0 dpkt==1.9.8
env/bin/python - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import struct
import dpkt
from scapy.all import IP, TCP, Ether, PcapReader, raw, wrpcap

added = Ether() / IP(src="192.0.2.1", dst="192.0.2.2") / TCP(dport=9092)
added.time = 1_700_000_001.123456

def seen(name):
    """The last record as dpkt and as scapy read it."""
    told = []
    with open(name, "rb") as file:
        time, data = list(dpkt.pcap.Reader(file))[-1]
        told.append(f"dpkt {float(time):.7f}")
    packets = list(PcapReader(name))
    told.append(f"scapy {float(packets[-1].time):.7f}")
    frame = dpkt.ethernet.Ethernet(data)
    return ", ".join(told) + ", " + (f"port {frame.data.data.dport}" if isinstance(frame.data, dpkt.ip.IP) else f"type {frame.type:#06x}")

def lengths(name, order):
    """What each record's head says of its length, in the file's byte order, until the file ends."""
    body, at = open(name, "rb").read(), 24
    while at + 16 <= len(body):
        length = struct.unpack_from(order + "I", body, at + 8)[0]
        yield length
        at += 16 + length

for name, order, magic, packet in (
    ("microseconds", "<", 0xA1B2C3D4, added),
    ("nanoseconds", "<", 0xA1B23C4D, added),
    ("big-endian", ">", 0xA1B2C3D4, added),
    ("no Ethernet", "<", 0xA1B2C3D4, added[IP]),
):
    first = raw(added)
    packet.time = added.time
    with open(name, "wb") as file:
        file.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, 1))
        file.write(struct.pack(order + "IIII", 1_700_000_000, 0, len(first), len(first)) + first)
    wrpcap(name, packet, append=True)
    print(f"{name}: lengths {list(lengths(name, order))}" if name == "big-endian" else f"{name}: {seen(name)}")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what scapy 2.8.0 did when this was written"; exit 1; }
microseconds: dpkt 1700000001.1234560, scapy 1700000001.1234560, port 9092
nanoseconds: dpkt 1700000001.0001235, scapy 1700000001.0001235, port 9092
big-endian: lengths [54, 905969664]
no Ethernet: dpkt 1700000001.1234560, scapy 1700000001.1234560, type 0xc000
EXPECTED
echo "as described: appended records do not look at the file's head"
