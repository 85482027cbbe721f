"""Openings as programs send them: what each side says before Kafka, in order. Side 0 opened the connection.

Written from the texts of the standards: HAProxy's proxy-protocol.txt, RFC 1928 and 1929, SOCKS 4 and 4A, RFC 9110.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from ipaddress import ip_address

from made_capture import ACK, PSH, Conversation, reply, request

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
FOR, TARGET = "203.0.113.7", "192.0.2.1"
FOR_6, TARGET_6 = "2001:db8::7", "2001:db8::1"

Said = list[tuple[int, bytes]]

EXCHANGES = 59  # of a conversation


def version_2(source: str, target: str, more: bytes = b"", command: int = 1) -> bytes:
    """A header of PROXY version 2 over TCP; `more` are its further fields."""
    one, other = ip_address(source), ip_address(target)
    body = one.packed + other.packed + struct.pack(">HH", 51_000, 9092) + more
    return SIGNATURE + bytes([0x20 | command, 0x11 if one.version == 4 else 0x21]) + struct.pack(">H", len(body)) + body


def version_1(source: str, target: str) -> bytes:
    family = "TCP4" if ip_address(source).version == 4 else "TCP6"
    return f"PROXY {family} {source} {target} 51000 9092\r\n".encode()


CONNECT = b"CONNECT broker:9092 HTTP/1.1\r\nHost: broker:9092\r\n\r\n"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
REFUSED = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 5\r\n\r\nwho ?"
SOCKS_5: Said = [
    (0, b"\x05\x01\x00"),
    (1, b"\x05\x00"),
    (0, b"\x05\x01\x00\x01\xc0\x00\x02\x01\x23\x84"),
    (1, b"\x05\x00\x00\x01\xc0\x00\x02\x09\xc3\x50"),
]
SOCKS_5_LOGIN: Said = [
    (0, b"\x05\x02\x00\x02"),
    (1, b"\x05\x02"),
    (0, b"\x01\x05alice\x06secret"),
    (1, b"\x01\x00"),
    (0, b"\x05\x01\x00\x03\x06broker\x23\x84"),
    (1, b"\x05\x00\x00\x04" + bytes(16) + b"\xc3\x50"),
]
SOCKS_4: Said = [(0, b"\x04\x01\x23\x84\xc0\x00\x02\x01alice\x00"), (1, b"\x00\x5a" + bytes(6))]
SOCKS_4A: Said = [(0, b"\x04\x01\x23\x84\x00\x00\x00\x01alice\x00broker\x00"), (1, b"\x00\x5a" + bytes(6))]

# Name -> (what is said, `opening` of the connection, `proxied_for` of it).
OPENINGS: dict[str, tuple[Said, str, str | None]] = {
    "proxy 1": ([(0, version_1(FOR, TARGET))], "proxy_v1", FOR),
    "proxy 1, IPv6": ([(0, version_1(FOR_6, TARGET_6))], "proxy_v1", FOR_6),
    "proxy 1, unknown": ([(0, b"PROXY UNKNOWN\r\n")], "proxy_v1", None),
    "proxy 2": ([(0, version_2(FOR, TARGET))], "proxy_v2", FOR),
    "proxy 2, IPv6": ([(0, version_2(FOR_6, TARGET_6))], "proxy_v2", FOR_6),
    "proxy 2, fields": (
        [(0, version_2(FOR, TARGET, b"\x04\x00\x02ab\x20\x00\x05\x01\x00\x00\x00\x00"))],
        "proxy_v2",
        FOR,
    ),
    "proxy 2, local": ([(0, SIGNATURE + b"\x20\x00\x00\x00")], "proxy_v2", None),
    "socks 4": (SOCKS_4, "socks4", None),
    "socks 4a": (SOCKS_4A, "socks4", None),
    "socks 5": (SOCKS_5, "socks5", None),
    "socks 5, login": (SOCKS_5_LOGIN, "socks5", None),
    "connect": ([(0, CONNECT), (1, ESTABLISHED)], "http_connect", None),
    "connect, login": ([(0, CONNECT), (1, REFUSED), (0, CONNECT), (1, ESTABLISHED)], "http_connect", None),
    "proxy 2 and 1": ([(0, version_2(TARGET, FOR) + version_1(FOR, TARGET))], "proxy_v1", FOR),
    "proxy 1 and socks 5": ([(0, version_1(FOR, TARGET)), *SOCKS_5], "socks5", FOR),
}


def framed(message: bytes) -> bytes:
    return struct.pack(">i", len(message)) + message


def conversation(said: Iterable[tuple[int, bytes]], how: str, port: int = 40_000) -> Conversation:
    """`said`, then Kafka. "joined": what a side says at a time is one segment; "bytes": each byte of the opening is one."""
    conversation = Conversation(port=port).shake()
    opening = list(said)
    kafka = [
        (side, framed(message))
        for number in range(EXCHANGES)
        for side, message in ((0, request(number)), (1, reply(number)))
    ]
    if how == "bytes":
        opening = [(side, data[at : at + 1]) for side, data in opening for at in range(len(data))]
    pieces: Said = []
    for side, data in [*opening, *kafka]:
        if how == "joined" and pieces and pieces[-1][0] == side:
            pieces[-1] = (side, pieces[-1][1] + data)
        else:
            pieces.append((side, data))
    for side, data in pieces:
        conversation.put(side, PSH | ACK, data)
    return conversation.close()
