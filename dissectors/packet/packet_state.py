"""State of the packets stage, and how it reads numbers from the packet at hand."""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *


@cython.cclass
class PacketState:
    """The packet being read and what the stage keeps from one packet to the next."""

    scopes = cython.declare(dict, visibility="readonly")
    datagram = cython.declare(bytes, visibility="readonly")
    fragments = cython.declare(object, visibility="readonly")
    resolvers: object
    block: cython.const[cython.uchar][::1]
    out: cython.longlong[:, ::1]
    recent: cython.longlong[:, ::1]
    tally: cython.longlong[:, ::1]
    links: cython.longlong[:, ::1]  # row 0: link type, then one row per outcome
    link_count: cython.longlong
    link_column: cython.longlong
    number_base: cython.longlong
    shard: cython.longlong
    shards: cython.longlong
    shards_of_buckets: cython.longlong[:, ::1]  # of connections, by their hash: share + 1, 0 for nobody yet
    segments_of_shards: cython.longlong[:, ::1]  # segments of each share
    buckets_of_shards: cython.longlong[:, ::1]  # places of each share
    buckets_taken: cython.longlong  # and of all
    weighed: cython.bint
    base_scope: cython.longlong
    origin: cython.longlong
    first_time: cython.longlong
    last_time: cython.longlong
    at: cython.longlong
    end: cython.longlong
    wire: cython.longlong
    bound: cython.longlong  # the least end that a header's length field gave
    scope: cython.longlong
    row: cython.longlong
    source_high: cython.longlong
    source_low: cython.longlong
    destination_high: cython.longlong
    destination_low: cython.longlong
    ttl: cython.longlong
    ip_id: cython.longlong
    is_ours: cython.bint  # the segment belongs to a connection of this share
    # The fragment that was met: its payload is [at, end), of `wire` - `at` bytes.
    fragment_id: cython.longlong
    fragment_offset: cython.longlong
    fragment_more: cython.bint
    fragment_protocol: cython.longlong
    fragment_family: cython.longlong


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def u8(p: PacketState, at: cython.longlong) -> cython.longlong:
    return p.block[at]


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def u16(p: PacketState, at: cython.longlong) -> cython.longlong:
    if at < 0 or at + 2 > len(p.block):
        raise IndexError("a packet points outside its block")
    high: cython.longlong = p.block[at]
    low: cython.longlong = p.block[at + 1]
    return high << 8 | low


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def u32(p: PacketState, at: cython.longlong) -> cython.longlong:
    if at < 0 or at + 4 > len(p.block):
        raise IndexError("a packet points outside its block")
    a: cython.longlong = p.block[at]
    b: cython.longlong = p.block[at + 1]
    c: cython.longlong = p.block[at + 2]
    d: cython.longlong = p.block[at + 3]
    return a << 24 | b << 16 | c << 8 | d


@cython.cfunc
@cython.exceptval(-1, check=True)
def i64(p: PacketState, at: cython.longlong) -> cython.longlong:
    """Eight bytes as one signed number, by arithmetic that compiled and plain code do alike."""
    high: cython.longlong = u32(p, at)
    return ((high ^ SIGN) - SIGN) * HIGH_HALF + u32(p, at + 4)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def narrow(p: PacketState, stop: cython.longlong) -> cython.void:
    """The layer ends at `stop`: padding behind it is none of ours, and bytes up to it that are missing were cut.

    A header's length field counts more than the capture's length of the packet: a mirror that truncates packets
    forgets how long they were. But no layer is longer than the one around it says.
    """
    if p.bound > stop:
        p.bound = stop
    p.wire = p.bound
    if p.end > p.bound:
        p.end = p.bound


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def cut_or_malformed(p: PacketState) -> cython.longlong:
    """The outcome of a packet whose next header is not there."""
    return -2 - SEEN_CUT if p.end < p.wire else -2 - SEEN_MALFORMED
