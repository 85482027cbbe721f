"""Encapsulations and links in which captures of clouds and data centres come, as functions that wrap a packet of the base.

scapy builds the layers that it knows; the bytes of the others are written after the document that the row names.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from one_base import MACS, Base
from scapy.contrib.geneve import GENEVE
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import MPLS
from scapy.contrib.nsh import NSH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE, Dot1AD, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

Wrap = Callable[[Base], bytes]
NOT_READ = ("not read",)


class Encapsulation(NamedTuple):
    """A row of the table. `tshark` are arguments with which tshark reads it; NOT_READ where this tshark cannot."""

    name: str
    wrap: Wrap
    link: int = 1
    tshark: tuple[str, ...] = ()
    decode_as: tuple[tuple[int, str], ...] = ()
    six: bool = False


def outer(packet: Base, proto: int, six: bool = False) -> Packet:
    """The outer IP header, each side its own address."""
    if six:
        return IPv6(src=f"fd00::{1 + packet.side}", dst=f"fd00::{2 - packet.side}", nh=proto)
    return IP(src=f"172.16.0.{1 + packet.side}", dst=f"172.16.0.{2 - packet.side}", proto=proto, id=7)


def ether(packet: Base, kind: int) -> bytes:
    return MACS[1 - packet.side] + MACS[packet.side] + struct.pack(">H", kind)


@cache
def heads(side: int, proto: int, size: int, six: bool, *ports: int) -> bytes:
    """Of IP, and of UDP without a checksum where there are ports, before `size` bytes: on what these are no head depends."""
    udp = UDP(sport=ports[0], dport=ports[1], chksum=0, len=8 + size) if ports else b""
    return bytes(outer(Base(b"", 0, side), proto, six) / udp / Raw(bytes(size)))[: -size or None]


def in_ip(packet: Base, proto: int, data: bytes, six: bool = False) -> bytes:
    return ether(packet, 0x86DD if six else 0x0800) + heads(packet.side, proto, len(data), six) + data


def in_udp(packet: Base, port: int, data: bytes, source: int = 51_234, six: bool = False) -> bytes:
    return ether(packet, 0x86DD if six else 0x0800) + heads(packet.side, 17, len(data), six, source, port) + data


def kind(packet: Base) -> int:
    """Its ethertype."""
    return 0x86DD if packet.ip[0] >> 4 == 6 else 0x0800


def tagged(tag: bytes, ethertype: int) -> Wrap:
    """A tag behind the addresses of the frame."""
    return lambda p: ether(p, ethertype) + tag + p.ethernet[12:]


def before(head: bytes) -> Wrap:
    """A header before the Ethernet frame."""
    return lambda p: head + p.ethernet


def vxlan(port: int = 4789, source: int = 51_234, six: bool = False, **fields: int) -> Wrap:
    head = bytes(VXLAN(**{"vni": 77, "flags": 8} | fields))
    return lambda p: in_udp(p, port, head + p.ethernet, source, six)


def gpe(number: int, port: int = 4790, middle: bytes = b"") -> Wrap:
    """draft-ietf-nvo3-vxlan-gpe 3: flags I and P, next protocol."""
    head = struct.pack(">BHBI", 0x0C, 0, number, 77 << 8) + middle
    return lambda p: in_udp(p, port, head + (p.ethernet if number == 3 or middle[3:4] == b"\x03" else p.ip))


def geneve(proto: int, port: int = 6081, options: bytes = b"") -> Wrap:
    head = bytes(GENEVE(vni=77, proto=proto, optionlen=len(options) // 4)) + options
    return lambda p: in_udp(p, port, head + (p.ethernet if proto == 0x6558 else p.ip))


def gre(proto: int, port: int = 0, **fields: int) -> Wrap:
    """GRE, in UDP if there is a port."""
    head = bytes(GRE(proto=proto, **fields))
    body = lambda p: head + (p.ethernet if proto == 0x6558 else p.ip)  # noqa: E731
    return lambda p: in_udp(p, port, body(p)) if port else in_ip(p, 47, body(p))


def gtp(**fields: int) -> Wrap:
    return lambda p: in_udp(p, 2152, bytes(GTP_U_Header(gtp_type=255, teid=1 + p.side, **fields) / Raw(p.ip)), 2152)


def l2tp3(cookie: bytes = b"", sublayer: bytes = b"", udp: bool = False) -> Wrap:
    """RFC 3931 4.1: session id, cookie, sublayer; in UDP a word before it."""

    def wrap(p: Base) -> bytes:
        session = struct.pack(">I", 0x01020304 + p.side) + cookie + sublayer + p.ethernet
        return in_udp(p, 1701, b"\x00\x03\x00\x00" + session, 1701) if udp else in_ip(p, 115, session)

    return wrap


def l2tp2(flags: int, fields: bytes) -> Wrap:
    """RFC 2661 3.1."""

    def wrap(p: Base) -> bytes:
        ppp = b"\xff\x03\x00\x21" + p.ip
        size = 6 + 2 * bool(flags & 0x4000) + len(fields) + len(ppp)
        length = struct.pack(">H", size) if flags & 0x4000 else b""
        return in_udp(p, 1701, struct.pack(">H", flags | 2) + length + b"\0\x05\0\x06" + fields + ppp, 1701)

    return wrap


def tzsp(tags: bytes, port: int = 37008) -> Wrap:
    return lambda p: in_udp(p, port, b"\x01\x00\x00\x01" + tags + b"\x01" + p.ethernet)


def mpls(*labels: int) -> bytes:
    count = len(labels)
    return b"".join(bytes(MPLS(label=label, s=n == count - 1, ttl=63)) for n, label in enumerate(labels))


def wire(first: int, word: bytes = b"") -> Wrap:
    """A pseudowire of Ethernet whose destination address begins with the byte `first`."""
    return lambda p: ether(p, 0x8847) + mpls(16, 99) + word + bytes([first]) + p.ethernet[1:]


def nsh(next_protocol: int, ethertype: bool = True) -> Wrap:
    def wrap(p: Base) -> bytes:
        inner = p.ethernet if next_protocol == 3 else p.ip
        head = bytes(NSH(nextproto=next_protocol, mdtype=1, spi=5, si=255))
        return ether(p, 0x894F) + head + inner if ethertype else in_ip(p, 47, b"\0\0\x89\x4f" + head + inner)

    return wrap


def ah(next_header: int = 6) -> Wrap:
    """RFC 4302: 12 bytes and a check value of 12."""

    def wrap(p: Base) -> bytes:
        head = struct.pack(">BBHII", next_header, 4, 0, 0x100, 1) + bytes(range(12))
        if next_header != 6:
            return in_ip(p, 51, head + p.ip)
        packet = IP(p.ip)
        inner = bytes(packet.payload)
        packet.remove_payload()
        del packet.len, packet.chksum
        packet.proto = 51
        return ether(p, 0x0800) + bytes(packet / Raw(head + inner))

    return wrap


def esp(tag: int, next_header: int = 6) -> Wrap:
    """RFC 4303 with null encryption and a check value of `tag` bytes."""

    def wrap(p: Base) -> bytes:
        packet = IP(p.ip)
        data = p.ip if next_header == 4 else bytes(packet.payload)
        padding = bytes(range(1, 1 + (-(len(data) + 2) % 4)))
        data = struct.pack(">II", 0x1234, 9) + data + padding + bytes([len(padding), next_header]) + b"\xa5" * tag
        if next_header == 4:
            return in_ip(p, 50, data)
        packet.remove_payload()
        del packet.len, packet.chksum
        packet.proto = 50
        return ether(p, 0x0800) + bytes(packet / Raw(data))

    return wrap


def scapy_vlan(*tags: Packet) -> Wrap:
    def wrap(p: Base) -> bytes:
        frame = Ether(dst=p.ethernet[:6], src=p.ethernet[6:12])
        for tag in tags:
            frame = frame / tag
        return bytes(frame / type(IP(p.ip))(p.ip))

    return wrap


# What control messages would say, which are not in the capture.
ETHERNET_SESSION = ("-d", "l2tp.pw_type==0,eth")
NULL_ESP = ("-o", "esp.enable_null_encryption_decode_heuristic:TRUE")
GBP = {"flags": 0x88, "gpid": 1234}
TUNNELS = [
    Encapsulation("nothing", lambda p: p.ethernet),
    Encapsulation("vlan", scapy_vlan(Dot1Q(vlan=42))),
    Encapsulation("qinq", scapy_vlan(Dot1AD(vlan=7), Dot1Q(vlan=42))),
    Encapsulation("vxlan", vxlan()),
    Encapsulation("vxlan, ipv6 outside", vxlan(six=True)),
    Encapsulation("vxlan, ipv6 inside", vxlan(), six=True),
    Encapsulation("vxlan of linux", vxlan(8472), tshark=("-d", "udp.port==8472,vxlan")),
    Encapsulation("vxlan with a group (ACI, gbp)", vxlan(**GBP)),
    Encapsulation("vxlan, group, policy applied", vxlan(flags=0x88, reserved1=8, gpid=99)),
    Encapsulation("vxlan, reserved bits", vxlan(flags=0x49, reserved1=0x55, reserved2=0xEE)),
    Encapsulation("vxlan, last byte reserved", vxlan(reserved2=0xFF)),
    Encapsulation("vxlan without its flag", vxlan(flags=0)),
    Encapsulation("vxlan elsewhere, by content", vxlan(48_879), tshark=("-d", "udp.port==48879,vxlan")),
    Encapsulation(
        "vxlan elsewhere, by name", vxlan(48_879), tshark=("-d", "udp.port==48879,vxlan"), decode_as=((48_879, "vxlan"),)
    ),
    Encapsulation("vxlan elsewhere with a group", vxlan(6_666, **GBP), tshark=("-d", "udp.port==6666,vxlan")),
    Encapsulation("vxlan elsewhere, ipv6 inside", vxlan(6_666), tshark=("-d", "udp.port==6666,vxlan"), six=True),
    Encapsulation("vxlan in a vlan", lambda p: p.ethernet[:12] + b"\x81\0\0\x05" + vxlan()(p)[12:]),
    Encapsulation("vxlan in vxlan", lambda p: in_udp(p, 4789, bytes(VXLAN(vni=1, flags=8)) + vxlan()(p))),
    Encapsulation("vxlan-gpe, ethernet", gpe(3)),
    Encapsulation("vxlan-gpe, ipv4", gpe(1)),
    Encapsulation("vxlan-gpe, ipv6", gpe(2), six=True),
    Encapsulation("vxlan-gpe, nsh", gpe(4, middle=bytes(NSH(nextproto=3, mdtype=1, spi=5, si=255)))),
    Encapsulation("vxlan-gpe on vxlan's port", gpe(1, 4789), tshark=("-d", "udp.port==4789,vxlan_gpe")),
    Encapsulation("vxlan-gpe elsewhere", gpe(1, 7_000), tshark=("-d", "udp.port==7000,vxlan_gpe")),
    Encapsulation("geneve, ethernet", geneve(0x6558)),
    Encapsulation("geneve, ipv4, options", geneve(0x0800, options=bytes([1, 2, 3, 1, 5, 6, 7, 8]))),
    Encapsulation("geneve, ipv6", geneve(0x86DD), six=True),
    Encapsulation("geneve elsewhere", geneve(0x6558, 7_001), tshark=("-d", "udp.port==7001,geneve")),
    Encapsulation("gre", gre(0x0800)),
    Encapsulation("nvgre", gre(0x6558, key_present=1, key=0x4D0001)),
    Encapsulation("gre, wccp 1", gre(0x883E)),
    Encapsulation("gre, wccp 2", lambda p: in_ip(p, 47, b"\0\0\x88\x3e\x01\x02\x03\x04" + p.ip)),
    Encapsulation("gre, pptp", lambda p: in_ip(p, 47, struct.pack(
        ">HHHHI", 0x3001, 0x880B, 4 + len(p.ip), 5, 9) + b"\xff\x03\x00\x21" + p.ip)),
    Encapsulation("gre, mpls", lambda p: in_ip(p, 47, b"\0\0\x88\x47" + mpls(30) + p.ip)),
    Encapsulation("gre in udp", gre(0x0800, 4754)),
    Encapsulation("gre in udp, key, ethernet", gre(0x6558, 4754, key_present=1, key=5)),
    Encapsulation("gre in udp elsewhere", gre(0x0800, 7_002), tshark=("-d", "udp.port==7002,gre")),
    Encapsulation("erspan 1", lambda p: in_ip(p, 47, b"\0\0\x88\xbe" + p.ethernet)),
    Encapsulation("erspan 2", lambda p: in_ip(p, 47, b"\x10\0\x88\xbe" + bytes(4) + b"\x10\x00\x00\x0c" + bytes(4) + p.ethernet)),
    Encapsulation("fou", lambda p: in_udp(p, 5_555, p.ip), tshark=NOT_READ),
    Encapsulation("fou, ipv6", lambda p: in_udp(p, 5_555, p.ip), tshark=NOT_READ, six=True),
    Encapsulation("flannel in udp", lambda p: in_udp(p, 8_285, p.ip, 8_285), tshark=NOT_READ),
    Encapsulation("vxlan of weave", vxlan(6_784, 6_784), tshark=("-d", "udp.port==6784,vxlan")),
    Encapsulation("vxlan of a fabric (ACI)", vxlan(48_879, flags=0xC8, reserved1=0x20, reserved2=1, gpid=77),
            tshark=("-d", "udp.port==48879,vxlan")),
    Encapsulation("qinq in vxlan in a vlan", lambda p: ether(p, 0x8100) + b"\0\x05\x08\0" + in_udp(
        p, 4789, bytes(VXLAN(vni=3, flags=8)) + p.ethernet[:12] + b"\x88\xa8\0\x07\x81\0\0\x2a" + p.ethernet[12:])[14:]),
    Encapsulation("gre, checksum, key, number", gre(0x0800, chksum_present=1, key_present=1, seqnum_present=1)),
    Encapsulation("fou with gre", gre(0x0800, 5_556), tshark=("-d", "udp.port==5556,gre")),
    Encapsulation("gue", lambda p: in_udp(p, 6_080, b"\x00\x04\0\0" + p.ip), tshark=NOT_READ),
    Encapsulation("gue, version 1", lambda p: in_udp(p, 6_080, p.ip), tshark=NOT_READ),
    Encapsulation("gtp-u", gtp()),
    Encapsulation("gtp-u, sequence", gtp(S=1, seq=5)),
    Encapsulation("gtp-u, extension", lambda p: in_udp(p, 2152, struct.pack(
        ">BBHIHBB", 0x34, 255, 8 + len(p.ip), 7, 0, 0, 0x85) + b"\x01\x00\x09\x00" + p.ip, 2152)),
    Encapsulation("l2tpv2", l2tp2(0x4000, b"")),
    Encapsulation("l2tpv2, numbers, offset", l2tp2(0x4A00, b"\0\x01\0\x02" + b"\0\x02" + b"\0\0")),
    Encapsulation("l2tpv3", l2tp3(), tshark=ETHERNET_SESSION),
    Encapsulation("l2tpv3, cookie of 4", l2tp3(b"\xc0\x0c\x1e\x55"), tshark=(
        *ETHERNET_SESSION, "-o", "l2tp.cookie_size:4 Byte Cookie")),
    Encapsulation("l2tpv3, cookie of 8", l2tp3(b"\xc0\x0c\x1e\x55\x01\x02\x03\x04"), tshark=(
        *ETHERNET_SESSION, "-o", "l2tp.cookie_size:8 Byte Cookie")),
    Encapsulation("l2tpv3, sublayer", l2tp3(sublayer=b"\x40\0\0\x01"), tshark=(
        *ETHERNET_SESSION, "-o", "l2tp.l2_specific:Default L2-Specific")),
    Encapsulation("l2tpv3, both", l2tp3(b"\xc0\x0c\x1e\x55", b"\x40\0\0\x01"), tshark=(
        *ETHERNET_SESSION, "-o", "l2tp.cookie_size:4 Byte Cookie", "-o", "l2tp.l2_specific:Default L2-Specific")),
    Encapsulation("l2tpv3 in udp", l2tp3(udp=True), tshark=ETHERNET_SESSION),
    Encapsulation("l2tpv3, ppp", lambda p: in_ip(p, 115, struct.pack(">I", 7 + p.side) + b"\xff\x03\x00\x21" + p.ip),
            tshark=("-d", "l2tp.pw_type==0,ppp")),
    Encapsulation("capwap data", lambda p: in_udp(p, 5247, b"\x00\x10\x02\x00" + bytes(4) + p.ethernet)),
    Encapsulation("capwap data, radio's address", lambda p: in_udp(
        p, 5247, b"\x00\x20\x02\x10" + bytes(4) + b"\x06" + MACS[0] + b"\0" + p.ethernet)),
    Encapsulation("pim register", lambda p: in_ip(p, 103, b"\x21\x00\xde\xff\0\0\0\0" + p.ip)),
    Encapsulation("batman 15", lambda p: ether(p, 0x4305) + b"\x40\x0f\x32\x01" + MACS[p.side] + p.ethernet),
    Encapsulation("batman 15, sender's address", lambda p: ether(p, 0x4305) + b"\x42\x0f\x32\x01" + MACS[p.side]
            + MACS[1 - p.side] + b"\x01\0" + p.ethernet),
    Encapsulation("batman 14", lambda p: ether(p, 0x4305) + b"\x03\x0e\x32\x01" + MACS[p.side] + p.ethernet),
    Encapsulation("tzsp", tzsp(b"")),
    Encapsulation("tzsp with tags", tzsp(b"\x00\x0a\x01\xc4\x12\x01\x06")),
    Encapsulation("tzsp elsewhere, by name", tzsp(b"", 7_100), tshark=("-d", "udp.port==7100,tzsp"), decode_as=((7_100, "tzsp"),)),
    Encapsulation("mpls in udp elsewhere, by name", lambda p: in_udp(p, 7_101, mpls(16, 17) + p.ip),
            tshark=("-d", "udp.port==7101,mpls"), decode_as=((7_101, "mpls"),)),
    Encapsulation("ethernet in udp, by name", lambda p: in_udp(p, 7_102, p.ethernet),
            tshark=("-d", "udp.port==7102,eth"), decode_as=((7_102, "eth"),)),
    Encapsulation("mpls in udp", lambda p: in_udp(p, 6635, mpls(16, 17) + p.ip)),
    Encapsulation("mpls", lambda p: ether(p, 0x8847) + mpls(100, 200) + p.ip),
    *(Encapsulation(f"pseudowire to {first:02x}", wire(first), tshark=("-d", "mpls.label==99,pwethnocw"))
      for first in (0x00, 0x02, 0x40, 0x60, 0xF2)),
    Encapsulation("pseudowire, control word", wire(0x02, bytes(4)), tshark=("-d", "mpls.label==99,pwethcw")),
    Encapsulation("pseudowire, numbered, to 40", wire(0x40, b"\0\0\0\x07"), tshark=("-d", "mpls.label==99,pwethcw")),
    Encapsulation("vn-tag", tagged(b"\x80\x01\x00\x02", 0x8926)),
    Encapsulation("e-tag", tagged(b"\x00\x01\x10\x02\x00\x00", 0x893F)),
    Encapsulation("e-tag, vlan", tagged(b"\x00\x01\x10\x02\x00\x00\x81\x00\x00\x05", 0x893F)),
    Encapsulation("pbb", lambda p: ether(p, 0x88E7) + b"\x00\x01\x02\x03" + p.ethernet),
    Encapsulation("pbb in a backbone vlan", lambda p: ether(p, 0x88A8) + b"\0\x09\x88\xe7\x00\x01\x02\x03" + p.ethernet),
    Encapsulation("nsh, ipv4", nsh(1)),
    Encapsulation("nsh, ipv6", nsh(2), six=True),
    Encapsulation("nsh, ethernet", nsh(3)),
    Encapsulation("nsh in gre", nsh(3, ethertype=False)),
    Encapsulation("cisco metadata", tagged(b"\x01\x01\x00\x01\x00\x11", 0x8909)),
    Encapsulation("cisco metadata behind a vlan", tagged(b"\0\x05\x89\x09\x01\x01\x00\x01\x00\x11", 0x8100)),
    Encapsulation("trill", lambda p: ether(p, 0x22F3) + b"\x00\x0f\x00\x01\x00\x02" + p.ethernet),
    Encapsulation("trill, options", lambda p: ether(p, 0x22F3) + b"\x00\x4f\x00\x01\x00\x02" + bytes(4) + p.ethernet),
    Encapsulation("fabricpath", lambda p: bytes([2, 0, 2 - p.side, 0, 0, 0, 2, 0, 1 + p.side, 0, 0, 0]) + b"\x89\x03\x00\x60"
            + p.ethernet + b"\x01" * 4, tshark=("--enable-heuristic", "fp_eth")),
    Encapsulation("ah", ah()),
    Encapsulation("ah, tunnel", ah(4)),
    *(Encapsulation(f"esp in clear, tag of {tag}", esp(tag), tshark=NULL_ESP) for tag in (12, 16)),
    Encapsulation("esp in clear, tunnel", esp(12, 4), tshark=NULL_ESP),
    Encapsulation("esp in clear, in udp", lambda p: in_udp(p, 4500, esp(12, 4)(p)[34:], 4500), tshark=NULL_ESP),
    Encapsulation("macsec in clear", lambda p: tagged(b"\x00\x00\0\0\0\x01", 0x88E5)(p) + b"\x5a" * 16),
    Encapsulation("macsec in clear, sci", lambda p: tagged(b"\x20\x00\0\0\0\x01" + bytes(8), 0x88E5)(p) + b"\x5a" * 16),
    Encapsulation("hsr", tagged(b"\x00\x2c\x00\x01", 0x892F)),
    Encapsulation("802.1cb", tagged(b"\x00\x00\x00\x01", 0xF1C1)),
    Encapsulation("arista time, 64 bits", tagged(b"\0\x01\0\x10" + bytes(8), 0xD28B)),
    Encapsulation("arista time, 48 bits", tagged(b"\0\x01\0\x20" + bytes(6), 0xD28B)),
    Encapsulation("etherip", lambda p: in_ip(p, 97, b"\x30\x00" + p.ethernet)),
    Encapsulation("ethernet in ipv6 (SRv6)", lambda p: in_ip(p, 143, p.ethernet, six=True)),
    Encapsulation("ip in ip", lambda p: in_ip(p, 4, p.ip)),
    Encapsulation("lisp", lambda p: in_udp(p, 4341, bytes(8) + p.ip, 61_000)),
    Encapsulation("teredo", lambda p: in_udp(p, 3544, p.ip), six=True),
    Encapsulation("teredo, indication", lambda p: in_udp(p, 3544, b"\0\0\x12\x34" + bytes(4) + p.ip), six=True),
    Encapsulation("pppoe", lambda p: ether(p, 0x8864) + struct.pack(">BBHHH", 0x11, 0, 33, 2 + len(p.ip), 0x21) + p.ip),
    Encapsulation("pppoe with mpls", lambda p: ether(p, 0x8864) + struct.pack(
        ">BBHHH", 0x11, 0, 33, 6 + len(p.ip), 0x281) + mpls(9) + p.ip),
]  # fmt: skip


def pktap(inner: int, size: int = 108) -> Wrap:
    """Apple's bsd/net/pktap.h: length, record, link type, interface, flags, family, lengths of link header and trailer ..."""
    loop = {0: b"\x02\0\0\0", 12: b""}
    head = struct.pack("<III24sIIII", size, 1, inner, b"en0", 1, 2, 14, 0).ljust(size, b"\0")
    return lambda p: head + (p.ethernet if inner == 1 else loop[inner] + p.ip)


def erf(kind: int, headers: bytes = b"") -> Wrap:
    """Endace's "ERF types reference": time, type, flags, length of record, losses, length on the wire."""

    def wrap(p: Base) -> bytes:
        of_ip = {1: b"\x0f\x00\x08\x00", 22: b"", 23: b""}.get(kind & 0x7F)
        body = b"\0\0" + p.ethernet if of_ip is None else of_ip + p.ip
        size = 16 + len(headers) + len(body)
        stamp = struct.pack("<Q", (p.time // 1_000_000_000 << 32) + (p.time % 1_000_000_000 << 32) // 1_000_000_000)
        return stamp + struct.pack(">BBHHH", kind, 4, size, 0, len(p.ethernet) + 4) + headers + body

    return wrap


WIFI = b"\x00\x01\x02\x03\x04\x05"
DATA_80211 = b"\x08\x02\x00\x00" + WIFI * 3 + b"\x10\x00" + b"\xaa\xaa\x03\0\0\0\x08\x00"
LINKS = [
    Encapsulation("pktap, ethernet", pktap(1), 258),
    Encapsulation("pktap, loopback", pktap(0), 258),
    Encapsulation("pktap, raw ip", pktap(12), 258),
    Encapsulation("pktap, longer header", pktap(1, 156), 258),
    Encapsulation("pktap as user2", pktap(1), 149),
    Encapsulation("pflog of openbsd", lambda p: bytes([61, 2]) + bytes(62) + p.ip, 117),
    Encapsulation("pflog, longer", lambda p: bytes([100, 2]) + bytes(98) + p.ip, 117),
    Encapsulation("erf, ethernet", erf(2), 197),
    Encapsulation("erf, colour", erf(11), 197),
    Encapsulation("erf, headers", erf(0x82, b"\x83" + bytes(7) + b"\x03" + bytes(7)), 197),
    Encapsulation("erf, ipv4", erf(22), 197),
    Encapsulation("erf, hdlc", erf(1), 197),
    Encapsulation("ip over infiniband", lambda p: bytes(40) + b"\x08\x00\0\0" + p.ip, 242),
    Encapsulation("enc of openbsd", lambda p: struct.pack(">III", 2, 5, 0) + p.ip, 109),
    Encapsulation("dsa", lambda p: p.ethernet[:12] + b"\xc0\x08\x00\x00" + p.ethernet[12:], 284, tshark=NOT_READ),
    Encapsulation("dsa, vlan", lambda p: p.ethernet[:12] + b"\xe0\x08\x00\x05" + p.ethernet[12:], 284, tshark=NOT_READ),
    Encapsulation("edsa", lambda p: ether(p, 0xDADA) + b"\0\0\xc0\x08\x00\x00" + p.ethernet[12:], 285, tshark=NOT_READ),
    Encapsulation("brcm tag", lambda p: p.ethernet[:12] + b"\x00\x00\x00\x08" + p.ethernet[12:], 281, tshark=NOT_READ),
    Encapsulation("brcm tag in front", before(b"\x00\x00\x00\x08"), 282, tshark=NOT_READ),
    Encapsulation("802.11", lambda p: DATA_80211 + p.ip, 105),
    Encapsulation("802.11, radiotap", lambda p: b"\0\0\x08\0\0\0\0\0" + DATA_80211 + p.ip, 127),
    Encapsulation("junos ethernet", lambda p: b"MGC\x81\0\x06" + bytes(6) + p.ethernet, 178),
    Encapsulation("junos ethernet, no attributes", lambda p: b"MGC\x00" + p.ethernet, 178),
    Encapsulation("ppi", lambda p: b"\0\0\x08\0\x01\0\0\0" + p.ethernet, 192),
    Encapsulation("cooked 1", lambda p: struct.pack(">HHH8sH", 0, 1, 6, MACS[p.side] + b"\0\0", 0x0800) + p.ip, 113),
    Encapsulation("cooked 2", lambda p: struct.pack(">HHIHBB8s", 0x0800, 0, 2, 1, 0, 6, bytes(8)) + p.ip, 276),
    Encapsulation("raw ip", lambda p: p.ip, 101),
    Encapsulation("null", lambda p: b"\x02\0\0\0" + p.ip, 0),
    Encapsulation("ppp", lambda p: b"\xff\x03\x00\x21" + p.ip, 9),
    Encapsulation("ppp with direction", lambda p: bytes([p.side]) + b"\xff\x03\x00\x21" + p.ip, 204),
    Encapsulation("frame relay", lambda p: b"\x18\x41\x03\xcc" + p.ip, 107),
    Encapsulation("frame relay, ethertype", lambda p: b"\x18\x41\x08\x00" + p.ip, 107),
    Encapsulation("frame relay, snap", lambda p: b"\x18\x41\x03\x00\x80\0\0\0\x08\x00" + p.ip, 107),
    Encapsulation("rfc 1483", lambda p: b"\xaa\xaa\x03\0\0\0\x08\x00" + p.ip, 100),
    Encapsulation("ip over fibre channel", lambda p: bytes(16) + b"\xaa\xaa\x03\0\0\0\x08\x00" + p.ip, 122),
    Encapsulation("token ring", lambda p: b"\x10\x40" + WIFI * 2 + b"\xaa\xaa\x03\0\0\0\x08\x00" + p.ip, 6),
    Encapsulation("802.11, avs", lambda p: struct.pack(">II", 0x80211001, 64).ljust(64, b"\0") + DATA_80211 + p.ip, 163),
    Encapsulation("802.11, prism", lambda p: struct.pack("<II", 0x44, 144).ljust(144, b"\0") + DATA_80211 + p.ip, 119),
    Encapsulation("802.11, quality of service", lambda p: b"\x88" + DATA_80211[1:24] + b"\0\0" + DATA_80211[24:] + p.ip, 105),
    Encapsulation("cisco hdlc", lambda p: b"\x0f\x00\x08\x00" + p.ip, 104),
    Encapsulation("nflog", lambda p: b"\x02\0\0\0" + struct.pack("<HH", 4 + len(p.ip), 9) + p.ip, 239),
]  # fmt: skip
