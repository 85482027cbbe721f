"""Link layers that are rare under Kafka: each function returns the offset of the IP header in a packet, None without one.

Plain Python, for link types that the compiled `link_layer` does not read. Tests compare with dpkt where it knows the link
layer; dpkt itself cannot be used here, because it gives objects instead of offsets and refuses packets that were cut by the
snap length.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

_SNAP_ETHERNET = b"\xaa\xaa\x03\x00\x00\x00"
_SNAP_BRIDGE_TUNNEL = b"\xaa\xaa\x03\x00\x00\xf8"
_IP_TYPES = (b"\x08\x00", b"\x86\xdd")
_VLAN_TYPES = (b"\x81\x00", b"\x88\xa8")


def _ip(data: bytes, kind: bytes, at: int) -> int | None:
    """The offset of the IP header if ethertype `kind`, whose payload begins at `at`, is IP or a VLAN tag before IP."""
    while kind in _VLAN_TYPES and at + 4 <= len(data):
        kind = data[at + 2 : at + 4]
        at += 4
    return at if kind in _IP_TYPES else None


def _llc(data: bytes, at: int) -> int | None:
    """IEEE 802.2 with SNAP (RFC 1042, or its 802.1H variant)."""
    if data[at : at + 6] in (_SNAP_ETHERNET, _SNAP_BRIDGE_TUNNEL):
        return _ip(data, data[at + 6 : at + 8], at + 8)
    return None


def _ethernet(data: bytes) -> int | None:
    return _ip(data, data[12:14], 14)


def fddi(data: bytes) -> int | None:
    """ANSI X3T9.5: frame control 0x50 to 0x5f means LLC, which follows two addresses."""
    return _llc(data, 13) if data and data[0] & 0xF0 == 0x50 else None


def ppp(data: bytes) -> int | None:
    """RFC 1661 and 1662: address and control may be absent, and so may the zero byte of the protocol."""
    at = 2 if data[:2] == b"\xff\x03" else 0
    if data[at : at + 1] in (b"\x21", b"\x57"):
        return at + 1
    return at + 2 if data[at : at + 2] in (b"\x00\x21", b"\x00\x57") else None


def pppoe(data: bytes) -> int | None:
    """RFC 2516: a PPPoE session header without an Ethernet header."""
    return 8 if data[6:8] in (b"\x00\x21", b"\x00\x57") else None


def hdlc(data: bytes) -> int | None:
    """Cisco HDLC (RFC 1547 4.3.1): address, control, ethertype. Files of both HDLC link types hold PPP as well."""
    if data[:1] in (b"\x0f", b"\x8f"):
        return _ip(data, data[2:4], 4)
    return ppp(data)


def wireless(data: bytes) -> int | None:
    """IEEE 802.11 data frames: 24 bytes, a fourth address, QoS and HT control when the flags say so."""
    if len(data) < 24 or data[0] & 0x4F != 0x08 or data[1] & 0x40:
        return None  # no data frame, one without data, or encrypted
    at = 24
    if data[1] & 3 == 3:
        at += 6
    if data[0] & 0x80:
        at += 6 if data[1] & 0x80 else 2
    return _llc(data, at) or _llc(data, at + (-at & 3))  # some cards pad the header to four bytes


def radiotap(data: bytes) -> int | None:
    """A radiotap header, whose length is at byte 2, then an IEEE 802.11 frame."""
    return _behind(data, int.from_bytes(data[2:4], "little"), wireless)


def ppi(data: bytes) -> int | None:
    """Per-Packet Information: a header with its length and the link type of the packet that follows."""
    inner = {1: _ethernet, 9: ppp, 105: wireless}.get(int.from_bytes(data[4:8], "little"))
    return None if inner is None else _behind(data, int.from_bytes(data[2:4], "little"), inner)


def prism(data: bytes) -> int | None:
    """A header of 144 bytes in the capturing host's byte order, or AVS (big-endian); the length is at byte 4."""
    length = int.from_bytes(data[4:8], "big" if data[:1] in (b"\x80", b"\0") else "little")
    return _behind(data, length, wireless)


def directed_ppp(data: bytes) -> int | None:
    """PPP behind a byte that says who sent it."""
    return _behind(data, 1, ppp)


def frame_relay(data: bytes) -> int | None:
    """RFC 2427: an address of two bytes, control, what follows (IP, or SNAP); Cisco's form has an ethertype in their place."""
    if data[2:4] in (b"\x03\xcc", b"\x03\x8e"):
        return 4
    if data[2:8] == b"\x03\x00\x80\x00\x00\x00":
        return _ip(data, data[8:10], 10)
    return _ip(data, data[2:4], 4)


def llc(data: bytes) -> int | None:
    """RFC 1483, routed: nothing before LLC."""
    return _llc(data, 0)


def fibre_channel(data: bytes) -> int | None:
    """RFC 2625: two addresses of eight bytes."""
    return _llc(data, 16)


def token_ring(data: bytes) -> int | None:
    """IEEE 802.5: access and frame control, addresses, and a route of so many bytes when a bit of the source says so."""
    route = data[14] & 31 if len(data) > 14 and data[8] & 0x80 else 0
    return _llc(data, 14 + route)


def juniper_ethernet(data: bytes) -> int | None:
    """Junos: a magic number, flags (bit 7: attributes of so many bytes follow; bit 1: the link layer was taken off), a frame."""
    if data[:3] != b"MGC" or len(data) < 6 or data[3] & 2:
        return None
    return _behind(data, 6 + int.from_bytes(data[4:6], "big") if data[3] & 0x80 else 4, _ethernet)


def nflog(data: bytes) -> int | None:
    """Netfilter log: attributes of length and type in the capturing host's byte order; type 9 holds the packet."""
    at = 4
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("<HH" if data[at + 3] == 0 else ">HH", data, at)
        if kind == 9:
            return at + 4
        at += max(length + 3 & ~3, 4)
    return None


def _behind(data: bytes, header: int, inner: Callable[[bytes], int | None]) -> int | None:
    """What `inner` finds behind a header of `header` bytes, as an offset in `data`."""
    at = inner(data[header:]) if header else None
    return None if at is None else header + at


# LINKTYPE_ number -> function(packet) -> offset of the IP header, None when it carries no IP.
RESOLVERS: dict[int, Callable[[bytes], int | None]] = {
    6: token_ring,
    9: ppp,
    10: fddi,
    50: hdlc,
    51: pppoe,
    100: llc,
    104: hdlc,
    105: wireless,
    107: frame_relay,
    119: prism,
    122: fibre_channel,
    127: radiotap,
    163: prism,
    178: juniper_ethernet,
    192: ppi,
    204: directed_ppp,
    239: nflog,
}
