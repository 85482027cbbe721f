"""Shards: which worker takes a connection when several workers read the same capture.

Each worker reads all packets and hands on the segments of its own connections only: those are its shard. A hash of addresses
and ports, the same for both directions, decides. Where all workers see the same packets in the same order (`weighed`), the
hash only names a bucket, and a bucket gets its shard when its first segment comes, by how many segments the shards have had:
connections differ much in size.
"""

import cython

from dissectors.layout import *
from dissectors.packet.layer_codes import *
from dissectors.packet.packet_state import PacketState


@cython.cfunc
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def is_of_shard(p: PacketState, ports: cython.longlong) -> cython.bint:
    """Whether the segment, whose two ports have this sum, is of a connection of our shard."""
    mixed: cython.longlong
    if p.shards == 1:
        return True
    # A sum, not an exclusive or: addresses of one network differ in few bits, and of those nothing else would be left.
    mixed = p.source_low + p.destination_low
    mixed = ((mixed & 0x7FFFFFFF) + ports * 40503) & 0x7FFFFFFF
    # Two rounds, because addresses and ports often differ by a fixed step.
    mixed = ((mixed ^ (mixed >> 16)) * 73244475) & 0x7FFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 73244475) & 0x7FFFFFFF
    mixed ^= mixed >> 16
    return (shard_of_bucket(p, mixed & (BUCKETS - 1)) if p.weighed else mixed % p.shards) == p.shard


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def shard_of_bucket(p: PacketState, bucket: cython.longlong) -> cython.longlong:
    """The shard of a bucket; counts a segment for it.

    A new bucket goes to the shard that has had the fewest segments, among those that have at most a quarter more buckets
    than the average: one busy connection early in the capture must not send all later ones to the other shards.
    """
    shard: cython.longlong
    chosen: cython.longlong = p.shards_of_buckets[0, bucket] - 1
    if chosen < 0:
        for shard in range(p.shards):
            if 4 * p.shards * p.buckets_of_shards[0, shard] > 5 * p.buckets_taken + 32 * p.shards:
                continue
            if chosen < 0 or p.segments_of_shards[0, shard] < p.segments_of_shards[0, chosen]:
                chosen = shard
        p.shards_of_buckets[0, bucket] = chosen + 1
        p.buckets_of_shards[0, chosen] += 1
        p.buckets_taken += 1
    p.segments_of_shards[0, chosen] += 1
    return chosen
