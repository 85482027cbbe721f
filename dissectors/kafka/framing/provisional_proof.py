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
    """Its messages have a length and a growing id too: replies then a transaction id (an epoch and a counter, or -1) and
    an error code (0 to -127), requests a small type and a path. What is too short for that, or has other numbers there,
    speaks for Kafka."""
    epoch: i64 = word_at(f, s, 2)
    counter: i64 = word_at(f, s, 3)
    if f.side[s, S_TOTAL] < 20:
        return False
    if f.side[s, S_HELD] < 20:
        return True
    if not 0 <= epoch < 65536 or (epoch == 0 and counter == 0):
        return epoch == -1 and counter == -1
    if 0 < epoch < 128 and 0 < counter < 1024 and word_at(f, s, 4) >> 24 == 47:
        return True
    return -127 <= word_at(f, s, 4) <= 0


@cython.cfunc
@cython.exceptval(-1)
def is_api_versions_reply(f: FramingState, s: i64) -> cython.bint:
    """The reply to ApiVersions, which opens most connections: no error, as many keys as its length says, and the first
    are Produce or Fetch with few versions. No other protocol has that."""
    total: i64 = f.side[s, S_TOTAL]
    keys: i64 = word_at(f, s, 2) & 65535
    versions: i64 = word_at(f, s, 4) & LOW_32
    if f.side[s, S_HELD] < 20 or word_at(f, s, 2) >> 16 != 0:
        return False
    keys = (keys << 16) | ((word_at(f, s, 3) >> 16) & 65535)
    if keys * 6 + 14 == total or keys * 6 + 18 == total:  # v0, and with a throttle time v1 and v2
        return keys > 0 and 0 <= (word_at(f, s, 3) & 65535) <= 1 and (versions >> 16) <= (versions & 65535) < 32
    keys = (word_at(f, s, 2) >> 8) & 255  # v3: one more than there are, a byte each, and tags
    if keys < 2 or keys > 127 or keys * 7 + 9 > total or word_at(f, s, 2) & 255:
        return False
    # Key, oldest and newest version, no tags, and the next key: seven bytes, and two.
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
    """Is the trial won? Beside requests one frame will do when its id is near theirs; where there are none at all, the
    frames must speak for themselves."""
    count: i64 = f.side[s, S_TRIAL_COUNT]
    if f.talk[slot, TALK_REQUESTS] > 0:
        return f.side[s, S_TRIAL_STEPS] >= TRIAL_PROOF or (
            (at_end or count > 1) and is_near_correlation(f, slot, f.trial[f.side[s, S_TRIAL_LAST], T_CORRELATION])
        )
    if f.talk[slot, C_FORCED]:
        return count > 1
    if 2 * f.side[s, S_TRIAL_UNLIKE] <= count or f.side[s, S_TRIAL_STEPS] < TRIAL_PROOF:
        return False
    if not is_other_side_silent(f, slot, s):
        return False
    f.talk[slot, TALK_CHAINED] += count - 1
    return True


@cython.cfunc
@cython.exceptval(-1)
def ends_in_replies(f: FramingState, slot: i64, s: i64) -> cython.bint:
    """At the end: is a trial won, or is all that was seen of the connection a few frames that may be replies?

    Too few for a proof: the connection counts if others prove that its peer is a broker.
    """
    if f.side[s, S_TRIAL_FIRST] < 0:
        return False
    return f.side[s, S_TRIAL_SURE] != 0 or (
        is_other_side_silent(f, slot, s) and f.talk[slot, TALK_STREAM + (s & 1)] == 0
    )
