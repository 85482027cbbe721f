"""What precedes Kafka on a connection without what it must not tell: the PROXY protocol, whose addresses become pseudonyms.

SOCKS and HTTP CONNECT become zeros: they name hosts and logins in forms of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dissectors.openings.proxy_protocol import SIGNATURE, read_binary, read_line
from dissectors.openings.verdicts import Opening

if TYPE_CHECKING:
    from analyzer.redact.texts import Texts

_LINE = b"PROXY "
_HEADER_BYTES = 16
_WIDTHS = {1: 4, 2: 16}


def is_opening(data: bytes | memoryview) -> bool:
    """Whether these bytes may begin one that is kept."""
    return bytes(data[:6]) == _LINE or bytes(data[: len(SIGNATURE)]) == SIGNATURE


def redact_opening(data: bytes, texts: Texts) -> bytes:
    """The opening with which the stream begins, as long as before; empty where it is none of these."""
    if data.startswith(_LINE):
        found = read_line(data, b"")
        return _line(data[: found.client_bytes], texts) if isinstance(found, Opening) else b""
    if data.startswith(SIGNATURE):
        found = read_binary(data, b"")
        return _binary(data[: found.client_bytes], texts) if isinstance(found, Opening) else b""
    return b""


def _line(line: bytes, texts: Texts) -> bytes:
    words = line[:-2].split(b" ")
    if words[1] == b"UNKNOWN":
        return b"PROXY UNKNOWN" + b" " * (len(line) - 15) + b"\r\n"
    addresses = [texts.of("host", word) for word in words[2:4]]
    return b" ".join((*words[:2], *addresses, *words[4:])) + b"\r\n"


def _binary(header: bytes, texts: Texts) -> bytes:
    out = bytearray(len(header))
    out[:_HEADER_BYTES] = header[:_HEADER_BYTES]
    width = _WIDTHS.get(header[13] >> 4)
    if width is None or header[12] & 15 == 0 or len(header) < _HEADER_BYTES + 2 * width + 4:
        return bytes(out)
    turn = texts.pseudonyms.ipv4 if width == 4 else texts.pseudonyms.ipv6
    for at in (_HEADER_BYTES, _HEADER_BYTES + width):
        out[at : at + width] = turn(header[at : at + width])
    ports = _HEADER_BYTES + 2 * width
    out[ports : ports + 4] = header[ports : ports + 4]
    at = ports + 4
    while at + 3 <= len(header):  # further fields: type and length, and zeros
        out[at : at + 3] = header[at : at + 3]
        at += 3 + int.from_bytes(header[at + 1 : at + 3], "big")
    return bytes(out)
