"""Frames in, rows of facts out, while the bytes of the frames are there.

A compiled look at each frame's API picks the few that tell something; each of those is read by
`dissectors.kafka.columns.field_reader`. A request that needs its reply waits for it as bytes, within a limit. Equal
bodies are read once. A message that cannot be read, or only in part, gives the facts that are sure; what is wrong with it
is told in `problems`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.ingest.facts import clusters, heartbeats, logins, transactions
from analyzer.ingest.facts.fact_kinds import Kind, Message, Row, Seen
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.ingest.facts.groups import ClassicGroups
from analyzer.ingest.raw_tables import STATUSES
from dissectors import layout
from dissectors.kafka.columns.field_reader import Reader, message_reader, wanted_fields
from dissectors.kafka.columns.frame_picker import Bodies, Picked, pick, wanted_table

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a table that are kept before they go to its file.
_ROWS = 16_384
# Requests that wait for their replies: beyond it they are forgotten, and the reply alone is read.
_MOST_WAITING_BYTES = 64 << 20
# Bodies that are remembered as read: beyond it they are forgotten, and written again under a number of their own.
_MOST_BODY_BYTES = 32 << 20
# Exchanges that told nothing, and may be passed over when they come again: in bytes of theirs.
_MOST_QUIET_BYTES = 16 << 20

# The table of which frame told what.
_TOLD = "told"
_API_VERSIONS = 18
_UNSUPPORTED_VERSION = b"\x00\x23"


def kinds_for(groups: bool, transactional: bool) -> list[Kind]:
    """What is always read, and what only some tables need. Kinds keep state: each run has its own."""
    found = [*clusters.KINDS, *logins.Logins().kinds(), *logins.KINDS]
    if groups:
        found += [*ClassicGroups().kinds(), *heartbeats.KINDS]
    if transactional:
        found += transactions.KINDS
    return found


class _Waiting(NamedTuple):
    """A request whose reply is to come; `data` is its body, None when it was not kept."""

    exchange: int
    version: int
    begin_ns: int
    end_ns: int
    data: bytes | None
    whole: bool


class Collector:
    """Reads facts of batches of frames. `write` takes the name of a raw table and rows of it."""

    def __init__(self, kinds: Iterable[Kind], write: Callable[[str, pa.Table], None]) -> None:
        self._kinds = {kind.key: kind for kind in kinds}
        self._write = write
        self._wanted = wanted_table(chain.from_iterable(_events(kind) for kind in self._kinds.values()))
        self._by_body = frozenset(kind.key for kind in self._kinds.values() if kind.by_body)
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in FACT_TABLES if name != _TOLD}
        self._flushed = Counter[str]()
        self._waiting: dict[int, _Waiting] = {}
        self._waiting_bytes = 0
        self._readers: dict[tuple[int, int, str], Reader | None] = {}
        self._bodies = Bodies()
        self._told: set[int] = set()
        self._generation = 0
        self._quiet: set[tuple[int, int, bytes, bytes]] = set()
        self._quiet_bytes = 0

    def take(self, frames: memoryview, rows: int, block: memoryview, heap: bytearray) -> None:
        """Takes one batch of frames that the walker has seen; of the buffers nothing is kept but copies."""
        picked = pick(frames, rows, self._wanted)
        if not picked:
            return
        buffers = (block, heap)
        for frame in self._bodies.unread(picked, self._by_body, block, heap):
            kind = self._kinds[frame.key]
            if kind.request is None or kind.reply is None:
                if frame.readable:
                    self._alone(kind, frame, buffers[frame.buffer])
            elif frame.event == layout.FRAME_REQUEST_ENDED:
                self._end(kind, frame, None)
            elif frame.event == layout.FRAME_REQUEST_SEEN or (
                frame.event == layout.FRAME_TOKEN_SEEN and frame.status != layout.STATUS_ANSWERED
            ):
                self._keep(frame, buffers[frame.buffer])
            else:
                self._end(kind, frame, buffers[frame.buffer])
        for name, found in self._rows.items():
            if len(found) >= _ROWS:
                self._flush(name)
        if self._bodies.rows >= _ROWS:
            self._flush_told()

    def finish(self) -> None:
        """Hands on what is left. Requests that still wait have been told as ended by then."""
        for name in self._rows:
            self._flush(name)
        self._flush_told()

    # ---- a run over a part of a capture: see `analyzer.distributed.resolver` ----

    @property
    def positions(self) -> dict[str, int]:
        """Table -> rows so far."""
        rows = {name: len(rows) for name, rows in self._rows.items()} | {_TOLD: self._bodies.rows}
        return {name: self._flushed[name] + more for name, more in rows.items()}

    def waiting(self, place: int, exchange: int) -> tuple[Any, ...] | None:
        """What waits at a place for the reply to this exchange; None: nothing."""
        found = self._waiting.get(place)
        return tuple(found) if found is not None and found.exchange == exchange else None

    def wait(self, place: int, waiting: tuple[Any, ...] | None) -> None:
        """Puts there what `waiting` gave in another run."""
        self._forget(place)
        if waiting is not None:
            self._waiting[place] = _Waiting(*waiting)
            self._waiting_bytes += len(self._waiting[place].data or b"")

    # ---- one message is enough ----

    def _alone(self, kind: Kind, frame: Picked, buffer: memoryview | bytearray) -> None:
        # An equal body may have come since the frame was picked.
        if kind.by_body and self._bodies.tell(frame, buffer):
            return
        direction = "request" if kind.reply is None else "response"
        message = self._read(kind, frame.version, direction, buffer, frame.begin, frame.end)
        seen = _alone(frame, direction, message)
        if kind.by_body:
            self._bodies.learn(frame, buffer, self._body(list(kind.read(seen))))
        else:
            self._tell(kind, seen, (frame.exchange, frame.part))

    def _body(self, found: list[Row]) -> int | None:
        """The number of what a body tells: equal for equal facts, which are put down once. None: nothing."""
        if self._bodies.size_bytes >= _MOST_BODY_BYTES:
            self._bodies.forget()
            self._told.clear()
            self._generation += 1
        if not found:
            return None
        text = repr((self._generation, found)).encode("utf-8", "backslashreplace")
        body = int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)
        if body not in self._told:
            self._told.add(body)
            for name, values in found:
                self._rows[name].append((body, *values))
        return body

    # ---- request and reply ----

    def _keep(self, frame: Picked, buffer: memoryview | bytearray) -> None:
        data = None
        if frame.readable and self._waiting_bytes < _MOST_WAITING_BYTES:
            data = bytes(memoryview(buffer)[frame.begin : frame.end])
        self._forget(frame.request)
        self._waiting[frame.request] = _Waiting(
            frame.exchange, frame.version, frame.begin_ns, frame.end_ns, data, frame.whole
        )
        self._waiting_bytes += len(data or b"")

    def _forget(self, at: int) -> _Waiting | None:
        request = self._waiting.pop(at, None)
        if request is not None:
            self._waiting_bytes -= len(request.data or b"")
        return request

    def _end(self, kind: Kind, frame: Picked, buffer: memoryview | bytearray | None) -> None:
        """The reply came, or (no buffer) none will."""
        asked = self._forget(frame.request)
        if asked is None or asked.exchange != frame.exchange:
            return
        request, reply, answer = None, None, b""
        if kind.repeats and frame.readable and buffer is not None and asked.data is not None:
            answer = bytes(memoryview(buffer)[frame.begin : frame.end])
            if (kind.key, asked.version, asked.data, answer) in self._quiet:
                return
        if asked.data is not None:
            request = self._read(kind, asked.version, "request", asked.data, 0, len(asked.data), asked.whole)
        if frame.readable and buffer is not None:
            reply = self._read(kind, asked.version, "response", buffer, frame.begin, frame.end)
        status = STATUSES[frame.status if buffer is None else layout.STATUS_ANSWERED]
        end_ns = asked.end_ns if buffer is None else frame.end_ns
        seen = Seen(frame.part, asked.version, request, reply, asked.begin_ns, end_ns, status)
        if not self._tell(kind, seen, (frame.exchange, frame.part)) and answer and asked.data is not None:
            self._remember_quiet((kind.key, asked.version, asked.data, answer))

    def _remember_quiet(self, which: tuple[int, int, bytes, bytes]) -> None:
        self._quiet_bytes += len(which[2]) + len(which[3]) + 200
        if self._quiet_bytes > _MOST_QUIET_BYTES:
            self._quiet.clear()
            self._quiet_bytes = 0
        self._quiet.add(which)

    # ---- reading and writing ----

    def _read(
        self,
        kind: Kind,
        version: int,
        direction: str,
        data: bytes | memoryview | bytearray,
        begin: int,
        end: int,
        whole: bool = True,
    ) -> Message | None:
        """The wanted fields of data[begin:end], a body; None when no schema knows the version."""
        if kind.key == logins.TOKEN:
            return Message({"auth_bytes": bytes(memoryview(data)[begin:end])}, whole)
        if kind.key == _API_VERSIONS and data[begin : begin + 2] == _UNSUPPORTED_VERSION:
            version = 0  # a refusal has this form whatever was asked
        which = (kind.key, version, direction)
        if which not in self._readers:
            wanted = kind.request if direction == "request" else kind.reply
            self._readers[which] = message_reader(kind.key, version, direction, wanted_fields(wanted or ""))
        reader = self._readers[which]
        if reader is None:
            return None
        fields, complete = reader.read(data, begin, end)
        return Message(fields, complete)

    def _tell(self, kind: Kind, seen: Seen, key: tuple[int, ...]) -> bool:
        """Puts down what an exchange tells; False: nothing."""
        told = False
        for name, values in kind.read(seen):
            self._rows[name].append((*key, *values))
            told = True
        return told

    def _flush(self, name: str) -> None:
        import pyarrow as pa

        rows = self._rows[name]
        if rows:
            columns = zip(*rows, strict=True)
            kinds = (kind for _, kind in FACT_TABLES[name])
            self._put(name, [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)])
            rows.clear()

    def _flush_told(self) -> None:
        import pyarrow as pa

        if rows := self._bodies.rows:
            columns = self._bodies.take()
            self._put(_TOLD, [pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(each)]) for each in columns])

    def _put(self, name: str, columns: list[pa.Array]) -> None:
        import pyarrow as pa

        self._write(name, pa.table(columns, [column for column, _ in FACT_TABLES[name]]))
        self._flushed[name] += len(columns[0])


def _events(kind: Kind) -> list[tuple[int, int]]:
    """The frames that a kind wants to see."""
    if kind.key == logins.TOKEN:
        events = [layout.FRAME_TOKEN_SEEN, layout.FRAME_REQUEST_ENDED]
    elif kind.reply is None:
        events = [layout.FRAME_REQUEST_SEEN]
    elif kind.request is None:
        events = [layout.FRAME_REPLY_SEEN]
    else:
        events = [layout.FRAME_REQUEST_SEEN, layout.FRAME_REPLY_SEEN, layout.FRAME_REQUEST_ENDED]
    return [(kind.key, event) for event in events]


def _alone(frame: Picked, direction: str, message: Message | None) -> Seen:
    if direction == "request":
        return Seen(frame.part, frame.version, message, None)
    return Seen(frame.part, frame.version, None, message)
