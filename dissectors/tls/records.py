"""The records of one direction of a TLS connection: cut out of its stream, opened, and found again after a loss.

The stream comes in pieces with the time of the packet that brought them. A byte of content has the time of the encrypted
byte in its place; the last one of a record has that of the record's last byte, for nobody could read it earlier.

After a loss the next record header is a guess (17 03 03 and a possible length), and the record is proved by opening it:
its sequence number says how many records are missing, and so how many bytes of content.

Every byte given is counted once: as content, as overhead (headers, tags, handshake, alerts) or as unread.

Sources: RFC 5246 section 6.2, RFC 8446 section 5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from dissectors.tls.keys import Opened, RecordKey

CHANGE_CIPHER_SPEC = 20
ALERT = 21
HANDSHAKE = 22
DATA = 23
LONGEST_CONTENT_BYTES = 16_384
LONGEST_RECORD_BYTES = LONGEST_CONTENT_BYTES + 2_048

# How the record after a loss is sought: sequence numbers tried for one header, and for all of a direction.
_DATA_HEADER = b"\x17\x03\x03"
_TRIES_PER_RECORD = 4_096
_TRIES = 200_000
_MOST_UNOPENED = 64

# Takes (content, its pieces as (bytes, time, packet number), the place of its first byte in the content stream).
TakeContent = Callable[[bytes, list[tuple[int, int, int]], int], None]
# Takes (bytes lost, time, packet number, place in the content stream).
TakeLoss = Callable[[int, int, int, int], None]


class Direction:
    """One side's records. `key` opens them, `following` will when the present key does not any more.

    `on_record(kind, content)` hears of every record that is no application data, in order; it may change the keys.
    `proven` says whether a record was ever opened, `unopened` counts those since then that were not, `dead` says that no
    more will be.
    """

    def __init__(self, on_record: Callable[[int, bytes], None], on_content: TakeContent, on_loss: TakeLoss) -> None:
        self.key: RecordKey | None = None
        self.following: RecordKey | None = None
        self.proven = False
        self.dead = False
        self.overhead_bytes = 0
        self.unread_bytes = 0
        self.unopened = 0
        self._on_record = on_record
        self._on_content = on_content
        self._on_loss = on_loss
        self._sequence = 0
        self._buffer = bytearray()
        self._at = 0  # of the next record in the buffer
        self._base = 0  # place of the buffer in the stream
        self._runs: deque[tuple[int, int, int]] = deque()  # place in the stream, time, packet number
        self._content_at = 0  # place in the stream of content, lost bytes counted
        self._lost_from = -1  # place where records could not be read any more, -1: in step
        self._tries = 0
        self._nonce = 0  # the last explicit one

    def switch(self, key: RecordKey | None, following: RecordKey | None = None) -> None:
        """From the next record on `key` counts; None: records are in clear."""
        self.key, self.following = key, following
        self._sequence = 0

    @property
    def in_step(self) -> bool:
        """Whether the next record begins where the last one ended."""
        return self._lost_from < 0

    def feed(self, data: memoryview, time: int, number: int) -> None:
        """Bytes of the stream, all from one packet."""
        if self.dead:
            self.unread_bytes += len(data)
            return
        self._runs.append((self._base + len(self._buffer), time, number))
        self._buffer += data
        while not self.dead and (self._record() if self.in_step else self._search()):
            pass
        if self.dead:
            self._drop_buffer()
            return
        del self._buffer[: self._at]
        self._base += self._at
        self._at = 0
        self._forget_runs(self._base)

    def gap(self, size: int) -> None:
        """Bytes that were lost. What was begun of a record is no use without them."""
        if not self.dead:
            self._lose(self._base + self._at)
            self._drop_buffer()
        self._base += size

    def end(self, time: int, number: int) -> None:
        """The stream has ended."""
        if not self.dead and not self.in_step and self.proven:
            self._drop_buffer()
            self._on_loss(max(1, self._base - self._lost_from), time, number, self._content_at)
        self.give_up()

    def give_up(self) -> None:
        """No more of this direction can be read."""
        self.dead = True
        self._drop_buffer()

    def _drop_buffer(self) -> None:
        self.unread_bytes += len(self._buffer) - self._at
        self._base += len(self._buffer)
        self._buffer.clear()
        self._runs.clear()
        self._at = 0

    def _forget_runs(self, place: int) -> None:
        """Keeps the run that `place` is in, and later ones."""
        while len(self._runs) > 1 and self._runs[1][0] <= place:
            self._runs.popleft()

    def _lose(self, place: int) -> None:
        if self.in_step:
            self._lost_from = place

    # ---- in step ----

    def _record(self) -> bool:
        """Takes the next record; false: it is not all there."""
        at, buffer = self._at, self._buffer
        if len(buffer) - at < 5:
            return False
        size = buffer[at + 3] << 8 | buffer[at + 4]
        if not (CHANGE_CIPHER_SPEC <= buffer[at] <= DATA and buffer[at + 1] == 3 and size <= LONGEST_RECORD_BYTES):
            if not self.proven:
                self.dead = True
                return False
            self._lose(self._base + at)
            return True
        if len(buffer) - at < 5 + size:
            return False
        header = bytes(buffer[at : at + 5])
        body = bytes(buffer[at + 5 : at + 5 + size])
        opened = self._open(header, body)
        self._at = at + 5 + size
        if opened is None:
            self.unread_bytes += 5 + size
            self._unreadable(self._base + at)
        else:
            self._take(opened, self._base + at, 5 + size)
        return True

    def _open(self, header: bytes, body: bytes) -> Opened | None:
        """The record in clear. A ChangeCipherSpec always is in TLS 1.3, and there is no key before it in TLS 1.2."""
        if header[0] == CHANGE_CIPHER_SPEC and (self.key is None or body == b"\x01"):
            return Opened(CHANGE_CIPHER_SPEC, body)
        if header[0] != DATA and self.key is None:
            return Opened(header[0], body)
        if self.key is not None:
            opened = self.key.open(header, body, self._sequence)
            if opened is not None:
                self._opened(self.key, self._sequence, body)
                return opened
        if self.following is not None:
            opened = self.following.open(header, body, 0)
            if opened is not None:
                self._opened(self.following, 0, body)
                return opened
        # A ClientHello may be answered, and an alert sent, in clear while the keys are already agreed on.
        return Opened(header[0], body) if header[0] == ALERT and len(body) == 2 else None

    def _opened(self, key: RecordKey, sequence: int, body: bytes) -> None:
        if key is self.following:
            self.key, self.following = key, None
        self._sequence = sequence + 1
        self._nonce = int.from_bytes(body[: key.explicit_bytes], "big")
        self.proven = True
        self.unopened = 0

    def _unreadable(self, place: int) -> None:
        """A whole record that no key opens: damage, once one was opened; else early data of TLS 1.3, or wrong keys."""
        self.unopened += 1
        if self.proven:
            self._lose(place)
        elif (self.key is None and self.following is None) or self.unopened > _MOST_UNOPENED:
            self.dead = True

    def _take(self, opened: Opened, place: int, size: int) -> None:
        if opened.kind != DATA:
            self.overhead_bytes += size
            self._on_record(opened.kind, opened.content)
            return
        self.overhead_bytes += size - len(opened.content)
        if opened.content:
            explicit = self.key.explicit_bytes if self.key else 0
            pieces = list(self._pieces(place + 5 + explicit, len(opened.content), place + size))
            self._on_content(opened.content, pieces, self._content_at)
            self._content_at += len(opened.content)

    def _pieces(self, start: int, size: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Content of `size` bytes from place `start` of a record that ends at `end`, by the packets that brought it."""
        self._forget_runs(start)
        runs = self._runs
        last = 0
        while last + 1 < len(runs) and runs[last + 1][0] < end:
            last += 1
        stop = start + size - 1
        for index in range(last):
            until = min(runs[index + 1][0], stop)
            if until > start:
                yield until - start, runs[index][1], runs[index][2]
                start = until
        yield stop + 1 - start, runs[last][1], runs[last][2]

    # ---- after a loss ----

    def _search(self) -> bool:
        """Looks at the next place where a record may begin; false: more bytes are needed."""
        buffer = self._buffer
        at = buffer.find(_DATA_HEADER, self._at)
        if at < 0 or len(buffer) - at < 5:
            self._pass(max(self._at, len(buffer) - 2 if at < 0 else at))
            return False
        self._pass(at)
        size = buffer[at + 3] << 8 | buffer[at + 4]
        if size > LONGEST_RECORD_BYTES:
            self._pass(at + 1)
            return True
        if len(buffer) - at < 5 + size:
            return False
        opened = self._prove(bytes(buffer[at : at + 5]), bytes(buffer[at + 5 : at + 5 + size]), self._base + at)
        if opened is None:
            self._pass(at + 1)
            if self._tries > _TRIES or (self.key is None and self.following is None):
                self.dead = True
            return True
        self._at = at + 5 + size
        self._take(opened, self._base + at, 5 + size)
        return True

    def _pass(self, at: int) -> None:
        self.unread_bytes += at - self._at
        self._at = at

    def _prove(self, header: bytes, body: bytes, place: int) -> Opened | None:
        """Opens the record at `place` by trying the sequence numbers that it can have; tells of what was lost."""
        span = place - self._lost_from
        for key, first in ((self.key, self._sequence), (self.following or (self.key and self.key.next()), 0)):
            if key is None:
                continue
            for missing in self._missing(key, body, span, first == 0):
                self._tries += 1
                opened = key.open(header, body, first + missing)
                if opened is None:
                    continue
                lost = span if key is not self.key else span - missing * key.overhead_bytes
                self._lost_from = -1
                if self.proven and lost > 0:
                    self._forget_runs(place)
                    _, time, number = self._runs[0]
                    self._on_loss(lost, time, number, self._content_at)
                    self._content_at += lost
                self.following = None if key is not self.key else self.following
                self.key = key
                self._opened(key, first + missing, body)
                return opened
        return None

    def _missing(self, key: RecordKey, body: bytes, span: int, is_first: bool) -> Iterator[int]:
        """How many records may be missing in `span` bytes, the likely number first."""
        fewest = 0 if is_first else -(-span // (5 + LONGEST_RECORD_BYTES))
        most = min(span // key.overhead_bytes, fewest + _TRIES_PER_RECORD)
        if key.explicit_bytes:
            # Senders count their explicit nonces up.
            likely = int.from_bytes(body[: key.explicit_bytes], "big") - self._nonce - 1
            if fewest <= likely <= most:
                yield likely
        yield from range(fewest, most + 1)
