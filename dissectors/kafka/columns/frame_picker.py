"""Finds the frames of a batch whose APIs somebody asks for, so that frames of others cost a look at two numbers; and of those
whose body has been read before, so that they cost little more."""

from array import array
from hashlib import blake2b

import cython

from dissectors.layout import *

# Keys from -2 (a bare SASL token) to PICK_KEYS - 3; five events each.
PICK_KEYS = cython.declare(cython.longlong, 130)
# A body of at most so many bytes is remembered as it is, a longer one by its digest.
SHORT_BODY_BYTES = cython.declare(cython.longlong, 1_024)
# What it takes to remember a body beside its bytes, about.
ENTRY_BYTES = cython.declare(cython.longlong, 250)


@cython.cclass
class Picked:
    """One frame, as its columns FRAME_ tell. `readable`: its body, of which no more is there than from `begin` to `end` of
    its buffer, can be read; a token is its own body. `whole`: all of the frame is there."""

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
    """The table for `pick`: `pairs` are (FRAME_KEY, FRAME_EVENT)."""
    table = bytearray(PICK_KEYS * 5)
    for key, event in pairs:
        table[(key + 2) * 5 + event] = 1
    return table


def pick(frames: cython.longlong[:, ::1], rows: cython.longlong, wanted: cython.uchar[::1]):
    """Of the first `rows` frames those whose key and event are in the table, in order, as a list of Picked."""
    found: list = []
    row: cython.longlong
    place: cython.longlong
    for row in range(rows):
        place = frames[FRAME_KEY, row] + 2
        if 0 <= place < PICK_KEYS and wanted[place * 5 + frames[FRAME_EVENT, row]]:
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
    """What bodies tell that come again and again: by API key, version and bytes the number that was given, None for nothing.

    `size_bytes` is about the memory this takes, `rows` how many frames told something that `take` has not handed out.
    """

    size_bytes = cython.declare(cython.longlong, visibility="readonly")
    rows = cython.declare(cython.longlong, visibility="readonly")
    numbers = cython.declare(dict)
    told = cython.declare(tuple)

    def __init__(self):
        self.forget()
        self.take()

    def unread(self, picked: list, keys: frozenset, block: memoryview, heap: bytearray):
        """Of the picked frames those that are to be read: of `keys` only what can be read and has a body that is not known.
        Frames of known bodies tell what these do."""
        found: list = []
        frame: Picked
        with memoryview(heap) as view:
            buffers: tuple = (block, view)
            for frame in picked:
                if frame.key not in keys or (frame.readable and not self._tell(frame, buffers[frame.buffer])):
                    found.append(frame)
        return found

    def tell(self, frame: Picked, buffer):
        """Puts down what the frame tells, if its body is known; False: it is not."""
        with memoryview(buffer) as view:
            return self._tell(frame, view)

    def learn(self, frame: Picked, buffer, number):
        """From now on the body of the frame, which is the first to do so, tells this number, or nothing (None)."""
        with memoryview(buffer) as view:
            which: tuple = _body(frame, view)
            self.numbers[which] = number
            self.size_bytes += ENTRY_BYTES + len(which[1])
            self._tell(frame, view)

    def forget(self):
        """Every body is new again."""
        self.numbers = {}
        self.size_bytes = 0

    def take(self):
        """Who told what: int64 columns of exchange, part, number, and the time of the frame's first byte in nanoseconds."""
        told: tuple = self.told
        self.told = (array("q"), array("q"), array("q"), array("q"))
        self.rows = 0
        return told

    @cython.cfunc
    def _tell(self, frame: Picked, buffer: memoryview) -> cython.bint:
        number: object = self.numbers.get(_body(frame, buffer), self)
        if number is self:  # which no body has for a number
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
    """What a body is remembered by; that of a digest is longer, so that no other body can be mistaken for it."""
    which: cython.longlong = (frame.key << 16) + frame.version
    body: memoryview = buffer[frame.begin : frame.end]
    if frame.end - frame.begin <= SHORT_BODY_BYTES:
        return which, bytes(body)
    return which, blake2b(body, digest_size=16).digest(), frame.end - frame.begin
