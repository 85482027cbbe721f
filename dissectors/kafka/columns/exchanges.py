"""Joins each request with its reply into one row: times, sizes and what the bodies said.

A request's columns are kept at its place in the pool of outstanding requests (FRAME_REQUEST, given by frames) until its
reply, or the word that none will come, arrives; then one row leaves. Durations are left to SQL: a row holds points in time.
"""

import cython

from dissectors.kafka.columns.exchange_rows import is_odd, join_reply, note_whole_request, open_orphan_row, open_row
from dissectors.kafka.columns.exchange_state import ExchangeState, grow_connections, grow_pool
from dissectors.kafka.columns.exchange_tools import label, set_apart, sift
from dissectors.kafka.columns.exchange_waits import note_reply_end
from dissectors.layout import *
from dissectors.matrix import check_room

__all__ = ["Exchanges", "label", "set_apart", "sift"]


# Columns of a row that hold text numbers.
TEXT_COLUMNS = (
    ROW_CLIENT_ID,
    ROW_GROUP_ID,
    ROW_MEMBER_ID,
    ROW_TRANSACTIONAL_ID,
    ROW_SOFTWARE_NAME,
    ROW_SOFTWARE_VERSION,
    ROW_MECHANISM,
)


@cython.final
@cython.cclass
class Exchanges(ExchangeState):
    """Pairs requests and replies. `feed` takes frame and value rows and appends finished rows to an output matrix.

    `whole_requests` holds the numbers of the parts in which a request that had no reply was decoded to its last byte; `odd`
    counts rows with a malformed body, or with times that run backwards.
    """

    def __init__(self):
        self.whole_requests = set()
        self.odd = 0
        self.places = 0
        self.slots = 0
        grow_pool(self, 1024)
        grow_connections(self, 1024)

    @cython.boundscheck(False)
    def feed(
        self,
        frames: cython.longlong[:, ::1],
        values: cython.longlong[:, ::1],
        start: cython.longlong,
        rows: cython.longlong,
        places: cython.longlong,
        out: cython.longlong[:, ::1],
        used: cython.longlong,
        size: cython.longlong,
    ):
        """Reads frame rows [start, rows); appends to `out` from row `used` on, which has `size` rows.

        `places` is the size of the pool of outstanding requests. Returns (next frame row, rows used, why).
        """
        i: cython.longlong
        event: cython.longlong
        place: cython.longlong
        column: cython.longlong
        check_room(frames, FRAME_COLUMNS, rows)
        check_room(values, VALUE_COLUMNS, rows)
        check_room(out, ROW_COLUMNS, size)
        if places > self.places:
            grow_pool(self, places)
        for i in range(start, rows):
            if used >= size:
                return i, used, WHY_OUTPUT_FULL
            event = frames[FRAME_EVENT, i]
            place = frames[FRAME_REQUEST, i]
            if place == UNKNOWN:
                place = self.places
            if event == FRAME_REQUEST_SEEN:
                open_row(self, frames, values, i, place)
                if place != self.places:
                    continue
                note_whole_request(self, place)
            elif event == FRAME_REPLY_SEEN:
                join_reply(self, frames, values, i, place)
            elif event == FRAME_REQUEST_ENDED:
                self.pending[place, ROW_STATUS] = frames[FRAME_STATUS, i]
                if frames[FRAME_STATUS, i] == STATUS_REPLY_LOST:
                    note_reply_end(self, frames, i, UNKNOWN, UNKNOWN)
                note_whole_request(self, place)
            elif event == FRAME_ORPHAN_SEEN:
                open_orphan_row(self, frames, i, place)
                note_reply_end(self, frames, i, frames[FRAME_LAST_TIME, i], UNKNOWN)
            elif frames[FRAME_STATUS, i] == STATUS_ANSWERED:
                join_reply(self, frames, values, i, place)
            else:
                open_row(self, frames, values, i, place)
                self.pending[place, ROW_TOKEN] = 1
                self.pending[place, ROW_KEY] = UNKNOWN
                continue
            for column in range(ROW_COLUMNS):
                out[column, used] = self.pending[place, column]
            used += 1
            if is_odd(self, place):
                self.odd += 1
        return rows, used, WHY_DONE

    def renumber(self, texts, number):
        """Moves the texts of requests that still wait to a new numbering: `texts` are the old strings, `number` gives a new one."""
        for column in TEXT_COLUMNS:
            for place in range(self.places):
                old = self.pending_memory[place, column]
                if 0 <= old < len(texts):
                    self.pending_memory[place, column] = number(texts[old])

    def rest(self, slot: cython.longlong, part: cython.longlong):
        """The TURN_ columns of a connection that has had a reply; None when its newest one was lost, or there was none."""
        if slot >= self.slots or self.turns[slot, TURN_PART] != part or self.turns[slot, TURN_LOST]:
            return None
        return [self.turns[slot, column] for column in range(TURN_COLUMNS)]

    def fits(self, slot: cython.longlong, part: cython.longlong, one):
        """Whether the connection is at the point of rest `one` of another run. A throttle time that is over is none."""
        mine = self.rest(slot, part)
        if mine is None or mine[TURN_END] != one[TURN_END]:
            return False
        return mine[TURN_MUTED_UNTIL] == one[TURN_MUTED_UNTIL] or (
            mine[TURN_MUTED_UNTIL] <= mine[TURN_END] and one[TURN_MUTED_UNTIL] <= one[TURN_END]
        )

    def jump(self, slot: cython.longlong, two):
        """Takes the connection to the point of rest `two`."""
        self.turns[slot, TURN_END] = two[TURN_END]
        self.turns[slot, TURN_MUTED_UNTIL] = two[TURN_MUTED_UNTIL]

    def waiting(self, place: cython.longlong, texts):
        """What is known of the exchange whose request waits at `place`: its ROW_ columns, texts as bytes."""
        found = [self.pending[place, column] for column in range(ROW_COLUMNS)]
        for column in TEXT_COLUMNS:
            if found[column] >= 0:
                found[column] = texts[found[column]]
        return found

    def wait(self, place: cython.longlong, part: cython.longlong, columns, number):
        """Puts there what `waiting` gave in another run; `number` gives the number of a text in this one."""
        if place >= self.places:
            grow_pool(self, place + 1)
        for column, value in enumerate(columns):
            self.pending[place, column] = number(value) if isinstance(value, bytes) else value
        self.pending[place, ROW_PART] = part
