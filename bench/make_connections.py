"""Writes captures of very many connections: what `kanalyze` has to bear without a limit being raised by hand.

`short`: connections of one exchange, opened and closed. `idle`: the same, never closed; a few speak once more at the end.
`flood`: bare SYNs from everywhere to one broker. `scan`: one host that tries ports of a network; most refuse, some are silent.

A capture is made of scripts: the packets of one connection. `BATCH` connections say each packet one after the other; in step s
the packet p is that of batch s - p, so that nine batches are under way at once and time never goes back. The same arguments
give the same bytes. Memory does not grow with the size.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
# The header of a packet in the capture, Ethernet, IPv4 and TCP: what differs from one packet of a script to the next.
PACKET = struct.Struct("<IIII 14s")
HEADERS = struct.Struct(">HHHHHHIIHHIIHHHH")
HEADER_BYTES, ETHERNET_BYTES = 40, 14
ETHERNET = bytes(12) + b"\x08\x00"
START_SECONDS = 1_800_000_000
STEP_US = 50_000
BATCH = 1000
FIN, SYN, RST, ACK, PSH_ACK = 1, 2, 4, 16, 24


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


# ApiVersions v2 by a client named "app", and a reply of 60 APIs.
ASK = frame(struct.pack(">hhih3s", 18, 2, 1, 3, b"app"))
REPLY = frame(struct.pack(">ihi", 1, 0, 60) + b"".join(struct.pack(">hhh", key, 0, 3) for key in range(60)) + bytes(4))


@dataclass(frozen=True)
class Packet:
    """A packet of a script: `side` 0 is the client; `seq` and `ack` count from the first numbers of both sides."""

    side: int
    flags: int
    seq: int
    ack: int
    payload: bytes = b""


SHAKE = (Packet(0, SYN, 0, 0), Packet(1, SYN | ACK, 0, 1), Packet(0, ACK, 1, 1))
ASKED, TOLD = 1 + len(ASK), 1 + len(REPLY)
EXCHANGE = (Packet(0, PSH_ACK, 1, 1, ASK), Packet(1, PSH_ACK, 1, ASKED, REPLY), Packet(0, ACK, ASKED, TOLD))
CLOSE = (Packet(0, FIN | ACK, ASKED, TOLD), Packet(1, FIN | ACK, TOLD, ASKED + 1), Packet(0, ACK, ASKED + 1, TOLD + 1))
AGAIN = (
    Packet(0, PSH_ACK, ASKED, TOLD, ASK),
    Packet(1, PSH_ACK, TOLD, ASKED + len(ASK), REPLY),
    Packet(0, ACK, ASKED + len(ASK), TOLD + len(REPLY)),
)

# Number of a connection -> address and port of the client, and of the broker.
Ends = Callable[[int], tuple[int, int, int, int]]


def clients(number: int) -> tuple[int, int, int, int]:
    """60,000 ports of one client after the other, to one of three brokers."""
    return 0x0A000001 + number // 60_000, 1024 + number % 60_000, 0x0AFF0001 + number % 3, 9092


def anywhere(number: int) -> tuple[int, int, int, int]:
    """Clients whose addresses look random, to one broker."""
    mixed = (number * 2_654_435_761) & 0xFFFFFFFF
    return mixed, 1024 + mixed % 60_000, 0x0AFF0001, 9092


def ports(number: int) -> tuple[int, int, int, int]:
    """One host that tries 1,000 ports of one address after the other."""
    return 0x0A0000FE, 40_000 + number % 20_000, 0x0AFE0000 + number // 1000, 1 + number % 1000


def records(packet: Packet, numbers: range, ends: Ends, start_us: int) -> bytes:
    """The packet of the connections `numbers`, 5 µs apart."""
    size = HEADER_BYTES + len(packet.payload)
    flags = 0x5000 | packet.flags
    # Checksums (RFC 1071) add up words of 16 bits, so what all packets share is added up once.
    ip_words = 0x4500 + size + 0x4000 + 0x4006
    tcp_words = 6 + size - 20 + flags + 64_240 + words(packet.payload)
    pieces: list[bytes] = []
    for place, number in enumerate(numbers):
        client, client_port, broker, broker_port = ends(number)
        seconds, micros = divmod(start_us + 5 * place, 1_000_000)
        first = (number * 40_503 + 7, number * 48_271 + 11)
        seq = (first[packet.side] + packet.seq) & 0xFFFFFFFF
        ack = (first[1 - packet.side] + packet.ack) & 0xFFFFFFFF if packet.ack else 0
        hosts = (client >> 16) + (client & 0xFFFF) + (broker >> 16) + (broker & 0xFFFF)
        sent_id = (number * 7 + packet.seq) & 0xFFFF
        tcp_sum = tcp_words + hosts + client_port + broker_port
        tcp_sum += (seq >> 16) + (seq & 0xFFFF) + (ack >> 16) + (ack & 0xFFFF)
        if packet.side:
            client, client_port, broker, broker_port = broker, broker_port, client, client_port
        pieces.append(PACKET.pack(START_SECONDS + seconds, micros, *(2 * (ETHERNET_BYTES + size,)), ETHERNET))
        pieces.append(
            HEADERS.pack(
                *(0x4500, size, sent_id, 0x4000, 0x4006, 0xFFFF - folded(ip_words + hosts + sent_id), client, broker),
                *(client_port, broker_port, seq, ack, flags, 64_240, 0xFFFF - folded(tcp_sum), 0),
            )
        )
        pieces.append(packet.payload)
    return b"".join(pieces)


def words(data: bytes) -> int:
    """The sum of the words of 16 bits."""
    return sum(int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big") for at in range(0, len(data), 2))


def folded(total: int) -> int:
    total = (total & 0xFFFF) + (total >> 16)
    return (total & 0xFFFF) + (total >> 16)


def write(file: BinaryIO, script: tuple[Packet, ...], count: int, ends: Ends, since_us: int = 0, every: int = 1) -> int:
    """Writes `count` connections, whose numbers are `every` apart; returns the time behind the last packet, in µs."""
    batches = -(-count // BATCH)
    steps = batches + len(script) - 1
    for step in range(steps):
        for place, packet in enumerate(script):
            batch = step - place
            if 0 <= batch < batches:
                numbers = range(batch * BATCH * every, min(count, (batch + 1) * BATCH) * every, every)
                at_us = since_us + step * STEP_US + place * STEP_US // len(script)
                file.write(records(packet, numbers, ends, at_us))
    return since_us + steps * STEP_US


def make(kind: str, count: int, path: Path) -> Path:
    """Writes a capture of so many connections, or attempts, of a kind."""
    with path.open("wb") as file:
        file.write(FILE_HEADER)
        if kind == "short":
            write(file, SHAKE + EXCHANGE + CLOSE, count, clients)
        elif kind == "idle":
            later = write(file, SHAKE + EXCHANGE, count, clients)
            write(file, AGAIN, count // 1000, clients, later, every=1000)
        elif kind == "flood":
            write(file, SHAKE[:1], count, anywhere)
        else:
            write(file, (SHAKE[0], Packet(1, RST | ACK, 0, 1)), count, ports)
    return path


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("kind", choices=("short", "idle", "flood", "scan"))
    asked.add_argument("count", type=int, help="connections, or attempts")
    asked.add_argument("path", type=Path)
    chosen = asked.parse_args()
    path = make(chosen.kind, chosen.count, chosen.path)
    print(f"{path}  {path.stat().st_size / 1e6:,.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
