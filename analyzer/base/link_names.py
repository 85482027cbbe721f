"""Names of link types, for people: LINKTYPE_ numbers of the pcap registry (draft-ietf-opsawg-pcaplinktype)."""

from __future__ import annotations

NAMES = {
    0: "null/loopback",
    1: "Ethernet",
    6: "Token Ring",
    9: "PPP",
    10: "FDDI",
    12: "raw IP",
    14: "raw IP",
    100: "RFC 1483",
    101: "raw IP",
    104: "Cisco HDLC",
    105: "802.11",
    107: "Frame Relay",
    108: "OpenBSD loopback",
    109: "OpenBSD encapsulation",
    113: "Linux cooked v1",
    117: "pflog",
    119: "802.11 Prism",
    122: "IP over Fibre Channel",
    127: "802.11 radiotap",
    149: "PKTAP (as user 2)",
    163: "802.11 AVS",
    178: "Junos Ethernet",
    189: "USB",
    192: "PPI",
    195: "802.15.4",
    197: "ERF",
    204: "PPP with direction",
    228: "IPv4",
    229: "IPv6",
    239: "nflog",
    242: "IP over InfiniBand",
    258: "PKTAP",
    276: "Linux cooked v2",
    281: "Ethernet with a Broadcom tag",
    282: "Ethernet behind a Broadcom tag",
    284: "Ethernet with a DSA tag",
    285: "Ethernet with an EDSA tag",
}


def link_name(link: int) -> str:
    """The name of a link type, with its number where the name is not in our list; below zero the file names none."""
    if link < 0:
        return "undeclared interface"
    return NAMES.get(link, f"link type {link}")
