"""Frames in, rows of facts out, while the bytes of the frames are there.

A compiled look at each frame's API picks the few that tell something; each of those is read by `dissectors.kafka.plain`.
A request that needs its reply waits for it as bytes, within a limit. Equal bodies are read once. A message that cannot be
read, or only in part, gives the facts that are sure; what is wrong with it is told in `problems`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.facts import clusters, heartbeats, logins, transactions
from analyzer.facts.groups import ClassicGroups
from analyzer.facts.kinds import Kind, Message, Row, Seen
from analyzer.facts.tables import FACT_TABLES
from analyzer.raw import STATUSES
from dissectors import layout
from dissectors.kafka.pick import pick, wanted_table
from dissectors.kafka.plain import Reader, message_reader, wanted_fields

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a table that are kept before they go to its file.
_ROWS = 16_384
# Requests that wait for their replies: beyond it they are forgotten, and the reply alone is read.
_MOST_WAITING_BYTES = 64 << 20
# Bodies that are remembered as read; with more they are forgotten, and written again under a number of their own.
_MOST_BODIES = 200_000
# Exchanges that told nothing, and may be passed over when they come again: in bytes of theirs.
_MOST_QUIET_BYTES = 16 << 20

_READABLE = (layout.DECODED_FULL, layout.DECODED_TRUNCATED)
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
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in FACT_TABLES}
        self._flushed = Counter[str]()
        self._waiting: dict[int, _Waiting] = {}
        self._waiting_bytes = 0
        self._readers: dict[tuple[int, int, str], Reader | None] = {}
        self._bodies: dict[bytes, int | None] = {}
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
        for row in picked:
            kind = self._kinds[frames[layout.FRAME_KEY, row]]
            event = frames[layout.FRAME_EVENT, row]
            if kind.request is None or kind.reply is None:
                self._alone(kind, frames, row, buffers[frames[layout.FRAME_BUFFER, row]])
            elif event == layout.FRAME_REQUEST_ENDED:
                self._end(kind, frames, row, None)
            elif event == layout.FRAME_REQUEST_SEEN or (
                event == layout.FRAME_TOKEN_SEEN and frames[layout.FRAME_STATUS, row] != layout.STATUS_ANSWERED
            ):
                self._keep(frames, row, buffers[frames[layout.FRAME_BUFFER, row]])
            else:
                self._end(kind, frames, row, buffers[frames[layout.FRAME_BUFFER, row]])
        for name, found in self._rows.items():
            if len(found) >= _ROWS:
                self._flush(name)

    def finish(self) -> None:
        """Hands on what is left. Requests that still wait have been told as ended by then."""
        for name in self._rows:
            self._flush(name)

    # ---- a run over a part of a capture: see `analyzer.spans` ----

    @property
    def positions(self) -> dict[str, int]:
        """Table -> rows so far."""
        return {name: self._flushed[name] + len(rows) for name, rows in self._rows.items()}

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

    def _alone(self, kind: Kind, frames: memoryview, row: int, buffer: memoryview | bytearray) -> None:
        place = _place(frames, row)
        if place is None:
            return
        exchange, part = frames[layout.FRAME_ID, row], frames[layout.FRAME_PART, row]
        version = frames[layout.FRAME_VERSION, row]
        begin_ns = frames[layout.FRAME_FIRST_TIME, row]
        direction = "request" if kind.reply is None else "response"
        if not kind.by_body:
            message = self._read(kind, version, direction, buffer, *place)
            self._tell(kind, _alone(part, version, direction, message), (exchange, part))
            return
        which = f"{kind.key} {version}".encode()
        digest = blake2b(memoryview(buffer)[place[0] : place[1]], digest_size=16, person=which).digest()
        if digest not in self._bodies:
            message = self._read(kind, version, direction, buffer, *place)
            self._bodies[digest] = self._body(list(kind.read(_alone(part, version, direction, message))))
        body = self._bodies[digest]
        if body is not None:
            self._rows["told"].append((exchange, part, body, begin_ns))

    def _body(self, found: list[Row]) -> int | None:
        """The number of what a body tells: equal for equal facts, which are put down once. None: nothing."""
        if not found:
            return None
        if len(self._bodies) >= _MOST_BODIES:
            self._bodies.clear()
            self._told.clear()
            self._generation += 1
        text = repr((self._generation, found)).encode("utf-8", "backslashreplace")
        body = int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)
        if body not in self._told:
            self._told.add(body)
            for name, values in found:
                self._rows[name].append((body, *values))
        return body

    # ---- request and reply ----

    def _keep(self, frames: memoryview, row: int, buffer: memoryview | bytearray) -> None:
        place = _place(frames, row)
        data = None
        if place is not None and self._waiting_bytes < _MOST_WAITING_BYTES:
            data = bytes(memoryview(buffer)[place[0] : place[1]])
        request = _Waiting(
            frames[layout.FRAME_ID, row],
            frames[layout.FRAME_VERSION, row],
            frames[layout.FRAME_FIRST_TIME, row],
            frames[layout.FRAME_LAST_TIME, row],
            data,
            _is_whole(frames, row),
        )
        at = frames[layout.FRAME_REQUEST, row]
        self._forget(at)
        self._waiting[at] = request
        self._waiting_bytes += len(data or b"")

    def _forget(self, at: int) -> _Waiting | None:
        request = self._waiting.pop(at, None)
        if request is not None:
            self._waiting_bytes -= len(request.data or b"")
        return request

    def _end(self, kind: Kind, frames: memoryview, row: int, buffer: memoryview | bytearray | None) -> None:
        """The reply came, or (no buffer) none will."""
        exchange, part = frames[layout.FRAME_ID, row], frames[layout.FRAME_PART, row]
        asked = self._forget(frames[layout.FRAME_REQUEST, row])
        if asked is None or asked.exchange != exchange:
            return
        request, reply, answer, place = None, None, b"", None
        end_ns = asked.end_ns
        if buffer is not None:
            end_ns = frames[layout.FRAME_LAST_TIME, row]
            place = _place(frames, row)
        if kind.repeats and place is not None and buffer is not None and asked.data is not None:
            answer = bytes(memoryview(buffer)[place[0] : place[1]])
            if (kind.key, asked.version, asked.data, answer) in self._quiet:
                return
        if asked.data is not None:
            request = self._read(kind, asked.version, "request", asked.data, 0, len(asked.data), asked.whole)
        if place is not None and buffer is not None:
            reply = self._read(kind, asked.version, "response", buffer, *place)
        status = STATUSES[layout.STATUS_ANSWERED if buffer is not None else frames[layout.FRAME_STATUS, row]]
        seen = Seen(part, asked.version, request, reply, asked.begin_ns, end_ns, status)
        if not self._tell(kind, seen, (exchange, part)) and answer and asked.data is not None:
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
        if not rows:
            return
        columns = zip(*rows, strict=True)
        arrays = [pa.array(values, kind) for values, (_, kind) in zip(columns, FACT_TABLES[name], strict=True)]
        self._write(name, pa.table(arrays, [column for column, _ in FACT_TABLES[name]]))
        self._flushed[name] += len(rows)
        rows.clear()


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


def _place(frames: memoryview, row: int) -> tuple[int, int] | None:
    """Where a readable body begins and ends in its buffer; a token is its own body."""
    begin = frames[layout.FRAME_OFFSET, row]
    end = begin + max(0, frames[layout.FRAME_HELD, row])
    if frames[layout.FRAME_EVENT, row] == layout.FRAME_TOKEN_SEEN:
        return begin, end
    body = frames[layout.FRAME_BODY, row]
    if body == layout.UNKNOWN or frames[layout.FRAME_DECODED, row] not in _READABLE:
        return None
    return begin + body, end


def _is_whole(frames: memoryview, row: int) -> bool:
    return bool(frames[layout.FRAME_HELD, row] == frames[layout.FRAME_LENGTH, row])


def _alone(part: int, version: int, direction: str, message: Message | None) -> Seen:
    if direction == "request":
        return Seen(part, version, message, None)
    return Seen(part, version, None, message)
