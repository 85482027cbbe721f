#!/usr/bin/env bash
# A capture that editcap converts to an older format begins at midnight, loses four bytes of each packet, or cannot be read: code 0 each.
#
# Expected: editcap -F lists the formats that it can write; what it writes, tshark of the same version reads, and packets, lengths and
#   times are those of the input, as finely as the format has them. What it cannot keep it refuses, as it does for erf and btsnoop.
# Seen (Wireshark 4.0.17, five Ethernet frames of 22:13:20 UTC):
#   lanalyzer: the first packet is at midnight of its day (00:00:00 in the time zone of whoever converts), the others as far behind it.
#   visual: each frame is four bytes shorter when it is read: the reader takes a checksum off that the writer did not put on.
#   observer: the reader of the same version calls it damaged at the first packet.
#   netmon1, netmon2, ngsniffer: nine hours late where a host in Tokyo converted and one in UTC reads. netmon1 rounds to milliseconds.
#   k12text: the times are of the year 2000.
# Why it matters: one converts for a colleague's analyser and deletes the original. Durations and counts fit in all of them; hours,
#   and the last four bytes, a whole length field of the next request, do not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in editcap tshark python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > finding.py <<'PY'
import struct

with open("in.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for number, fraction in enumerate((0, 1, 123456, 500000, 999999)):
        payload = b"request" + bytes([number])
        segment = struct.pack("!HHIIBBHHH", 40000, 9092, 1000 + 8 * number, 1, 0x50, 0x18, 64000, 0, 0) + payload
        packet = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), number, 0x4000, 64, 6, 0, b"\n\0\0\1", b"\n\0\0\2") + segment
        frame = b"\2" * 6 + b"\4" * 6 + b"\x08\0" + packet
        file.write(struct.pack("<IIII", 1700000000 + number, fraction, len(frame), len(frame)) + frame)
PY
python3 finding.py
told() {  # FORMAT ZONE: what tshark reads of it in UTC
    TZ=$2 editcap -F "$1" in.pcap "$1.$2" 2> log || { echo "editcap $1: code $?"; return; }
    TZ=UTC tshark -r "$1.$2" -T fields -e frame.time_epoch -e frame.len 2> log | awk -v name="$1, written in $2" '
        NR == 1 { first = $1 } { lengths = lengths " " $2; last = $1 }
        END { if (NR) printf "%s: %s, the last %.6f s later, lengths%s\n", name, first, last - first, lengths; else print name ": nothing" }' || true
    grep -o 'appears to be damaged' log || true
}
for format in pcap pcapng snoop lanalyzer visual observer netmon1 netmon2 ngsniffer k12text erf; do told $format UTC; done > seen
for format in pcap lanalyzer netmon1 netmon2 ngsniffer; do told $format JST-9; done >> seen

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what Wireshark 4.0.17 did when this was written"; exit 1; }
pcap, written in UTC: 1700000000.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
pcapng, written in UTC: 1700000000.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
snoop, written in UTC: 1700000000.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
lanalyzer, written in UTC: 1699920000.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
visual, written in UTC: 1700000000.000000000, the last 4.999000 s later, lengths 58 58 58 58 58
observer, written in UTC: nothing
appears to be damaged
netmon1, written in UTC: 1700000000.000000000, the last 5.000000 s later, lengths 62 62 62 62 62
netmon2, written in UTC: 1700000000.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
ngsniffer, written in UTC: 1699999999.999999358, the last 5.000000 s later, lengths 62 62 62 62 62
k12text, written in UTC: 946761200.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
editcap erf: code 2
pcap, written in JST-9: 1700000000.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
lanalyzer, written in JST-9: 1700006400.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
netmon1, written in JST-9: 1700032400.000000000, the last 5.000000 s later, lengths 62 62 62 62 62
netmon2, written in JST-9: 1700032400.000000000, the last 4.999999 s later, lengths 62 62 62 62 62
ngsniffer, written in JST-9: 1700032399.999999770, the last 4.999999 s later, lengths 62 62 62 62 62
EXPECTED
echo "as described: other hours, other lengths, or nothing at all"
