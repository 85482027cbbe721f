"""Cuts the two streams of a connection into Kafka frames and pairs each reply with its request.

A chunk goes to the code for the mode of its direction (SIDE_MODE), which takes bytes of it, and may change the mode:

- MODE_SEARCH: no frame boundary is known (`direction` judges the first bytes, `sync` searches)
- MODE_FRAMES: bytes of frames (`frames`), which are paired (`pairing`), or bare SASL tokens (`tokens`)
- MODE_PROVISIONAL: replies without requests, not believed yet (`provisional_replies`)
- MODE_BEHIND: other bytes came first (`behind_other_bytes`)
- MODE_NOT_KAFKA: not read

A gap goes to `loss`. Each file has its rules at its head. What holds for all of them: content tells the direction and whether
this is Kafka, ports only override it; every byte is counted once, as framed or as skipped with a reason.

Sources: Kafka protocol guide (length-prefixed frames, headers), KIP-482 (flexible headers), KIP-152 (SASL with and without
Kafka headers).
"""

import cython

from dissectors.kafka.framing.accounting import count_skipped
from dissectors.kafka.framing.behind_other_bytes import note_begin, take_other_bytes
from dissectors.kafka.framing.checkpoint import (
    bytes_to_boundary,
    can_checkpoint,
    make_checkpoint,
    matches_checkpoint,
    resume_at,
)
from dissectors.kafka.framing.connections import close_connection, end_side, open_connection, take_opening
from dissectors.kafka.framing.frames import take_frame_bytes
from dissectors.kafka.framing.loss import take_gap
from dissectors.kafka.framing.pages import drop_frame
from dissectors.kafka.framing.pairing import settle
from dissectors.kafka.framing.provisional_frames import reject_provisional
from dissectors.kafka.framing.provisional_replies import take_provisional
from dissectors.kafka.framing.state import (
    FramingState,
    grow_heap,
    grow_pages,
    grow_requests,
    grow_slots,
    i64,
    new_framed_parts,
)
from dissectors.kafka.framing.state_columns import *
from dissectors.kafka.framing.sync import is_frame_inside_guess, search_boundary
from dissectors.kafka.framing.tails import is_reply_unlikely
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix


@cython.cfunc
@cython.exceptval(-4611686018427387905, check=True)
@cython.boundscheck(False)
def run_chunks(f: FramingState, chunks: i64[:, ::1], row: i64, rows: i64) -> i64:
    """Takes chunk rows from `row` on; returns the row to go on with, and sets `why`."""
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
                f.conn[chunks[CHUNK_SLOT, row], FRAMING_CUT + chunks[CHUNK_SIDE, row]] += chunks[CHUNK_LENGTH, row]
        elif kind == CHUNK_OPEN:
            open_connection(f, chunks, row)
        elif kind == CHUNK_END:
            end_side(f, chunks, row)
        elif kind == CHUNK_OPENING:
            take_opening(f, chunks, row)
        elif not close_connection(f, chunks, row):
            return row
        f.chunk_position = 0
        row += 1
    if f.settling >= 0:
        settle(f)
    return row


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def take_data(f: FramingState, chunks: i64[:, ::1], row: i64) -> cython.bint:
    """Takes one DATA chunk; false: an output is full, and this must be called again (`chunk_position` bytes are done)."""
    slot: i64 = chunks[CHUNK_SLOT, row]
    s: i64 = 2 * slot + chunks[CHUNK_SIDE, row]
    length: i64 = chunks[CHUNK_LENGTH, row]
    mode: i64
    if f.chunk_position == 0:
        note_begin(f, chunks, row, slot, s, True)
    while f.chunk_position < length:
        if f.settling >= 0 and not settle(f):
            return False
        mode = f.side[s, SIDE_MODE]
        if mode == MODE_FRAMES:
            if f.chunk_position == 0 and f.side[s, SIDE_GUESSED] and is_frame_inside_guess(f, chunks, row, slot, s):
                drop_frame(f, slot, s, f.side[s, SIDE_SKIP_REASON])
                f.side[s, SIDE_MODE] = MODE_SEARCH
            elif not take_frame_bytes(f, chunks, row, slot, s):
                return False
        elif mode == MODE_SEARCH:
            if not search_boundary(f, chunks, row, slot, s):
                return False
        elif mode == MODE_PROVISIONAL:
            if f.chunk_position == 0 and is_reply_unlikely(f, chunks, row, slot, s):
                reject_provisional(f, slot, s)
            elif f.why != WHY_DONE or not take_provisional(f, chunks, row, slot, s):
                return False
        elif mode == MODE_BEHIND:
            note_begin(f, chunks, row, slot, s, False)
            take_other_bytes(f, chunks, row, slot, s)
        else:
            note_begin(f, chunks, row, slot, s, False)
            count_skipped(f, slot, s, SKIP_NOT_KAFKA, length - f.chunk_position)
            f.chunk_position = length
    return True


@cython.final
@cython.cclass
class Framing(FramingState):
    """Framing of all connections: takes chunks, gives frame rows.

    `newest` and `flexible` are the newest and the first flexible version by API key (int64; -1: no such key): a guessed
    boundary accepts versions up to three above the newest, a sure one any. `max_frame` bytes of a frame are kept, the rest
    is passed over by length; `arena_bytes` bounds the bytes of all unfinished frames. `broker_ports` (may be empty)
    overrides content.
    """

    def __init__(self, newest, flexible, max_frame, arena_bytes, broker_ports=()):
        self.newest = newest
        self.flexible = flexible
        self.max_frame = max_frame
        self.arena_bytes = arena_bytes
        self.broker_ports = frozenset(broker_ports)
        self.conn_memory = None
        self.side_memory = None
        self.requests_memory = None
        self.slots = 0
        grow_slots(self, 64)
        self.request_capacity = 0
        self.free_request = -1
        self.free_requests = 0
        grow_requests(self, 1024)
        self.provisional_capacity = 0
        self.free_provisional = -1
        self.page_count = 0
        self.free_page = -1
        self.free_pages = 0
        self.tail_pages = 0
        grow_pages(self, 64)
        grow_heap(self, 262144)
        new_framed_parts(self, 72)
        self.problems_memory = new_matrix(8, MOST_PROBLEM_ROWS)
        self.problems = self.problems_memory
        self.chunk_position = 0
        self.framed_part_rows = 0
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
        if self.free_requests < self.out_size:
            grow_requests(self, self.request_capacity + self.out_size)
        self.stream_block = block
        self.stream_heap = heap
        self.out = out
        row = run_chunks(self, chunks, start, rows)
        while self.why == WHY_ARENA_FULL:
            grow_pages(self, 2 * self.page_count)
            row = run_chunks(self, chunks, row, rows)
        return row, self.out_used, self.why

    def take_framed_parts(self):
        """(matrix of FRAMING_ columns, rows) of the connections closed since the last call; `feed` writes to it again."""
        rows = self.framed_part_rows
        self.framed_part_rows = 0
        return self.framed_parts_memory, rows

    def take_problems(self):
        """(matrix of PROBLEM_ columns, rows, rows dropped beyond the limit) since the last call."""
        taken, rows, dropped = self.problems_memory, self.problem_rows, self.problems_dropped
        self.problem_rows = 0
        self.problems_dropped = 0
        if rows:
            self.problems_memory = new_matrix(8, MOST_PROBLEM_ROWS)
            self.problems = self.problems_memory
        return taken, rows, dropped

    def slot_state(self, slots):
        """(number of the column that holds the part, ((matrix of state, rows for each slot), ...)), with so many slots."""
        grow_slots(self, slots)
        return FRAMING_PART, ((self.conn_memory, 1), (self.side_memory, 2))

    def can_checkpoint(self, slot):
        """Whether nothing is pending in a connection: see `can_checkpoint` in `checkpoint`."""
        return can_checkpoint(self, slot)

    def bytes_to_boundary(self, slot):
        """(side, bytes that are missing until it is at a frame boundary); None when no side is inside a known frame."""
        return bytes_to_boundary(self, slot)

    def checkpoint(self, slot):
        """(checkpoint as a list of numbers, indexes of the requests in flight) of a connection that `can_checkpoint`."""
        return make_checkpoint(self, slot)

    def matches(self, slot, checkpoint, flip):
        """Whether the connection is where `checkpoint` of another run says, whose side 0 is side `flip` here."""
        return matches_checkpoint(self, slot, checkpoint, flip)

    def resume(self, slot, before, after, flip):
        """Takes the connection from checkpoint `before`, which it `matches`, to checkpoint `after`.

        Returns (indexes of the requests that were in flight, indexes of those that are now).
        """
        return resume_at(self, slot, before, after, flip)
