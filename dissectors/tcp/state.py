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
    views = cython.declare(cython.longlong, visibility="readonly")
    duplicates = cython.declare(dict, visibility="readonly")
    recent: cython.longlong[:, ::1]  # a ring: the newest segments before this call
    recent_count: cython.longlong
    recent_index: cython.longlong[
        :, ::1
    ]  # row 0: hash -> 1 + number of its newest segment; row 1: the one before it, by place
    indexed: cython.longlong
    first_row: cython.longlong  # of this call, that is not in the ring yet
    new_view: cython.longlong  # of the next new slot
    new_capture_point: cython.longlong
    conn: cython.longlong[:, ::1]
    side: cython.longlong[:, ::1]
    records: cython.longlong[:, ::1]
    arena: cython.uchar[::1]
    table: cython.int[::1]
    chunks: cython.longlong[:, ::1]
    block: cython.const[cython.uchar][::1]
    segments: cython.longlong[:, ::1]
    parts: cython.longlong[:, ::1]
    problems: cython.longlong[:, ::1]
    conn_memory: object
    side_memory: object
    records_memory: object
    record_count = cython.declare(cython.longlong, visibility="readonly")  # pages of the arena used at some time
    parts_memory: object
    problems_memory: object
    eviction_heap: object  # heap of (open, packet number, slot, part) while the connection limit is felt
    seed: cython.ulonglong
    mask: cython.longlong
    live: cython.longlong
    free_slot: cython.longlong
    free_record: cython.longlong
    released: cython.longlong  # records whose pages this batch's chunks refer to
    released_last: cython.longlong
    released_count: cython.longlong
    buffered_pages: cython.longlong
    chunk_rows: cython.longlong
    chunk_room: cython.longlong
    draining: cython.longlong  # slot to go on with, -1 none
    victim: cython.longlong
    giving_up: cython.longlong  # slot whose kept bytes are being given up, -1 none
    backlogs: list  # (packet number, slot, part) of those that keep bytes, the idlest last
    evicted = cython.declare(cython.longlong, visibility="readonly")  # open connections that gave way to newer ones
    holes_given_up = cython.declare(cython.longlong, visibility="readonly")  # holes not waited for, for want of memory
    finish_slot: cython.longlong
    in_task: cython.bint
    spoiling_until: (
        cython.longlong
    )  # what brings nothing new before this time may be a copy of what was before the task
    first_part: cython.longlong
    newest_side: cython.longlong  # 2 * slot + side of the segment that was taken in the thorough way
    touched: list  # slots of which segments came since `resting`
    closed: list  # parts whose slots were freed since `take_closed`
    new_duplicates: list  # (part, input) of each segment captured twice since `take_copies`, in a task
    complete: object  # WHOLE_ columns of connections seen from their SYN to their end, one after the other
    viewed_flows: set  # flows of which connections were seen at several places
    disturbed: list  # parts that were buried and of which something came
    next_part = cython.declare(cython.longlong, visibility="readonly")  # number of the part that begins next
    part_rows = cython.declare(cython.longlong, visibility="readonly")  # parts that take_parts would give
    part_room: cython.longlong
    problem_rows: cython.longlong
    problems_dropped: cython.longlong
    reorder_segments: cython.longlong
    reorder_ns: cython.longlong
    max_buffered: cython.longlong
    max_buffered_per_side: cython.longlong
    max_released: cython.longlong
    max_live: cython.longlong
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
    tcp.views = 1
    tcp.new_view = 0
    tcp.new_capture_point = 0
    tcp.duplicates = {}
    tcp.conn_memory = None
    tcp.side_memory = None
    tcp.records_memory = None
    # All of it at once, as pages that take memory when they are first used: growing by copies would need twice the
    # limit for a moment.
    tcp.heap = mapped_memory((tcp.max_buffered + tcp.max_released + 1024) * PAGE_BYTES)
    tcp.arena = memoryview(tcp.heap)
    tcp.record_count = 0
    tcp.free_slot = -1
    tcp.free_record = -1
    tcp.released = -1
    tcp.released_last = -1
    tcp.released_count = 0
    tcp.buffered_pages = 0
    tcp.live = 0
    tcp.eviction_heap = None
    tcp.draining = -1
    tcp.victim = -1
    tcp.giving_up = -1
    tcp.backlogs = []
    tcp.evicted = 0
    tcp.holes_given_up = 0
    tcp.finish_slot = 0
    tcp.spoiling_until = UNKNOWN
    tcp.newest_side = 0
    tcp.touched = []
    tcp.closed = []
    tcp.new_duplicates = []
    tcp.complete = array("q")
    tcp.viewed_flows = set()
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
