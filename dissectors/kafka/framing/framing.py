"""Cuts the two streams of a connection into Kafka frames and pairs each reply with its request.

Rules: direction and "is this Kafka" come from content; ports only override. A frame boundary is *sure* when the frame
before it ended there, or when a connection that began with a SYN starts there; else it is *guessed* from a plausible
header, and the guess is given up when what follows the frame is no frame. Replies are paired by correlation id, oldest
first (the broker answers in order; ids may repeat), but not across a loss. A gap inside a frame costs that frame's
tail; a gap over a boundary costs what lies before the next plausible header.

Every byte that reassembly hands on is counted once: as framed, or as skipped with one reason (SKIP_). A frame that lies
in one chunk stays where it is (a reference into the block); others are collected in 4 KiB pages of one arena and copied
to the heap when complete. The arena's size bounds the memory of unfinished frames.

Replies whose requests are not in the capture are passed over by length and held back as numbers (a *trial*) until there is
proof: a reply that is waited for right behind them, ids near those of requests, or a row of growing ids where nothing of the
other side is there. After SaslHandshake v0, and where a connection begins with a token of GSS-API, what is no request header is
a token.

Known weakness: where a client uses one correlation id for requests that it does not wait for, and some of their replies are
lost, the others may be given to the wrong ones.

Sources: protocol guide (length-prefixed frames, headers), KIP-482 (flexible headers), KIP-152 (SASL with and without
Kafka headers).
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped
from dissectors.kafka.framing.checkpoint import (
    bytes_to_boundary,
    can_checkpoint,
    make_checkpoint,
    matches_checkpoint,
    resume_at,
)
from dissectors.kafka.framing.connections import close_connection, end_side, open_connection
from dissectors.kafka.framing.frames import take_frame_bytes
from dissectors.kafka.framing.loss import take_gap
from dissectors.kafka.framing.pages import drop_frame
from dissectors.kafka.framing.pairing import settle
from dissectors.kafka.framing.provisional_replies import provisional_bytes
from dissectors.kafka.framing.state import (
    FramingState,
    grow_heap,
    grow_pages,
    grow_requests,
    grow_slots,
    i64,
    new_closed,
)
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.sync import is_outdone, search
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
@cython.boundscheck(False)
def run_chunks(f: FramingState, chunks: i64[:, ::1], row: i64, rows: i64) -> i64:
    kind: i64
    f.why = WHY_DONE
    while row < rows:
        if f.settling >= 0 and not settle(f):
            return row
        kind = chunks[CHUNK_KIND, row]
        if kind == CHUNK_DATA:
            if not take_data(f, chunks, row):
                return row
        elif kind == CHUNK_GAP:
            if not take_gap(f, chunks, row):
                return row
            if chunks[CHUNK_DETAIL, row] == GAP_CUT:
                f.talk[chunks[CHUNK_SLOT, row], TALK_CUT + chunks[CHUNK_SIDE, row]] += chunks[CHUNK_LENGTH, row]
        elif kind == CHUNK_OPEN:
            open_connection(f, chunks, row)
        elif kind == CHUNK_END:
            end_side(f, chunks, row)
        elif not close_connection(f, chunks, row):
            return row
        f.resume = 0
        row += 1
    if f.settling >= 0:
        settle(f)
    return row


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def take_data(f: FramingState, chunks: i64[:, ::1], row: i64) -> cython.bint:
    """One DATA chunk; false: the output is full, call again for the rest (`self.resume` bytes are done)."""
    slot: i64 = chunks[CHUNK_SLOT, row]
    s: i64 = 2 * slot + chunks[CHUNK_SIDE, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    mode: i64
    while f.resume < length:
        if f.settling >= 0 and not settle(f):
            return False
        mode = f.side[s, S_MODE]
        if mode == M_FRAMES:
            if f.resume == 0 and f.side[s, S_GUESSED] and is_outdone(f, chunks, row, slot, s):
                drop_frame(f, slot, s, f.side[s, S_REASON])
                f.side[s, S_MODE] = M_SEARCH
            elif not take_frame_bytes(f, chunks, row, slot, s):
                return False
        elif mode == M_SEARCH:
            if not search(f, chunks, row, slot, s):
                return False
        elif mode == M_TRIAL:
            if not provisional_bytes(f, chunks, row, slot, s):
                return False
        else:
            count_skipped(f, slot, s, SKIP_NOT_KAFKA, length - f.resume)
            f.resume = length
    return True


@cython.final
@cython.cclass
class Framing(FramingState):
    """Framing of all connections; fed with chunks, gives frame rows.

    `newest` and `flexible` are the newest and the first flexible version by API key (int64; -1: no such key): guesses
    about where a frame begins accept versions up to three above the newest, sure frames any. `max_frame` bytes of a
    frame are kept, the rest is passed over by length; `arena_bytes` bounds the bytes of all unfinished frames.
    `broker_ports` (may be empty) overrides content.
    """

    def __init__(self, newest, flexible, max_frame, arena_bytes, broker_ports=()):
        self.newest = newest
        self.flexible = flexible
        self.max_frame = max_frame
        self.arena_bytes = arena_bytes
        self.broker_ports = frozenset(broker_ports)
        self.talk_memory = None
        self.side_memory = None
        self.wait_memory = None
        self.slots = 0
        grow_slots(self, 64)
        self.places = 0
        self.free_place = -1
        self.free_places = 0
        grow_requests(self, 1024)
        self.trials = 0
        self.free_trial = -1
        self.page_count = 0
        self.free_page = -1
        self.free_pages = 0
        grow_pages(self, 64)
        grow_heap(self, 262144)
        new_closed(self, 64)
        self.problems_memory = new_matrix(8, PROBLEM_ROWS)
        self.problems = self.problems_memory
        self.resume = 0
        self.closing = 0
        self.talk_rows = 0
        self.problem_rows = 0
        self.problems_dropped = 0
        self.heap_used = 0
        self.heap_needed = 0
        self.crowded = False
        self.overtaken = -1
        self.settling = -1
        self.settling_losses = 0

    def feed(self, block, heap, chunks, rows, start, slots, out):
        """Reads chunk rows [start, rows) and writes frame rows into `out`.

        `block` and `heap` are the buffers that the chunks point into, `slots` the number of connection slots in use.
        Returns (next chunk row, frame rows written, why); `self.heap_memory` holds the frames of FRAME_BUFFER 1 until
        the next call. WHY_OUTPUT_FULL and WHY_HEAP_FULL: take the rows and call again; the arena grows by itself.
        """
        check_room(chunks, CHUNK_COLUMNS, rows)
        check_room(out, FRAME_COLUMNS, 0)
        grow_slots(self, slots)
        if self.heap_needed > self.heap_size:
            grow_heap(self, self.heap_needed)
        self.heap_needed = 0
        self.heap_used = 0
        self.out_used = 0
        self.out_size = out.shape[1]
        if self.free_places < self.out_size:
            grow_requests(self, self.places + self.out_size)
        self.stream_block = block
        self.stream_heap = heap
        self.out = out
        row = run_chunks(self, chunks, start, rows)
        while self.why == WHY_ARENA_FULL:
            grow_pages(self, 2 * self.page_count)
            row = run_chunks(self, chunks, row, rows)
        return row, self.out_used, self.why

    def take_talks(self):
        """(matrix of TALK_ columns, rows) of the connections closed since the last call."""
        rows = self.talk_rows
        self.talk_rows = 0
        taken = self.talks_memory
        if rows:
            new_closed(self, 64)
        return taken, rows

    def take_problems(self):
        """(matrix of PROBLEM_ columns, rows, rows dropped beyond the limit) since the last call."""
        taken, rows, dropped = self.problems_memory, self.problem_rows, self.problems_dropped
        self.problem_rows = 0
        self.problems_dropped = 0
        if rows:
            self.problems_memory = new_matrix(8, PROBLEM_ROWS)
            self.problems = self.problems_memory
        return taken, rows, dropped

    def is_at_rest(self, slot):
        """Whether both sides stand at a sure boundary of frames of a connection that is proved to be Kafka."""
        return can_checkpoint(self, slot)

    def to_boundary(self, slot):
        """(side, bytes) that are missing until one of the sides stands at a boundary; None when nobody can say."""
        return bytes_to_boundary(self, slot)

    def rest(self, slot):
        """(numbers of a connection that is at rest, places of its requests that wait for replies)."""
        return make_checkpoint(self, slot)

    def fits(self, slot, one, flip):
        """Whether the connection is at the point of rest `one` of another run, whose side 0 is side `flip` here."""
        return matches_checkpoint(self, slot, one, flip)

    def jump(self, slot, one, two, flip):
        """Takes the connection from the point of rest `one`, which `fits`, to `two`; returns (places of requests that wait no
        longer, places of those that wait now)."""
        return resume_at(self, slot, one, two, flip)
