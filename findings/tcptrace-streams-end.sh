#!/usr/bin/env bash
# tcptrace's stream ends where sequence numbers begin anew, two connections are one, SYN's data are zeros; tcpick loses resent bytes.
#
# Expected: a tool that writes what a TCP connection carried writes every acknowledged byte once, whatever its sequence number
#   and however it was cut into segments. None of the captures here lacks a packet.
# Seen: tcptrace 6.6.7 (-e): behind sequence number 2^32 nothing is written; a second connection of the same ports, a moment later,
#   goes into the file of the first, behind zeros for the distance of their numbers; data in the SYN (TCP Fast Open) is zeros.
#   tcpick 0.2.1 (-wR) repeats bytes that two segments share, drops what is new in a segment that begins with bytes it has seen,
#   loses the data of a SYN, and what came out of order around 2^32. tcpflow 1.6.1 and tshark 4.0.17 write what was sent.
#   All end with code 0.
# Why it matters: sequence numbers begin anywhere, so one connection of a hundred with 40 MB meets 2^32, and a busy one often; a
#   retransmission that is longer than the first attempt is usual. Most streams are right, and those that are not look complete.
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

def talk(first, second):
    return ((1, first, second, PUSH, b"first-part-"), (0, second, first + 11, PUSH, b"answer-one-"),
            (1, first + 11, second + 11, PUSH, b"second"), (0, second + 11, first + 17, PUSH, b"answer-two"))

talked, high, answer, end = talk(1000, 500), 2**32 - 10, 2**32 - 500, ending(1017, 521)
over = talk(high, answer)
ask("2^32", *opening(high, answer), *over, *ending(high + 17, answer + 21))
ask("2^32, other order", *opening(high, answer), over[2], over[0], over[1], over[3], *ending(high + 17, answer + 21))
again = ((1, 6000, 7000, PUSH, b"other"), (0, 7000, 6005, PUSH, b"other-answer"))
ask("same ports", *opening(1000, 500), *talked, *end, *opening(6000, 7000), *again, *ending(6005, 7012))
ask("fast open", (1, 999, 0, SYN, b"first-"), (0, 499, 1006, SYN | ACK), (1, 1006, 500, PUSH, b"part-"), *talked[1:], *end)
ask("sent again, longer", *opening(1000, 500), (1, 1000, 500, PUSH, b"first-"), *talked, *end)
ask("overlap", *opening(1000, 500), (1, 1006, 500, PUSH, b"part-"), (1, 1000, 500, PUSH, b"first-pa"), *talked[1:], *end)
PY
python3 finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these tools of Debian 12 did when this was written"; exit 1; }
2^32: tcptrace b'first-part-' tcpick b'first-part-second' tcpflow b'first-part-second' tshark 0 b'first-part-second' tshark 1 b''
2^32, other order: tcptrace b'first-part-' tcpick b'second' tcpflow b'first-part-second' tshark 0 b'first-part-second' tshark 1 b''
same ports: tcptrace b'first-part-second<4983 zeros>other' tcpick b'other' b'first-part-second' tcpflow b'first-part-second' b'other' tshark 0 b'first-part-second' tshark 1 b'other'
fast open: tcptrace b'\x00\x00\x00\x00\x00\x00part-second' tcpick b'part-second' b'' tcpflow b'first-part-second' tshark 0 b'first-part-second' tshark 1 b''
sent again, longer: tcptrace b'first-part-second' tcpick b'first-second' tcpflow b'first-part-second' tshark 0 b'first-part-second' tshark 1 b''
overlap: tcptrace b'first-part-second' tcpick b'first-papart-second' tcpflow b'first-part-second' tshark 0 b'first-part-second' tshark 1 b''
EXPECTED
echo "as described: bytes that were sent are not in the stream"
