#!/usr/bin/env bash
# scapy's TCPSession puts zeros where a segment is late, and hands the message out; behind sequence number 2^32 it loses all.
#
# Expected: TCPSession ("reassembles TCP") gives tcp_reassemble() of a protocol the stream's bytes in order, as far as they are there
#   without a hole. A message whose length field says 40 bytes is complete when these 40 bytes have been seen.
# Seen (scapy 2.8.0), of one message in three segments behind a complete handshake:
#   the second segment is behind the third: a message with 14 zeros in its middle, and its own bytes are not seen;
#   the second is not in the capture: the same message with zeros; sequence numbers pass 2^32: no message;
#   a keep-alive probe with a zero byte after the first segment: that byte takes the place of the last byte sent.
#   In order and with a segment sent twice it is right. No error, no warning, and nothing in the packet tells.
# Why it matters: the class is what one writes a dissector for a protocol with lengths with, and tests of one's own are in order. Two
#   segments change places on many real networks and in captures of several queues: the fields in the middle are then 0 and "",
#   which read well in Kafka's layout.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q scapy==2.8.0
cat > finding.py <<'PY'
import struct

from scapy.all import IP, TCP, Ether, Raw, bind_layers, sniff, wrpcap
from scapy.packet import Packet
from scapy.sessions import TCPSession


class Message(Packet):  # four bytes of length, and that many bytes
    name = "Message"
    fields_desc = []

    @classmethod
    def tcp_reassemble(cls, data, metadata, session):
        if len(data) < 4 or len(data) < 4 + struct.unpack(">i", data[:4])[0]:
            return None
        return Raw(data)


bind_layers(TCP, Message, dport=9092)
MESSAGE = struct.pack(">i", 40) + b"a" * 10 + b"b" * 14 + b"c" * 16
FIRST, SECOND, THIRD = (0, 14), (14, 28), (28, 44)


def seen(parts, start=1000, probe=False):
    """The messages that scapy finds where these parts of MESSAGE are sent in this order."""

    def client(flags, at, data=b""):
        packet = Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=40000, dport=9092, flags=flags, seq=at % 2**32, ack=5001)
        return packet / Raw(data) if data else packet

    server = Ether() / IP(src="10.0.0.2", dst="10.0.0.1")
    packets = [client("S", start), server / TCP(sport=9092, dport=40000, flags="SA", seq=5000, ack=(start + 1) % 2**32), client("A", start + 1)]
    for begin, end in parts:
        packets.append(client("PA", start + 1 + begin, MESSAGE[begin:end]))
        if probe and begin == 0:
            packets.append(client("A", start + end, b"\0"))
    for number, packet in enumerate(packets):
        packet.time = 1_700_000_000 + number / 100
    wrpcap("capture.pcap", packets)
    found = [bytes(packet[Raw]) for packet in sniff(offline="capture.pcap", session=TCPSession, quiet=True) if Raw in packet]
    return " and ".join((message[4:] if message[:4] == MESSAGE[:4] else message).decode().replace("\0", "0") for message in found) or "none"


print("in order:  ", seen([FIRST, SECOND, THIRD]))
print("twice:     ", seen([FIRST, SECOND, SECOND, THIRD]))
print("late:      ", seen([FIRST, THIRD, SECOND]))
print("lost:      ", seen([FIRST, THIRD]))
print("past 2^32: ", seen([FIRST, SECOND, THIRD], start=2**32 - 20))
print("probe:     ", seen([FIRST, SECOND, THIRD], probe=True))
PY
env/bin/python finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what scapy 2.8.0 did when this was written"; exit 1; }
in order:   aaaaaaaaaabbbbbbbbbbbbbbcccccccccccccccc
twice:      aaaaaaaaaabbbbbbbbbbbbbbcccccccccccccccc
late:       aaaaaaaaaa00000000000000cccccccccccccccc
lost:       aaaaaaaaaa00000000000000cccccccccccccccc
past 2^32:  none
probe:      aaaaaaaaa0bbbbbbbbbbbbbbcccccccccccccccc
EXPECTED
echo "as described: late bytes are zeros in a complete message"
