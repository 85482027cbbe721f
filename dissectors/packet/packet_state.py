"""State of the packets stage, and how it reads numbers from the packet at hand."""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *


@cython.cclass
class PacketState:
    """The packet being read and what the stage keeps from one packet to the next.

    The layer that comes next begins at `at`. Its bytes end at `end` as far as they were captured, at `wire` as far as they
    were sent; all three are offsets in `block`.
    """

    scopes = cython.declare(dict, visibility="readonly")
    datagram = cython.declare(bytes, visibility="readonly")
    fragments = cython.declare(object, visibility="readonly")
    resolvers: object
    stt_hosts: set  # pairs of addresses that sent pieces of STT
    block: cython.const[cython.uchar][::1]
    out: cython.longlong[:, ::1]
    recent: cython.longlong[:, ::1]
    tally: cython.longlong[:, ::1]
    tunnels: cython.longlong[:, ::1]  # UDP port -> TUNNEL_ code, 0 for none
    links: cython.longlong[:, ::1]  # a column for each link type: its number, then packets by outcome
    link_count: cython.longlong
    link_column: cython.longlong
    number_base: cython.longlong
    shard: cython.longlong
    shards: cython.longlong
    shards_of_buckets: cython.longlong[:, ::1]  # shard + 1, 0 while a bucket has none
    segments_of_shards: cython.longlong[:, ::1]
    buckets_of_shards: cython.longlong[:, ::1]
    buckets_taken: cython.longlong  # the sum of buckets_of_shards
    weighed: cython.bint
    base_scope: cython.longlong
    origin: cython.longlong
    first_time: cython.longlong
    last_time: cython.longlong
    at: cython.longlong
    ip_at: cython.longlong  # the IP header of the layer at hand
    end: cython.longlong
    wire: cython.longlong
    bound: cython.longlong  # the least end that a header's length field gave
    scope: cython.longlong
    guess: cython.longlong  # where `proof` found a payload
    row: cython.longlong
    source_high: cython.longlong
    source_low: cython.longlong
    destination_high: cython.longlong
    destination_low: cython.longlong
    ttl: cython.longlong
    ip_id: cython.longlong
    is_ours: cython.bint  # the segment belongs to a connection of our shard
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
    """Eight bytes as a signed number, by arithmetic that gives the same in C and in Python."""
    high: cython.longlong = u32(p, at)
    return ((high ^ SIGN) - SIGN) * HIGH_HALF + u32(p, at + 4)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def narrow(p: PacketState, stop: cython.longlong) -> cython.void:
    """The layer ends at `stop`: bytes behind it are padding, bytes before it that are missing were cut by the snap length.

    The length field of a header is believed rather than the packet length in the capture file, because a mirror that
    truncates packets forgets how long they were. But no layer is longer than the layer around it.
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
    """The outcome of a packet that ends within a header: cut by the snap length, or malformed."""
    return -2 - SEEN_CUT if p.end < p.wire else -2 - SEEN_MALFORMED


@cython.cfunc
def find_link_column(p: PacketState, link):
    """Sets `link_column` to the column of `links` that counts a link type. The last of very many counts all others."""
    for column in range(p.link_count):
        if p.links[0, column] == link:
            p.link_column = column
            return
    p.link_column = min(p.link_count, MOST_LINKS - 1)
    if p.link_count < MOST_LINKS:
        p.links[0, p.link_count] = link
        p.link_count += 1
