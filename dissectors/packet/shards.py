"""Which worker takes a connection, when several read the same capture.

Each worker reads all packets and hands on the segments of its own connections only: those are its shard.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState


@cython.cfunc
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def is_of_shard(p: PacketState, ports: cython.longlong) -> cython.bint:
    """Is the segment, whose two ports have this sum, of a connection of this share? The same for both directions."""
    place: cython.longlong
    if p.shards == 1:
        return True
    # A sum: of addresses in one network, which differ little, nothing but that difference would be left otherwise.
    place = p.source_low + p.destination_low
    place = ((place & 0x7FFFFFFF) + ports * 40503) & 0x7FFFFFFF
    # Mixed twice: addresses and ports often differ by a fixed step.
    place = ((place ^ (place >> 16)) * 73244475) & 0x7FFFFFFF
    place = ((place ^ (place >> 15)) * 73244475) & 0x7FFFFFFF
    place ^= place >> 16
    return (shard_of_bucket(p, place & (OWNERS - 1)) if p.weighed else place % p.shards) == p.shard


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def shard_of_bucket(p: PacketState, place: cython.longlong) -> cython.longlong:
    """The share whose connections of this place are, once and for all. Connections differ much in size, so a new place goes
    to the share that has had the fewest segments, among those that have not a quarter more places than all on average:
    what one connection did early must not decide where all later ones go."""
    share: cython.longlong
    owner: cython.longlong = p.shards_of_buckets[0, place] - 1
    if owner < 0:
        for share in range(p.shards):
            if 4 * p.shards * p.buckets_of_shards[0, share] > 5 * p.buckets_taken + 32 * p.shards:
                continue
            if owner < 0 or p.segments_of_shards[0, share] < p.segments_of_shards[0, owner]:
                owner = share
        p.shards_of_buckets[0, place] = owner + 1
        p.buckets_of_shards[0, owner] += 1
        p.buckets_taken += 1
    p.segments_of_shards[0, owner] += 1
    return owner
