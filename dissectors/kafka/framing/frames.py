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

from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix
from dissectors.problems import *

i64 = cython.typedef(cython.longlong)

# State of a connection: talk[slot, column] holds the TALK_ columns first, so that a row leaves by one copy.
C_FIRST = cython.declare(cython.int, 28)  # oldest outstanding request, -1 none
C_LAST = cython.declare(cython.int, 29)
C_WAITING = cython.declare(cython.int, 30)  # how many
C_TOKENS = cython.declare(cython.int, 31)  # TOKENS_
C_ENDED = cython.declare(cython.int, 32)  # bit per side
C_END_TIME = cython.declare(cython.int, 33)  # when the client said it is done, before the broker did
C_FROM_SYN = cython.declare(cython.int, 34)
C_FORCED = cython.declare(cython.int, 35)  # --ports said who the broker is
C_SPECIAL = cython.declare(
    cython.int, 36
)  # requests that later ones of other connections, or much later ones, refer to
C_COLUMNS = cython.declare(cython.int, 40)

# State of one direction: side[2 * slot + side, column].
S_MODE = cython.declare(cython.int, 0)
S_TOTAL = cython.declare(cython.int, 1)  # bytes of the frame under way, length field included; -1 not known yet
S_PASSED = cython.declare(cython.int, 2)  # bytes of it that went by, lost ones included
S_HELD = cython.declare(cython.int, 3)  # bytes kept, from its start without a hole
S_FRAMED = cython.declare(cython.int, 4)  # bytes of it that reassembly gave (to be counted when it is done)
S_TIME = cython.declare(cython.int, 5)
S_NUMBER = cython.declare(cython.int, 6)
S_SEQ = cython.declare(cython.int, 7)
S_PAGE_FIRST = cython.declare(cython.int, 8)
S_PAGE_LAST = cython.declare(cython.int, 9)
S_REASON = cython.declare(cython.int, 10)  # SKIP_ reason while searching
S_LOSSES = cython.declare(cython.int, 11)  # gaps that hid a frame boundary
S_CORRELATION = cython.declare(cython.int, 12)  # of the newest frame, UNKNOWN before the first
S_GUESSED = cython.declare(cython.int, 13)  # begun where a search said so: 1 first in a chunk, 2 inside
S_LAST_TIME = cython.declare(cython.int, 14)  # latest time among its bytes so far
S_PREFIX = cython.declare(cython.int, 15)  # the length field, as far as it came
S_SEARCHED = cython.declare(cython.int, 16)  # bytes searched in vain
S_TRIAL_FIRST = cython.declare(cython.int, 17)  # oldest frame of the trial, -1 none
S_TRIAL_LAST = cython.declare(cython.int, 18)
S_TRIAL_COUNT = cython.declare(cython.int, 19)
S_TRIAL_BYTES = cython.declare(cython.int, 20)  # in complete frames of the trial, not counted yet
S_TRIAL_UNLIKE = cython.declare(cython.int, 21)  # frames of the trial that ZooKeeper cannot have sent
S_TRIAL_SURE = cython.declare(cython.int, 22)  # the trial is won, its frames leave
S_TAIL = cython.declare(cython.int, 23)  # bytes of the chunk searched last that lie in the tail columns
S_TAIL_HIGH = cython.declare(cython.int, 24)
S_TAIL_LOW = cython.declare(cython.int, 25)
S_TAIL_TIME = cython.declare(cython.int, 26)
S_TAIL_NUMBER = cython.declare(cython.int, 27)
S_TAIL_END = cython.declare(cython.int, 28)  # sequence number after it
S_TRIAL_STEPS = cython.declare(cython.int, 29)  # from one frame to the next with a larger id
S_TRIAL_BACK = cython.declare(cython.int, 30)  # and with a smaller one
S_WORDS = cython.declare(cython.int, 31)  # the first five numbers (int32) of the trial's frame under way
S_COLUMNS = cython.declare(cython.int, 36)

M_SEARCH = cython.declare(cython.int, 0)
M_FRAMES = cython.declare(cython.int, 1)
M_DEAD = cython.declare(cython.int, 2)
M_TRIAL = cython.declare(cython.int, 3)  # replies without requests: held back until there is proof

# States of C_TOKENS.
TOKENS_NONE = cython.declare(cython.int, 0)
TOKENS_NEXT = cython.declare(cython.int, 1)  # a handshake was accepted: the next frame is a token
TOKENS_ON = cython.declare(cython.int, 2)  # tokens until a request header turns up
TOKENS_ASKED = cython.declare(cython.int, 3)  # the answer to the handshake has not been seen

# Frames of a trial: trial[place, column], a pool with a free list.
T_TIME = cython.declare(cython.int, 0)
T_LAST_TIME = cython.declare(cython.int, 1)
T_NUMBER = cython.declare(cython.int, 2)
T_SEQ = cython.declare(cython.int, 3)
T_TOTAL = cython.declare(cython.int, 4)
T_FRAMED = cython.declare(cython.int, 5)
T_CORRELATION = cython.declare(cython.int, 6)
T_NEXT = cython.declare(cython.int, 7)
T_COLUMNS = cython.declare(cython.int, 8)

# Outstanding requests: wait[place, column], a pool with a free list.
W_CORRELATION = cython.declare(cython.int, 0)
W_KEY = cython.declare(cython.int, 1)
W_VERSION = cython.declare(cython.int, 2)
W_NEXT = cython.declare(cython.int, 3)
W_LAST_TIME = cython.declare(cython.int, 4)
W_ID = cython.declare(cython.int, 5)
W_LOSSES = cython.declare(cython.int, 6)  # losses of the reply direction when it was sent
W_ACKS_UNSEEN = cython.declare(cython.int, 7)
W_COLUMNS = cython.declare(cython.int, 8)

# The W_ columns at a point of rest: all but the next place; losses count from the request on.
F_WAITS = (W_CORRELATION, W_KEY, W_VERSION, W_LAST_TIME, W_ID, W_ACKS_UNSEEN, W_LOSSES)
MOST_WAITING_AT_REST = cython.declare(cython.int, 64)

# Literals beyond 31 bits would be Python objects in compiled code.
TWO_31 = cython.declare(i64, 1 << 31)
TWO_32 = cython.declare(i64, 1 << 32)
LOW_32 = cython.declare(i64, (1 << 32) - 1)
LOW_56 = cython.declare(i64, (1 << 56) - 1)
LOW_63 = cython.declare(i64, (1 << 63) - 1)
LOW_64 = cython.declare(cython.ulonglong, (1 << 64) - 1)
MIX_1 = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
MIX_2 = cython.declare(cython.ulonglong, 0x94D049BB133111EB)

PAGE = cython.declare(i64, 4096)
OWN_HEAP = cython.declare(i64, 2)  # beside 0, the block, and 1, the stream stage's heap
TOKEN = cython.declare(i64, -2)  # stands in FRAME_KEY for a bare SASL token
TOKEN_WAITS = cython.declare(i64, -70000)  # stands in W_KEY for one: a number that no request can have on the wire
LONGEST_FRAME = cython.declare(i64, 1073741824)  # lengths beyond are no lengths
LONGEST_SYNC_FRAME = cython.declare(i64, 134217728)  # a guess must be more modest
LONGEST_TOKEN = cython.declare(i64, 1048576)
SEARCH_LIMIT = cython.declare(i64, 262144)  # bytes searched before a stranger is left alone
ABANDON_NS = cython.declare(i64, 27000000000)  # 0.9 of the usual request timeout, 30 s
CLOCK_NS = cython.declare(i64, 1000000)  # capture clocks that disagree by less are said to agree
LONGEST_TIMEOUT_MS = cython.declare(i64, 3600000)  # of a Produce request that was guessed
MOST_WAITING = cython.declare(i64, 8192)  # outstanding requests of one connection
MOST_TRIALS = cython.declare(i64, 16384)  # frames of all trials
LONGEST_TRIAL = cython.declare(cython.int, 16)  # frames of one
TRIAL_PROOF = cython.declare(cython.int, 4)  # steps from a frame right to another with a larger id: nothing but Kafka
TRIAL_WORDS = cython.declare(cython.int, 5)
LONGEST_STEP = cython.declare(i64, 1000)  # from one correlation id of a connection to another that is near it
RESERVED = cython.declare(i64, 2147483640)  # Java clients number SASL requests from here, whatever came before
LONGEST_FIRST_TRIAL = cython.declare(i64, 16777216)  # one reply that nothing speaks for must not hide too much
MOST_TOPICS = cython.declare(i64, 65536)
TAIL = cython.declare(cython.int, 13)  # a request header has 14 bytes: so many may lie before the end of a chunk
TAIL_REACH = cython.declare(i64, 1024)  # bytes of the next chunk that are looked at with them

# Kinds of problems this stage reports; names are in analyzer/base/tables.
PROBLEM_ROWS = cython.declare(cython.int, 4096)


@cython.final
@cython.cclass
class Frames:
    """Framing of all connections; fed with chunks, gives frame rows.

    `newest` and `flexible` are the newest and the first flexible version by API key (int64; -1: no such key): guesses
    about where a frame begins accept versions up to three above the newest, sure frames any. `max_frame` bytes of a
    frame are kept, the rest is passed over by length; `arena_bytes` bounds the bytes of all unfinished frames.
    `broker_ports` (may be empty) overrides content.
    """

    talk: i64[:, ::1]
    side: i64[:, ::1]
    wait: i64[:, ::1]
    trial: i64[:, ::1]
    talks: i64[:, ::1]
    problems: i64[:, ::1]
    pages: cython.uchar[::1]
    next_page: i64[::1]
    heap: cython.uchar[::1]
    newest: i64[::1]
    flexible: i64[::1]
    out: i64[:, ::1]
    stream_block: cython.const[cython.uchar][::1]
    stream_heap: cython.const[cython.uchar][::1]
    talk_memory: object
    side_memory: object
    wait_memory: object
    trial_memory: object
    talks_memory: object
    problems_memory: object
    pages_memory: object
    heap_memory = cython.declare(object, visibility="readonly")
    next_page_memory: object
    broker_ports: object
    slots: i64
    places = cython.declare(i64, visibility="readonly")
    free_place: i64
    free_places: i64
    trials: i64
    free_trial: i64
    page_count: i64
    free_page: i64
    free_pages: i64
    arena_bytes: i64
    max_frame: i64
    heap_used: i64
    heap_needed: i64
    out_used: i64
    out_size: i64
    resume: i64
    closing: i64
    talk_rows = cython.declare(i64, visibility="readonly")  # rows that take_talks would give
    talk_size: i64
    heap_size: i64
    problem_rows: i64
    problems_dropped: i64
    why: i64
    crowded: cython.bint  # too many outstanding requests after the one just seen
    overtaken: i64  # the request before that of the reply just paired, -1 none: older ones have been overtaken
    settling: i64  # connection whose overtaken requests are being settled, -1 none
    settling_losses: i64  # of its reply direction when the reply came

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
        self._grow_slots(64)
        self.places = 0
        self.free_place = -1
        self.free_places = 0
        self._grow_places(1024)
        self.trials = 0
        self.free_trial = -1
        self.page_count = 0
        self.free_page = -1
        self.free_pages = 0
        self._grow_pages(64)
        self._grow_heap(262144)
        self._new_talks(64)
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

    # ---- growth: between feeds only, so no view moves under a running loop ----

    def _grow_slots(self, wanted):
        size = max(64, self.slots)
        while size < wanted:
            size *= 2
        if size == self.slots:
            return
        talk = _grown(self.talk_memory, C_COLUMNS, size)
        side = _grown(self.side_memory, S_COLUMNS, 2 * size)
        self.talk_memory = talk
        self.side_memory = side
        self.talk = talk
        self.side = side
        self.slots = size

    def _grow_places(self, wanted):
        size = max(1024, self.places)
        while size < wanted:
            size *= 2
        wait = _grown(self.wait_memory, W_COLUMNS, size)
        for place in range(size - 1, self.places - 1, -1):
            wait[place, W_NEXT] = self.free_place
            self.free_place = place
        self.free_places += size - self.places
        self.wait_memory = wait
        self.wait = wait
        self.places = size

    def _make_trials(self):
        """Most captures never need this pool; it does not grow."""
        trial = new_matrix(MOST_TRIALS, T_COLUMNS)
        for place in range(MOST_TRIALS):
            trial[place, T_NEXT] = place - 1
        self.trial_memory = trial
        self.trial = trial
        self.free_trial = MOST_TRIALS - 1
        self.trials = MOST_TRIALS

    def _grow_pages(self, wanted):
        """Doubles the arena up to `arena_bytes`; false when it is as large as it may be."""
        most = max(16, self.arena_bytes // PAGE)
        size = max(64, self.page_count)
        while size < wanted:
            size *= 2
        size = min(size, most)
        if size <= self.page_count:
            return False
        pages = bytearray(size * PAGE)
        next_page = memoryview(bytearray(8 * size)).cast("q")
        if self.page_count:
            pages[: self.page_count * PAGE] = self.pages_memory
            next_page[: self.page_count] = self.next_page_memory
        for page in range(size - 1, self.page_count - 1, -1):
            next_page[page] = self.free_page
            self.free_page = page
        self.free_pages += size - self.page_count
        self.page_count = size
        self.pages_memory = pages
        self.next_page_memory = next_page
        self.pages = pages
        self.next_page = next_page
        return True

    def _grow_heap(self, size):
        self.heap_memory = bytearray(size)
        self.heap = self.heap_memory
        self.heap_size = size

    # ---- batches ----

    def feed(self, block, heap, chunks, rows, start, slots, out):
        """Reads chunk rows [start, rows) and writes frame rows into `out`.

        `block` and `heap` are the buffers that the chunks point into, `slots` the number of connection slots in use.
        Returns (next chunk row, frame rows written, why); `self.heap_memory` holds the frames of FRAME_BUFFER 1 until
        the next call. WHY_OUTPUT_FULL and WHY_HEAP_FULL: take the rows and call again; the arena grows by itself.
        """
        check_room(chunks, CHUNK_COLUMNS, rows)
        check_room(out, FRAME_COLUMNS, 0)
        self._grow_slots(slots)
        if self.heap_needed > self.heap_size:
            self._grow_heap(self.heap_needed)
        self.heap_needed = 0
        self.heap_used = 0
        self.out_used = 0
        self.out_size = out.shape[1]
        if self.free_places < self.out_size:
            self._grow_places(self.places + self.out_size)
        self.stream_block = block
        self.stream_heap = heap
        self.out = out
        row = self._run(chunks, start, rows)
        while self.why == WHY_ARENA_FULL:
            self._grow_pages(2 * self.page_count)
            row = self._run(chunks, row, rows)
        return row, self.out_used, self.why

    def take_talks(self):
        """(matrix of TALK_ columns, rows) of the connections closed since the last call."""
        rows = self.talk_rows
        self.talk_rows = 0
        taken = self.talks_memory
        if rows:
            self._new_talks(64)
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

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    @cython.boundscheck(False)
    def _run(self, chunks: i64[:, ::1], row: i64, rows: i64) -> i64:
        kind: i64
        self.why = WHY_DONE
        while row < rows:
            if self.settling >= 0 and not self._settle():
                return row
            kind = chunks[CHUNK_KIND, row]
            if kind == CHUNK_DATA:
                if not self._data(chunks, row):
                    return row
            elif kind == CHUNK_GAP:
                if not self._gap(chunks, row):
                    return row
                if chunks[CHUNK_DETAIL, row] == GAP_CUT:
                    self.talk[chunks[CHUNK_SLOT, row], TALK_CUT + chunks[CHUNK_SIDE, row]] += chunks[CHUNK_LENGTH, row]
            elif kind == CHUNK_OPEN:
                self._open(chunks, row)
            elif kind == CHUNK_END:
                self._end(chunks, row)
            elif not self._close(chunks, row):
                return row
            self.resume = 0
            row += 1
        if self.settling >= 0:
            self._settle()
        return row

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _open(self, chunks: i64[:, ::1], row: i64) -> cython.int:
        slot: i64 = chunks[CHUNK_SLOT, row]
        column: i64
        s: i64
        for column in range(C_COLUMNS):
            self.talk[slot, column] = 0
        self.talk[slot, TALK_PART] = chunks[CHUNK_DETAIL, row]
        self.talk[slot, TALK_CLIENT_SIDE] = UNKNOWN
        self.talk[slot, TALK_FLOW] = chunks[CHUNK_SEQ, row]
        self.talk[slot, TALK_CONNECTION] = identity(chunks[CHUNK_SEQ, row], chunks[CHUNK_TIME, row], 0)
        self.talk[slot, C_FIRST] = -1
        self.talk[slot, C_LAST] = -1
        self.talk[slot, C_END_TIME] = UNKNOWN
        self.talk[slot, C_FROM_SYN] = chunks[CHUNK_OFFSET, row]
        for s in range(2 * slot, 2 * slot + 2):
            for column in range(S_COLUMNS):
                self.side[s, column] = 0
            self._no_frame(s)
            self.side[s, S_REASON] = SKIP_UNSYNCED
            self.side[s, S_CORRELATION] = UNKNOWN
            self.side[s, S_TRIAL_FIRST] = -1
            self.side[s, S_TRIAL_LAST] = -1
        if self.broker_ports:
            self._force(slot, chunks[CHUNK_LENGTH, row] >> 16, chunks[CHUNK_LENGTH, row] & 0xFFFF)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _force(self, slot: i64, port0: i64, port1: i64) -> cython.int:
        """--ports: the side with a named port is the broker; a connection without one is left alone."""
        if port1 in self.broker_ports:
            self.talk[slot, TALK_CLIENT_SIDE] = 0
        elif port0 in self.broker_ports:
            self.talk[slot, TALK_CLIENT_SIDE] = 1
        else:
            self._stranger(slot, PROTOCOL_UNKNOWN)
            return 0
        self.talk[slot, C_FORCED] = 1
        self.talk[slot, TALK_PROTOCOL] = PROTOCOL_KAFKA
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _no_frame(self, s: i64) -> cython.int:
        self.side[s, S_TOTAL] = -1
        self.side[s, S_PREFIX] = 0
        self.side[s, S_PASSED] = 0
        self.side[s, S_HELD] = 0
        self.side[s, S_FRAMED] = 0
        self.side[s, S_PAGE_FIRST] = -1
        self.side[s, S_PAGE_LAST] = -1
        return 0

    # ---- data ----

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _data(self, chunks: i64[:, ::1], row: i64) -> cython.bint:
        """One DATA chunk; false: the output is full, call again for the rest (`self.resume` bytes are done)."""
        slot: i64 = chunks[CHUNK_SLOT, row]
        s: i64 = 2 * slot + chunks[CHUNK_SIDE, row]
        length: i64 = chunks[CHUNK_LENGTH, row]
        mode: i64
        while self.resume < length:
            if self.settling >= 0 and not self._settle():
                return False
            mode = self.side[s, S_MODE]
            if mode == M_FRAMES:
                if self.resume == 0 and self.side[s, S_GUESSED] and self._outdone(chunks, row, slot, s):
                    self._drop_partial(slot, s, self.side[s, S_REASON])
                    self.side[s, S_MODE] = M_SEARCH
                elif not self._frame_bytes(chunks, row, slot, s):
                    return False
            elif mode == M_SEARCH:
                if not self._search(chunks, row, slot, s):
                    return False
            elif mode == M_TRIAL:
                if not self._trial_bytes(chunks, row, slot, s):
                    return False
            else:
                self._skip(slot, s, SKIP_NOT_KAFKA, length - self.resume)
                self.resume = length
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _skip(self, slot: i64, s: i64, reason: i64, count: i64) -> cython.int:
        self.talk[slot, TALK_STREAM + (s & 1)] += count
        self.talk[slot, TALK_SKIPPED + 2 * reason + (s & 1)] += count
        return 0

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _byte(self, buffer: i64, at: i64) -> i64:
        """A byte of the block (0), of the stream stage's heap (1) or of our own (OWN_HEAP)."""
        if buffer == 0:
            return self.stream_block[at]
        if buffer == 1:
            return self.stream_heap[at]
        return self.heap[at]

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    @cython.boundscheck(False)
    def _int32(self, buffer: i64, at: i64) -> i64:
        value: i64
        if buffer == 0:
            if at < 0 or at + 4 > len(self.stream_block):
                raise IndexError("a chunk points outside its block")
            value = self.stream_block[at]
            value = (value << 8) | self.stream_block[at + 1]
            value = (value << 8) | self.stream_block[at + 2]
            value = (value << 8) | self.stream_block[at + 3]
        else:
            value = self._byte(buffer, at)
            value = (value << 8) | self._byte(buffer, at + 1)
            value = (value << 8) | self._byte(buffer, at + 2)
            value = (value << 8) | self._byte(buffer, at + 3)
        return value - TWO_32 if value >= TWO_31 else value

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _int16(self, buffer: i64, at: i64) -> i64:
        value: i64 = self._byte(buffer, at)
        value = (value << 8) | self._byte(buffer, at + 1)
        return value - 65536 if value > 32767 else value

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _frame_bytes(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """Takes bytes of the current frame, or whole frames, from the chunk; false: come again after a drain."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        base: i64 = chunks[CHUNK_OFFSET, row]
        length: i64 = chunks[CHUNK_LENGTH, row]
        at: i64
        total: i64
        if self.side[s, S_PASSED] == 0:
            at = self.resume
            self._begin(chunks, row, s, at)
            if length - at >= 4:
                total = 4 + self._int32(buffer, base + at)
                if not self._length_fits(slot, s, total):
                    self._out_of_step(chunks, row, slot, s)
                    return True
                if length - at >= 12 and not self._header_fits(slot, s, buffer, base + at, base + length, total):
                    self._out_of_step(chunks, row, slot, s)
                    return True
                if total <= length - at and buffer == 0 and total <= self.max_frame:
                    if self.out_used + 2 > self.out_size:
                        self.why = WHY_OUTPUT_FULL
                        return False
                    self.side[s, S_TOTAL] = total
                    self.resume += total
                    self._finished(slot, s, 0, base + at, total, total, chunks[CHUNK_TIME, row])
                    return True
        return self._collect(chunks, row, slot, s)

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _begin(self, chunks: i64[:, ::1], row: i64, s: i64, at: i64) -> cython.int:
        self.side[s, S_TIME] = chunks[CHUNK_TIME, row]
        self.side[s, S_LAST_TIME] = chunks[CHUNK_TIME, row]
        self.side[s, S_NUMBER] = chunks[CHUNK_NUMBER, row]
        self.side[s, S_SEQ] = (chunks[CHUNK_SEQ, row] + at) & LOW_32
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _arrived(self, chunks: i64[:, ::1], row: i64, s: i64) -> cython.int:
        if self.side[s, S_LAST_TIME] < chunks[CHUNK_TIME, row]:
            self.side[s, S_LAST_TIME] = chunks[CHUNK_TIME, row]
        return 0

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _end_time(self, s: i64, final: i64) -> i64:
        """When the whole frame was there; `final` is the time of its final byte.

        A packet that came later may have filled a hole, and then it is that packet's time. Below a millisecond it is the
        clocks of two processors that disagree.
        """
        return self.side[s, S_LAST_TIME] if self.side[s, S_LAST_TIME] - final >= CLOCK_NS else final

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _collect(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """A frame over several chunks: its bytes go to pages; complete, it goes to the heap."""
        left: i64 = chunks[CHUNK_LENGTH, row] - self.resume
        need: i64
        while left > 0:
            need = (4 if self.side[s, S_TOTAL] < 0 else self.side[s, S_TOTAL]) - self.side[s, S_PASSED]
            if need <= left and not self._room(s, need):
                return False
            if need > left:
                need = left
            if need > 0 and not self._keep(chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row] + self.resume, need, s):
                self.why = WHY_ARENA_FULL
                return False
            if self.side[s, S_TOTAL] < 0:
                self._take_prefix(chunks, row, s, need)
            self.side[s, S_PASSED] += need
            self.side[s, S_FRAMED] += need
            self._arrived(chunks, row, s)
            self.resume += need
            left -= need
            if self.side[s, S_PASSED] == 4 and not self._length_fits(slot, s, self.side[s, S_TOTAL]):
                self._out_of_step(chunks, row, slot, s)
                return True
            if self.side[s, S_PASSED] == self.side[s, S_TOTAL]:
                if self.side[s, S_GUESSED] and self._refuted(chunks, row, slot, s):
                    return True
                self._deliver(slot, s, self._end_time(s, chunks[CHUNK_TIME, row]))
                return True
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _room(self, s: i64, more: i64) -> cython.bint:
        """May a frame be finished by `more` bytes now? Asked before they are taken: nothing is taken back."""
        if self.out_used + 2 > self.out_size:
            self.why = WHY_OUTPUT_FULL
            return False
        more += self.side[s, S_HELD]
        if self.heap_used + more > self.heap_size:
            self.heap_needed = more
            self.why = WHY_HEAP_FULL
            return False
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _take_prefix(self, chunks: i64[:, ::1], row: i64, s: i64, count: i64) -> cython.int:
        """Reads bytes of the length field, which are wanted even when the arena has no room for them."""
        at: i64 = chunks[CHUNK_OFFSET, row] + self.resume
        i: i64
        for i in range(at, at + count):
            self.side[s, S_PREFIX] = (self.side[s, S_PREFIX] << 8) | self._byte(chunks[CHUNK_BUFFER, row], i)
        if self.side[s, S_PASSED] + count == 4:
            i = self.side[s, S_PREFIX]
            self.side[s, S_TOTAL] = 4 + (i - TWO_32 if i >= TWO_31 else i)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _keep(self, buffer: i64, offset: i64, count: i64, s: i64) -> cython.bint:
        """Appends bytes to the frame's pages unless a hole or `max_frame` came first; false: the arena must grow."""
        held: i64 = self.side[s, S_HELD]
        room: i64
        page: i64
        part: i64
        if held != self.side[s, S_PASSED]:
            return True
        if held + count > self.max_frame:
            count = self.max_frame - held
        room = self.free_pages * PAGE + (-held & 4095)
        if room < count:
            if self.page_count * PAGE + PAGE <= self.arena_bytes:
                return False
            self._note(PROBLEM_FRAME_CUT_BY_LIMIT, s, self.side[s, S_TOTAL], held)
            count = room
        while count > 0:
            if (held & 4095) == 0:
                page = self.free_page
                self.free_page = self.next_page[page]
                self.free_pages -= 1
                self.next_page[page] = -1
                if self.side[s, S_PAGE_LAST] < 0:
                    self.side[s, S_PAGE_FIRST] = page
                else:
                    self.next_page[self.side[s, S_PAGE_LAST]] = page
                self.side[s, S_PAGE_LAST] = page
            page = self.side[s, S_PAGE_LAST] * PAGE + (held & 4095)
            part = PAGE - (held & 4095)
            if part > count:
                part = count
            if buffer == 0:
                self.pages[page : page + part] = self.stream_block[offset : offset + part]
            elif buffer == 1:
                self.pages[page : page + part] = self.stream_heap[offset : offset + part]
            else:
                self.pages[page : page + part] = self.heap[offset : offset + part]
            held += part
            offset += part
            count -= part
        self.side[s, S_HELD] = held
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _free_chain(self, page: i64) -> cython.int:
        following: i64
        while page >= 0:
            following = self.next_page[page]
            self.next_page[page] = self.free_page
            self.free_page = page
            self.free_pages += 1
            page = following
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _free_pages_of(self, s: i64) -> cython.int:
        self._free_chain(self.side[s, S_PAGE_FIRST])
        self.side[s, S_PAGE_FIRST] = -1
        self.side[s, S_PAGE_LAST] = -1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _deliver(self, slot: i64, s: i64, last_time: i64) -> cython.int:
        """Copies a collected frame to the heap and hands it on (`_room` has been asked)."""
        held: i64 = self.side[s, S_HELD]
        at: i64 = self.heap_used
        page: i64 = self.side[s, S_PAGE_FIRST]
        left: i64 = held
        part: i64
        while left > 0:
            part = left if left < PAGE else PAGE
            self.heap[at : at + part] = self.pages[page * PAGE : page * PAGE + part]
            at += part
            left -= part
            page = self.next_page[page]
        self.heap_used = at
        self._free_pages_of(s)
        if held == self.max_frame and held < self.side[s, S_TOTAL]:
            self._note(PROBLEM_FRAME_OVER_LIMIT, s, self.side[s, S_TOTAL] - held, held)
        self._finished(slot, s, OWN_HEAP, at - held, held, self.side[s, S_FRAMED], last_time)
        return 0

    # ---- judging lengths and headers ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_request_side(self, slot: i64, s: i64) -> cython.bint:
        return self.talk[slot, TALK_CLIENT_SIDE] == (s & 1)

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _token_answer_due(self, slot: i64) -> cython.bint:
        first: i64 = self.talk[slot, C_FIRST]
        return first >= 0 and self.wait[first, W_KEY] == TOKEN_WAITS

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_token_answer(self, slot: i64, s: i64, buffer: i64, at: i64, held: i64) -> cython.bint:
        """Answers to tokens have no header. After a loss it may have been the answer that is gone."""
        if not self._token_answer_due(slot):
            return False
        return self.side[s, S_LOSSES] == self.wait[self.talk[slot, C_FIRST], W_LOSSES] or not self._reply_at(
            slot, buffer, at, at + held
        )

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _length_fits(self, slot: i64, s: i64, total: i64) -> cython.bint:
        """Can a frame here be `total` bytes long (length field included)?"""
        if total > LONGEST_FRAME:
            return False
        if self._is_request_side(slot, s):
            if self.talk[slot, C_TOKENS]:
                return 4 <= total <= LONGEST_TOKEN
            return total >= 12
        if self._token_answer_due(slot):
            return 4 <= total <= LONGEST_TOKEN
        return total >= 8

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _header_fits(self, slot: i64, s: i64, buffer: i64, at: i64, end: i64, total: i64) -> cython.bint:
        """A sure boundary may carry any key; one that was found by searching must go on making sense."""
        if self.talk[slot, C_TOKENS] or (self.side[s, S_LOSSES] == 0 and self.talk[slot, C_FROM_SYN]):
            return True
        if self._is_request_side(slot, s):
            return end - at < 14 or self._request_at(buffer, at, end, True)
        # An orphan is believed when its id is near others, it ends where the segment ends, or a known reply follows it.
        return (
            self._token_answer_due(slot)
            or self._reply_at(slot, buffer, at, end)
            or (self._orphan_header(buffer, at, end) and self._is_near(slot, self._int32(buffer, at + 4)))
            or at + total == end
            or (at + total < end and self._reply_at(slot, buffer, at + total, end))
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_near(self, slot: i64, correlation: i64) -> cython.bint:
        """Is this id near one that the connection has used?"""
        s: i64
        last: i64
        for s in range(2 * slot, 2 * slot + 2):
            last = self.side[s, S_CORRELATION]
            if last != UNKNOWN and (-LONGEST_STEP <= correlation - last <= LONGEST_STEP or last >= RESERVED):
                return True
        return correlation >= RESERVED

    @cython.cfunc
    @cython.exceptval(-1)
    def _request_at(self, buffer: i64, at: i64, end: i64, guess: cython.bint) -> cython.bint:
        """Do the bytes from `at` look like the start of a request? Wants 14 bytes.

        Where a connection begins, any version of a known key will do; a `guess` in mid-stream is judged harder.
        """
        total: i64
        key: i64
        version: i64
        client: i64
        i: i64
        if end - at < 14:
            return False
        total = 4 + self._int32(buffer, at)
        if total < 12 or total > LONGEST_SYNC_FRAME:
            return False
        key = self._int16(buffer, at + 4)
        if key < 0 or key >= len(self.newest) or self.newest[key] < 0:
            return False
        version = self._int16(buffer, at + 6)
        if version < 0 or version > (self.newest[key] + 3 if guess else 1023):
            return False
        if guess and self._int32(buffer, at + 8) < -1:
            return False
        if key == 7 and version == 0:  # ControlledShutdown v0: the one header without a client id, then a broker's id
            return total == 16
        client = self._int16(buffer, at + 12)
        if client < -1 or client > 1024 or 14 + client > total:
            return False
        for i in range(client):
            if at + 14 + i >= end:
                break
            if self._byte(buffer, at + 14 + i) < 32:
                return False
        i = at + 14 + (client if client > 0 else 0)
        # Nobody puts tagged fields into request headers yet: a flexible header ends in a zero byte.
        return not guess or version < self.flexible[key] or i >= end or self._byte(buffer, i) == 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _reply_at(self, slot: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
        """Do the bytes from `at` look like the reply to an outstanding request?"""
        total: i64
        if end - at < 8:
            return False
        total = 4 + self._int32(buffer, at)
        return 8 <= total <= LONGEST_SYNC_FRAME and self._is_waited_for(slot, self._int32(buffer, at + 4))

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_waited_for(self, slot: i64, correlation: i64) -> cython.bint:
        """Is a request with this id outstanding?"""
        place: i64 = self.talk[slot, C_FIRST]
        while place >= 0:
            if self.wait[place, W_KEY] != TOKEN_WAITS and self.wait[place, W_CORRELATION] == correlation:
                return True
            place = self.wait[place, W_NEXT]
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _request_guess(self, buffer: i64, at: i64, end: i64, first: cython.bint) -> cython.bint:
        """May a request begin at `at`? Inside a chunk (not `first`) zeros abound: the client id must speak for it."""
        total: i64
        if not self._request_at(buffer, at, end, True):
            return False
        total = self._int16(buffer, at + 12)
        if not first and (total == 0 or at + 14 + total > end):
            return False
        if self._int16(buffer, at + 4) == 0 and not self._produce_guess(buffer, at, end):
            return False
        total = 4 + self._int32(buffer, at)
        return at + total + 14 > end or self._request_at(buffer, at + total, end, True)

    @cython.cfunc
    @cython.exceptval(-1)
    def _produce_guess(self, buffer: i64, at: i64, end: i64) -> cython.bint:
        """Much reads as Produce: replies with a small correlation id, ZooKeeper. What follows the header must make sense."""
        version: i64 = self._int16(buffer, at + 6)
        place: i64 = self._acks_place(version, buffer, at, end)
        if place < 0 or place + 6 > end or not -1 <= self._int16(buffer, place) <= 1:
            return False
        return 0 < self._int32(buffer, place + 2) <= LONGEST_TIMEOUT_MS and self._has_topics(
            version, buffer, place + 6, end
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _has_topics(self, version: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
        """Can the topics of a Produce request begin at `at`? Nobody sends one without; true when the bytes end first."""
        if version >= 9:
            return at >= end or self._byte(buffer, at) > 1
        if at + 4 > end:
            return True
        if not 0 < self._int32(buffer, at) <= MOST_TOPICS:
            return False
        return at + 6 > end or 0 < self._int16(buffer, at + 4) <= 255

    @cython.cfunc
    @cython.exceptval(-1)
    def _boundary_at(self, slot: i64, s: i64, buffer: i64, at: i64, end: i64, first: cython.bint) -> cython.bint:
        """Is `at` a plausible start of a frame, and is what follows that frame (as far as it is here) plausible too?"""
        total: i64
        if self.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN and self.talk[slot, C_FROM_SYN] and (s & 1) == 1:
            # Who sent the SYN is the client, though its first request is missing.
            self.talk[slot, TALK_CLIENT_SIDE] = 0
        if self.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN or self._is_request_side(slot, s):
            return self._request_guess(buffer, at, end, first)
        if self._reply_at(slot, buffer, at, end):
            total = 4 + self._int32(buffer, at)
            return at + total + 8 > end or self._reply_at(slot, buffer, at + total, end)
        if first and not self._client_is_sure(slot) and self._request_guess(buffer, at, end, True):
            # What was taken for the client's direction has proved nothing yet, and here a request begins.
            self._unsettle(slot, 2 * slot + 1 - (s & 1))
            return True
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _client_is_sure(self, slot: i64) -> cython.bint:
        return (
            self.talk[slot, TALK_REPLIES] > 0
            or self.talk[slot, TALK_CHAINED] > 0
            or self.talk[slot, C_FROM_SYN] != 0
            or self.talk[slot, C_FORCED] != 0
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _unsettle(self, slot: i64, s: i64) -> cython.int:
        """Takes back the guess that side `s` is the client's, and the requests that were read from it.

        None of them has had a reply (that would have proved the guess): they still wait, and nothing of them has left. Only
        what asked for no reply is a row already, and stays.
        """
        self._drop_partial(slot, s, SKIP_UNSYNCED)
        self._drop_trial(slot, s)
        self.side[s, S_MODE] = M_SEARCH
        while self.talk[slot, C_FIRST] >= 0:
            self._forget_first(slot)
            self.talk[slot, TALK_REQUESTS] -= 1
        if self.talk[slot, TALK_REQUESTS] <= 0:
            self.talk[slot, TALK_REQUESTS] = 0
            self.talk[slot, TALK_SKIPPED + 2 * SKIP_UNSYNCED + (s & 1)] += self.talk[slot, TALK_FRAMED + (s & 1)]
            self.talk[slot, TALK_FRAMED + (s & 1)] = 0
        self.talk[slot, TALK_CLIENT_SIDE] = UNKNOWN
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _search(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """Looks for a frame boundary in the rest of the chunk; what lies before it is skipped and counted."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        base: i64 = chunks[CHUNK_OFFSET, row]
        length: i64 = chunks[CHUNK_LENGTH, row]
        at: i64 = self.resume
        start: i64 = at
        if self.talk[slot, TALK_STREAM + (s & 1)] == 0 and at == 0 and self._first_bytes(chunks, row, slot, s):
            return True
        if at == 0 and self.side[s, S_TAIL] and not self._search_tail(chunks, row, slot, s):
            return False
        if self.side[s, S_MODE] != M_SEARCH:
            return True
        while at < length:
            if self._boundary_at(slot, s, buffer, base + at, base + length, at == 0):
                self.side[s, S_SEARCHED] += at - start
                self._synced(slot, s)
                self.side[s, S_GUESSED] = 1 if at == 0 else 2
                break
            if at == 0 and self._may_try(slot, s, buffer, base, base + length):
                self._try(slot, s, self._int32(buffer, base + 4))
                break
            at += 1
        self._skip(slot, s, self.side[s, S_REASON], at - start)
        self.resume = at
        if at == length:
            self._keep_tail(chunks, row, s, start)
        self.side[s, S_SEARCHED] += at - start
        if at == length and self.side[s, S_SEARCHED] > SEARCH_LIMIT and self.talk[slot, TALK_REQUESTS] == 0:
            self._stranger(slot, PROTOCOL_OTHER)
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _keep_tail(self, chunks: i64[:, ::1], row: i64, s: i64, start: i64) -> cython.int:
        """Remembers the end of a chunk that was searched in vain from `start` on: a header may begin in it."""
        end: i64 = chunks[CHUNK_LENGTH, row]
        count: i64 = end - start if end - start < TAIL else TAIL
        i: i64
        high: i64 = 0
        low: i64 = 0
        for i in range(end - count, end):
            high = ((high << 8) | (low >> 48)) & LOW_63
            low = ((low << 8) | self._byte(chunks[CHUNK_BUFFER, row], chunks[CHUNK_OFFSET, row] + i)) & LOW_56
        self.side[s, S_TAIL] = count
        self.side[s, S_TAIL_HIGH] = high
        self.side[s, S_TAIL_LOW] = low
        self.side[s, S_TAIL_TIME] = chunks[CHUNK_TIME, row]
        self.side[s, S_TAIL_NUMBER] = chunks[CHUNK_NUMBER, row]
        self.side[s, S_TAIL_END] = (chunks[CHUNK_SEQ, row] + end) & LOW_32
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _search_tail(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """Looks for a header that begins in the last bytes of the chunk before and goes on in this one."""
        count: i64 = self.side[s, S_TAIL]
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        base: i64 = chunks[CHUNK_OFFSET, row]
        length: i64 = chunks[CHUNK_LENGTH, row]
        reach: i64 = length if length < TAIL_REACH else TAIL_REACH
        at: i64 = self.heap_used
        i: i64
        found: i64 = -1
        if self.side[s, S_TAIL_END] != chunks[CHUNK_SEQ, row]:
            self.side[s, S_TAIL] = 0
            return True
        if at + count + reach > self.heap_size:
            self.heap_needed = count + reach
            self.why = WHY_HEAP_FULL
            return False
        for i in range(count):
            self.heap[at + i] = self._tail_byte(s, count - 1 - i)
        for i in range(reach):
            self.heap[at + count + i] = self._byte(buffer, base + i)
        for i in range(count):
            if self._boundary_at(slot, s, OWN_HEAP, at + i, at + count + reach, False):
                if 4 + self._int32(OWN_HEAP, at + i) <= count - i:
                    continue  # a reply of a few bytes that came byte by byte: all of it has been skipped
                if i + 4 + self._int32(OWN_HEAP, at + i) + 14 <= count + reach:
                    return self._from_tail(slot, s, at + i, count - i)  # the frame after it speaks for it
                if found < 0:
                    found = i
        if found >= 0 and not self._boundary_at(slot, s, buffer, base, base + length, True):
            return self._from_tail(slot, s, at + found, count - found)
        self.side[s, S_TAIL] = 0
        return True

    @cython.cfunc
    def _tail_byte(self, s: i64, back: i64) -> cython.uchar:
        """The byte of the tail that has `back` others behind it."""
        value: i64 = self.side[s, S_TAIL_LOW] if back < 7 else self.side[s, S_TAIL_HIGH]
        return cython.cast(cython.uchar, (value >> (8 * (back % 7))) & 255)

    @cython.cfunc
    @cython.exceptval(-1)
    def _from_tail(self, slot: i64, s: i64, at: i64, count: i64) -> cython.bint:
        """A frame begins with the last `count` bytes of the tail, at `at` of our heap: they are skipped no longer."""
        i: i64
        self._synced(slot, s)
        if not self._keep(OWN_HEAP, at, count, s):
            self.side[s, S_MODE] = M_SEARCH
            self.why = WHY_ARENA_FULL
            return False
        self._skip(slot, s, self.side[s, S_REASON], -count)
        self.side[s, S_GUESSED] = 2
        self.side[s, S_PASSED] = count
        self.side[s, S_FRAMED] = count
        self.side[s, S_TIME] = self.side[s, S_TAIL_TIME]
        self.side[s, S_LAST_TIME] = self.side[s, S_TAIL_TIME]
        self.side[s, S_NUMBER] = self.side[s, S_TAIL_NUMBER]
        self.side[s, S_SEQ] = (self.side[s, S_TAIL_END] - count) & LOW_32
        for i in range(count if count < 4 else 4):
            self.side[s, S_PREFIX] = (self.side[s, S_PREFIX] << 8) | self.heap[at + i]
        if count >= 4:
            self.side[s, S_TOTAL] = 4 + self.side[s, S_PREFIX]  # `_boundary_at` has seen that it is modest
        self.side[s, S_TAIL] = 0
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _refuted(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """A guessed frame is complete: is what follows it in the chunk no frame? Then the guess was wrong."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        at: i64 = chunks[CHUNK_OFFSET, row] + self.resume
        end: i64 = chunks[CHUNK_OFFSET, row] + chunks[CHUNK_LENGTH, row]
        if self._is_request_side(slot, s):
            if end - at < 14 or self._request_at(buffer, at, end, True):
                return False
        elif (
            end - at < 8
            or self._reply_at(slot, buffer, at, end)
            or (self._orphan_header(buffer, at, end) and self._is_near(slot, self._int32(buffer, at + 4)))
        ):
            return False
        self._drop_partial(slot, s, self.side[s, S_REASON])
        self.side[s, S_MODE] = M_SEARCH
        if self._is_request_side(slot, s) and not self._client_is_sure(slot):
            self._unsettle(slot, s)
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _outdone(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """Inside a reply that was guessed a chunk begins with one that is more likely: then the guess was wrong.

        Bodies are full of small numbers, so a guess inside a chunk may name any length, and would hide all that follows.
        """
        at: i64 = chunks[CHUNK_OFFSET, row]
        end: i64 = at + chunks[CHUNK_LENGTH, row]
        if self.side[s, S_PASSED] == 0 or self._is_request_side(slot, s):
            return False
        if not self._reply_at(slot, chunks[CHUNK_BUFFER, row], at, end):
            return False
        return self.side[s, S_GUESSED] == 2 or at + 4 + self._int32(chunks[CHUNK_BUFFER, row], at) == end

    @cython.cfunc
    @cython.exceptval(-1)
    def _synced(self, slot: i64, s: i64) -> cython.int:
        if self.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN:
            self.talk[slot, TALK_CLIENT_SIDE] = s & 1
        self.side[s, S_MODE] = M_FRAMES
        self.side[s, S_LOSSES] += self.side[s, S_SEARCHED] > 0  # whole frames may have gone by
        self.side[s, S_SEARCHED] = 0
        self.side[s, S_GUESSED] = 0
        self._no_frame(s)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _first_bytes(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """The first bytes of a direction: true when they settled its mode (bytes themselves are not taken here)."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        base: i64 = chunks[CHUNK_OFFSET, row]
        end: i64 = base + chunks[CHUNK_LENGTH, row]
        forced: cython.bint = self.talk[slot, C_FORCED] != 0 and self.talk[slot, C_FROM_SYN] != 0
        if not forced and self._is_tls(buffer, base, end):
            self._stranger(slot, PROTOCOL_TLS)
            return True
        if not self.talk[slot, C_FROM_SYN] or self.side[s, S_LOSSES]:
            return False
        if self.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN and (s & 1) == 0:
            # Fewer bytes than a header needs: believe the length for now, the whole header is judged when it is there.
            if self._is_gssapi(buffer, base, end):
                self.talk[slot, C_TOKENS] = TOKENS_NEXT
                self._synced(slot, s)
            elif self._is_zookeeper(buffer, base, end) or not (
                self._request_at(buffer, base, end, False)
                or self._one_frame(buffer, base, end)
                or (end - base < 14 and self._may_be_request(buffer, base, end))
            ):
                self._stranger(slot, PROTOCOL_OTHER)
            else:
                self._synced(slot, s)
            return True
        if self.talk[slot, TALK_CLIENT_SIDE] != UNKNOWN:
            self._synced(slot, s)
            return True
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_tls(self, buffer: i64, at: i64, end: i64) -> cython.bint:
        """A TLS record header (RFC 8446): handshake, alert or data, version 3.x. As a frame it would be 350 MB long."""
        kind: i64
        if end - at < 3:
            return False
        kind = self._byte(buffer, at)
        return 20 <= kind <= 23 and self._byte(buffer, at + 1) == 3 and self._byte(buffer, at + 2) <= 4

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_gssapi(self, buffer: i64, at: i64, end: i64) -> cython.bint:
        """A size and an initial context token of GSS-API (RFC 2743, 3.1): tag 0x60, DER length, then an object id."""
        size: i64
        more: i64
        i: i64
        if end - at < 9 or self._byte(buffer, at + 4) != 96:
            return False
        size = self._byte(buffer, at + 5)
        more = 0
        if size >= 128:
            more = size - 128
            size = 0
            if more < 1 or more > 3:
                return False
            for i in range(more):
                size = (size << 8) | self._byte(buffer, at + 6 + i)
            if at + 6 + more >= end:
                return False
        return self._int32(buffer, at) == 2 + more + size and self._byte(buffer, at + 6 + more) == 6

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_zookeeper(self, buffer: i64, at: i64, end: i64) -> cython.bint:
        """ZooKeeper's first request: protocol version 0, last transaction, timeout, session and a password of 16 bytes. Its
        frames are cut like Kafka's, and its ids 1, 2, 3 read as Produce of that version."""
        if end - at < 32 or self._int32(buffer, at + 4) != 0 or self._int32(buffer, at + 28) != 16:
            return False
        return 44 <= self._int32(buffer, at) <= 45

    @cython.cfunc
    @cython.exceptval(-1)
    def _one_frame(self, buffer: i64, at: i64, end: i64) -> cython.bint:
        """A chunk that is one frame of modest key and version: a vendor's request, or a broken one. What it is worth is
        judged when all connections are known: it counts if others prove that the peer is a broker."""
        if end - at < 12 or at + 4 + self._int32(buffer, at) != end:
            return False
        return 0 <= self._int16(buffer, at + 4) < 1024 and 0 <= self._int16(buffer, at + 6) < 1024

    @cython.cfunc
    @cython.exceptval(-1)
    def _may_be_request(self, buffer: i64, at: i64, end: i64) -> cython.bint:
        total: i64
        if end - at < 4:
            return self._byte(buffer, at) < 8
        total = 4 + self._int32(buffer, at)
        if total < 14 or total > LONGEST_SYNC_FRAME:
            return False
        if end - at < 6:
            return True
        total = self._int16(buffer, at + 4)
        return 0 <= total < len(self.newest) and self.newest[total] >= 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _stranger(self, slot: i64, protocol: i64) -> cython.int:
        """Not Kafka as far as bytes tell: nothing of this connection is read any more."""
        self.talk[slot, TALK_PROTOCOL] = protocol
        self.side[2 * slot, S_MODE] = M_DEAD
        self.side[2 * slot + 1, S_MODE] = M_DEAD
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _out_of_step(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.int:
        """What should be a frame cannot be one: drop what was collected and search from the next byte on."""
        collected: i64 = self.side[s, S_FRAMED]
        self._note_at(PROBLEM_IMPOSSIBLE_LENGTH, chunks, row, slot, s, collected)
        self._skip(slot, s, SKIP_BAD, collected)
        self._free_pages_of(s)
        self._no_frame(s)
        if self.talk[slot, TALK_REQUESTS] == 0 and self.talk[slot, C_FROM_SYN] and not self.talk[slot, C_FORCED]:
            self._stranger(slot, PROTOCOL_OTHER)
            return 0
        if self._is_request_side(slot, s) and not self._client_is_sure(slot):
            self._unsettle(slot, s)
        self.side[s, S_MODE] = M_SEARCH
        self.side[s, S_REASON] = SKIP_BAD
        self.side[s, S_LOSSES] += 1
        if self.resume < chunks[CHUNK_LENGTH, row] and collected == 0:
            self._skip(slot, s, SKIP_BAD, 1)
            self.resume += 1
        return 0

    # ---- replies whose requests are not there ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _orphan_header(self, buffer: i64, at: i64, end: i64) -> cython.bint:
        """Can a reply begin at `at`, whatever it answers? Wants 8 bytes: some brokers send length and id alone.

        Bodies begin with an error code, a time, a count or an empty tag section: with a zero byte, or -1.
        """
        total: i64
        first: i64
        if end - at < 8:
            return False
        total = 4 + self._int32(buffer, at)
        if total < 10 or total > LONGEST_SYNC_FRAME or self._int32(buffer, at + 4) < -1:
            return False
        first = self._byte(buffer, at + 8) if end - at > 8 else 0
        return first == 0 or first == 255

    @cython.cfunc
    @cython.exceptval(-1)
    def _zookeeper_like(self, s: i64) -> cython.bint:
        """Its messages have a length and a growing id too: replies then a transaction id (an epoch and a counter, or -1) and
        an error code (0 to -127), requests a small type and a path. What is too short for that, or has other numbers there,
        speaks for Kafka."""
        epoch: i64 = self._word(s, 2)
        counter: i64 = self._word(s, 3)
        if self.side[s, S_TOTAL] < 20:
            return False
        if self.side[s, S_HELD] < 20:
            return True
        if not 0 <= epoch < 65536 or (epoch == 0 and counter == 0):
            return epoch == -1 and counter == -1
        if 0 < epoch < 128 and 0 < counter < 1024 and self._word(s, 4) >> 24 == 47:
            return True
        return -127 <= self._word(s, 4) <= 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_offer(self, s: i64) -> cython.bint:
        """The reply to ApiVersions, which opens most connections: no error, as many keys as its length says, and the first
        are Produce or Fetch with few versions. No other protocol has that."""
        total: i64 = self.side[s, S_TOTAL]
        keys: i64 = self._word(s, 2) & 65535
        versions: i64 = self._word(s, 4) & LOW_32
        if self.side[s, S_HELD] < 20 or self._word(s, 2) >> 16 != 0:
            return False
        keys = (keys << 16) | ((self._word(s, 3) >> 16) & 65535)
        if keys * 6 + 14 == total or keys * 6 + 18 == total:  # v0, and with a throttle time v1 and v2
            return keys > 0 and 0 <= (self._word(s, 3) & 65535) <= 1 and (versions >> 16) <= (versions & 65535) < 32
        keys = (self._word(s, 2) >> 8) & 255  # v3: one more than there are, a byte each, and tags
        if keys < 2 or keys > 127 or keys * 7 + 9 > total or self._word(s, 2) & 255:
            return False
        # Key, oldest and newest version, no tags, and the next key: seven bytes, and two.
        return (
            (self._word(s, 3) >> 24) & 255 <= 1
            and (self._word(s, 3) >> 8) & 65535 < 32
            and self._word(s, 3) & 255 == 0
            and (versions >> 24) < 32
            and (versions >> 16) & 255 == 0
            and 0 < versions & 65535 < 128
        )

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _word(self, s: i64, number: i64) -> i64:
        value: i64 = self.side[s, S_WORDS + number]
        return value - TWO_32 if value >= TWO_31 else value

    @cython.cfunc
    @cython.exceptval(-1)
    def _may_try(self, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
        """May a reply without request begin at the start of this chunk?"""
        if self._is_request_side(slot, s) or self._token_answer_due(slot) or not self._orphan_header(buffer, at, end):
            return False
        return 4 + self._int32(buffer, at) <= LONGEST_FIRST_TRIAL or self._is_near(slot, self._int32(buffer, at + 4))

    @cython.cfunc
    @cython.exceptval(-1)
    def _try(self, slot: i64, s: i64, correlation: i64) -> cython.int:
        """Begins a trial, or goes on with one that a gap interrupted when the id fits."""
        if not self._is_step(s, correlation):
            self._drop_trial(slot, s)
        self._no_frame(s)
        self.side[s, S_MODE] = M_TRIAL
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_step(self, s: i64, correlation: i64) -> cython.bint:
        """Does an id go on from that of the trial's last frame? Java clients take one for ApiVersions and send it before
        others, so one step may go back."""
        step: i64 = self._step(s, correlation)
        return 0 <= step <= LONGEST_STEP or (-LONGEST_STEP <= step < 0 and self.side[s, S_TRIAL_BACK] == 0)

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _step(self, s: i64, correlation: i64) -> i64:
        """How far an id is from that of the trial's last frame: 0 for the first, and into or out of the reserved ones."""
        last: i64 = self.side[s, S_TRIAL_LAST]
        if last < 0:
            return 0
        last = self.trial[last, T_CORRELATION]
        return 0 if (last >= RESERVED) != (correlation >= RESERVED) else correlation - last

    @cython.cfunc
    @cython.exceptval(-1)
    def _trial_bytes(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.bint:
        """Passes over a frame of the trial, or the part of it that is in the chunk; false: the output is full."""
        buffer: i64 = chunks[CHUNK_BUFFER, row]
        base: i64 = chunks[CHUNK_OFFSET, row]
        end: i64 = base + chunks[CHUNK_LENGTH, row]
        at: i64 = base + self.resume
        count: i64
        if self.side[s, S_TRIAL_SURE]:
            return self._win(slot, s)
        if self._is_request_side(slot, s) or (
            self.side[s, S_PASSED] > 0 and self._trial_outdone(slot, s, buffer, at, end)
        ):
            self._lose(slot, s)
            return True
        if self.side[s, S_PASSED] == 0:
            if not self._trial_start(slot, s, buffer, at, end):
                return True
            self._begin(chunks, row, s, self.resume)
            for count in range(TRIAL_WORDS):
                self.side[s, S_WORDS + count] = 0
        self._arrived(chunks, row, s)
        at = self._read_words(s, buffer, at, end, 8)
        if self.side[s, S_PASSED] < 8 or (self.side[s, S_TOTAL] < 0 and not self._trial_header(slot, s)):
            return True
        at = self._read_words(s, buffer, at, end, 20 if self.side[s, S_TOTAL] > 20 else self.side[s, S_TOTAL])
        count = self.side[s, S_TOTAL] - self.side[s, S_PASSED]
        self._pass(s, count if count < end - at else end - at)
        if self.side[s, S_PASSED] == self.side[s, S_TOTAL]:
            self._tried(slot, s, self._end_time(s, chunks[CHUNK_TIME, row]), count == end - at)
        return True

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _read_words(self, s: i64, buffer: i64, at: i64, end: i64, wanted: i64) -> i64:
        """Reads the first `wanted` bytes of the frame under way into its words, as far as they come without a hole."""
        word: i64
        while self.side[s, S_HELD] == self.side[s, S_PASSED] < wanted and at < end:
            word = S_WORDS + (self.side[s, S_HELD] >> 2)
            self.side[s, word] = (self.side[s, word] << 8) | self._byte(buffer, at)
            self.side[s, S_HELD] += 1
            self._pass(s, 1)
            at += 1
        return at

    @cython.cfunc
    @cython.exceptval(-1)
    def _pass(self, s: i64, count: i64) -> cython.int:
        """Bytes of the frame under way that are counted and not kept."""
        self.side[s, S_PASSED] += count
        self.side[s, S_FRAMED] += count
        self.resume += count
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _trial_start(self, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
        """May the next frame of the trial begin at `at`? False: the trial is won, or lost, here."""
        if self.side[s, S_TRIAL_COUNT] and self._reply_at(slot, buffer, at, end):
            self.side[s, S_TRIAL_SURE] = 1
            return False
        if (end - at >= 8 and not self._orphan_header(buffer, at, end)) or (
            self.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN and self._request_guess(buffer, at, end, True)
        ):
            self._lose(slot, s)
            return False
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _trial_header(self, slot: i64, s: i64) -> cython.bint:
        """Length and id of the trial's next frame are there; false: the trial is won, or lost, here."""
        total: i64 = 4 + self._word(s, 0)
        correlation: i64 = self._word(s, 1)
        if not 10 <= total <= LONGEST_SYNC_FRAME or correlation < -1 or not self._is_step(s, correlation):
            self._lose(slot, s)
            return False
        self.side[s, S_TOTAL] = total
        if self.side[s, S_TRIAL_COUNT] and self._is_waited_for(slot, correlation):
            self.side[s, S_TRIAL_SURE] = 1
            return False
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _trial_outdone(self, slot: i64, s: i64, buffer: i64, at: i64, end: i64) -> cython.bint:
        """Inside a frame of the trial a chunk begins with what is more likely a reply."""
        if self.resume > 0 or self.side[s, S_TOTAL] < 0:
            return False
        if self._reply_at(slot, buffer, at, end):
            return True
        return (
            self.side[s, S_TRIAL_COUNT] == 0
            and self._orphan_header(buffer, at, end)
            and at + 4 + self._int32(buffer, at) == end
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _trial_gap(self, chunks: i64[:, ::1], row: i64, slot: i64, s: i64) -> cython.int:
        """Inside a frame a gap costs nothing; over a boundary it interrupts the trial."""
        length: i64 = chunks[CHUNK_LENGTH, row]
        left: i64 = self.side[s, S_TOTAL] - self.side[s, S_PASSED] if self.side[s, S_TOTAL] > 0 else -1
        last_time: i64 = UNKNOWN
        if 0 <= length < left:
            self.side[s, S_PASSED] += length
            return 0
        if chunks[CHUNK_DETAIL, row] == GAP_CUT:
            self._arrived(chunks, row, s)
            last_time = self._end_time(s, chunks[CHUNK_TIME, row])
        if left > 0 and length == left:
            self._tried(slot, s, last_time, False)
            return 0
        self._drop_partial(slot, s, SKIP_LOST)
        self.side[s, S_MODE] = M_SEARCH
        self.side[s, S_REASON] = SKIP_LOST
        self.side[s, S_LOSSES] += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _tried(self, slot: i64, s: i64, last_time: i64, at_end: cython.bint) -> cython.int:
        """A frame of the trial is complete: it is kept, and all of them are judged."""
        place: i64
        step: i64 = self._step(s, self._word(s, 1))
        if self.trials == 0:
            self._make_trials()
        place = self.free_trial
        if place < 0:
            self._lose(slot, s)
            return 0
        self.free_trial = self.trial[place, T_NEXT]
        self.trial[place, T_TIME] = self.side[s, S_TIME]
        self.trial[place, T_LAST_TIME] = last_time
        self.trial[place, T_NUMBER] = self.side[s, S_NUMBER]
        self.trial[place, T_SEQ] = self.side[s, S_SEQ]
        self.trial[place, T_TOTAL] = self.side[s, S_TOTAL]
        self.trial[place, T_FRAMED] = self.side[s, S_FRAMED]
        self.trial[place, T_CORRELATION] = self._word(s, 1)
        self.trial[place, T_NEXT] = -1
        if self.side[s, S_TRIAL_FIRST] < 0:
            self.side[s, S_TRIAL_FIRST] = place
        else:
            self.trial[self.side[s, S_TRIAL_LAST], T_NEXT] = place
        self.side[s, S_TRIAL_STEPS] += step > 0
        if self._is_offer(s):
            self.side[s, S_TRIAL_STEPS] += TRIAL_PROOF - 1
        self.side[s, S_TRIAL_BACK] += step < 0
        self.side[s, S_TRIAL_UNLIKE] += not self._zookeeper_like(s)
        self.side[s, S_TRIAL_LAST] = place
        self.side[s, S_TRIAL_COUNT] += 1
        self.side[s, S_TRIAL_BYTES] += self.side[s, S_FRAMED]
        self._no_frame(s)
        self.side[s, S_TRIAL_SURE] = self._is_proven(slot, s, at_end)
        if self.side[s, S_TRIAL_COUNT] == LONGEST_TRIAL and not self.side[s, S_TRIAL_SURE]:
            if self._is_alone(slot, s):
                self.side[s, S_TRIAL_SURE] = 1  # as far as this connection goes: see `_ends_in_replies`
            else:
                self._lose(slot, s)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_proven(self, slot: i64, s: i64, at_end: cython.bint) -> cython.bint:
        """Is the trial won? Beside requests one frame will do when its id is near theirs; where there are none at all, the
        frames must speak for themselves."""
        count: i64 = self.side[s, S_TRIAL_COUNT]
        if self.talk[slot, TALK_REQUESTS] > 0:
            return self.side[s, S_TRIAL_STEPS] >= TRIAL_PROOF or (
                (at_end or count > 1) and self._is_near(slot, self.trial[self.side[s, S_TRIAL_LAST], T_CORRELATION])
            )
        if self.talk[slot, C_FORCED]:
            return count > 1
        if 2 * self.side[s, S_TRIAL_UNLIKE] <= count or self.side[s, S_TRIAL_STEPS] < TRIAL_PROOF:
            return False
        if not self._is_alone(slot, s):
            return False
        self.talk[slot, TALK_CHAINED] += count - 1
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_alone(self, slot: i64, s: i64) -> cython.bint:
        """Is there nothing of the other side?"""
        return (
            self.talk[slot, TALK_REQUESTS] == 0
            and self.talk[slot, TALK_STREAM + 1 - (s & 1)] == 0
            and self.side[s ^ 1, S_TRIAL_COUNT] == 0
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _ends_in_replies(self, slot: i64, s: i64) -> cython.bint:
        """At the end: is a trial won, or is all that was seen of the connection a few frames that may be replies?

        Too few for a proof: the connection counts if others prove that its peer is a broker.
        """
        if self.side[s, S_TRIAL_FIRST] < 0:
            return False
        return self.side[s, S_TRIAL_SURE] != 0 or (
            self._is_alone(slot, s) and self.talk[slot, TALK_STREAM + (s & 1)] == 0
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _win(self, slot: i64, s: i64) -> cython.bint:
        """The frames of the trial leave as rows; false: the output is full, come again."""
        following: i64
        place: i64 = self.side[s, S_TRIAL_FIRST]
        self.side[s, S_TRIAL_SURE] = 1
        if self.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN:
            self.talk[slot, TALK_CLIENT_SIDE] = 1 - (s & 1)
        if self.talk[slot, TALK_PROTOCOL] == PROTOCOL_UNKNOWN:
            self.talk[slot, TALK_PROTOCOL] = PROTOCOL_KAFKA
        while place >= 0:
            if self.out_used + 2 > self.out_size:
                self.why = WHY_OUTPUT_FULL
                return False
            self._won(slot, s, place)
            following = self.trial[place, T_NEXT]
            self.trial[place, T_NEXT] = self.free_trial
            self.free_trial = place
            place = following
            self.side[s, S_TRIAL_FIRST] = place
        self._forget_trial(s)
        if self.side[s, S_MODE] == M_TRIAL:
            self.side[s, S_MODE] = M_FRAMES
            self.side[s, S_SEARCHED] = 0
            self.side[s, S_GUESSED] = 0
            self._keep_header(s)
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _keep_header(self, s: i64) -> cython.int:
        """The trial was won by the header of a frame that lies across two chunks: now its bytes are wanted."""
        i: i64
        count: i64 = self.side[s, S_HELD]
        self.side[s, S_HELD] = 0
        if count == self.side[s, S_PASSED] and self.heap_used + count <= self.heap_size:
            for i in range(count):
                self.heap[self.heap_used + i] = cython.cast(
                    cython.uchar, (self.side[s, S_WORDS + (i >> 2)] >> (8 * (3 - (i & 3)))) & 255
                )
            self.side[s, S_PASSED] = 0
            self._keep(OWN_HEAP, self.heap_used, count, s)
            self.side[s, S_PASSED] = count
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _won(self, slot: i64, s: i64, place: i64) -> cython.int:
        """The row of one frame of a trial. Its bytes are gone: there is nothing in it that could be read without its key."""
        row: i64 = self.out_used
        self._row(slot, s, OWN_HEAP, -4, 4, self.trial[place, T_LAST_TIME])
        self.out[FRAME_LENGTH, row] = self.trial[place, T_TOTAL] - 4
        self.out[FRAME_FIRST_TIME, row] = self.trial[place, T_TIME]
        self.out[FRAME_NUMBER, row] = self.trial[place, T_NUMBER]
        self.out[FRAME_SEQ, row] = self.trial[place, T_SEQ]
        self.out[FRAME_ID, row] = identity(
            self.talk[slot, TALK_FLOW], self.trial[place, T_TIME], self.trial[place, T_SEQ]
        )
        self._orphan(slot)
        self.out[FRAME_CORRELATION, row] = self.trial[place, T_CORRELATION]
        self.out[FRAME_DECODED, row] = DECODED_HEADER
        self.side[s, S_CORRELATION] = self.trial[place, T_CORRELATION]
        self.talk[slot, TALK_STREAM + (s & 1)] += self.trial[place, T_FRAMED]
        self.talk[slot, TALK_FRAMED + (s & 1)] += self.trial[place, T_FRAMED]
        self.out_used += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _lose(self, slot: i64, s: i64) -> cython.int:
        """The trial is lost: its bytes were searched in vain."""
        self.side[s, S_SEARCHED] += self.side[s, S_TRIAL_BYTES] + self.side[s, S_FRAMED]
        self._drop_partial(slot, s, self.side[s, S_REASON])
        self._drop_trial(slot, s)
        self.side[s, S_MODE] = M_SEARCH
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _drop_trial(self, slot: i64, s: i64) -> cython.int:
        """Forgets the frames of a trial, if there is one; their bytes count as skipped."""
        place: i64 = self.side[s, S_TRIAL_FIRST]
        following: i64
        if place < 0:
            return 0
        self._skip(slot, s, self.side[s, S_REASON], self.side[s, S_TRIAL_BYTES])
        while place >= 0:
            following = self.trial[place, T_NEXT]
            self.trial[place, T_NEXT] = self.free_trial
            self.free_trial = place
            place = following
        self._forget_trial(s)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _forget_trial(self, s: i64) -> cython.int:
        self.side[s, S_TRIAL_FIRST] = -1
        self.side[s, S_TRIAL_LAST] = -1
        self.side[s, S_TRIAL_COUNT] = 0
        self.side[s, S_TRIAL_BYTES] = 0
        self.side[s, S_TRIAL_UNLIKE] = 0
        self.side[s, S_TRIAL_STEPS] = 0
        self.side[s, S_TRIAL_BACK] = 0
        self.side[s, S_TRIAL_SURE] = 0
        return 0

    # ---- gaps and ends ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _gap(self, chunks: i64[:, ::1], row: i64) -> cython.bint:
        """Bytes that never came. Inside a frame of known length they cost its tail; else the boundary is lost."""
        slot: i64 = chunks[CHUNK_SLOT, row]
        s: i64 = 2 * slot + chunks[CHUNK_SIDE, row]
        length: i64 = chunks[CHUNK_LENGTH, row]
        left: i64
        cut: cython.bint
        last_time: i64 = UNKNOWN
        if self.side[s, S_TRIAL_SURE] and not self._win(slot, s):
            return False
        if self.side[s, S_MODE] != M_FRAMES:
            if self.side[s, S_MODE] == M_TRIAL:
                self._trial_gap(chunks, row, slot, s)
            else:
                self.side[s, S_LOSSES] += 1
            return True
        if chunks[CHUNK_DETAIL, row] == GAP_CUT:
            # The packet came, only its bytes were not kept: this is when the frame's tail arrived.
            self._arrived(chunks, row, s)
            last_time = self._end_time(s, chunks[CHUNK_TIME, row])
        left = self.side[s, S_TOTAL] - self.side[s, S_PASSED] if self.side[s, S_TOTAL] > 0 else -1
        if left > 0 and length >= left and not self._room(s, 0):
            return False
        if 0 <= length < left:
            self.side[s, S_PASSED] += length
            return True
        if left > 0:
            self._deliver(slot, s, last_time)
            if length == left:
                return True
        else:
            self._drop_partial(slot, s, SKIP_LOST)
        self.side[s, S_MODE] = M_SEARCH
        self.side[s, S_REASON] = SKIP_LOST
        self.side[s, S_LOSSES] += 1
        cut = chunks[CHUNK_DETAIL, row] == GAP_CUT
        self._note_at(PROBLEM_BOUNDARY_CUT if cut else PROBLEM_BOUNDARY_LOST, chunks, row, slot, s, length)
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _drop_partial(self, slot: i64, s: i64, reason: i64) -> cython.int:
        self._skip(slot, s, reason, self.side[s, S_FRAMED])
        self._free_pages_of(s)
        self._no_frame(s)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _end(self, chunks: i64[:, ::1], row: i64) -> cython.int:
        slot: i64 = chunks[CHUNK_SLOT, row]
        ended: i64 = self.talk[slot, C_ENDED]
        if ended == 0 and chunks[CHUNK_SIDE, row] == self.talk[slot, TALK_CLIENT_SIDE]:
            self.talk[slot, C_END_TIME] = chunks[CHUNK_TIME, row]
        self.talk[slot, C_ENDED] = ended | (1 << chunks[CHUNK_SIDE, row])
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _close(self, chunks: i64[:, ::1], row: i64) -> cython.bint:
        """Frees a slot: requests leave with a status, unfinished frames are counted, the talk row is written."""
        slot: i64 = chunks[CHUNK_SLOT, row]
        s: i64
        column: i64
        for s in range(2 * slot, 2 * slot + 2):
            if self._ends_in_replies(slot, s) and not self._win(slot, s):
                return False
        while self.talk[slot, C_FIRST] >= 0:
            if self.out_used + 2 > self.out_size:
                self.why = WHY_OUTPUT_FULL
                return False
            self._ended(slot, self.talk[slot, C_FIRST], self._end_status(slot, self.talk[slot, C_FIRST]))
            self._forget_first(slot)
        if self.talk_rows == self.talk_size:
            self._grow_talks()
        for s in range(2 * slot, 2 * slot + 2):
            if self.side[s, S_FRAMED] > 0:
                self._note(PROBLEM_UNFINISHED_FRAME, s, self.side[s, S_TOTAL], self.side[s, S_FRAMED])
            self._drop_partial(slot, s, SKIP_UNFINISHED)
            self._drop_trial(slot, s)
        for column in range(TALK_COLUMNS):
            self.talks[column, self.talk_rows] = self.talk[slot, column]
        self.talk_rows += 1
        return True

    def _new_talks(self, size):
        self.talks_memory = new_matrix(TALK_COLUMNS, size)
        self.talks = self.talks_memory
        self.talk_size = size

    def _grow_talks(self):
        column: i64
        row: i64
        rows: i64 = self.talk_size
        smaller: i64[:, ::1] = self.talks_memory
        self._new_talks(2 * rows)
        for column in range(TALK_COLUMNS):
            for row in range(rows):
                self.talks[column, row] = smaller[column, row]

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _end_status(self, slot: i64, place: i64) -> i64:
        reply_side: i64 = 2 * slot + 1 - self.talk[slot, TALK_CLIENT_SIDE]
        if self.side[reply_side, S_LOSSES] > self.wait[place, W_LOSSES]:
            return STATUS_REPLY_LOST
        if not self.talk[slot, C_ENDED]:
            return STATUS_PENDING
        if (
            self.talk[slot, C_END_TIME] != UNKNOWN
            and self.wait[place, W_LAST_TIME] != UNKNOWN
            and self.talk[slot, C_END_TIME] - self.wait[place, W_LAST_TIME] >= ABANDON_NS
        ):
            return STATUS_ABANDONED
        return STATUS_CLOSED

    # ---- finished frames ----

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _finished(self, slot: i64, s: i64, buffer: i64, at: i64, held: i64, framed: i64, last_time: i64) -> cython.int:
        """A frame is complete (or as complete as it gets): one row, and its bytes are counted."""
        request: cython.bint = self._is_request_side(slot, s)
        token: cython.bint
        if request:
            token = self.talk[slot, C_TOKENS] != 0 and self._is_token(slot, buffer, at, held)
        else:
            token = self._is_token_answer(slot, s, buffer, at, held)
        if held < 8 + 4 * request and not token:
            self._note(PROBLEM_HEADER_LOST, s, self.side[s, S_TOTAL], held)
            self._headerless(slot, s, framed)
            return 0
        self.talk[slot, TALK_STREAM + (s & 1)] += framed
        self.talk[slot, TALK_FRAMED + (s & 1)] += framed
        self._row(slot, s, buffer, at, held, last_time)
        if token:
            self._token(slot, request)
        elif request:
            self._request(slot, s, buffer, at, held)
        elif not self._reply(slot, s, buffer, at, held):
            self.talk[slot, TALK_STREAM + (s & 1)] -= framed
            self.talk[slot, TALK_FRAMED + (s & 1)] -= framed
            self._headerless(slot, s, framed)
            return 0
        self.out_used += 1
        self._no_frame(s)
        self.side[s, S_GUESSED] = 0
        if self.crowded:
            self.crowded = False
            self._ended(slot, self.talk[slot, C_FIRST], STATUS_REPLY_LOST)
            self._forget_first(slot)
        elif not request and not token and self.overtaken >= 0:
            self._overtaken(slot)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _headerless(self, slot: i64, s: i64, framed: i64) -> cython.int:
        """A frame of which nothing is known but its bytes. Whatever waits for an answer of this side may wait for this one."""
        self._skip(slot, s, SKIP_HEADERLESS, framed)
        self.side[s, S_LOSSES] += 1
        self._no_frame(s)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _overtaken(self, slot: i64) -> cython.int:
        """A reply came before those of older requests. Where a gap or unseen acks explain it, they are settled."""
        self.settling = slot
        self.settling_losses = self.side[2 * slot + 1 - self.talk[slot, TALK_CLIENT_SIDE], S_LOSSES]
        self._settle()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _settle(self) -> cython.bint:
        """Goes on with `_overtaken`; false: the output is full, and nothing else may be read before this is done."""
        first: i64
        while self.overtaken >= 0:
            first = self.talk[self.settling, C_FIRST]
            if self.settling_losses <= self.wait[first, W_LOSSES] and not self.wait[first, W_ACKS_UNSEEN]:
                break
            if self.out_used >= self.out_size:
                self.why = WHY_OUTPUT_FULL
                return False
            if self.settling_losses > self.wait[first, W_LOSSES]:
                self._ended(self.settling, first, STATUS_REPLY_LOST)
            else:
                self._ended(self.settling, first, STATUS_NO_REPLY_EXPECTED)
            self._forget_first(self.settling)
            if first == self.overtaken:
                self.overtaken = -1
        self.settling = -1
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _row(self, slot: i64, s: i64, buffer: i64, at: i64, held: i64, last_time: i64) -> cython.int:
        """The columns that requests, replies and tokens share. Offsets leave the length field out."""
        row: i64 = self.out_used
        self.out[FRAME_SLOT, row] = slot
        self.out[FRAME_PART, row] = self.talk[slot, TALK_PART]
        self.out[FRAME_BUFFER, row] = 1 if buffer == OWN_HEAP else 0
        self.out[FRAME_OFFSET, row] = at + 4
        self.out[FRAME_HELD, row] = held - 4
        self.out[FRAME_LENGTH, row] = self.side[s, S_TOTAL] - 4
        self.out[FRAME_FIRST_TIME, row] = self.side[s, S_TIME]
        self.out[FRAME_LAST_TIME, row] = last_time
        self.out[FRAME_NUMBER, row] = self.side[s, S_NUMBER]
        self.out[FRAME_SEQ, row] = self.side[s, S_SEQ]
        self.out[FRAME_SIDE, row] = s & 1
        self.out[FRAME_DECODED, row] = 0
        self.out[FRAME_BODY, row] = UNKNOWN
        self.out[FRAME_STATUS, row] = STATUS_ANSWERED
        self.out[FRAME_ID, row] = identity(self.talk[slot, TALK_FLOW], self.side[s, S_TIME], self.side[s, S_SEQ])
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_token(self, slot: i64, buffer: i64, at: i64, held: i64) -> cython.bint:
        """The first frame after SaslHandshake v0 is a token; later ones until a request header turns up.

        Where bytes are missing, or the answer to the handshake is, the first frame is judged too.
        """
        sure: cython.bint = self.talk[slot, C_TOKENS] == TOKENS_NEXT
        if sure and self.side[2 * slot + self.talk[slot, TALK_CLIENT_SIDE], S_LOSSES] == 0:
            self.talk[slot, C_TOKENS] = TOKENS_ON
            return True
        if held >= 14 and self._request_header(buffer, at, held):
            self.talk[slot, C_TOKENS] = TOKENS_NONE
            return False
        self.talk[slot, C_TOKENS] = TOKENS_ON
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _request_header(self, buffer: i64, at: i64, held: i64) -> cython.bint:
        key: i64 = self._int16(buffer, at + 4)
        version: i64
        client: i64
        if key < 0 or key >= len(self.newest) or self.newest[key] < 0:
            return False
        version = self._int16(buffer, at + 6)
        client = self._int16(buffer, at + 12)
        return 0 <= version <= self.newest[key] + 3 and -1 <= client <= held - 14

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_plausible(self, buffer: i64, at: i64, held: i64, total: i64) -> cython.bint:
        """Does this header speak for Kafka? Many protocols send a size and a small number; a sure boundary takes any."""
        key: i64 = self._int16(buffer, at + 4)
        version: i64
        if key < 0 or key >= len(self.newest) or self.newest[key] < 0:
            return False
        version = self._int16(buffer, at + 6)
        if version < 0 or version > self.newest[key] + 3:
            return False
        return (
            held < 14 or (key == 7 and version == 0 and total == 16) or -1 <= self._int16(buffer, at + 12) <= total - 14
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _token(self, slot: i64, request: cython.bint) -> cython.int:
        row: i64 = self.out_used
        self.talk[slot, TALK_TOKENS] += 1
        self.out[FRAME_EVENT, row] = FRAME_TOKEN_SEEN
        self.out[FRAME_KEY, row] = TOKEN
        self.out[FRAME_VERSION, row] = UNKNOWN
        self.out[FRAME_CORRELATION, row] = UNKNOWN
        if request:
            self.out[FRAME_STATUS, row] = STATUS_PENDING
            self._wait_for(slot, row, 0)
            return 0
        self.out[FRAME_REQUEST, row] = self.talk[slot, C_FIRST]
        self.out[FRAME_ID, row] = self.wait[self.talk[slot, C_FIRST], W_ID]
        self._forget_first(slot)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _request(self, slot: i64, s: i64, buffer: i64, at: i64, held: i64) -> cython.int:
        row: i64 = self.out_used
        key: i64 = self._int16(buffer, at + 4)
        version: i64 = self._int16(buffer, at + 6)
        acks: i64 = 1
        self.talk[slot, TALK_REQUESTS] += 1
        if self.talk[slot, TALK_CHAINED] == 0 and self._is_plausible(buffer, at, held, self.side[s, S_TOTAL]):
            if self.talk[slot, TALK_PROTOCOL] == PROTOCOL_UNKNOWN:
                self.talk[slot, TALK_PROTOCOL] = PROTOCOL_KAFKA
            self.talk[slot, TALK_CHAINED] += self.talk[slot, TALK_REQUESTS] > 1 and not self.side[s, S_GUESSED]
        self.out[FRAME_EVENT, row] = FRAME_REQUEST_SEEN
        self.out[FRAME_KEY, row] = key
        self.out[FRAME_VERSION, row] = version
        self.out[FRAME_CORRELATION, row] = self._int32(buffer, at + 8)
        self.out[FRAME_STATUS, row] = STATUS_PENDING
        self.side[s, S_CORRELATION] = self.out[FRAME_CORRELATION, row]
        if _is_special(key):
            self.talk[slot, C_SPECIAL] += 1
            if key == 17 and version == 0:
                self.talk[slot, C_TOKENS] = TOKENS_ASKED
        elif key == 0:
            acks = self._acks(version, buffer, at, at + held)
        if acks == 0:
            self.out[FRAME_REQUEST, row] = UNKNOWN
            self.out[FRAME_STATUS, row] = STATUS_NO_REPLY_EXPECTED
        else:
            self._wait_for(slot, row, acks == UNKNOWN)
        return 0

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _acks(self, version: i64, buffer: i64, at: i64, end: i64) -> i64:
        """acks of a Produce request: 0 means that no reply will come. UNKNOWN: cut off; 1 for versions beyond ours."""
        if version < 0 or version > self.newest[0]:
            return 1
        at = self._acks_place(version, buffer, at, end)
        return UNKNOWN if at < 0 or at + 2 > end else self._int16(buffer, at)

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _acks_place(self, version: i64, buffer: i64, at: i64, end: i64) -> i64:
        """Where acks stands in the Produce request that begins at `at`; -1 when the bytes end first."""
        size: i64
        if at + 14 > end:
            return -1
        size = self._int16(buffer, at + 12)
        at += 14 + (size if size > 0 else 0)
        if version >= 9:
            return self._after_flexible(buffer, at, end)
        if version >= 3:
            if at + 2 > end:
                return -1
            size = self._int16(buffer, at)
            at += 2 + (size if size > 0 else 0)
        return at

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _after_flexible(self, buffer: i64, at: i64, end: i64) -> i64:
        """Past the header's tags and the compact transactional id of Produce v9+; -1 when the bytes end first."""
        tags: i64
        skip: i64
        if at >= end:
            return -1
        tags = self._byte(buffer, at)
        at += 1
        if tags > 0:  # tags in a Produce header: nobody writes them yet, so their sizes are read in the short form only
            while tags > 0 and at + 2 <= end:
                skip = self._byte(buffer, at + 1)
                if self._byte(buffer, at) > 127 or skip > 127:
                    return -1
                at += 2 + skip
                tags -= 1
            if tags > 0:
                return -1
        skip = 0
        tags = 0
        while at < end and tags < 35:
            skip |= (self._byte(buffer, at) & 127) << tags
            at += 1
            if self._byte(buffer, at - 1) < 128:
                return at + (skip - 1 if skip > 0 else 0)
            tags += 7
        return -1

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _wait_for(self, slot: i64, row: i64, acks_unseen: cython.bint) -> cython.int:
        """Puts the request of this row behind the connection's other outstanding ones."""
        place: i64 = self.free_place
        self.free_place = self.wait[place, W_NEXT]
        self.free_places -= 1
        self.wait[place, W_CORRELATION] = self.out[FRAME_CORRELATION, row]
        self.wait[place, W_KEY] = (
            TOKEN_WAITS if self.out[FRAME_EVENT, row] == FRAME_TOKEN_SEEN else self.out[FRAME_KEY, row]
        )
        self.wait[place, W_VERSION] = self.out[FRAME_VERSION, row]
        self.wait[place, W_LAST_TIME] = self.out[FRAME_LAST_TIME, row]
        self.wait[place, W_ID] = self.out[FRAME_ID, row]
        self.wait[place, W_LOSSES] = self.side[2 * slot + 1 - self.talk[slot, TALK_CLIENT_SIDE], S_LOSSES]
        self.wait[place, W_ACKS_UNSEEN] = acks_unseen
        self._append(slot, place)
        self.out[FRAME_REQUEST, row] = place
        if self.talk[slot, C_WAITING] > MOST_WAITING:
            # Replies of this connection are not in the capture; the oldest request makes room.
            self._note(PROBLEM_TOO_MANY_WAITING, 2 * slot + self.talk[slot, TALK_CLIENT_SIDE], 0, MOST_WAITING)
            self.crowded = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _append(self, slot: i64, place: i64) -> cython.int:
        """Makes `place` the newest outstanding request of the connection."""
        self.wait[place, W_NEXT] = -1
        if self.talk[slot, C_LAST] < 0:
            self.talk[slot, C_FIRST] = place
        else:
            self.wait[self.talk[slot, C_LAST], W_NEXT] = place
        self.talk[slot, C_LAST] = place
        self.talk[slot, C_WAITING] += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _forget_first(self, slot: i64) -> cython.int:
        self._forget(slot, -1, self.talk[slot, C_FIRST])
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _forget(self, slot: i64, before: i64, place: i64) -> cython.int:
        """Takes `place` out of the connection's chain; `before` is its predecessor or -1."""
        following: i64 = self.wait[place, W_NEXT]
        if before < 0:
            self.talk[slot, C_FIRST] = following
        else:
            self.wait[before, W_NEXT] = following
        if following < 0:
            self.talk[slot, C_LAST] = before
        self.talk[slot, C_WAITING] -= 1
        self.wait[place, W_NEXT] = self.free_place
        self.free_place = place
        self.free_places += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _reply(self, slot: i64, s: i64, buffer: i64, at: i64, held: i64) -> cython.bint:
        """Pairs a reply with the oldest outstanding request of its correlation id; false: this is no reply at all."""
        row: i64 = self.out_used
        correlation: i64 = self._int32(buffer, at + 4)
        before: i64 = -1
        place: i64 = self.talk[slot, C_FIRST]
        self.out[FRAME_CORRELATION, row] = correlation
        self.overtaken = -1
        while place >= 0 and (self.wait[place, W_CORRELATION] != correlation or self.wait[place, W_KEY] == TOKEN_WAITS):
            before = place
            place = self.wait[place, W_NEXT]
        if place < 0:
            if self._is_stray(slot, s, correlation):
                return False
            self.side[s, S_CORRELATION] = correlation
            self._orphan(slot)
            return True
        self.side[s, S_CORRELATION] = correlation
        if self.side[s, S_LOSSES] != self.wait[place, W_LOSSES]:
            before = self._after_loss(s, place, before)
            place = self.talk[slot, C_FIRST] if before < 0 else self.wait[before, W_NEXT]
        self.talk[slot, TALK_REPLIES] += 1
        self.out[FRAME_EVENT, row] = FRAME_REPLY_SEEN
        self.out[FRAME_KEY, row] = self.wait[place, W_KEY]
        self.out[FRAME_VERSION, row] = self.wait[place, W_VERSION]
        self.out[FRAME_REQUEST, row] = place
        self.out[FRAME_ID, row] = self.wait[place, W_ID]
        if self.wait[place, W_KEY] == 17 and self.wait[place, W_VERSION] == 0 and held >= 10:
            if self._int16(buffer, at + 8) != 0:
                self.talk[slot, C_TOKENS] = TOKENS_NONE
            elif self.talk[slot, C_TOKENS] != TOKENS_ON:
                self.talk[slot, C_TOKENS] = TOKENS_NEXT
        self.overtaken = before
        self._forget(slot, before, place)
        return True

    @cython.cfunc
    @cython.exceptval(-4611686018427387905, check=True)
    def _after_loss(self, s: i64, place: i64, before: i64) -> i64:
        """The predecessor of the request that a reply is for, when replies are missing since request `place` was sent.

        Clients that use one id again and again wait for each reply: then the request that was sent after the loss is meant.
        """
        correlation: i64 = self.wait[place, W_CORRELATION]
        found: i64 = before
        while place >= 0:
            if (
                self.wait[place, W_CORRELATION] == correlation
                and self.wait[place, W_KEY] != TOKEN_WAITS
                and self.wait[place, W_LOSSES] == self.side[s, S_LOSSES]
            ):
                return before
            before = place
            place = self.wait[place, W_NEXT]
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_stray(self, slot: i64, s: i64, correlation: i64) -> cython.bint:
        """Where requests are missing, what nobody asked for may be the answer to a SASL token: believed if its id fits in."""
        # The other side, not the client's: a guess of who that is may have been taken back while this frame came in.
        if self.side[s ^ 1, S_LOSSES] == 0 and not self.talk[slot, C_TOKENS]:
            return False
        return not self._is_near(slot, correlation)

    @cython.cfunc
    @cython.exceptval(-1)
    def _orphan(self, slot: i64) -> cython.int:
        """The columns of a reply without request."""
        row: i64 = self.out_used
        self.talk[slot, TALK_ORPHANS] += 1
        self.out[FRAME_EVENT, row] = FRAME_ORPHAN_SEEN
        self.out[FRAME_KEY, row] = UNKNOWN
        self.out[FRAME_VERSION, row] = UNKNOWN
        self.out[FRAME_REQUEST, row] = UNKNOWN
        self.out[FRAME_STATUS, row] = STATUS_ORPHAN_REPLY
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _ended(self, slot: i64, place: i64, status: i64) -> cython.int:
        """A request leaves without a reply."""
        row: i64 = self.out_used
        self.out[FRAME_EVENT, row] = FRAME_REQUEST_ENDED
        self.out[FRAME_SLOT, row] = slot
        self.out[FRAME_PART, row] = self.talk[slot, TALK_PART]
        self.out[FRAME_REQUEST, row] = place
        self.out[FRAME_STATUS, row] = status
        self.out[FRAME_KEY, row] = TOKEN if self.wait[place, W_KEY] == TOKEN_WAITS else self.wait[place, W_KEY]
        self.out[FRAME_HELD, row] = 0
        self.out[FRAME_ID, row] = self.wait[place, W_ID]
        self.out_used += 1
        return 0

    # ---- a run over a part of a capture: see `dissectors.tcp.reassembly` ----

    @cython.ccall
    @cython.exceptval(-1)
    def is_at_rest(self, slot: i64) -> cython.bint:
        """Whether both sides stand at a sure boundary of frames of a connection that is proved to be Kafka."""
        s: i64
        place: i64
        if (
            slot >= self.slots  # nothing of it has come here yet
            or self.talk[slot, TALK_PROTOCOL] != PROTOCOL_KAFKA
            or self.talk[slot, TALK_CLIENT_SIDE] == UNKNOWN
            or self.talk[slot, TALK_REPLIES] == 0
            or self.talk[slot, TALK_CHAINED] == 0
            or self.talk[slot, C_TOKENS]
            or self.talk[slot, C_ENDED]
            or self.talk[slot, C_WAITING] > MOST_WAITING_AT_REST
            or self.settling == slot
        ):
            return False
        for s in range(2 * slot, 2 * slot + 2):
            if (
                self.side[s, S_MODE] != M_FRAMES
                or self.side[s, S_PASSED]
                or self.side[s, S_GUESSED]
                or self.side[s, S_SEARCHED]
                or self.side[s, S_TRIAL_FIRST] >= 0
                or self.side[s, S_TRIAL_SURE]
                or self.side[s, S_CORRELATION] == UNKNOWN
            ):
                return False
        place = self.talk[slot, C_FIRST]
        while place >= 0:
            if self.wait[place, W_KEY] == TOKEN_WAITS or _is_special(self.wait[place, W_KEY]):
                return False
            place = self.wait[place, W_NEXT]
        return True

    def to_boundary(self, slot: i64):
        """(side, bytes) that are missing until one of the sides stands at a boundary; None when nobody can say."""
        s: i64
        if slot >= self.slots:
            return None
        for s in range(2 * slot, 2 * slot + 2):
            if self.side[s, S_MODE] == M_FRAMES and 0 < self.side[s, S_PASSED] < self.side[s, S_TOTAL]:
                return s & 1, self.side[s, S_TOTAL] - self.side[s, S_PASSED]
        return None

    def rest(self, slot: i64):
        """(numbers of a connection that is at rest, places of its requests that wait for replies)."""
        column: i64
        s: i64 = 2 * slot
        place: i64 = self.talk[slot, C_FIRST]
        broker: i64 = s + 1 - self.talk[slot, TALK_CLIENT_SIDE]
        found = [self.talk[slot, column] for column in range(TALK_COLUMNS)]
        found += [self.talk[slot, C_FROM_SYN], self.talk[slot, C_SPECIAL]]
        found += [self.side[s, S_LOSSES], self.side[s + 1, S_LOSSES]]
        found += [self.side[s, S_CORRELATION], self.side[s + 1, S_CORRELATION], self.talk[slot, C_WAITING]]
        places = []
        while place >= 0:
            places.append(place)
            for column in F_WAITS:
                value = self.wait[place, column]
                found.append(self.side[broker, S_LOSSES] - value if column == W_LOSSES else value)
            place = self.wait[place, W_NEXT]
        return found, places

    def fits(self, slot: i64, one, flip: i64):
        """Whether the connection is at the point of rest `one` of another run, whose side 0 is side `flip` here."""
        d: i64
        if not self.is_at_rest(slot):
            return False
        mine = self.rest(slot)[0]
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

    def jump(self, slot: i64, one, two, flip: i64):
        """Takes the connection from the point of rest `one`, which `fits`, to `two`; returns (places of requests that wait no
        longer, places of those that wait now)."""
        d: i64
        column: i64
        losses: i64
        for column in (TALK_REQUESTS, TALK_REPLIES):
            self.talk[slot, column] += two[column] - one[column]
        for d in range(2):
            for column in (TALK_STREAM, TALK_FRAMED, TALK_CUT):
                self.talk[slot, column + (d ^ flip)] += two[column + d] - one[column + d]
            self.side[2 * slot + (d ^ flip), S_CORRELATION] = two[TALK_CHECKPOINT_CORRELATION + d]
        before = []
        while self.talk[slot, C_FIRST] >= 0:
            before.append(self.talk[slot, C_FIRST])
            self._forget_first(slot)
        if self.free_places < two[TALK_CHECKPOINT_WAITING]:
            self._grow_places(self.places + two[TALK_CHECKPOINT_WAITING])
        losses = self.side[2 * slot + 1 - self.talk[slot, TALK_CLIENT_SIDE], S_LOSSES]
        now = []
        for column in range(TALK_CHECKPOINT_COLUMNS, len(two), len(F_WAITS)):
            now.append(self._wait_again(slot, two[column : column + len(F_WAITS)], losses))
        return before, now

    def _wait_again(self, slot: i64, waits, losses: i64):
        """A request that waits for its reply, with the columns F_WAITS."""
        place: i64 = self.free_place
        self.free_place = self.wait[place, W_NEXT]
        self.free_places -= 1
        for column, value in zip(F_WAITS, waits, strict=True):
            self.wait[place, column] = value
        self.wait[place, W_LOSSES] = losses - self.wait[place, W_LOSSES]
        self._append(slot, place)
        return place

    # ---- problems ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _note(self, kind: i64, s: i64, size: i64, detail: i64) -> cython.int:
        """A problem of the frame under way on this side."""
        self._problem(kind, s, self.side[s, S_NUMBER], self.side[s, S_TIME], self.side[s, S_SEQ], size, detail)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _note_at(self, kind: i64, chunks: i64[:, ::1], row: i64, slot: i64, s: i64, size: i64) -> cython.int:
        """A problem at the current chunk; connections that never spoke Kafka have none."""
        if self.talk[slot, TALK_REQUESTS] == 0:
            return 0
        self._problem(
            kind,
            s,
            chunks[CHUNK_NUMBER, row],
            chunks[CHUNK_TIME, row],
            chunks[CHUNK_SEQ, row] + self.resume,
            size,
            UNKNOWN,
        )
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _problem(self, kind: i64, s: i64, number: i64, time: i64, offset: i64, size: i64, detail: i64) -> cython.int:
        row: i64 = self.problem_rows
        if row >= PROBLEM_ROWS:
            self.problems_dropped += 1
            return 0
        self.problems[PROBLEM_KIND, row] = kind
        self.problems[PROBLEM_PART, row] = self.talk[s >> 1, TALK_PART]
        self.problems[PROBLEM_NUMBER, row] = number
        self.problems[PROBLEM_TIME, row] = time
        self.problems[PROBLEM_SIDE, row] = s & 1
        self.problems[PROBLEM_OFFSET, row] = offset & LOW_32
        self.problems[PROBLEM_BYTES, row] = size
        self.problems[PROBLEM_DETAIL, row] = detail
        self.problem_rows += 1
        return 0


@cython.ccall
@cython.exceptval(check=False)
def identity(flow: i64, time: i64, seq: i64) -> i64:
    """A non-negative 63-bit id from a flow, a time in ns and a sequence number, equal in every run and split.

    Each step of the mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014).
    """
    h: cython.ulonglong = cython.cast(cython.ulonglong, flow & LOW_63)
    h = _mix(h ^ cython.cast(cython.ulonglong, time & LOW_63))
    h = _mix(h ^ cython.cast(cython.ulonglong, seq & LOW_32))
    return cython.cast(i64, h & cython.cast(cython.ulonglong, LOW_63))


@cython.cfunc
@cython.exceptval(check=False)
def _is_special(key: i64) -> cython.bint:
    """JoinGroup and SyncGroup, SaslHandshake and SaslAuthenticate: facts of one need what others told."""
    return key == 11 or key == 14 or key == 17 or key == 36


@cython.cfunc
@cython.exceptval(check=False)
def _mix(h: cython.ulonglong) -> cython.ulonglong:
    h = ((h ^ (h >> 30)) * MIX_1) & LOW_64
    h = ((h ^ (h >> 27)) * MIX_2) & LOW_64
    return h ^ (h >> 31)


def _grown(old, columns, rows):
    """A state matrix `m[row, column]` of `rows` rows that begins like `old`: what one frame touches lies together."""
    larger = new_matrix(rows, columns)
    if old is not None:
        before = memoryview(old).cast("B")
        memoryview(larger).cast("B")[: len(before)] = before
    return larger
