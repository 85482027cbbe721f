"""The few requests that odd clients of the lab send by hand, byte by byte (Kafka's protocol guide; header version 1).

A `Connection` sends and reads when it is told to, not when it would be wise to.
"""

from __future__ import annotations

import socket
import struct
import time

import google_crc32c

PRODUCE, FETCH, METADATA, FIND_COORDINATOR, API_VERSIONS, INIT_PRODUCER_ID = 0, 1, 3, 10, 18, 22


def text(value: str | None) -> bytes:
    if value is None:
        return struct.pack(">h", -1)
    return struct.pack(">h", len(value.encode())) + value.encode()


def _varint(value: int) -> bytes:
    """A signed number of variable length: zigzag, seven bits a byte."""
    left = (value << 1) ^ (value >> 63)
    out = bytearray()
    while left > 127:
        out.append(left & 127 | 128)
        left >>= 7
    out.append(left)
    return bytes(out)


def batch(
    values: list[bytes], producer: tuple[int, int] = (-1, -1), sequence: int = -1, transactional: bool = False
) -> bytes:
    """A record batch (magic 2); `producer` is its id and epoch."""
    now = int(time.time() * 1000)
    records = b""
    for number, value in enumerate(values):
        record = b"\0" + _varint(0) + _varint(number) + _varint(-1) + _varint(len(value)) + value + _varint(0)
        records += _varint(len(record)) + record
    last = len(values) - 1
    inner = (
        struct.pack(">hiqqqhii", transactional << 4, last, now, now, producer[0], producer[1], sequence, last + 1)
        + records
    )
    crc = google_crc32c.value(inner)
    return struct.pack(">qiibI", 0, len(inner) + 9, -1, 2, crc) + inner


def produce_body(topic: str, partition: int, records: bytes, acks: int = -1, transactional: str | None = None) -> bytes:
    """Produce v3."""
    body = text(transactional) + struct.pack(">hii", acks, 30_000, 1) + text(topic) + struct.pack(">ii", 1, partition)
    return body + struct.pack(">i", len(records)) + records


def fetch_body(topic: str, partition: int, offset: int, wait_ms: int, least: int = 1, most: int = 1 << 20) -> bytes:
    """Fetch v4."""
    body = struct.pack(">iiiibi", -1, wait_ms, least, most, 0, 1) + text(topic)
    return body + struct.pack(">iiqi", 1, partition, offset, most)


def old_fetch_body(topic: str, partition: int, offset: int, wait_ms: int) -> bytes:
    """Fetch v0 to v2."""
    body = struct.pack(">iiii", -1, wait_ms, 1, 1) + text(topic)
    return body + struct.pack(">iiqi", 1, partition, offset, 1 << 20)


def metadata_body(*topics: str) -> bytes:
    """Metadata v1."""
    return struct.pack(">i", len(topics)) + b"".join(map(text, topics))


def init_producer_body(transactional: str | None = None, timeout_ms: int = 60_000) -> bytes:
    """InitProducerId v0."""
    return text(transactional) + struct.pack(">i", timeout_ms)


def find_coordinator_body(transactional: str) -> bytes:
    """FindCoordinator v1, of a transactional id."""
    return text(transactional) + b"\1"


class Connection:
    """A connection to a broker on which nothing happens by itself."""

    def __init__(self, address: str, client: str, nagle: bool = False, receive_buffer: int = 0) -> None:
        host, _, port = address.partition(":")
        self.client = client
        self._number = 0
        self._socket = socket.socket()
        if receive_buffer:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not nagle)
        self._socket.settimeout(30)
        self._socket.connect((host, int(port)))

    def message(self, key: int, version: int, body: bytes) -> bytes:
        """A request with its length before it."""
        self._number += 1
        head = struct.pack(">hhi", key, version, self._number) + text(self.client)
        return struct.pack(">i", len(head) + len(body)) + head + body

    def send(self, key: int, version: int, body: bytes, pieces: int = 0) -> None:
        """Sends a request; `pieces`: its first so many bytes in a write of their own."""
        data = self.message(key, version, body)
        if pieces:
            self._socket.sendall(data[:pieces])
        self._socket.sendall(data[pieces:])

    def read(self) -> bytes:
        """The next reply, from its correlation id on."""
        (length,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self._socket.recv(min(count - len(data), 65536))
            if not piece:
                raise ConnectionError("the broker closed")
            data += piece
        return bytes(data)

    def ask(self, key: int, version: int, body: bytes) -> bytes:
        self.send(key, version, body)
        return self.read()

    def hello(self, *topics: str) -> None:
        """What every client begins with: versions and metadata."""
        self.ask(API_VERSIONS, 0, b"")
        self.ask(METADATA, 1, metadata_body(*topics))

    def close(self) -> None:
        self._socket.close()
