"""TCP headers as dpkt and scapy read them: the same packets, addresses, ports, numbers and payload sizes as ours.

Where one of them finds a segment we must find the same one, or the difference is listed with its reason; where it finds
none (tunnels, rare links, packets cut short) ours is counted, so that a change is seen.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dpkt
import pytest
from capture_tools import Read, read_capture, unpacked
from edge_files import Counted, edge_files, name_of

from dissectors import layout
from dissectors.errors import DissectError

# (source, target, source port, target port, sequence number, bytes of payload on the wire)
Header = tuple[str, str, int, int, int, int]
MOST_PACKETS = 300  # scapy takes half a millisecond for each

pytestmark = pytest.mark.skipif(not edge_files(), reason="no shared captures beside the checkout")


def address(value: bytes | str) -> str:
    found = ipaddress.ip_address(value)
    return str(getattr(found, "ipv4_mapped", None) or found)


@cache
def ours(path: Path) -> tuple[Read, dict[int, Header]] | None:
    """What was read, and the header of each TCP segment by packet number; None: no capture."""
    try:
        read = read_capture(unpacked(path))
    except DissectError:
        return None
    found = {}
    for row in read.segments:
        ends = [
            address(int(row[high] & 2**64 - 1).to_bytes(8, "big") + int(row[high + 1] & 2**64 - 1).to_bytes(8, "big"))
            for high in (layout.SEGMENT_SRC_HIGH, layout.SEGMENT_DST_HIGH)
        ]
        rest = (row[layout.SEGMENT_SRC_PORT], row[layout.SEGMENT_DST_PORT], row[layout.SEGMENT_SEQ])
        found[row[layout.SEGMENT_NUMBER]] = (*ends, *rest, row[layout.SEGMENT_LENGTH])
    return read, found


# ---- dpkt ----

DPKT_LINKS: dict[int, Callable[[bytes], Any]] = {
    0: dpkt.loopback.Loopback,
    1: dpkt.ethernet.Ethernet,
    12: lambda data: (dpkt.ip.IP if data[0] >> 4 == 4 else dpkt.ip6.IP6)(data),
    101: lambda data: (dpkt.ip.IP if data[0] >> 4 == 4 else dpkt.ip6.IP6)(data),
    113: dpkt.sll.SLL,
    228: dpkt.ip.IP,
    229: dpkt.ip6.IP6,
    276: dpkt.sll2.SLL2,
}


def dpkt_header(link: int, data: bytes) -> Header | None:
    """What dpkt makes of a packet of ours; None: it finds no TCP, or gives up."""
    try:
        packet = DPKT_LINKS[link](data)
        while packet is not None and not isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6):
            packet = getattr(packet, "data", None)
        while isinstance(getattr(packet, "data", None), dpkt.ip.IP | dpkt.ip6.IP6):
            packet = packet.data
        if packet is None or not isinstance(packet.data, dpkt.tcp.TCP):
            return None
    except (dpkt.UnpackError, KeyError, IndexError):
        return None
    inner = packet.data
    if isinstance(packet, dpkt.ip.IP):
        size = packet.len - 4 * packet.hl
    else:
        size = packet.plen - sum(len(each) for each in packet.all_extension_headers)
    ends = (address(packet.src), address(packet.dst))
    return (*ends, inner.sport, inner.dport, inner.seq, size - 4 * inner.off)


# ---- scapy ----


@cache
def scapy_layers() -> Any:
    logging.getLogger("scapy").setLevel(logging.CRITICAL)
    import scapy.all
    import scapy.contrib.erspan
    import scapy.contrib.geneve
    import scapy.contrib.mpls

    return scapy.all


def scapy_header(link: int, data: bytes) -> Header | None:
    """What scapy makes of a packet: its innermost TCP below IP; None: it finds none."""
    scapy = scapy_layers()
    kind = scapy.conf.l2types.num2layer.get(link)
    if kind is None:
        return None
    try:
        packet = kind(data)
    except Exception:
        return None
    if packet.haslayer(scapy.ICMP):
        return None
    tcp = last(packet, scapy.TCP)
    if tcp is None or tcp.dataofs is None:
        return None
    around = tcp.underlayer
    extensions = 0
    while around is not None and not isinstance(around, scapy.IP | scapy.IPv6):
        extensions += len(around) - len(around.payload)
        around = around.underlayer
    if around is None:
        return None
    size = around.len - 4 * around.ihl if isinstance(around, scapy.IP) else around.plen - extensions
    return (address(around.src), address(around.dst), tcp.sport, tcp.dport, tcp.seq, size - 4 * tcp.dataofs)


def last(packet: Any, kind: Any) -> Any:
    found, number = None, 1
    while (layer := packet.getlayer(kind, number)) is not None:
        found, number = layer, number + 1
    return found


OPINIONS: dict[str, Callable[[int, bytes], Header | None]] = {"dpkt": dpkt_header, "scapy": scapy_header}


def differences(file: Counted, opinion: str) -> Iterator[tuple[int, Header | None, Header]]:
    """(packet, ours, theirs) where they find a segment that is not ours."""
    read = ours(file.path)
    if read is None:
        return
    for row in read[0].packets[:MOST_PACKETS]:
        theirs = OPINIONS[opinion](row[layout.PACKET_LINK], row[layout.PACKET_OFFSET])
        number = row[layout.PACKET_NUMBER]
        if theirs is not None and read[1].get(number) != theirs:
            yield number, read[1].get(number), theirs


# (file, opinion) -> packets and why ours is right. Ours None: no segment.
BOGUS = "a header length that no TCP header has, or that leads out of its packet: tshark finds no segment either"
PIECES = "the first fragment of the tunnel's outer packet: its segment is whole only when the last one has come"
REASONS: dict[tuple[str, str], tuple[set[int], str]] = {
    ("fuzz-2006-09-29-28586.pcap", "dpkt"): ({27, 80, 91}, BOGUS),
    ("fuzz-2006-09-29-28586.pcap", "scapy"): ({27, 76, 80, 91}, BOGUS),
    ("bigtcp-ipv6-hbh.pcap", "dpkt"): ({1}, "a jumbogram: its length stands in the hop-by-hop header, not in IPv6's"),
    ("bigtcp-ipv6-hbh.pcap", "scapy"): ({1}, "a jumbogram: its length stands in the hop-by-hop header, not in IPv6's"),
    ("erspan.pcap", "scapy"): (
        {153, 157, 178, 182, 187, 191, 199, 216, 220, 226, 243, 251, 255, 265, 279, 283},
        PIECES,
    ),
    ("pppoe-over-qinq.pcap", "dpkt"): (
        {19, 33, 41, 47, 63, 81},
        "PPPoE says that its payload ends before the last 6 bytes; tshark agrees",
    ),
    ("pppoe-over-qinq.pcap", "scapy"): (
        {19, 33, 41, 47, 63, 81},
        "PPPoE says that its payload ends before the last 6 bytes; tshark agrees",
    ),
}


@pytest.mark.parametrize("opinion", OPINIONS)
@pytest.mark.parametrize("file", edge_files(), ids=name_of)
def test_same_headers(file: Counted, opinion: str) -> None:
    reasoned = REASONS.get((file.path.name, opinion), (set(), ""))[0]
    found = {number: (mine, theirs) for number, mine, theirs in differences(file, opinion)}
    assert found.keys() == reasoned, {number: found[number] for number in found.keys() - reasoned}


def test_the_opinions_are_worth_something() -> None:
    """As many segments of ours as each of them has read too."""
    seen = dict.fromkeys(OPINIONS, 0)
    for file in edge_files():
        read = ours(file.path)
        for row in read[0].packets[:MOST_PACKETS] if read else ():
            for name, opinion in OPINIONS.items():
                if row[layout.PACKET_NUMBER] in read[1] and opinion(row[layout.PACKET_LINK], row[layout.PACKET_OFFSET]):
                    seen[name] += 1
    print(seen)
    assert seen["dpkt"] > 2000
    assert seen["scapy"] > 2000
