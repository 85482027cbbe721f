"""Draining: delivers what can be delivered of a connection, step by step, until all that is left has to wait.

Each step is decided by the state of the connection alone and writes at most ROWS_PER_STEP chunk rows. So a full output or heap may
interrupt between any two steps, and the next call goes on with the slot in `draining`. A slot with MODE_FLUSH is emptied and freed.
"""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room
from dissectors.tcp.acknowledgments import check_hole_window
from dissectors.tcp.complete_connections import note_complete
from dissectors.tcp.connections import remove_slot
from dissectors.tcp.delivery import deliver_one
from dissectors.tcp.ends import end_by_fin, end_by_reset, is_reset_due
from dissectors.tcp.holes import give_up_at_limit, give_up_lost, give_up_next
from dissectors.tcp.output_rows import part_row, stream_row
from dissectors.tcp.sides import has_nothing_pending
from dissectors.tcp.state import TcpState
from dissectors.tcp.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def begin_batch(tcp: TcpState, chunks: cython.longlong[:, ::1]) -> cython.longlong:
    """Begins a batch: released pages are free again, and a slot that was interrupted is drained. Returns why it stopped."""
    check_room(chunks, CHUNK_COLUMNS, ROWS_PER_STEP)
    tcp.chunks = chunks
    tcp.chunk_room = chunks.shape[1]
    tcp.chunk_rows = 0
    if tcp.released >= 0:
        tcp.records[tcp.released_last, RECORD_NEXT] = tcp.free_record
        tcp.free_record = tcp.released
        tcp.released = -1
        tcp.released_count = 0
    return drain_slot(tcp, tcp.draining) if tcp.draining >= 0 else WHY_DONE


@cython.cfunc
@cython.exceptval(-1)
def flush_slot(tcp: TcpState, slot: cython.longlong) -> cython.longlong:
    """Delivers or gives up everything and frees the slot; to be called again unless it returns WHY_DONE."""
    tcp.conn[slot, CONN_MODE] |= MODE_FLUSH
    return drain_slot(tcp, slot)


@cython.cfunc
@cython.exceptval(-1)
def drain_slot(tcp: TcpState, slot: cython.longlong) -> cython.longlong:
    """Takes steps until none is left to take; returns why it stopped."""
    while True:
        if tcp.chunk_rows + ROWS_PER_STEP > tcp.chunk_room:
            return WHY_OUTPUT_FULL
        if tcp.released_count >= tcp.max_released:
            return WHY_HEAP_FULL
        if not take_step(tcp, slot):
            break
    if tcp.conn[slot, CONN_MODE] & MODE_FLUSH:
        close_slot(tcp, slot)
    else:
        tcp.conn[slot, CONN_PENDING] = 0 if is_undisturbed(tcp, slot) else 1
    tcp.draining = -1
    return WHY_DONE


@cython.cfunc
@cython.exceptval(-1)
def is_undisturbed(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Whether nothing is pending, so that the next segment may take the fast path."""
    return (
        has_nothing_pending(tcp, 2 * slot)
        and has_nothing_pending(tcp, 2 * slot + 1)
        and tcp.conn[slot, CONN_RST] == 0
        and tcp.conn[slot, CONN_AWAITS_ACK] == 0
        and tcp.conn[slot, CONN_MODE] & MODE_CLOSED == 0
    )


@cython.cfunc
@cython.exceptval(-1)
def take_step(tcp: TcpState, slot: cython.longlong) -> cython.bint:
    """Delivers one thing or gives one up; false when all that is left has to wait."""
    a: cython.longlong = 2 * slot
    mode: cython.longlong
    if has_nothing_pending(tcp, a) and has_nothing_pending(tcp, a + 1) and tcp.conn[slot, CONN_RST] == 0:
        return False
    if deliver_one(tcp, slot) or end_by_fin(tcp, a) or end_by_fin(tcp, a + 1) or give_up_at_limit(tcp, slot):
        return True
    check_hole_window(tcp, a)
    check_hole_window(tcp, a + 1)
    if give_up_lost(tcp, slot):
        return True
    mode = tcp.conn[slot, CONN_MODE]
    if tcp.conn[slot, CONN_RST] and mode & (MODE_RESET | MODE_FLUSH) == 0 and is_reset_due(tcp, slot):
        tcp.conn[slot, CONN_MODE] |= MODE_RESET
        return True
    if mode & (MODE_RESET | MODE_FLUSH):
        return give_up_next(tcp, slot) or end_by_reset(tcp, slot)
    return False


@cython.cfunc
def close_slot(tcp: TcpState, slot: cython.longlong):
    """Frees a slot: writes the CLOSE row and the part's row, unless another run did."""
    if tcp.conn[slot, CONN_MODE] & MODE_ADOPTED == 0:
        stream_row(
            tcp, CHUNK_CLOSE, 2 * slot, 0, 0, tcp.conn[slot, CONN_LAST_TIME], tcp.conn[slot, CONN_LAST_NUMBER], 0
        )
        part_row(tcp, slot)
    remove_slot(tcp, slot)
    if tcp.in_task:
        tcp.closed.append(tcp.conn[slot, CONN_PART])
        note_complete(tcp, slot)
    if tcp.conn[slot, CONN_MODE] & MODE_HALF_OPEN:
        tcp.half_open -= 1
    tcp.conn[slot, CONN_MODE] = 0
    tcp.conn[slot, CONN_NEXT_FREE] = tcp.free_slot
    tcp.free_slot = slot
    tcp.live -= 1
