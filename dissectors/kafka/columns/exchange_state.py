"""State of the exchanges stage: a row for each request that waits for its reply, and one for each connection."""

import cython

from dissectors.kafka.columns.exchange_columns import *
from dissectors.layout import *
from dissectors.matrix import new_matrix


@cython.cclass
class ExchangeState:
    """`pending[index, ROW_]` is the row of the request with this index in the pool of outstanding requests; the row behind
    the pool serves frames that have no index. `last_replies[slot, LAST_REPLY_]` belongs to a connection slot."""

    pending: cython.longlong[:, ::1]
    pending_memory: object
    pool_size: cython.longlong
    last_replies: cython.longlong[:, ::1]
    last_replies_memory: object
    slots: cython.longlong
    whole_requests = cython.declare(set, visibility="readonly")
    odd = cython.declare(cython.longlong, visibility="readonly")


@cython.cfunc
def grow_pool(x: ExchangeState, wanted):
    """Makes room for `wanted` outstanding requests; keeps their rows."""
    size = max(1024, x.pool_size)
    while size < wanted:
        size *= 2
    # One row more than the pool has, for frames without an index.
    larger = new_matrix(size + 1, ROW_COLUMNS)
    if x.pool_size:
        before = x.pending_memory.cast("B")
        larger.cast("B")[: len(before)] = before
    x.pending_memory = larger
    x.pending = larger
    x.pool_size = size


@cython.cfunc
def grow_slots(x: ExchangeState, wanted):
    """Makes room for `wanted` connection slots; keeps what is remembered of them."""
    size = max(1024, x.slots)
    while size < wanted:
        size *= 2
    larger = new_matrix(size, LAST_REPLY_COLUMNS)
    for slot in range(x.slots, size):
        larger[slot, LAST_REPLY_PART] = UNKNOWN
    if x.slots:
        before = x.last_replies_memory.cast("B")
        larger.cast("B")[: len(before)] = before
    x.last_replies_memory = larger
    x.last_replies = larger
    x.slots = size
