"""Joins each request with its reply into one row: times, sizes and what both bodies said.

A request's row waits in the pool of outstanding requests, at the index that framing gave the request (FRAME_REQUEST). When
the reply comes, or framing says that none will come, the row leaves. A row holds points in time; durations are left to SQL,
but for the waits of `exchange_waits`.
"""

import cython

from dissectors.kafka.columns.exchange_columns import *
from dissectors.kafka.columns.exchange_rows import is_odd, note_whole_request, write_orphan, write_reply, write_request
from dissectors.kafka.columns.exchange_state import ExchangeState, grow_pool, grow_slots
from dissectors.kafka.columns.exchange_waits import note_reply_end
from dissectors.kafka.columns.row_tools import label, mark_rows_in_ranges, set_apart
from dissectors.layout import *
from dissectors.matrix import check_room

__all__ = ["Exchanges", "label", "mark_rows_in_ranges", "set_apart"]

# Columns of a row that hold numbers of interned strings.
TEXT_COLUMNS = (
    ROW_CLIENT_ID,
    ROW_GROUP_ID,
    ROW_MEMBER_ID,
    ROW_TRANSACTIONAL_ID,
    ROW_SOFTWARE_NAME,
    ROW_SOFTWARE_VERSION,
    ROW_MECHANISM,
    ROW_RACK_ID,
)


@cython.final
@cython.cclass
class Exchanges(ExchangeState):
    """Pairs requests and replies. `feed` takes rows of frames and values and appends finished rows to an output matrix.

    `whole_requests` holds the numbers of the parts in which a request that had no reply was decoded to its last byte; `odd`
    counts rows with a body that could not be read or with times that run backwards.
    """

    def __init__(self):
        self.whole_requests = set()
        self.odd = 0
        self.pool_size = 0
        self.slots = 0
        grow_pool(self, 1024)
        grow_slots(self, 1024)

    @cython.boundscheck(False)
    def feed(
        self,
        frames: cython.longlong[:, ::1],
        values: cython.longlong[:, ::1],
        start: cython.longlong,
        rows: cython.longlong,
        pool_size: cython.longlong,
        out: cython.longlong[:, ::1],
        used: cython.longlong,
        size: cython.longlong,
    ):
        """Reads frame rows [start, rows); appends to `out`, which has `size` rows, from row `used` on.

        `pool_size` is the size of framing's pool of outstanding requests. Returns (next frame row, rows of `out` used, why):
        after WHY_OUTPUT_FULL call again with an emptied `out`.
        """
        row: cython.longlong
        event: cython.longlong
        index: cython.longlong
        column: cython.longlong
        check_room(frames, FRAME_COLUMNS, rows)
        check_room(values, VALUE_COLUMNS, rows)
        check_room(out, ROW_COLUMNS, size)
        if pool_size > self.pool_size:
            grow_pool(self, pool_size)
        for row in range(start, rows):
            if used >= size:
                return row, used, WHY_OUTPUT_FULL
            event = frames[FRAME_EVENT, row]
            index = frames[FRAME_REQUEST, row]
            if index == UNKNOWN:
                index = self.pool_size
            if event == FRAME_REQUEST_SEEN:
                write_request(self, frames, values, row, index)
                if index != self.pool_size:
                    continue
                note_whole_request(self, index)
            elif event == FRAME_REPLY_SEEN:
                write_reply(self, frames, values, row, index)
            elif event == FRAME_REQUEST_ENDED:
                self.pending[index, ROW_STATUS] = frames[FRAME_STATUS, row]
                if frames[FRAME_STATUS, row] == STATUS_REPLY_LOST:
                    note_reply_end(self, frames, row, UNKNOWN, UNKNOWN)
                note_whole_request(self, index)
            elif event == FRAME_ORPHAN_SEEN:
                write_orphan(self, frames, row, index)
                note_reply_end(self, frames, row, frames[FRAME_LAST_TIME, row], UNKNOWN)
            elif frames[FRAME_STATUS, row] == STATUS_ANSWERED:
                # The broker's answer to a bare SASL token, then the token itself.
                write_reply(self, frames, values, row, index)
            else:
                write_request(self, frames, values, row, index)
                self.pending[index, ROW_TOKEN] = 1
                self.pending[index, ROW_KEY] = UNKNOWN
                continue
            for column in range(ROW_COLUMNS):
                out[column, used] = self.pending[index, column]
            used += 1
            if is_odd(self, index):
                self.odd += 1
        return rows, used, WHY_DONE

    def renumber(self, texts, number):
        """Brings the strings of waiting requests to new numbers: `texts` are the old strings by number, `number` is a function
        that gives a string's new number."""
        for column in TEXT_COLUMNS:
            for index in range(self.pool_size):
                old = self.pending_memory[index, column]
                if 0 <= old < len(texts):
                    self.pending_memory[index, column] = number(texts[old])

    def slot_state(self, slots):
        """(number of the column that holds the part, ((matrix of state, rows for each slot), ...)), with so many slots."""
        if slots > self.slots:
            grow_slots(self, slots)
        return LAST_REPLY_PART, ((self.last_replies_memory, 1),)

    # ---- a capture read in parts: checkpoints of a connection ----

    def checkpoint(self, slot: cython.longlong, part: cython.longlong):
        """What is remembered of a connection's newest reply (LAST_REPLY_ columns); None when there was none or it was lost."""
        if (
            slot >= self.slots
            or self.last_replies[slot, LAST_REPLY_PART] != part
            or self.last_replies[slot, LAST_REPLY_LOST]
        ):
            return None
        return [self.last_replies[slot, column] for column in range(LAST_REPLY_COLUMNS)]

    def matches(self, slot: cython.longlong, part: cython.longlong, checkpoint):
        """Whether the connection is where `checkpoint` of another run was taken. Throttle times that are over do not count."""
        mine = self.checkpoint(slot, part)
        if mine is None or mine[LAST_REPLY_END] != checkpoint[LAST_REPLY_END]:
            return False
        return mine[LAST_REPLY_MUTED_UNTIL] == checkpoint[LAST_REPLY_MUTED_UNTIL] or (
            mine[LAST_REPLY_MUTED_UNTIL] <= mine[LAST_REPLY_END]
            and checkpoint[LAST_REPLY_MUTED_UNTIL] <= checkpoint[LAST_REPLY_END]
        )

    def resume(self, slot: cython.longlong, after):
        """Goes on as if the connection had come to the checkpoint `after`."""
        for column in range(LAST_REPLY_COLUMNS):
            if column != LAST_REPLY_PART:
                self.last_replies[slot, column] = after[column]

    def pending_request(self, index: cython.longlong, texts):
        """The row of the request that waits at `index` of the pool: its ROW_ columns, with strings as bytes."""
        found = [self.pending[index, column] for column in range(ROW_COLUMNS)]
        for column in TEXT_COLUMNS:
            if found[column] >= 0:
                found[column] = texts[found[column]]
        return found

    def restore_request(self, index: cython.longlong, part: cython.longlong, columns, number):
        """Lets the request wait at `index` that `pending_request` of another run gave; `number` gives a string's number."""
        if index >= self.pool_size:
            grow_pool(self, index + 1)
        for column, value in enumerate(columns):
            self.pending[index, column] = number(value) if isinstance(value, bytes) else value
        self.pending[index, ROW_PART] = part
