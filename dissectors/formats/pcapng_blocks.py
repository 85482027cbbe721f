"""Reads one block of a pcapng file: checks its two lengths, then reads its body by type."""

import cython

from dissectors.formats.pcapng_codes import *
from dissectors.formats.pcapng_damage import note_damage, skip_long_block
from dissectors.formats.pcapng_packets import old_packet_interface, read_packet_block, read_simple_packet_block
from dissectors.formats.pcapng_sections import (
    read_decryption_secrets,
    read_interface_description,
    read_interface_statistics,
    read_section_header,
)
from dissectors.formats.pcapng_state import PcapngState, byte_order, is_numbered, u32
from dissectors.layout import *


@cython.cfunc
def read_other_block(r: PcapngState, kind, total):
    """Reads a block that holds no packet; these are rare, so Python objects are fast enough."""
    body = bytes(r.block[r.at + 8 : r.at + total - 4])
    order = ">" if r.big else "<"
    if kind == SECTION:
        read_section_header(r, order, body)
    elif kind == INTERFACE:
        read_interface_description(r, order, body)
    elif kind == STATISTICS:
        read_interface_statistics(r, order, body)
    elif kind == SECRETS:
        read_decryption_secrets(r, order, body)
    elif is_numbered(kind):
        r.packets += 1


@cython.cfunc
@cython.exceptval(-1, check=False)
def read_block(r: PcapngState) -> cython.longlong:
    """Reads the block at `at` and moves behind it; returns USED, or why it could not."""
    at: cython.longlong = r.at
    left: cython.longlong = r.size - at
    if left < 12:
        return WANTS_MORE
    kind: cython.longlong = u32(r, at)
    if kind == SECTION:
        # The length of a section header is in the byte order that the header itself announces.
        order = byte_order(bytes(r.block[at + 8 : at + 12]))
        if not order:
            return note_damage(r, "a section header without byte-order magic")
        r.big = order == ">"
    total: cython.longlong = u32(r, at + 4)
    total += -total & 3  # some writers do not count the padding; Wireshark reads them like this too
    if total < 12 or (kind == SECTION and total < SECTION_BYTES):
        return note_damage(r, f"a block of {total} bytes")
    if total > LONGEST_BLOCK_BYTES:
        return skip_long_block(r, kind, total)
    if left < total:
        return WANTS_MORE
    if u32(r, at + total - 4) + 3 & -4 != total:
        return note_damage(r, f"a block whose two lengths differ ({total} and {u32(r, at + total - 4)})")
    if not r.ignored and kind in (PACKET, OLD_PACKET, SIMPLE_PACKET):
        if r.row == r.out.shape[1]:
            return FULL
        r.packets += 1
        if kind == PACKET:
            read_packet_block(r, u32(r, at + 8), 28, total)
        elif kind == OLD_PACKET:
            read_packet_block(r, old_packet_interface(r, at + 8), 28, total)
        else:
            read_simple_packet_block(r, total)
    elif kind == SECTION or not r.ignored:
        read_other_block(r, kind, total)
    r.at = at + total
    return USED
