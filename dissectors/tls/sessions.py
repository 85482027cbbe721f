"""TLS connections: follows their handshakes and decrypts their content where the keys are known.

Chunks come from `detection`, in the order of the capture; decrypted content goes to framing as chunks like those of connections
without TLS. When nothing of a connection can be decrypted, `detection` is told to count and drop its bytes from there on.

Sources: RFC 5246 section 7, RFC 8446 sections 4 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dissectors import layout
from dissectors.errors import Truncated
from dissectors.matrix import new_matrix
from dissectors.problems import PROBLEM_TLS_LOST
from dissectors.tls.cbc import cbc_keys
from dissectors.tls.content_rows import ContentRows, Row
from dissectors.tls.hello import (
    CLIENT_HELLO,
    FINISHED,
    KEY_UPDATE,
    SERVER_HELLO,
    Messages,
    ServerHello,
    client_hello,
    server_hello,
)
from dissectors.tls.keys import (
    CLIENT_HANDSHAKE,
    CLIENT_TRAFFIC,
    MASTER,
    SERVER_HANDSHAKE,
    SERVER_TRAFFIC,
    KeyLog,
    RecordKey,
    key_block,
    traffic_key,
)
from dissectors.tls.names import SUITES, TLS_1_2, TLS_1_3, Suite
from dissectors.tls.outcome import HandshakeOutcome
from dissectors.tls.record_layer import CHANGE_CIPHER_SPEC, HANDSHAKE, Direction

if TYPE_CHECKING:
    from dissectors.tls.content_rows import TakeContent
    from dissectors.tls.detection import TlsRows

# Why a connection was not decrypted.
NO_KEYS = "no_keys"
NO_HANDSHAKE = "no_handshake"
UNSUPPORTED = "unsupported"
WRONG_KEYS = "wrong_keys"
REASONS = (NO_KEYS, NO_HANDSHAKE, UNSUPPORTED, WRONG_KEYS)

MOST_PROBLEMS = 4_096
# Texts that are held once: a host's name has at most 255 bytes.
_MOST_TEXTS = 4_096
_LONGEST_TEXT = 255
_HEAD = (layout.CHUNK_SLOT, layout.CHUNK_KIND, layout.CHUNK_SIDE, layout.CHUNK_TIME, layout.CHUNK_NUMBER)


@dataclass(slots=True)
class TlsFacts:
    """What is known of one TLS connection (`part`) when it is over.

    `version` and `suite` are registered numbers, None when no ServerHello was seen. `server_name` and `alpn` are captured
    text. `reason` (one of REASONS) says why the connection was not decrypted, None when it was. `handshake` is how its handshake
    ended (`outcome`), None when that is not known. Pairs are per side, in bytes:
    `overhead` was read but is no content (handshake, headers, tags); `unread` could not be read.
    """

    part: int
    version: int | None = None
    suite: int | None = None
    server_name: bytes | None = None
    alpn: bytes | None = None
    decrypted: bool = False
    reason: str | None = None
    handshake: HandshakeOutcome | None = None
    overhead: tuple[int, int] = (0, 0)
    unread: tuple[int, int] = (0, 0)


class Session:
    """One connection: follows its handshake and gives each direction its keys."""

    __slots__ = (
        "_client_random",
        "_client_side",
        "_keys",
        "_messages",
        "_pending",
        "_sessions",
        "directions",
        "facts",
        "first_seq",
        "outcome",
        "slot",
    )

    def __init__(self, slot: int, part: int, keys: KeyLog, sessions: Sessions) -> None:
        self.slot = slot
        self.facts = TlsFacts(part)
        self.directions = (Direction(0, self), Direction(1, self))
        self.first_seq: list[int | None] = [None, None]
        self._keys = keys
        self._sessions = sessions
        self._messages = (Messages(), Messages())
        self._client_side = 0
        self._client_random: bytes | None = None
        self._pending: tuple[RecordKey, RecordKey] | None = None
        self.outcome = HandshakeOutcome()

    def gap(self, side: int, size: int) -> None:
        """Bytes of a side were never captured."""
        self.outcome.gap()
        self._messages[side].clear()
        self.directions[side].gap(size)

    def settle(self) -> bool:
        """Whether nothing more of this connection can be decrypted; then `facts.reason` says why."""
        if self.facts.reason is None and all(direction.dead for direction in self.directions):
            self._name_failure()
        elif self.facts.reason is None and self.facts.version is None and any(d.dead for d in self.directions):
            self.facts.reason = NO_HANDSHAKE
        return self.facts.reason is not None and (self.outcome.done or self.outcome.client is None)

    def close(self) -> TlsFacts:
        """The connection is over, or nothing more can be read of it; returns its facts."""
        for direction in self.directions:
            direction.give_up()
        if self.facts.reason is None:
            self._name_failure()
        first, second = self.directions
        self.facts.decrypted = self.facts.reason is None
        self.facts.handshake = self.outcome
        self.facts.overhead = (first.overhead_bytes, second.overhead_bytes)
        self.facts.unread = (first.unread_bytes, second.unread_bytes)
        return self.facts

    def _name_failure(self) -> None:
        if not any(direction.proven for direction in self.directions):
            with_keys = any((each.key or each.following) and each.unopened for each in self.directions)
            self.facts.reason = WRONG_KEYS if with_keys else NO_HANDSHAKE

    def _refuse(self, reason: str) -> None:
        """Nothing more can be decrypted. No reason is given where content was decrypted before a renegotiation (TLS 1.2)."""
        if not any(direction.proven for direction in self.directions):
            self.facts.reason = reason
        for direction in self.directions:
            direction.give_up()

    # ---- handshake ----

    def record(self, side: int, kind: int, content: bytes) -> None:
        """Takes a record that is no application data."""
        if kind == CHANGE_CIPHER_SPEC:
            self._change_cipher(side)
        elif kind == HANDSHAKE:
            for message, body in self._messages[side].feed(content):
                self._message(side, message, body)

    def content(self, side: int, content: bytes, pieces: list[tuple[int, int, int]], at: int) -> None:
        """Takes the content of one record."""
        self._sessions.content(self, side, content, pieces, at)

    def loss(self, side: int, size: int, time: int, number: int, at: int) -> None:
        """Takes the size of content that was lost."""
        self._sessions.loss(self, side, size, time, number, at)

    def _message(self, side: int, kind: int, body: bytes) -> None:
        direction = self.directions[side]
        try:
            if kind == CLIENT_HELLO:
                self._client_hello(side, body)
            elif kind == SERVER_HELLO:
                self._server_hello(body)
        except Truncated:
            self._refuse(UNSUPPORTED)
            return
        if self.facts.version != TLS_1_3 or direction.key is None:
            return
        if kind == FINISHED and direction.following is not None:
            direction.switch(direction.following)
        elif kind == KEY_UPDATE:
            direction.switch(direction.key.next())

    def _client_hello(self, side: int, body: bytes) -> None:
        hello = client_hello(body)
        self._client_side = side
        self._client_random = hello.random
        self.facts.server_name = self._sessions.once(hello.server_name)
        self.facts.alpn = self._sessions.once(hello.alpn)

    def _server_hello(self, body: bytes) -> None:
        hello = server_hello(body)
        if hello.retry:
            return
        self.facts.version, self.facts.suite = hello.version, hello.suite
        suite = SUITES.get(hello.suite)
        known = suite is not None and not (suite.mac and hello.version == TLS_1_3)
        if suite is None or not known or hello.compressed or hello.version not in (TLS_1_2, TLS_1_3):
            self._refuse(UNSUPPORTED)
        elif self._client_random is None:
            self._refuse(NO_HANDSHAKE)
        elif hello.version == TLS_1_3:
            self._agree_1_3(suite, self._client_random)
        else:
            self._agree_1_2(suite, self._client_random, hello)

    def _agree_1_2(self, suite: Suite, client_random: bytes, hello: ServerHello) -> None:
        master = self._keys.find(MASTER, client_random)
        if master is None:
            self._keys.miss(client_random)
            self._refuse(NO_KEYS)
            return
        if suite.mac:
            self._pending = cbc_keys(suite, master, client_random, hello.random, hello.encrypt_then_mac)
        else:
            self._pending = key_block(suite, TLS_1_2, master, client_random, hello.random)
        for side, direction in enumerate(self.directions):
            if not direction.proven:
                # In case the ChangeCipherSpec is lost.
                direction.following = self._pending[side ^ self._client_side]

    def _agree_1_3(self, suite: Suite, client_random: bytes) -> None:
        labels = ((CLIENT_HANDSHAKE, CLIENT_TRAFFIC), (SERVER_HANDSHAKE, SERVER_TRAFFIC))
        for side, direction in enumerate(self.directions):
            first, traffic = (self._keys.find(label, client_random) for label in labels[side ^ self._client_side])
            if traffic is None:
                self._keys.miss(client_random)
                self._refuse(NO_KEYS)
                return
            key = traffic_key(suite, traffic)
            if key is None:
                self._refuse(WRONG_KEYS)
                return
            direction.switch(traffic_key(suite, first) if first else None, key)

    def _change_cipher(self, side: int) -> None:
        if self.facts.version == TLS_1_3:
            return
        if self._pending is None:
            self._refuse(NO_HANDSHAKE)
        else:
            self.directions[side].switch(self._pending[side ^ self._client_side])


class Sessions:
    """All open TLS connections. `heap` holds the bytes of the chunks that the last `feed` returned; `take_content` is told what
    they hold."""

    def __init__(self, rows: TlsRows, keys: KeyLog, take_content: TakeContent | None = None) -> None:
        self._out = ContentRows(take_content)
        self._rows = rows
        self._keys = keys
        self._open: dict[int, Session] = {}  # by part: a connection that was idle may come back in another slot
        # Of those that nothing can decrypt only this is held: they may stay open for long, and there may be very many.
        self._at_rest: dict[int, TlsFacts] = {}
        self._over: list[TlsFacts] = []
        self._texts: dict[bytes, bytes] = {}
        self._problems: list[Row] = []
        self._problems_dropped = 0
        self._reason = 0  # of the last gap

    @property
    def heap(self) -> bytearray:
        """The bytes of the last chunks."""
        return self._out.heap

    def feed(self, rows: int, block: memoryview, stream_heap: bytearray) -> tuple[memoryview, int]:
        """Takes the first `rows` rows of `TlsRows.taken`, whose bytes are in `block` and `stream_heap`.

        Returns (matrix of CHUNK_ columns, rows); their CHUNK_BUFFER 0 is `heap`.
        """
        taken = self._rows.taken
        buffers = (block, memoryview(stream_heap))
        self._out.clear()
        for number in range(rows):
            row = [taken[column, number] for column in range(layout.TAKEN_COLUMNS)]
            slot, part = row[layout.CHUNK_SLOT], row[layout.TAKEN_PART]
            if row[layout.CHUNK_KIND] == layout.CHUNK_DATA:
                begin = row[layout.CHUNK_OFFSET]
                data = buffers[row[layout.CHUNK_BUFFER]][begin : begin + row[layout.CHUNK_LENGTH]]
            else:
                data = buffers[0][:0]
            if not row[layout.TAKEN_TLS]:
                self._out.copy(row, data)
            elif part in self._at_rest:
                self._of_resting(self._at_rest[part], row, data)
            else:
                if part not in self._open:
                    self._open[part] = Session(slot, part, self._keys, self)
                self._of_session(self._open[part], row, data)
        return self._out.matrix()

    def once(self, text: bytes | None) -> bytes | None:
        """The same text, kept once for all connections: most name the same few hosts."""
        if text is None or len(text) > _LONGEST_TEXT or (len(self._texts) >= _MOST_TEXTS and text not in self._texts):
            return text
        return self._texts.setdefault(text, text)

    def take_facts(self) -> list[TlsFacts]:
        """The connections that closed since the last call."""
        over, self._over = self._over, []
        return over

    def take_problems(self) -> tuple[memoryview, int, int]:
        """(matrix of PROBLEM_ columns, rows, rows dropped beyond the limit) since the last call."""
        rows, dropped = self._problems, self._problems_dropped
        self._problems, self._problems_dropped = [], 0
        matrix = new_matrix(layout.PROBLEM_COLUMNS, max(1, len(rows)))
        for number, row in enumerate(rows):
            for column, value in enumerate(row):
                matrix[column, number] = value
        return matrix, len(rows), dropped

    def _of_session(self, session: Session, row: Row, data: memoryview) -> None:
        session.slot, kind, side, time, number = (row[column] for column in _HEAD)
        if kind == layout.CHUNK_CLOSE:
            self._end(session.close(), row)
            del self._open[session.facts.part]
            return
        direction = session.directions[side]
        was_alive = direction.proven and not direction.dead
        if kind == layout.CHUNK_DATA:
            if session.first_seq[side] is None:
                session.first_seq[side] = row[layout.CHUNK_SEQ]
            session.outcome.feed(side, data)
            direction.feed(data, time, number)
        elif kind == layout.CHUNK_GAP:
            self._reason = row[layout.CHUNK_DETAIL]
            session.gap(side, row[layout.CHUNK_LENGTH])
        elif kind == layout.CHUNK_END:
            direction.end(time, number)
            self._out.append(row)
            return
        if was_alive and direction.dead and session.facts.reason is None:
            self._problem(session, row)
        if session.settle():
            part = session.facts.part
            self._at_rest[part] = session.close()
            del self._open[part]
            self._rows.stop_reading(session.slot, part)

    def _of_resting(self, facts: TlsFacts, row: Row, data: memoryview) -> None:
        """A row of a connection that nothing can decrypt: what its last batch still holds, then its end."""
        assert facts.handshake is not None
        kind, side = row[layout.CHUNK_KIND], row[layout.CHUNK_SIDE]
        if kind == layout.CHUNK_CLOSE:
            self._end(facts, row)
            del self._at_rest[facts.part]
        elif kind == layout.CHUNK_DATA:
            facts.handshake.feed(side, data)
            first, second = facts.unread
            facts.unread = (first, second + len(data)) if side else (first + len(data), second)
        elif kind == layout.CHUNK_GAP:
            facts.handshake.gap()
        elif kind == layout.CHUNK_END:
            self._out.append(row)

    def _end(self, facts: TlsFacts, row: Row) -> None:
        first, second = facts.unread
        dropped = row[layout.TAKEN_DROPPED], row[layout.TAKEN_DROPPED + 1]
        facts.unread = (first + dropped[0], second + dropped[1])
        self._over.append(facts)
        self._out.append(row)

    def _problem(self, session: Session, row: Row) -> None:
        if len(self._problems) >= MOST_PROBLEMS:
            self._problems_dropped += 1
            return
        found = [0] * layout.PROBLEM_COLUMNS
        found[layout.PROBLEM_KIND] = PROBLEM_TLS_LOST
        found[layout.PROBLEM_PART] = session.facts.part
        found[layout.PROBLEM_NUMBER] = row[layout.CHUNK_NUMBER]
        found[layout.PROBLEM_TIME] = row[layout.CHUNK_TIME]
        found[layout.PROBLEM_SIDE] = row[layout.CHUNK_SIDE]
        found[layout.PROBLEM_OFFSET] = row[layout.CHUNK_SEQ] & 0xFFFFFFFF
        found[layout.PROBLEM_BYTES] = layout.UNKNOWN
        found[layout.PROBLEM_DETAIL] = layout.UNKNOWN
        self._problems.append(found)

    # ---- content, from the directions of sessions ----

    def content(self, session: Session, side: int, content: bytes, pieces: list[tuple[int, int, int]], at: int) -> None:
        """Takes the content of one record, by the packets that brought it."""
        self._out.content(session.slot, side, content, pieces, (session.first_seq[side] or 0) + at)

    def loss(self, session: Session, side: int, size: int, time: int, number: int, at: int) -> None:
        """Takes the size of content that was lost at this place of the stream."""
        seq = (session.first_seq[side] or 0) + at
        self._out.loss(session.slot, side, size, time, number, seq, self._reason or layout.GAP_LOST)
