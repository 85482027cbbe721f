"""Names of what packets carry beside the TCP that is read: UDP ports, IP protocols, ethertypes.

Sources: IANA "Service Name and Transport Protocol Port Number Registry", "Protocol Numbers", "IEEE 802 Numbers".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

TUNNEL_PORTS = {
    1701: "L2TP",
    2152: "GTP-U",
    3544: "Teredo",
    4341: "LISP",
    4754: "GRE",
    4789: "VXLAN",
    4790: "VXLAN-GPE",
    5247: "CAPWAP",
    6080: "GUE",
    6081: "Geneve",
    6635: "MPLS",
    8472: "VXLAN",
    37008: "TZSP",
}
UDP_PORTS = TUNNEL_PORTS | {
    53: "DNS",
    67: "DHCP",
    68: "DHCP",
    123: "NTP",
    137: "NetBIOS",
    138: "NetBIOS",
    161: "SNMP",
    443: "QUIC",
    500: "IKE",
    514: "syslog",
    546: "DHCPv6",
    547: "DHCPv6",
    1900: "SSDP",
    2055: "NetFlow",
    3784: "BFD",
    4500: "IPsec, encrypted",
    4739: "IPFIX",
    4755: "GRE in DTLS, encrypted",
    4791: "RoCE",
    5246: "CAPWAP control",
    5353: "mDNS",
    5355: "LLMNR",
    6343: "sFlow",
    8125: "StatsD",
    51820: "WireGuard, encrypted",
}
ETHERTYPES = {
    0: "802.3 without IP",
    0x0806: "ARP",
    0x22F0: "AVTP",
    0x22F3: "TRILL",
    0x4305: "B.A.T.M.A.N.",
    0x8035: "RARP",
    0x8809: "LACP",
    0x880B: "PPP",
    0x8847: "MPLS",
    0x8848: "MPLS",
    0x8863: "PPPoE discovery",
    0x888E: "802.1X",
    0x88CC: "LLDP",
    0x88E5: "MACsec, encrypted",
    0x88F7: "PTP",
    0x8902: "CFM",
    0x8906: "FCoE",
    0x8915: "RoCE",
    0x894F: "NSH",
    0x9000: "loopback test",
}
PROTOCOLS = {
    1: "ICMP",
    2: "IGMP",
    47: "GRE",
    50: "ESP, encrypted",
    58: "ICMPv6",
    59: "IPv6 without payload",
    88: "EIGRP",
    89: "OSPF",
    97: "EtherIP",
    103: "PIM",
    108: "IPComp",
    112: "VRRP",
    115: "L2TPv3",
    132: "SCTP",
    137: "MPLS",
}
UDP = 17
TUNNEL_PROTOCOLS = (47, 97, 115, 137)
TUNNEL_ETHERTYPES = (0x22F3, 0x880B, 0x8847, 0x8848, 0x894F)
OTHERS = "others"
# Further names are one line together: a port scan meets 65,536 of them.
MOST_NAMES = 64
MOST_SHOWN = 8


class Unread(NamedTuple):
    """Packets of one sort that carry no TCP, or none that is read. `is_tunnel`: there may be some inside."""

    name: str
    packets: int
    is_tunnel: bool = False

    def __str__(self) -> str:
        return f"{self.packets:,} packet{'' if self.packets == 1 else 's'}: {self.name}"


def name_unread(
    ports: Mapping[int, int], protocols: Mapping[int, int], ethertypes: Mapping[int, int], packets: int
) -> list[Unread]:
    """What `packets` packets were: counts by UDP port, by IP protocol (UDP too) and by ethertype; the rest is `OTHERS`."""
    found = [
        Unread(_named(f"UDP {port}", UDP_PORTS.get(port)), count, port in TUNNEL_PORTS) for port, count in ports.items()
    ]
    found += [
        Unread(_named(f"IP protocol {number}", PROTOCOLS.get(number)), count, number in TUNNEL_PROTOCOLS)
        for number, count in protocols.items()
        if number != UDP
    ]
    found += [
        Unread(ETHERTYPES.get(kind, f"ethertype 0x{kind:04x}"), count, kind in TUNNEL_ETHERTYPES)
        for kind, count in ethertypes.items()
    ]
    others = packets - sum(each.packets for each in found)
    return unite([found, [Unread(OTHERS, others)] if others > 0 else []])


def _named(number: str, name: str | None) -> str:
    return f"{number}, {name}" if name else number


def unite(parts: Iterable[Iterable[Unread]], most: int = MOST_NAMES) -> list[Unread]:
    """One row for each name, `most` of them: the most frequent first, last what has no name and what is beyond."""
    counts: dict[tuple[str, bool], int] = {}
    for part in parts:
        for each in part:
            counts[each.name, each.is_tunnel] = counts.get((each.name, each.is_tunnel), 0) + each.packets
    others = counts.pop((OTHERS, False), 0)
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    others += sum(counts[key] for key in ordered[most:])
    found = [Unread(name, counts[name, is_tunnel], is_tunnel) for name, is_tunnel in ordered[:most]]
    return [*found, Unread(OTHERS, others)] if others else found


def in_words(found: Iterable[Unread]) -> str | None:
    """One line for a person; None when all was read."""
    return "; ".join(map(str, unite([found], MOST_SHOWN))) or None
