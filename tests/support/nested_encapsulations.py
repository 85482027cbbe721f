"""Tunnels in tunnels, IP with extension headers and options, and further links: rows like those of `encapsulations`."""

from __future__ import annotations

import struct
from collections.abc import Callable

from encapsulations import (
    DATA_80211,
    ETHERNET_SESSION,
    NOT_READ,
    NULL_ESP,
    WIFI,
    Encapsulation,
    Wrap,
    esp,
    ether,
    in_ip,
    in_udp,
    mpls,
    outer,
    tagged,
    vxlan,
)
from one_base import MACS, Base
from rare_encapsulations import PREAMBLE, SNAP, length_first
from scapy.contrib.nsh import NSH
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw

VLAN = b"\x81\0\x60\x2a"
OPTION_8 = b"\0\x01\x04\0\0\0\0"  # of an IPv6 header: length, then padding
SEGMENTS = b"\x02\x04\0\0\0\0\0" + bytes(16)  # a routing header with one segment (RFC 8754)
FRAGMENT = b"\0\0\0\0\0\0\x07"  # the only one
CHECKED = b"\x04\0\0" + bytes(20)  # an authentication header
# Options of AWS's gateway load balancer: endpoint, attachment, flow.
AWS = bytes.fromhex("01080102") + bytes(8) + bytes.fromhex("01080202") + bytes(8) + bytes.fromhex("01080301") + bytes(4)
NSH_HEAD = {"mdtype": 1, "spi": 5, "si": 255}


def with_vlan(frame: bytes, tags: bytes = VLAN) -> bytes:
    return frame[:12] + tags + frame[12:]


def in_vxlan(p: Base, data: bytes, port: int = 4789) -> bytes:
    return in_udp(p, port, bytes(VXLAN(vni=3, flags=8)) + data)


def geneve_head(options: bytes, proto: int = 0x0800, flags: int = 0) -> bytes:
    return struct.pack(">BBHI", len(options) // 4, flags, proto, 77 << 8) + options


def session(p: Base, protocol: int = 0x21) -> bytes:
    """What is behind the ethertype of PPPoE."""
    return struct.pack(">BBHHH", 0x11, 0, 33, 2 + len(p.ip), protocol) + p.ip


def extended(*heads: tuple[int, bytes]) -> Wrap:
    """IPv6 with extension headers: the number of each, and what stands behind its field "next header"."""

    def wrap(p: Base) -> bytes:
        following, chain = p.ip[6], b""
        for number, body in reversed(heads):
            chain = bytes([following]) + body + chain
            following = number
        payload = chain + p.ip[40:]
        return ether(p, 0x86DD) + p.ip[:4] + struct.pack(">HB", len(payload), following) + p.ip[7:40] + payload

    return wrap


def with_options(options: bytes) -> Wrap:
    """IPv4 with options."""

    def wrap(p: Base) -> bytes:
        length = struct.pack(">H", len(p.ip) + len(options))
        head = bytes([0x45 + len(options) // 4, p.ip[1]]) + length + p.ip[4:10] + bytes(2) + p.ip[12:20] + options
        total = sum(struct.unpack(f">{len(head) // 2}H", head))
        total = (total & 0xFFFF) + (total >> 16)
        total = (total & 0xFFFF) + (total >> 16)
        return ether(p, 0x0800) + head[:10] + struct.pack(">H", 0xFFFF - total) + head[12:] + p.ip[20:]

    return wrap


def routed(following: int, data: Callable[[Base], bytes]) -> Wrap:
    """Segment routing in IPv6."""
    return lambda p: ether(p, 0x86DD) + bytes(outer(p, 43, six=True) / Raw(bytes([following]) + SEGMENTS + data(p)))


def cooked(proto: int, data: Callable[[Base], bytes], device: int = 1) -> Wrap:
    return lambda p: struct.pack(">HHH8sH", 0, device, 6, MACS[p.side] + b"\0\0", proto) + data(p)


def cooked_2(proto: int, data: Callable[[Base], bytes], device: int = 1) -> Wrap:
    return lambda p: struct.pack(">HHIHBB8s", proto, 0, 2, device, 0, 6, bytes(8)) + data(p)


def ip(p: Base) -> bytes:
    return p.ip


def snap(p: Base) -> bytes:
    return SNAP + p.ip


def nflog(family: int, fields: bytes) -> Wrap:
    """Fields of netfilter's log, the packet behind them, and padding."""

    def wrap(p: Base) -> bytes:
        found = fields + struct.pack("<HH", 4 + len(p.ip), 9) + p.ip
        return bytes([family, 0, 0, 0]) + found + bytes(-len(found) % 4)

    return wrap


def aggregated(p: Base) -> bytes:
    """802.11 with a frame of its own format in it (A-MSDU)."""
    frame = MACS[1 - p.side] + MACS[p.side] + struct.pack(">H", 8 + len(p.ip)) + SNAP + p.ip
    return b"\x88" + DATA_80211[1:24] + b"\x80\0" + frame


def rndis(p: Base) -> bytes:
    return struct.pack("<IIII", 1, 44 + len(p.ethernet), 36, len(p.ethernet)) + bytes(28) + p.ethernet


NESTED = [
    Encapsulation("vxlan behind two vlans", lambda p: with_vlan(vxlan()(p), b"\x88\xa8\0\x05\x81\0\0\x06")),
    Encapsulation("vxlan, vlan inside", lambda p: in_vxlan(p, with_vlan(p.ethernet))),
    Encapsulation("vxlan, mpls inside", lambda p: in_vxlan(p, ether(p, 0x8847) + mpls(5, 6) + p.ip)),
    Encapsulation("vxlan, pppoe inside", lambda p: in_vxlan(p, ether(p, 0x8864) + session(p))),
    Encapsulation("vxlan, 802.3 inside", lambda p: in_vxlan(p, length_first(p, SNAP + p.ip))),
    Encapsulation("vxlan, 6in4 inside", lambda p: in_vxlan(p, in_ip(p, 41, p.ip)), six=True),
    Encapsulation("vxlan in gre", lambda p: in_ip(p, 47, b"\0\0\x65\x58" + vxlan()(p))),
    Encapsulation("vxlan in ip in ip", lambda p: in_ip(p, 4, vxlan()(p)[14:])),
    Encapsulation("vxlan over mpls", lambda p: ether(p, 0x8847) + mpls(16, 17) + vxlan()(p)[14:]),
    Encapsulation("vxlan in geneve in vxlan", lambda p: in_vxlan(p, in_udp(p, 6081, geneve_head(b"", 0x6558) + vxlan()(p)))),
    Encapsulation("vxlan elsewhere, vlan inside", lambda p: in_vxlan(p, with_vlan(p.ethernet), 4999),
            tshark=("-d", "udp.port==4999,vxlan")),
    Encapsulation("otv", lambda p: in_udp(p, 8472, b"\x08\0\0\0\0\0\x05\0" + p.ethernet), tshark=NOT_READ),
    Encapsulation("geneve, gateway load balancer", lambda p: in_udp(p, 6081, geneve_head(AWS) + p.ip)),
    Encapsulation("geneve, ipv6 outside", lambda p: in_udp(p, 6081, geneve_head(AWS, 0x6558) + p.ethernet, six=True)),
    Encapsulation("geneve, critical option (OVN)", lambda p: in_udp(
        p, 6081, geneve_head(bytes.fromhex("0102800100010002"), 0x6558, 0x40) + p.ethernet)),
    Encapsulation("geneve, 252 bytes of options", lambda p: in_udp(p, 6081, geneve_head(
        bytes.fromhex("0103011f") + bytes(124) + bytes.fromhex("0103011e") + bytes(120), 0x6558) + p.ethernet)),
    Encapsulation("geneve, vlan inside", lambda p: in_udp(p, 6081, geneve_head(b"", 0x6558) + with_vlan(p.ethernet))),
    Encapsulation("geneve, nsh", lambda p: in_udp(p, 6081, geneve_head(b"", 0x894F) + bytes(NSH(nextproto=3, **NSH_HEAD))
                                           + p.ethernet)),
    Encapsulation("geneve elsewhere, long options", lambda p: in_udp(p, 7001, geneve_head(AWS * 3, 0x6558) + p.ethernet),
            tshark=("-d", "udp.port==7001,geneve")),
    Encapsulation("erspan 2, vlan inside", lambda p: in_ip(p, 47, b"\x10\0\x88\xbe" + bytes(4) + b"\x10\x64\0\x0c" + bytes(4)
                                                    + with_vlan(p.ethernet))),
    Encapsulation("erspan 2 over ipv6", lambda p: in_ip(p, 47, b"\x10\0\x88\xbe" + bytes(4) + b"\x10\x64\0\x0c" + bytes(4)
                                                 + p.ethernet, six=True)),
    Encapsulation("erspan 2, key", lambda p: in_ip(p, 47, b"\x30\0\x88\xbe" + bytes(8) + b"\x10\x64\0\x0c" + bytes(4)
                                            + p.ethernet)),
    Encapsulation("erspan 3, platform header", lambda p: in_ip(
        p, 47, b"\x10\0\x22\xeb" + bytes(4) + b"\x20\x64" + bytes(9) + b"\x01\x14" + bytes(7) + p.ethernet)),
    Encapsulation("erspan 3, vlan inside", lambda p: in_ip(p, 47, b"\x10\0\x22\xeb" + bytes(4) + b"\x20" + bytes(11)
                                                    + with_vlan(p.ethernet))),
    Encapsulation("gre over ipv6, ipv6", lambda p: in_ip(p, 47, b"\0\0\x86\xdd" + p.ip, six=True), six=True),
    Encapsulation("gre, bridged, vlan", lambda p: in_ip(p, 47, b"\x20\0\x65\x58" + bytes(4) + with_vlan(p.ethernet))),
    Encapsulation("gre, source routes", lambda p: in_ip(p, 47, b"\x40\0\x08\0" + bytes(4) + b"\x08\0\0\x04" + bytes(8) + p.ip)),
    Encapsulation("gre, type of a vlan", lambda p: in_ip(p, 47, b"\0\0\x81\0\0\x2a\x08\0" + p.ip), tshark=NOT_READ),
    Encapsulation("gre, ppp", lambda p: in_ip(p, 47, b"\0\0\x88\x0b\xff\x03\0\x21" + p.ip)),
    Encapsulation("gre, pptp, acknowledged", lambda p: in_ip(
        p, 47, struct.pack(">HHHHII", 0x3081, 0x880B, 2 + len(p.ip), 5, 9, 8) + b"\0\x21" + p.ip)),
    Encapsulation("gre, pptp, compressed ppp", lambda p: in_ip(
        p, 47, struct.pack(">HHHHI", 0x3001, 0x880B, 1 + len(p.ip), 5, 9) + b"\x21" + p.ip)),
    Encapsulation("gre of mikrotik (EoIP)", lambda p: in_ip(
        p, 47, b"\x20\x01\x64\0" + struct.pack(">H", len(p.ethernet)) + b"\x05\0" + p.ethernet)),
    Encapsulation("gre in gre", lambda p: in_ip(p, 47, b"\0\0\x08\0" + in_ip(p, 47, b"\0\0\x08\0" + p.ip)[14:])),
    Encapsulation("ipv6 in ipv4", lambda p: in_ip(p, 41, p.ip), six=True),
    Encapsulation("ipv4 in ipv6", lambda p: in_ip(p, 4, p.ip, six=True)),
    Encapsulation("ipv4 in ipv6, encapsulation limit", lambda p: in_ip(p, 60, b"\x04\0\x04\x01\x04\x01\0\0" + p.ip, six=True)),
    Encapsulation("segment routing, ipv4", routed(4, ip)),
    Encapsulation("segment routing, ipv6", routed(41, ip), six=True),
    Encapsulation("segment routing, ethernet", routed(143, lambda p: p.ethernet)),
    Encapsulation("ipv6, hop by hop", extended((0, b"\0\x05\x02\0\0\0\0")), six=True),
    Encapsulation("ipv6, destination options", extended((60, OPTION_8)), six=True),
    Encapsulation("ipv6, routing", extended((43, SEGMENTS)), six=True),
    Encapsulation("ipv6, the only fragment", extended((44, FRAGMENT)), six=True),
    Encapsulation("ipv6, authentication", extended((51, CHECKED)), six=True),
    Encapsulation("ipv6, six headers", extended((0, OPTION_8), (60, OPTION_8), (43, SEGMENTS), (44, FRAGMENT), (51, CHECKED),
                                          (60, OPTION_8)), six=True),
    Encapsulation("ipv6, home address", extended((60, b"\x02\xc9\x10" + bytes(16) + b"\x01\x02\0\0")), six=True),
    Encapsulation("ipv6, shim6", extended((140, b"\0\x80" + bytes(5))), six=True),
    Encapsulation("ipv6, host identity", extended((139, b"\x04" + bytes(38))), six=True, tshark=NOT_READ),
    Encapsulation("ipv4, router alert", with_options(b"\x94\x04\0\0")),
    Encapsulation("ipv4, source route", with_options(b"\x83\x07\x08\x0a\0\0\x01\0")),
    Encapsulation("ipv4, security label", with_options(b"\x86\x0c\0\0\0\x01\x01\x06\0\0\0\0")),
    Encapsulation("ipv4, 40 bytes of options", with_options(b"\x44\x28\x05\0" + bytes(36))),
    Encapsulation("mpls multicast", lambda p: ether(p, 0x8848) + mpls(5) + p.ip),
    Encapsulation("mpls, explicit null and entropy", lambda p: ether(p, 0x8847) + mpls(100, 7, 55_555, 0) + p.ip),
    Encapsulation("mpls, ipv6", lambda p: ether(p, 0x8847) + mpls(2) + p.ip, six=True),
    Encapsulation("mpls, ten labels", lambda p: ether(p, 0x8847) + mpls(*range(20, 30)) + p.ip),
    Encapsulation("mpls in ip", lambda p: in_ip(p, 137, mpls(16, 17) + p.ip)),
    Encapsulation("pseudowire, flow label, vlan inside", lambda p: ether(p, 0x8847) + mpls(16, 99, 4242) + bytes(4)
            + with_vlan(p.ethernet), tshark=("-d", "mpls.label==4242,pwethcw")),
    Encapsulation("vlans, four of them", lambda p: with_vlan(p.ethernet, b"\x88\xa8\0\1\x91\0\0\2\x92\0\0\3" + VLAN),
                  tshark=NOT_READ),
    Encapsulation("802.3 with snap in a vlan", lambda p: with_vlan(length_first(p, SNAP + p.ip))),
    Encapsulation("llc in a jumbo frame", lambda p: ether(p, 0x8870) + SNAP + p.ip),
    Encapsulation("pppoe in two vlans, ipv6", lambda p: ether(p, 0x88A8) + b"\0\x05\x81\0\0\x06\x88\x64" + session(p, 0x57),
                  six=True),
    Encapsulation("macsec in clear, vlan inside", lambda p: tagged(b"\0\0\0\0\0\x01" + VLAN, 0x88E5)(p) + b"\x5a" * 16),
    Encapsulation("macsec in clear behind a vlan", lambda p: with_vlan(p.ethernet, VLAN + b"\x88\xe5\x20\0\0\0\0\x01" + bytes(8))
            + b"\x5a" * 16),
    Encapsulation("prp", lambda p: p.ethernet + b"\0\x07\xa0" + bytes([60]) + b"\x88\xfb"),
    Encapsulation("a time stamp behind", lambda p: p.ethernet + bytes(20) + b"\x12\x34\x56\x78"),
    Encapsulation("gtp-u, ipv6 outside", lambda p: in_udp(p, 2152, struct.pack(">BBHI", 0x30, 255, len(p.ip), 7) + p.ip, 2152,
                                                   six=True)),
    Encapsulation("gtp-u, two extensions", lambda p: in_udp(
        p, 2152, struct.pack(">BBHIHBB", 0x34, 255, 12 + len(p.ip), 7, 0, 0, 0x85) + b"\x01\x10\x09\x85\x01\0\x09\0"
        + p.ip, 2152)),
    Encapsulation("l2tpv3 over ipv6", lambda p: in_ip(p, 115, struct.pack(">I", 9 + p.side) + p.ethernet, six=True),
            tshark=ETHERNET_SESSION),
    Encapsulation("l2tpv2, ipv6", lambda p: in_udp(p, 1701, b"\0\x02\0\x05\0\x06\xff\x03\0\x57" + p.ip, 1701), six=True),
    Encapsulation("nsh, metadata of type 2", lambda p: ether(p, 0x894F) + b"\x0f\xc4\x02\x03\0\0\x05\xff\x01\0\x01\x04" + bytes(4)
            + p.ethernet),
    Encapsulation("nsh, mpls", lambda p: ether(p, 0x894F) + bytes(NSH(nextproto=5, **NSH_HEAD)) + mpls(9) + p.ip),
    Encapsulation("pbb, vlan inside", lambda p: ether(p, 0x88E7) + b"\0\x01\x02\x03" + with_vlan(p.ethernet)),
    Encapsulation("tzsp, prism", lambda p: in_udp(p, 37_008, b"\x01\0\0\x77\x01" + struct.pack("<II", 0x44, 144).ljust(144, b"\0")
                                           + DATA_80211 + p.ip)),
    Encapsulation("tzsp, avs", lambda p: in_udp(p, 37_008, b"\x01\0\0\x7f\x01" + struct.pack(">II", 0x80211001, 64).ljust(64, b"\0")
                                         + DATA_80211 + p.ip)),
    Encapsulation("esp in clear over ipv6", lambda p: in_ip(p, 50, esp(12, 4)(p)[34:], six=True), tshark=NULL_ESP),
    Encapsulation("lisp, ipv6 outside", lambda p: in_udp(p, 4341, bytes(8) + p.ip, 61_000, six=True)),
    Encapsulation("gue, private fields", lambda p: in_udp(p, 6080, b"\x02\x04\0\0" + bytes(8) + p.ip), tshark=NOT_READ),
    Encapsulation("teredo, both indications", lambda p: in_udp(p, 3544, b"\0\x01" + bytes(11) + b"\0\0\x12\x34" + bytes(4) + p.ip),
            six=True),
    Encapsulation("bier", lambda p: ether(p, 0xAB37) + b"\0\0\x50\x40\x50\0\0\0\0\x04\0\x01" + bytes(8) + p.ip, tshark=NOT_READ),
    Encapsulation("etherip in a vlan", lambda p: ether(p, 0x8100) + b"\0\x05\x08\0" + in_ip(p, 97, b"\x30\0" + p.ethernet)[14:]),
    Encapsulation("openvpn without cipher", lambda p: in_udp(p, 1194, b"\x30" + bytes(4) + p.ip), tshark=NOT_READ),
    Encapsulation("vxlan in udp-lite", lambda p: in_ip(p, 136, struct.pack(">HHHH", 5, 4789, 8, 0) + bytes(VXLAN(vni=3, flags=8))
                                                + p.ethernet)),
]  # fmt: skip
FURTHER_LINKS = [
    Encapsulation("cooked, vlan", cooked(0x8100, lambda p: b"\0\x2a\x08\0" + p.ip), 113),
    Encapsulation("cooked, mpls", cooked(0x8847, lambda p: mpls(5) + p.ip), 113),
    Encapsulation("cooked, loopback", cooked(0x0800, ip, 772), 113),
    Encapsulation("cooked, ppp", cooked(0x0800, ip, 512), 113),
    Encapsulation("cooked, gre", cooked(0x0800, ip, 778), 113),
    Encapsulation("cooked, gre, ipv6", cooked(0x86DD, ip, 778), 113, six=True),
    Encapsulation("cooked, llc", cooked(4, snap), 113),
    Encapsulation("cooked, pppoe", cooked(0x8864, session), 113),
    Encapsulation("cooked, bridged", cooked(0x6558, lambda p: p.ethernet), 113),
    Encapsulation("cooked 2, two vlans", cooked_2(0x88A8, lambda p: b"\0\x05\x81\0\0\x2a\x08\0" + p.ip), 276),
    Encapsulation("cooked 2, tunnel", cooked_2(0x0800, ip, 65_534), 276),
    Encapsulation("cooked 2, vxlan", cooked_2(0x0800, lambda p: vxlan()(p)[14:]), 276),
    Encapsulation("cooked 2, llc", cooked_2(4, snap), 276),
    Encapsulation("nflog, fields before", nflog(2, struct.pack("<HH4s", 8, 1, b"\x08\0\x01\0") + struct.pack("<HH", 9, 10)
                                          + b"drop\0\0\0\0" + struct.pack("<HHHH8s", 16, 8, 6, 0, bytes(8))), 239),
    Encapsulation("nflog, ipv6", nflog(10, struct.pack("<HHI", 8, 11, 1000)), 239, six=True),
    Encapsulation("802.11, four addresses", lambda p: b"\x08\x03\0\0" + WIFI * 3 + b"\x10\0" + WIFI + SNAP + p.ip, 105),
    Encapsulation("802.11, several frames in one", aggregated, 105),
    Encapsulation("802.11, high throughput", lambda p: b"\x88\x82" + DATA_80211[2:24] + bytes(6) + DATA_80211[24:] + p.ip, 105),
    Encapsulation("802.11, radiotap with fields", lambda p: struct.pack("<BBHI", 0, 0, 26, 2) + bytes(18) + DATA_80211 + p.ip, 127),
    Encapsulation("ppi, 802.11", lambda p: b"\0\0\x14\0\x69\0\0\0\x02\0\x08\0" + bytes(8) + DATA_80211 + p.ip, 192),
    Encapsulation("ppi, raw ip", lambda p: b"\0\0\x08\0\x65\0\0\0" + p.ip, 192),
    Encapsulation("null, big-endian", lambda p: b"\0\0\0\x02" + p.ip, 0),
    Encapsulation("null, ipv6 of linux", lambda p: b"\x0a\0\0\0" + p.ip, 0, tshark=NOT_READ, six=True),
    Encapsulation("null, ipv6 of openbsd", lambda p: b"\x18\0\0\0" + p.ip, 0, six=True),
    Encapsulation("null, ipv6 of freebsd", lambda p: b"\x1c\0\0\0" + p.ip, 0, six=True),
    Encapsulation("null, ipv6 of darwin", lambda p: b"\x1e\0\0\0" + p.ip, 0, six=True),
    Encapsulation("loop, ipv6", lambda p: b"\0\0\0\x18" + p.ip, 108, six=True),
    *(Encapsulation(f"raw ip, {number}", ip, number) for number in (12, 14, 228)),
    Encapsulation("raw ip, 229", ip, 229, six=True),
    Encapsulation("ppp, compressed", lambda p: b"\x21" + p.ip, 9),
    Encapsulation("ppp, no address", lambda p: b"\0\x21" + p.ip, 9),
    Encapsulation("ppp like hdlc", lambda p: b"\xff\x03\0\x21" + p.ip, 50),
    Encapsulation("ppp like hdlc, ipv6", lambda p: b"\xff\x03\0\x57" + p.ip, 50, six=True),
    Encapsulation("pppoe as link", session, 51),
    Encapsulation("netanalyzer", lambda p: b"\x01\x20" + struct.pack("<H", len(p.ethernet) + 4) + p.ethernet + bytes(4), 240,
                  tshark=NOT_READ),
    Encapsulation("netanalyzer, preamble", lambda p: b"\x01\x20" + struct.pack("<H", len(p.ethernet) + 12) + PREAMBLE + p.ethernet
            + bytes(4), 241, tshark=NOT_READ),
    Encapsulation("docsis", lambda p: b"\0\0" + struct.pack(">H", len(p.ethernet)) + b"\0\0" + p.ethernet, 143, tshark=NOT_READ),
    Encapsulation("hdlc with direction", lambda p: bytes([p.side]) + b"\x0f\0\x08\0" + p.ip, 205, tshark=NOT_READ),
    Encapsulation("mpls as link", lambda p: mpls(5, 6) + p.ip, 219, tshark=NOT_READ),
    Encapsulation("usb of windows, rndis", lambda p: b"\x1b\0" + bytes(25) + rndis(p), 249, tshark=NOT_READ),
    Encapsulation("usb of linux, rndis", lambda p: bytes(64) + rndis(p), 220, tshark=NOT_READ),
    Encapsulation("usb of linux, ethernet", lambda p: bytes(64) + p.ethernet, 220, tshark=NOT_READ),
    Encapsulation("frame relay, multilink", lambda p: b"\xe0\0\x18\x41\x03\xcc" + p.ip, 182, tshark=NOT_READ),
    Encapsulation("vpp dispatch", lambda p: bytes(20) + b"node-name\0" + p.ethernet, 280, tshark=NOT_READ),
    Encapsulation("sita", lambda p: bytes(5) + b"\xff\x03\0\x21" + p.ip, 196, tshark=NOT_READ),
]  # fmt: skip
FURTHER = [*NESTED, *FURTHER_LINKS]
