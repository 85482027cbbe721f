"""Finds the frames of a batch whose bodies are read for facts, and recognises bodies and exchanges that were read before.

A frame of another API costs a look at two numbers. A body that equals an earlier one costs a dictionary lookup instead of
being parsed again: heartbeats and metadata requests are mostly equal.
"""

from array import array
from hashlib import blake2b

import cython

from dissectors.kafka.columns.frame_picker_limits import *
from dissectors.layout import *


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


def wanted_table(pairs):
    """The table for `pick`: 1 for each of `pairs` (FRAME_KEY, FRAME_EVENT)."""
    table = bytearray(PICK_KEYS * EVENTS)
    for key, event in pairs:
        table[(key - LEAST_KEY) * EVENTS + event] = 1
    return table


def pick(frames: cython.longlong[:, ::1], rows: cython.longlong, wanted: cython.uchar[::1]):
    """Those of the first `rows` frames whose key and event are in the table, in order, as a list of Picked."""
    found: list = []
    row: cython.longlong
    index: cython.longlong
    for row in range(rows):
        index = frames[FRAME_KEY, row] - LEAST_KEY
        if 0 <= index < PICK_KEYS and wanted[index * EVENTS + frames[FRAME_EVENT, row]]:
            found.append(_picked(frames, row))
    return found


@cython.cfunc
def _picked(frames: cython.longlong[:, ::1], row: cython.longlong) -> Picked:
    picked: Picked = Picked()
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
        picked.readable = frames[FRAME_DECODED, row] == DECODED_FULL or frames[FRAME_DECODED, row] == DECODED_TRUNCATED
    else:
        picked.readable = False
    return picked


@cython.cclass
class Bodies:
    """Remembers bodies by API key, version and bytes: for each the number of its facts, None for a body without facts.

    `size_bytes` is about the memory that this takes; `rows` counts the rows that the next `take` returns.
    """

    size_bytes = cython.declare(cython.longlong, visibility="readonly")
    rows = cython.declare(cython.longlong, visibility="readonly")
    numbers = cython.declare(dict)
    told = cython.declare(tuple)

    def __init__(self):
        self.forget()
        self.take()

    def unread(self, picked: list, keys: frozenset, block: memoryview, heap: bytearray):
        """Those of the picked frames that must be read: all of other APIs than `keys`; of `keys` those that are readable and
        whose body is not known. A frame with a known body is noted to tell the same facts."""
        found: list = []
        frame: Picked
        with memoryview(heap) as view:
            buffers: tuple = (block, view)
            for frame in picked:
                if frame.key not in keys or (frame.readable and not self._tell(frame, buffers[frame.buffer])):
                    found.append(frame)
        return found

    def tell(self, frame: Picked, buffer):
        """Notes that the frame tells the facts of its body; False when the body is not known."""
        with memoryview(buffer) as view:
            return self._tell(frame, view)

    def learn(self, frame: Picked, buffer, number):
        """Remembers the body of the frame, which was read: its facts have this number, None when it has none."""
        with memoryview(buffer) as view:
            which: tuple = _body(frame, view)
            self.numbers[which] = number
            self.size_bytes += ENTRY_BYTES + len(which[1])
            self._tell(frame, view)

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
    def _tell(self, frame: Picked, buffer: memoryview) -> cython.bint:
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


@cython.cfunc
def _body(frame: Picked, buffer: memoryview) -> tuple:
    """The key of a body: its bytes, or the digest of a longer body. The two sorts of keys differ in length, so they are never
    equal."""
    which: cython.longlong = (frame.key << 16) + frame.version
    body: memoryview = buffer[frame.begin : frame.end]
    if frame.end - frame.begin <= SHORT_BODY_BYTES:
        return which, bytes(body)
    return which, blake2b(body, digest_size=16).digest(), frame.end - frame.begin


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
        self.known_bytes = 0
        self.waiting = {}
        self.known = {}

    def hold(self, frame: Picked, buffer: memoryview):
        """Keeps a request until `end`; another one with its request index is forgotten."""
        body: object = None
        if frame.readable and self.waiting_bytes < self.most_bytes:
            body = bytes(buffer[frame.begin : frame.end])
        self.put(frame.request, (frame.exchange, frame.version, frame.begin_ns, frame.end_ns, body, frame.whole))

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

    def end(self, frame: Picked, buffer, repeats: cython.bint):
        """The request that the frame ends, and of an exchange that `repeats` its key for `learn`, else None.

        None alone when none waits, or when equal bytes were learned: then their rows were added. `buffer` is None where no
        reply came.
        """
        request: tuple = self._forget(frame.request)
        which: tuple
        known: object
        if request is None or request[0] != frame.exchange:
            return None
        if not repeats or not frame.readable or buffer is None or request[4] is None:
            return request, None
        which = (frame.key, request[1], request[4], bytes(buffer[frame.begin : frame.end]))
        known = self.known.get(which)
        if known is None:
            return request, which
        for rows, values in cython.cast(tuple, known):
            cython.cast(list, rows).append((frame.exchange, frame.part, *values))
        return None

    def learn(self, which: tuple, rows: tuple):
        """Remembers the facts of an exchange: tuples of the list that they go to, and their values behind exchange and part."""
        size: cython.longlong = ENTRY_BYTES * (1 + len(rows)) + len(which[2]) + len(which[3])
        if size > self.most_known_bytes:
            return
        self.known_bytes += size
        if self.known_bytes > self.most_known_bytes:
            self.known = {}
            self.known_bytes = size
        self.known[which] = rows

    @cython.cfunc
    def _forget(self, index: object) -> tuple:
        request: tuple = self.waiting.pop(index, None)
        if request is not None and request[4] is not None:
            self.waiting_bytes -= len(request[4])
        return request
