#!/usr/bin/env bash
# What a capture says of its own losses is gone behind editcap, mergecap, reordercap and tshark -w (4.0.17), in plain copies too.
#
# Expected: `editcap in.pcapng out.pcapng` without an option, and a sort or merge, keep the file's blocks; what they cannot keep
#   is told. They do keep comments, interface descriptions, filters, and a packet's own drop count.
# Seen: dumpcap and other recorders write at the end how many packets each interface received and dropped (Interface
#   Statistics Blocks), and names of hosts (Name Resolution Blocks). All four tools leave both out, end with code 0 and say
#   nothing. capinfos counts them ("stat entries", "resolved addresses") but does not show the numbers, and so does not tell that
#   the original lost packets.
# Why it matters: the first cut of a large capture turns "7 of 1000 packets were dropped here" into a file that looks complete.
#   Gaps in its connections then are the network's fault, or the sender's. Read the statistics before cutting.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in tshark editcap mergecap reordercap capinfos; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > blocks.py <<'PY'
"""Writes in.pcapng, or tells of files: interface filters, packets' drop counts, names, received and dropped of interfaces."""
import struct, sys

def options(*given):
    return b"".join(struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in (*given, (0, b"")))

def block(kind, body):
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

def read(body):
    found = {}
    while body:
        code, size = struct.unpack_from("<HH", body)
        if not code: break
        found[code], body = body[4 : 4 + size], body[4 + size + -size % 4 :]
    return found

def number(found, code):
    return struct.unpack("<Q", found[code])[0] if code in found else None

if not sys.argv[1:]:
    packet = bytes(12) + b"\x08\0" + struct.pack(">BBHHHBBH4s4s", 69, 0, 44, 1, 0, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    packet += struct.pack(">HHIIBBHHH", 1000, 9092, 1, 0, 80, 24, 1000, 0, 0) + b"abcd"
    head = struct.pack("<IIIII", 0, 0, 1, len(packet), len(packet)) + packet + bytes(-len(packet) % 4)
    name = b"\x0a\0\0\1broker\0"
    with open("in.pcapng", "wb") as file:
        file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        file.write(block(1, struct.pack("<HHI", 1, 0, 262144) + options((2, b"eth0"), (11, b"\0tcp port 9092"))))
        file.write(block(4, struct.pack("<HH", 1, len(name)) + name + bytes(-len(name) % 4) + bytes(4)))
        file.write(block(6, head + options((4, struct.pack("<Q", 3)))))
        file.write(block(5, struct.pack("<III", 0, 0, 1) + options((4, struct.pack("<Q", 1000)), (5, struct.pack("<Q", 7)))))
for path in sys.argv[1:]:
    with open(path, "rb") as file: content = file.read()
    told = []
    while content:
        kind, size = struct.unpack_from("<II", content)
        body, content = content[8 : size - 4], content[size:]
        if kind == 1: told.append(f"filter {read(body[8:])[11][1:].decode()!r}")
        if kind == 4: told.append("names")
        if kind == 6: told.append(f"dropped before the packet {number(read(body[80:]), 4)}")
        if kind == 5: told.append(f"received {number(read(body[12:]), 4)} dropped {number(read(body[12:]), 5)}")
    print(path + ":", ", ".join(told))
PY
python3 blocks.py
editcap in.pcapng editcap.pcapng
reordercap in.pcapng reordercap.pcapng >/dev/null
mergecap -w mergecap.pcapng in.pcapng
tshark -r in.pcapng -w tshark.pcapng 2>/dev/null
python3 blocks.py in.pcapng {editcap,reordercap,mergecap,tshark}.pcapng > seen
for file in in editcap; do
    capinfos $file.pcapng | sed -En "s/^ *(Number of (stat|resolved).*)/capinfos $file: \1/p" >> seen
done

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Wireshark's tools 4.0.17 did when this was written"; exit 1; }
in.pcapng: filter 'tcp port 9092', names, dropped before the packet 3, received 1000 dropped 7
editcap.pcapng: filter 'tcp port 9092', dropped before the packet 3
reordercap.pcapng: filter 'tcp port 9092', dropped before the packet 3
mergecap.pcapng: filter 'tcp port 9092', dropped before the packet 3
tshark.pcapng: filter 'tcp port 9092', dropped before the packet 3
capinfos in: Number of stat entries = 1
capinfos in: Number of resolved IPv4 addresses in file: 1
capinfos editcap: Number of stat entries = 0
EXPECTED
echo "as described: copies do not know what was dropped"
