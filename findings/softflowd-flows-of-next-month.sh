#!/usr/bin/env bash
# softflowd makes NetFlow of a capture, and nfdump shows its flows 49.7 days after they were, or a multiple of that.
#
# Expected: softflowd -r tells flows with the capture's times; each version of the protocol has a field for when a flow began.
# Seen: softflowd 1.1.0 heads its datagrams with the present time and an uptime of 0, and tells a flow's beginning as milliseconds of
#   uptime: a negative number, which the field of 32 bits cannot hold. nfdump 1.7.1 takes it for a positive one, so a capture of
#   yesterday lies 2^32 ms ahead (49 days and 17 hours) with versions 9 and 10. With version 5 it is right for 49 days; then all
#   versions are wrong, by one multiple more for every 49.7 days of age. Durations, packets and bytes are right. The option -a
#   ("adjusting time for reading pcap file") mends all; nothing says that it is needed.
# Why it matters: flows of a capture are joined with lag and broker logs by time. All of them are shifted alike, so orders and
#   durations look sane, and the shift changes with the day on which the same capture is read.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3; do command -v $tool >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }; done
chmod 755 . && apt-get download softflowd=1.1.0-1+b1 nfdump=1.7.1-2+deb12u1 libpcap0.8 libbsd0 libmd0 libdbus-1-3 >apt.log 2>&1 \
  || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
export PATH="$work/root/usr/bin:$work/root/usr/sbin:$PATH"
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"
cat > finding.py <<'PY'
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path

def packet(from_client, flags, sequence, data=b""):
    ends = [(socket.inet_aton("10.0.0.1"), 40_000), (socket.inet_aton("10.0.0.2"), 9092)][:: 1 if from_client else -1]
    tcp = struct.pack(">HHIIBBHHH", ends[0][1], ends[1][1], sequence, 0, 0x50, flags, 65_535, 0, 0) + data
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + ends[0][0] + ends[1][0]
    return bytes(12) + b"\x08\x00" + ip + tcp

def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])

def shown(version, *options):
    flows, port = Path("flows"), free_port()
    shutil.rmtree(flows, ignore_errors=True)
    flows.mkdir()
    with subprocess.Popen(["nfcapd", "-p", port, "-l", flows], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as collector:
        time.sleep(2)
        subprocess.run(["softflowd", "-r", "capture.pcap", "-n", f"127.0.0.1:{port}", "-v", version, *options], check=True, capture_output=True)
        time.sleep(2)
        collector.terminate()
    told = subprocess.run(["nfdump", "-R", flows, "-q", "-o", "fmt:%tsr"], capture_output=True, text=True, check=True).stdout.split()
    return [round((float(moment) - start) / 2**32 * 1000, 3) + 0 for moment in told]

for days in 1, 60, 400:
    start = int(time.time()) - days * 86_400
    with open("capture.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        for second, fields in enumerate([(1, 2, 999), (0, 0x12, 499), (1, 0x18, 1000, b"request"), (0, 0x18, 500, b"reply")]):
            data = packet(*fields)
            file.write(struct.pack("<IIII", start + second, 0, len(data), len(data)) + data)
    for version in "5", "9", "10":
        plain, adjusted = shown(version), shown(version, "-a")
        assert len(plain) == len(adjusted) == 2
        print(f"{days} days ago, version {version}: {max(map(round, plain))} x 2^32 ms ahead, with -a {max(map(round, adjusted))}")
PY
python3 finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these tools of Debian 12 did when this was written"; exit 1; }
1 days ago, version 5: 0 x 2^32 ms ahead, with -a 0
1 days ago, version 9: 1 x 2^32 ms ahead, with -a 0
1 days ago, version 10: 1 x 2^32 ms ahead, with -a 0
60 days ago, version 5: 1 x 2^32 ms ahead, with -a 0
60 days ago, version 9: 2 x 2^32 ms ahead, with -a 0
60 days ago, version 10: 2 x 2^32 ms ahead, with -a 0
400 days ago, version 5: 8 x 2^32 ms ahead, with -a 0
400 days ago, version 9: 9 x 2^32 ms ahead, with -a 0
400 days ago, version 10: 9 x 2^32 ms ahead, with -a 0
EXPECTED
echo "as described: flows of a capture lie 49.7 days ahead, or a multiple"
