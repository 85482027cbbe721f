#!/usr/bin/env bash
# tcpslice says that a capture in nanoseconds ends at .12000000 where it ends at .012, and does not take that time itself.
#
# Expected: tcpslice -R prints each file's first and last time, and takes such times to cut by: what it prints of a file, given back
#   to it, is the whole file. A capture in nanoseconds has the same times as one in microseconds, but for three digits.
# Seen (tcpslice 1.5): the first time is right. Of the last one the nanoseconds are printed as if they were microseconds, with six
#   digits at least: .012 s is .12000000, .000999 is .999000, so a capture seems to end up to a second later. -t does so as well.
#   Given back, a time of eight digits is taken for the name of a file ("bad pcap file"). What it writes has microseconds.
# Why it matters: capture cards and tcpdump --nano write such files; lengths of captures and gaps between rotated files are made of
#   these two times. A gap of 1 ms between two files is an overlap of a second, which looks like packets that were recorded twice.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3; do command -v "$tool" >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }; done
chmod 755 . && apt-get download tcpslice=1.5-1 libpcap0.8 libnids1.21 libosip2-15 libnet1 libglib2.0-0 libdbus-1-3 >/dev/null 2>apt.log || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(dirname "$(find root -name 'libpcap.so.0.8')")
tcpslice() { LD_LIBRARY_PATH=$libraries root/"$(cd root && find usr -type f -name tcpslice)" "$@"; }
cat > made.py <<'PY'
import struct

for name, magic, unit in ("us", 0xA1B2C3D4, 1), ("ns", 0xA1B23C4D, 1000):
    for last in 12000, 999:
        with open(f"{name}-{last}.pcap", "wb") as file:
            file.write(struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, 1))
            for second, micros in (1_795_000_000, 5), (1_795_000_002, last):
                file.write(struct.pack("<IIII", second, micros * unit, 60, 60) + bytes(12) + b"\x08\0" + bytes(46))
PY
python3 made.py
for file in us-12000 ns-12000 us-999 ns-999; do
    read -r _ first last < <(tcpslice -R $file.pcap)
    code=0
    tcpslice -w out.pcap "$first" "$last" $file.pcap 2>log || code=$?
    echo "$file.pcap: from $first to $last; given back: code $code"
done > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what this version did when this was written"; exit 1; }
us-12000.pcap: from 1795000000.000005 to 1795000002.012000; given back: code 0
ns-12000.pcap: from 1795000000.000005 to 1795000002.12000000; given back: code 1
us-999.pcap: from 1795000000.000005 to 1795000002.000999; given back: code 0
ns-999.pcap: from 1795000000.000005 to 1795000002.999000; given back: code 0
EXPECTED
echo "as described: the end is printed up to a second late"
