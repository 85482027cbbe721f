"""TCP segments in, the two byte streams of each connection out: in order, each byte once, with its capture time.

Rules
- The first copy of a byte wins. A byte's time is that of the packet that brought this copy. Checksums do not matter.
- Causal order: bytes of one side whose ACK number covers bytes of the other follow those. So a reply never overtakes
  its request, whatever order the capture has them in.
- A hole that the peer acknowledged is given up (GAP_LOST) when the reorder window has passed after that ACK: a number
  of segments of the same connection *and* a span of capture time. What comes out of a connection depends on its own
  segments only, never on others or on how the capture is cut into batches; only the limits break that.
- A side met in mid-flight starts at its lowest sequence number after a smaller window, or where its SYN says.
- A 4-tuple used again is a new part. A SYN that comes late, behind bytes of its own connection, does not begin another.
- A segment that was captured twice is a duplicate: it is counted as one and as nothing else (`_is_copy`).
- A connection captured at two points of its way is two parts, one in each lane (`_lane`).

Strategy: segments in order go straight through as references into the block. Everything else is kept in pages of one
arena (`heap`), a page and a record each, in sequence order. What can go out is decided from the state alone, step by
step (`_drain`), so that a full output or heap may interrupt anywhere and the next call goes on there.

Sequence numbers are unwrapped to int64 (`unwrap`), with their low 32 bits equal to those on the wire; 0 means "none".

Known weakness: when more than 2 GiB of a stream are missing from the capture, the rest looks like old bytes.
Sources: RFC 9293 (TCP), RFC 7323 (largest window, 1 GiB), RFC 5961 (resets that are not believed).
"""

import heapq
import mmap
import os
from array import array

import cython

from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix
from dissectors.problems import *

# State of a connection: conn[slot, column].
C_HASH = cython.declare(cython.int, 0)
C_SCOPE = cython.declare(cython.int, 1)
C_A_HIGH = cython.declare(cython.int, 2)  # endpoint of side 0, then that of side 1
C_A_LOW = cython.declare(cython.int, 3)
C_A_PORT = cython.declare(cython.int, 4)
C_B_HIGH = cython.declare(cython.int, 5)
C_B_LOW = cython.declare(cython.int, 6)
C_B_PORT = cython.declare(cython.int, 7)
C_BUSY = cython.declare(cython.int, 8)  # not 0: something waits, so each segment takes the thorough way
C_LAST_TIME = cython.declare(cython.int, 9)
C_LAST_NUMBER = cython.declare(cython.int, 10)
C_MODE = cython.declare(cython.int, 11)  # MODE_ bits
C_PART = cython.declare(cython.int, 12)
C_FIRST_TIME = cython.declare(cython.int, 13)
C_FIRST_NUMBER = cython.declare(cython.int, 14)
C_SYN = cython.declare(cython.int, 15)
C_CLOSE = cython.declare(cython.int, 16)
C_SYN_TIME = cython.declare(cython.int, 17)  # UNKNOWN when not seen, or seen twice
C_SYN_ACK_TIME = cython.declare(cython.int, 18)
C_SYN_ACK_TWICE = cython.declare(cython.int, 19)
C_ACK_TIME = cython.declare(cython.int, 20)
C_AWAITS_ACK = cython.declare(cython.int, 21)  # the handshake's last ACK is still to come
C_RST = cython.declare(cython.int, 22)  # 1 + side that reset, until both ends are written
C_RST_AT = cython.declare(cython.int, 23)
C_RST_TIME = cython.declare(cython.int, 24)
C_RST_NUMBER = cython.declare(cython.int, 25)
C_RST_COUNT = cython.declare(cython.int, 26)
C_CLOSED_NUMBER = cython.declare(cython.int, 27)  # packet that ended the second side
C_FREE = cython.declare(cython.int, 28)  # next free slot
C_LANE = cython.declare(cython.int, 29)
C_POINT = cython.declare(cython.int, 30)
C_ORIGIN = cython.declare(cython.int, 31)  # interface of the first packet
# In a task only:
C_NOTED = cython.declare(cython.int, 32)  # it is in `touched`
C_SPOILED = cython.declare(cython.int, 33)  # something came that a resolved stretch must not hold
C_SINCE = cython.declare(cython.int, 34)  # no segment of the stretch under way may be earlier
C_FRESH = cython.declare(cython.int, 35)  # bytes, and so many for a header, since the last point of rest
C_AIM_SIDE = cython.declare(cython.int, 36)  # 1 + side: `feed` stops when that one has come to C_AIM
C_AIM = cython.declare(cython.int, 37)
C_FROM_SYN = cython.declare(cython.int, 38)  # its first segment was a bare SYN
C_COLUMNS = cython.declare(cython.int, 40)

MODE_LIVE = cython.declare(cython.int, 1)
MODE_OPENED = cython.declare(cython.int, 2)  # the OPEN row is out
MODE_CLOSED = cython.declare(cython.int, 4)  # both sides have ended
MODE_RESET = cython.declare(cython.int, 8)  # a reset has waited long enough: nothing more is waited for
MODE_FLUSH = cython.declare(cython.int, 16)  # the slot is being freed
MODE_RELIEF = cython.declare(cython.int, 32)  # its kept bytes are being given up, as all keep too much together
MODE_BURIED = cython.declare(cython.int, 64)  # another run has resolved it whole: nothing of it may come any more

# State of a side: side[2 * slot + side, column]. S_PACKETS ... S_DUPLICATES are in the order of the PART_ pairs.
S_STATE = cython.declare(cython.int, 0)  # SIDE_ bits
S_NEXT = cython.declare(cython.int, 1)  # what is delivered next; before the start, the first number seen, as S_START
S_HEAD = cython.declare(cython.int, 2)  # first record kept, -1 none
S_TAIL = cython.declare(cython.int, 3)
S_TTL = cython.declare(cython.int, 4)  # of its newest segment; UNKNOWN before the first
S_LAST_ACK = cython.declare(cython.int, 5)  # ACK number this side sent last, as on the wire
S_ACKED = cython.declare(cython.int, 6)  # highest ACK number the peer sent for this side
S_LOWEST = cython.declare(cython.int, 7)  # where a side met in mid-flight would start
# ACK that covers a hole and when it was seen; before the start, when the first bytes were seen.
S_HOLE_ACK = cython.declare(cython.int, 8)
S_HOLE_TIME = cython.declare(cython.int, 9)
S_HOLE_NUMBER = cython.declare(cython.int, 10)
S_HOLE_COUNT = cython.declare(cython.int, 11)
S_LOST_TO = cython.declare(
    cython.int, 12
)  # the window has passed for holes before this number; 1: that of the start has
S_LOST_TIME = cython.declare(cython.int, 13)
S_LOST_NUMBER = cython.declare(cython.int, 14)
S_WAIVED = cython.declare(cython.int, 15)  # ACK numbers up to this one are not waited for
S_FIN_AT = cython.declare(cython.int, 16)
S_FIN_TIME = cython.declare(cython.int, 17)
S_FIN_NUMBER = cython.declare(cython.int, 18)
S_FIN_ACK = cython.declare(cython.int, 19)
S_START = cython.declare(cython.int, 20)
S_PROBLEMS = cython.declare(cython.int, 21)
S_PACKETS = cython.declare(cython.int, 22)
S_BYTES = cython.declare(cython.int, 23)
S_STREAM = cython.declare(cython.int, 24)
S_RETRANSMITTED = cython.declare(cython.int, 25)
S_REORDERED = cython.declare(cython.int, 26)
S_GAPS = cython.declare(cython.int, 27)
S_GAP_BYTES = cython.declare(cython.int, 28)
S_CONFLICTS = cython.declare(cython.int, 29)
S_ZERO_WINDOW = cython.declare(cython.int, 30)
S_DUPLICATES = cython.declare(cython.int, 31)
S_PAGES = cython.declare(cython.int, 32)  # records kept
S_ORIGIN = cython.declare(cython.int, 33)  # interface that S_TTL was seen on
S_COLUMNS = cython.declare(cython.int, 34)

SIDE_STARTED = cython.declare(cython.int, 1)
SIDE_ENDED = cython.declare(cython.int, 2)
SIDE_FIN = cython.declare(cython.int, 4)
SIDE_ISN = cython.declare(cython.int, 8)  # its SYN was seen
SIDE_CALLER = cython.declare(cython.int, 16)  # and it was a SYN without ACK

# A record of bytes kept, with the page of the same number: held[record, column].
H_SEQ = cython.declare(cython.int, 0)
H_LENGTH = cython.declare(cython.int, 1)
H_CUT = cython.declare(cython.int, 2)  # 1: not captured (snaplen), there are no bytes
H_TIME = cython.declare(cython.int, 3)
H_NUMBER = cython.declare(cython.int, 4)
H_ACK = cython.declare(
    cython.int, 5
)  # as on the wire, UNKNOWN when there was none; never falls from one record to the next
H_NEXT = cython.declare(cython.int, 6)
H_COLUMNS = cython.declare(cython.int, 8)

HEADER_BYTES = cython.declare(cython.longlong, 160)  # what a segment takes beside its payload

# A literal that does not fit in 32 bits would be a Python object in compiled code.
LOW = cython.declare(cython.longlong, 0xFFFFFFFF)
HALF = cython.declare(cython.longlong, 0x80000000)
TURN = cython.declare(cython.longlong, 0x100000000)
ALL = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
MIX_1 = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
MIX_2 = cython.declare(cython.ulonglong, 0x94D049BB133111EB)

PAGE = cython.declare(cython.longlong, 1024)
ROWS_PER_STEP = cython.declare(cython.longlong, 4)  # no step writes more chunk rows
START_SEGMENTS = cython.declare(cython.longlong, 8)
START_NS = cython.declare(cython.longlong, 2000000)
NEAR = cython.declare(cython.longlong, 16777216)  # a larger jump is another connection, or a lie
LARGEST_WINDOW = cython.declare(cython.longlong, 1073741824)
BEHIND = cython.declare(cython.longlong, 65536)  # a reset may answer a segment this old
EARLIER_SYN = cython.declare(cython.longlong, 1048576)  # a SYN so far before the first byte seen may be late
PROBLEM_ROWS = cython.declare(cython.longlong, 1024)
# How far back the first copy of a segment is looked for: 4,096 segments of any connection, and this span of time. The
# number of columns of the matrix is no power of two, like that of a batch.
RECENT = cython.declare(cython.longlong, 4096)
COPY_NS = cython.declare(cython.longlong, 10000000)
SOON_NS = cython.declare(cython.longlong, 1000000)
# What of a segment is remembered: enough to know it again.
REMEMBERED = (
    SEGMENT_TIME, SEGMENT_SRC_LOW, SEGMENT_DST_LOW, SEGMENT_SRC_PORT, SEGMENT_DST_PORT, SEGMENT_SEQ, SEGMENT_ACK,
    SEGMENT_FLAGS, SEGMENT_WINDOW, SEGMENT_LENGTH, SEGMENT_TTL, SEGMENT_IP_ID, SEGMENT_SCOPE, SEGMENT_INTERFACE,
)  # fmt: skip
PROBLEMS_PER_SIDE = cython.declare(cython.longlong, 4)

# Kinds of problems this stage reports; names are in analyzer/base/tables.


@cython.ccall
@cython.exceptval(check=False)
def unwrap(near: cython.longlong, sequence: cython.longlong) -> cython.longlong:
    """The number closest to `near` whose low 32 bits are `sequence`: all arithmetic modulo 2^32 of the project.

    The result lies in [near - 2^31, near + 2^31).
    """
    return near + ((sequence - near + HALF) & LOW) - HALF


@cython.cfunc
@cython.exceptval(check=False)
def _mix(x: cython.ulonglong) -> cython.ulonglong:
    """The finaliser of splitmix64."""
    x = ((x ^ (x >> 30)) * MIX_1) & ALL
    x = ((x ^ (x >> 27)) * MIX_2) & ALL
    return x ^ (x >> 31)


@cython.cfunc
@cython.exceptval(check=False)
def _endpoint_hash(
    seed: cython.ulonglong, high: cython.longlong, low: cython.longlong, port: cython.longlong
) -> cython.ulonglong:
    x: cython.ulonglong = seed ^ (cython.cast(cython.ulonglong, high) & ALL)
    x = _mix(x) ^ (cython.cast(cython.ulonglong, low) & ALL)
    return _mix((x + (cython.cast(cython.ulonglong, port) << 1)) & ALL)


@cython.cfunc
@cython.exceptval(check=False)
def _tuple_hash(
    seed: cython.ulonglong,
    scope: cython.longlong,
    a_high: cython.longlong,
    a_low: cython.longlong,
    a_port: cython.longlong,
    b_high: cython.longlong,
    b_low: cython.longlong,
    b_port: cython.longlong,
) -> cython.longlong:
    """Not negative, and the same for both directions: which side was seen first must not matter."""
    x: cython.ulonglong = _endpoint_hash(seed, a_high, a_low, a_port)
    x = (x + _endpoint_hash(seed, b_high, b_low, b_port) + cython.cast(cython.ulonglong, scope)) & ALL
    return cython.cast(cython.longlong, _mix(x) >> 1)


def flows(
    segments: cython.longlong[:, ::1], start: cython.longlong, stop: cython.longlong, target: cython.longlong[::1]
):
    """Writes the flow of each of the rows [start, stop) to `target`: a hash of scope, addresses and ports, not negative, the
    same for both directions and in every process."""
    row: cython.longlong
    for row in range(start, stop):
        target[row - start] = _tuple_hash(
            0,
            segments[SEGMENT_SCOPE, row],
            segments[SEGMENT_SRC_HIGH, row],
            segments[SEGMENT_SRC_LOW, row],
            segments[SEGMENT_SRC_PORT, row],
            segments[SEGMENT_DST_HIGH, row],
            segments[SEGMENT_DST_LOW, row],
            segments[SEGMENT_DST_PORT, row],
        )


def _grown(old, columns, rows):
    """A matrix `m[row, column]` with `rows` rows that begins with those of `old`."""
    new = new_matrix(rows, columns)
    if old is not None:
        new.cast("B")[: old.nbytes] = old.cast("B")
    return new


def _memory(size):
    """`size` bytes of zero, of which those that are never used cost nothing."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)


@cython.final
@cython.cclass
class Streams:
    """Reassembles all connections of a capture; `feed` it segments, then `finish`.

    `heap` holds the bytes of chunks whose CHUNK_BUFFER is 1, and may be another object after each call; `slots` is
    above every CHUNK_SLOT so far. Limits in bytes count pages of 1 KiB: a kept segment takes at least one.
    `duplicates` counts segments that were captured twice by input (the packet number's upper bits). `lanes` is above
    every PART_LANE so far.

    In a task (`in_task`), a run over a part of a capture, it tells what part each segment belongs to (SEGMENT_PART) and finds
    points of rest of a connection: moments at which nothing of it is kept or waited for. What lies between two of them does
    not depend on what lies before but for some numbers, and `jump` takes another run over it. Of connections that it has seen
    from a SYN to their end nothing depends on what lies before: `take_whole` tells of them, and another run can `bury` them.
    """

    heap = cython.declare(object, visibility="readonly")
    slots = cython.declare(cython.longlong, visibility="readonly")
    lanes = cython.declare(cython.longlong, visibility="readonly")
    duplicates = cython.declare(dict, visibility="readonly")
    recent: cython.longlong[:, ::1]  # a ring: the newest segments before this call
    recent_count: cython.longlong
    index: cython.longlong[
        :, ::1
    ]  # row 0: hash -> 1 + number of its newest segment; row 1: the one before it, by place
    sorted_in: cython.longlong
    first_row: cython.longlong  # of this call, that is not in the ring yet
    lane: cython.longlong  # of the next new slot
    point: cython.longlong
    conn: cython.longlong[:, ::1]
    side: cython.longlong[:, ::1]
    held: cython.longlong[:, ::1]
    arena: cython.uchar[::1]
    table: cython.int[::1]
    out: cython.longlong[:, ::1]
    block: cython.const[cython.uchar][::1]
    segments: cython.longlong[:, ::1]
    parts: cython.longlong[:, ::1]
    problems: cython.longlong[:, ::1]
    conn_memory: object
    side_memory: object
    held_memory: object
    records = cython.declare(cython.longlong, visibility="readonly")  # pages of the arena used at some time
    parts_memory: object
    problems_memory: object
    oldest: object  # heap of (open, packet number, slot, part) while the connection limit is felt
    seed: cython.ulonglong
    mask: cython.longlong
    live: cython.longlong
    free_slot: cython.longlong
    free_record: cython.longlong
    limbo: cython.longlong  # records whose pages this batch's chunks refer to
    limbo_last: cython.longlong
    limbo_records: cython.longlong
    kept_records: cython.longlong
    used: cython.longlong
    room: cython.longlong
    draining: cython.longlong  # slot to go on with, -1 none
    victim: cython.longlong
    relieved: cython.longlong  # slot whose kept bytes are being given up, -1 none
    keepers: list  # (packet number, slot, part) of those that keep bytes, the idlest last
    evicted = cython.declare(cython.longlong, visibility="readonly")  # open connections that gave way to newer ones
    given_up = cython.declare(cython.longlong, visibility="readonly")  # holes not waited for, for want of memory
    finish_slot: cython.longlong
    in_task: cython.bint
    spoiling_until: (
        cython.longlong
    )  # what brings nothing new before this time may be a copy of what was before the task
    first_part: cython.longlong
    taken: cython.longlong  # 2 * slot + side of the segment that was taken in the thorough way
    touched: list  # slots of which segments came since `resting`
    closed: list  # parts whose slots were freed since `take_closed`
    copies: list  # (part, input) of each segment captured twice since `take_copies`, in a task
    whole: object  # WHOLE_ columns of connections seen from their SYN to their end, one after the other
    crossed: set  # flows of which connections were seen at several places
    disturbed: list  # parts that were buried and of which something came
    next_part = cython.declare(cython.longlong, visibility="readonly")  # number of the part that begins next
    part_rows = cython.declare(cython.longlong, visibility="readonly")  # parts that take_parts would give
    part_room: cython.longlong
    problem_rows: cython.longlong
    problems_dropped: cython.longlong
    reorder_segments: cython.longlong
    reorder_ns: cython.longlong
    most_kept: cython.longlong
    most_kept_per_side: cython.longlong
    most_limbo: cython.longlong
    most_live: cython.longlong
    # The segment being taken in; `ack` is UNKNOWN when it has none.
    time: cython.longlong
    number: cython.longlong
    seq: cython.longlong
    ack: cython.longlong
    flags: cython.longlong
    offset: cython.longlong
    captured: cython.longlong
    length: cython.longlong

    def __init__(
        self,
        seed=None,
        reorder_segments=64,
        reorder_ns=20_000_000,
        max_held_bytes=256 << 20,
        max_held_bytes_per_side=16 << 20,
        max_connections=65_536,
        heap_bytes=4 << 20,
        first_part=0,
        in_task=False,
    ):
        """`seed` (64 bits, random by default) keeps hostile captures from choosing colliding addresses.

        `first_part` is the number of the first part. `heap_bytes`: how many kept bytes one call hands on before it stops
        with WHY_HEAP_FULL.
        """
        self.seed = int.from_bytes(os.urandom(8), "little") if seed is None else seed & 0xFFFFFFFFFFFFFFFF
        self.reorder_segments = reorder_segments
        self.reorder_ns = reorder_ns
        self.most_kept = max(1, max_held_bytes // PAGE)
        self.most_kept_per_side = max(1, max_held_bytes_per_side // PAGE)
        self.most_limbo = max(1, heap_bytes // PAGE)
        self.most_live = max(1, max_connections)
        self.slots = 0
        self.lanes = 1
        self.lane = 0
        self.point = 0
        self.duplicates = {}
        self._forget_copies()
        self.conn_memory = None
        self.side_memory = None
        self.held_memory = None
        # All of it at once, as pages that take memory when they are first used: growing by copies would need twice the
        # limit for a moment.
        self.heap = _memory((self.most_kept + self.most_limbo + 1024) * PAGE)
        self.arena = memoryview(self.heap)
        self.records = 0
        self.free_slot = -1
        self.free_record = -1
        self.limbo = -1
        self.limbo_last = -1
        self.limbo_records = 0
        self.kept_records = 0
        self.live = 0
        self.oldest = None
        self.draining = -1
        self.victim = -1
        self.relieved = -1
        self.keepers = []
        self.evicted = 0
        self.given_up = 0
        self.finish_slot = 0
        self.in_task = in_task
        self.spoiling_until = UNKNOWN
        self.first_part = first_part
        self.taken = 0
        self.touched = []
        self.closed = []
        self.copies = []
        self.whole = array("q")
        self.crossed = set()
        self.disturbed = []
        self.next_part = first_part
        self.problem_rows = 0
        self.problems_dropped = 0
        self.part_rows = 0
        self.part_room = 0
        self.parts_memory = None
        self.problems_memory = None
        self._grow_slots()
        self._grow_records()

    def _forget_copies(self):
        self.recent = new_matrix(SEGMENT_COLUMNS, RECENT + 8)
        self.recent_count = 0
        self.index = new_matrix(2, RECENT + 8)
        self.sorted_in = 0
        self.first_row = 0

    # ---- memory ----

    def _grow_slots(self):
        slot: cython.longlong
        size: cython.longlong = max(128, 2 * self.slots)
        self.conn_memory = _grown(self.conn_memory, C_COLUMNS, size)
        self.side_memory = _grown(self.side_memory, S_COLUMNS, 2 * size)
        self.conn = self.conn_memory
        self.side = self.side_memory
        for slot in range(size - 1, self.slots - 1, -1):
            self.conn[slot, C_FREE] = self.free_slot
            self.free_slot = slot
        self.table = memoryview(bytearray(b"\xff" * (16 * size))).cast("i")
        self.mask = 4 * size - 1
        for slot in range(self.slots):
            if self.conn[slot, C_MODE] & MODE_LIVE:
                self._enter(slot)
        self.slots = size

    def _grow_records(self):
        """More records, up to one for each page of the arena. A segment needs up to 64 pages more than any limit says."""
        record: cython.longlong
        size: cython.longlong = min(max(32, 2 * self.records), len(self.arena) // PAGE)
        self.held_memory = _grown(self.held_memory, H_COLUMNS, size)
        self.held = self.held_memory
        for record in range(size - 1, self.records - 1, -1):
            self.held[record, H_NEXT] = self.free_record
            self.free_record = record
        self.records = size

    def _grow_parts(self):
        column: cython.longlong
        row: cython.longlong
        rows: cython.longlong = self.part_rows
        old: cython.longlong[:, ::1] = self.parts_memory
        self.part_room = max(64, 2 * rows)
        self.parts_memory = new_matrix(PART_COLUMNS, self.part_room)
        self.parts = self.parts_memory
        for column in range(PART_COLUMNS):
            for row in range(rows):
                self.parts[column, row] = old[column, row]

    def take_parts(self):
        """(matrix of PART_ columns, rows) of the slots freed since the last call."""
        taken, rows = self.parts_memory, self.part_rows
        self.parts_memory = None
        self.part_rows = 0
        self.part_room = 0
        return new_matrix(PART_COLUMNS, 1) if taken is None else taken, rows

    def take_problems(self):
        """(matrix of PROBLEM_ columns, rows, rows dropped beyond the limit) since the last call.

        PROBLEM_OFFSET is a TCP sequence number.
        """
        taken, rows, dropped = self.problems_memory, self.problem_rows, self.problems_dropped
        self.problems_memory = None
        self.problem_rows = 0
        self.problems_dropped = 0
        return new_matrix(PROBLEM_COLUMNS, 1) if taken is None else taken, rows, dropped

    # ---- batches ----

    @cython.boundscheck(False)
    def feed(
        self,
        block: cython.const[cython.uchar][::1],
        segments: cython.longlong[:, ::1],
        rows: cython.longlong,
        start: cython.longlong,
        chunks: cython.longlong[:, ::1],
    ):
        """Takes segment rows [start, rows) whose payloads lie in `block`, writes chunk rows into `chunks`.

        Returns (next row, chunk rows written, why). WHY_OUTPUT_FULL and WHY_HEAP_FULL: use the chunks up, then call
        again from the next row. WHY_DONE before the last row: a connection has come to where `aim` said. `chunks` needs room
        for at least 4 rows (ValueError).
        """
        row: cython.longlong = start
        why: cython.longlong = self._begin(chunks)
        found: cython.longlong = -2
        key: cython.longlong = 0
        check_room(segments, SEGMENT_COLUMNS, rows)
        self.block = block
        self.segments = segments
        self.first_row = start
        while why == WHY_DONE and row < rows:
            if found >= 0 and not self._is_tuple(found, row):
                # The other direction of the same connection, often.
                found = found ^ 1 if self._is_tuple(found ^ 1, row) else -2
            if found < 0:
                key = _tuple_hash(
                    self.seed,
                    segments[SEGMENT_SCOPE, row],
                    segments[SEGMENT_SRC_HIGH, row],
                    segments[SEGMENT_SRC_LOW, row],
                    segments[SEGMENT_SRC_PORT, row],
                    segments[SEGMENT_DST_HIGH, row],
                    segments[SEGMENT_DST_LOW, row],
                    segments[SEGMENT_DST_PORT, row],
                )
                found = self._find(key, row)
                self.lane = 0
                self.point = 0
            if found >= 0 and self.side[found, S_TTL] != segments[SEGMENT_TTL, row]:
                found = self._lane(found, row)
            if found < 0 or not self._easily(found, row):
                why = self._thorough(found, key, row)
                found = -2
                if why != WHY_DONE and self.draining < 0:
                    break
                if self.in_task and self._note(self.taken, row):
                    row += 1
                    break
            elif self.in_task and self._note(found, row):
                row += 1
                break
            row += 1
        self._remember(row)
        self.block = None
        self.segments = None
        self.out = None
        return row, self.used, why

    def finish(self, chunks: cython.longlong[:, ::1]):
        """The capture has ended: all that is kept goes out, holes become gaps, each slot is freed.

        Returns (chunk rows written, why); call again until WHY_DONE. The stage is then as new, except for part numbers.
        """
        why: cython.longlong = self._begin(chunks)
        slot: cython.longlong
        while why == WHY_DONE and self.finish_slot < self.slots:
            slot = self.finish_slot
            if self.conn[slot, C_MODE] & MODE_LIVE:
                why = self._flush(slot)
            if why == WHY_DONE:
                self.finish_slot += 1
        if why == WHY_DONE:
            self.finish_slot = 0
            self.oldest = None
            self.keepers = []
            self._forget_copies()
        self.out = None
        return self.used, why

    @cython.cfunc
    @cython.exceptval(-1)
    def _begin(self, chunks: cython.longlong[:, ::1]) -> cython.longlong:
        """Opens a batch: pages that the last one's chunks referred to are free again, unfinished work goes on."""
        check_room(chunks, CHUNK_COLUMNS, ROWS_PER_STEP)
        self.out = chunks
        self.room = chunks.shape[1]
        self.used = 0
        if self.limbo >= 0:
            self.held[self.limbo_last, H_NEXT] = self.free_record
            self.free_record = self.limbo
            self.limbo = -1
            self.limbo_records = 0
        return self._drain(self.draining) if self.draining >= 0 else WHY_DONE

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _easily(self, s: cython.longlong, row: cython.longlong) -> cython.bint:
        """Takes in a segment of side `s` that is in order while nothing waits; false when it is anything else."""
        slot: cython.longlong = s >> 1
        peer: cython.longlong = s ^ 1
        flags: cython.longlong = self.segments[SEGMENT_FLAGS, row]
        length: cython.longlong = self.segments[SEGMENT_LENGTH, row]
        next_seq: cython.longlong = self.side[s, S_NEXT]
        state: cython.longlong
        if self.conn[slot, C_BUSY] or flags & (TCP_FIN | TCP_SYN | TCP_RST) or self.used + ROWS_PER_STEP > self.room:
            return False
        if flags & TCP_ACK:
            state = self.side[peer, S_STATE]
            if state & SIDE_STARTED == 0:
                if self.side[peer, S_LOST_TO] == 0:
                    return False
            elif state & SIDE_ENDED == 0 and (
                unwrap(self.side[peer, S_NEXT], self.segments[SEGMENT_ACK, row]) > self.side[peer, S_NEXT]
            ):
                return False
            if length == 0 and not self._acks_more(s, self.segments[SEGMENT_ACK, row]):
                return False
        if length > 0:
            if (
                next_seq & LOW != self.segments[SEGMENT_SEQ, row]
                or self.side[s, S_STATE] & (SIDE_STARTED | SIDE_ENDED) != SIDE_STARTED
                or self.segments[SEGMENT_CAPTURED, row] < length
            ):
                return False
            if self.conn[slot, C_MODE] & MODE_OPENED == 0:
                self._open_row(slot)
            self._chunk(
                CHUNK_DATA,
                s,
                self.segments[SEGMENT_OFFSET, row],
                length,
                self.segments[SEGMENT_TIME, row],
                self.segments[SEGMENT_NUMBER, row],
                next_seq,
                0,
            )
            self.side[s, S_NEXT] = next_seq + length
            self.side[s, S_STREAM] += length
        self._count(s, row)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _count(self, s: cython.longlong, row: cython.longlong) -> cython.int:
        flags: cython.longlong = self.segments[SEGMENT_FLAGS, row]
        self.conn[s >> 1, C_LAST_TIME] = self.segments[SEGMENT_TIME, row]
        self.conn[s >> 1, C_LAST_NUMBER] = self.segments[SEGMENT_NUMBER, row]
        self.side[s, S_PACKETS] += 1
        self.side[s, S_BYTES] += self.segments[SEGMENT_LENGTH, row]
        if flags & TCP_ACK:
            self.side[s, S_LAST_ACK] = self.segments[SEGMENT_ACK, row]
        if self.segments[SEGMENT_WINDOW, row] == 0 and flags & (TCP_SYN | TCP_RST) == 0:
            self.side[s, S_ZERO_WINDOW] += 1
        return 0

    # ---- a run over a part of a capture ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _note(self, s: cython.longlong, row: cython.longlong) -> cython.bint:
        """Says which part a segment of side `s` belongs to; true: the connection has come to where it was aimed at."""
        slot: cython.longlong = s >> 1
        time: cython.longlong = self.segments[SEGMENT_TIME, row]
        if self.spoiling_until == UNKNOWN and time != UNKNOWN:
            self.spoiling_until = time + 2 * COPY_NS
        self.segments[SEGMENT_PART, row] = self.conn[slot, C_PART] - self.first_part
        self.conn[slot, C_FRESH] += self.segments[SEGMENT_LENGTH, row] + HEADER_BYTES
        if time < self.conn[slot, C_SINCE] or time == UNKNOWN:
            self.conn[slot, C_SPOILED] = 1
        if self.conn[slot, C_NOTED] == 0:
            self.conn[slot, C_NOTED] = 1
            self.touched.append(slot)
        if self.conn[slot, C_AIM_SIDE] == 0:
            return False
        s = 2 * slot + self.conn[slot, C_AIM_SIDE] - 1
        if self.side[s, S_NEXT] < self.conn[slot, C_AIM]:
            return False
        self.conn[slot, C_AIM_SIDE] = 0
        return True

    def take_touched(self, fresh: cython.longlong):
        """(slot, part, spoiled, at rest) of connections of which segments came since the last call.

        Those with less than `fresh` new bytes (an eighth of it where no stretch has begun) wait for the next call unless
        something was spoiled.
        """
        slot: cython.longlong
        found = []
        later = []
        for slot in self.touched:
            if self.conn[slot, C_MODE] & MODE_LIVE == 0:
                self.conn[slot, C_NOTED] = 0
            elif (
                self.conn[slot, C_FRESH] < (fresh if self.conn[slot, C_SINCE] else fresh // 8)
                and self.conn[slot, C_SPOILED] == 0
            ):
                later.append(slot)
            else:
                self.conn[slot, C_NOTED] = 0
                spoiled = self.conn[slot, C_SPOILED] != 0
                self.conn[slot, C_SPOILED] = 0
                found.append((slot, self.conn[slot, C_PART], spoiled, self.is_at_rest(slot)))
        self.touched = later
        return found

    def take_closed(self):
        """Parts that are over since the last call."""
        closed = self.closed
        self.closed = []
        return closed

    def take_whole(self):
        """WHOLE_ columns, one connection after the other, of those that were over by themselves since the last call, began with
        a bare SYN and were seen at one place only."""
        whole = self.whole
        self.whole = array("q")
        if not self.crossed:
            return whole
        kept = array("q")
        for at in range(0, len(whole), COMPLETE_COLUMNS):
            if whole[at + COMPLETE_FLOW] not in self.crossed:
                kept.extend(whole[at : at + COMPLETE_COLUMNS])
        return kept

    def take_copies(self):
        """(part, input) of each segment that was captured twice since the last call."""
        copies = self.copies
        self.copies = []
        return copies

    @cython.ccall
    @cython.exceptval(-1)
    def is_at_rest(self, slot: cython.longlong) -> cython.bint:
        """Whether nothing of this connection is kept or waited for, both sides go on, and it was seen at one place only."""
        s: cython.longlong
        if (
            self.conn[slot, C_MODE] != MODE_LIVE | MODE_OPENED
            or self.conn[slot, C_BUSY]
            or self.conn[slot, C_CLOSE]
            or self.conn[slot, C_RST]
            or self.conn[slot, C_AWAITS_ACK]
            or self.conn[slot, C_LANE]
            or self.draining == slot
        ):
            return False
        for s in range(2 * slot, 2 * slot + 2):
            if (
                self.side[s, S_STATE] & (SIDE_STARTED | SIDE_ENDED | SIDE_FIN) != SIDE_STARTED
                or self.side[s, S_HEAD] >= 0
                or self.side[s, S_LAST_ACK] == UNKNOWN
                or self.side[s, S_TTL] == UNKNOWN
                or self.side[s, S_WAIVED] > self.side[s, S_NEXT]
                or self.side[s, S_ACKED] > self.side[s, S_NEXT]
                or self.side[s, S_HOLE_ACK] > self.side[s, S_NEXT]
                or self.side[s, S_LOST_TO] > self.side[s, S_NEXT]
            ):
                return False
        return self._is_alone(slot)

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_alone(self, slot: cython.longlong) -> cython.bint:
        """Whether no other slot has the same tuple."""
        i: cython.longlong = self.conn[slot, C_HASH] & self.mask
        other: cython.longlong = self.table[i]
        while other >= 0:
            if other != slot and self._is_same_tuple(slot, other):
                return False
            i = (i + 1) & self.mask
            other = self.table[i]
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_same_tuple(self, one: cython.longlong, other: cython.longlong) -> cython.bint:
        column: cython.longlong
        straight: cython.bint = self.conn[one, C_SCOPE] == self.conn[other, C_SCOPE]
        crossed: cython.bint = straight
        for column in range(3):
            straight = straight and (
                self.conn[one, C_A_HIGH + column] == self.conn[other, C_A_HIGH + column]
                and self.conn[one, C_B_HIGH + column] == self.conn[other, C_B_HIGH + column]
            )
            crossed = crossed and (
                self.conn[one, C_A_HIGH + column] == self.conn[other, C_B_HIGH + column]
                and self.conn[one, C_B_HIGH + column] == self.conn[other, C_A_HIGH + column]
            )
        return straight or crossed

    def rest(self, slot: cython.longlong):
        """The numbers of a connection that is at rest (REST_ columns)."""
        column: cython.longlong
        s: cython.longlong
        found = [self.conn[slot, C_LAST_TIME], self.conn[slot, C_LAST_NUMBER]]
        for s in range(2 * slot, 2 * slot + 2):
            found += [self.side[s, S_NEXT], self.side[s, S_LAST_ACK], self.side[s, S_TTL], self.side[s, S_PROBLEMS]]
            for column in range(S_PACKETS, S_DUPLICATES + 1):
                found.append(self.side[s, column])
        return found

    def part(self, slot: cython.longlong):
        """The number of the part that has this slot."""
        return self.conn[slot, C_PART]

    def ends(self, slot: cython.longlong):
        """SEGMENT_ column -> value of a segment that side 0 would send."""
        return {
            SEGMENT_SCOPE: self.conn[slot, C_SCOPE],
            SEGMENT_SRC_HIGH: self.conn[slot, C_A_HIGH],
            SEGMENT_SRC_LOW: self.conn[slot, C_A_LOW],
            SEGMENT_SRC_PORT: self.conn[slot, C_A_PORT],
            SEGMENT_DST_HIGH: self.conn[slot, C_B_HIGH],
            SEGMENT_DST_LOW: self.conn[slot, C_B_LOW],
            SEGMENT_DST_PORT: self.conn[slot, C_B_PORT],
        }

    def rested(self, slot: cython.longlong, since: cython.longlong):
        """A point of rest was taken down; segments before the time `since` spoil what follows. 0: no stretch has begun."""
        self.conn[slot, C_FRESH] = 0
        self.conn[slot, C_SINCE] = since
        self.conn[slot, C_AIM_SIDE] = 0

    def aim(self, slot: cython.longlong, side: cython.longlong, ahead: cython.longlong):
        """`feed` shall stop when this side has sent `ahead` bytes more."""
        self.conn[slot, C_AIM_SIDE] = 1 + side
        self.conn[slot, C_AIM] = self.side[2 * slot + side, S_NEXT] + ahead

    def bury(self, slot: cython.longlong, number: cython.longlong, whole):
        """Makes the connection that just began with packet `number` what it was in another run when it was over (`take_whole`).

        False: it did not begin there. It leaves no rows; whatever comes of it, and begins no other one, disturbs it.
        """
        d: cython.longlong
        at: cython.longlong
        if (
            slot < 0
            or self.conn[slot, C_FIRST_NUMBER] != number
            or self.conn[slot, C_MODE] != MODE_LIVE
            or self.conn[slot, C_LANE]
            or not self._is_alone(slot)
        ):
            return False
        self.conn[slot, C_MODE] = MODE_LIVE | MODE_CLOSED | MODE_BURIED
        self.conn[slot, C_BUSY] = 1
        self.conn[slot, C_CLOSE] = whole[COMPLETE_CLOSE]
        self.conn[slot, C_CLOSED_NUMBER] = number
        for d in range(2):
            at = COMPLETE_SIDES + COMPLETE_SIDE_COLUMNS * d
            self.side[2 * slot + d, S_STATE] = whole[at + COMPLETE_STATE]
            self.side[2 * slot + d, S_START] = whole[at + COMPLETE_START]
            self.side[2 * slot + d, S_NEXT] = whole[at + COMPLETE_NEXT]
            self.side[2 * slot + d, S_TTL] = whole[at + COMPLETE_TTL]
            self.side[2 * slot + d, S_STREAM] = whole[at + COMPLETE_STREAM]
            self.side[2 * slot + d, S_GAPS] = whole[at + COMPLETE_GAPS]
        return True

    def take_disturbed(self):
        """Parts that were buried and of which something came since the last call."""
        disturbed = self.disturbed
        self.disturbed = []
        return disturbed

    @cython.cfunc
    def _disturb(self, slot: cython.longlong):
        self.disturbed.append(self.conn[slot, C_PART])

    @cython.cfunc
    def _note_whole(self, slot: cython.longlong):
        """Takes down a connection that is over."""
        s: cython.longlong
        if self.conn[slot, C_MODE] & MODE_CLOSED == 0 or self.conn[slot, C_FROM_SYN] == 0 or self.conn[slot, C_LANE]:
            return
        # In the order of the WHOLE_ columns.
        found = [self.conn[slot, C_PART], self._flow(slot), self.conn[slot, C_FIRST_NUMBER]]
        found += [self.conn[slot, C_FIRST_TIME], self.conn[slot, C_LAST_TIME], self.conn[slot, C_CLOSE]]
        for s in range(2 * slot, 2 * slot + 2):
            found += [self.side[s, S_STATE], self.side[s, S_START], self.side[s, S_NEXT]]
            found += [self.side[s, S_TTL], self.side[s, S_STREAM], self.side[s, S_GAPS]]
        self.whole.extend(found)

    @cython.cfunc
    @cython.exceptval(-1)
    def _flow(self, slot: cython.longlong) -> cython.longlong:
        """What `flows` gives for the segments of a connection."""
        return _tuple_hash(
            0,
            self.conn[slot, C_SCOPE],
            self.conn[slot, C_A_HIGH],
            self.conn[slot, C_A_LOW],
            self.conn[slot, C_A_PORT],
            self.conn[slot, C_B_HIGH],
            self.conn[slot, C_B_LOW],
            self.conn[slot, C_B_PORT],
        )

    def remember(self, segments: cython.longlong[:, ::1], rows: cython.longlong):
        """Takes segments that `jump` goes over as such that came: a copy of one of them may follow."""
        self.segments = segments
        self.first_row = 0
        self._remember(rows)
        self.segments = None

    def find(self, segments: cython.longlong[:, ::1], row: cython.longlong):
        """(slot, side) of the connection whose segment this is, by its addresses; (-1, 0) when there is none."""
        self.segments = segments
        found = self._find(
            _tuple_hash(
                self.seed,
                segments[SEGMENT_SCOPE, row],
                segments[SEGMENT_SRC_HIGH, row],
                segments[SEGMENT_SRC_LOW, row],
                segments[SEGMENT_SRC_PORT, row],
                segments[SEGMENT_DST_HIGH, row],
                segments[SEGMENT_DST_LOW, row],
                segments[SEGMENT_DST_PORT, row],
            ),
            row,
        )
        self.segments = None
        return (found >> 1, found & 1) if found >= 0 else (-1, 0)

    def fits(self, slot: cython.longlong, one, flip: cython.longlong):
        """Whether the connection is at the point of rest `one` of another run, whose side 0 is side `flip` here."""
        d: cython.longlong
        mine: cython.longlong
        theirs: cython.longlong
        if not self.is_at_rest(slot) or self.conn[slot, C_LAST_NUMBER] != one[TCP_CHECKPOINT_NUMBER]:
            return False
        for d in range(2):
            mine = 2 * slot + (d ^ flip)
            theirs = TCP_CHECKPOINT_SIDES + TCP_CHECKPOINT_SIDE_COLUMNS * d
            if (
                (self.side[mine, S_NEXT] - one[theirs + TCP_CHECKPOINT_NEXT]) & LOW
                or self.side[mine, S_LAST_ACK] != one[theirs + TCP_CHECKPOINT_ACK]
                or self.side[mine, S_TTL] != one[theirs + TCP_CHECKPOINT_TTL]
            ):
                return False
        return True

    def jump(self, slot: cython.longlong, one, two, flip: cython.longlong):
        """Takes the connection from the point of rest `one`, which `fits`, to `two`."""
        d: cython.longlong
        column: cython.longlong
        mine: cython.longlong
        theirs: cython.longlong
        self.conn[slot, C_LAST_TIME] = two[TCP_CHECKPOINT_TIME]
        self.conn[slot, C_LAST_NUMBER] = two[TCP_CHECKPOINT_NUMBER]
        for d in range(2):
            mine = 2 * slot + (d ^ flip)
            theirs = TCP_CHECKPOINT_SIDES + TCP_CHECKPOINT_SIDE_COLUMNS * d
            self.side[mine, S_NEXT] += two[theirs + TCP_CHECKPOINT_NEXT] - one[theirs + TCP_CHECKPOINT_NEXT]
            self.side[mine, S_LAST_ACK] = two[theirs + TCP_CHECKPOINT_ACK]
            for column in range(S_DUPLICATES - S_PACKETS + 1):
                self.side[mine, S_PACKETS + column] += (
                    two[theirs + TCP_CHECKPOINT_COUNTS + column] - one[theirs + TCP_CHECKPOINT_COUNTS + column]
                )

    # ---- copies, and points of the way ----

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _acks_more(self, s: cython.longlong, ack: cython.longlong) -> cython.bint:
        """Whether an ACK number is above the last one of side `s`. A segment without data that says nothing new may be
        a copy."""
        ahead: cython.longlong = (ack - (self.side[s, S_LAST_ACK] & LOW)) & LOW
        return ahead > 0 and ahead < HALF

    @cython.cfunc
    @cython.boundscheck(False)
    def _remember(self, stop: cython.longlong):
        """Puts the rows of this call that are not there yet, up to `stop`, into the ring of recent segments."""
        begin: cython.longlong = max(self.first_row, stop - RECENT)
        place: cython.longlong
        size: cython.longlong
        column: cython.longlong
        i: cython.longlong
        while begin < stop:
            place = self.recent_count % RECENT
            size = min(stop - begin, RECENT - place)
            for column in REMEMBERED:
                if cython.compiled and size > 32:
                    self.recent[column, place : place + size] = self.segments[column, begin : begin + size]
                else:  # a slice costs as much as some elements, and plain memoryviews of two dimensions have none
                    for i in range(size):
                        self.recent[column, place + i] = self.segments[column, begin + i]
            self.recent_count += size
            begin += size
        self.first_row = stop

    @cython.cfunc
    @cython.boundscheck(False)
    def _sort_in(self):
        """Brings the index of the ring up to date: a list for each hash, the newest segment first."""
        place: cython.longlong
        bucket: cython.longlong
        self.sorted_in = max(self.sorted_in, self.recent_count - RECENT)
        while self.sorted_in < self.recent_count:
            place = self.sorted_in % RECENT
            bucket = _bucket(self.recent, place)
            self.index[1, place] = self.index[0, bucket]
            self.sorted_in += 1
            self.index[0, bucket] = self.sorted_in

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _is_copy(self, row: cython.longlong, at_same_point: cython.bint) -> cython.bint:
        """Whether a recent segment is the same packet as this one, captured again: `-i any`, two interfaces, two files.

        At the same point of the way its TTL is equal, at another one it differs. A sender counts its packets in the IP
        id, so a packet sent again has another. IPv6 has no id, and some senders write 0: there TCP checksum and window
        have to be equal, which the time stamps in a packet sent again prevent unless a network card writes the
        checksum; so the copy must be of another interface too, or so near in time that nobody can have asked for it.
        """
        i: cython.longlong
        self._remember(row)
        self._sort_in()
        i = self.index[0, _bucket(self.segments, row)]
        while i > 0 and i > self.recent_count - RECENT:
            if self._is_same(self.recent, (i - 1) % RECENT, row, at_same_point):
                return True
            i = self.index[1, (i - 1) % RECENT]
        return False

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _is_same(
        self, known: cython.longlong[:, ::1], i: cython.longlong, row: cython.longlong, at_same_point: cython.bint
    ) -> cython.bint:
        """The rule of `_is_copy` for one earlier segment."""
        number: cython.longlong = self.segments[SEGMENT_IP_ID, row]
        span: cython.longlong = 0
        if known[SEGMENT_SEQ, i] != self.segments[SEGMENT_SEQ, row]:
            return False
        if (
            known[SEGMENT_IP_ID, i] != number
            or known[SEGMENT_LENGTH, i] != self.segments[SEGMENT_LENGTH, row]
            or known[SEGMENT_ACK, i] != self.segments[SEGMENT_ACK, row]
            or known[SEGMENT_FLAGS, i] != self.segments[SEGMENT_FLAGS, row]
            or known[SEGMENT_WINDOW, i] != self.segments[SEGMENT_WINDOW, row]
            or known[SEGMENT_SRC_PORT, i] != self.segments[SEGMENT_SRC_PORT, row]
            or known[SEGMENT_DST_PORT, i] != self.segments[SEGMENT_DST_PORT, row]
            or known[SEGMENT_SRC_LOW, i] != self.segments[SEGMENT_SRC_LOW, row]
            or known[SEGMENT_DST_LOW, i] != self.segments[SEGMENT_DST_LOW, row]
            or known[SEGMENT_SCOPE, i] != self.segments[SEGMENT_SCOPE, row]
            or (known[SEGMENT_TTL, i] == self.segments[SEGMENT_TTL, row]) != at_same_point
        ):
            return False
        if known[SEGMENT_TIME, i] != UNKNOWN and self.segments[SEGMENT_TIME, row] != UNKNOWN:
            span = self.segments[SEGMENT_TIME, row] - known[SEGMENT_TIME, i]
            span = max(span, -span)
        if number > 0 or known[SEGMENT_INTERFACE, i] != self.segments[SEGMENT_INTERFACE, row]:
            return span <= COPY_NS
        return span < SOON_NS

    @cython.cfunc
    @cython.exceptval(-1)
    def _may_be_copy(self, s: cython.longlong) -> cython.bint:
        """Whether the segment taken in brings nothing that was not seen: else there is no copy to look for."""
        if self.flags & (TCP_SYN | TCP_FIN | TCP_RST):
            return True
        if self.length > 0:
            return self.side[s, S_NEXT] != 0 and unwrap(self.side[s, S_NEXT], self.seq) + self.length <= self._high(s)
        return self.ack == UNKNOWN or not self._acks_more(s, self.ack)

    @cython.cfunc
    def _count_copy(self, s: cython.longlong):
        number = self.number >> SPLIT_SHIFT
        self.side[s, S_DUPLICATES] += 1
        if self.in_task:
            self.copies.append((self.conn[s >> 1, C_PART], number))
            return
        self.duplicates[number] = self.duplicates.get(number, 0) + 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _lane(self, found: cython.longlong, row: cython.longlong) -> cython.longlong:
        """The sender's side in the part that a segment belongs to, when its TTL is not the one of `found`.

        Where a connection was captured at two points of its way, with a router between them, its packets have another
        TTL at each. Such points are told apart by the interface (or the input) where these differ. Where they do not, a
        copy of a recent packet with another TTL gives them away: a host that routes between its interfaces, captured
        with `-i any`. Any other change of TTL is a change of the way. -2: it begins a new part, in `lane` and `point`.
        """
        best: cython.longlong = found
        most: cython.longlong = 0
        near: cython.longlong
        slot: cython.longlong
        s: cython.longlong
        ttl: cython.longlong = self.segments[SEGMENT_TTL, row]
        origin: cython.longlong = self.segments[SEGMENT_INTERFACE, row]
        i: cython.longlong = self.conn[found >> 1, C_HASH] & self.mask
        self.lane = 0
        self.point = 0
        self.conn[found >> 1, C_SPOILED] = 1
        if self.conn[found >> 1, C_MODE] & MODE_BURIED:
            self._disturb(found >> 1)
        slot = self.table[i]
        while slot >= 0:
            s = 2 * slot if self._is_tuple(2 * slot, row) else 2 * slot + 1 if self._is_tuple(2 * slot + 1, row) else -1
            if s >= 0:
                near = self._nearness(s, ttl, origin)
                if near > most:
                    most = near
                    best = s
                self.lane = max(self.lane, self.conn[slot, C_LANE] + 1)
                self.point = max(self.point, self.conn[slot, C_POINT] + 1)
            i = (i + 1) & self.mask
            slot = self.table[i]
        if most < 1000:
            if most == 0:
                self.point = 0  # its interface tells it apart
                return -2
            if self._is_copy(row, False):
                return -2
        self.side[best, S_TTL] = ttl
        self.side[best, S_ORIGIN] = origin
        return best

    @cython.cfunc
    @cython.exceptval(-1)
    def _nearness(self, s: cython.longlong, ttl: cython.longlong, origin: cython.longlong) -> cython.longlong:
        """How well a segment fits side `s`: 3,000 and more when the TTL does, 2,000 when the side had none yet (best
        where the peer was seen on the same interface; of several points on it, the one found last is the next to see
        the answer), below 1,000 when only the interface does, and 0 when nothing does."""
        lane: cython.longlong = min(self.conn[s >> 1, C_LANE], 99)
        if self.side[s, S_TTL] == ttl:
            return 3100 - lane
        if self.side[s, S_TTL] == UNKNOWN:
            return 2000 + lane + (100 if self.side[s ^ 1, S_ORIGIN] == origin else 0)
        if self.side[s, S_ORIGIN] == origin:
            return 900 - lane - max(self.side[s, S_TTL] - ttl, ttl - self.side[s, S_TTL])
        return 0

    # ---- flow table ----

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _is_tuple(self, s: cython.longlong, row: cython.longlong) -> cython.bint:
        """Whether side `s` (2 * slot + side) sent this segment."""
        slot: cython.longlong = s >> 1
        a: cython.longlong = C_B_HIGH if s & 1 else C_A_HIGH
        b: cython.longlong = C_A_HIGH if s & 1 else C_B_HIGH
        return (
            self.conn[slot, a + 2] == self.segments[SEGMENT_SRC_PORT, row]
            and self.conn[slot, b + 2] == self.segments[SEGMENT_DST_PORT, row]
            and self.conn[slot, a + 1] == self.segments[SEGMENT_SRC_LOW, row]
            and self.conn[slot, b + 1] == self.segments[SEGMENT_DST_LOW, row]
            and self.conn[slot, a] == self.segments[SEGMENT_SRC_HIGH, row]
            and self.conn[slot, b] == self.segments[SEGMENT_DST_HIGH, row]
            and self.conn[slot, C_SCOPE] == self.segments[SEGMENT_SCOPE, row]
        )

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _find(self, key: cython.longlong, row: cython.longlong) -> cython.longlong:
        """2 * slot + side of the sender; -2 when the tuple is not there."""
        i: cython.longlong = key & self.mask
        slot: cython.longlong = self.table[i]
        while slot >= 0:
            if self.conn[slot, C_HASH] == key:
                if self._is_tuple(2 * slot, row):
                    return 2 * slot
                if self._is_tuple(2 * slot + 1, row):
                    return 2 * slot + 1
            i = (i + 1) & self.mask
            slot = self.table[i]
        return -2

    @cython.cfunc
    def _enter(self, slot: cython.longlong):
        i: cython.longlong = self.conn[slot, C_HASH] & self.mask
        while self.table[i] >= 0:
            i = (i + 1) & self.mask
        self.table[i] = cython.cast(cython.int, slot)

    @cython.cfunc
    def _remove(self, slot: cython.longlong):
        """Takes a slot out of the table and moves later entries up, so that no search meets a hole."""
        i: cython.longlong = self.conn[slot, C_HASH] & self.mask
        home: cython.longlong
        j: cython.longlong
        while self.table[i] != slot:
            i = (i + 1) & self.mask
        j = i
        while True:
            j = (j + 1) & self.mask
            if self.table[j] < 0:
                break
            home = self.conn[self.table[j], C_HASH] & self.mask
            if ((j - home) & self.mask) >= ((j - i) & self.mask):
                self.table[i] = self.table[j]
                i = j
        self.table[i] = -1

    @cython.cfunc
    @cython.exceptval(-1)
    def _new_slot(self, key: cython.longlong, row: cython.longlong) -> cython.longlong:
        """Opens a part for the segment's tuple; returns 2 * slot + side of its sender.

        A SYN+ACK has overtaken its SYN, or that one is not in the capture: its receiver is side 0.
        """
        slot: cython.longlong
        column: cython.longlong
        s: cython.longlong
        is_answer: cython.bint = self.flags & (TCP_SYN | TCP_ACK) == (TCP_SYN | TCP_ACK)
        a: cython.longlong = C_B_HIGH if is_answer else C_A_HIGH
        b: cython.longlong = C_A_HIGH if is_answer else C_B_HIGH
        if self.free_slot < 0:
            self._grow_slots()
        slot = self.free_slot
        self.free_slot = self.conn[slot, C_FREE]
        for column in range(C_COLUMNS):
            self.conn[slot, column] = 0
        self.conn[slot, C_HASH] = key
        self.conn[slot, C_SCOPE] = self.segments[SEGMENT_SCOPE, row]
        self.conn[slot, a] = self.segments[SEGMENT_SRC_HIGH, row]
        self.conn[slot, a + 1] = self.segments[SEGMENT_SRC_LOW, row]
        self.conn[slot, a + 2] = self.segments[SEGMENT_SRC_PORT, row]
        self.conn[slot, b] = self.segments[SEGMENT_DST_HIGH, row]
        self.conn[slot, b + 1] = self.segments[SEGMENT_DST_LOW, row]
        self.conn[slot, b + 2] = self.segments[SEGMENT_DST_PORT, row]
        self.conn[slot, C_MODE] = MODE_LIVE
        self.conn[slot, C_PART] = self.next_part
        self.conn[slot, C_FIRST_TIME] = self.time
        self.conn[slot, C_FIRST_NUMBER] = self.number
        self.conn[slot, C_SYN_TIME] = UNKNOWN
        self.conn[slot, C_SYN_ACK_TIME] = UNKNOWN
        self.conn[slot, C_ACK_TIME] = UNKNOWN
        self.conn[slot, C_LANE] = self.lane
        self.conn[slot, C_POINT] = self.point
        self.conn[slot, C_ORIGIN] = self.segments[SEGMENT_INTERFACE, row]
        self.conn[slot, C_FROM_SYN] = (
            1 if self.flags & (TCP_SYN | TCP_ACK | TCP_FIN | TCP_RST) == TCP_SYN and self.length == 0 else 0
        )
        if self.in_task and self.lane:
            self.crossed.add(self._flow(slot))
        self.lanes = max(self.lanes, self.lane + 1)
        for s in range(2 * slot, 2 * slot + 2):
            for column in range(S_COLUMNS):
                self.side[s, column] = 0
            self.side[s, S_HEAD] = -1
            self.side[s, S_TAIL] = -1
            self.side[s, S_LAST_ACK] = UNKNOWN
            self.side[s, S_FIN_ACK] = UNKNOWN
            self.side[s, S_TTL] = UNKNOWN
            self.side[s, S_ORIGIN] = UNKNOWN
        s = 2 * slot + 1 if is_answer else 2 * slot
        self.side[s, S_TTL] = self.segments[SEGMENT_TTL, row]
        self.side[s, S_ORIGIN] = self.segments[SEGMENT_INTERFACE, row]
        self.next_part += 1
        self.live += 1
        self._enter(slot)
        if self.oldest is not None:
            heapq.heappush(self.oldest, (1, self.number, slot, self.conn[slot, C_PART]))
        return s

    @cython.cfunc
    @cython.exceptval(-1)
    def _oldest_slot(self) -> cython.longlong:
        """The slot to give up: of the closed the one closed first, else the one idle for longest.

        The heap holds what was true when an entry was made; what has become wrong is put right when it surfaces.
        """
        slot: cython.longlong
        if self.oldest is None or len(self.oldest) > 4 * self.live + 64:
            self.oldest = []
            for slot in range(self.slots):
                if self.conn[slot, C_MODE] & MODE_LIVE:
                    self.oldest.append(self._age(slot))
            heapq.heapify(self.oldest)
        while True:
            entry = heapq.heappop(self.oldest)
            slot = entry[2]
            if self.conn[slot, C_MODE] & MODE_LIVE and self.conn[slot, C_PART] == entry[3]:
                now = self._age(slot)
                if now == entry:
                    return slot
                heapq.heappush(self.oldest, now)

    @cython.cfunc
    def _age(self, slot: cython.longlong):
        if self.conn[slot, C_MODE] & MODE_CLOSED:
            return (0, self.conn[slot, C_CLOSED_NUMBER], slot, self.conn[slot, C_PART])
        return (1, self.conn[slot, C_LAST_NUMBER], slot, self.conn[slot, C_PART])

    # ---- rows out ----

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _chunk(
        self,
        kind: cython.longlong,
        s: cython.longlong,
        offset: cython.longlong,
        length: cython.longlong,
        time: cython.longlong,
        number: cython.longlong,
        seq: cython.longlong,
        detail: cython.longlong,
    ) -> cython.int:
        """A row about side `s` (2 * slot + side); its bytes, if any, are in the block."""
        row: cython.longlong = self.used
        self.out[CHUNK_KIND, row] = kind
        self.out[CHUNK_SLOT, row] = s >> 1
        self.out[CHUNK_SIDE, row] = s & 1
        self.out[CHUNK_BUFFER, row] = 0
        self.out[CHUNK_OFFSET, row] = offset
        self.out[CHUNK_LENGTH, row] = length
        self.out[CHUNK_TIME, row] = time
        self.out[CHUNK_NUMBER, row] = number
        self.out[CHUNK_SEQ, row] = seq & LOW
        self.out[CHUNK_DETAIL, row] = detail
        self.used = row + 1
        return 0

    @cython.cfunc
    def _open_row(self, slot: cython.longlong):
        """Written before the first other row of the part, when it is settled which side is which."""
        row: cython.longlong = self.used
        self.conn[slot, C_MODE] |= MODE_OPENED
        self._chunk(
            CHUNK_OPEN,
            2 * slot,
            1 if self.conn[slot, C_SYN] else 0,
            self.conn[slot, C_A_PORT] * 65536 + self.conn[slot, C_B_PORT],
            self.conn[slot, C_FIRST_TIME],
            self.conn[slot, C_FIRST_NUMBER],
            0,
            self.conn[slot, C_PART],
        )
        self.out[CHUNK_SEQ, row] = _tuple_hash(
            cython.cast(cython.ulonglong, self.conn[slot, C_LANE]),
            self.conn[slot, C_SCOPE],
            self.conn[slot, C_A_HIGH],
            self.conn[slot, C_A_LOW],
            self.conn[slot, C_A_PORT],
            self.conn[slot, C_B_HIGH],
            self.conn[slot, C_B_LOW],
            self.conn[slot, C_B_PORT],
        )

    @cython.cfunc
    def _say(
        self,
        kind: cython.longlong,
        s: cython.longlong,
        offset: cython.longlong,
        length: cython.longlong,
        time: cython.longlong,
        number: cython.longlong,
        detail: cython.longlong,
    ):
        """A chunk row at the side's place in its stream, which it moves on by `length`."""
        if self.conn[s >> 1, C_MODE] & MODE_OPENED == 0:
            self._open_row(s >> 1)
        self._chunk(kind, s, offset, length, time, number, self.side[s, S_NEXT], detail)
        self.side[s, S_NEXT] += length
        if kind == CHUNK_DATA:
            self.side[s, S_STREAM] += length
        elif kind == CHUNK_GAP:
            self.side[s, S_GAPS] += 1
            self.side[s, S_GAP_BYTES] += length

    @cython.cfunc
    def _problem(self, kind: cython.longlong, s: cython.longlong, seq: cython.longlong, size: cython.longlong):
        """Something odd about side `s`, seen at its newest segment; a handful a side, lest they bury the rest."""
        row: cython.longlong = self.problem_rows
        self.side[s, S_PROBLEMS] += 1
        if row == PROBLEM_ROWS or (self.side[s, S_PROBLEMS] > PROBLEMS_PER_SIDE and kind != PROBLEM_CONNECTION_EVICTED):
            self.problems_dropped += 1
            return
        if self.problems_memory is None:
            self.problems_memory = new_matrix(PROBLEM_COLUMNS, PROBLEM_ROWS)
            self.problems = self.problems_memory
        self.problems[PROBLEM_KIND, row] = kind
        self.problems[PROBLEM_PART, row] = self.conn[s >> 1, C_PART]
        self.problems[PROBLEM_NUMBER, row] = self.conn[s >> 1, C_LAST_NUMBER]
        self.problems[PROBLEM_TIME, row] = self.conn[s >> 1, C_LAST_TIME]
        self.problems[PROBLEM_SIDE, row] = s & 1
        self.problems[PROBLEM_OFFSET, row] = seq & LOW
        self.problems[PROBLEM_BYTES, row] = size
        self.problems[PROBLEM_DETAIL, row] = 0
        self.problem_rows = row + 1

    @cython.cfunc
    def _close(self, slot: cython.longlong):
        """Frees a slot: CLOSE row, part row."""
        if self.conn[slot, C_MODE] & MODE_BURIED == 0:
            self._say(CHUNK_CLOSE, 2 * slot, 0, 0, self.conn[slot, C_LAST_TIME], self.conn[slot, C_LAST_NUMBER], 0)
            self._part_row(slot)
        self._remove(slot)
        if self.in_task:
            self.closed.append(self.conn[slot, C_PART])
            self._note_whole(slot)
        self.conn[slot, C_MODE] = 0
        self.conn[slot, C_FREE] = self.free_slot
        self.free_slot = slot
        self.live -= 1

    @cython.cfunc
    def _part_row(self, slot: cython.longlong):
        row: cython.longlong = self.part_rows
        d: cython.longlong
        column: cython.longlong
        syn: cython.longlong = self.conn[slot, C_SYN_TIME]
        syn_ack: cython.longlong = self.conn[slot, C_SYN_ACK_TIME]
        if row >= self.part_room:
            self._grow_parts()
        self.parts[PART_NUMBER, row] = self.conn[slot, C_PART]
        self.parts[PART_SCOPE, row] = self.conn[slot, C_SCOPE]
        self.parts[PART_A_HIGH, row] = self.conn[slot, C_A_HIGH]
        self.parts[PART_A_LOW, row] = self.conn[slot, C_A_LOW]
        self.parts[PART_B_HIGH, row] = self.conn[slot, C_B_HIGH]
        self.parts[PART_B_LOW, row] = self.conn[slot, C_B_LOW]
        self.parts[PART_A_PORT, row] = self.conn[slot, C_A_PORT]
        self.parts[PART_B_PORT, row] = self.conn[slot, C_B_PORT]
        self.parts[PART_FIRST_TIME, row] = self.conn[slot, C_FIRST_TIME]
        self.parts[PART_LAST_TIME, row] = self.conn[slot, C_LAST_TIME]
        self.parts[PART_FIRST_NUMBER, row] = self.conn[slot, C_FIRST_NUMBER]
        self.parts[PART_LAST_NUMBER, row] = self.conn[slot, C_LAST_NUMBER]
        self.parts[PART_SYN, row] = self.conn[slot, C_SYN]
        self.parts[PART_CLOSE, row] = self.conn[slot, C_CLOSE]
        self.parts[PART_LANE, row] = self.conn[slot, C_LANE]
        self.parts[PART_ORIGIN, row] = self.conn[slot, C_ORIGIN]
        self.parts[PART_POINT, row] = self.conn[slot, C_POINT]
        self.parts[PART_SYN_ACK, row] = _span(syn, syn_ack)
        self.parts[PART_ACK, row] = _span(syn_ack, self.conn[slot, C_ACK_TIME])
        self.parts[PART_RTT, row] = UNKNOWN
        if self.parts[PART_SYN_ACK, row] != UNKNOWN and self.parts[PART_ACK, row] != UNKNOWN:
            self.parts[PART_RTT, row] = self.parts[PART_SYN_ACK, row] + self.parts[PART_ACK, row]
        for d in range(2):
            for column in range(S_DUPLICATES - S_PACKETS + 1):
                self.parts[PART_PACKETS + 2 * column + d, row] = self.side[2 * slot + d, S_PACKETS + column]
            self.parts[PART_START_SEQ + d, row] = UNKNOWN
            if self.side[2 * slot + d, S_STATE] & SIDE_STARTED:
                self.parts[PART_START_SEQ + d, row] = self.side[2 * slot + d, S_START] & LOW
        self.part_rows = row + 1

    # ---- one segment, the thorough way ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _thorough(self, s: cython.longlong, key: cython.longlong, row: cython.longlong) -> cython.longlong:
        """Takes in one segment and lets out what it sets free.

        Returns why it stopped; the segment is taken in when that is WHY_DONE or when `draining` names its slot.
        """
        why: cython.longlong
        self._load(row)
        if (
            s >= 0
            and self.conn[s >> 1, C_MODE] & MODE_BURIED
            and (self._is_copy(row, True) or not (self.conn[s >> 1, C_MODE] & MODE_FLUSH or self._is_anew(s)))
        ):
            self._disturb(s >> 1)
        if s >= 0 and self._may_be_copy(s):
            self.taken = s
            if self._is_copy(row, True):
                self._count_copy(s)
                return WHY_DONE
            if self.in_task and self.time < self.spoiling_until:
                self.conn[s >> 1, C_SPOILED] = 1
        if self.kept_records > self.most_kept:
            why = self._relieve()
            if why != WHY_DONE:
                return why
        if s >= 0 and (self.conn[s >> 1, C_MODE] & MODE_FLUSH or self._is_anew(s)):
            key = self.conn[s >> 1, C_HASH]
            self.lane = self.conn[s >> 1, C_LANE]
            self.point = self.conn[s >> 1, C_POINT]
            why = self._flush(s >> 1)
            if why != WHY_DONE:
                return why
            s = -1
        if s < 0 and self.live >= self.most_live:
            why = self._evict()
            if why != WHY_DONE:
                return why
        if self.used + ROWS_PER_STEP > self.room:
            return WHY_OUTPUT_FULL
        if self.limbo_records >= self.most_limbo:
            return WHY_HEAP_FULL
        if s < 0:
            s = self._new_slot(key, row)
            self._count(s, row)
            self._watch(s, 0)
            self._watch(s ^ 1, 0)
        else:
            self._count(s, row)
            self._look_start(s)
            self._look_start(s ^ 1)
        self.taken = s
        if self.flags & (TCP_SYN | TCP_FIN | TCP_RST):
            self.conn[s >> 1, C_SPOILED] = 1
        if self.flags & TCP_SYN and self.flags & TCP_RST == 0:
            s = self._syn(s)
        if self.flags & TCP_ACK:
            self._ack(s)
        if self.flags & TCP_RST:
            self._reset(s)
        else:
            if self.length > 0:
                self._data(s)
            if self.flags & TCP_FIN:
                self._fin(s)
        self.draining = s >> 1
        return self._drain(s >> 1)

    @cython.cfunc
    def _load(self, row: cython.longlong):
        self.time = self.segments[SEGMENT_TIME, row]
        self.number = self.segments[SEGMENT_NUMBER, row]
        self.flags = self.segments[SEGMENT_FLAGS, row]
        # The SYN comes before the payload and has a number of its own.
        self.seq = self.segments[SEGMENT_SEQ, row] + (1 if self.flags & TCP_SYN else 0)
        self.ack = self.segments[SEGMENT_ACK, row] if self.flags & TCP_ACK else UNKNOWN
        self.offset = self.segments[SEGMENT_OFFSET, row]
        self.captured = self.segments[SEGMENT_CAPTURED, row]
        self.length = self.segments[SEGMENT_LENGTH, row]

    @cython.cfunc
    @cython.exceptval(-1)
    def _evict(self) -> cython.longlong:
        """Frees the slot that is missed least."""
        why: cython.longlong
        s: cython.longlong
        if self.victim < 0:
            self.victim = self._oldest_slot()
            s = 2 * self.victim
            if self.conn[self.victim, C_MODE] & MODE_CLOSED == 0:
                self.evicted += 1
                self._problem(PROBLEM_CONNECTION_EVICTED, s, self.side[s, S_NEXT], 0)
        why = self._flush(self.victim)
        if why == WHY_DONE:
            self.victim = -1
        return why

    @cython.cfunc
    @cython.exceptval(-1)
    def _relieve(self) -> cython.longlong:
        """Gives up what the connections idle for longest keep, until an eighth of the limit is free."""
        why: cython.longlong
        while self.relieved >= 0 or self.kept_records > self.most_kept - self.most_kept // 8:
            if self.relieved < 0:
                self.relieved = self._idle_keeper()
                if self.relieved < 0:
                    break
                self.conn[self.relieved, C_MODE] |= MODE_RELIEF
            why = self._drain(self.relieved)
            if why != WHY_DONE:
                return why
            self.conn[self.relieved, C_MODE] &= ~MODE_RELIEF
            self.relieved = -1
        return WHY_DONE

    @cython.cfunc
    @cython.exceptval(-2)
    def _idle_keeper(self) -> cython.longlong:
        """The slot that keeps bytes and was heard of longest ago; -1 when none keeps any.

        All are looked at once and kept in order; whoever was heard of since waits for the next look.
        """
        slot: cython.longlong
        looked: cython.bint = False
        while True:
            while self.keepers:
                number, slot, part = self.keepers.pop()
                if self._keeps(slot) and self.conn[slot, C_PART] == part and self.conn[slot, C_LAST_NUMBER] == number:
                    return slot
            if looked:
                return -1
            looked = True
            self.keepers = [
                (self.conn[slot, C_LAST_NUMBER], slot, self.conn[slot, C_PART])
                for slot in range(self.slots)
                if self._keeps(slot)
            ]
            self.keepers.sort(reverse=True)

    @cython.cfunc
    @cython.exceptval(-1)
    def _keeps(self, slot: cython.longlong) -> cython.bint:
        return (
            self.conn[slot, C_MODE] & MODE_LIVE != 0
            and self.side[2 * slot, S_PAGES] + self.side[2 * slot + 1, S_PAGES] > 0
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_anew(self, s: cython.longlong) -> cython.bint:
        """Whether this segment belongs to a new connection of the same tuple (RFC 9293, 3.4.1 and 3.6.1)."""
        state: cython.longlong = self.side[s, S_STATE]
        near: cython.longlong = self.side[s, S_NEXT]
        closed: cython.bint = self.conn[s >> 1, C_MODE] & MODE_CLOSED != 0
        first: cython.longlong = unwrap(near, self.seq)
        if self.flags & TCP_SYN == 0:
            # The SYN of a new connection may not be captured, but its numbers lie elsewhere.
            return (
                closed and self.length > 0 and (state & SIDE_STARTED == 0 or first > near + NEAR or first < near - NEAR)
            )
        if self.flags & TCP_RST:
            return False
        if state & SIDE_STARTED and (self.seq - self.side[s, S_START]) & LOW == 0:
            # The same SYN again; after a refusal it is another attempt.
            return closed and self.conn[s >> 1, C_CLOSE] == END_RST and not self._has_bytes(s >> 1)
        if closed:
            return True
        if state & SIDE_STARTED:
            if state & SIDE_ISN == 0 and self._is_late(s, first):
                return False
            if self._is_other_answer(s):
                return False
            return first <= near or first > self._high(s)
        return self._is_stray_syn(s)

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_other_answer(self, s: cython.longlong) -> cython.bint:
        """Whether a SYN+ACK answers the same SYN once more, with another number: a host that keeps no state between them."""
        return (
            self.flags & TCP_ACK != 0
            and self.side[s, S_STATE] & (SIDE_ISN | SIDE_CALLER | SIDE_FIN | SIDE_ENDED) == SIDE_ISN
            and self.ack == self.side[s, S_LAST_ACK]
            and self.side[s, S_HEAD] < 0
            and not self._has_bytes(s >> 1)
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_late(self, s: cython.longlong, first: cython.longlong) -> cython.bint:
        """Whether a SYN is that of a side met in mid-flight: behind bytes that it should precede, the first ones lost."""
        before: cython.longlong = self.side[s, S_START] - first
        if before < 0 or before > EARLIER_SYN:
            return False
        return not self._passed(s >> 1, self.conn[s >> 1, C_FIRST_TIME], 0, self.reorder_ns, self.reorder_segments)

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_stray_syn(self, s: cython.longlong) -> cython.bint:
        """For a side that has not started: does the SYN contradict what is known of its numbers?"""
        known: cython.longlong = self.side[s, S_LOWEST]
        if known == 0:
            if self.flags & TCP_ACK and self.side[s ^ 1, S_STATE] & SIDE_ISN:
                return False  # an answer to this connection's SYN, or to none: `_syn` looks
            if self.side[s ^ 1, S_LAST_ACK] == UNKNOWN:
                return False
            known = TURN + self.side[s ^ 1, S_LAST_ACK]
        known -= unwrap(known, self.seq)
        return known < 0 or known > NEAR

    @cython.cfunc
    @cython.exceptval(-1)
    def _has_bytes(self, slot: cython.longlong) -> cython.bint:
        s: cython.longlong = 2 * slot
        return self.side[s, S_STREAM] + self.side[s, S_GAPS] + self.side[s + 1, S_STREAM] + self.side[s + 1, S_GAPS] > 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _high(self, s: cython.longlong) -> cython.longlong:
        """End of all bytes of a side seen so far."""
        tail: cython.longlong = self.side[s, S_TAIL]
        if tail < 0:
            return self.side[s, S_NEXT]
        return self.held[tail, H_SEQ] + self.held[tail, H_LENGTH]

    @cython.cfunc
    @cython.exceptval(-1)
    def _place(self, s: cython.longlong, seq: cython.longlong) -> cython.longlong:
        """Unwraps a number of this side; the first one seen gives the side its origin."""
        if self.side[s, S_NEXT] == 0:
            self.side[s, S_NEXT] = TURN + (seq & LOW)
            self.side[s, S_START] = self.side[s, S_NEXT]
        return unwrap(self.side[s, S_NEXT], seq)

    @cython.cfunc
    @cython.exceptval(-1)
    def _syn(self, s: cython.longlong) -> cython.longlong:
        """Returns the sender's side, which changes when it turns out that the other one called."""
        slot: cython.longlong = s >> 1
        is_answer: cython.bint = self.flags & TCP_ACK != 0
        first: cython.longlong = self._place(s, self.seq)
        answered: cython.longlong = 0
        if self.side[s, S_STATE] & SIDE_STARTED:
            return self._syn_again(s, first)
        if is_answer:
            answered = self._place(s ^ 1, self.ack)
            if self.side[s ^ 1, S_STATE] & SIDE_ISN and (
                answered < self.side[s ^ 1, S_START] or answered > self._high(s ^ 1)
            ):
                return s  # of an older connection
        s = self._caller_first(s, is_answer)
        self.side[s, S_STATE] |= SIDE_ISN | (0 if is_answer else SIDE_CALLER)
        self._start(s, first)
        self.conn[slot, C_SYN] |= 2 if is_answer else 1
        if is_answer:
            if s & 1:
                self.conn[slot, C_SYN_ACK_TIME] = self.time
                # An ACK that came before this SYN+ACK cannot be timed, nor can a later one stand for it.
                self.conn[slot, C_AWAITS_ACK] = 1 if self.side[s ^ 1, S_LAST_ACK] == UNKNOWN else 0
            self._lowest(s ^ 1, answered)
        elif s & 1 == 0:
            self.conn[slot, C_SYN_TIME] = self.time
        return s

    @cython.cfunc
    @cython.exceptval(-1)
    def _syn_again(self, s: cython.longlong, first: cython.longlong) -> cython.longlong:
        """A SYN of a side that has started: a second one cannot be timed, one that came very late is noted.

        Returns the sender's side, as `_syn` does.
        """
        slot: cython.longlong = s >> 1
        is_answer: cython.bint = self.flags & TCP_ACK != 0
        if first != self.side[s, S_START]:
            if self._is_other_answer(s):
                self.conn[slot, C_SYN_ACK_TWICE] = 1
                self._start(s, first)
            return s
        if self.side[s, S_STATE] & SIDE_ISN == 0:
            self.side[s, S_STATE] |= SIDE_ISN
            s = self._caller_first(s, is_answer)
            # Too late to say that side 0 called when it did not.
            if (s & 1) == (1 if is_answer else 0):
                self.conn[slot, C_SYN] |= 2 if is_answer else 1
        elif self.flags & TCP_ACK:
            self.conn[slot, C_SYN_ACK_TWICE] = 1
        elif s & 1 == 0:
            self.conn[slot, C_SYN_TIME] = UNKNOWN
        return s

    @cython.cfunc
    @cython.exceptval(-1)
    def _caller_first(self, s: cython.longlong, is_answer: cython.bint) -> cython.longlong:
        """Makes the caller side 0, as long as nothing was written that says otherwise; returns the sender's side."""
        slot: cython.longlong = s >> 1
        if (
            (s & 1) == (1 if is_answer else 0)
            or self.conn[slot, C_MODE] & MODE_OPENED
            or self.conn[slot, C_RST]
            or self.side[2 * slot, S_STATE] & SIDE_CALLER
        ):
            return s
        self._swap(slot)
        return s ^ 1

    @cython.cfunc
    def _swap(self, slot: cython.longlong):
        """Exchanges the sides."""
        column: cython.longlong
        value: cython.longlong
        for column in range(3):
            value = self.conn[slot, C_A_HIGH + column]
            self.conn[slot, C_A_HIGH + column] = self.conn[slot, C_B_HIGH + column]
            self.conn[slot, C_B_HIGH + column] = value
        for column in range(S_COLUMNS):
            value = self.side[2 * slot, column]
            self.side[2 * slot, column] = self.side[2 * slot + 1, column]
            self.side[2 * slot + 1, column] = value

    @cython.cfunc
    @cython.exceptval(-1)
    def _lowest(self, s: cython.longlong, seq: cython.longlong) -> cython.bint:
        """A side that has not started would start here or before; its window begins with its first bytes.

        False when the number is further from the first one seen than any window is wide.
        """
        if self.side[s, S_STATE] & SIDE_STARTED:
            return True
        if seq < self.side[s, S_START] - LARGEST_WINDOW or seq > self.side[s, S_START] + LARGEST_WINDOW:
            return False
        if self.side[s, S_HEAD] < 0 and self.side[s, S_STATE] & SIDE_FIN == 0:
            self.side[s, S_LOST_TO] = 0
            self._watch(s, 0)
        if self.side[s, S_LOWEST] == 0 or seq < self.side[s, S_LOWEST]:
            self.side[s, S_LOWEST] = seq
        return True

    @cython.cfunc
    def _start(self, s: cython.longlong, seq: cython.longlong):
        self.side[s, S_STATE] |= SIDE_STARTED
        self.side[s, S_NEXT] = seq
        self.side[s, S_START] = seq
        self.side[s, S_HOLE_ACK] = 0
        self.side[s, S_LOST_TO] = 0
        if self.side[s ^ 1, S_LAST_ACK] != UNKNOWN:
            self._acked(s, self.side[s ^ 1, S_LAST_ACK])

    @cython.cfunc
    def _ack(self, s: cython.longlong):
        """Notes what side `s` acknowledges."""
        slot: cython.longlong = s >> 1
        self._acked(s ^ 1, self.ack)
        if (
            self.conn[slot, C_AWAITS_ACK]
            and s & 1 == 0
            and self.flags & (TCP_SYN | TCP_RST) == 0
            and unwrap(self.side[s ^ 1, S_NEXT], self.ack) >= self.side[s ^ 1, S_START]
        ):
            self.conn[slot, C_AWAITS_ACK] = 0
            if self.conn[slot, C_SYN_ACK_TWICE] == 0:
                self.conn[slot, C_ACK_TIME] = self.time

    @cython.cfunc
    def _acked(self, s: cython.longlong, ack: cython.longlong):
        """The peer acknowledged bytes of side `s`; numbers far beyond anything seen are not believed."""
        to: cython.longlong
        if self.side[s, S_STATE] & (SIDE_STARTED | SIDE_ENDED) != SIDE_STARTED:
            return
        to = self._believed(s, ack)
        if to > self.side[s, S_ACKED]:
            self.side[s, S_ACKED] = to
            if self._is_ahead(s, to) and self.side[s, S_HOLE_ACK] <= self.side[s, S_NEXT]:
                self._watch(s, to)

    @cython.cfunc
    @cython.exceptval(-1)
    def _believed(self, s: cython.longlong, ack: cython.longlong) -> cython.longlong:
        """How far an ACK number acknowledges side `s`; 0 when it cannot be."""
        to: cython.longlong = unwrap(self.side[s, S_NEXT], ack)
        if self.side[s, S_STATE] & SIDE_FIN and to > self.side[s, S_FIN_AT]:
            return self.side[s, S_FIN_AT]
        return 0 if to > self._high(s) + NEAR else to

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_ahead(self, s: cython.longlong, to: cython.longlong) -> cython.bint:
        """Whether `to` is a number of side `s` still to be waited for."""
        return to > self.side[s, S_NEXT] and to > self.side[s, S_WAIVED]

    @cython.cfunc
    def _watch(self, s: cython.longlong, to: cython.longlong):
        """Starts the window of a hole (or of the start) with the newest segment."""
        slot: cython.longlong = s >> 1
        self.side[s, S_HOLE_ACK] = to
        self.side[s, S_HOLE_TIME] = self.conn[slot, C_LAST_TIME]
        self.side[s, S_HOLE_NUMBER] = self.conn[slot, C_LAST_NUMBER]
        self.side[s, S_HOLE_COUNT] = self._segments(slot)

    @cython.cfunc
    @cython.exceptval(-1)
    def _segments(self, slot: cython.longlong) -> cython.longlong:
        return self.side[2 * slot, S_PACKETS] + self.side[2 * slot + 1, S_PACKETS]

    @cython.cfunc
    @cython.exceptval(-1)
    def _passed(
        self,
        slot: cython.longlong,
        time: cython.longlong,
        count: cython.longlong,
        ns: cython.longlong,
        segments: cython.longlong,
    ) -> cython.bint:
        """Whether a window that began then has passed; a clock set back counts as time passed."""
        span: cython.longlong = self.conn[slot, C_LAST_TIME] - time
        return (span >= ns or -span >= ns) and self._segments(slot) - count >= segments

    @cython.cfunc
    def _data(self, s: cython.longlong):
        """Delivers the part of a payload that is next, keeps the part that is later, counts the rest as seen before."""
        first: cython.longlong = self._place(s, self.seq)
        begin: cython.longlong
        end: cython.longlong
        stop: cython.longlong
        kept: cython.longlong
        ack: cython.longlong = self.ack
        if self.side[s, S_STATE] & SIDE_STARTED == 0:
            if not self._lowest(s, first):
                self._problem(PROBLEM_STRAY_BYTES, s, first, self.length)
            elif self._keep(s, first, first, first + self.length) == 0:
                self.side[s, S_RETRANSMITTED] += 1
            return
        begin = max(first, self.side[s, S_NEXT])
        end = self._before_end(s, begin, first + self.length)
        if begin >= end:
            # A keep-alive may repeat the last byte.
            if end <= self.side[s, S_NEXT] and (self.length != 1 or first != self.side[s, S_NEXT] - 1):
                self.side[s, S_RETRANSMITTED] += 1
            return
        stop = begin
        if self.side[s, S_HEAD] >= 0:
            ack = _older(ack, self.held[self.side[s, S_HEAD], H_ACK])
        if begin == self.side[s, S_NEXT] and not self._waits(s, ack):
            stop = end
            if self.side[s, S_HEAD] >= 0:
                stop = min(end, self.held[self.side[s, S_HEAD], H_SEQ])
            self._straight(s, first, stop)
        if stop < end:
            kept = self._keep(s, first, stop, end)
            if kept > 0:
                # While the peer's start is held back, waiting says nothing about the order of the capture.
                if self.side[s ^ 1, S_STATE] & SIDE_STARTED or self.side[s ^ 1, S_LOST_TO]:
                    self.side[s, S_REORDERED] += 1
            elif stop == begin:
                self.side[s, S_RETRANSMITTED] += 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _before_end(self, s: cython.longlong, begin: cython.longlong, end: cython.longlong) -> cython.longlong:
        """`end`, or where the stream ends before it: what lies beyond is no part of the stream."""
        last: cython.longlong = end
        if self.side[s, S_STATE] & SIDE_ENDED:
            last = min(end, self.side[s, S_NEXT])
        elif self.side[s, S_STATE] & SIDE_FIN:
            last = min(end, self.side[s, S_FIN_AT])
        if last < end:
            begin = max(begin, last)
            self._problem(PROBLEM_BYTES_AFTER_END, s, begin, end - begin)
        return last

    @cython.cfunc
    def _straight(self, s: cython.longlong, first: cython.longlong, stop: cython.longlong):
        """Delivers [next, stop) of a payload that begins at `first`, from the block; what was not captured is a gap."""
        skip: cython.longlong = self.side[s, S_NEXT] - first
        there: cython.longlong = min(stop, first + self.captured) - self.side[s, S_NEXT]
        if there > 0:
            self._say(CHUNK_DATA, s, self.offset + skip, there, self.time, self.number, 0)
        if self.side[s, S_NEXT] < stop:
            self._say(CHUNK_GAP, s, 0, stop - self.side[s, S_NEXT], self.time, self.number, GAP_CUT)

    @cython.cfunc
    def _fin(self, s: cython.longlong):
        """Notes where the stream ends; a place that cannot be is not believed."""
        at: cython.longlong
        if self.side[s, S_STATE] & (SIDE_FIN | SIDE_ENDED):
            return
        at = self._place(s, self.seq + self.length)
        if self.side[s, S_STATE] & SIDE_STARTED:
            if at < self.side[s, S_NEXT] - 1 or at > self._high(s) + NEAR:
                return
        elif not self._lowest(s, at):
            return
        self.side[s, S_STATE] |= SIDE_FIN
        self.side[s, S_FIN_AT] = at
        self.side[s, S_FIN_TIME] = self.time
        self.side[s, S_FIN_NUMBER] = self.number
        self.side[s, S_FIN_ACK] = self.ack
        self.side[s, S_ACKED] = min(self.side[s, S_ACKED], at)
        self.side[s, S_HOLE_ACK] = min(self.side[s, S_HOLE_ACK], at)
        self.side[s, S_LOST_TO] = min(self.side[s, S_LOST_TO], at)

    @cython.cfunc
    def _reset(self, s: cython.longlong):
        """Notes a reset whose numbers fit (RFC 5961): nobody outside shall end a connection by guessing."""
        slot: cython.longlong = s >> 1
        at: cython.longlong = 0
        fits: cython.bint = True
        if self.conn[slot, C_MODE] & MODE_CLOSED or self.conn[slot, C_RST]:
            return
        if self.side[s, S_NEXT]:
            at = unwrap(self.side[s, S_NEXT], self.seq)
            fits = self.side[s, S_NEXT] - BEHIND <= at and at <= self._high(s) + NEAR
        if self.side[s, S_STATE] & SIDE_STARTED == 0 and self.side[s ^ 1, S_STATE] & SIDE_STARTED:
            # A refusal has the number 0, but acknowledges the SYN.
            if self.ack != UNKNOWN:
                fits = self._believed(s ^ 1, self.ack) >= self.side[s ^ 1, S_START]
            at = at if fits and self.side[s, S_HEAD] >= 0 else 0
        if not fits:
            self._problem(PROBLEM_RESET_IGNORED, s, self.seq, 0)
            return
        self.conn[slot, C_RST] = 1 + (s & 1)
        self.conn[slot, C_RST_AT] = at
        self.conn[slot, C_RST_TIME] = self.time
        self.conn[slot, C_RST_NUMBER] = self.number
        self.conn[slot, C_RST_COUNT] = self._segments(slot)

    # ---- bytes kept for later ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _keep(
        self, s: cython.longlong, first: cython.longlong, begin: cython.longlong, end: cython.longlong
    ) -> cython.longlong:
        """Keeps what is new of [begin, end) of a payload that begins at `first`; returns how many bytes that is."""
        record: cython.longlong = self.side[s, S_HEAD]
        before: cython.longlong = -1
        at: cython.longlong = begin
        stop: cython.longlong
        fresh: cython.longlong = 0
        differ: cython.longlong = 0
        if record >= 0 and at >= self._high(s):
            before = self.side[s, S_TAIL]
            if _older(self.held[before, H_ACK], self.ack) == self.held[before, H_ACK]:
                record = -1
        while record >= 0 and self.held[record, H_SEQ] + self.held[record, H_LENGTH] <= at:
            self._sent_by_now(record)
            before = record
            record = self.held[record, H_NEXT]
        while at < end:
            stop = end if record < 0 else min(end, self.held[record, H_SEQ])
            while at < stop:
                before = self._new_record(s, before, first, at, stop)
                fresh += self.held[before, H_LENGTH]
                at += self.held[before, H_LENGTH]
            if at < end:
                stop = min(end, self.held[record, H_SEQ] + self.held[record, H_LENGTH])
                differ += self._differing(record, first, at, stop)
                if stop < end or stop == self.held[record, H_SEQ] + self.held[record, H_LENGTH]:
                    self._sent_by_now(record)
                at = stop
                before = record
                record = self.held[record, H_NEXT]
        if differ:
            self.side[s, S_CONFLICTS] += 1
            self._problem(PROBLEM_CONFLICTING_COPIES, s, begin, differ)
        return fresh

    @cython.cfunc
    @cython.exceptval(-1)
    def _new_record(
        self,
        s: cython.longlong,
        before: cython.longlong,
        first: cython.longlong,
        at: cython.longlong,
        stop: cython.longlong,
    ) -> cython.longlong:
        """Keeps a first piece of [at, stop): as much as fits in a page, or all when it was not captured."""
        record: cython.longlong
        source: cython.longlong = self.offset + at - first
        there: cython.longlong = first + self.captured
        size: cython.longlong = stop - at
        if self.free_record < 0:
            self._grow_records()
        record = self.free_record
        self.free_record = self.held[record, H_NEXT]
        if at < there:
            size = min(min(stop, there) - at, PAGE)
            self.arena[record * PAGE : record * PAGE + size] = self.block[source : source + size]
        self.held[record, H_CUT] = 0 if at < there else 1
        self.held[record, H_SEQ] = at
        self.held[record, H_LENGTH] = size
        self.held[record, H_TIME] = self.time
        self.held[record, H_NUMBER] = self.number
        self.held[record, H_ACK] = self.ack
        if before < 0:
            self.held[record, H_NEXT] = self.side[s, S_HEAD]
            self.side[s, S_HEAD] = record
        else:
            self.held[record, H_NEXT] = self.held[before, H_NEXT]
            self.held[before, H_NEXT] = record
        if self.held[record, H_NEXT] < 0:
            self.side[s, S_TAIL] = record
        else:
            self.held[record, H_ACK] = _older(self.ack, self.held[self.held[record, H_NEXT], H_ACK])
        self.side[s, S_PAGES] += 1
        self.kept_records += 1
        return record

    @cython.cfunc
    def _sent_by_now(self, record: cython.longlong):
        """Bytes are first sent in the order of their numbers: these no later than a segment that ends later.

        So they follow no more than it does. This undoes what a repeated copy, with its higher ACK number, would claim
        when the capture lacks the first copy or shows it later.
        """
        self.held[record, H_ACK] = _older(self.held[record, H_ACK], self.ack)

    @cython.cfunc
    @cython.exceptval(-1)
    def _differing(
        self, record: cython.longlong, first: cython.longlong, at: cython.longlong, stop: cython.longlong
    ) -> cython.longlong:
        """How many bytes of [at, stop) are not what the record has; what either copy lacks is not compared."""
        mine: cython.longlong = self.offset - first
        theirs: cython.longlong = record * PAGE - self.held[record, H_SEQ]
        count: cython.longlong = 0
        i: cython.longlong
        if self.held[record, H_CUT]:
            return 0
        for i in range(at, min(stop, first + self.captured)):
            if self.block[mine + i] != self.arena[theirs + i]:
                count += 1
        return count

    @cython.cfunc
    def _drop_head(self, s: cython.longlong):
        """Lets go of the first record; its page stays as it is until the next call."""
        record: cython.longlong = self.side[s, S_HEAD]
        self.side[s, S_HEAD] = self.held[record, H_NEXT]
        if self.side[s, S_HEAD] < 0:
            self.side[s, S_TAIL] = -1
        self.side[s, S_PAGES] -= 1
        self.kept_records -= 1
        self.held[record, H_NEXT] = self.limbo
        if self.limbo < 0:
            self.limbo_last = record
        self.limbo = record
        self.limbo_records += 1

    # ---- letting out ----

    @cython.cfunc
    @cython.exceptval(-1)
    def _flush(self, slot: cython.longlong) -> cython.longlong:
        """Lets everything out and frees the slot; to be called again unless it returns WHY_DONE."""
        self.conn[slot, C_MODE] |= MODE_FLUSH
        return self._drain(slot)

    @cython.cfunc
    @cython.exceptval(-1)
    def _drain(self, slot: cython.longlong) -> cython.longlong:
        """Takes steps while there is one to take. Each looks at the state alone, so a stop loses nothing."""
        while True:
            if self.used + ROWS_PER_STEP > self.room:
                return WHY_OUTPUT_FULL
            if self.limbo_records >= self.most_limbo:
                return WHY_HEAP_FULL
            if not self._step(slot):
                break
        if self.conn[slot, C_MODE] & MODE_FLUSH:
            self._close(slot)
        else:
            self.conn[slot, C_BUSY] = 0 if self._is_plain(slot) else 1
        self.draining = -1
        return WHY_DONE

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_plain(self, slot: cython.longlong) -> cython.bint:
        return (
            self._is_quiet(2 * slot)
            and self._is_quiet(2 * slot + 1)
            and self.conn[slot, C_RST] == 0
            and self.conn[slot, C_AWAITS_ACK] == 0
            and self.conn[slot, C_MODE] & MODE_CLOSED == 0
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_quiet(self, s: cython.longlong) -> cython.bint:
        """Nothing of this side is kept or waited for."""
        state: cython.longlong = self.side[s, S_STATE]
        return self.side[s, S_HEAD] < 0 and (
            state & SIDE_ENDED != 0 or (state & SIDE_FIN == 0 and not self._is_ahead(s, self.side[s, S_ACKED]))
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _step(self, slot: cython.longlong) -> cython.bint:
        """Lets one thing out, or gives one up; false when all that is left has to wait."""
        a: cython.longlong = 2 * slot
        mode: cython.longlong
        if self._is_quiet(a) and self._is_quiet(a + 1) and self.conn[slot, C_RST] == 0:
            return False
        if self._deliver(slot) or self._end(a) or self._end(a + 1) or self._limit(slot):
            return True
        self._look(a)
        self._look(a + 1)
        if self._lost(slot):
            return True
        mode = self.conn[slot, C_MODE]
        if self.conn[slot, C_RST] and mode & (MODE_RESET | MODE_FLUSH) == 0 and self._reset_is_due(slot):
            self.conn[slot, C_MODE] |= MODE_RESET
            return True
        if mode & (MODE_RESET | MODE_FLUSH):
            return self._give_up_one(slot) or self._end_by_reset(slot)
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _waits(self, s: cython.longlong, ack: cython.longlong) -> cython.bint:
        """Whether bytes of side `s` with this ACK number follow bytes of the peer that are not delivered yet."""
        peer: cython.longlong = s ^ 1
        if ack == UNKNOWN or self.side[peer, S_STATE] & SIDE_ENDED:
            return False
        if self.side[peer, S_STATE] & SIDE_STARTED == 0:
            if self.side[peer, S_HEAD] >= 0:
                return True
            # Nothing of it yet: it may be late, unless its window has passed, or it has nothing to tell yet.
            return self.side[peer, S_LOST_TO] == 0 and (
                self.side[peer, S_LOWEST] == 0 or unwrap(self.side[peer, S_NEXT], ack) > self.side[peer, S_LOWEST]
            )
        return self._is_ahead(peer, self._believed(peer, ack))

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_next(self, s: cython.longlong) -> cython.bint:
        """Whether the first record kept is the next of a side that has started."""
        return (
            self.side[s, S_HEAD] >= 0
            and self.side[s, S_STATE] & SIDE_STARTED != 0
            and self.held[self.side[s, S_HEAD], H_SEQ] == self.side[s, S_NEXT]
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _earlier(self, slot: cython.longlong, one: cython.bint, other: cython.bint) -> cython.longlong:
        """The side, among those that may, whose first record was captured first; -2 when neither may."""
        a: cython.longlong = 2 * slot
        if one and other:
            one = self.held[self.side[a, S_HEAD], H_NUMBER] <= self.held[self.side[a + 1, S_HEAD], H_NUMBER]
        return a if one else a + 1 if other else -2

    @cython.cfunc
    @cython.exceptval(-1)
    def _deliver(self, slot: cython.longlong) -> cython.bint:
        """Lets out a record that is next in its stream and follows nothing of the peer."""
        a: cython.longlong = 2 * slot
        s: cython.longlong = self._earlier(
            slot,
            self._is_next(a) and not self._waits(a, self.held[self.side[a, S_HEAD], H_ACK]),
            self._is_next(a + 1) and not self._waits(a + 1, self.held[self.side[a + 1, S_HEAD], H_ACK]),
        )
        if s < 0:
            return False
        self._out_head(s)
        return True

    @cython.cfunc
    def _out_head(self, s: cython.longlong):
        record: cython.longlong = self.side[s, S_HEAD]
        length: cython.longlong = self.held[record, H_LENGTH]
        time: cython.longlong = self.held[record, H_TIME]
        number: cython.longlong = self.held[record, H_NUMBER]
        if self.held[record, H_CUT]:
            self._say(CHUNK_GAP, s, 0, length, time, number, GAP_CUT)
        else:
            self._say(CHUNK_DATA, s, record * PAGE, length, time, number, 0)
            self.out[CHUNK_BUFFER, self.used - 1] = 1
        self._drop_head(s)

    @cython.cfunc
    @cython.exceptval(-1)
    def _end(self, s: cython.longlong) -> cython.bint:
        """Ends a side whose stream is delivered up to its FIN."""
        if self.side[s, S_STATE] & (SIDE_FIN | SIDE_STARTED | SIDE_ENDED) != SIDE_FIN | SIDE_STARTED:
            return False
        if self.side[s, S_NEXT] < self.side[s, S_FIN_AT] or self._waits(s, self.side[s, S_FIN_ACK]):
            return False
        self._out_end(s, END_FIN, self.side[s, S_FIN_TIME], self.side[s, S_FIN_NUMBER])
        return True

    @cython.cfunc
    def _out_end(self, s: cython.longlong, reason: cython.longlong, time: cython.longlong, number: cython.longlong):
        slot: cython.longlong = s >> 1
        self._say(CHUNK_END, s, 0, 0, time, number, reason)
        if self.side[s, S_HEAD] >= 0:
            self._problem(PROBLEM_BYTES_AFTER_END, s, self.side[s, S_NEXT], self._kept_bytes(s))
        while self.side[s, S_HEAD] >= 0:
            self._drop_head(s)
        self.side[s, S_STATE] |= SIDE_ENDED
        self.conn[slot, C_CLOSE] = max(self.conn[slot, C_CLOSE], reason)
        if self.side[s ^ 1, S_STATE] & SIDE_ENDED:
            self.conn[slot, C_MODE] |= MODE_CLOSED
            self.conn[slot, C_CLOSED_NUMBER] = self.conn[slot, C_LAST_NUMBER]
            if self.oldest is not None:
                heapq.heappush(self.oldest, self._age(slot))

    @cython.cfunc
    @cython.exceptval(-1)
    def _kept_bytes(self, s: cython.longlong) -> cython.longlong:
        total: cython.longlong = 0
        record: cython.longlong = self.side[s, S_HEAD]
        while record >= 0:
            total += self.held[record, H_LENGTH]
            record = self.held[record, H_NEXT]
        return total

    @cython.cfunc
    def _look_start(self, s: cython.longlong):
        """Looks whether a side that has not started has had its time to show where it starts."""
        if self.side[s, S_STATE] & SIDE_STARTED == 0 and self._passed(
            s >> 1, self.side[s, S_HOLE_TIME], self.side[s, S_HOLE_COUNT], START_NS, START_SEGMENTS
        ):
            self.side[s, S_LOST_TO] = 1

    @cython.cfunc
    def _look(self, s: cython.longlong):
        """Looks whether the window of the ACK noted for this side's holes has passed.

        One ACK is noted at a time. When its window has passed, all holes before it are lost, and the newest ACK is
        noted with the time of now: so a later hole waits for one to two windows, and a row of holes for no more.
        """
        slot: cython.longlong = s >> 1
        state: cython.longlong = self.side[s, S_STATE]
        noted: cython.longlong = self.side[s, S_HOLE_ACK]
        if state & (SIDE_STARTED | SIDE_ENDED) != SIDE_STARTED:
            return
        if noted > self.side[s, S_NEXT]:
            if not self._passed(
                slot, self.side[s, S_HOLE_TIME], self.side[s, S_HOLE_COUNT], self.reorder_ns, self.reorder_segments
            ):
                return
            self.side[s, S_LOST_TO] = noted
            self.side[s, S_LOST_TIME] = self.side[s, S_HOLE_TIME]
            self.side[s, S_LOST_NUMBER] = self.side[s, S_HOLE_NUMBER]
        self.side[s, S_HOLE_ACK] = 0
        if self.side[s, S_ACKED] > noted and self._is_ahead(s, self.side[s, S_ACKED]):
            self._watch(s, self.side[s, S_ACKED])

    @cython.cfunc
    @cython.exceptval(-1)
    def _lost(self, slot: cython.longlong) -> cython.bint:
        """Gives up one thing whose window has passed."""
        a: cython.longlong = 2 * slot
        one: cython.bint = self._is_overdue(a)
        other: cython.bint = self._is_overdue(a + 1)
        s: cython.longlong
        if one and other and self.side[a, S_HEAD] >= 0 and self.side[a + 1, S_HEAD] >= 0:
            s = self._earlier(slot, one, other)
        else:
            s = a if one else a + 1
        if not one and not other:
            return False
        self._give_up(s, self.side[s, S_LOST_TO], GAP_LOST)
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_overdue(self, s: cython.longlong) -> cython.bint:
        state: cython.longlong = self.side[s, S_STATE]
        if state & SIDE_STARTED == 0:
            return self.side[s, S_LOST_TO] != 0 and (self.side[s, S_HEAD] >= 0 or state & SIDE_FIN != 0)
        if state & SIDE_ENDED or not self._is_ahead(s, self.side[s, S_LOST_TO]):
            return False
        # Bytes that wait for a hole of the peer go when that one's window has passed.
        return not self._is_next(s) or self._is_next(s ^ 1)

    @cython.cfunc
    @cython.exceptval(-1)
    def _limit(self, slot: cython.longlong) -> cython.bint:
        """Gives up a hole when a side of this connection keeps too much, or all together do and it is this one's turn."""
        a: cython.longlong = 2 * slot
        s: cython.longlong = a if self.side[a, S_PAGES] >= self.side[a + 1, S_PAGES] else a + 1
        if self.side[s, S_PAGES] == 0:
            return False
        if self.side[s, S_PAGES] <= self.most_kept_per_side and self.conn[slot, C_MODE] & MODE_RELIEF == 0:
            return False
        self._give_up(s, self._high(s), GAP_LIMIT)
        return True

    @cython.cfunc
    def _give_up(self, s: cython.longlong, to: cython.longlong, reason: cython.longlong):
        """Stops waiting for whatever keeps side `s` from going on towards `to`: always takes a step."""
        peer: cython.longlong = s ^ 1
        head: cython.longlong = self.side[s, S_HEAD]
        end: cython.longlong
        if self.side[s, S_STATE] & SIDE_STARTED == 0:
            self._start(s, self.side[s, S_LOWEST])
        elif head < 0:
            self._gap(s, to, reason, self.side[s, S_LOST_TIME], self.side[s, S_LOST_NUMBER])
        elif self.held[head, H_SEQ] > self.side[s, S_NEXT]:
            if to >= self.held[head, H_SEQ]:
                self._gap(s, self.held[head, H_SEQ], reason, self.held[head, H_TIME], self.held[head, H_NUMBER])
            else:
                self._gap(s, to, reason, self.side[s, S_LOST_TIME], self.side[s, S_LOST_NUMBER])
        elif not self._waits(s, self.held[head, H_ACK]):
            self._out_head(s)
        elif self.side[peer, S_STATE] & SIDE_STARTED == 0:
            if self.side[peer, S_HEAD] >= 0:
                self._start(peer, self.side[peer, S_LOWEST])
            else:
                self.side[peer, S_LOST_TO] = 1
        elif self._is_next(peer):
            self._out_head(self._earlier(s >> 1, True, True))  # each waits for the other: in the order of capture
        else:
            end = self._believed(peer, self.held[head, H_ACK])
            if self.side[peer, S_HEAD] >= 0:
                end = min(end, self.held[self.side[peer, S_HEAD], H_SEQ])
            self._gap(peer, end, reason, self.held[head, H_TIME], self.held[head, H_NUMBER])

    @cython.cfunc
    def _gap(
        self,
        s: cython.longlong,
        end: cython.longlong,
        reason: cython.longlong,
        time: cython.longlong,
        number: cython.longlong,
    ):
        """Passes over [next, end). One byte at the end of what is known is as likely a FIN not captured."""
        if end == self.side[s, S_NEXT] + 1 and self.side[s, S_HEAD] < 0 and self.side[s, S_STATE] & SIDE_FIN == 0:
            self.side[s, S_WAIVED] = end
        else:
            if reason == GAP_LIMIT:
                self.given_up += 1
                self._problem(PROBLEM_HOLE_GIVEN_UP, s, self.side[s, S_NEXT], end - self.side[s, S_NEXT])
            self._say(CHUNK_GAP, s, 0, end - self.side[s, S_NEXT], time, number, reason)

    @cython.cfunc
    @cython.exceptval(-1)
    def _reset_is_due(self, slot: cython.longlong) -> cython.bint:
        """A reset counts once all before it is delivered, or when the window has passed."""
        s: cython.longlong = 2 * slot + self.conn[slot, C_RST] - 1
        # One number more is a FIN that was not captured.
        if (
            self._is_quiet(s)
            and self._is_quiet(s ^ 1)
            and (self.side[s, S_STATE] & SIDE_STARTED == 0 or self.conn[slot, C_RST_AT] <= self.side[s, S_NEXT] + 1)
        ):
            return True
        return self._passed(
            slot, self.conn[slot, C_RST_TIME], self.conn[slot, C_RST_COUNT], self.reorder_ns, self.reorder_segments
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _give_up_one(self, slot: cython.longlong) -> cython.bint:
        """Nothing more will come: gives up what the capture's order says is first; false when nothing is left."""
        a: cython.longlong = 2 * slot
        s: cython.longlong = self._earlier(slot, self.side[a, S_HEAD] >= 0, self.side[a + 1, S_HEAD] >= 0)
        if s >= 0:
            self._give_up(s, self._high(s), GAP_UNACKED)
            return True
        for s in range(a, a + 2):
            if self._give_up_rest(s):
                return True
        for s in range(a, a + 2):
            if self.side[s, S_STATE] & (SIDE_FIN | SIDE_ENDED) == SIDE_FIN:
                self._out_end(s, END_FIN, self.side[s, S_FIN_TIME], self.side[s, S_FIN_NUMBER])
                return True
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _give_up_rest(self, s: cython.longlong) -> cython.bint:
        """Passes over what the peer, a FIN or a reset say was sent after the last byte seen."""
        slot: cython.longlong = s >> 1
        state: cython.longlong = self.side[s, S_STATE]
        to: cython.longlong = self.side[s, S_ACKED]
        time: cython.longlong = self.side[s, S_HOLE_TIME]
        number: cython.longlong = self.side[s, S_HOLE_NUMBER]
        if state & SIDE_ENDED:
            return False
        if state & SIDE_STARTED == 0:
            if state & SIDE_FIN:
                self._start(s, self.side[s, S_LOWEST])
                return True
            return False
        if state & SIDE_FIN:
            to = self.side[s, S_FIN_AT]
            time = self.side[s, S_FIN_TIME]
            number = self.side[s, S_FIN_NUMBER]
        elif self.conn[slot, C_RST] == 1 + (s & 1) and self.conn[slot, C_RST_AT] > to:
            to = self.conn[slot, C_RST_AT]
            time = self.conn[slot, C_RST_TIME]
            number = self.conn[slot, C_RST_NUMBER]
        if not self._is_ahead(s, to):
            return False
        self._gap(s, to, GAP_UNACKED, time, number)
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _end_by_reset(self, slot: cython.longlong) -> cython.bint:
        """Ends what has not ended, the side that reset first."""
        s: cython.longlong = 2 * slot + self.conn[slot, C_RST] - 1
        if self.conn[slot, C_RST] == 0:
            return False
        self.conn[slot, C_RST] = 0
        self.conn[slot, C_MODE] &= ~MODE_RESET
        if self.side[s, S_STATE] & SIDE_ENDED == 0:
            self._out_end(s, END_RST, self.conn[slot, C_RST_TIME], self.conn[slot, C_RST_NUMBER])
        if self.side[s ^ 1, S_STATE] & SIDE_ENDED == 0:
            self._out_end(s ^ 1, END_RST, self.conn[slot, C_RST_TIME], self.conn[slot, C_RST_NUMBER])
        return True


@cython.cfunc
@cython.exceptval(-1)
def _bucket(segments: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
    """Where the index of recent segments has those like this one."""
    x: cython.longlong = segments[SEGMENT_SEQ, row] + 40503 * (segments[SEGMENT_IP_ID, row] & 0xFFFF)
    x += 31 * segments[SEGMENT_ACK, row]
    return (x ^ (x >> 12)) & 4095


@cython.cfunc
@cython.exceptval(check=False)
def _span(begin: cython.longlong, end: cython.longlong) -> cython.longlong:
    """UNKNOWN unless both are known and in order."""
    if begin == UNKNOWN or end == UNKNOWN or end < begin:
        return UNKNOWN
    return end - begin


@cython.cfunc
@cython.exceptval(check=False)
def _older(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """The lower of two ACK numbers; UNKNOWN (follows nothing) when one is."""
    if one == UNKNOWN or other == UNKNOWN:
        return UNKNOWN
    return other if unwrap(one, other) < one else one
