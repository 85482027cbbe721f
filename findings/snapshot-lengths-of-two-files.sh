#!/usr/bin/env bash
# Two captures with other snapshot lengths, joined by mergecap: tcpdump and all that reads with libpcap cannot read the result.
#
# Expected: tcpdump reads pcapng, and a file of two interfaces as long as they have one link type. A snapshot length is an upper limit
#   that says nothing of the packets in the file: of two limits the larger one holds for all.
# Seen: mergecap 4.0.17 keeps both limits, one for each interface, which is right by the format. tcpdump 4.99.3 (libpcap 1.10.3) ends
#   at the second interface's description: "an interface has a snapshot length 65535 different from the snapshot length of the first
#   interface", code 1, and not one packet is read, though no packet comes near either limit. Equal lengths are read. capinfos
#   shows no limit at all of such a file ("(not set)"). tshark, scapy 2.8.0 and dpkt 1.9.8 read all packets, and
#   "editcap -F pcap" makes a file that tcpdump reads.
# Why it matters: tcpdump writes 262144, older ones and many libraries 65535, probes their own number: joining client's and broker's
#   captures is the usual case for it. Every tool that is built on libpcap fails, with words that make one look for cut packets.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in mergecap editcap capinfos tshark tcpdump python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip install -q scapy==2.8.0 dpkt==1.9.8
cat > write.py <<'PY'
import struct

packet = bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 1, 0, 64, 6, 0, b"\n\0\0\1", b"\n\0\0\2")
packet += struct.pack(">HHIIBBHHH", 40000, 9092, 1, 1, 0x50, 0x10, 65535, 0, 0)
for name, limit, second in (("client", 262144, 0), ("broker", 65535, 1), ("other", 262144, 2)):
    with open(f"{name}.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, limit, 1))
        for number in range(3):
            file.write(struct.pack("<IIII", 1_700_000_000 + second + 10 * number, 0, len(packet), len(packet)) + packet)
PY
cat > read.py <<'PY'
import dpkt
import scapy.all

print("scapy", len(scapy.all.rdpcap("joined.pcapng")))
with open("joined.pcapng", "rb") as file:
    print("dpkt", len(list(dpkt.pcapng.Reader(file))))
PY
python3 write.py
mergecap -w joined.pcapng client.pcap broker.pcap
mergecap -w equal.pcapng client.pcap other.pcap
editcap -F pcap joined.pcapng again.pcap
{
  capinfos joined.pcapng 2>>log | grep "size limit" | tr -s ' '
  for name in joined.pcapng equal.pcapng again.pcap; do
    code=0
    tcpdump -nr $name > packets 2> said || code=$?
    echo "tcpdump $name: $(wc -l < packets) packets, code $code, $(sed -n 's/^tcpdump: //p' said)" | sed 's/, $//'
  done
  echo "tshark $(tshark -r joined.pcapng 2>>log | wc -l)"
  env/bin/python read.py 2>>log
} > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
Packet size limit: file hdr: (not set)
tcpdump joined.pcapng: 0 packets, code 1, pcap_loop: an interface has a snapshot length 65535 different from the snapshot length of the first interface
tcpdump equal.pcapng: 6 packets, code 0
tcpdump again.pcap: 6 packets, code 0
tshark 6
scapy 6
dpkt 6
EXPECTED
echo "as described: other snapshot lengths make a file unreadable to libpcap"
