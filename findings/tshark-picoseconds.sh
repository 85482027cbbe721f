#!/usr/bin/env bash
# tshark 4.0.17 shows wrong fractions of a second for pcapng interfaces that count in picoseconds (if_tsresol 12).
#
# Expected: more digits than a nanosecond has are cut off; the format allows resolutions to 10^-127.
# Seen: right up to 18 ms behind the full second, then wrong: .123456789012 becomes .012776324. The product of fraction and
#   10^9 leaves 64 bits. Every 18.4 ms the time starts again at the full second, so it runs backwards 54 times a second.
#   tcpdump 4.99.3 (libpcap 1.10.3), dpkt 1.9.8 and gopacket 1.7.7 read the same files right. A copy by editcap keeps the
#   resolution but drops the offset, so its times leave 64 bits once more and lie in February 1970.
# Why it matters: capture cards with picosecond stamps are used just where microseconds count. The whole seconds are right, so
#   the file looks sane; orders of packets, round trips and broker times do not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in tshark tcpdump editcap; do
    command -v "$tool" >/dev/null || { echo "needs $tool of Debian 12 (apt-get install tshark tcpdump)"; exit 1; }
done
tshark --version 2>/dev/null | head -1 | grep -q "4\.0\.17" || echo "note: written for tshark 4.0.17, here: $(tshark --version 2>/dev/null | head -1)"

python3 - <<'PY'
import struct

def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

packet = bytes(12) + b"\x08\0\x45\0\0\x28\0\0\0\0\x40\x06\0\0\x7f\0\0\x01\x7f\0\0\x01" + bytes(26)
for digits in 9, 12:
    file = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    # Picoseconds since 1970 do not fit in 64 bits: that is what if_tsoffset (14) is for.
    file += block(1, struct.pack("<HHIHHBxxxHHqI", 1, 0, 262144, 9, 1, digits, 14, 8, 1_700_000_000, 0))
    for fraction in 10_000_000_000, 18_000_000_000, 19_000_000_000, 123_456_789_012, 900_000_000_000:
        time = fraction // 10 ** (12 - digits)
        file += block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, 60, 60) + packet)
    with open(f"digits{digits}.pcapng", "wb") as out:
        out.write(file)
PY
editcap digits12.pcapng copy.pcapng
{
    for name in digits9 digits12 copy; do
        echo "tshark $name:" $(tshark -r $name.pcapng -T fields -e frame.time_epoch 2>/dev/null)
    done
    echo "tcpdump digits12:" $(tcpdump -ttn --nano -r digits12.pcapng 2>/dev/null | cut -d" " -f1)
} > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what tshark 4.0.17 did when this was written"; exit 1; }
tshark digits9: 1700000000.010000000 1700000000.018000000 1700000000.019000000 1700000000.123456789 1700000000.900000000
tshark digits12: 1700000000.010000000 1700000000.018000000 1700000000.000553255 1700000000.012776324 1700000000.014556284
tshark copy: 2899545.007360322 2899545.015360322 2899545.016360321 2899545.010136646 2899545.011916606
tcpdump digits12: 1700000000.010000000 1700000000.018000000 1700000000.019000000 1700000000.123456789 1700000000.900000000
EXPECTED
echo "as described: times in picoseconds start anew every 18.4 ms"
