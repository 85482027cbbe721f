"""Makes chunk rows by hand, runs them through framing, and reads its rows back as plain values.

Every case runs in three ways that must give the same (all at once; chunk by chunk with an output of two rows; from the heap of
reassembly), and the laws of `check_laws` are asserted each time.
"""

from __future__ import annotations

import importlib.util
import struct
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from dissectors import layout
from dissectors.kafka.framing import framing
from dissectors.layout import UNKNOWN
from dissectors.matrix import new_matrix

CLIENT, BROKER = 0, 1  # sides, in a conversation that begins with the client's SYN
PRODUCE, FETCH, METADATA, CONTROLLED_SHUTDOWN, JOIN_GROUP, SASL_HANDSHAKE, API_VERSIONS = 0, 1, 3, 7, 11, 17, 18
NEWEST = {
    PRODUCE: 13,
    FETCH: 18,
    METADATA: 13,
    CONTROLLED_SHUTDOWN: 3,
    JOIN_GROUP: 9,
    SASL_HANDSHAKE: 1,
    API_VERSIONS: 4,
}
FLEXIBLE = {
    PRODUCE: 9,
    FETCH: 12,
    METADATA: 9,
    CONTROLLED_SHUTDOWN: 3,
    JOIN_GROUP: 6,
    SASL_HANDSHAKE: 99,
    API_VERSIONS: 3,
}
EVENTS = {
    layout.FRAME_REQUEST_SEEN: "request",
    layout.FRAME_REPLY_SEEN: "reply",
    layout.FRAME_ORPHAN_SEEN: "orphan",
    layout.FRAME_TOKEN_SEEN: "token",
    layout.FRAME_REQUEST_ENDED: "ended",
}
STATUSES = {
    layout.STATUS_ANSWERED: "answered",
    layout.STATUS_NO_REPLY_EXPECTED: "no reply expected",
    layout.STATUS_REPLY_LOST: "reply lost",
    layout.STATUS_PENDING: "pending",
    layout.STATUS_CLOSED: "closed",
    layout.STATUS_ABANDONED: "abandoned",
    layout.STATUS_ORPHAN_REPLY: "orphan",
}
SKIPS = {
    layout.SKIP_UNSYNCED: "unsynced",
    layout.SKIP_LOST: "lost",
    layout.SKIP_BAD: "bad",
    layout.SKIP_UNFINISHED: "unfinished",
    layout.SKIP_NOT_KAFKA: "not kafka",
    layout.SKIP_HEADERLESS: "headerless",
}
MS = 1_000_000
START = 1_700_000_000_000_000_000
LOW_32 = 0xFFFFFFFF


def plain_module() -> ModuleType:
    """The stage as plain Python files, whether a compiled one lies beside them or not."""
    path = Path(framing.__file__).parent / "framing.py"
    spec = importlib.util.spec_from_file_location("plain_framing", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STAGES = {"built": framing, "plain": plain_module()}


# ---- messages ----


def framed(data: bytes) -> bytes:
    """A length field before it: how requests, replies and bare tokens are sent."""
    return struct.pack(">i", len(data)) + data


def text(value: bytes | None) -> bytes:
    """A nullable string of Kafka, as it is before KIP-482."""
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value)) + value


def request(
    correlation: int, key: int = METADATA, version: int = 1, body: bytes = b"\xff" * 4, client: bytes | None = b"app"
) -> bytes:
    """A request with header version 1, or 2 (with an empty section of tagged fields) from the first flexible version on."""
    tags = b"\0" if version >= FLEXIBLE.get(key, 99) else b""
    return framed(struct.pack(">hhi", key, version, correlation) + text(client) + tags + body)


def produce(correlation: int, acks: int, version: int = 2, timeout_ms: int = 30_000, name: bytes = b"t") -> bytes:
    """A Produce request for one topic, without partitions."""
    how = struct.pack(">hi", acks, timeout_ms)
    if version >= 9:
        size = len(name) + 1
        length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        return request(correlation, PRODUCE, version, b"\0" + how + b"\x02" + length + name + b"\x01\0\0")
    transaction = text(None) if version >= 3 else b""
    return request(correlation, PRODUCE, version, transaction + how + struct.pack(">i", 1) + text(name) + bytes(4))


def reply(correlation: int, body: bytes = b"\0\0\0\0") -> bytes:
    return framed(struct.pack(">i", correlation) + body)


# ---- chunks ----


@dataclass
class Chunk:
    kind: int
    side: int = 0
    data: bytes = b""
    length: int = 0
    time: int = 0
    number: int = 0
    seq: int = 0
    detail: int = 0
    opened: int = 0  # CHUNK_OFFSET of an OPEN row


class Conversation:
    """Chunks of one connection, in causal order. Each has a packet of its own, a millisecond after the one before."""

    def __init__(
        self, syn: bool = True, ports: tuple[int, int] = (40_000, 9092), starts: tuple[int, int] = (1000, 5000)
    ) -> None:
        self.chunks: list[Chunk] = []
        self.starts = starts
        self.next = list(starts)
        self.streams = (bytearray(), bytearray())  # a gap is as many zero bytes
        self.time = START
        self.open_seq = 77  # the flow
        self.add(Chunk(layout.CHUNK_OPEN, length=ports[0] << 16 | ports[1], seq=self.open_seq, opened=int(syn)))

    def add(self, chunk: Chunk, after: int = MS) -> Conversation:
        self.time += after
        chunk.time = self.time
        chunk.number = len(self.chunks) + 1
        self.chunks.append(chunk)
        return self

    def data(self, side: int, data: bytes, after: int = MS) -> Conversation:
        """One DATA chunk, `after` ns after the chunk before."""
        chunk = Chunk(layout.CHUNK_DATA, side, data, len(data), seq=self.next[side] & LOW_32)
        self.next[side] += len(data)
        self.streams[side].extend(data)
        return self.add(chunk, after)

    def c(self, *data: bytes) -> Conversation:
        """Each a DATA chunk of side 0."""
        for each in data:
            self.data(CLIENT, each)
        return self

    def b(self, *data: bytes) -> Conversation:
        """Each a DATA chunk of side 1."""
        for each in data:
            self.data(BROKER, each)
        return self

    def gap(self, side: int, length: int, reason: int = layout.GAP_LOST) -> Conversation:
        chunk = Chunk(layout.CHUNK_GAP, side, b"", length, seq=self.next[side] & LOW_32, detail=reason)
        self.next[side] += length
        self.streams[side].extend(bytes(length))
        return self.add(chunk)

    def end(self, side: int, after: int = MS) -> Conversation:
        return self.add(Chunk(layout.CHUNK_END, side, detail=layout.END_FIN), after)

    def sent(self, side: int) -> int:
        """Bytes of DATA chunks."""
        return sum(chunk.length for chunk in self.chunks if chunk.kind == layout.CHUNK_DATA and chunk.side == side)

    def run(self, taken_back: int = 0, **options: Any) -> Outcome:
        """Closes the connection and runs it in three ways, which must agree. So many requests are `taken_back`: they were
        none, and end nowhere."""
        self.add(Chunk(layout.CHUNK_CLOSE))
        first, *others = (run(self, way, **options) for way in WAYS)
        for other in others:
            assert other == first
        check_laws(self, first, taken_back)
        return first


# ---- what comes out ----


@dataclass(frozen=True)
class Frame:
    """A frame row. `data` is the frame as far as it is there, without its length field."""

    event: str
    status: str
    side: int
    key: int
    version: int
    correlation: int
    data: bytes
    length: int
    first_time: int
    last_time: int
    number: int
    seq: int
    index: int
    id: int
    decoded: int


@dataclass
class Outcome:
    frames: list[Frame] = field(default_factory=list)
    part: tuple[int, ...] = ()
    problems: list[tuple[int, int, int]] = field(default_factory=list)  # kind, side, bytes

    def story(self) -> list[tuple[object, ...]]:
        """(request or reply or orphan, correlation id), ("one way", correlation id) for a request that expects no reply,
        ("token", side), (status, correlation id or "token") for what ended without a reply."""
        asked = {frame.id: frame.correlation for frame in self.frames if frame.event == "request"}
        told: list[tuple[object, ...]] = []
        for frame in self.frames:
            if frame.event == "ended":
                told.append((frame.status, asked.get(frame.id, "token")))
            elif frame.event == "token":
                told.append(("token", frame.side))
            elif frame.status == "no reply expected":
                told.append(("one way", frame.correlation))
            else:
                told.append((frame.event, frame.correlation))
        return told

    def framed(self, side: int) -> int:
        return self.part[layout.FRAMING_FRAMED + side]

    def skipped(self, side: int) -> dict[str, int]:
        """Bytes by reason, where there are any."""
        counts = {name: self.part[layout.FRAMING_SKIPPED + 2 * reason + side] for reason, name in SKIPS.items()}
        return {name: count for name, count in counts.items() if count}

    @property
    def protocol(self) -> int:
        return self.part[layout.FRAMING_PROTOCOL]

    @property
    def client(self) -> int:
        return self.part[layout.FRAMING_CLIENT_SIDE]


@dataclass(frozen=True)
class Way:
    rows: int  # of the output
    chunks: int  # fed at a time
    buffer: int  # 0: the block, 1: the heap of the stage before


WAYS = (Way(64, 1 << 30, 0), Way(2, 1, 0), Way(3, 2, 1))
_current = "built"


def use(stage: str) -> None:
    """Which of STAGES runs from now on."""
    global _current
    _current = stage


def limits() -> tuple[array[int], array[int]]:
    """Newest and first flexible version by API key, as Kafka has them; -1 for keys that are not in the tables above."""
    keys = range(max(NEWEST) + 1)
    return array("q", [NEWEST.get(key, -1) for key in keys]), array("q", [FLEXIBLE.get(key, -1) for key in keys])


def new_stage(max_frame: int = 1 << 20, arena: int = 1 << 20, ports: Iterable[int] = ()) -> Any:
    return STAGES[_current].Framing(*limits(), max_frame, arena, frozenset(ports))


def rows_of(chunks: list[Chunk], buffer: int) -> tuple[bytearray, memoryview]:
    """(bytes, chunk matrix); some junk lies between the data."""
    rows = new_matrix(layout.CHUNK_COLUMNS, max(1, len(chunks)))
    data = bytearray()
    for row, chunk in enumerate(chunks):
        data += b"\xaa\xbb\xcc"
        offset = len(data) if chunk.kind == layout.CHUNK_DATA else chunk.opened
        data += chunk.data
        for column, value in (
            (layout.CHUNK_KIND, chunk.kind),
            (layout.CHUNK_SIDE, chunk.side),
            (layout.CHUNK_BUFFER, buffer),
            (layout.CHUNK_OFFSET, offset),
            (layout.CHUNK_LENGTH, chunk.length),
            (layout.CHUNK_TIME, chunk.time),
            (layout.CHUNK_NUMBER, chunk.number),
            (layout.CHUNK_SEQ, chunk.seq),
            (layout.CHUNK_DETAIL, chunk.detail),
        ):
            rows[column, row] = value
    return data, rows


def run(conversation: Conversation, way: Way, **options: Any) -> Outcome:
    stage, outcome = new_stage(**options), Outcome()
    for begin in range(0, len(conversation.chunks), way.chunks):
        feed(stage, conversation.chunks[begin : begin + way.chunks], outcome, way)
    return outcome


def feed(stage: Any, chunks: list[Chunk], outcome: Outcome, way: Way = WAYS[0]) -> None:
    """Feeds chunks and takes what comes out; their bytes are overwritten afterwards."""
    data, rows = rows_of(chunks, way.buffer)
    block, heap = (data, bytearray()) if way.buffer == 0 else (bytearray(), data)
    out = new_matrix(layout.FRAME_COLUMNS, way.rows)
    row, why = 0, layout.WHY_DONE
    while row < len(chunks) or why != layout.WHY_DONE:
        begin = row
        row, used, why = stage.feed(block, heap, rows, len(chunks), row, 1, out)
        assert row > begin or used or why in (layout.WHY_DONE, layout.WHY_HEAP_FULL), "it goes on"
        outcome.frames += [frame_of(out, at, block, stage.heap_memory) for at in range(used)]
    data[:] = b"\xee" * len(data)
    matrix, count = stage.take_framed_parts()
    if count:
        assert count == 1
        outcome.part = tuple(matrix[column, 0] for column in range(layout.FRAMING_COLUMNS))
    matrix, count, dropped = stage.take_problems()
    assert not dropped
    outcome.problems += [
        (matrix[layout.PROBLEM_KIND, at], matrix[layout.PROBLEM_SIDE, at], matrix[layout.PROBLEM_BYTES, at])
        for at in range(count)
    ]


def frame_of(out: memoryview, row: int, block: bytearray, heap: bytearray) -> Frame:
    event = EVENTS[out[layout.FRAME_EVENT, row]]
    status, key, index = (out[column, row] for column in (layout.FRAME_STATUS, layout.FRAME_KEY, layout.FRAME_REQUEST))
    if event == "ended":  # the other columns have no meaning
        identity = out[layout.FRAME_ID, row]
        return Frame(event, STATUSES[status], 0, key, 0, 0, b"", 0, 0, 0, 0, 0, index, identity, 0)
    offset, kept = out[layout.FRAME_OFFSET, row], out[layout.FRAME_HELD, row]
    source = heap if out[layout.FRAME_BUFFER, row] else block
    assert 0 <= offset <= offset + kept <= len(source)
    return Frame(
        event,
        STATUSES[status],
        out[layout.FRAME_SIDE, row],
        key,
        out[layout.FRAME_VERSION, row],
        out[layout.FRAME_CORRELATION, row],
        bytes(source[offset : offset + kept]),
        out[layout.FRAME_LENGTH, row],
        out[layout.FRAME_FIRST_TIME, row],
        out[layout.FRAME_LAST_TIME, row],
        out[layout.FRAME_NUMBER, row],
        out[layout.FRAME_SEQ, row],
        index,
        out[layout.FRAME_ID, row],
        out[layout.FRAME_DECODED, row],
    )


def check_laws(sent: Conversation, outcome: Outcome, taken_back: int) -> None:
    """Stream bytes = framed + skipped, for each side; frames hold the bytes of the stream where their sequence number says;
    every request that expects a reply ends once: answered, or with a status that says why not."""
    for side in (CLIENT, BROKER):
        stream, skipped = outcome.part[layout.FRAMING_STREAM + side], outcome.skipped(side)
        assert stream == sent.sent(side)
        assert stream == outcome.framed(side) + sum(skipped.values())
        assert min(skipped.values(), default=0) >= 0 and outcome.framed(side) >= 0
    waiting: dict[int, int] = {}
    for frame in outcome.frames:
        if frame.event != "ended":
            at = (frame.seq - sent.starts[frame.side]) & LOW_32
            stream = sent.streams[frame.side]
            assert stream[at + 4 : at + 4 + len(frame.data)] == frame.data
            assert len(frame.data) <= frame.length
        if frame.event == "request" or (frame.event == "token" and frame.side == outcome.client):
            if frame.status == "pending":
                assert frame.id not in waiting
                waiting[frame.id] = frame.index
            else:
                assert frame.index == UNKNOWN
        elif frame.event != "orphan":
            assert waiting.pop(frame.id) == frame.index, "a reply has the id and the index of its request"
    assert len(waiting) == taken_back
    counts = [sum(frame.event == event for frame in outcome.frames) for event in ("reply", "orphan", "token")]
    assert counts == [
        outcome.part[column] for column in (layout.FRAMING_REPLIES, layout.FRAMING_ORPHANS, layout.FRAMING_TOKENS)
    ]
