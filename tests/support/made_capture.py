"""Captures made by hand: conversations of one client and one broker as Ethernet, IPv4 and TCP, in a pcap file."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
BROKER_PORT = 9092
START_US = 1_800_000_000_000_000
ETHERNET = bytes(12) + b"\x08\x00"
FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)

Packet = tuple[int, bytes]  # time in us since the epoch, bytes of the frame


def segment(
    ends: tuple[int, int, int, int], sequence: int, acknowledged: int, flags: int, data: bytes = b"", number: int = 0
) -> bytes:
    """One frame; `ends` are source address, source port, target address, target port; `number` is the IP id."""
    source, source_port, target, target_port = ends
    tcp = struct.pack(
        ">HHIIBBHHH", source_port, target_port, sequence & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF, 0x50, flags, 500, 0, 0
    )
    ip = struct.pack(
        ">BBHHHBBHII", 0x45, 0, 40 + len(data), number & 0xFFFF, 0, 64, 6, 0, source & 0xFFFFFFFF, target & 0xFFFFFFFF
    )
    return ETHERNET + ip + tcp + data


class Conversation:
    """Writes a conversation packet by packet; both streams begin at 1000."""

    def __init__(self, client: int = 0x0A000001, port: int = 40_000, start_us: int = START_US) -> None:
        self.ends = (client, port, 0x0A0000FE, BROKER_PORT)
        self.next = [1000, 1000]
        self.clock = start_us
        self.packets: list[Packet] = []

    def put(self, side: int, flags: int, data: bytes = b"") -> Conversation:
        """A segment of `side` (0 the client), which acknowledges all that the other one has sent."""
        ends = self.ends if side == 0 else self.ends[2:] + self.ends[:2]
        ack = 0 if flags == SYN else self.next[1 - side]
        packet = segment(ends, self.next[side], ack, flags, data, len(self.packets) + 1)
        self.packets.append((self.clock, packet))
        self.next[side] += len(data) + (flags & (SYN | FIN) != 0)
        self.clock += 500
        return self

    def shake(self) -> Conversation:
        return self.put(0, SYN).put(1, SYN | ACK).put(0, ACK)

    def frame(self, side: int, message: bytes, most_bytes: int = 1400) -> Conversation:
        """A whole frame, its length in front."""
        data = struct.pack(">i", len(message)) + message
        for at in range(0, len(data), most_bytes):
            self.put(side, PSH | ACK, data[at : at + most_bytes])
        return self

    def exchange(self, request: bytes, reply: bytes) -> Conversation:
        return self.frame(0, request).frame(1, reply)

    def close(self) -> Conversation:
        return self.put(0, FIN | ACK).put(1, FIN | ACK).put(0, ACK)


def pcap(packets: Iterable[Packet]) -> bytes:
    """A little-endian file in microseconds, in the order given."""
    out = bytearray(FILE_HEADER)
    for time, data in packets:
        out += struct.pack("<IIII", time // 1_000_000, time % 1_000_000, len(data), len(data)) + data
    return bytes(out)


def request(correlation: int) -> bytes:
    """ListGroups v0: nothing but a header."""
    return struct.pack(">hhih", 16, 0, correlation, 4) + b"test"


def reply(correlation: int) -> bytes:
    """Its reply: no error, no groups."""
    return struct.pack(">ihi", correlation, 0, 0)


def merged(conversations: Sequence[Conversation]) -> list[Packet]:
    """All packets in the order of time."""
    return sorted(
        (packet for conversation in conversations for packet in conversation.packets), key=lambda packet: packet[0]
    )
