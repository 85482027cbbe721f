"""The PROXY protocol, versions 1 and 2: a load balancer tells the broker for whom it opened the connection.

Version 1 is a line: `PROXY TCP4 203.0.113.7 192.0.2.1 51000 9092\r\n`, or `PROXY UNKNOWN ...\r\n`; at most 107 bytes.
Version 2 is a signature of 12 bytes, version and command, family and transport, length, addresses, then fields (TLVs) that
are passed over by length. A health check of the balancer itself (LOCAL) names nobody.

Source: HAProxy, doc/proxy-protocol.txt, sections 2.1 and 2.2.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address

from dissectors.layout import OPENING_PROXY_V1, OPENING_PROXY_V2
from dissectors.openings.verdicts import MORE, OTHER, Opening, Verdict, halves

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
_LINE_START = b"PROXY "
_LONGEST_LINE = 107
_HEADER_BYTES = 16
_VERSION = 2
_LOCAL, _PROXY = 0, 1
_Address = type[IPv4Address] | type[IPv6Address]
_FAMILIES: dict[int, tuple[_Address, int]] = {1: (IPv4Address, 4), 2: (IPv6Address, 16)}
_WORDS: dict[bytes, _Address] = {b"TCP4": IPv4Address, b"TCP6": IPv6Address}
_MOST_FAMILY, _MOST_TRANSPORT = 3, 2


def read_line(client: bytes, _: bytes) -> Opening | Verdict:
    """Version 1."""
    if client[: len(_LINE_START)] != _LINE_START[: len(client)]:
        return OTHER
    end = client.find(b"\r\n", 0, _LONGEST_LINE)
    if end < 0:
        return MORE if len(client) < _LONGEST_LINE else OTHER
    words = client[:end].split(b" ")
    if words[1] == b"UNKNOWN":
        return Opening(OPENING_PROXY_V1, end + 2)
    kind = _WORDS.get(words[1])
    if kind is None or len(words) != 6 or not all(_is_port(word) for word in words[4:]):
        return OTHER
    try:
        source, _target = (kind(word.decode("ascii")) for word in words[2:4])
    except (AddressValueError, UnicodeDecodeError):
        return OTHER
    return Opening(OPENING_PROXY_V1, end + 2, address=halves(source))


def _is_port(word: bytes) -> bool:
    return word.isdigit() and len(word) <= 5 and int(word) <= 0xFFFF


def read_binary(client: bytes, _: bytes) -> Opening | Verdict:
    """Version 2."""
    if client[: len(SIGNATURE)] != SIGNATURE[: len(client)]:
        return OTHER
    if len(client) < _HEADER_BYTES:
        return MORE
    version, command = client[12] >> 4, client[12] & 15
    family, transport = client[13] >> 4, client[13] & 15
    if version != _VERSION or command > _PROXY or family > _MOST_FAMILY or transport > _MOST_TRANSPORT:
        return OTHER
    size = int.from_bytes(client[14:16], "big")
    if len(client) < _HEADER_BYTES + size:
        return MORE
    address = None
    if command == _PROXY and family in _FAMILIES:
        kind, width = _FAMILIES[family]
        if size < 2 * width + 4:
            return OTHER
        address = halves(kind(client[_HEADER_BYTES : _HEADER_BYTES + width]))
    return Opening(OPENING_PROXY_V2, _HEADER_BYTES + size, address=address)


def read_cut(client: bytes) -> Opening | Verdict:
    """A header that the capture cut: the bytes `client` are all that is left of it."""
    if client.startswith(SIGNATURE):
        return Opening(OPENING_PROXY_V2, len(client))
    if client.startswith(tuple(_LINE_START + word + b" " for word in (*_WORDS, b"UNKNOWN"))):
        return Opening(OPENING_PROXY_V1, len(client))
    return OTHER
