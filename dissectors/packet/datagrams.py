"""Packets that are IP fragments: when the last missing one of a datagram comes, the whole datagram is read in its place."""

import cython

from dissectors.layout import *
from dissectors.packet.ip import parse_ipv6_extensions
from dissectors.packet.layer_codes import *
from dissectors.packet.layers import parse_layers
from dissectors.packet.packet_state import PacketState, find_link_column
from dissectors.packet.stt import parse_stt_frame


@cython.cfunc
def add_fragment(p: PacketState, packets: cython.longlong[:, ::1], packet: cython.longlong) -> cython.longlong:
    """Returns the outcome of a fragment: that of its datagram when it completes it. The outcome of the earlier fragments is
    corrected to the same.

    Fragments of different interfaces never complete each other: one interface may have captured a copy of the same
    datagram. For IPv6 the key has no protocol (RFC 8200, 4.5). TTL and id of the row are those of the last fragment.
    """
    outcome: cython.longlong = SEEN_FRAGMENT
    while outcome == SEEN_FRAGMENT and p.at <= p.end:
        key = (
            p.scope, p.origin + packets[PACKET_INTERFACE, packet], p.fragment_family, p.fragment_id,
            p.source_high, p.source_low, p.destination_high, p.destination_low,
            p.fragment_protocol if p.fragment_family == 4 else 0,
        )  # fmt: skip
        extent = (p.fragment_offset, p.wire - p.at, p.fragment_more)
        data = bytes(p.block[p.at : p.end])
        unit = 1 if p.fragment_family == STT_FAMILY else FRAGMENT_UNIT
        whole = p.fragments.add(
            key, p.number_base, packets[PACKET_TIME, packet], extent, data, p.fragment_protocol, unit
        )
        if whole is None or whole.protocol is None:
            break
        # Each fragment had its own headers, as many bytes as those of the last one.
        p.ip_at = (p.ip_at - p.at) * whole.packets
        p.datagram = whole.payload()
        p.block = p.datagram
        p.at = 0
        p.end = len(p.datagram)
        p.wire = whole.total
        p.bound = whole.total
        if p.fragment_family == 4:
            outcome = parse_layers(p, IP_PROTOCOL + cython.cast(cython.longlong, whole.protocol))
        elif p.fragment_family == 6:
            outcome = parse_behind_fragment_header(p, whole.protocol)
        else:
            outcome = parse_stt_datagram(p)
        if packets[PACKET_LINK, packet] != p.links[0, p.link_column]:
            find_link_column(p, packets[PACKET_LINK, packet])
        p.links[1 + SEEN_FRAGMENT, p.link_column] -= whole.packets - 1
        p.links[1 + outcome, p.link_column] += whole.packets - 1
    return outcome


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_behind_fragment_header(p: PacketState, kind: cython.longlong) -> cython.longlong:
    """Reads what follows the fragment header of a complete IPv6 datagram: maybe further extension headers."""
    layer: cython.longlong = parse_ipv6_extensions(p, kind)
    return parse_layers(p, layer) if layer >= 0 else -2 - layer


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_stt_datagram(p: PacketState) -> cython.longlong:
    layer: cython.longlong = parse_stt_frame(p)
    return parse_layers(p, layer) if layer >= 0 else -2 - layer
