"""Scopes keep apart equal addresses of different networks: VLANs, tunnels, mirror sessions.

The number of a scope is a hash of its layers, so that all workers and all splits of a capture give it the same one.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState

# By kind, SCOPE_ of `layer_codes`.
SCOPE_NAMES = (
    "vlan", "pppoe session", "ip in ip", "gre", "erspan session", "vxlan", "geneve", "service instance", "ethernet in ip",
    "gtp", "l2tp", "tzsp", "lisp", "pim register", "capwap",
    "stt", "unknown header",
)  # fmt: skip
# Tunnels whose numbers differ by direction, or that have none: their name is all.
UNNUMBERED = (
    SCOPE_IP_IN_IP, SCOPE_GRE, SCOPE_ETHERNET_IN_IP, SCOPE_GTP, SCOPE_L2TP, SCOPE_TZSP, SCOPE_LISP, SCOPE_PIM, SCOPE_CAPWAP,
    SCOPE_STT, SCOPE_UNKNOWN,
)  # fmt: skip


@cython.cfunc
@cython.exceptval(check=False)
def scope_number(outer: cython.ulonglong, layer: cython.ulonglong) -> cython.longlong:
    """The positive 63-bit number of a layer inside the scope `outer` (SplitMix64)."""
    z: cython.ulonglong = (outer + layer + GAMMA) & MASK
    z = ((z ^ (z >> 30)) * FIRST_MIX) & MASK
    z = ((z ^ (z >> 27)) * SECOND_MIX) & MASK
    return (z ^ (z >> 31)) >> 1 | 1


@cython.cfunc
@cython.exceptval(-1, check=False)
def enter_scope(p: PacketState, kind: cython.longlong, number: cython.longlong) -> cython.longlong:
    """The layers behind this one belong to another network: VLAN, session or tunnel `number`."""
    outer: cython.longlong = p.scope
    p.scope = scope_number(outer, kind << 32 | number)
    if p.recent[0, p.scope >> 1 & (RECENT_SCOPES - 1)] != p.scope:
        p.recent[0, p.scope >> 1 & (RECENT_SCOPES - 1)] = p.scope
        describe_scope(p, outer, kind, number)
    return 0


@cython.cfunc
def describe_scope(p: PacketState, outer, kind, number):
    if p.scope not in p.scopes and len(p.scopes) < MOST_SCOPES:
        name = SCOPE_NAMES[kind] if kind in UNNUMBERED else f"{SCOPE_NAMES[kind]} {number}"
        p.scopes[p.scope] = f"{p.scopes[outer]}, {name}" if outer in p.scopes else name
