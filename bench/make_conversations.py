"""Writes captures of few connections whose messages are large, byte by byte as a TCP stack would send them.

`bulk`: producers of 1 MB messages. `metadata`: clients that ask for all topics of a large cluster. One request at a time on each
connection. Checksums are zero, as capturing hosts with offload leave them. The same arguments give the same bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from heapq import merge
from pathlib import Path

import google_crc32c
from make_captures import FILE_HEADER, PACKET, START_SECONDS

SEGMENT_BYTES = 1_448
SEGMENT_US = 5
STEP_US = 500
BULK_BYTES = 1_000_000
CONNECTIONS = 8
BROKERS, TOPICS, PARTITIONS = 12, 1_000, 12

# The request and the reply with a correlation id, without the 4 bytes of their lengths.
Exchange = Callable[[int], tuple[bytes, bytes]]


def produce(size: int) -> Exchange:
    """Produce v3 with one record of so many bytes, and its reply."""
    batch = _batch(bytes(size))

    def exchange(correlation: int) -> tuple[bytes, bytes]:
        header = struct.pack(">hhih5s", 0, 3, correlation, 5, b"bench")
        body = struct.pack(">hhiih6siii", -1, 1, 30_000, 1, 6, b"orders", 1, 0, len(batch)) + batch
        reply = struct.pack(">iih6siihqqi", correlation, 1, 6, b"orders", 1, 0, 0, correlation, -1, 0)
        return header + body, reply

    return exchange


def metadata(topics: int = TOPICS) -> Exchange:
    """Metadata v5 for all topics, and a reply with so many."""
    brokers = b"".join(
        struct.pack(">ih9sih", node, 9, f"broker-{node:02}".encode(), 9092, -1) for node in range(BROKERS)
    )
    told = b"".join(map(_topic, range(topics)))
    rest = struct.pack(">ii", 0, BROKERS) + brokers + struct.pack(">h7sii", 7, b"cluster", 0, topics) + told

    def exchange(correlation: int) -> tuple[bytes, bytes]:
        return struct.pack(">hhih5si?", 3, 5, correlation, 5, b"bench", -1, False), struct.pack(
            ">i", correlation
        ) + rest

    return exchange


def _topic(number: int) -> bytes:
    name = f"orders.payments.{number:05}".encode()
    replicas = [struct.pack(">iiii", 3, *((first + step) % BROKERS for step in range(3))) for first in range(BROKERS)]
    partitions = (
        struct.pack(">hii", 0, index, index % BROKERS) + 2 * replicas[index % BROKERS] + struct.pack(">i", 0)
        for index in range(PARTITIONS)
    )
    return struct.pack(f">hh{len(name)}s?i", 0, len(name), name, False, PARTITIONS) + b"".join(partitions)


def write(path: Path, exchange: Exchange, size: int, connections: int = CONNECTIONS) -> Path:
    """Writes connections side by side until the file has `size` bytes."""
    with path.open("wb", buffering=1 << 20) as file:
        file.write(FILE_HEADER)
        talks = (_packets(number, exchange) for number in range(connections))
        for time_us, packet in merge(*talks, key=lambda pair: pair[0]):
            seconds, micros = divmod(time_us, 1_000_000)
            file.write(PACKET.pack(START_SECONDS + seconds, micros, len(packet), len(packet)) + packet)
            if file.tell() >= size:
                return path
    raise AssertionError("a conversation has no end")


def _packets(number: int, exchange: Exchange) -> Iterator[tuple[int, bytes]]:
    """Times, in µs, and packets of one connection, without an end."""
    time_us, at, correlation = 37 * number, [1_000, 5_000], 0
    while True:
        for side, message in enumerate(exchange(correlation)):
            framed = struct.pack(">i", len(message)) + message
            for begin in range(0, len(framed), SEGMENT_BYTES):
                piece = framed[begin : begin + SEGMENT_BYTES]
                yield time_us, packet(number, side, at[side], at[1 - side], piece)
                at[side] = (at[side] + len(piece)) & 0xFFFFFFFF
                time_us += SEGMENT_US
            time_us += STEP_US
        correlation = (correlation + 1) & 0x7FFFFFFF


def packet(number: int, side: int, sequence: int, acknowledged: int, payload: bytes) -> bytes:
    ports, hosts = (40_000 + number, 9_092), (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
    tcp = struct.pack(">HHIIBBHHH", ports[side], ports[1 - side], sequence, acknowledged, 0x50, 0x18, 4_096, 0, 0)
    total = 20 + len(tcp) + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 6, 0) + hosts[side] + hosts[1 - side]
    return bytes(12) + b"\x08\0" + ip + tcp + payload


def _batch(value: bytes) -> bytes:
    """A record batch (format 2) with one record."""
    length = len(value)
    record = b"\x00\x00\x00\x01" + _varint(2 * length) + value + b"\x00"
    record = _varint(2 * len(record)) + record
    after_crc = struct.pack(">hiqqqhii", 0, 0, 1, 1, -1, -1, -1, 1) + record
    rest = struct.pack(">ibI", 0, 2, google_crc32c.value(after_crc)) + after_crc
    return struct.pack(">qi", 0, len(rest)) + rest


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
