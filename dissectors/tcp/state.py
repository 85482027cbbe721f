"""The state of reassembly: its attributes, and their values at the beginning.

Matrices of state are `matrix[row, column]`, so that what one segment touches lies in few cache lines; their columns are in
`state_columns`. Batches are the other way round. A matrix grows by a copy, the arena does not: it is mapped in full.
"""

import mmap
from array import array

import cython

from dissectors.layout import *
from dissectors.matrix import new_matrix
from dissectors.tcp.state_columns import *


@cython.cclass
class TcpState:
    """What all functions of reassembly work on; `Reassembly` adds the public methods."""

    # For others to read: see `Reassembly`.
    heap = cython.declare(object, visibility="readonly")
    slots = cython.declare(cython.longlong, visibility="readonly")
    live = cython.declare(cython.longlong, visibility="readonly")  # slots in use
    views = cython.declare(cython.longlong, visibility="readonly")
    duplicates = cython.declare(dict, visibility="readonly")
    evicted = cython.declare(cython.longlong, visibility="readonly")
    holes_given_up = cython.declare(cython.longlong, visibility="readonly")
    segments_given_up = cython.declare(cython.longlong, visibility="readonly")
    next_part = cython.declare(cython.longlong, visibility="readonly")
    part_rows = cython.declare(cython.longlong, visibility="readonly")
    queued_rows = cython.declare(cython.longlong, visibility="readonly")
    record_count = cython.declare(cython.longlong, visibility="readonly")  # pages of the arena used at some time

    # Options.
    seed: cython.ulonglong
    reorder_segments: cython.longlong
    reorder_ns: cython.longlong
    max_buffered: cython.longlong  # pages
    max_buffered_per_side: cython.longlong  # pages
    max_released: cython.longlong  # pages
    max_live: cython.longlong  # connections
    in_task: cython.bint
    first_part: cython.longlong

    # Connections and the flow table.
    conn: cython.longlong[:, ::1]
    side: cython.longlong[:, ::1]
    conn_memory: object
    side_memory: object
    table: cython.int[::1]
    mask: cython.longlong
    free_slot: cython.longlong
    new_view: cython.longlong  # CONN_VIEW, CONN_CAPTURE_POINT and CONN_NETWORK of the next new slot
    new_capture_point: cython.longlong
    new_network: cython.longlong
    begins_part: cython.bint  # the next segment begins a part: decided before the output or the heap was full

    # Buffered bytes: pages of the arena and their records.
    arena: cython.uchar[::1]
    records: cython.longlong[:, ::1]
    records_memory: object
    free_record: cython.longlong
    released: cython.longlong  # first and last of the records whose pages this batch's chunks refer to
    released_last: cython.longlong
    released_count: cython.longlong
    buffered_pages: cython.longlong

    # The batch.
    block: cython.const[cython.uchar][::1]
    segments: cython.longlong[:, ::1]
    chunks: cython.longlong[:, ::1]
    chunk_rows: cython.longlong  # written
    chunk_room: cython.longlong
    draining: cython.longlong  # slot to go on with, -1 none
    finish_slot: cython.longlong  # slot that `finish` goes on with

    # The loaded segment; `ack` is UNKNOWN when it has none, `seq` is that of its first payload byte.
    time: cython.longlong
    number: cython.longlong
    seq: cython.longlong
    ack: cython.longlong
    flags: cython.longlong
    offset: cython.longlong
    captured: cython.longlong
    length: cython.longlong

    # What the newest segment shows of its way (`timing`).
    lag: cython.longlong  # 0: no timestamp
    held: cython.longlong
    marks: cython.longlong

    # Recent segments, among which duplicates are looked for.
    recent: cython.longlong[:, ::1]  # a ring
    recent_count: cython.longlong  # segments that were put into it so far
    # Row 0: bucket -> 1 + number of its newest segment; row 1: place in the ring -> the same of the segment before it.
    recent_index: cython.longlong[:, ::1]
    indexed: cython.longlong  # segments that are in the index
    first_row: cython.longlong  # first row of this call that is not in the ring yet

    # Limits.
    half_open: cython.longlong  # connections with MODE_HALF_OPEN
    eviction_heap: object  # (rank, packet number, slot, part) while the connection limit is reached, else None
    half_open_heap: object  # the same of half-open connections
    victim: cython.longlong  # slot that is being evicted, -1 none
    given_up: cython.longlong[
        :, ::1
    ]  # 1 + hash of flows that were given up while open, at the place that the hash tells; None: no flow was
    giving_up: cython.longlong  # slot whose backlog is being given up, -1 none
    backlogs: list  # (packet number, slot, part) of connections with buffered bytes, the one idle for longest last

    # Parts and problems that were not taken yet.
    parts: cython.longlong[:, ::1]
    parts_memory: object
    part_room: cython.longlong
    problems: cython.longlong[:, ::1]
    problems_memory: object
    problem_rows: cython.longlong
    problems_dropped: cython.longlong

    # Segments that waited in a queue, not taken yet.
    queued: cython.longlong[:, ::1]
    queued_memory: object
    queued_room: cython.longlong

    # In a task only.
    newest_side: cython.longlong  # 2 * slot + side of the newest segment of the thorough path
    touched: list  # slots with segments since `take_touched`
    closed: list  # parts whose slots were freed since `take_closed`
    new_duplicates: list  # (part, input) of each duplicate since `take_duplicates`
    extremes: dict  # slot -> what `extremes` has set apart
    complete: object  # COMPLETE_ columns of complete connections, one after the other
    viewed_flows: set  # flows that had a second view
    disturbed: list  # parts of adopted connections that got a segment


@cython.cfunc
def clear_state(tcp: TcpState):
    """Sets everything but the options, which are set before, to what it is before the first segment."""
    tcp.slots = 0
    tcp.views = 1
    tcp.new_view = 0
    tcp.new_capture_point = 0
    tcp.new_network = 0
    tcp.begins_part = False
    tcp.duplicates = {}
    tcp.conn_memory = None
    tcp.side_memory = None
    tcp.records_memory = None
    # Mapped in full: a page takes memory when it is first used. Growing by a copy would need twice the limit for a moment.
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
    tcp.half_open = 0
    tcp.eviction_heap = None
    tcp.half_open_heap = None
    tcp.draining = -1
    tcp.victim = -1
    tcp.given_up = None
    tcp.segments_given_up = 0
    tcp.giving_up = -1
    tcp.backlogs = []
    tcp.evicted = 0
    tcp.holes_given_up = 0
    tcp.finish_slot = 0
    tcp.newest_side = 0
    tcp.touched = []
    tcp.closed = []
    tcp.new_duplicates = []
    tcp.extremes = {}
    tcp.complete = array("q")
    tcp.viewed_flows = set()
    tcp.disturbed = []
    tcp.lag = 0
    tcp.held = UNKNOWN
    tcp.marks = 0
    tcp.next_part = tcp.first_part
    tcp.problem_rows = 0
    tcp.problems_dropped = 0
    tcp.part_rows = 0
    tcp.part_room = 0
    tcp.parts_memory = None
    tcp.problems_memory = None
    tcp.queued_rows = 0
    tcp.queued_room = 0
    tcp.queued_memory = None


@cython.cfunc
def grown_matrix(old, columns, rows):
    """A matrix `m[row, column]` with `rows` rows that begins with those of `old`."""
    new = new_matrix(rows, columns)
    if old is not None:
        new.cast("B")[: old.nbytes] = old.cast("B")
    return new


@cython.cfunc
def mapped_memory(size):
    """`size` bytes of zero; pages that are never used take no memory."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)
