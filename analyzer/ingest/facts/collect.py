"""Frames in, rows of facts out, while the bytes of the frames are there.

A compiled stage picks the few frames whose API has facts; `dissectors.kafka.columns.field_reader` reads each of these. A
request whose reply is needed too is held as bytes, within a limit. Equal bodies are read once, and so are equal exchanges. A
message that cannot be read to its end gives the facts that were read; the table `problems` says what is wrong with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.ingest.facts import brokers, clusters, heartbeats, logins, transactions
from analyzer.ingest.facts.fact_columns import take_table
from analyzer.ingest.facts.fact_kinds import FactKind, Message, Row, SeenExchange
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.ingest.facts.groups import ClassicGroups
from analyzer.ingest.raw_tables import STATUSES
from dissectors import layout
from dissectors.kafka.columns import frame_picker_limits as limits
from dissectors.kafka.columns.field_reader import Reader, message_reader, wanted_fields
from dissectors.kafka.columns.frame_picker import Bodies, FactRows, FramePicker, Picked, WaitingRequests, wanted_table

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a table that are collected before they go to its file.
_ROWS = 16_384
# Bytes of requests that wait for their replies. With more, bytes of further requests are not held, and only replies are read.
_MOST_WAITING_BYTES = 64 << 20
# Bytes of bodies that are remembered. With more, all are forgotten, and written again with other numbers.
_MOST_BODY_BYTES = 32 << 20
# Bytes of exchanges that are remembered with their rows, so that equal ones are not read again.
_MOST_KNOWN_BYTES = 16 << 20

# The table that says which exchange had which body.
_REPORTED = "reported"
_API_VERSIONS = 18
_UNSUPPORTED_VERSION = b"\x00\x23"


def kinds_for(groups: bool, transactional: bool, of_brokers: bool) -> list[FactKind]:
    """The kinds of facts that are always read, and those that only some tables need. Kinds have state: each run has its own."""
    found = [*clusters.KINDS, *logins.Logins().kinds(), *logins.KINDS]
    if groups:
        found += [*ClassicGroups().kinds(), *heartbeats.KINDS]
    if transactional:
        found += transactions.KINDS
    if of_brokers:
        found += brokers.KINDS
    return found


class _HeldRequest(NamedTuple):
    """A request that waits for its reply; `data` is its body, None when it is not held."""

    exchange: int
    version: int
    begin_ns: int
    end_ns: int
    data: bytes | None
    whole: bool


class Collector:
    """Reads facts of batches of frames. `write` takes the name of a raw table and rows of it."""

    def __init__(self, kinds: Iterable[FactKind], write: Callable[[str, pa.Table], None]) -> None:
        events = [(kind, *event) for kind in kinds for event in _events(kind)]
        self._kinds = {(key, event): kind for kind, key, event, _ in events}
        assert len(self._kinds) == len(events), "of two kinds of facts that read the same message one would be lost"
        self._write = write
        self._rows = {name: FactRows() for name in FACT_TABLES if name != _REPORTED}
        self._flushed = Counter[str]()
        self._waiting = WaitingRequests(_MOST_WAITING_BYTES, _MOST_KNOWN_BYTES)
        self._changes = 0
        self._readers: dict[tuple[int, int, str, str], Reader | None] = {}
        self._bodies = Bodies()
        wanted = wanted_table((key, event, what) for _, key, event, what in events)
        self._picker = FramePicker(wanted, self._bodies, self._waiting)
        self._written_bodies: set[int] = set()
        self._body_generation = 0

    def take(self, frames: memoryview, rows: int, block: memoryview, heap: bytearray) -> None:
        """Takes one batch of frames that the walker has read; bytes of the buffers are copied."""
        self._picker.take(frames, rows, block, heap, self._read_one, self._end)
        for name, found in self._rows.items():
            if found.rows >= _ROWS:
                self._flush(name)
        if self._bodies.rows >= _ROWS:
            self._flush_reported()

    def finish(self) -> None:
        """Writes the last rows. By now framing has ended all requests that waited."""
        for name in self._rows:
            self._flush(name)
        self._flush_reported()

    def forget_bodies(self) -> None:
        """Facts of bodies are written anew, also those that were written before."""
        self._bodies.forget()
        self._written_bodies.clear()

    # ---- a run over a part of a capture: see `analyzer.distributed.resolver` ----

    @property
    def positions(self) -> dict[str, int]:
        """Raw table -> rows so far, those of it that are not written yet too."""
        rows = {name: found.rows for name, found in self._rows.items()} | {_REPORTED: self._bodies.rows}
        return {name: self._flushed[name] + more for name, more in rows.items()}

    def held_request(self, index: int, exchange: int) -> tuple[Any, ...] | None:
        """The held request of an exchange, by its request index; None: none is held."""
        return self._waiting.get(index, exchange)  # type: ignore[no-any-return]

    def restore_request(self, index: int, request: tuple[Any, ...] | None) -> None:
        """Holds at a request index what `held_request` of another run gave; None: nothing."""
        self._waiting.put(index, request)

    # ---- facts of one message ----

    def _read_one(self, frame: Picked, buffer: memoryview) -> None:
        kind = self._kinds[frame.key, frame.event]
        direction = "request" if kind.reply is None else "response"
        message = self._read(kind, frame.version, direction, buffer, frame.begin, frame.end)
        seen = _seen_alone(frame, direction, message)
        if kind.by_body:
            self._bodies.learn(frame, buffer, self._body(list(kind.read(seen))))
        else:
            self._write_facts(kind, seen, frame)

    def _body(self, found: list[Row]) -> int | None:
        """The number of the facts of a body: equal facts have one number and are written once. None: it has no facts."""
        if self._bodies.size_bytes >= _MOST_BODY_BYTES:
            self.forget_bodies()
            self._body_generation += 1
        if not found:
            return None
        text = repr((self._body_generation, found)).encode("utf-8", "backslashreplace")
        body = int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)
        if body not in self._written_bodies:
            self._written_bodies.add(body)
            for name, values in found:
                self._rows[name].add(body, 0, values)
        return body

    # ---- facts of request and reply ----

    def _end(
        self, waited: tuple[Any, ...], which: tuple[Any, ...] | None, frame: Picked, buffer: memoryview | None
    ) -> None:
        """The reply to a request came; or, without a buffer, none will come. `which`: what to `learn` the facts by."""
        kind = self._kinds[frame.key, frame.event]
        held, request, reply = _HeldRequest(*waited), None, None
        if held.data is not None:
            request = self._read(kind, held.version, "request", held.data, 0, len(held.data), held.whole)
        if frame.readable and buffer is not None:
            reply = self._read(kind, held.version, "response", buffer, frame.begin, frame.end)
        status = STATUSES[frame.status if buffer is None else layout.STATUS_ANSWERED]
        end_ns = held.end_ns if buffer is None else frame.end_ns
        seen = SeenExchange(frame.part, held.version, request, reply, held.begin_ns, end_ns, status)
        rows = self._write_facts(kind, seen, frame)
        if kind.changes is not None and kind.changes() != self._changes:
            self._changes = kind.changes()
            self._waiting.forget_known()
        if which is not None:
            self._waiting.learn(which, tuple((self._rows[name], values) for name, values in rows))

    # ---- reading and writing ----

    def _read(
        self,
        kind: FactKind,
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
        if (kind.key, direction) == (_API_VERSIONS, "response") and data[begin : begin + 2] == _UNSUPPORTED_VERSION:
            version = 0  # a refusal has this form whatever was asked
        reader = self._reader(kind.key, version, direction, kind.request if direction == "request" else kind.reply)
        if reader is None:
            return None
        fields, complete = reader.read(data, begin, end)
        if not complete and kind.brief and (brief := self._reader(kind.key, version, direction, kind.brief)):
            fields, complete = brief.read(data, begin, end)
        return Message(fields, complete)

    def _reader(self, key: int, version: int, direction: str, wanted: str | None) -> Reader | None:
        """A reader of the wanted fields; None when no schema knows the version."""
        which = (key, version, direction, wanted or "")
        if which not in self._readers:
            self._readers[which] = message_reader(key, version, direction, wanted_fields(which[-1]))
        return self._readers[which]

    def _write_facts(self, kind: FactKind, seen: SeenExchange, frame: Picked) -> list[Row]:
        """Adds the facts of an exchange, and returns them."""
        found = list(kind.read(seen))
        for name, values in found:
            self._rows[name].add(frame.exchange, frame.part, values)
        return found

    def _flush(self, name: str) -> None:
        if self._rows[name].rows:
            self._put(name, take_table(name, self._rows[name]))

    def _flush_reported(self) -> None:
        import pyarrow as pa

        if rows := self._bodies.rows:
            columns = [
                pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(each)]) for each in self._bodies.take()
            ]
            self._put(_REPORTED, pa.table(columns, [column for column, _ in FACT_TABLES[_REPORTED]]))

    def _put(self, name: str, table: pa.Table) -> None:
        self._write(name, table)
        self._flushed[name] += table.num_rows


def _events(kind: FactKind) -> list[tuple[int, int, int]]:
    """API key, event, and what is done with such a frame (PICK_), for the frames that a kind of facts reads."""
    one = limits.PICK_BODY if kind.by_body else limits.PICK_ONE
    if kind.key == logins.TOKEN:
        events = {layout.FRAME_TOKEN_SEEN: limits.PICK_TOKEN, layout.FRAME_REQUEST_ENDED: limits.PICK_ENDED}
    elif kind.reply is None:
        events = {layout.FRAME_REQUEST_SEEN: one}
    elif kind.request is None:
        events = {layout.FRAME_REPLY_SEEN: one}
    else:
        events = {
            layout.FRAME_REQUEST_SEEN: limits.PICK_REQUEST,
            layout.FRAME_REPLY_SEEN: limits.PICK_REPEATED if kind.repeats else limits.PICK_REPLY,
            layout.FRAME_REQUEST_ENDED: limits.PICK_ENDED,
        }
    return [(kind.key, event, what) for event, what in events.items()]


def _seen_alone(frame: Picked, direction: str, message: Message | None) -> SeenExchange:
    if direction == "request":
        return SeenExchange(frame.part, frame.version, message, None)
    return SeenExchange(frame.part, frame.version, None, message)
