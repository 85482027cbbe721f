#!/usr/bin/env bash
# Packets without a time (pcapng's Simple Packet Blocks): dpkt leaves them out, and in scapy they have no bytes.
#
# Expected: a Simple Packet Block has the bytes of a packet and its length, no time. A reader hands the bytes out, or says that it
#   cannot. A snapshot length of 0 means "no limit", as it does for the file's other blocks.
# Seen: dpkt 1.9.8 skips the block: of three packets there are two, without an error. scapy 2.8.0 cuts the packet at the snapshot
#   length even where that is 0, so the packet is empty. An obsolete Packet Block, which has a time, both read. gopacket 1.7.7
#   and tcpdump 4.99.3 have the bytes, with a time of the year 1 or of 1970, so a duration is half a century or more. tshark
#   4.0.17 has the bytes and no time.
# Why it matters: small recorders write such blocks, since they are the shortest, and 0 is the usual limit in pcapng. What dpkt
#   skips is a hole in the stream, which looks like loss on the network; to scapy it is a packet without TCP.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in python3 go tshark tcpdump; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install dpkt==1.9.8 scapy==2.8.0
cat > finding.py <<'PY'
import logging
import struct
import subprocess

logging.disable(logging.CRITICAL)
import dpkt
from scapy.utils import rdpcap

frame = bytes(12) + b"\x88\xb5" + bytes(46)
time = struct.pack("<II", *divmod(1_700_000_000_000_000, 1 << 32))
lengths = struct.pack("<II", len(frame), len(frame))

def block(kind, body):
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length

enhanced = block(6, bytes(4) + time + lengths + frame)
old = block(2, bytes(2) + b"\xff\xff" + time + lengths + frame)
simple = block(3, lengths[:4] + frame)
for name, snapshot, middle in (("limit 0", 0, simple), ("limit 262144", 262144, simple), ("old block", 0, old)):
    with open(f"{name}.pcapng", "wb") as file:
        file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        file.write(block(1, struct.pack("<HHI", 1, 0, snapshot)) + enhanced + middle + enhanced)
    with open(f"{name}.pcapng", "rb") as file:
        print(f"{name}: dpkt", *(len(data) for _, data in dpkt.pcapng.Reader(file)))
    print(f"{name}: scapy", *(len(bytes(packet)) for packet in rdpcap(f"{name}.pcapng")))

def told(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

print("tshark", *told("tshark", "-r", "limit 0.pcapng", "-T", "fields", "-e", "frame.cap_len", "-e", "frame.time_epoch"))
print("tcpdump", *(word for word in told("tcpdump", "-ttnr", "limit 0.pcapng") if word.endswith(".000000")))
PY
cat > go.mod <<'GO'
module finding
go 1.25.0
require github.com/gopacket/gopacket v1.7.7
GO
cat > main.go <<'GO'
package main
import ("fmt"; "os"
	"github.com/gopacket/gopacket/pcapgo")

func main() {
	file, _ := os.Open("limit 0.pcapng")
	reader, err := pcapgo.NewNgReader(file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		panic(err)
	}
	fmt.Print("gopacket")
	for data, info, err := reader.ReadPacketData(); err == nil; data, info, err = reader.ReadPacketData() {
		fmt.Print(" ", len(data), " of ", info.Timestamp.UTC().Year())
	}
	fmt.Println()
}
GO
{ env/bin/python finding.py && go mod tidy && go run .; } > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
limit 0: dpkt 60 60
limit 0: scapy 60 0 60
limit 262144: dpkt 60 60
limit 262144: scapy 60 60 60
old block: dpkt 60 60 60
old block: scapy 60 60 60
tshark 60 1700000000.000000000 60 60 1700000000.000000000
tcpdump 1700000000.000000 0.000000 1700000000.000000
gopacket 60 of 2023 60 of 1 60 of 2023
EXPECTED
echo "as described: a packet without a time is missing, empty, or of the year 1"
