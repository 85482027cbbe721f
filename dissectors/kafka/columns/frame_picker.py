"""Goes through frames whose bodies are read for facts, and recognises bodies and exchanges that were read before.

A frame of another API costs a look at two numbers. A body that equals an earlier one costs a dictionary lookup instead of
being parsed again: heartbeats and metadata requests are mostly equal.
"""

from array import array
from hashlib import blake2b

import cython

from dissectors.kafka.columns.frame_picker_limits import *
from dissectors.layout import *
from dissectors.matrix import check_room


@cython.cclass
class Picked:
    """One frame, from its FRAME_ columns. [begin, end) of its buffer are the captured bytes of its body; a bare SASL token is
    its own body. `readable`: the body can be read; `whole`: the frame was captured to its end."""

    event = cython.declare(cython.longlong, visibility="readonly")
    part = cython.declare(cython.longlong, visibility="readonly")
    request = cython.declare(cython.longlong, visibility="readonly")
    buffer = cython.declare(cython.longlong, visibility="readonly")
    key = cython.declare(cython.longlong, visibility="readonly")
    version = cython.declare(cython.longlong, visibility="readonly")
    exchange = cython.declare(cython.longlong, visibility="readonly")
    begin_ns = cython.declare(cython.longlong, visibility="readonly")
    end_ns = cython.declare(cython.longlong, visibility="readonly")
    status = cython.declare(cython.longlong, visibility="readonly")
    begin = cython.declare(cython.longlong, visibility="readonly")
    end = cython.declare(cython.longlong, visibility="readonly")
    readable = cython.declare(cython.bint, visibility="readonly")
    whole = cython.declare(cython.bint, visibility="readonly")


def wanted_table(wanted):
    """The table for `FramePicker`, of triples (FRAME_KEY, FRAME_EVENT, PICK_)."""
    table = bytearray(PICK_KEYS * EVENTS)
    for key, event, what in wanted:
        table[(key - LEAST_KEY) * EVENTS + event] = what
    return table


@cython.cfunc
@cython.exceptval(-1)
def _pick(picked: Picked, frames: cython.longlong[:, ::1], row: cython.longlong) -> cython.int:
    """Fills `picked` from a frame row."""
    picked.event = frames[FRAME_EVENT, row]
    picked.part = frames[FRAME_PART, row]
    picked.request = frames[FRAME_REQUEST, row]
    picked.buffer = frames[FRAME_BUFFER, row]
    picked.key = frames[FRAME_KEY, row]
    picked.version = frames[FRAME_VERSION, row]
    picked.exchange = frames[FRAME_ID, row]
    picked.begin_ns = frames[FRAME_FIRST_TIME, row]
    picked.end_ns = frames[FRAME_LAST_TIME, row]
    picked.status = frames[FRAME_STATUS, row]
    picked.begin = frames[FRAME_OFFSET, row]
    picked.end = picked.begin + max(0, frames[FRAME_HELD, row])
    picked.whole = frames[FRAME_HELD, row] == frames[FRAME_LENGTH, row]
    if picked.event == FRAME_TOKEN_SEEN:
        picked.readable = True
    elif frames[FRAME_BODY, row] != UNKNOWN:
        picked.begin += frames[FRAME_BODY, row]
        picked.readable = frames[FRAME_DECODED, row] in (DECODED_FULL, DECODED_TRUNCATED, DECODED_TRAILING)
    else:
        picked.readable = False
    return 0


@cython.cclass
class Bodies:
    """Remembers bodies by API key, direction, version and bytes: for each the number of its facts, None for a body without facts.

    `size_bytes` is about the memory that this takes; `rows` counts the rows that the next `take` returns.
    """

    size_bytes = cython.declare(cython.longlong, visibility="readonly")
    rows = cython.declare(cython.longlong, visibility="readonly")
    numbers = cython.declare(dict)
    told = cython.declare(tuple)

    def __init__(self):
        self.forget()
        self.take()

    def tell(self, frame: Picked, buffer: memoryview) -> cython.bint:
        """Notes that the frame tells the facts of its body; False when the body is not known."""
        number: object = self.numbers.get(_body(frame, buffer), self)
        if number is self:  # the default: not found
            return False
        if number is not None:
            self.told[0].append(frame.exchange)
            self.told[1].append(frame.part)
            self.told[2].append(number)
            self.told[3].append(frame.begin_ns)
            self.rows += 1
        return True

    def learn(self, frame: Picked, buffer: memoryview, number):
        """Remembers the body of the frame, which was read: its facts have this number, None when it has none."""
        which: tuple = _body(frame, buffer)
        self.numbers[which] = number
        self.size_bytes += ENTRY_BYTES + len(which[1])
        self.tell(frame, buffer)

    def forget(self):
        """Forgets all bodies."""
        self.numbers = {}
        self.size_bytes = 0

    def take(self):
        """Which frames told which facts since the last call: int64 columns of exchange, part, number of the facts, and time of
        the frame's first byte in ns."""
        told: tuple = self.told
        self.told = (array("q"), array("q"), array("q"), array("q"))
        self.rows = 0
        return told


@cython.cfunc
def _body(frame: Picked, buffer: memoryview) -> tuple:
    """The key of a body: its bytes, or the digest of a longer body. The two sorts of keys differ in length, so they are never
    equal."""
    which: cython.longlong = ((frame.key * EVENTS + frame.event) << 16) + frame.version
    body: memoryview = buffer[frame.begin : frame.end]
    if frame.end - frame.begin <= SHORT_BODY_BYTES:
        return which, bytes(body)
    return which, blake2b(body, digest_size=16).digest(), frame.end - frame.begin


@cython.cclass
class FactRows:
    """Rows of one table of facts. Each has two keys (exchange and part; or the number of a body) and the tuple of its values,
    which all rows share that were added with the same object.

    `distinct`: the tuples of values, in the order in which they came first.
    """

    rows = cython.declare(cython.longlong, visibility="readonly")
    distinct = cython.declare(list, visibility="readonly")
    places = cython.declare(dict)
    first_keys = cython.declare(object)
    second_keys = cython.declare(object)
    numbers = cython.declare(object)

    def __init__(self):
        self._clear()

    @cython.cfunc
    @cython.exceptval(-1)
    def _clear(self) -> cython.int:
        self.rows = 0
        self.distinct = []
        self.places = {}
        self.first_keys = array("q")
        self.second_keys = array("q")
        self.numbers = array("q")
        return 0

    @cython.ccall
    def add(self, first: cython.longlong, second: cython.longlong, values: object):
        """Adds a row."""
        # An id belongs to one tuple as long as that is in `distinct`.
        number: object = self.places.get(id(values))
        if number is None:
            number = len(self.distinct)
            self.places[id(values)] = number
            self.distinct.append(values)
        self.first_keys.append(first)
        self.second_keys.append(second)
        self.numbers.append(number)
        self.rows += 1

    def take(self, shared: cython.longlong[:, ::1], matrix: cython.longlong[:, ::1]):
        """Writes all rows into a matrix: the two keys, then the columns that `shared` has for their tuple. They are gone then.

        Raises ValueError unless both matrices have room.
        """
        columns: cython.longlong = shared.shape[0]
        column: cython.longlong
        row: cython.longlong
        check_room(shared, columns, len(self.distinct))
        check_room(matrix, FACT_KEYS + columns, self.rows)
        first: cython.longlong[::1] = self.first_keys
        second: cython.longlong[::1] = self.second_keys
        numbers: cython.longlong[::1] = self.numbers
        for row in range(self.rows):
            matrix[0, row] = first[row]
            matrix[1, row] = second[row]
        for column in range(columns):
            for row in range(self.rows):
                matrix[FACT_KEYS + column, row] = shared[column, numbers[row]]
        self._clear()


@cython.cclass
class WaitingRequests:
    """Requests that wait for their replies, as bytes, and the rows of facts of exchanges that were read before.

    A waiting request is a tuple: exchange, version, times of its first and last byte in ns, its body (None: it could not be
    read, or `most_bytes` of bodies wait already) and whether it was captured to its end.
    """

    most_bytes = cython.declare(cython.longlong)
    most_known_bytes = cython.declare(cython.longlong)
    waiting_bytes = cython.declare(cython.longlong)
    known_bytes = cython.declare(cython.longlong)
    waiting = cython.declare(dict)
    known = cython.declare(dict)

    def __init__(self, most_bytes, most_known_bytes):
        self.most_bytes = most_bytes
        self.most_known_bytes = most_known_bytes
        self.waiting_bytes = 0
        self.waiting = {}
        self.forget_known()

    @cython.cfunc
    @cython.exceptval(-1)
    def hold(self, frame: Picked, buffer: memoryview) -> cython.int:
        """Keeps a request until `end`; another one with its request index is forgotten."""
        body: object = None
        if frame.readable and self.waiting_bytes < self.most_bytes:
            body = bytes(buffer[frame.begin : frame.end])
        self.put(frame.request, (frame.exchange, frame.version, frame.begin_ns, frame.end_ns, body, frame.whole))
        return 0

    def put(self, index, request):
        """Keeps a waiting request at a request index; None: nothing waits there."""
        self._forget(index)
        if request is not None:
            # From another run's checkpoint it comes as a list.
            self.waiting[index] = tuple(request)
            self.waiting_bytes += len(request[4] or b"")

    def get(self, index, exchange):
        """The waiting request of an exchange, by its request index; None: none waits."""
        request: tuple = self.waiting.get(index)
        return request if request is not None and request[0] == exchange else None

    @cython.cfunc
    def end(self, frame: Picked, buffer: memoryview, repeats: cython.bint) -> tuple:
        """A pair: the request that the frame ends; and, where such exchanges often repeat (`repeats`), its key for `learn`, else
        None.

        None instead of the pair when no request waits, or when an exchange of equal bytes was learned: its rows are added here.
        """
        request: tuple = self._forget(frame.request)
        which: tuple
        known: object
        if request is None or request[0] != frame.exchange:
            return None
        if not repeats or not frame.readable or request[4] is None:
            return request, None
        which = (frame.key, request[1], request[4], bytes(buffer[frame.begin : frame.end]))
        known = self.known.get(which)
        if known is None:
            return request, which
        for rows, values in cython.cast(tuple, known):
            cython.cast(FactRows, rows).add(frame.exchange, frame.part, values)
        return None

    def learn(self, which: tuple, rows: tuple):
        """Remembers the facts of an exchange: tuples of the `FactRows` that they go to, and their values."""
        size: cython.longlong = ENTRY_BYTES * (1 + len(rows)) + len(which[2]) + len(which[3])
        if size > self.most_known_bytes:
            return
        if self.known_bytes + size > self.most_known_bytes:
            self.forget_known()
        self.known_bytes += size
        self.known[which] = rows

    def forget_known(self):
        """Forgets the rows of all exchanges that were read before."""
        self.known = {}
        self.known_bytes = 0

    @cython.cfunc
    def _forget(self, index: object) -> tuple:
        request: tuple = self.waiting.pop(index, None)
        if request is not None and request[4] is not None:
            self.waiting_bytes -= len(request[4])
        return request


@cython.cclass
class FramePicker:
    """Finds the frames of a batch that are wanted, and has read what was not read before.

    `wanted` is a table of `wanted_table`.
    """

    wanted = cython.declare(bytearray)
    bodies = cython.declare(Bodies)
    waiting = cython.declare(WaitingRequests)
    frame = cython.declare(Picked)

    def __init__(self, wanted, bodies, waiting):
        self.wanted = wanted
        self.bodies = bodies
        self.waiting = waiting
        self.frame = Picked()

    def take(self, frames: cython.longlong[:, ::1], rows: cython.longlong, block, heap, read_one, read_pair):
        """Takes the first `rows` frames, which point into `block` and `heap`.

        Calls `read_one(frame, buffer)`, or for requests that are read with their replies `read_pair(request, which, frame,
        buffer)`: a request of `WaitingRequests`, its key for `learn` or None, and no buffer where no reply came. The frame object
        is used again after their return.
        """
        wanted: cython.uchar[::1] = self.wanted
        row: cython.longlong
        index: cython.longlong
        what: cython.int
        with memoryview(block) as in_block, memoryview(heap) as in_heap:
            for row in range(rows):
                index = frames[FRAME_KEY, row] - LEAST_KEY
                if 0 <= index < PICK_KEYS:
                    what = wanted[index * EVENTS + frames[FRAME_EVENT, row]]
                    if what != PICK_NOTHING:
                        _pick(self.frame, frames, row)
                        self._take_one(what, in_heap if self.frame.buffer else in_block, read_one, read_pair)

    @cython.cfunc
    @cython.exceptval(-1)
    def _take_one(self, what: cython.int, buffer: memoryview, read_one: object, read_pair: object) -> cython.int:
        frame: Picked = self.frame
        found: tuple
        if what == PICK_TOKEN:
            what = PICK_REPLY if frame.status == STATUS_ANSWERED else PICK_REQUEST
        if what == PICK_REQUEST:
            self.waiting.hold(frame, buffer)
        elif what >= PICK_REPLY:
            found = self.waiting.end(frame, buffer, what == PICK_REPEATED)
            if found is not None:
                read_pair(found[0], found[1], frame, None if what == PICK_ENDED else buffer)
        elif frame.readable and (what == PICK_ONE or not self.bodies.tell(frame, buffer)):
            read_one(frame, buffer)
        return 0
