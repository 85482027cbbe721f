#!/usr/bin/env bash
# dpkt 1.9.8 reads the times of every pcapng interface in the units of the first interface.
#
# Expected: each Interface Description Block has its own if_tsresol (the pcapng format says so: a Packet Block's time is in
#   the units of the interface that the block names). `mergecap us.pcap ns.pcap` writes just such a file.
# Seen: packets of the nanosecond interface come out a thousand times too late, without a warning: year 55841 in place of
#   2023. In the other order the microsecond packets land in January 1970. The same holds for a second section. A nanosecond
#   pcap (not pcapng) changes the type as well: times are Decimal there and float elsewhere, so arithmetic with a float, which
#   works on every microsecond file, raises TypeError.
# Why it matters: captures of two taps merged into one file look fine packet by packet; only latencies between the two are
#   absurd, or, if one sorts by time, requests of one tap stand years away from their replies.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install dpkt==1.9.8

env/bin/python - > seen <<'PY'
import io, struct
import dpkt

def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

def interface(exponent):
    return block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHBxxx", 9, 1, exponent) + bytes(4))

def packet(number, time):
    return block(6, struct.pack("<IIIII", number, time >> 32, time & 0xFFFFFFFF, 60, 60) + bytes(60))

section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
micro, nano = 1_700_000_000_250_000, 1_700_000_001_250_000_000

def times(data):
    return [round(float(time), 3) for time, _ in dpkt.pcapng.Reader(io.BytesIO(data))]

print("micro, nano:", times(section + interface(6) + interface(9) + packet(0, micro) + packet(1, nano)))
print("nano, micro:", times(section + interface(9) + interface(6) + packet(0, nano) + packet(1, micro)))
print("two sections:", times(section + interface(6) + packet(0, micro) + section + interface(9) + packet(0, nano)))

for name, magic in ("micro", 0xA1B2C3D4), ("nano", 0xA1B23C4D):
    data = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, 1) + struct.pack("<IIII", 1_700_000_000, 250, 60, 60) + bytes(60)
    (time, _), = dpkt.pcap.Reader(io.BytesIO(data))
    try:
        verdict = f"{time - 1.0}"
    except TypeError as error:
        verdict = f"TypeError: {error}"
    print(f"pcap {name}:", type(time).__name__, "- 1.0 is", verdict)
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what dpkt 1.9.8 did when this was written"; exit 1; }
micro, nano: [1700000000.25, 1700000001250.0]
nano, micro: [1700000001.25, 1700000.0]
two sections: [1700000000.25, 1700000001250.0]
pcap micro: float - 1.0 is 1699999999.00025
pcap nano: Decimal - 1.0 is TypeError: unsupported operand type(s) for -: 'decimal.Decimal' and 'float'
EXPECTED
echo "as described: dpkt takes the time units of the first interface for all"
