"""Makes segment rows by hand, runs them through reassembly, and reads its chunk rows back as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from plain_stages import plain_stage

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tcp import reassembly

FIN, SYN, RST, ACK = layout.TCP_FIN, layout.TCP_SYN, layout.TCP_RST, layout.TCP_ACK
CLIENT, BROKER = (0, 0xFFFF_0A00_0001, 40_000), (0, 0xFFFF_0A00_0002, 9092)
MASK = 0xFFFFFFFF


PLAIN = plain_stage("dissectors.tcp.reassembly")
STAGES = {"built": reassembly, "plain": PLAIN}


@dataclass
class Segment:
    """One TCP segment; `data` is on the wire, of which `captured` bytes (None: all) are there."""

    src: tuple[int, int, int]
    dst: tuple[int, int, int]
    seq: int
    ack: int | None = None
    flags: int = 0
    data: bytes = b""
    captured: int | None = None
    time: int | None = None
    window: int = 500
    tap: int = 0
    scope: int = 0
    number: int = 0
    ttl: int = 64
    ip_id: int | None = None  # None: the packet number, as of a sender that counts
    interface: int = 0
    checksum: int = layout.CHECKSUM_UNKNOWN
    tsval: int = layout.UNKNOWN
    options: int = 0

    def __post_init__(self) -> None:
        self.seq &= MASK
        if self.ack is not None:
            self.ack &= MASK
            self.flags |= ACK


@dataclass(frozen=True)
class Event:
    """A chunk row with its bytes; `at` tells during which row (or at the end) it came out, and is not compared."""

    kind: int
    side: int
    data: bytes
    length: int
    time: int
    number: int
    seq: int
    detail: int
    at: int = field(compare=False, default=0)


@dataclass
class Outcome:
    """What came out: events per part in order, part rows and problem rows by column."""

    events: dict[int, list[Event]] = field(default_factory=dict)
    parts: dict[int, tuple[int, ...]] = field(default_factory=dict)
    problems: list[tuple[int, ...]] = field(default_factory=list)
    calls: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and (self.events, self.parts, self.problems) == (
            other.events,
            other.parts,
            other.problems,
        )

    def stream(self, side: int, part: int = 0) -> bytes:
        """The bytes of a side, a "?" for each one missing."""
        return b"".join(
            event.data if event.kind == layout.CHUNK_DATA else b"?" * event.length
            for event in self.events[part]
            if event.side == side and event.kind in (layout.CHUNK_DATA, layout.CHUNK_GAP)
        )

    def story(self, part: int = 0) -> list[tuple[object, ...]]:
        """Short form of a part's events: (side, bytes), (side, "gap", bytes, reason), (side, "end", reason)."""
        told: list[tuple[object, ...]] = []
        for event in self.events[part]:
            if event.kind == layout.CHUNK_DATA:
                told.append((event.side, event.data))
            elif event.kind == layout.CHUNK_GAP:
                told.append((event.side, "gap", event.length, event.detail))
            elif event.kind == layout.CHUNK_END:
                told.append((event.side, "end", event.detail))
        return told


def number_and_time(segments: list[Segment], step: int = 10_000) -> list[Segment]:
    """Gives each segment its packet number, and a time where it has none."""
    clock = 1_000_000_000
    for number, segment in enumerate(segments, 1):
        segment.number = number
        clock = clock + step if segment.time is None else segment.time
        segment.time = clock
    return segments


def rows_of(segments: list[Segment]) -> tuple[bytearray, memoryview]:
    """(block, segments matrix); some junk lies between the payloads."""
    rows = new_matrix(layout.SEGMENT_COLUMNS, max(1, len(segments)))
    block = bytearray()
    for row, one in enumerate(segments):
        block += b"\xaa\xbb\xcc"
        rows[layout.SEGMENT_OFFSET, row] = len(block)
        captured = len(one.data) if one.captured is None else one.captured
        block += one.data[:captured]
        for column, value in (
            (layout.SEGMENT_NUMBER, one.number),
            (layout.SEGMENT_TIME, one.time),
            (layout.SEGMENT_SRC_HIGH, one.src[0]),
            (layout.SEGMENT_SRC_LOW, one.src[1]),
            (layout.SEGMENT_SRC_PORT, one.src[2]),
            (layout.SEGMENT_DST_HIGH, one.dst[0]),
            (layout.SEGMENT_DST_LOW, one.dst[1]),
            (layout.SEGMENT_DST_PORT, one.dst[2]),
            (layout.SEGMENT_SEQ, one.seq),
            (layout.SEGMENT_ACK, one.ack or 0),
            (layout.SEGMENT_FLAGS, one.flags),
            (layout.SEGMENT_WINDOW, one.window),
            (layout.SEGMENT_CAPTURED, captured),
            (layout.SEGMENT_LENGTH, len(one.data)),
            (layout.SEGMENT_TAP, one.tap),
            (layout.SEGMENT_SCOPE, one.scope),
            (layout.SEGMENT_TTL, one.ttl),
            (layout.SEGMENT_IP_ID, one.number if one.ip_id is None else one.ip_id),
            (layout.SEGMENT_INTERFACE, one.interface),
            (layout.SEGMENT_TSVAL, one.tsval),
            (layout.SEGMENT_OPTIONS, one.options),
            (layout.SEGMENT_CHECKSUM, one.checksum),
        ):
            rows[column, row] = value
    return block, rows


class Runner:
    """Feeds a stage, batch by batch, and overwrites each block once its chunks are used up."""

    def __init__(self, stage: object, chunk_rows: int = 64) -> None:
        self.stage = stage
        self.chunks = new_matrix(layout.CHUNK_COLUMNS, chunk_rows)
        self.outcome = Outcome()
        self.part_of: dict[int, int] = {}
        self.fed = 0

    def feed(self, segments: list[Segment]) -> None:
        block, rows = rows_of(segments)
        row, why = 0, layout.WHY_OUTPUT_FULL
        while row < len(segments) or why != layout.WHY_DONE:
            begin = row
            row, used, why = self.stage.feed(block, rows, len(segments), row, self.chunks)
            assert row > begin or used or why == layout.WHY_DONE or why == layout.WHY_HEAP_FULL
            self.take(block, used, self.fed + len(segments))
        self.fed += len(segments)
        block[:] = b"\xee" * len(block)

    def finish(self) -> Outcome:
        why = layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            used, why = self.stage.finish(self.chunks)
            self.take(bytearray(), used, self.fed + 1)
        assert not self.part_of
        matrix, rows, _ = self.stage.take_problems()
        for row in range(rows):
            self.outcome.problems.append(tuple(matrix[column, row] for column in range(layout.PROBLEM_COLUMNS)))
        return self.outcome

    def take(self, block: bytearray, used: int, at: int) -> None:
        self.outcome.calls += 1
        heap = self.stage.heap
        for row in range(used):
            kind, slot, side, buffer, offset, length, time, number, seq, detail = (
                self.chunks[column, row] for column in range(layout.CHUNK_DETAIL + 1)
            )
            assert slot < self.stage.slots
            if kind == layout.CHUNK_OPEN:
                assert slot not in self.part_of
                self.part_of[slot] = detail
                assert detail not in self.outcome.events
                self.outcome.events[detail] = []
            data = b""
            if kind == layout.CHUNK_DATA:
                assert length > 0
                source = heap if buffer else block
                assert 0 <= offset <= offset + length <= len(source)
                data = bytes(source[offset : offset + length])
            where = offset if kind == layout.CHUNK_OPEN else 0
            self.outcome.events[self.part_of[slot]].append(
                Event(kind, side, data, length, time, number, seq, detail + (where << 40), at)
            )
            if kind == layout.CHUNK_CLOSE:
                del self.part_of[slot]
        matrix, rows = self.stage.take_parts()
        for row in range(rows):
            part = tuple(matrix[column, row] for column in range(layout.PART_COLUMNS))
            assert part[layout.PART_NUMBER] not in self.outcome.parts
            self.outcome.parts[part[layout.PART_NUMBER]] = part


def run(
    segments: list[Segment], *, batch: int = 1 << 30, chunk_rows: int = 256, stage: str = "built", **limits: int
) -> Outcome:
    """All of it through a fresh stage in batches of `batch` segments."""
    runner = Runner(STAGES[stage].Reassembly(seed=7, **limits), chunk_rows)
    for begin in range(0, len(segments), batch):
        runner.feed(segments[begin : begin + batch])
    return runner.finish()


@dataclass
class Conversation:
    """Writes a conversation segment by segment; sequence numbers may be given relative to each side's start."""

    client_start: int = 1000
    broker_start: int = 5000
    client: tuple[int, int, int] = CLIENT
    broker: tuple[int, int, int] = BROKER
    segments: list[Segment] = field(default_factory=list)

    def add(
        self, side: int, at: int, data: bytes = b"", ack: int | None = None, flags: int = 0, **more: int
    ) -> Conversation:
        """A segment of `side` (0 the client) at stream offset `at` that acknowledges the other up to offset `ack`."""
        src, dst = (self.client, self.broker) if side == 0 else (self.broker, self.client)
        mine, theirs = (self.client_start, self.broker_start) if side == 0 else (self.broker_start, self.client_start)
        self.segments.append(
            Segment(src, dst, mine + at, None if ack is None else theirs + ack, flags, data, **more)  # type: ignore[arg-type]
        )
        return self

    def c(self, at: int, data: bytes = b"", ack: int | None = 0, flags: int = 0, **more: int) -> Conversation:
        return self.add(0, at, data, ack, flags, **more)

    def b(self, at: int, data: bytes = b"", ack: int | None = 0, flags: int = 0, **more: int) -> Conversation:
        return self.add(1, at, data, ack, flags, **more)

    def shake(self) -> Conversation:
        """The three segments of a handshake."""
        return self.c(-1, ack=None, flags=SYN).b(-1, flags=SYN).c(0)

    def idle(self, count: int, at: int = 0, ack: int = 0) -> Conversation:
        """Pure ACKs of the client: they let the window pass."""
        for _ in range(count):
            self.c(at, ack=ack)
        return self

    def run(self, step: int = 1_000_000, **options: int) -> Outcome:
        return run(number_and_time(self.segments, step), **options)  # type: ignore[arg-type]
