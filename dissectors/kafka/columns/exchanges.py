"""Joins each request with its reply into one row: times, sizes and what the bodies said.

A request's columns are kept at its place in the pool of outstanding requests (FRAME_REQUEST, given by frames) until its
reply, or the word that none will come, arrives; then one row leaves. Durations are left to SQL: a row holds points in time.

Two waits are told here, where the replies of a connection pass in their order: a broker works on one request of a
connection at a time, so a request waits for the replies to those before it, and for the end of a throttle time (KIP-219).
"""

import cython

from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix

# The throttle time is whole milliseconds: a reply may come that much before its end.
MUTE_TOLERANCE_NS = cython.declare(cython.longlong, 5000000)
MS = cython.declare(cython.longlong, 1000000)

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
class Exchanges:
    """Pairs requests and replies. `feed` takes frame and value rows and appends finished rows to an output matrix.

    `whole_requests` holds the numbers of the parts in which a request that had no reply was decoded to its last byte; `odd`
    counts rows with a malformed body, or with times that run backwards.
    """

    pending: cython.longlong[:, ::1]
    pending_memory: object
    places: cython.longlong
    turns: cython.longlong[:, ::1]
    turns_memory: object
    slots: cython.longlong
    whole_requests = cython.declare(set, visibility="readonly")
    odd = cython.declare(cython.longlong, visibility="readonly")

    def __init__(self):
        self.whole_requests = set()
        self.odd = 0
        self.places = 0
        self.slots = 0
        self._grow(1024)
        self._grow_turns(1024)

    def _grow(self, wanted):
        size = max(1024, self.places)
        while size < wanted:
            size *= 2
        # One place more than the pool has, for rows that wait for nothing.
        larger = new_matrix(size + 1, ROW_COLUMNS)
        if self.places:
            before = self.pending_memory.cast("B")
            larger.cast("B")[: len(before)] = before
        self.pending_memory = larger
        self.pending = larger
        self.places = size

    def _grow_turns(self, wanted):
        size = max(1024, self.slots)
        while size < wanted:
            size *= 2
        larger = new_matrix(size, TURN_COLUMNS)
        for slot in range(self.slots, size):
            larger[slot, TURN_PART] = UNKNOWN
        if self.slots:
            before = self.turns_memory.cast("B")
            larger.cast("B")[: len(before)] = before
        self.turns_memory = larger
        self.turns = larger
        self.slots = size

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
            self._grow(places)
        for i in range(start, rows):
            if used >= size:
                return i, used, WHY_OUTPUT_FULL
            event = frames[FRAME_EVENT, i]
            place = frames[FRAME_REQUEST, i]
            if place == UNKNOWN:
                place = self.places
            if event == FRAME_REQUEST_SEEN:
                self._open(frames, values, i, place)
                if place != self.places:
                    continue
                self._whole(place)
            elif event == FRAME_REPLY_SEEN:
                self._reply(frames, values, i, place)
            elif event == FRAME_REQUEST_ENDED:
                self.pending[place, ROW_STATUS] = frames[FRAME_STATUS, i]
                if frames[FRAME_STATUS, i] == STATUS_REPLY_LOST:
                    self._turn(frames, i, UNKNOWN, UNKNOWN)
                self._whole(place)
            elif event == FRAME_ORPHAN_SEEN:
                self._orphan(frames, i, place)
                self._turn(frames, i, frames[FRAME_LAST_TIME, i], UNKNOWN)
            elif frames[FRAME_STATUS, i] == STATUS_ANSWERED:
                self._reply(frames, values, i, place)
            else:
                self._open(frames, values, i, place)
                self.pending[place, ROW_TOKEN] = 1
                self.pending[place, ROW_KEY] = UNKNOWN
                continue
            for column in range(ROW_COLUMNS):
                out[column, used] = self.pending[place, column]
            used += 1
            if self._is_odd(place):
                self.odd += 1
        return rows, used, WHY_DONE

    def renumber(self, texts, number):
        """Moves the texts of requests that still wait to a new numbering: `texts` are the old strings, `number` gives a new one."""
        for column in TEXT_COLUMNS:
            for place in range(self.places):
                old = self.pending_memory[place, column]
                if 0 <= old < len(texts):
                    self.pending_memory[place, column] = number(texts[old])

    # ---- a run over a part of a capture: see `dissectors.tcp.reassembly` ----

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
            self._grow(place + 1)
        for column, value in enumerate(columns):
            self.pending[place, column] = number(value) if isinstance(value, bytes) else value
        self.pending[place, ROW_PART] = part

    @cython.cfunc
    @cython.exceptval(-1)
    def _whole(self, place: cython.longlong) -> cython.int:
        """A request without a reply that makes sense to its last byte: proof of Kafka where nothing else is there to prove it."""
        if self.pending[place, ROW_REQUEST_DECODED] == DECODED_FULL and self.pending[place, ROW_LEFTOVER] == 0:
            self.whole_requests.add(self.pending[place, ROW_PART])
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_odd(self, place: cython.longlong) -> cython.bint:
        # UNKNOWN is less than every time: only a known time can be too early.
        asked: cython.longlong = self.pending[place, ROW_REQUEST_LAST]
        told: cython.longlong = self.pending[place, ROW_RESPONSE_FIRST]
        ended: cython.longlong = self.pending[place, ROW_RESPONSE_LAST]
        return (
            self.pending[place, ROW_REQUEST_DECODED] == DECODED_MALFORMED
            or self.pending[place, ROW_RESPONSE_DECODED] == DECODED_MALFORMED
            or (asked != UNKNOWN and asked < self.pending[place, ROW_REQUEST_FIRST])
            or (told != UNKNOWN and told < asked)
            or (ended != UNKNOWN and ended < told)
        )

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _blank(self, place: cython.longlong) -> cython.int:
        column: cython.longlong
        for column in range(ROW_COLUMNS):
            self.pending[place, column] = UNKNOWN
        self.pending[place, ROW_TOKEN] = 0
        self.pending[place, ROW_REQUEST_DECODED] = DECODED_NONE
        self.pending[place, ROW_RESPONSE_DECODED] = DECODED_NONE
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _open(
        self,
        frames: cython.longlong[:, ::1],
        values: cython.longlong[:, ::1],
        i: cython.longlong,
        place: cython.longlong,
    ) -> cython.int:
        """The request's half of a row; its status is what frames says until a reply comes."""
        column: cython.longlong
        self._blank(place)
        self.pending[place, ROW_EXCHANGE] = frames[FRAME_ID, i]
        self.pending[place, ROW_PART] = frames[FRAME_PART, i]
        self.pending[place, ROW_KEY] = frames[FRAME_KEY, i]
        self.pending[place, ROW_VERSION] = frames[FRAME_VERSION, i]
        self.pending[place, ROW_CORRELATION] = frames[FRAME_CORRELATION, i]
        self.pending[place, ROW_STATUS] = frames[FRAME_STATUS, i]
        self.pending[place, ROW_REQUEST_FIRST] = frames[FRAME_FIRST_TIME, i]
        self.pending[place, ROW_REQUEST_LAST] = frames[FRAME_LAST_TIME, i]
        self.pending[place, ROW_REQUEST_BYTES] = frames[FRAME_LENGTH, i] + 4
        self.pending[place, ROW_REQUEST_NUMBER] = frames[FRAME_NUMBER, i]
        self.pending[place, ROW_REQUEST_DECODED] = frames[FRAME_DECODED, i]
        for column in range(VALUE_LEFTOVER + 1):
            self.pending[place, ROW_CLIENT_ID + column] = values[column, i]
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _reply(
        self,
        frames: cython.longlong[:, ::1],
        values: cython.longlong[:, ::1],
        i: cython.longlong,
        place: cython.longlong,
    ) -> cython.int:
        """The reply's half: what the request left open, and the few columns where the reply knows better."""
        column: cython.longlong
        value: cython.longlong
        self._reply_header(frames, i, place)
        self._waits(frames, i, place)
        self._turn(frames, i, frames[FRAME_LAST_TIME, i], values[VALUE_THROTTLE_MS, i])
        self.pending[place, ROW_STATUS] = STATUS_ANSWERED
        for column in range(VALUE_CLIENT_ID + 1, VALUE_LEFTOVER):
            value = values[column, i]
            if value == UNKNOWN:
                continue
            if self.pending[place, ROW_CLIENT_ID + column] == UNKNOWN or self._reply_decides(
                ROW_CLIENT_ID + column, value, self.pending[place, ROW_CLIENT_ID + column]
            ):
                self.pending[place, ROW_CLIENT_ID + column] = value
        value = values[VALUE_LEFTOVER, i]
        if value > 0 or self.pending[place, ROW_LEFTOVER] == UNKNOWN:
            self.pending[place, ROW_LEFTOVER] = value
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _slot(self, frames: cython.longlong[:, ::1], i: cython.longlong) -> cython.longlong:
        """The slot of a frame's connection, its turns forgotten when another connection had it."""
        slot: cython.longlong = frames[FRAME_SLOT, i]
        if slot >= self.slots:
            self._grow_turns(slot + 1)
        if self.turns[slot, TURN_PART] != frames[FRAME_PART, i]:
            self.turns[slot, TURN_PART] = frames[FRAME_PART, i]
            self.turns[slot, TURN_END] = UNKNOWN
            self.turns[slot, TURN_LOST] = 0
            self.turns[slot, TURN_MUTED_UNTIL] = UNKNOWN
        return slot

    @cython.cfunc
    @cython.exceptval(-1)
    def _turn(
        self, frames: cython.longlong[:, ::1], i: cython.longlong, end: cython.longlong, throttle_ms: cython.longlong
    ) -> cython.int:
        """Notes that a reply of the connection ended, or that it was lost: then `end` is UNKNOWN."""
        slot: cython.longlong = self._slot(frames, i)
        self.turns[slot, TURN_END] = end
        self.turns[slot, TURN_LOST] = end == UNKNOWN
        if throttle_ms > 0:
            self.turns[slot, TURN_MUTED_UNTIL] = max(
                self.turns[slot, TURN_MUTED_UNTIL], frames[FRAME_FIRST_TIME, i] + throttle_ms * MS
            )
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _waits(self, frames: cython.longlong[:, ::1], i: cython.longlong, place: cython.longlong) -> cython.int:
        """How long the request of this reply waited for the reply before it, then for the end of a throttle time."""
        slot: cython.longlong = self._slot(frames, i)
        asked: cython.longlong = self.pending[place, ROW_REQUEST_LAST]
        told: cython.longlong = frames[FRAME_FIRST_TIME, i]
        free: cython.longlong
        # A reply well inside the throttle time shows that the connection was not mute.
        if self.turns[slot, TURN_MUTED_UNTIL] > told + MUTE_TOLERANCE_NS:
            self.turns[slot, TURN_MUTED_UNTIL] = UNKNOWN
        if asked == UNKNOWN or told < asked or self.turns[slot, TURN_LOST]:
            return 0
        free = min(max(self.turns[slot, TURN_END], asked), told)
        self.pending[place, ROW_QUEUE] = free - asked
        self.pending[place, ROW_MUTED] = max(min(self.turns[slot, TURN_MUTED_UNTIL], told), free) - free
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _reply_decides(self, column: cython.longlong, value: cython.longlong, asked: cython.longlong) -> cython.bint:
        """Counts: the larger (a fetch of a session names no partition). Ids: the one the broker gave."""
        if column in (ROW_TOPICS, ROW_PARTITIONS, ROW_RECORD_BYTES):
            return value > asked
        if column == ROW_SESSION_ID:
            return value != 0
        # Text 0 is the empty string: a member joins without an id and gets one.
        return column == ROW_MEMBER_ID and asked == 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _reply_header(self, frames: cython.longlong[:, ::1], i: cython.longlong, place: cython.longlong) -> cython.int:
        self.pending[place, ROW_RESPONSE_FIRST] = frames[FRAME_FIRST_TIME, i]
        self.pending[place, ROW_RESPONSE_LAST] = frames[FRAME_LAST_TIME, i]
        self.pending[place, ROW_RESPONSE_BYTES] = frames[FRAME_LENGTH, i] + 4
        self.pending[place, ROW_RESPONSE_NUMBER] = frames[FRAME_NUMBER, i]
        self.pending[place, ROW_RESPONSE_DECODED] = frames[FRAME_DECODED, i]
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _orphan(self, frames: cython.longlong[:, ::1], i: cython.longlong, place: cython.longlong) -> cython.int:
        """A reply without request: its key is unknown, so nothing but its header is told."""
        self._blank(place)
        self.pending[place, ROW_EXCHANGE] = frames[FRAME_ID, i]
        self.pending[place, ROW_PART] = frames[FRAME_PART, i]
        self.pending[place, ROW_CORRELATION] = frames[FRAME_CORRELATION, i]
        self.pending[place, ROW_STATUS] = frames[FRAME_STATUS, i]
        self._reply_header(frames, i, place)
        return 0


def sift(
    parts: cython.const[cython.longlong][::1],
    first_part: cython.longlong,
    first_row: cython.longlong,
    starts: cython.longlong[::1],
    begins: cython.longlong[::1],
    ends: cython.longlong[::1],
    keep: cython.uchar[::1],
):
    """Sets keep[i] to 1 where row `first_row` + i of a table, of part `parts`[i], lies in a range of rows of that part.

    Part `first_part` + n has the ranges [begins[k], ends[k]) for k from starts[n] to before starts[n + 1].
    """
    i: cython.longlong
    k: cython.longlong
    part: cython.longlong
    for i in range(parts.shape[0] if cython.compiled else len(parts)):
        part = parts[i] - first_part
        for k in range(starts[part], starts[part + 1]):
            if begins[k] <= first_row + i < ends[k]:
                keep[i] = 1
                break


@cython.boundscheck(False)
def set_apart(
    rows: cython.longlong[:, ::1], used: cython.longlong, others: cython.longlong[:, ::1], others_used: cython.longlong
):
    """Moves the rows [0, used) that were not answered, failed or were throttled to `others`, behind its rows
    [0, others_used). The others, of which the last ones fill the holes, stay. Returns how many rows each has then; `others`
    must have the room."""
    row: cython.longlong = used
    column: cython.longlong
    code: cython.longlong
    check_room(rows, ROW_COLUMNS, used)
    check_room(others, ROW_COLUMNS, others_used + used)
    while row > 0:
        row -= 1
        code = rows[ROW_ERROR_CODE, row]
        if (
            rows[ROW_STATUS, row] != STATUS_ANSWERED
            or (code != 0 and code != UNKNOWN)
            or rows[ROW_THROTTLE_MS, row] > 0
        ):
            used -= 1
            for column in range(ROW_COLUMNS):
                others[column, others_used] = rows[column, row]
                rows[column, row] = rows[column, used]
            others_used += 1
    return used, others_used


def label(
    frames: cython.longlong[:, ::1],
    source: cython.longlong[:, ::1],
    rows: cython.longlong,
    columns: cython.longlong,
    target: cython.longlong[:, ::1],
    used: cython.longlong,
):
    """Copies `rows` rows of entries or errors to `target` from row `used` on, told by exchange instead of by frame row.

    Column 0 becomes the exchange's id; three columns follow the `columns` of the source: part, side (0 request, 1 response)
    and API key. The target must have the room. Returns the rows used.
    """
    i: cython.longlong
    column: cython.longlong
    frame: cython.longlong
    for i in range(rows):
        frame = source[0, i]
        target[0, used] = frames[FRAME_ID, frame]
        for column in range(1, columns):
            target[column, used] = source[column, i]
        target[columns, used] = frames[FRAME_PART, frame]
        target[columns + 1, used] = 0 if frames[FRAME_EVENT, frame] == FRAME_REQUEST_SEEN else 1
        target[columns + 2, used] = frames[FRAME_KEY, frame]
        used += 1
    return used
