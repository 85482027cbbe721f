#!/usr/bin/env bash
# Tools that only filter, rewrite or join nanosecond captures write microseconds, and say nothing.
#
# Expected: `tcpdump -r ns.pcap -w part.pcap port 9092` copies the records that match as they are; tcprewrite changes
#   addresses only; mergecap chooses what holds both of its inputs.
# Seen: tcpdump 4.99.3 opens the file in microseconds unless --time-stamp-precision=nano is given, for reading too, and -w
#   writes what it holds: other magic, three digits gone. tcprewrite 4.4.3 has no such option at all. mergecap and editcap
#   4.0.17 cut with -F pcap, which to them is another format than nsecpcap; their default, pcapng, keeps all.
# Why it matters: the first step with a large capture is `tcpdump -r ... -w ...`. Afterwards packets within a microsecond have
#   one time, so a sort may put a reply before its request, and nothing in the file tells that it once knew better.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in tcpdump editcap mergecap tshark apt-get dpkg; do
    command -v "$tool" >/dev/null || { echo "needs $tool of Debian 12 (apt-get install tshark tcpdump)"; exit 1; }
done
chmod 755 . && apt-get download tcpreplay=4.4.3-1 libdumbnet1=1.16.3-1 >/dev/null 2>apt.log || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(dirname "$(find root -name 'libdumbnet.so.1')")

python3 - <<'PY'
import struct

frame = bytes(12) + b"\x08\0\x45\0\0\x28\0\0\0\0\x40\x06\0\0\x7f\0\0\x01\x7f\0\0\x01" + bytes(26)
with open("ns.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
    file.write(struct.pack("<IIII", 1_700_000_000, 123456789, 60, 60) + frame)
PY
{
    tcpdump -r ns.pcap -w tcpdump.pcap ip
    tcpdump --time-stamp-precision=nano -r ns.pcap -w tcpdump-nano.pcap ip
    LD_LIBRARY_PATH=$libraries root/usr/bin/tcprewrite -i ns.pcap -o tcprewrite.pcap
    mergecap -F pcap -w mergecap.pcap ns.pcap
    editcap -F pcap ns.pcap editcap.pcap
    editcap -F nsecpcap ns.pcap editcap-nsecpcap.pcap
    mergecap -w mergecap-default.pcapng ns.pcap
} >log 2>&1 || { cat log; exit 1; }
for name in ns.pcap tcpdump.pcap tcpdump-nano.pcap tcprewrite.pcap mergecap.pcap editcap.pcap editcap-nsecpcap.pcap mergecap-default.pcapng; do
    echo "$name $(tshark -r $name -T fields -e frame.time_epoch 2>/dev/null)"
done > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
ns.pcap 1700000000.123456789
tcpdump.pcap 1700000000.123456000
tcpdump-nano.pcap 1700000000.123456789
tcprewrite.pcap 1700000000.123456000
mergecap.pcap 1700000000.123456000
editcap.pcap 1700000000.123456000
editcap-nsecpcap.pcap 1700000000.123456789
mergecap-default.pcapng 1700000000.123456789
EXPECTED
echo "as described: copies are in microseconds"
