"""State of framing, and how it grows.

Matrices and pools grow only between two runs over chunks (the table of closed connections excepted), so that no view moves
under a running loop. A matrix is `m[row, column]`: what one frame touches lies together in memory.
"""

import cython

from dissectors.kafka.framing.state_columns import *
from dissectors.layout import *
from dissectors.matrix import new_matrix

i64 = cython.typedef(cython.longlong)


@cython.cclass
class FramingState:
    """What framing knows of all connections, its pools and its output. Functions take it as `f`, a slot as `slot`, and the
    direction `2 * slot + side` as `s`."""

    # Rows by connection, direction, request in flight and provisional reply: `state_columns` has their columns.
    conn: i64[:, ::1]
    side: i64[:, ::1]
    requests: i64[:, ::1]
    provisional: i64[:, ::1]
    framed_parts: i64[:, ::1]
    problems: i64[:, ::1]
    pages: cython.uchar[::1]
    next_page: i64[::1]
    heap: cython.uchar[::1]
    newest: i64[::1]
    flexible: i64[::1]
    out: i64[:, ::1]
    stream_block: cython.const[cython.uchar][::1]
    stream_heap: cython.const[cython.uchar][::1]
    conn_memory: object
    side_memory: object
    requests_memory: object
    provisional_memory: object
    framed_parts_memory: object
    problems_memory: object
    pages_memory: object
    heap_memory = cython.declare(object, visibility="readonly")
    next_page_memory: object
    broker_ports: object
    slots: i64
    request_capacity = cython.declare(i64, visibility="readonly")
    free_request: i64
    free_requests: i64
    provisional_capacity: i64
    free_provisional: i64
    page_count: i64
    free_page: i64
    free_pages: i64
    tail_pages: i64  # pages that hold joined tails (`tails`)
    arena_bytes: i64
    max_frame: i64
    heap_used: i64
    heap_needed: i64
    out_used: i64
    out_size: i64
    end_lag: (
        i64  # CHUNK_LAG, CHUNK_COVERS and CHUNK_MARKS of the packet with the last byte of the frame that is finished
    )
    end_covers: i64
    end_marks: i64
    chunk_position: i64  # bytes of the current chunk that are done
    framed_part_rows = cython.declare(i64, visibility="readonly")  # rows that take_framed_parts would give
    framed_part_size: i64
    heap_size: i64
    problem_rows: i64
    problems_dropped: i64
    why: i64
    crowded: cython.bint  # too many requests of one connection are in flight after the one just seen
    overtaken: i64  # the request before that of the reply just paired, -1 none: it and older ones have been overtaken
    settling: i64  # connection whose overtaken requests are being settled, -1 none
    settling_losses: i64  # of its reply direction when the reply came


def grow_slots(f: FramingState, wanted):
    size = max(64, f.slots)
    while size < wanted:
        size *= 2
    if size == f.slots:
        return
    conn = grown(f.conn_memory, CONN_COLUMNS, size)
    side = grown(f.side_memory, SIDE_COLUMNS, 2 * size)
    f.conn_memory = conn
    f.side_memory = side
    f.conn = conn
    f.side = side
    f.slots = size


def grow_requests(f: FramingState, wanted):
    size = max(1024, f.request_capacity)
    while size < wanted:
        size *= 2
    requests = grown(f.requests_memory, REQUEST_COLUMNS, size)
    for index in range(size - 1, f.request_capacity - 1, -1):
        requests[index, REQUEST_NEXT] = f.free_request
        f.free_request = index
    f.free_requests += size - f.request_capacity
    f.requests_memory = requests
    f.requests = requests
    f.request_capacity = size


def make_provisional_pool(f: FramingState):
    """Makes the pool of provisional replies, which most captures never need. It does not grow."""
    provisional = new_matrix(MOST_PROVISIONAL, PROVISIONAL_COLUMNS)
    for index in range(MOST_PROVISIONAL):
        provisional[index, PROVISIONAL_NEXT] = index - 1
    f.provisional_memory = provisional
    f.provisional = provisional
    f.free_provisional = MOST_PROVISIONAL - 1
    f.provisional_capacity = MOST_PROVISIONAL


def grow_pages(f: FramingState, wanted):
    """Doubles the arena up to `arena_bytes`; false when it is as large as it may be."""
    most = max(16, f.arena_bytes // PAGE_BYTES)
    size = max(64, f.page_count)
    while size < wanted:
        size *= 2
    size = min(size, most)
    if size <= f.page_count:
        return False
    pages = bytearray(size * PAGE_BYTES)
    next_page = memoryview(bytearray(8 * size)).cast("q")
    if f.page_count:
        pages[: f.page_count * PAGE_BYTES] = f.pages_memory
        next_page[: f.page_count] = f.next_page_memory
    for page in range(size - 1, f.page_count - 1, -1):
        next_page[page] = f.free_page
        f.free_page = page
    f.free_pages += size - f.page_count
    f.page_count = size
    f.pages_memory = pages
    f.next_page_memory = next_page
    f.pages = pages
    f.next_page = next_page
    return True


def grow_heap(f: FramingState, size):
    f.heap_memory = bytearray(size)
    f.heap = f.heap_memory
    f.heap_size = size


def new_framed_parts(f: FramingState, size):
    f.framed_parts_memory = new_matrix(FRAMING_COLUMNS, size)
    f.framed_parts = f.framed_parts_memory
    f.framed_part_size = size


def grow_framed_parts(f: FramingState):
    column: i64
    row: i64
    rows: i64 = f.framed_part_size
    smaller: i64[:, ::1] = f.framed_parts_memory
    new_framed_parts(f, 2 * rows + 8)  # no power of two: columns would share cache lines
    for column in range(FRAMING_COLUMNS):
        for row in range(rows):
            f.framed_parts[column, row] = smaller[column, row]


def grown(old, columns, rows):
    """A state matrix `m[row, column]` with `rows` rows, the first of them those of `old`."""
    larger = new_matrix(rows, columns)
    if old is not None:
        before = memoryview(old).cast("B")
        memoryview(larger).cast("B")[: len(before)] = before
    return larger
