"""One conversation as a router that translates addresses sees it, each packet twice, before and behind the translation; or as the
host of a proxy sees it, where the packets of the second connection have numbers of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from one_base import Base, base
from scapy.layers.inet import IP, TCP
from tagged_captures import Frame, stretched

CLIENT, SERVICE, NODE, BROKER = "10.1.0.7", "10.96.0.10", "10.2.0.1", "10.2.0.9"


class Leg(NamedTuple):
    """The addresses of a conversation on a part of its way; `ports` is added to the client's ports, `ttl` taken off."""

    client: str
    broker: str
    ports: int = 0
    ttl: int = 0
    moved_seq: int = 0


NEAR = Leg(CLIENT, SERVICE)
# Legs in the order in which a request passes them.
TRANSLATED: dict[str, tuple[Leg, ...]] = {
    "dnat": (NEAR, Leg(CLIENT, BROKER, ttl=1)),
    "snat": (NEAR, Leg(NODE, SERVICE, ports=7_000, ttl=1)),
    "both": (NEAR, Leg(NODE, BROKER, ports=7_000)),
    "in_two_steps": (NEAR, Leg(CLIENT, BROKER, ttl=1), Leg(NODE, BROKER, ports=7_000, ttl=2)),
}
PROXY = "10.0.5.5"
FRONT = Leg(CLIENT, PROXY)
BEHIND = Leg(PROXY, BROKER, ports=9_000, moved_seq=1_234_567_891)
SECOND = Leg(BROKER, NODE, ports=11_000, moved_seq=3_000_000_017)
PROXIES = {
    "proxy": (FRONT, BEHIND),
    "two_proxies": (FRONT, BEHIND, SECOND),
    "two_addresses": (FRONT, BEHIND._replace(client=NODE)),
}


@cache
def under(packet: Base, leg: Leg) -> Base:
    """A packet of the base under the addresses of a leg."""
    ip = IP(packet.ip)
    tcp = ip[TCP]
    # Clocks run with the times of the packets.
    clock = ((tcp.sport << 16 | tcp.dport) * 40_503 + stretched(packet) // 1_000_000) & 0xFFFFFFFF
    if packet.side:
        ip.src, ip.dst, tcp.dport = leg.broker, leg.client, tcp.dport + leg.ports
    else:
        ip.src, ip.dst, tcp.sport = leg.client, leg.broker, tcp.sport + leg.ports
    tcp.options = [(name, (clock, value[1]) if name == "Timestamp" else value) for name, value in tcp.options]
    ip.ttl -= leg.ttl
    tcp.seq = (tcp.seq + leg.moved_seq) & 0xFFFFFFFF
    if tcp.flags.A:
        tcp.ack = (tcp.ack + leg.moved_seq) & 0xFFFFFFFF
    del ip.chksum, tcp.chksum
    return packet._replace(ip=bytes(ip))


# Whether a packet is captured on a leg: place of the leg, number of the packet, packet.
Seen = Callable[[int, int, Base], bool]


def passing(legs: Iterable[Leg], apart_ns: int, seen: Seen | None = None) -> list[Frame]:
    """The packets of the base on each leg (only those `seen`): a request passes the legs in their order, a reply in the other
    order."""
    ways = list(legs)
    return [
        Frame(
            under(packet, leg).ethernet,
            stretched(packet) + apart_ns * (len(ways) - 1 - place if packet.side else place),
        )
        for n, packet in enumerate(base())
        for place, leg in enumerate(ways)
        if seen is None or seen(place, n, packet)
    ]


def redirected(apart_ns: int) -> list[Frame]:
    """The base on all interfaces of a client's own host, which redirects connections to a proxy on itself: requests under the new
    address, replies under the old one, and both between the proxy and the broker."""
    inner = Leg(CLIENT, BROKER, ports=9_000, moved_seq=1_234_567_891)
    return [
        frame
        for packet in base()
        for frame in (
            Frame(under(packet, NEAR if packet.side else Leg(CLIENT, "127.0.0.1")).ethernet, stretched(packet)),
            Frame(under(packet, inner).ethernet, stretched(packet) + (-apart_ns if packet.side else apart_ns)),
        )
    ]
