#!/usr/bin/env bash
# netsniff-ng converts a capture to another variant of pcap, says nothing, and writes the variant that it has read.
#
# Expected: -T (--magic) chooses the format of what -o writes: 0xa1b23c4d has nanoseconds, 0xa1b2c3d4 microseconds; where it
#   cannot be had there is an error, as there is for a number that is no magic.
# Seen: with a file as -i netsniff-ng 0.6.8 checks the number of -T and then takes the magic of the input, code 0. Neither do
#   microseconds become nanoseconds, nor the other way around; only a capture from an interface has the chosen format.
# Why it matters: a file made "for tools that know microseconds only" has nanoseconds all the same, and such a tool that does not
#   look at the magic puts its packets up to 1,000 seconds off; a pipeline that checks exit codes sees nothing.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3; do command -v "$tool" >/dev/null || { echo "needs $tool of Debian 12"; exit 1; }; done
chmod 755 . && apt-get download netsniff-ng=0.6.8-3 libcli1.10 libgeoip1 libnet1 libnetfilter-conntrack3 libnfnetlink0 libnl-3-200 \
    libnl-genl-3-200 libnl-route-3-200 libpcap0.8 libsodium23 liburcu8 libdbus-1-3 libmnl0 >/dev/null 2>apt.log || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(dirname "$(find root -name 'libnl-3.so.200')"):$(dirname "$(find root -name 'libcli.so.1.10')")

cat > made.py <<'PY'
import struct

frame = bytes(12) + b"\x08\0\x45\0\0\x28\0\0\0\0\x40\x06\0\0\x7f\0\0\x01\x7f\0\0\x01" + bytes(26)
for name, magic, fraction in (("us", 0xA1B2C3D4, 123456), ("ns", 0xA1B23C4D, 123456789)):
    with open(f"{name}.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, 1))
        file.write(struct.pack("<IIII", 1_700_000_000, fraction, 60, 60) + frame)
PY
cat > look.py <<'PY'
import struct

head = open("out.pcap", "rb").read(32)
print("magic %#x, fraction %d" % struct.unpack("<I24xI", head))
PY
python3 made.py
for from in us ns; do
    for magic in 0xa1b2c3d4 0xa1b23c4d 0x12345678; do
        rm -f out.pcap
        code=0
        LD_LIBRARY_PATH=$libraries root/usr/sbin/netsniff-ng -i $from.pcap -o out.pcap -s -T $magic >log 2>&1 || code=$?
        written=nothing
        [ ! -f out.pcap ] || written=$(python3 look.py)
        echo "$from.pcap -T $magic: code $code, $written"
    done
done > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what this version did when this was written"; exit 1; }
us.pcap -T 0xa1b2c3d4: code 0, magic 0xa1b2c3d4, fraction 123456
us.pcap -T 0xa1b23c4d: code 0, magic 0xa1b2c3d4, fraction 123456
us.pcap -T 0x12345678: code 1, nothing
ns.pcap -T 0xa1b2c3d4: code 0, magic 0xa1b23c4d, fraction 123456789
ns.pcap -T 0xa1b23c4d: code 0, magic 0xa1b23c4d, fraction 123456789
ns.pcap -T 0x12345678: code 1, nothing
EXPECTED
echo "as described: the format that was asked for is checked, and not written"
