"""Nicira's stateless transport tunnel (draft-davie-stt): IP packets of TCP's number, with a header that looks like TCP's.

What TCP calls the sequence number holds the length of a frame and where in it this piece belongs, what it calls the
acknowledgement the number of the frame. The frame begins with a header of its own. A first piece must prove itself, because
TCP may use the same port; later ones are believed between hosts that sent such a piece.
"""

import cython

from dissectors.layout import *
from dissectors.packet.ip import note_fragment
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState, cut_or_malformed, u16, u32
from dissectors.packet.proof import is_likely_frame
from dissectors.packet.scopes import enter_scope


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_stt(p: PacketState) -> cython.longlong:
    """A packet to the tunnel's port; SEEN_TCP where it is TCP, and `at` is then as it was."""
    at: cython.longlong = p.at + 20
    if at > p.end or p.block[p.at + 12] != 0x50:
        return -2 - SEEN_TCP
    size: cython.longlong = u16(p, p.at + 4)
    offset: cython.longlong = u16(p, p.at + 6)
    length: cython.longlong = p.wire - at
    if length <= 0 or offset + length > size or (offset == 0 and not is_stt_frame(p, at)):
        return -2 - SEEN_TCP
    if length == size:
        p.at = at
        return parse_stt_frame(p)
    if not is_stt_piece(p, offset):
        return -2 - SEEN_TCP
    p.at = at
    return note_fragment(p, STT_FAMILY, u32(p, at - 12), offset, offset + length < size, 0)


@cython.cfunc
@cython.exceptval(-1, check=False)
def is_stt_frame(p: PacketState, at: cython.longlong) -> cython.bint:
    """Whether a frame of version 0 begins at `at`, and Ethernet behind its header."""
    return at + STT_HEADER < p.end and p.block[at] == 0 and is_likely_frame(p, at + STT_HEADER)


@cython.cfunc
def is_stt_piece(p: PacketState, offset) -> cython.bint:
    """Whether hosts that sent a first piece sent this one; notes those of a first piece."""
    hosts = (p.source_high, p.source_low, p.destination_high, p.destination_low)
    if offset == 0 and len(p.stt_hosts) < MOST_STT_HOSTS:
        p.stt_hosts.add(hosts)
    return hosts in p.stt_hosts


@cython.cfunc
@cython.exceptval(-1, check=False)
def parse_stt_frame(p: PacketState) -> cython.longlong:
    """Version, flags, offsets, a VLAN and a context that each direction may choose for itself: 18 bytes, then Ethernet."""
    if p.at + STT_HEADER > p.end:
        return cut_or_malformed(p)
    enter_scope(p, SCOPE_STT, 0)
    p.at += STT_HEADER
    return LINK + LINKTYPE_ETHERNET
