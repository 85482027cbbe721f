"""What proves provisional replies.

Beside requests one reply will do when its correlation id is near theirs. Where there are no requests at all the replies
must speak for themselves: enough steps to larger correlation ids, or the reply to ApiVersions. ZooKeeper's replies have a
length and a growing id too, and are told apart.
"""

import cython

from dissectors.kafka.framing.in_flight import is_near_correlation
from dissectors.kafka.framing.provisional_frames import is_other_side_silent, word_at
from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def is_like_zookeeper(f: FramingState, s: i64) -> cython.bint:
    """Can ZooKeeper have sent the frame under way?

    Its replies have a length and a growing id, then a transaction id (epoch and counter, or -1) and an error code (0 to
    -127); its requests a small type and a path, which begins with a slash. Shorter frames and other numbers are Kafka's.
    """
    epoch: i64 = word_at(f, s, 2)
    counter: i64 = word_at(f, s, 3)
    if f.side[s, SIDE_FRAME_SIZE] < 20:
        return False
    if f.side[s, SIDE_FRAME_KEPT] < 20:
        return True
    if not 0 <= epoch < 65536 or (epoch == 0 and counter == 0):
        return epoch == -1 and counter == -1
    if 0 < epoch < 128 and 0 < counter < 1024 and word_at(f, s, 4) >> 24 == 47:
        return True
    return -127 <= word_at(f, s, 4) <= 0


@cython.cfunc
@cython.exceptval(-1)
def is_api_versions_reply(f: FramingState, s: i64) -> cython.bint:
    """Is the frame under way a reply to ApiVersions, which opens most connections? No other protocol looks like it: no error, as
    many API keys as its length has room for, and the first one is Produce or Fetch with few versions."""
    size: i64 = f.side[s, SIDE_FRAME_SIZE]
    keys: i64 = word_at(f, s, 2) & 65535
    versions: i64 = word_at(f, s, 4) & LOW_32
    if f.side[s, SIDE_FRAME_KEPT] < 20 or word_at(f, s, 2) >> 16 != 0:
        return False
    keys = (keys << 16) | ((word_at(f, s, 3) >> 16) & 65535)
    if keys * 6 + 14 == size or keys * 6 + 18 == size:  # v0; v1 and v2 have a throttle time
        return keys > 0 and 0 <= (word_at(f, s, 3) & 65535) <= 1 and (versions >> 16) <= (versions & 65535) < 32
    keys = (word_at(f, s, 2) >> 8) & 255  # v3: a compact array (count + 1), each element with tagged fields
    if keys < 2 or keys > 127 or keys * 7 + 9 > size or word_at(f, s, 2) & 255:
        return False
    # The first element: key, oldest and newest version, no tagged fields; then the key of the next.
    return (
        (word_at(f, s, 3) >> 24) & 255 <= 1
        and (word_at(f, s, 3) >> 8) & 65535 < 32
        and word_at(f, s, 3) & 255 == 0
        and (versions >> 24) < 32
        and (versions >> 16) & 255 == 0
        and 0 < versions & 65535 < 128
    )


@cython.cfunc
@cython.exceptval(-1)
def is_proven(f: FramingState, slot: i64, s: i64, at_end: cython.bint) -> cython.bint:
    """Are the provisional replies proved? `at_end`: the last one ended where its chunk did."""
    count: i64 = f.side[s, SIDE_PROVISIONAL_COUNT]
    if f.conn[slot, FRAMING_REQUESTS] > 0:
        return f.side[s, SIDE_PROVISIONAL_STEPS] >= PROOF_STEPS or (
            (at_end or count > 1)
            and is_near_correlation(f, slot, f.provisional[f.side[s, SIDE_PROVISIONAL_LAST], PROVISIONAL_CORRELATION])
        )
    if f.conn[slot, CONN_FORCED]:
        return count > 1
    if 2 * f.side[s, SIDE_PROVISIONAL_NOT_ZOOKEEPER] <= count or f.side[s, SIDE_PROVISIONAL_STEPS] < PROOF_STEPS:
        return False
    if not is_other_side_silent(f, slot, s):
        return False
    f.conn[slot, FRAMING_CHAINED] += count - 1
    return True


@cython.cfunc
@cython.exceptval(-1)
def ends_in_replies(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """Where a connection closes: are provisional replies accepted, or all that was captured of it?

    In the second case they are too few for a proof: the connection counts if others prove that its peer is a broker.
    """
    if f.side[s, SIDE_PROVISIONAL_FIRST] < 0:
        return False
    return f.side[s, SIDE_PROVISIONAL_ACCEPTED] != 0 or (
        is_other_side_silent(f, slot, s) and f.conn[slot, FRAMING_STREAM + (s & 1)] == 0
    )
