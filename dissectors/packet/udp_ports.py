"""Tunnels in UDP by the name that Wireshark has for them, and the ports where they are looked for.

Sources: IANA "Service Name and Transport Protocol Port Number Registry"; 8472 is Linux's default for VXLAN.
"""

from __future__ import annotations

from collections.abc import Iterable

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.packet.layer_codes import *

# Name -> TUNNEL_ code, ports.
TUNNELS: dict[str, tuple[int, tuple[int, ...]]] = {
    "vxlan": (TUNNEL_VXLAN, (4789, 8472)),
    "vxlan_gpe": (TUNNEL_VXLAN_GPE, (4790,)),
    "geneve": (TUNNEL_GENEVE, (6081,)),
    "gre": (TUNNEL_GRE, (4754,)),
    "mpls": (TUNNEL_MPLS, (6635,)),
    "gtp": (TUNNEL_GTP, (2152,)),
    "l2tp": (TUNNEL_L2TP, (1701,)),
    "tzsp": (TUNNEL_TZSP, (37008,)),
    "lisp-data": (TUNNEL_LISP, (4341,)),
    "teredo": (TUNNEL_IP, (3544,)),
    "ip": (TUNNEL_IP, ()),
    "gue": (TUNNEL_GUE, (6080,)),
    "udpencap": (TUNNEL_ESP, (4500,)),
    "eth": (TUNNEL_ETHERNET, ()),
    "capwap.data": (TUNNEL_CAPWAP, (5247,)),
}
# GRE in DTLS, WireGuard: not read, but counted by these ports. So is sFlow, which holds single packets out of many.
UNREAD_PORTS = (4755, 6343, 51820)
MOST_PORTS = 65_536


def tunnels_of_ports(named: Iterable[tuple[int, str]] = ()) -> memoryview:
    """A matrix of one row: UDP port -> TUNNEL_ code, 0 for none. `named` are pairs of a port and a name of `TUNNELS` that count
    before the ports above."""
    tunnels = new_matrix(1, MOST_PORTS)
    for code, ports in TUNNELS.values():
        for port in ports:
            tunnels[0, port] = code
    for port in UNREAD_PORTS:
        tunnels[0, port] = TUNNEL_UNREAD
    for port, name in named:
        tunnels[0, port] = TUNNELS[name][0]
    return tunnels
