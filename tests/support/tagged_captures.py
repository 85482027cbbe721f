"""One conversation as a mirror port, a tunnel or a router shows it: tags that differ by direction, and packets seen twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from encapsulations import in_udp
from one_base import Base, base, write
from scapy.layers.inet import IP
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN

ETHERNET = 1
# The base is a loopback capture, whose replies come within microseconds: times are stretched, so that a packet can be on its
# way for some before it is answered.
STRETCH = 100


class Frame(NamedTuple):
    """What was captured, and when (ns)."""

    data: bytes
    time: int


Story = Callable[[Base, int], list[Frame]]


def vlan(packet: bytes, number: int, outer: int | None = None) -> bytes:
    """An Ethernet frame with one tag or two."""
    return vlan_head(packet[:14], number, outer) + packet[14:]


@cache
def vlan_head(head: bytes, number: int, outer: int | None) -> bytes:
    ether = Ether(head)
    tagged = Dot1Q(vlan=number, type=ether.type)
    if outer is not None:
        tagged = Dot1AD(vlan=outer) / tagged
    return bytes(Ether(src=ether.src, dst=ether.dst) / tagged)


def vxlan(packet: Base, number: int) -> bytes:
    return in_udp(packet, 4789, vxlan_head(number) + packet.ethernet)


@cache
def vxlan_head(number: int) -> bytes:
    return bytes(VXLAN(flags=8, vni=number))


@cache
def hop_later(packet: Base) -> Base:
    """The same packet behind a router."""
    ip = IP(packet.ip)
    ip.ttl -= 1
    del ip.chksum
    return packet._replace(ip=bytes(ip))


# One frame a packet: whatever the tags are, it is one conversation.
TAGGED: dict[str, Callable[[Base, int], bytes]] = {
    "vni_of_the_sender": lambda packet, _: vxlan(packet, 100 + packet.side),
    "vni_one_way": lambda packet, _: vxlan(packet, 100) if packet.side else packet.ethernet,
    "vlan_each_way": lambda packet, _: vlan(packet.ethernet, 10 + packet.side),
    "vlan_of_requests_only": lambda packet, _: packet.ethernet if packet.side else vlan(packet.ethernet, 10),
    "vlan_of_replies_only": lambda packet, _: vlan(packet.ethernet, 10) if packet.side else packet.ethernet,
    "vlan_that_changes": lambda packet, n: vlan(packet.ethernet, 10 if n < 500 else 20),
    "vlan_by_turns": lambda packet, n: vlan(packet.ethernet, 10 + n % 3),
    "qinq_outer_each_way": lambda packet, _: vlan(packet.ethernet, 7, outer=20 + packet.side),
    "qinq_inner_each_way": lambda packet, _: vlan(packet.ethernet, 20 + packet.side, outer=7),
    "tunnel_one_way_vlan_the_other": lambda packet, _: vxlan(packet, 5) if packet.side else vlan(packet.ethernet, 5),
    "path_that_moves_into_a_tunnel": lambda packet, n: packet.ethernet if n < 300 else vxlan(packet, 9),
}


def both(first: Callable[[Base], bytes], second: Callable[[Base], bytes], apart_ns: int) -> Story:
    """Requests are seen first nearer to the client, replies the other way round."""

    def story(packet: Base, _: int) -> list[Frame]:
        near, far = first(packet), second(packet)
        early, late = (far, near) if packet.side else (near, far)
        return [Frame(early, stretched(packet)), Frame(late, stretched(packet) + apart_ns)]

    return story


def plain(packet: Base) -> bytes:
    return packet.ethernet


# Two frames a packet: two views of one conversation, with the ns between them.
SEEN_TWICE: dict[str, tuple[Story, int]] = {
    "plain_and_vxlan": (both(plain, lambda packet: vxlan(packet, 7), 20_000), 20_000),
    "plain_and_vxlan_each_way": (both(plain, lambda packet: vxlan(packet, 7 + packet.side), 20_000), 20_000),
    "two_vlans_of_a_switch": (
        both(lambda packet: vlan(packet.ethernet, 10), lambda packet: vlan(packet.ethernet, 20), 3_000),
        3_000,
    ),
    "two_vlans_around_a_router": (
        both(lambda packet: vlan(packet.ethernet, 10), lambda packet: vlan(hop_later(packet).ethernet, 20), 50_000),
        50_000,
    ),
    "tag_taken_off": (both(lambda packet: vlan(packet.ethernet, 10), plain, 5_000), 5_000),
    "two_tunnels": (both(lambda packet: vxlan(packet, 1), lambda packet: vxlan(packet, 2), 400_000), 400_000),
}


def stretched(packet: Base) -> int:
    begin = base()[0].time
    return begin + (packet.time - begin) * STRETCH


def capture(path: Path, frames: Iterable[Frame]) -> Path:
    ordered = sorted(frames, key=lambda frame: frame.time)
    return write(path, (frame.data for frame in ordered), (frame.time for frame in ordered), ETHERNET)
