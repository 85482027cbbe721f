"""State of the pcapng reader, and what reads of a file need everywhere: numbers, byte orders, notes."""

import cython

from dissectors.formats.capture_facts import Note, keep_note
from dissectors.formats.pcapng_codes import *
from dissectors.layout import *

SECTION_MAGIC = b"\x0a\x0d\x0d\x0a"


@cython.cclass
class PcapngState:
    """What is known of the file so far, and the bytes being read: the next block of the file begins at `block[at]`."""

    packets = cython.declare(cython.longlong, visibility="readonly")
    offset = cython.declare(cython.longlong, visibility="readonly")
    stopped = cython.declare(cython.bint, visibility="readonly")
    interfaces = cython.declare(list, visibility="readonly")
    notes = cython.declare(list, visibility="readonly")
    secrets = cython.declare(list, visibility="readonly")
    until = cython.declare(cython.longlong, visibility="public")
    ended = cython.declare(cython.bint, visibility="readonly")
    head_bytes: bytearray  # section headers and interfaces so far, written anew
    bare: cython.bint  # `head_bytes` ends with a section that has no interface
    block: cython.const[cython.uchar][::1]
    out: cython.longlong[:, ::1]
    clock: cython.longlong[:, ::1]  # CLOCK_ rows, a column for each interface
    big: cython.bint  # the section is big-endian
    lost: cython.bint  # after damage: the next section header is sought
    ignored: cython.bint  # the section is of an unknown version
    skip: cython.longlong  # bytes of a long block that are still to be skipped
    base: cython.longlong  # offset in the file of block[0]
    at: cython.longlong
    size: cython.longlong
    row: cython.longlong
    first: cython.longlong  # interfaces before this section
    count: cython.longlong  # interfaces so far
    secret_bytes: cython.longlong
    odd_times: cython.bint  # a time that no int64 holds was noted
    many_interfaces: cython.bint  # that there are too many was noted


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def u32(r: PcapngState, at: cython.longlong) -> cython.longlong:
    if at < 0 or at + 4 > len(r.block):
        raise IndexError("a record points outside its block")
    a: cython.longlong = r.block[at]
    b: cython.longlong = r.block[at + 1]
    c: cython.longlong = r.block[at + 2]
    d: cython.longlong = r.block[at + 3]
    if r.big:
        return a << 24 | b << 16 | c << 8 | d
    return d << 24 | c << 16 | b << 8 | a


@cython.cfunc
def add_note(r: PcapngState, kind, text):
    """Notes something about the block at `at`."""
    keep_note(r.notes, Note(kind, r.base + r.at, r.packets, text))


@cython.cfunc
def byte_order(magic):
    """The byte order that a byte-order magic means, as `struct` writes it; empty for other bytes."""
    return {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}.get(bytes(magic), "")


@cython.cfunc
def is_numbered(kind):
    """Whether Wireshark gives a block of this type a frame number."""
    return kind in (OLD_PACKET, SIMPLE_PACKET, PACKET, JOURNAL, CUSTOM, CUSTOM_PRIVATE)
