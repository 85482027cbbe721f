#!/usr/bin/env bash
# pcarp 2.0.0 (Rust) and python-pcapng 2.1.1 ignore if_tsoffset, so packets of such an interface are of 1970.
#
# Expected: an interface whose clock counts from another moment says so (if_tsoffset, seconds to be added to each time). Libraries that
#   give a packet's time as a moment add it: tshark, libpcap do. pcarp says that it agrees with tshark.
# Seen: both give the raw count as the moment: 1970-01-01T00:00:01.5 for one in 2023. Neither warns or raises, and python-pcapng even
#   shows the option. An interface without the option, in the same file, is right, so its packets are 54 years from the
#   others.
# Why it matters: recorders that count from the start of the capture or from their boot write files of this sort. Sorted by time, one
#   direction of a connection comes before all of the other.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in cargo tshark python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install python-pcapng==2.1.1
cat > capture.py <<'PY'
import struct

def block(kind, body):
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

def packet(interface, nanoseconds):
    return block(6, struct.pack("<IIIII", interface, nanoseconds >> 32, nanoseconds & 0xFFFFFFFF, 60, 60) + bytes(60))

resolution = struct.pack("<HHB3x", 9, 1, 9)
offset = struct.pack("<HHq", 14, 8, 1_700_000_000)
with open("capture.pcapng", "wb") as file:
    file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
    for options in (resolution + offset, resolution):
        file.write(block(1, struct.pack("<HHI", 1, 0, 0) + options + bytes(4)))
    file.write(packet(0, 1_500_000_000) + packet(1, 1_700_000_001_500_000_000))
PY
python3 capture.py
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "finding"
version = "0.1.0"
edition = "2021"
[dependencies]
pcarp = "=2.0.0"
TOML
cat > src/main.rs <<'RUST'
use std::time::UNIX_EPOCH;
fn main() {
    let capture = pcarp::Capture::new(std::fs::File::open("capture.pcapng").unwrap());
    for packet in capture {
        let time = packet.unwrap().timestamp.unwrap();
        println!("pcarp {:?}", time.duration_since(UNIX_EPOCH).unwrap());
    }
}
RUST
cat > read.py <<'PY'
import pcapng

with open("capture.pcapng", "rb") as file:
    for block in pcapng.FileScanner(file):
        if isinstance(block, pcapng.blocks.EnhancedPacket):
            print("python-pcapng", block.timestamp, "option", block.interface.options.get("if_tsoffset"))
PY
{ tshark -r capture.pcapng -T fields -e frame.time_epoch 2>/dev/null | sed 's/^/tshark /'; cargo run -q 2>log || cat log; env/bin/python read.py; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
tshark 1700000001.500000000
tshark 1700000001.500000000
pcarp 1.5s
pcarp 1700000001.5s
python-pcapng 1.5 option 1700000000
python-pcapng 1700000001.5 option None
EXPECTED
echo "as described: two libraries ignore the offset"
