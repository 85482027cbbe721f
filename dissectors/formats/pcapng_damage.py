"""Finds where a block begins: after damage, behind a block that is too long, and in the middle of a file.

After damage the reader looks for the next section header, because its magic can be searched for. To read a file from its
middle, lengths that lead from block to block are taken for blocks; that is a guess, which the caller must prove.
"""

import struct

import cython

from dissectors.formats.pcapng_codes import *
from dissectors.formats.pcapng_state import SECTION_MAGIC, PcapngState, add_note, byte_order, is_numbered, u32
from dissectors.layout import *


@cython.cfunc
def note_damage(r: PcapngState, what):
    """Notes that no block begins at `at`, and moves on by one byte to look for the next section."""
    where = f"damaged at byte {r.base + r.at}, after packet {r.packets}"
    add_note(r, "damaged", f"{where}: {what}; the rest of the section is lost")
    r.at += 1
    return LOST


@cython.cfunc
@cython.exceptval(-1, check=False)
def skip_long_block(r: PcapngState, kind: cython.longlong, total: cython.longlong) -> cython.longlong:
    """Skips a block that is too long to be held in memory. One of an unknown type is taken for damage."""
    if kind not in (OLD_PACKET, SIMPLE_PACKET, PACKET, NAMES, JOURNAL, SECRETS, CUSTOM, CUSTOM_PRIVATE):
        return note_damage(r, f"a block of type {kind} and {total} bytes")
    if not r.ignored and is_numbered(kind):
        r.packets += 1
    add_note(r, "skipped", f"block of type {kind} and {total} bytes: too long, not read")
    r.skip = total
    return USED


@cython.cfunc
@cython.exceptval(-1, check=False)
def skip_bytes(r: PcapngState) -> cython.longlong:
    """Skips what is known of a block that is too long."""
    step: cython.longlong = min(r.skip, r.size - r.at)
    r.skip -= step
    r.at += step
    return 0


@cython.cfunc
def seek_section_header(r: PcapngState, rest):
    """Moves to the next section header in `rest`, the unread bytes, whose two lengths agree."""
    at = rest.find(SECTION_MAGIC)
    while at >= 0:
        order = byte_order(rest[at + 8 : at + 12])
        if len(rest) - at < 12:
            break
        if order:
            total = struct.unpack_from(order + "I", rest, at + 4)[0]
            if 28 <= total <= LONGEST_SOUGHT_BYTES and total % 4 == 0:
                if at + total > len(rest):
                    break
                if struct.unpack_from(order + "I", rest, at + total - 4)[0] == total:
                    r.lost = False
                    r.at += at
                    return USED
        at = rest.find(SECTION_MAGIC, at + 1)
    r.at += at if at >= 0 else max(len(rest) - 3, 0)
    return WANTS_MORE


@cython.cfunc
@cython.exceptval(-1, check=False)
def begins_chain(r: PcapngState, at: cython.longlong) -> cython.longlong:
    """Whether lengths lead from `at` from block to block, for CHAIN blocks or up to the end of the known bytes."""
    size: cython.longlong = len(r.block)
    links: cython.longlong = 0
    total: cython.longlong
    order: cython.bint = r.big
    while links < CHAIN and at + 12 <= size:
        total = likely_block_bytes(r, at, size)
        if total == 0:
            break
        at += total
        if at <= size:
            links += 1
    r.big = order
    if links == CHAIN or (links > 0 and at == size):
        return 1
    return links >= SHORT_CHAIN and at + 12 > size


@cython.cfunc
@cython.exceptval(-1, check=False)
def likely_block_bytes(r: PcapngState, at: cython.longlong, size: cython.longlong) -> cython.longlong:
    """The length of what may be a block at `at`, 0 for what cannot be one. A section header sets the byte order."""
    kind: cython.longlong = u32(r, at)
    if kind == SECTION:  # the same in both byte orders
        r.big = r.block[at + 8] == 0x1A
    elif kind not in (CUSTOM, CUSTOM_PRIVATE) and not 1 <= kind <= SECRETS:
        return 0
    total: cython.longlong = u32(r, at + 4)
    total += -total & 3
    if total < 12 or total > LONGEST_BLOCK_BYTES:
        return 0
    if at + total <= size and u32(r, at + total - 4) + 3 & -4 != total:
        return 0
    if kind == PACKET and at + 28 <= size and u32(r, at + 20) > total - 32:
        return 0
    return total
