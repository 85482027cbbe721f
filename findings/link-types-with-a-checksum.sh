#!/usr/bin/env bash
# A pcap file that says how long each frame's checksum is: no packet of it is Ethernet to scapy, dpkt and two Rust crates.
#
# Expected: the upper bits of pcap's link type say whether frames end with a checksum (FCS) and how long it is, the lower 16 are the
#   type. A reader looks at the lower 16, so Ethernet with 4 bytes of checksum is Ethernet.
# Seen: scapy 2.8.0 takes all 32 bits for the type, knows none of that number, and gives Raw packets with a warning in its log: a
#   loop over packets with TCP finds none. dpkt 1.9.8's datalink() is 1140850689, pcap-file 2.0.0 calls it Unknown, and so does
#   pcap-parser 0.17.0; programs that choose a decoder by it find none. tshark 4.0.17, tcpdump 4.99.3 (libpcap 1.10.3) and gopacket
#   1.7.7 read Ethernet. rdpcap ends without an error.
# Why it matters: capture cards and taps that keep checksums write such heads (libpcap does for them). A script that was tried with
#   tcpdump's files counts 0 connections in one of these, and 0 looks like an idle port.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in python3 go cargo tshark tcpdump; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install dpkt==1.9.8 scapy==2.8.0
cat > finding.py <<'PY'
import logging
import struct
import subprocess

logging.disable(logging.CRITICAL)
import dpkt
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap

frame = bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(dst="10.0.0.2") / TCP(dport=9092) / bytes(6)) + b"\x12\x34\x56\x78"
for name, upper in (("plain", 0), ("checksum", 1 << 26 | 4 << 28)):
    with open(f"{name}.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1 | upper))
        file.write(struct.pack("<IIII", 1_700_000_000, 0, len(frame), len(frame)) + frame)
    packet = rdpcap(f"{name}.pcap")[0]
    print(f"{name}: scapy {type(packet).__name__}, TCP {packet.haslayer(TCP) > 0}", end=", ")
    with open(f"{name}.pcap", "rb") as file:
        print("dpkt", dpkt.pcap.Reader(file).datalink(), end=", ")
    told = subprocess.run(["tshark", "-r", f"{name}.pcap", "-T", "fields", "-e", "tcp.dstport"], capture_output=True, text=True, check=True)
    print("tshark port", told.stdout.strip(), end=", ")
    told = subprocess.run(["tcpdump", "-nr", f"{name}.pcap", "tcp dst port 9092"], capture_output=True, text=True, check=True)
    print("tcpdump port", "9092" if ".9092: " in told.stdout else "?")
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
	file, _ := os.Open("checksum.pcap")
	reader, err := pcapgo.NewReader(file)
	if err != nil {
		panic(err)
	}
	fmt.Println("checksum: gopacket", reader.LinkType())
}
GO
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "finding"
version = "0.1.0"
edition = "2021"
[dependencies]
pcap-file = "=2.0.0"
pcap-parser = "=0.17.0"
TOML
cat > src/main.rs <<'RUST'
fn main() {
    let bytes = std::fs::read("checksum.pcap").unwrap();
    let reader = pcap_file::pcap::PcapReader::new(&bytes[..]).unwrap();
    let (_, head) = pcap_parser::parse_pcap_header(&bytes).unwrap();
    println!("checksum: pcap-file {:?}, pcap-parser {}", reader.header().datalink, head.network);
}
RUST
{ env/bin/python finding.py && go mod tidy && go run . && cargo run -q; } > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
plain: scapy Ether, TCP True, dpkt 1, tshark port 9092, tcpdump port 9092
checksum: scapy Raw, TCP False, dpkt 1140850689, tshark port 9092, tcpdump port 9092
checksum: gopacket Ethernet
checksum: pcap-file Unknown(1140850689), pcap-parser Linktype(1140850689 / 0x44000001)
EXPECTED
echo "as described: Ethernet with a checksum is no Ethernet"
