"""Every layer below TCP, built by scapy: the segment's place, lengths and scope, and what other packets count as."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import dpkt
import pytest
from capture_tools import Read, enhanced, interface, pcap_file, read_capture, section, unpacked
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.contrib.erspan import ERSPAN_II, ERSPAN_III
from scapy.contrib.geneve import GENEVE
from scapy.contrib.mpls import MPLS
from scapy.layers.dot11 import Dot11, Dot11QoS, RadioTap
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, Jumbo
from scapy.layers.ipsec import AH
from scapy.layers.l2 import ARP, GRE, LLC, SNAP, CookedLinux, CookedLinuxV2, Dot1AD, Dot1Q, Dot3, Ether, Loopback
from scapy.layers.ppp import HDLC, PPP, PPPoE
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tcp.reassembly import Reassembly

DATA = b"sixteen payload!"
ENDS = TCP(sport=40000, dport=9092, seq=2**32 - 5, ack=7, flags="PA", window=501) / Raw(DATA)
V6 = IPv6(src="2001:db8::1", dst="fe80::2", hlim=62)
TCP4 = IP(src="10.1.2.3", dst="192.0.2.9", ttl=61, id=777) / ENDS
TCP6 = V6 / ENDS


def ether(**fields: int) -> Packet:
    """An Ethernet header for which scapy need not ask the network."""
    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", **fields)


DOT3 = Dot3(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
SNAP_IP = LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=0x0800)


def outer() -> Packet:
    return IP(src="172.16.0.1", dst="172.16.0.2")


def read(packet: Packet | bytes, link: int = 1, captured: int | None = None, length: int | None = None) -> Read:
    """Runs one packet, cut after `captured` bytes, through both stages."""
    data = bytes(packet)
    return read_capture(pcap_file([data[:captured]], link, lengths=[len(data) if length is None else length]))


def only(result: Read) -> dict[str, int]:
    """The one segment that must have come out, by the names of its columns."""
    (row,) = result.segments
    names = [name for name in dir(layout) if name.startswith("SEGMENT_") and name != "SEGMENT_COLUMNS"]
    return {name[8:].lower(): row[getattr(layout, name)] for name in names}


def outcome(result: Read) -> str:
    (index,) = [index for index, count in enumerate(result.stage.outcomes()) if count]
    names = [name for name in dir(layout) if name.startswith("SEEN_") and name != "SEEN_OUTCOMES"]
    return next(name[5:].lower() for name in names if getattr(layout, name) == index)


MIRROR = outer() / GRE(proto=0x88BE, seqnum_present=1)
MIRROR_3 = outer() / GRE(proto=0x22EB, seqnum_present=1)
OVERLAY = IPv6(src="fe80::7", dst="fe80::8") / UDP(dport=8472) / VXLAN(vni=1, flags=8)
LAYERS = {
    "ethernet": (1, ether() / TCP4, ""),
    "ethernet ipv6": (1, ether() / TCP6, ""),
    "vlan": (1, ether() / Dot1Q(vlan=42) / TCP4, "vlan 42"),
    "priority tag only": (1, ether() / Dot1Q(vlan=0, prio=5) / TCP4, ""),
    "qinq": (1, ether() / Dot1AD(vlan=7) / Dot1Q(vlan=42) / TCP6, "vlan 7, vlan 42"),
    "three tags": (1, ether() / Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / TCP4, "vlan 1, vlan 2, vlan 3"),
    "snap": (1, DOT3 / SNAP_IP / TCP4, ""),
    "snap of 802.1H": (1, DOT3 / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0xF8, code=0x86DD) / TCP6, ""),
    "length frame inside a vlan": (1, ether() / Dot1Q(vlan=5, type=68) / SNAP_IP / TCP4, "vlan 5"),
    "llc without snap": (1, DOT3 / LLC(dsap=6, ssap=6, ctrl=3) / TCP4, ""),
    "cooked 1, llc": (113, CookedLinux(proto=4) / SNAP_IP / TCP4, ""),
    "cooked 1": (113, CookedLinux(proto=0x0800) / TCP4, ""),
    "cooked 1 vlan": (113, CookedLinux(proto=0x8100) / Dot1Q(vlan=9) / TCP6, "vlan 9"),
    "cooked 2": (276, CookedLinuxV2(proto=0x86DD) / TCP6, ""),
    "null": (0, Loopback(type=2) / TCP4, ""),
    "null, other byte order": (0, b"\0\0\0\x02" + bytes(TCP4), ""),
    **{f"null, family {family}": (0, bytes([family, 0, 0, 0]) + bytes(TCP6), "") for family in (10, 23, 24, 28, 30)},
    "loop": (108, b"\0\0\0\x18" + bytes(TCP6), ""),
    **{f"raw {link}": (link, TCP4, "") for link in (12, 14, 101, 228)},
    **{f"raw ipv6 {link}": (link, TCP6, "") for link in (12, 14, 101, 229)},
    "ip options": (101, IP(src="10.1.2.3", dst="192.0.2.9", ttl=61, id=777, options=[IPOption_NOP()] * 7) / ENDS, ""),
    "hop by hop": (101, V6 / IPv6ExtHdrHopByHop() / ENDS, ""),
    "routing": (101, V6 / IPv6ExtHdrRouting(addresses=["fe80::2"], segleft=0) / ENDS, ""),
    "chain": (101, V6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / AH(nh=6, icv=bytes(12), payloadlen=4) / ENDS, ""),
    "atomic fragment": (101, V6 / IPv6ExtHdrFragment(offset=0, m=0) / ENDS, ""),
    "mpls": (1, ether(type=0x8847) / MPLS(label=100, s=0) / MPLS(label=200, s=1) / TCP4, ""),
    "mpls pseudowire": (1, bytes(ether(type=0x8847) / MPLS(label=5, s=1)) + bytes(4) + bytes(ether() / TCP6), ""),
    "pppoe": (1, ether() / PPPoE(sessionid=33) / PPP(proto=0x21) / TCP4, "pppoe session 33"),
    "4in6": (101, IPv6(nh=4) / TCP4, "ip in ip"),
    "6in4": (101, IP(src="172.16.0.1", dst="172.16.0.2", proto=41) / TCP6, "ip in ip"),
    "gre": (101, outer() / GRE(proto=0x0800, key_present=1, key=99, seqnum_present=1, sequence_number=5) / TCP4, "gre"),
    "gre with ethernet": (101, outer() / GRE(proto=0x6558, chksum_present=1) / ether() / TCP6, "gre"),
    "erspan 1": (101, outer() / GRE(proto=0x88BE) / ether() / TCP4, "erspan session 0"),
    "erspan 2": (101, MIRROR / ERSPAN_II(session_id=12) / ether() / TCP4, "erspan session 12"),
    "erspan 3": (101, MIRROR_3 / ERSPAN_III(session_id=13) / ether() / TCP4, "erspan session 13"),
    "vxlan": (1, ether() / outer() / UDP(dport=4789) / VXLAN(vni=1000, flags=8) / ether() / TCP4, "vxlan 1000"),
    "vxlan over vlan": (1, ether() / Dot1Q(vlan=3) / OVERLAY / ether() / TCP6, "vlan 3, vxlan 1"),
    "geneve": (101, outer() / UDP(dport=6081) / GENEVE(vni=77, proto=0x6558) / ether() / TCP4, "geneve 77"),
}  # fmt: skip


NO_CHECKSUM = {"chain"}  # scapy writes none behind an AH header


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("padding", [0, 9])
def test_finds_the_segment(name: str, padding: int) -> None:
    link, packet, scope = LAYERS[name]
    result = read(bytes(packet) + bytes(padding), link)
    row = only(result)
    six = ipaddress.ip_address("2001:db8::1").packed in bytes(packet)
    source, target = ("2001:db8::1", "fe80::2") if six else ("::ffff:10.1.2.3", "::ffff:192.0.2.9")
    assert address(row, "src") == ipaddress.ip_address(source)
    assert address(row, "dst") == ipaddress.ip_address(target)
    assert (row["src_port"], row["dst_port"], row["seq"], row["ack"]) == (40000, 9092, 2**32 - 5, 7)
    assert (row["flags"], row["window"]) == (layout.TCP_PSH | layout.TCP_ACK, 501)
    assert row["offset"] == DATA  # the helper puts the captured payload there
    assert (row["captured"], row["length"]) == (16, 16)
    checksum = int.from_bytes(bytes(packet)[-len(ENDS) + 16 :][:2], "big")
    assert (row["ttl"], row["ip_id"]) == ((62, -1 - checksum) if six else (61, 777))
    assert row["checksum"] == (layout.CHECKSUM_UNKNOWN if name in NO_CHECKSUM else layout.CHECKSUM_RIGHT)
    assert (row["number"], row["time"], row["interface"]) == (1, 1_700_000_000_000_000_000, 0)
    assert result.stage.scopes.get(row["scope"], "") == scope
    assert (row["scope"] == 0) == (scope == "")
    assert result.stage.tcp_ports() == {9092: 1, 40000: 1}


def address(row: dict[str, int], side: str) -> ipaddress.IPv6Address:
    return ipaddress.IPv6Address((row[f"{side}_high"] & 2**64 - 1) << 64 | row[f"{side}_low"] & 2**64 - 1)


@pytest.mark.parametrize("name", LAYERS)
def test_cut_anywhere_it_is_a_segment_or_counted_as_cut(name: str) -> None:
    """With the flags captured a packet is a segment of full length; with less it is SEEN_CUT. Never an exception."""
    link, packet, _ = LAYERS[name]
    data = bytes(packet)
    flags_end = data.index(DATA) - 6
    for size in range(len(data)):
        result = read(data, link, captured=size)
        if size < flags_end:
            assert outcome(result) in ("cut", "not_tcp"), size  # a tunnel's port alone is no tunnel yet
            continue
        row = only(result)
        assert (row["length"], row["captured"]) == (16, max(0, size - flags_end - 6)), size
        assert row["offset"] == DATA[: row["captured"]]
        assert row["window"] == (501 if size >= flags_end + 2 else layout.UNKNOWN)


@pytest.mark.parametrize(
    ("expected", "link", "packet"),
    [
        ("not_ip", 1, ether() / ARP()),
        ("not_ip", 1, DOT3 / LLC(dsap=0x42, ssap=0x42, ctrl=3) / Raw(bytes(40))),
        ("not_ip", 113, CookedLinux(proto=4) / LLC(dsap=0x42, ssap=0x42, ctrl=3) / Raw(bytes(40))),
        ("not_ip", 276, b"\x08\x00" + bytes(6) + b"\x03\x38" + bytes(10) + bytes(TCP4)),  # netlink
        ("not_ip", 0, b"\x07\0\0\0" + bytes(40)),
        ("not_ip", 1, ether() / PPPoE() / PPP(proto=0xC021) / Raw(bytes(9))),
        ("not_tcp", 101, IP() / UDP(dport=53) / Raw(b"x")),
        ("not_tcp", 101, IP() / UDP(dport=4789) / Raw(b"no tunnel at all")),
        ("not_tcp", 101, IP() / ICMP() / IP() / TCP()),
        ("not_tcp", 101, IPv6(nh=50) / Raw(bytes(40))),
        ("not_tcp", 101, IPv6(nh=59)),
        ("fragment", 101, IP(flags="MF") / TCP()),
        ("fragment", 101, IP(frag=3, proto=6) / Raw(bytes(40))),
        ("fragment", 101, IPv6() / IPv6ExtHdrFragment(m=1) / TCP()),
        ("fragment", 101, IPv6() / IPv6ExtHdrFragment(offset=9, nh=6) / Raw(bytes(40))),
        ("malformed", 101, b"\x50" + bytes(TCP4)[1:]),
        ("malformed", 228, b"\x44" + bytes(TCP4)[1:]),
        ("malformed", 101, IP(len=10) / TCP()),
        ("malformed", 101, IP(len=30) / TCP()),
        ("malformed", 101, IP() / TCP(dataofs=4)),
        ("malformed", 101, IP() / TCP(dataofs=15)),
        ("malformed", 1, bytes(13)),
        ("malformed", 101, b""),
        ("malformed", 1, bytes(ether(type=0x8100)) + b"\x00\x01\x81\x00" * 40 + bytes(TCP4)),
        ("unknown_link", 253, bytes(TCP4)[:-6]),
    ],
)
def test_everything_else_is_counted(expected: str, link: int, packet: Packet | bytes) -> None:
    result = read(packet, link)
    assert outcome(result) == expected
    assert result.segments == []
    assert result.stage.by_link()[link][getattr(layout, f"SEEN_{expected.upper()}")] == 1


def test_what_was_seen_instead() -> None:
    packets = [bytes(ether() / ARP())] * 2 + [bytes(ether() / IP() / UDP(sport=5353, dport=53))] * 3
    packets += [bytes(ether() / IP() / ICMP()), bytes(ether() / TCP4)]
    stage = read_capture(pcap_file(packets)).stage
    assert stage.ethertypes() == {0x0806: 2}
    assert stage.udp_ports() == {53: 3}
    assert stage.protocols() == {1: 1, 17: 3}
    assert stage.tcp_ports() == {40000: 1, 9092: 1}
    assert stage.outcomes() == [1, 2, 4, 0, 0, 0, 0]


def test_many_link_types_are_all_counted() -> None:
    data = section() + b"".join(interface(link) for link in range(300, 400))
    data += b"".join(enhanced(b"x", 0, number) for number in range(100))
    stage = read_capture(data).stage
    assert sum(map(sum, stage.by_link().values())) == stage.outcomes()[layout.SEEN_UNKNOWN_LINK] == 100
    assert len(stage.by_link()) == 64


def test_offloaded_segments() -> None:
    """TSO: IPv4 total length 0, IPv6 payload length 0, and the jumbo payload option of BIG TCP."""
    big = Raw(DATA * 4096)
    header = TCP(sport=1, dport=2)
    assert only(read(IP(len=0) / header / big, 101))["length"] == 65_536
    assert only(read(IPv6(plen=0) / header / big, 101))["length"] == 65_536
    jumbo = IPv6(plen=0) / IPv6ExtHdrHopByHop(options=[Jumbo(jumboplen=8 + 20 + 65_536)]) / header / big
    assert only(read(bytes(jumbo) + b"padding", 101))["length"] == 65_536
    assert only(read(jumbo, 101, captured=68))["length"] == 65_536


def test_a_truncating_mirror_that_forgot_the_length() -> None:
    """The IP header says 16 bytes of payload though the capture claims that the frame was only 60 bytes long."""
    packet = bytes(ether() / TCP4)[:60]
    assert (only(read(packet))["length"], only(read(packet))["captured"]) == (16, 6)


def test_an_outer_length_bounds_the_inner_one() -> None:
    """A middlebox took Ethernet padding for payload: PPPoE knows better than IP (the next segment proves it)."""
    inner = bytes(TCP4)[:-16]
    frame = bytes(ether() / PPPoE(len=42) / PPP(proto=0x21)) + inner + bytes(6)
    patched = frame.replace(inner[:4], inner[:2] + b"\x00\x2e")
    assert only(read(patched))["length"] == 0


def test_scopes_are_the_same_in_every_split() -> None:
    """The number is a hash of the layers, not a count: fixed here, or splits of one capture could not be joined."""
    assert only(read(*reversed(LAYERS["vlan"][:2])))["scope"] == SCOPE_OF_VLAN_42
    both = read_capture(pcap_file([bytes(LAYERS["qinq"][1]), bytes(LAYERS["vlan"][1])]))
    assert both.segments[1][layout.SEGMENT_SCOPE] == SCOPE_OF_VLAN_42
    assert len({row[layout.SEGMENT_SCOPE] for row in both.segments}) == 2


@pytest.mark.parametrize("tags", [(1, 2), (1, None)])
def test_equal_addresses_in_two_vlans_are_two_connections(tags: tuple[int | None, ...]) -> None:
    packets = []
    for sequence in range(0, 80, 16):
        for tag, start in zip(tags, (0, 2_000_000_000), strict=True):
            head = ether() if tag is None else ether() / Dot1Q(vlan=tag)
            packets.append(
                head
                / IP(src="10.1.2.3", dst="192.0.2.9", id=sequence + 1)
                / TCP(flags="PA", seq=start + sequence)
                / Raw(DATA)
            )
    rows = read_capture(pcap_file([bytes(packet) for packet in packets])).segments
    block, at = b"".join(row[layout.SEGMENT_OFFSET] for row in rows), 0
    segments = new_matrix(layout.SEGMENT_COLUMNS, len(rows))
    for number, row in enumerate(rows):
        for column in range(layout.SEGMENT_COLUMNS):
            segments[column, number] = at if column == layout.SEGMENT_OFFSET else row[column]
        at += row[layout.SEGMENT_CAPTURED]
    stage = Reassembly()
    stage.feed(block, segments, len(rows), 0, new_matrix(layout.CHUNK_COLUMNS, 200))
    stage.finish(new_matrix(layout.CHUNK_COLUMNS, 200))
    parts, count = stage.take_parts()
    assert count == 2
    assert [parts[layout.PART_STREAM, part] for part in range(2)] == [80, 80]
    assert [parts[layout.PART_NETWORK, part] for part in range(2)] == [0, 1]


SCOPE_OF_VLAN_42 = 6839728766377637707


def test_same_segments_as_dpkt(shared: Path) -> None:
    for name in ("ipv6.pcap.zst", "basics.pcap.zst"):
        result = read_capture(unpacked(shared / "captures" / "lab" / name))
        theirs = []
        for packet in result.packets:
            ip = dpkt.ethernet.Ethernet(packet[layout.PACKET_OFFSET]).data
            tcp = ip.data
            if isinstance(tcp, dpkt.tcp.TCP):
                theirs.append((packet[0], tcp.sport, tcp.dport, tcp.seq, tcp.ack, tcp.flags, tcp.win, bytes(tcp.data)))
        columns = ("NUMBER", "SRC_PORT", "DST_PORT", "SEQ", "ACK", "FLAGS", "WINDOW", "OFFSET")
        places = [getattr(layout, f"SEGMENT_{column}") for column in columns]
        assert [tuple(row[place] for place in places) for row in result.segments] == theirs
        assert theirs


RARE = {
    "ppp": (9, PPP(proto=0x21) / TCP4),
    "ppp with address": (9, b"\xff\x03\x00\x57" + bytes(TCP6)),
    "ppp, short protocol": (9, b"\x21" + bytes(TCP4)),
    "ppp in hdlc": (50, HDLC() / PPP(proto=0x21) / TCP4),
    "cisco hdlc": (104, b"\x0f\x00\x08\x00" + bytes(TCP4)),
    "pppoe": (51, PPPoE() / PPP(proto=0x57) / TCP6),
    "fddi": (10, b"\x50" + bytes(12) + b"\xaa\xaa\x03\0\0\0\x86\xdd" + bytes(TCP6)),
}


@pytest.mark.parametrize("name", RARE)
def test_rare_links(name: str) -> None:
    link, packet = RARE[name]
    assert only(read(packet, link))["offset"] == DATA
    for size in range(len(bytes(packet))):
        read(packet, link, captured=size)


def test_wireless_like_dpkt() -> None:
    """802.11 behind radiotap, in all forms of a data frame; dpkt must find the same LLC header."""
    snap = SNAP_IP / TCP4
    for frame in (
        Dot11(type=2, FCfield="to_DS") / snap,
        Dot11(type=2, FCfield="from_DS+to_DS", addr4="02:00:00:00:00:01") / snap,
        Dot11(type=2, subtype=8, FCfield="from_DS") / Dot11QoS() / snap,
    ):
        assert only(read(frame, 105))["offset"] == DATA
        tapped = bytes(RadioTap(present="Flags+Rate", Flags=0, Rate=2) / frame)
        assert only(read(tapped, 127))["offset"] == DATA
        theirs = dpkt.radiotap.Radiotap(tapped)
        assert tapped.index(bytes(frame)) == theirs.length
    assert outcome(read(Dot11(type=0) / Raw(bytes(40)), 105)) == "not_ip"
    assert outcome(read(Dot11(type=2, FCfield="protected") / Raw(bytes(snap)[::-1]), 105)) == "not_ip"


LINKS = [
    0,
    1,
    9,
    10,
    12,
    50,
    51,
    101,
    104,
    105,
    108,
    109,
    113,
    117,
    127,
    149,
    192,
    197,
    228,
    229,
    239,
    242,
    258,
    276,
    281,
]
LINKS += [282, 284, 285]


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(LINKS),
    st.sampled_from([bytes(packet) for _, packet, _ in LAYERS.values()]),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=5),
    st.integers(0, 200),
    st.integers(0, 2**32 - 1),
)
def test_hostile_packets_count_once_and_never_raise(
    link: int, packet: bytes, flips: list[tuple[int, int]], captured: int, length: int
) -> None:
    data = bytearray(packet)
    for place, value in flips:
        data[place % len(data)] = value
    result = read(bytes(data), link, captured, length)
    assert sum(result.stage.outcomes()) == 1
    for row in result.segments:
        assert row[layout.SEGMENT_CAPTURED] <= row[layout.SEGMENT_LENGTH]
        assert row[layout.SEGMENT_LENGTH] < 2**33
