"""The ends of an IP packet that lies right behind its link's header, and what it carries by UDP."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple

_ETHERNET, _SLL, _SLL2 = 1, 113, 276
_RAW, _LOOPBACK = (12, 14, 101, 228, 229), (0, 108)
_VLANS = (0x8100, 0x88A8, 0x9100)
_UDP = 17


class IpPacket(NamedTuple):
    """`payload` and `source_port` are those of a whole UDP datagram, else empty and 0."""

    source: str
    target: str
    source_port: int = 0
    payload: bytes = b""


def ip_packet(packet: bytes, link: int) -> IpPacket | None:
    """None: there is no IP header, or not all of it."""
    at = {_SLL: 16, _SLL2: 20}.get(
        link, 4 if link in _LOOPBACK else 0 if link in _RAW else 14 if link == _ETHERNET else -1
    )
    while link == _ETHERNET and int.from_bytes(packet[at - 2 : at], "big") in _VLANS and at < len(packet):
        at += 4
    if at < 0 or at >= len(packet):
        return None
    if packet[at] >> 4 == 4 and len(packet) >= at + 20:
        behind, protocol = at + (packet[at] & 15) * 4, packet[at + 9]
        is_whole = not int.from_bytes(packet[at + 6 : at + 8], "big") & 0x3FFF  # no fragment
        ends = packet[at + 12 : at + 16], packet[at + 16 : at + 20]
    elif packet[at] >> 4 == 6 and len(packet) >= at + 40:
        behind, protocol, is_whole = at + 40, packet[at + 6], True
        ends = packet[at + 8 : at + 24], packet[at + 24 : at + 40]
    else:
        return None
    source, target = (_text(end) for end in ends)
    size = int.from_bytes(packet[behind + 4 : behind + 6], "big")
    if protocol != _UDP or not is_whole or len(packet) < behind + 8 or not 8 <= size <= len(packet) - behind:
        return IpPacket(source, target)
    port = int.from_bytes(packet[behind : behind + 2], "big")
    return IpPacket(source, target, port, packet[behind + 8 : behind + size])


def _text(address: bytes) -> str:
    found = ip_address(address)
    return str(getattr(found, "ipv4_mapped", None) or found)
