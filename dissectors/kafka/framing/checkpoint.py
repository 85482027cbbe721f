"""What framing knows of a connection at a checkpoint: a point where nothing is pending.

A part of a capture that was read by itself gives the checkpoints at its edges; the run that joins the parts checks that
its connection is at the first one and goes on at the second.
"""

import cython

from dissectors.kafka.framing.in_flight import append_request, has_facts_for_others, remove_oldest
from dissectors.kafka.framing.state import FramingState, grow_requests, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *

# The W_ columns at a point of rest: all but the next place; losses count from the request on.
F_WAITS = (W_CORRELATION, W_KEY, W_VERSION, W_LAST_TIME, W_ID, W_ACKS_UNSEEN, W_LOSSES)


@cython.cfunc
@cython.exceptval(-1)
def can_checkpoint(f: FramingState, slot: i64) -> cython.bint:
    """Whether both sides stand at a sure boundary of frames of a connection that is proved to be Kafka."""
    s: i64
    place: i64
    if (
        slot >= f.slots  # nothing of it has come here yet
        or f.talk[slot, TALK_PROTOCOL] != PROTOCOL_KAFKA
        or f.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN
        or f.talk[slot, TALK_REPLIES] == 0
        or f.talk[slot, TALK_CHAINED] == 0
        or f.talk[slot, C_TOKENS]
        or f.talk[slot, C_ENDED]
        or f.talk[slot, C_WAITING] > MOST_WAITING_AT_REST
        or f.settling == slot
    ):
        return False
    for s in range(2 * slot, 2 * slot + 2):
        if (
            f.side[s, S_MODE] != M_FRAMES
            or f.side[s, S_PASSED]
            or f.side[s, S_GUESSED]
            or f.side[s, S_SEARCHED]
            or f.side[s, S_TRIAL_FIRST] >= 0
            or f.side[s, S_TRIAL_SURE]
            or f.side[s, S_CORRELATION] == UNKNOWN
        ):
            return False
    place = f.talk[slot, C_FIRST]
    while place >= 0:
        if f.wait[place, W_KEY] == TOKEN_WAITS or has_facts_for_others(f.wait[place, W_KEY]):
            return False
        place = f.wait[place, W_NEXT]
    return True


def bytes_to_boundary(f: FramingState, slot: i64):
    """(side, bytes) that are missing until one of the sides stands at a boundary; None when nobody can say."""
    s: i64
    if slot >= f.slots:
        return None
    for s in range(2 * slot, 2 * slot + 2):
        if f.side[s, S_MODE] == M_FRAMES and 0 < f.side[s, S_PASSED] < f.side[s, S_TOTAL]:
            return s & 1, f.side[s, S_TOTAL] - f.side[s, S_PASSED]
    return None


def make_checkpoint(f: FramingState, slot: i64):
    """(numbers of a connection that is at rest, places of its requests that wait for replies)."""
    column: i64
    s: i64 = 2 * slot
    place: i64 = f.talk[slot, C_FIRST]
    broker: i64 = s + 1 - f.talk[slot, TALK_CLIENT_SIDE]
    found = [f.talk[slot, column] for column in range(TALK_COLUMNS)]
    found += [f.talk[slot, C_FROM_SYN], f.talk[slot, C_SPECIAL]]
    found += [f.side[s, S_LOSSES], f.side[s + 1, S_LOSSES]]
    found += [f.side[s, S_CORRELATION], f.side[s + 1, S_CORRELATION], f.talk[slot, C_WAITING]]
    places = []
    while place >= 0:
        places.append(place)
        for column in F_WAITS:
            value = f.wait[place, column]
            found.append(f.side[broker, S_LOSSES] - value if column == W_LOSSES else value)
        place = f.wait[place, W_NEXT]
    return found, places


def matches_checkpoint(f: FramingState, slot: i64, one, flip: i64):
    """Whether the connection is at the point of rest `one` of another run, whose side 0 is side `flip` here."""
    d: i64
    if not can_checkpoint(f, slot):
        return False
    mine = make_checkpoint(f, slot)[0]
    for d in range(2):
        # Who has seen all of a side from its start on believes more (`_header_fits`): then it must be this run.
        if (
            one[TALK_CHECKPOINT_FROM_SYN]
            and one[TALK_CHECKPOINT_LOSSES + d] == 0
            and (mine[TALK_CHECKPOINT_FROM_SYN] == 0 or mine[TALK_CHECKPOINT_LOSSES + (d ^ flip)])
        ):
            return False
    return (
        mine[TALK_CLIENT_SIDE] == one[TALK_CLIENT_SIDE] ^ flip
        and mine[TALK_CHECKPOINT_CORRELATION + flip] == one[TALK_CHECKPOINT_CORRELATION]
        and mine[TALK_CHECKPOINT_CORRELATION + 1 - flip] == one[TALK_CHECKPOINT_CORRELATION + 1]
        and mine[TALK_CHECKPOINT_WAITING:] == one[TALK_CHECKPOINT_WAITING:]
    )


def restore_request(f: FramingState, slot: i64, waits, losses: i64):
    """A request that waits for its reply, with the columns F_WAITS."""
    place: i64 = f.free_place
    f.free_place = f.wait[place, W_NEXT]
    f.free_places -= 1
    for column, value in zip(F_WAITS, waits, strict=True):
        f.wait[place, column] = value
    f.wait[place, W_LOSSES] = losses - f.wait[place, W_LOSSES]
    append_request(f, slot, place)
    return place


def resume_at(f: FramingState, slot: i64, one, two, flip: i64):
    """Takes the connection from the point of rest `one`, which `fits`, to `two`; returns (places of requests that wait no
    longer, places of those that wait now)."""
    d: i64
    column: i64
    losses: i64
    for column in (TALK_REQUESTS, TALK_REPLIES):
        f.talk[slot, column] += two[column] - one[column]
    for d in range(2):
        for column in (TALK_STREAM, TALK_FRAMED, TALK_CUT):
            f.talk[slot, column + (d ^ flip)] += two[column + d] - one[column + d]
        f.side[2 * slot + (d ^ flip), S_CORRELATION] = two[TALK_CHECKPOINT_CORRELATION + d]
    before = []
    while f.talk[slot, C_FIRST] >= 0:
        before.append(f.talk[slot, C_FIRST])
        remove_oldest(f, slot)
    if f.free_places < two[TALK_CHECKPOINT_WAITING]:
        grow_requests(f, f.places + two[TALK_CHECKPOINT_WAITING])
    losses = f.side[2 * slot + 1 - f.talk[slot, TALK_CLIENT_SIDE], S_LOSSES]
    now = []
    for column in range(TALK_CHECKPOINT_COLUMNS, len(two), len(F_WAITS)):
        now.append(restore_request(f, slot, two[column : column + len(F_WAITS)], losses))
    return before, now
