"""The records of one direction of a TLS connection: finds them in the stream, decrypts them, resynchronises after a loss.

The stream comes in pieces, each with the time and number of the packet that brought it. A decrypted byte has the packet of
the encrypted byte in its place; the last byte of a record has that of the record's last byte, because the receiver could not
decrypt the record before.

After a loss the next record is searched for by its header (17 03 03 and a possible length). It is proved by decrypting it:
the sequence number that fits says how many records are missing, and so how many bytes of content.

Every byte counts once: as content, as overhead (headers, tags, handshake, alerts) or as unread.

Sources: RFC 5246 section 6.2, RFC 8446 section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from dissectors.tls.keys import Opened, RecordKey

CHANGE_CIPHER_SPEC = 20
ALERT = 21
HANDSHAKE = 22
DATA = 23
LONGEST_CONTENT_BYTES = 16_384
LONGEST_RECORD_BYTES = LONGEST_CONTENT_BYTES + 2_048

# Search after a loss: sequence numbers that are tried for one record, and in all for a direction; and one for each captured byte of
# it, beside the first ones: of many short connections with losses each could take as long as a long one otherwise.
_DATA_HEADER = b"\x17\x03\x03"
_TRIES_PER_RECORD = 4_096
_TRIES = 200_000
_FIRST_TRIES = 2_048
_MOST_UNOPENED = 64


class Receiver(Protocol):
    """Takes what the records of a side hold."""

    def record(self, side: int, kind: int, content: bytes) -> None:
        """A record that is no application data, in order; may change the keys of the directions."""

    def content(self, side: int, content: bytes, pieces: list[tuple[int, int, int]], at: int) -> None:
        """Content, its pieces as (bytes, time, packet number), the offset of its first byte in the stream of content."""

    def loss(self, side: int, size: int, time: int, number: int, at: int) -> None:
        """Bytes of content that were lost, at this time, packet and offset in the stream of content."""


class Direction:
    """The records that one side sends. `key` decrypts them; `following` is tried when `key` does not fit any more.

    `proven`: a record was decrypted; `unopened`: records since then that were not; `dead`: no more can be decrypted.
    A capture may have a hundred thousand of these at a time: no attribute dictionary, and nothing that grows once one is dead.
    """

    __slots__ = (
        "_at",
        "_base",
        "_buffer",
        "_content_at",
        "_gap_bytes",
        "_lost_from",
        "_nonce",
        "_receiver",
        "_runs",
        "_sequence",
        "_side",
        "_tries",
        "dead",
        "following",
        "key",
        "overhead_bytes",
        "proven",
        "unopened",
        "unread_bytes",
    )

    def __init__(self, side: int, receiver: Receiver) -> None:
        self.key: RecordKey | None = None
        self.following: RecordKey | None = None
        self.proven = False
        self.dead = False
        self.overhead_bytes = 0
        self.unread_bytes = 0
        self.unopened = 0
        self._side = side
        self._receiver = receiver
        self._sequence = 0
        self._buffer = bytearray()
        self._at = 0  # offset of the next record in the buffer
        self._base = 0  # offset of the buffer in the stream
        self._runs: list[tuple[int, int, int]] = []  # offset in the stream, time, packet number
        self._content_at = 0  # offset in the stream of content, in which lost bytes count
        self._lost_from = -1  # offset in the stream from which on records are lost; -1: none are
        self._gap_bytes = 0
        self._tries = 0
        self._nonce = 0  # the last explicit nonce

    def switch(self, key: RecordKey | None, following: RecordKey | None = None) -> None:
        """Uses `key` from the next record on; None: records are in clear."""
        self.key, self.following = key, following
        self._sequence = 0

    @property
    def is_synchronised(self) -> bool:
        """Whether the next record begins where the last one ended."""
        return self._lost_from < 0

    def feed(self, data: memoryview, time: int, number: int) -> None:
        """Takes bytes of the stream, all from one packet."""
        if self.dead:
            self.unread_bytes += len(data)
            return
        self._runs.append((self._base + len(self._buffer), time, number))
        self._buffer += data
        while not self.dead and (self._record() if self.is_synchronised else self._search()):
            pass
        if self.dead:
            self._drop_buffer()
            return
        del self._buffer[: self._at]
        self._base += self._at
        self._at = 0
        if self._buffer:
            self._forget_runs(self._base)
        else:
            self._runs.clear()

    def gap(self, size: int) -> None:
        """`size` bytes of the stream are missing. The record that they interrupt cannot be decrypted."""
        if not self.dead:
            self._lose(self._base + self._at)
            self._drop_buffer()
        self._base += size
        self._gap_bytes += size

    def end(self, time: int, number: int) -> None:
        """The stream has ended."""
        if not self.dead and not self.is_synchronised and self.proven:
            self._drop_buffer()
            self._receiver.loss(self._side, max(1, self._base - self._lost_from), time, number, self._content_at)
        self.give_up()

    def give_up(self) -> None:
        """Nothing more of this direction will be decrypted."""
        self.dead = True
        self._drop_buffer()

    def _drop_buffer(self) -> None:
        self.unread_bytes += len(self._buffer) - self._at
        self._base += len(self._buffer)
        self._buffer.clear()
        self._runs.clear()
        self._at = 0

    def _forget_runs(self, offset: int) -> None:
        """Forgets runs before the one that `offset` of the stream is in."""
        runs, past = self._runs, 0
        while past + 1 < len(runs) and runs[past + 1][0] <= offset:
            past += 1
        del runs[:past]

    def _lose(self, offset: int) -> None:
        if self.is_synchronised:
            self._lost_from = offset

    # ---- synchronised ----

    def _record(self) -> bool:
        """Takes the next record; False when more bytes are needed."""
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
        """The record in clear. A ChangeCipherSpec is never encrypted in TLS 1.3; in TLS 1.2 there is no key before it."""
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
        # An alert may be sent in clear when the keys are already known.
        return Opened(header[0], body) if header[0] == ALERT and len(body) == 2 else None

    def _opened(self, key: RecordKey, sequence: int, body: bytes) -> None:
        if key is self.following:
            self.key, self.following = key, None
        self._sequence = sequence + 1
        self._nonce = int.from_bytes(body[: key.explicit_bytes], "big")
        self.proven = True
        self.unopened = 0

    def _unreadable(self, offset: int) -> None:
        """A complete record that no key decrypts: damage, if an earlier one was decrypted; else early data of TLS 1.3 or wrong
        keys."""
        self.unopened += 1
        if self.proven:
            self._lose(offset)
        elif (self.key is None and self.following is None) or self.unopened > _MOST_UNOPENED:
            self.dead = True

    def _take(self, opened: Opened, offset: int, size: int) -> None:
        if opened.kind != DATA:
            self.overhead_bytes += size
            self._receiver.record(self._side, opened.kind, opened.content)
            return
        self.overhead_bytes += size - len(opened.content)
        if opened.content:
            explicit = self.key.explicit_bytes if self.key else 0
            pieces = list(self._pieces(offset + 5 + explicit, len(opened.content), offset + size))
            self._receiver.content(self._side, opened.content, pieces, self._content_at)
            self._content_at += len(opened.content)

    def _pieces(self, start: int, size: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Content of `size` bytes, whose encrypted bytes begin at stream offset `start` in a record that ends at `end`, by the
        packets that brought it."""
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
        """Looks at the next bytes that may be a record; False when more bytes are needed."""
        buffer = self._buffer
        at = buffer.find(_DATA_HEADER, self._at)
        if at < 0 or len(buffer) - at < 5:
            self._skip_to(max(self._at, len(buffer) - 2 if at < 0 else at))
            return False
        self._skip_to(at)
        size = buffer[at + 3] << 8 | buffer[at + 4]
        if size > LONGEST_RECORD_BYTES:
            self._skip_to(at + 1)
            return True
        if len(buffer) - at < 5 + size:
            return False
        opened = self._prove(bytes(buffer[at : at + 5]), bytes(buffer[at + 5 : at + 5 + size]), self._base + at)
        if opened is None:
            self._skip_to(at + 1)
            if self._tries > _TRIES or (self.key is None and self.following is None):
                self.dead = True
            return True
        self._at = at + 5 + size
        self._take(opened, self._base + at, 5 + size)
        return True

    def _skip_to(self, at: int) -> None:
        self.unread_bytes += at - self._at
        self._at = at

    def _prove(self, header: bytes, body: bytes, offset: int) -> Opened | None:
        """Decrypts the record at stream offset `offset` by trying the sequence numbers that it can have; reports what was lost
        before it."""
        span = offset - self._lost_from
        for key, first in ((self.key, self._sequence), (self.following or (self.key and self.key.next()), 0)):
            if key is None:
                continue
            allowed = _FIRST_TRIES + offset + len(body) - self._gap_bytes - self._tries
            for missing in self._missing(key, body, span, first == 0, allowed):
                self._tries += 1
                opened = key.open(header, body, first + missing)
                if opened is None:
                    continue
                lost = span if key is not self.key else span - missing * key.overhead_bytes
                self._lost_from = -1
                if self.proven and lost > 0:
                    self._forget_runs(offset)
                    _, time, number = self._runs[0]
                    self._receiver.loss(self._side, lost, time, number, self._content_at)
                    self._content_at += lost
                self.following = None if key is not self.key else self.following
                self.key = key
                self._opened(key, first + missing, body)
                return opened
        return None

    def _missing(self, key: RecordKey, body: bytes, span: int, is_first: bool, allowed: int) -> Iterator[int]:
        """Numbers of records that may be missing in `span` bytes, the most likely one first; no more than that one where all are
        more than `allowed`: a later record is tried, once more bytes were captured."""
        fewest = 0 if is_first else -(-span // (5 + LONGEST_RECORD_BYTES))
        most = min(span // key.overhead_bytes, fewest + _TRIES_PER_RECORD)
        if key.explicit_bytes:
            # Most senders use a counter as explicit nonce.
            likely = int.from_bytes(body[: key.explicit_bytes], "big") - self._nonce - 1
            if fewest <= likely <= most:
                yield likely
        if most - fewest < allowed:
            yield from range(fewest, most + 1)
