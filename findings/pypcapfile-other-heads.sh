#!/usr/bin/env bash
# pypcapfile 0.12.0 finds no packets in a capture of the other byte order, and gives nanoseconds the name of microseconds.
#
# Expected: load_savefile() reads the four heads that a pcap file can have, or raises. timestamp_us is a number of microseconds.
# Seen: a file whose byte order is not the machine's is read as one of no packets, valid and without an error, although the byte order of
#   its head was found out. Of a file in nanoseconds timestamp_us is the nanoseconds, up to 999 999 999, and timestamp_ms is up to
#   a million: seconds + timestamp_us / 10^6 lies up to 16 minutes ahead.
# Why it matters: an empty capture is a plausible answer ("no traffic in that hour"), and the times of a fast capture go back at each
#   full second.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pypcapfile==0.12.0
env/bin/python - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import struct
from pcapfile import savefile

frame = bytes(60)
for name, order, magic, unit in (
    ("little-endian, microseconds", "<", 0xA1B2C3D4, 1),
    ("little-endian, nanoseconds", "<", 0xA1B23C4D, 1000),
    ("big-endian, microseconds", ">", 0xA1B2C3D4, 1),
    ("big-endian, nanoseconds", ">", 0xA1B23C4D, 1000),
):
    with open("capture", "wb") as file:
        file.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, 1))
        for fraction in (250_000, 999_999):
            file.write(struct.pack(order + "IIII", 1_700_000_000, fraction * unit, len(frame), len(frame)) + frame)
    with open("capture", "rb") as file:
        read = savefile.load_savefile(file)
    times = [(packet.timestamp + packet.timestamp_us / 1_000_000, packet.timestamp_ms) for packet in read.packets]
    print(f"{name}: valid {read.valid}, {read.header.byteorder}, {times}")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what pypcapfile 0.12.0 did when this was written"; exit 1; }
little-endian, microseconds: valid True, b'little', [(1700000000.25, 250.0), (1700000000.999999, 999.999)]
little-endian, nanoseconds: valid True, b'little', [(1700000250.0, 250000.0), (1700000999.999, 999999.0)]
big-endian, microseconds: valid True, b'big', []
big-endian, nanoseconds: valid True, b'big', []
EXPECTED
echo "as described: no packets of the other byte order, and microseconds that are nanoseconds"
