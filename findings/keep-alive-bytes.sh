#!/usr/bin/env bash
# The byte that some hosts put into a keep-alive probe is data to four tools: it takes the place of the last byte sent, or is added.
#
# Expected: a probe repeats the last sequence number that was sent and acknowledged; its byte, if there is one (Windows and
#   old stacks send a zero, RFC 1122 lets them), was never sent by a program, and a tool that rebuilds the stream leaves it out.
# Seen: tcptrace 6.6.7 writes the zero over the last byte of the message before. tcpick 0.2.1 adds it, and loses what overlaps.
#   Both do so with the whole connection in the capture. In a capture that begins with a probe, tshark 4.0.17 and tcpflow 1.6.1
#   begin the stream with the zero too. All end with code 0.
# Why it matters: idle Kafka connections are probed each minute or two. A zero before the first length field makes the length
#   256 times too small and shifts everything; a replaced byte is another value of the last field, which reads well.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in apt-get dpkg python3 tshark; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
drawing="libcairo2 libpixman-1-0 libfontconfig1 libfreetype6 libpng16-16 libbrotli1 libx11-6 libxcb1 libxcb-render0 libxcb-shm0"
drawing+=" libxrender1 libxext6 libxau6 libxdmcp6 libbsd0 libmd0"  # tcpflow links it
chmod 755 . && apt-get download tcpflow=1.6.1-2+b1 tcptrace=6.6.7-6+b1 tcpick=0.2.1-10 libhttp-parser2.9 $drawing >apt.log 2>&1 \
  || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
libraries="$work/$(dirname "$(find root -name 'libhttp_parser.so.2.9')"):$work/root/lib/x86_64-linux-gnu"
export libraries PATH="$work/root/usr/bin:$work/root/usr/sbin:$PATH"
cat > finding.py <<'PY'
import os, re, socket, struct, subprocess
from pathlib import Path

SYN, ACK, PUSH, FIN = 2, 0x10, 0x18, 0x11

def checksum(data):
    return struct.pack(">H", 0xFFFF - (sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2))) - 1) % 0xFFFF - 1)

def packet(number, from_client, sequence, acknowledged, flags, data=b""):
    ends = [(socket.inet_aton("10.0.0.1"), 40_000), (socket.inet_aton("10.0.0.2"), 9092)][:: 1 if from_client else -1]
    hosts, numbers = ends[0][0] + ends[1][0], (sequence % 2**32, acknowledged % 2**32)
    tcp = struct.pack(">HHIIBBHHH", ends[0][1], ends[1][1], *numbers, 0x50, flags, 65_535, 0, 0) + data
    tcp = tcp[:16] + checksum(hosts + struct.pack(">HH", 6, len(tcp)) + tcp) + tcp[18:]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), number, 0, 64, 6, 0) + hosts
    return bytes(12) + b"\x08\x00" + ip[:10] + checksum(ip) + ip[12:] + tcp

def ask(name, *packets):
    (folder := Path(name)).mkdir()
    with open(folder / "capture.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        for number, fields in enumerate(packets):
            data = packet(number, *fields)
            file.write(struct.pack("<IIII", 1_795_827_358 + number, 0, len(data), len(data)) + data)
    env, told = os.environ | {"LD_LIBRARY_PATH": os.environ["libraries"]}, []
    for tool, *options in ("tcptrace", "-n", "-e"), ("tcpick", "-wR", "-r"), ("tcpflow", "-o", ".", "-r"):
        (folder / tool).mkdir()
        subprocess.run([tool, *options, "../capture.pcap"], cwd=folder / tool, check=True, capture_output=True, env=env)
        files = [path for path in sorted((folder / tool).iterdir()) if path.name.startswith(("a2b", "010.000.000.001")) or ".serv" in path.name]
        told += [tool, *(re.sub(rb"\0{20,}", lambda many: b"<%d zeros>" % len(many[0]), path.read_bytes()) for path in files)]
    for stream in "01":
        lines = subprocess.run(["tshark", "-q", "-r", folder / "capture.pcap", "-z", f"follow,tcp,raw,{stream}"], capture_output=True, text=True).stdout
        told += [f"tshark {stream}", b"".join(bytes.fromhex(line) for line in lines.split("\n") if re.fullmatch("([0-9a-f]{2})+", line))]
    print(f"{name}:", *told)

def opening(first, second):
    return (1, first - 1, 0, SYN), (0, second - 1, first, SYN | ACK), (1, first, second, ACK)

def ending(first, second):
    return (1, first, second, FIN), (0, second, first + 1, FIN), (1, first + 1, second + 1, ACK)

probe = ((1, 999, 500, ACK, b"\0"), (0, 500, 1000, ACK))
later = ((1, 1010, 511, ACK, b"\0"), (0, 511, 1011, ACK))
first = ((1, 1000, 500, PUSH, b"first-part-"), (0, 500, 1011, PUSH, b"answer-one-"))
second = ((1, 1011, 511, PUSH, b"second"), (0, 511, 1017, PUSH, b"answer-two"))
ask("whole", *opening(1000, 500), *probe, *first, *later, *second, *ending(1017, 521))
ask("begun", *probe, *first, *later, *second, *ending(1017, 521))
PY
python3 finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these tools of Debian 12 did when this was written"; exit 1; }
whole: tcptrace b'first-part\x00second' tcpick b'\x00\x00second' tcpflow b'first-part-second' tshark 0 b'first-part-second' tshark 1 b''
begun: tcptrace b'\x00first-part\x00second' tcpick tcpflow b'\x00first-part-second' tshark 0 b'\x00first-part-second' tshark 1 b''
EXPECTED
echo "as described: a probe's byte is data"
