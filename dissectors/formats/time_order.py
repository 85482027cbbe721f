"""Puts the packets of a capture in the order of their times, as far as a window goes.

Captures of several queues, processors or interfaces are a little out of order: each of them is written by a thread of its
own. The rules:

- A packet waits until a window of packets, or of bytes, was read behind it; then it leaves, and all that waits and is earlier
  leaves before it. Equal times stay in the order of the file.
- A packet that is earlier than one that has left already leaves next: it is *late*, and counted.
- A packet that is more than WINDOW_NS earlier than those before it is no disorder but a clock that was set, or a capture that
  was appended: all that waits leaves before it, and the order begins anew. That is a *step back*, and counted.
- A single packet with a time ahead of all in its window neither holds up nor hurries the others: it leaves in its place of the
  file. One that is more than WINDOW_NS ahead of both its neighbours does so whatever the window holds.
- A packet without a time keeps its place behind the packet before it.

What comes out depends on the packets alone, never on the blocks in which they come. In a capture that is in order nothing is
moved, and only the last packets of a block wait, which is a copy of their rows; their bytes stay in the caller's buffer.
"""

import cython

from dissectors.formats.time_order_limits import *
from dissectors.layout import *
from dissectors.matrix import check_room, new_matrix


@cython.final
@cython.cclass
class TimeOrder:
    """Takes rows of the packets matrix, gives them in order.

    `ready[:, :ready_rows]` are packets that waited and may leave now. `late` counts packets that came too late to be put in
    their place and `late_ns` is by how much at most; `steps_back` counts times that ran back by more than the window;
    `first_number` is the number of the first packet of either sort, 0 without one. `ahead` counts packets more than the window
    ahead of both neighbours; of the first of them `first_ahead` is the number, or 0 if it was read elsewhere (`begin_behind`).
    """

    ready = cython.declare(object, visibility="readonly")
    ready_rows = cython.declare(cython.longlong, visibility="readonly")
    late = cython.declare(cython.longlong, visibility="readonly")
    late_ns = cython.declare(cython.longlong, visibility="readonly")
    steps_back = cython.declare(cython.longlong, visibility="readonly")
    first_number = cython.declare(cython.longlong, visibility="readonly")
    ahead = cython.declare(cython.longlong, visibility="readonly")
    first_ahead = cython.declare(cython.longlong, visibility="readonly")
    waiting: cython.longlong[:, ::1]
    out: cython.longlong[:, ::1]
    order: cython.longlong[:, ::1]
    count: cython.longlong  # rows of `waiting`, in the order of the file
    unexpired: cython.longlong  # the first of them behind which the window is not full
    is_sorted: cython.bint  # they are in order, and their keys are their times
    released: cython.longlong  # all packets that will come leave behind those with this key
    newest: cython.longlong  # the highest key so far
    newest_before: cython.longlong  # and without the last packet that has a time
    top: cython.longlong  # the latest time of two neighbours, which one clock that jumped ahead does not move
    before: cython.longlong  # time of the packet before
    last_key: cython.longlong  # key of the packet before
    position: cython.longlong  # packets so far
    disorder: cython.longlong  # position of the newest packet that was out of order

    def __init__(self, rows):
        """`rows` are those of the matrices that will be added."""
        self.waiting = new_matrix(WAIT_COLUMNS, WIDE_PACKETS + rows + 1)
        self.ready = self.out = new_matrix(PACKET_COLUMNS, WIDE_PACKETS + rows + 1)
        self.order = new_matrix(2, WIDE_PACKETS + rows + 1)
        self.ready_rows = 0
        self.count = 0
        self.unexpired = 0
        self.is_sorted = True
        self.position = 0
        self.disorder = FIRST_PACKETS - CALM_PACKETS
        self.late = 0
        self.late_ns = 0
        self.steps_back = 0
        self.first_number = 0
        self.ahead = 0
        self.first_ahead = 0
        self._begin()

    @cython.cfunc
    @cython.exceptval(-1)
    def _begin(self) -> cython.longlong:
        """Nothing is known of times."""
        self.released = UNKNOWN
        self.newest = UNKNOWN
        self.newest_before = UNKNOWN
        self.top = UNKNOWN
        self.before = UNKNOWN
        self.last_key = UNKNOWN
        return 0

    def begin_behind(self, top, before, newest):
        """What is known of packets before those that will be added: the latest time of two neighbours, the last, the latest but
        for the last if that is far ahead."""
        self.top = top
        self.before = before
        self.newest_before = newest
        self.newest = max(newest, before)

    def add(self, packets: cython.longlong[:, ::1], start: cython.longlong, rows: cython.longlong):
        """Takes `packets[:, start:rows]`, the next ones of the file.

        Returns (next, direct): first `ready` may leave, then `packets[:, start:direct]`. Call again with `start=next` until
        it is `rows`.
        """
        check_room(packets, PACKET_COLUMNS, rows)
        self.ready_rows = 0
        if start >= rows:
            return rows, start
        if self.is_sorted and self._goes_on_in_order(packets, start, rows):
            return rows, self._pass_on(packets, start, rows)
        while start < rows and self.count < self.waiting.shape[1]:
            if self._is_step_back(packets[PACKET_TIME, start]):
                self.steps_back += 1
                self._keep_number(packets[PACKET_NUMBER, start])
                self.finish()
                return start, 0
            self._put(packets, start)
            start += 1
        self._release()
        return start, 0

    def finish(self):
        """No packet that follows belongs before these: `ready` is all that waited."""
        self.released = FOREVER_NS
        self._release()
        self._begin()

    def lowest_offset(self, otherwise):
        """The lowest PACKET_OFFSET of what waits, and of `otherwise`."""
        row: cython.longlong
        lowest: cython.longlong = otherwise
        for row in range(self.count):
            lowest = min(lowest, self.waiting[PACKET_OFFSET, row])
        return lowest

    def move(self, used: cython.longlong):
        """The first `used` bytes of the buffer are gone: offsets count from behind them."""
        row: cython.longlong
        for row in range(self.count):
            self.waiting[PACKET_OFFSET, row] -= used

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _goes_on_in_order(
        self, packets: cython.longlong[:, ::1], start: cython.longlong, rows: cython.longlong
    ) -> cython.bint:
        """Whether no packet is earlier than the one before it, and all have a time."""
        row: cython.longlong
        time: cython.longlong = self.newest
        if packets[PACKET_TIME, start] == UNKNOWN:
            return False
        for row in range(start, rows):
            if packets[PACKET_TIME, row] < time:
                return False
            time = packets[PACKET_TIME, row]
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _pass_on(
        self, packets: cython.longlong[:, ::1], start: cython.longlong, rows: cython.longlong
    ) -> cython.longlong:
        """Packets in order: what waited leaves, and of the new ones all but the last. Returns the first that must wait."""
        row: cython.longlong = rows - 1
        left: cython.longlong = 0
        bytes_end: cython.longlong = packets[PACKET_OFFSET, row] + packets[PACKET_CAPTURED, row]
        base: cython.longlong = self.position - start
        self.top = max(self.top, self.before if row == start else packets[PACKET_TIME, row - 1])
        self.newest_before = self.newest if row == start else packets[PACKET_TIME, row - 1]
        self.before = packets[PACKET_TIME, row]
        self.newest = self.before
        self.position += rows - start
        while row > start and self._is_in_window(base + row - 1, packets[PACKET_OFFSET, row - 1], bytes_end):
            row -= 1
        if row > start:
            self.released = packets[PACKET_TIME, row - 1]
            left = self.count
        else:
            while left < self.count and not self._is_in_window(
                self.waiting[WAIT_POSITION, left], self.waiting[PACKET_OFFSET, left], bytes_end
            ):
                self.released = self.waiting[WAIT_KEY, left]
                left += 1
        self._leave_from_front(left)
        start = row
        while row < rows:
            self._append(packets, row, packets[PACKET_TIME, row], base + row)
            row += 1
        return start

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _is_in_window(
        self, position: cython.longlong, offset: cython.longlong, bytes_end: cython.longlong
    ) -> cython.bint:
        """Whether packets that are earlier than this one may still come."""
        if self.position - self.disorder < CALM_PACKETS:
            return self.position - position <= WIDE_PACKETS and bytes_end - offset <= WIDE_BYTES
        return self.position - position <= NARROW_PACKETS and bytes_end - offset <= NARROW_BYTES

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _leave_from_front(self, left: cython.longlong) -> cython.longlong:
        """The first `left` of what waits, which is in order, leave."""
        row: cython.longlong
        column: cython.longlong
        for column in range(PACKET_COLUMNS):
            for row in range(left):
                self.out[column, row] = self.waiting[column, row]
        for column in range(WAIT_COLUMNS):
            for row in range(left, self.count):
                self.waiting[column, row - left] = self.waiting[column, row]
        self.ready_rows = left
        self.count -= left
        self.unexpired = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _append(
        self, packets: cython.longlong[:, ::1], row: cython.longlong, key: cython.longlong, position: cython.longlong
    ) -> cython.longlong:
        """One more packet waits."""
        column: cython.longlong
        for column in range(PACKET_COLUMNS):
            self.waiting[column, self.count] = packets[column, row]
        self.waiting[WAIT_KEY, self.count] = key
        self.waiting[WAIT_POSITION, self.count] = position
        self.waiting[WAIT_TURN, self.count] = position
        self.last_key = key
        self.count += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_step_back(self, time: cython.longlong) -> cython.bint:
        return time != UNKNOWN and self.top != UNKNOWN and time < self.top - WINDOW_NS

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _put(self, packets: cython.longlong[:, ::1], row: cython.longlong) -> cython.longlong:
        """One packet that may be out of order waits, and the window moves on."""
        time: cython.longlong = packets[PACKET_TIME, row]
        key: cython.longlong = max(self.last_key if time == UNKNOWN else time, self.released)
        if time != UNKNOWN:
            self._see(time)
            if time < self.released:
                self.late += 1
                self.late_ns = max(self.late_ns, self.released - time)
                self._keep_number(packets[PACKET_NUMBER, row])
            if time < self.newest:
                self.disorder = self.position
            self.newest_before = self.newest
        self.newest = max(self.newest, key)
        self._append(packets, row, key, self.position)
        self.position += 1
        self._expire(packets[PACKET_OFFSET, row] + packets[PACKET_CAPTURED, row])
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _see(self, time: cython.longlong) -> cython.longlong:
        """A time that follows shows whether the one before was far ahead. Then that packet, and those behind it that have no time,
        go back to their places of the file: behind the latest before them."""
        row: cython.longlong = self.count - 1
        self.top = max(self.top, min(self.before, time))
        if self.before > self.top and self.before - WINDOW_NS > self.top:
            while row >= 0 and self.waiting[WAIT_KEY, row] == self.before:
                self.waiting[WAIT_KEY, row] = max(self.newest_before, self.released)
                row -= 1
            self.newest = max(self.newest_before, self.released)
            if self.ahead == 0 and row + 1 < self.count:
                self.first_ahead = self.waiting[PACKET_NUMBER, row + 1]
            self.ahead += 1
        self.before = time
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _expire(self, bytes_end: cython.longlong) -> cython.longlong:
        """Packets that the window has left: what comes now leaves behind them."""
        row: cython.longlong = self.unexpired
        while row < self.count - 1 and not self._is_in_window(
            self.waiting[WAIT_POSITION, row], self.waiting[PACKET_OFFSET, row], bytes_end
        ):
            if self.waiting[WAIT_KEY, row] > self.top:
                self.waiting[WAIT_KEY, row] = self.released
                self.waiting[WAIT_TURN, row] = self.position
            else:
                self.released = max(self.released, self.waiting[WAIT_KEY, row])
            row += 1
        self.unexpired = row
        return 0

    def _keep_number(self, number):
        if self.first_number == 0:
            self.first_number = number

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _release(self) -> cython.longlong:
        """Packets behind which no earlier one can come leave, in order."""
        row: cython.longlong
        count: cython.longlong = 0
        column: cython.longlong
        at: cython.longlong
        for row in range(self.count):
            if self.waiting[WAIT_KEY, row] <= self.released:
                self.order[0, count] = row
                count += 1
        at = self._sort(count)
        for column in range(PACKET_COLUMNS):
            for row in range(count):
                self.out[column, row] = self.waiting[column, self.order[at, row]]
        self.ready_rows = count
        self._close_up()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _close_up(self) -> cython.longlong:
        """What goes on waiting moves to the front, in the order of the file."""
        row: cython.longlong
        column: cython.longlong
        count: cython.longlong = 0
        key: cython.longlong
        self.newest = self.released
        self.is_sorted = True
        for row in range(self.count):
            key = self.waiting[WAIT_KEY, row]
            if key > self.released:
                self.is_sorted = self.is_sorted and key >= self.newest
                self.newest = max(self.newest, key)
                for column in range(WAIT_COLUMNS):
                    self.waiting[column, count] = self.waiting[column, row]
                count += 1
        self.count = count
        self.unexpired = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _sort(self, count: cython.longlong) -> cython.longlong:
        """Sorts the first `count` packets named in `order[0]`: a merge sort. Returns the row of `order` in which they are then."""
        source: cython.longlong = 0
        width: cython.longlong = 1
        start: cython.longlong = 0
        while width < count:
            start = 0
            while start < count:
                self._merge(source, start, min(start + width, count), min(start + 2 * width, count))
                start += 2 * width
            source = 1 - source
            width *= 2
        return source

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _is_before(self, row: cython.longlong, other: cython.longlong) -> cython.bint:
        """Whether a packet that waits leaves before one that is behind it in the file."""
        key: cython.longlong = self.waiting[WAIT_KEY, row]
        other_key: cython.longlong = self.waiting[WAIT_KEY, other]
        return key < other_key or (key == other_key and self.waiting[WAIT_TURN, row] <= self.waiting[WAIT_TURN, other])

    @cython.cfunc
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def _merge(
        self, source: cython.longlong, start: cython.longlong, middle: cython.longlong, end: cython.longlong
    ) -> cython.longlong:
        """Merges two sorted runs, [start, middle) and [middle, end), into the other row of `order`."""
        one: cython.longlong = start
        other: cython.longlong = middle
        at: cython.longlong
        for at in range(start, end):
            if other == end or (one < middle and self._is_before(self.order[source, one], self.order[source, other])):
                self.order[1 - source, at] = self.order[source, one]
                one += 1
            else:
                self.order[1 - source, at] = self.order[source, other]
                other += 1
        return 0
