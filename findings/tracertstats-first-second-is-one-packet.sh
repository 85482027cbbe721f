#!/usr/bin/env bash
# tracertstats of libtrace: the first interval is one packet, whatever was sent in it; its other packets are in the next row.
#
# Expected: the number of packets of each interval. Its manual says so: every interval seconds the packets that match are counted.
# Seen (libtrace-tools 3.0.22 of Debian 12): in five seconds 10, 20, 30, 0 and 40 packets are sent.
#   The rows are 1, 10, 20, 29, 1 and 39. The first packet of the capture is a row of its own, and the first packet behind the end
#   of an interval is still counted in it: the second without any packet has one.
#   With an interval of 60 s, longer than the capture, the 100 packets are two rows, 1 and 99.
#   In text, its default, a row bears whole seconds, so that rows of half a second carry each time twice; -o csv has milliseconds.
# Why it matters: the first row looks like a quiet start, and the pause of a second, which is what one looks for, is not there.
#   The sum is right, so a check of the total does not show it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3; do command -v $tool >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }; done
chmod 755 . && apt-get download libtrace-tools=3.0.22-0.1 libtrace3=3.0.22-0.1 libpacketdump3=3.0.22-0.1 libwandio1=3.0.22-0.1 \
  libpcap0.8 libncurses6 libtinfo6 >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
cat > make.py <<'PY'
import struct

NOON = 1_772_359_200
packet = bytes(12) + b"\x08\x00" + bytes((0x45, 0, 0, 20, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2))
with open("steps.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for second, count in enumerate((10, 20, 30, 0, 40)):
        for number in range(count):
            file.write(struct.pack("<IIII", NOON + second, 50_000 + number * 20_000, len(packet), len(packet)) + packet)
PY
python3 make.py
export TZ=UTC LD_LIBRARY_PATH="root/usr/lib:root/usr/lib/x86_64-linux-gnu:root/lib/x86_64-linux-gnu"
{
  for interval in 1 60; do
    echo "every $interval s"
    timeout 60 root/usr/bin/tracertstats -i $interval -o csv pcapfile:steps.pcap 2>>log | cut -d, -f1,2
  done
  echo "text, every 0.5 s"
  timeout 60 root/usr/bin/tracertstats -i 0.5 pcapfile:steps.pcap 2>>log | awk 'NF == 3 { print $1, $2 }' | head -6
} > seen || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what libtrace 3.0.22 did when this was written"; exit 1; }
every 1 s
ts,packets
1772359200.050,1
1772359201.050,10
1772359202.050,20
1772359203.050,29
1772359204.050,1
1772359204.830,39
every 60 s
ts,packets
1772359200.050,1
1772359204.830,99
text, every 0.5 s
ts packets
1772359200 1
1772359201 9
1772359201 1
1772359202 19
1772359202 1
EXPECTED
echo "as described: 1, 10, 20, 29, 1, 39 of 10, 20, 30, 0, 40"
