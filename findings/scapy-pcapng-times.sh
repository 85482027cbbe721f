#!/usr/bin/env bash
# scapy 2.8.0 gives packets of valid pcapng files wrong times in three ways, and the present as a fourth.
#
# Expected: PcapNgReader takes per-interface resolution into account (it does), so the rest of the time rules hold as well.
# Seen: (1) if_tsoffset is ignored: packets of an adapter that counts from its start lie in January 1970. (2) A second section
#   (two captures put together by cat, which the format allows) is read with the interfaces of the first one. (3) A Simple
#   Packet Block, which has no time, is given the time at which it is read, so each reading gives another. (4) wrpcap and
#   wrpcapng write microseconds even where all packets came from a nanosecond file; the one rounds, the other cuts, so the two
#   copies of one packet differ by a microsecond. tshark, tcpdump and gopacket honour the offset and the sections.
# Why it matters: a filter written with scapy is often the first stage of an analysis; times that are off by decades are seen,
#   but lost nanoseconds are not: on one host a broker's answer takes some ten microseconds.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install scapy==2.8.0

env/bin/python - > seen 2> warnings <<'PY' || { cat warnings; exit 1; }
import struct, time
from scapy.all import rdpcap, wrpcap, wrpcapng

def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)

def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

def interface(exponent, *options):
    return block(1, struct.pack("<HHI", 1, 0, 0) + option(9, bytes([exponent])) + b"".join(options) + bytes(4))

def packet(number, stamp):
    return block(6, struct.pack("<IIIII", number, stamp >> 32, stamp & 0xFFFFFFFF, 60, 60) + bytes(60))

def times(data):
    with open("capture", "wb") as file:
        file.write(data)
    return [each.time for each in rdpcap("capture")]

section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
start = 1_700_000_000
print("offset:", *times(section + interface(6, option(14, struct.pack("<q", start))) + packet(0, 250_000)))
print("sections:", *times(section + interface(6) + packet(0, start * 10**6) + section + interface(9) + packet(0, start * 10**9 + 1)))
(simple,) = times(section + interface(6) + block(3, struct.pack("<I", 60) + bytes(60)))
print("simple block has the time of reading:", abs(float(simple) - time.time()) < 60)

print("interfaces:", *times(section + interface(6) + interface(9) + packet(0, start * 10**6) + packet(1, start * 10**9 + 123456789)))
nano = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1) + struct.pack("<IIII", start, 123456789, 60, 60) + bytes(60)
print("read:", *times(nano))
for write in wrpcap, wrpcapng:
    packets = rdpcap("capture")
    write("copy", packets)
    print(write.__name__, "copy:", rdpcap("copy")[0].time)
    times(nano)
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what scapy 2.8.0 did when this was written"; exit 1; }
offset: 0.25
sections: 1700000000 1700000000000.000001
simple block has the time of reading: True
interfaces: 1700000000 1700000000.123456789
read: 1700000000.123456789
wrpcap copy: 1700000000.123457
wrpcapng copy: 1700000000.123456
EXPECTED
echo "as described: scapy ignores if_tsoffset, keeps the first section's interfaces, and writes microseconds"
