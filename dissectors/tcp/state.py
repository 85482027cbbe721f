"""The state of reassembly."""

import mmap
from array import array

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.tcp.state_columns import *


@cython.cclass
class TcpState:
    """State of the stage."""

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


@cython.cfunc
def clear_state(tcp: TcpState):
    """A stage that has seen nothing yet; the options are set before."""
    tcp.slots = 0
    tcp.lanes = 1
    tcp.lane = 0
    tcp.point = 0
    tcp.duplicates = {}
    tcp.conn_memory = None
    tcp.side_memory = None
    tcp.held_memory = None
    # All of it at once, as pages that take memory when they are first used: growing by copies would need twice the
    # limit for a moment.
    tcp.heap = mapped_memory((tcp.most_kept + tcp.most_limbo + 1024) * PAGE)
    tcp.arena = memoryview(tcp.heap)
    tcp.records = 0
    tcp.free_slot = -1
    tcp.free_record = -1
    tcp.limbo = -1
    tcp.limbo_last = -1
    tcp.limbo_records = 0
    tcp.kept_records = 0
    tcp.live = 0
    tcp.oldest = None
    tcp.draining = -1
    tcp.victim = -1
    tcp.relieved = -1
    tcp.keepers = []
    tcp.evicted = 0
    tcp.given_up = 0
    tcp.finish_slot = 0
    tcp.spoiling_until = UNKNOWN
    tcp.taken = 0
    tcp.touched = []
    tcp.closed = []
    tcp.copies = []
    tcp.whole = array("q")
    tcp.crossed = set()
    tcp.disturbed = []
    tcp.next_part = tcp.first_part
    tcp.problem_rows = 0
    tcp.problems_dropped = 0
    tcp.part_rows = 0
    tcp.part_room = 0
    tcp.parts_memory = None
    tcp.problems_memory = None


@cython.cfunc
def grown_matrix(old, columns, rows):
    """A matrix `m[row, column]` with `rows` rows that begins with those of `old`."""
    new = new_matrix(rows, columns)
    if old is not None:
        new.cast("B")[: old.nbytes] = old.cast("B")
    return new


@cython.cfunc
def mapped_memory(size):
    """`size` bytes of zero, of which those that are never used cost nothing."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)
