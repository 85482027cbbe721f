"""Links, tags and tunnels without a function of their own, and a few with: rows like those of `encapsulations`.

Most are read because the packet behind them proves itself (`dissectors/packet/unknown_headers.py`).
"""

from __future__ import annotations

import struct

from encapsulations import (
    DATA_80211,
    NOT_READ,
    Encapsulation,
    Wrap,
    before,
    erf,
    ether,
    in_ip,
    in_udp,
    mpls,
    outer,
    tagged,
)
from one_base import MACS, Base
from scapy.packet import Raw

SNAP = b"\xaa\xaa\x03\0\0\0\x08\x00"
PREAMBLE = b"\x55" * 7 + b"\xd5"


def front(head: bytes, tail: bytes = b"") -> Wrap:
    """A header before the IP packet."""
    return lambda p: head + p.ip + tail


def junos(head: bytes, flags: int = 1) -> Wrap:
    """A magic number and flags (bit 0: received), then what the kind of the interface puts before IP."""
    return front(b"MGC" + bytes([flags]) + head)


def stt(p: Base) -> bytes:
    """draft-davie-stt: a header like TCP's with length and place of the piece, then 18 bytes."""
    frame = bytes(10) + struct.pack(">IHH", 77 + p.side, 0, 0) + p.ethernet
    head = struct.pack(">HHHHIBBHHH", 40_000 + p.side, 7471, len(frame), 0, 0x1234, 0x50, 0x18, 0, 0, 0)
    return ether(p, 0x0800) + bytes(outer(p, 6) / Raw(head + frame))


def length_first(p: Base, body: bytes) -> bytes:
    """IEEE 802.3: addresses and a length, which counts up to 1,500; longer frames have an ethertype."""
    if len(body) > 1_500:
        return p.ethernet
    return MACS[1 - p.side] + MACS[p.side] + struct.pack(">H", len(body)) + body


def isl(p: Base) -> bytes:
    """Cisco's Inter-Switch Link: 26 bytes before the frame, and a check value behind."""
    if len(p.ethernet) + 16 > 1_500:
        return p.ethernet
    size = struct.pack(">H", len(p.ethernet) + 16)
    return b"\x01\0\x0c\0\0\0" + MACS[0] + size + b"\xaa\xaa\x03\0\0\x0c\0\x0a\0\x01\0\0" + p.ethernet + bytes(4)


def aal5(p: Base) -> bytes:
    """An ERF record of AAL5."""
    body = b"\0\0\0\x50" + SNAP + p.ip
    return erf(22)(p)[:8] + struct.pack(">BBHHH", 4, 4, 16 + len(body), 0, len(body)) + body


def bridged(pid_and_padding: bytes) -> bytes:
    """LLC and SNAP with the IEEE's number for bridging (RFC 2684, RFC 2427)."""
    return b"\x00\x80\xc2" + pid_and_padding


def ipnet(p: Base) -> bytes:
    """Version, family, length, interfaces, zones."""
    return struct.pack(">BBHIIIII", 1, 2, 0, len(p.ip), 1, 0, 1, 1) + p.ip


def pppoe(p: Base) -> bytes:
    return ether(p, 0x8864) + struct.pack(">BBHHH", 0x11, 0, 33, 2 + len(p.ip), 0x21) + p.ip


STT = ("-o", "ip.try_heuristic_first:TRUE")
RARE_LINKS = [
    Encapsulation("junos mlppp", junos(b"\0\x05\0\x21"), 130),
    Encapsulation("junos mlppp, cookie", junos(b"\x54\0\0\x05\0\x21"), 130),
    Encapsulation("junos mlppp, cookie of 8", junos(b"\x43\0\0\0\0\0\0\x05\0\x21"), 130, tshark=NOT_READ),
    Encapsulation("junos mlfr", junos(b"\0\x05\x03\xcc"), 131),
    Encapsulation("junos mlfr, cookie", junos(b"\x54\0\0\x05\x03\xcc"), 131),
    Encapsulation("junos ggsn", junos(b"\2\0\0\0"), 133),
    Encapsulation("junos atm 2, llc", junos(bytes(8) + SNAP), 135),
    Encapsulation("junos atm 2, ip", junos(bytes(8)), 135),
    Encapsulation("junos atm 2, nlpid", junos(bytes(8) + b"\xfe\xfe\x03\xcc"), 135),
    Encapsulation("junos services", junos(b"\2\0\0\0"), 136, tshark=NOT_READ),
    Encapsulation("junos atm 1, llc", junos(bytes(4) + SNAP), 137),
    Encapsulation("junos atm 1, ip", junos(bytes(4)), 137),
    Encapsulation("junos pppoe", lambda p: b"MGC\x01" + pppoe(p), 167),
    Encapsulation("junos ethernet, taken off", junos(b"\2\0\0\0", 3), 178),
    Encapsulation("junos ppp", junos(b"\xff\x03\0\x21"), 179),
    Encapsulation("junos frame relay", junos(b"\x18\x41\x03\xcc"), 180),
    Encapsulation("junos hdlc", junos(b"\x0f\0\x08\0"), 181),
    Encapsulation("junos hdlc, mpls", junos(b"\x0f\0\x88\x47" + mpls(16, 17)), 181),
    Encapsulation("junos voice", junos(bytes(18)), 183),
    Encapsulation("junos secure tunnel", junos(b""), 200, tshark=NOT_READ),
    Encapsulation("ax.25", front(bytes(13) + b"\x01\x03\xcc"), 3),
    Encapsulation("ax.25, kiss", front(bytes(14) + b"\x01\x03\xcc"), 202),
    Encapsulation("arcnet", front(b"\x01\x02\xd4\0\0\x01"), 7),
    Encapsulation("arcnet of linux", front(b"\x01\x02\0\0\xd4\0\0\x01"), 129),
    Encapsulation("slip", front(bytes(16)), 8, tshark=NOT_READ),
    Encapsulation("fddi", front(b"\x50" + bytes(12) + SNAP), 10),
    Encapsulation("redback", front(bytes(22)), 32, tshark=NOT_READ),
    Encapsulation("symantec 2", front(bytes(6) + b"\x08\0" + bytes(36)), 99),
    Encapsulation("rfc 1483, bridged", before(b"\xaa\xaa\x03" + bridged(b"\0\x07\0\0")), 100),
    Encapsulation("rfc 1483, nlpid", front(b"\xfe\xfe\x03\xcc"), 100),
    Encapsulation("cisco hdlc, mpls", front(b"\x0f\0\x88\x47" + mpls(16, 17)), 104),
    Encapsulation("cisco hdlc of bsd", front(b"\x0f\0\x08\0"), 112),
    Encapsulation("ip over atm", front(b""), 106),
    Encapsulation("sun's atm, llc", front(b"\x02\0\0\x05" + SNAP), 123),
    Encapsulation("sun's atm, lane", before(b"\x01\0\0\x05\0\x01"), 123),
    Encapsulation("tzsp as link", before(b"\x01\0\0\x01\x01"), 128),
    Encapsulation("ip over firewire", front(bytes(16) + b"\x08\0"), 138),
    Encapsulation("ppp of pppd", front(b"\0\xff\x03\0\x21"), 166, tshark=NOT_READ),
    Encapsulation("ppp, mpls", front(b"\xff\x03\x02\x81" + mpls(16, 17)), 9),
    Encapsulation("ppp, bridged", before(b"\xff\x03\0\x31\0\x01"), 9),
    Encapsulation("ppp, multilink", front(b"\xff\x03\0\x3d\xc0\0\0\x01\x21"), 9),
    Encapsulation("frame relay, bridged", before(b"\x18\x41\x03\0\x80" + bridged(b"\0\x07")), 107),
    Encapsulation("frame relay, mpls", front(b"\x18\x41\x03\0\x80\0\0\0\x88\x47" + mpls(16)), 107),
    Encapsulation("frame relay with direction", front(b"\0\x18\x41\x03\xcc"), 206, tshark=NOT_READ),
    Encapsulation("erf, aal5", aal5, 197, tshark=NOT_READ),
    Encapsulation("ipnet of solaris", ipnet, 226),
    Encapsulation("ip over fibre channel, fc-2", front(bytes(40) + SNAP), 224, tshark=NOT_READ),
    Encapsulation("ethernet behind its preamble", before(PREAMBLE), 274, tshark=NOT_READ),
    Encapsulation("epon", before(b"\x55\x55\xd5\x55\x55\0\x01\x55"), 259),
    Encapsulation("exported, ip", front(b"\0\x0c\0\x04ip\0\0\0\0\0\0"), 252),
    Encapsulation("exported, ethernet", before(b"\0\x0c\0\x10eth_withoutfcs\0\0\0\0\0\0"), 252),
    Encapsulation("user 0", before(b"abcd"), 147, tshark=NOT_READ),
]  # fmt: skip
RARE_TUNNELS = [
    Encapsulation("stt", stt, tshark=STT),
    Encapsulation("802.3 with snap", lambda p: length_first(p, SNAP + p.ip)),
    Encapsulation("802.3 with ip", lambda p: length_first(p, b"\x06\x06\x03" + p.ip)),
    Encapsulation("isl", isl),
    Encapsulation("a tag that nobody knows", tagged(b"\x04\0\0\0\0\x08", 0x8899), tshark=NOT_READ),
    Encapsulation("edsa on ethernet", lambda p: ether(p, 0xDADA) + b"\0\0\xc0\x08\0\0" + p.ethernet[12:], tshark=NOT_READ),
    Encapsulation("vmware lab manager", lambda p: ether(p, 0x88DE) + bytes(8) + p.ethernet, tshark=NOT_READ),
    Encapsulation("geneve, mpls", lambda p: in_udp(p, 6081, b"\0\0\x88\x47" + struct.pack(">I", 77 << 8) + mpls(16) + p.ip)),
    Encapsulation("erspan 3", lambda p: in_ip(p, 47, b"\x10\0\x22\xeb" + bytes(4) + b"\x20" + bytes(11) + p.ethernet)),
    Encapsulation("gtp 0", lambda p: in_udp(p, 3386, b"\x1e\xff" + struct.pack(">HHHI", len(p.ip), 1, 2, 0xFFFFFF) + bytes(8)
                                     + p.ip, 3386)),
    Encapsulation("mirror of juniper", lambda p: in_udp(p, 30_030, b"\0\0\0\x01\0\0\0\x05" + p.ip)),
    Encapsulation("mirror of hp", lambda p: in_udp(p, 7_932, bytes(12) + p.ethernet), tshark=NOT_READ),
    Encapsulation("lwapp", lambda p: in_udp(p, 12_222, b"\0\0" + struct.pack(">H", len(p.ip) + 32) + b"\0\0" + DATA_80211
                                     + p.ip, 12_223)),
    Encapsulation("peekremote", lambda p: in_udp(p, 5_000, bytes(20) + DATA_80211 + p.ip), tshark=NOT_READ),
    Encapsulation("ayiya", lambda p: in_udp(p, 5_072, b"\x44\x52\x11\x29" + bytes(40) + p.ip), tshark=NOT_READ),
    Encapsulation("ip in protocol 94", lambda p: in_ip(p, 94, p.ip), tshark=NOT_READ),
    Encapsulation("mpls in gre over ipv6", lambda p: in_ip(p, 47, b"\0\0\x88\x47" + mpls(30) + p.ip, six=True)),
]  # fmt: skip
RARE = [*RARE_LINKS, *RARE_TUNNELS]
