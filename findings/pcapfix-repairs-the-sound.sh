#!/usr/bin/env bash
# pcapfix 1.1.7 "repairs" captures that have no fault: half of the packets are gone, or nothing can read the result, and it says SUCCESS.
#
# Expected: of a valid capture pcapfix says "Nothing to fix!", as it does of most, and writes no file.
# Seen: each of these is valid (tshark reads all six packets) and is declared corrupt, with code 0 and "SUCCESS":
#   older packets behind newer ones, as mergecap -a or a clock that was set leaves them: all that follows the step is dropped;
#   the same after a pause of three days. If the second packet lies a second before the first, two packets of nonsense remain.
#   Packets cut to 96 bytes, as tcpdump -s 96 writes them, under a head that says 262144 (several libraries): a cut packet loses its
#   length on the wire, and its time is a microsecond behind that of the one before. With 96 in the head all is well.
#   pcapng in big-endian, or with Simple Packet Blocks: tshark cannot read the result. TLS secrets and custom blocks are removed.
# Why it matters: it is run when one packet at the end is broken, and on folders of captures "to be sure". What it drops was good, its
#   success is reported by code and text, and "-o" over the input is what its documentation gives for disks that are full.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in tshark python3 apt-get dpkg-deb; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
apt-get download -qq pcapfix=1.1.7-2 2>log && dpkg-deb -x pcapfix_*.deb fix || { cat log; exit 1; }
cat > finding.py <<'PY'
import pathlib
import struct
import subprocess

FRAMES = [bytes(range(12)) + b"\x88\xb5" + bytes((7 * number + 31 * n) % 251 for n in range(size)) for number, size in enumerate((33, 20, 30, 40, 1000, 51))]
START = 1_700_000_000

def pcap(times, size=2000, told=262144):
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, told, 1)
    for time, frame in zip(times, FRAMES):
        out += struct.pack("<IIII", START + time, 0, len(frame[:size]), len(frame)) + frame[:size]
    return out

def block(order, kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)

def pcapng(order="<", simple=False, extra=b""):
    out = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(order, 1, struct.pack(order + "HHI", 1, 0, 0)) + extra
    for second, frame in enumerate(FRAMES):
        time = (START + second) * 1_000_000
        head = (len(frame),) if simple else (0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
        out += block(order, 3 if simple else 6, struct.pack(f"{order}{len(head)}I", *head) + frame)
    return out

def read(name):
    """How many packets of FRAMES tshark finds, and whether it reads to the end."""
    shark = subprocess.run(["tshark", "-r", name, "-T", "fields", "-e", "frame.len"], capture_output=True, text=True, check=False)
    known = [str(len(frame)) for frame in FRAMES]
    lengths = shark.stdout.split()
    return f"{len(lengths)} packets, {len(set(known) & set(lengths))} of them as they were" + (", unreadable" if shark.returncode else "")

secrets = block("<", 10, struct.pack("<II", 0x544C534B, 20) + b"CLIENT_RANDOM 00 00\n")
for name, content in {
    "plain": pcap(range(6)),
    "appended": pcap((10, 11, 12, 1, 2, 3)),
    "three days": pcap((0, 1, 2, 259_203, 259_204, 259_205)),
    "second is older": pcap((1, 0, 2, 3, 4, 5)),
    "cut, 96 told": pcap(range(6), 96, 96),
    "cut": pcap(range(6), 96),
    "pcapng": pcapng(),
    "pcapng, secrets": pcapng(extra=secrets),
    "pcapng, big-endian": pcapng(">"),
    "pcapng, simple packets": pcapng(simple=True),
}.items():
    pathlib.Path("in").write_bytes(content)
    pathlib.Path("out").unlink(missing_ok=True)
    assert read("in") == "6 packets, 6 of them as they were", name
    run = subprocess.run(["fix/usr/bin/pcapfix", "-o", "out", "in"], capture_output=True, check=False)
    told = "SUCCESS" if b"SUCCESS" in run.stdout else "nothing to fix" if b"Nothing to fix" in run.stdout else "other"
    gone = ", secrets removed" if secrets in content and pathlib.Path("out").exists() and secrets not in pathlib.Path("out").read_bytes() else ""
    print(f"{name}: {told}" + (f", {read('out')}{gone}" if pathlib.Path("out").exists() else ""))
PY
python3 finding.py > seen 2> log || { tail -3 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what pcapfix 1.1.7 did when this was written"; exit 1; }
plain: nothing to fix
appended: SUCCESS, 3 packets, 3 of them as they were
three days: SUCCESS, 3 packets, 3 of them as they were
second is older: SUCCESS, 2 packets, 0 of them as they were
cut, 96 told: nothing to fix
cut: SUCCESS, 6 packets, 5 of them as they were
pcapng: nothing to fix
pcapng, secrets: SUCCESS, 6 packets, 6 of them as they were, secrets removed
pcapng, big-endian: SUCCESS, 0 packets, 0 of them as they were, unreadable
pcapng, simple packets: SUCCESS, 0 packets, 0 of them as they were, unreadable
EXPECTED
echo "as described: valid captures are repaired into ruins"
