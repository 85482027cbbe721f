"""What framing knows of a connection at a checkpoint: a point where nothing is pending.

A part of a capture that was read by itself gives the checkpoints at its edges; the run that joins the parts checks that
its connection is at the first one and goes on at the second.
"""

import cython

from dissectors.kafka.framing.in_flight import append_request, needs_other_messages, remove_oldest
from dissectors.kafka.framing.state import FramingState, grow_requests, i64
from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *

# What a checkpoint holds of a request in flight. Losses are those since the request was sent.
CHECKPOINT_REQUEST_COLUMNS = (
    REQUEST_CORRELATION,
    REQUEST_KEY,
    REQUEST_VERSION,
    REQUEST_LAST_TIME,
    REQUEST_ID,
    REQUEST_ACKS_UNSEEN,
    REQUEST_LOSSES,
)
assert len(CHECKPOINT_REQUEST_COLUMNS) == FRAMING_CHECKPOINT_WAIT_COLUMNS


@cython.cfunc
@cython.exceptval(-1)
def can_checkpoint(f: FramingState, slot: i64) -> cython.bint:
    """Are both sides at a sure frame boundary, in a connection that is proved to be Kafka?

    Nothing may be in flight whose meaning depends on messages before it.
    """
    s: i64
    index: i64
    if (
        slot >= f.slots  # nothing of it has come here yet
        or f.conn[slot, FRAMING_PROTOCOL] != PROTOCOL_KAFKA
        or f.conn[slot, FRAMING_CLIENT_SIDE] == UNKNOWN
        or f.conn[slot, FRAMING_REPLIES] == 0
        or f.conn[slot, FRAMING_CHAINED] == 0
        or f.conn[slot, CONN_TOKENS]
        or f.conn[slot, CONN_ENDED]
        or f.conn[slot, CONN_IN_FLIGHT] > MOST_IN_FLIGHT_AT_CHECKPOINT
        or f.settling == slot
    ):
        return False
    for s in range(2 * slot, 2 * slot + 2):
        if (
            f.side[s, SIDE_MODE] != MODE_FRAMES
            or f.side[s, SIDE_FRAME_POSITION]
            or f.side[s, SIDE_GUESSED]
            or f.side[s, SIDE_SEARCHED]
            or f.side[s, SIDE_PROVISIONAL_FIRST] >= 0
            or f.side[s, SIDE_PROVISIONAL_ACCEPTED]
            or f.side[s, SIDE_CORRELATION] == UNKNOWN
        ):
            return False
    index = f.conn[slot, CONN_OLDEST_REQUEST]
    while index >= 0:
        if f.requests[index, REQUEST_KEY] == TOKEN_REQUEST_KEY or needs_other_messages(f.requests[index, REQUEST_KEY]):
            return False
        index = f.requests[index, REQUEST_NEXT]
    return True


def bytes_to_boundary(f: FramingState, slot: i64):
    """(side, bytes that are missing until it is at a frame boundary); None when no side is inside a frame of known length."""
    s: i64
    if slot >= f.slots:
        return None
    for s in range(2 * slot, 2 * slot + 2):
        if f.side[s, SIDE_MODE] == MODE_FRAMES and 0 < f.side[s, SIDE_FRAME_POSITION] < f.side[s, SIDE_FRAME_SIZE]:
            return s & 1, f.side[s, SIDE_FRAME_SIZE] - f.side[s, SIDE_FRAME_POSITION]
    return None


def make_checkpoint(f: FramingState, slot: i64):
    """(checkpoint, indexes of the requests in flight).

    A checkpoint is a list of numbers: FRAMING_ and FRAMING_CHECKPOINT_ columns, then CHECKPOINT_REQUEST_COLUMNS of each request.
    """
    column: i64
    s: i64 = 2 * slot
    index: i64 = f.conn[slot, CONN_OLDEST_REQUEST]
    broker: i64 = s + 1 - f.conn[slot, FRAMING_CLIENT_SIDE]
    found = [f.conn[slot, column] for column in range(FRAMING_COLUMNS)]
    found += [f.conn[slot, CONN_FROM_SYN], f.conn[slot, CONN_SPECIAL]]
    found += [f.side[s, SIDE_LOSSES], f.side[s + 1, SIDE_LOSSES]]
    found += [f.side[s, SIDE_CORRELATION], f.side[s + 1, SIDE_CORRELATION], f.conn[slot, CONN_IN_FLIGHT]]
    request_capacity = []
    while index >= 0:
        request_capacity.append(index)
        for column in CHECKPOINT_REQUEST_COLUMNS:
            value = f.requests[index, column]
            found.append(f.side[broker, SIDE_LOSSES] - value if column == REQUEST_LOSSES else value)
        index = f.requests[index, REQUEST_NEXT]
    return found, request_capacity


def matches_checkpoint(f: FramingState, slot: i64, one, flip: i64):
    """Is the connection where checkpoint `one` of another run says, whose side 0 is side `flip` here?"""
    d: i64
    if not can_checkpoint(f, slot):
        return False
    mine = make_checkpoint(f, slot)[0]
    for d in range(2):
        # A run that has seen all of a side since the SYN takes any header (`is_possible_header`): then this run must be one.
        if (
            one[FRAMING_CHECKPOINT_FROM_SYN]
            and one[FRAMING_CHECKPOINT_LOSSES + d] == 0
            and (mine[FRAMING_CHECKPOINT_FROM_SYN] == 0 or mine[FRAMING_CHECKPOINT_LOSSES + (d ^ flip)])
        ):
            return False
    return (
        mine[FRAMING_CLIENT_SIDE] == one[FRAMING_CLIENT_SIDE] ^ flip
        and mine[FRAMING_CHECKPOINT_CORRELATION + flip] == one[FRAMING_CHECKPOINT_CORRELATION]
        and mine[FRAMING_CHECKPOINT_CORRELATION + 1 - flip] == one[FRAMING_CHECKPOINT_CORRELATION + 1]
        and mine[FRAMING_CHECKPOINT_WAITING:] == one[FRAMING_CHECKPOINT_WAITING:]
    )


def restore_request(f: FramingState, slot: i64, values, losses: i64):
    """Puts a request of a checkpoint in flight; returns its index."""
    index: i64 = f.free_request
    f.free_request = f.requests[index, REQUEST_NEXT]
    f.free_requests -= 1
    for column, value in zip(CHECKPOINT_REQUEST_COLUMNS, values, strict=True):
        f.requests[index, column] = value
    f.requests[index, REQUEST_LOSSES] = losses - f.requests[index, REQUEST_LOSSES]
    append_request(f, slot, index)
    return index


def resume_at(f: FramingState, slot: i64, one, two, flip: i64):
    """Takes the connection from checkpoint `one`, which matches, to `two`; returns (indexes of the requests that were in flight,
    indexes of those that are now)."""
    d: i64
    column: i64
    losses: i64
    for column in (FRAMING_REQUESTS, FRAMING_REPLIES):
        f.conn[slot, column] += two[column] - one[column]
    for d in range(2):
        for column in (FRAMING_STREAM, FRAMING_FRAMED, FRAMING_CUT):
            f.conn[slot, column + (d ^ flip)] += two[column + d] - one[column + d]
        f.side[2 * slot + (d ^ flip), SIDE_CORRELATION] = two[FRAMING_CHECKPOINT_CORRELATION + d]
    before = []
    while f.conn[slot, CONN_OLDEST_REQUEST] >= 0:
        before.append(f.conn[slot, CONN_OLDEST_REQUEST])
        remove_oldest(f, slot)
    if f.free_requests < two[FRAMING_CHECKPOINT_WAITING]:
        grow_requests(f, f.request_capacity + two[FRAMING_CHECKPOINT_WAITING])
    losses = f.side[2 * slot + 1 - f.conn[slot, FRAMING_CLIENT_SIDE], SIDE_LOSSES]
    now = []
    for column in range(FRAMING_CHECKPOINT_COLUMNS, len(two), FRAMING_CHECKPOINT_WAIT_COLUMNS):
        now.append(restore_request(f, slot, two[column : column + FRAMING_CHECKPOINT_WAIT_COLUMNS], losses))
    return before, now
