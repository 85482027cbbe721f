"""The stages from segments, or from chunks, to rows, in this process and without files; and the laws of what comes out."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from kinds import law

from dissectors import layout
from dissectors.kafka.columns.exchanges import Exchanges
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.framing.framing import Framing
from dissectors.kafka.schema.lookup import version_limits
from dissectors.matrix import new_matrix
from dissectors.tcp.reassembly import Reassembly

LIMITS = version_limits()
# One for all rounds: it keeps programs, which take long to build.
WALKER = Walker(write_entries=True)
ROW_OF_STATUS = {"orphan": layout.STATUS_ORPHAN_REPLY, "answered": layout.STATUS_ANSWERED}
MIB = 1 << 20


@dataclass
class Out:
    """What came out: framed_parts and parts by part number as tuples of their columns, exchange rows as tuples; `frames`, and
    segments of connections that were given up."""

    framed_parts: dict[int, tuple[int, ...]] = field(default_factory=dict)
    parts: dict[int, tuple[int, ...]] = field(default_factory=dict)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    frames: int = 0
    segments_given_up: int = 0


@dataclass(frozen=True)
class Sizes:
    """How large the matrices between the stages are, and the limits."""

    chunks: int = 264
    frames: int = 136
    max_frame: int = 128 * MIB
    arena: int = 16 * MIB
    connections: int = 1000
    held: int = 16 * MIB
    ports: tuple[int, ...] = ()


class Road:
    """Streams, frames, walk and exchanges, wired as in `analyzer.ingest.pipeline`."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.streams = Reassembly(
            seed=5, max_connections=sizes.connections, max_buffered_bytes=sizes.held, heap_bytes=256 << 10
        )
        self.frames = Framing(*LIMITS, sizes.max_frame, sizes.arena, frozenset(sizes.ports))
        self.exchanges = Exchanges()
        self.chunks = new_matrix(layout.CHUNK_COLUMNS, sizes.chunks)
        self.frame_rows = new_matrix(layout.FRAME_COLUMNS, sizes.frames)
        self.values = new_matrix(layout.VALUE_COLUMNS, sizes.frames)
        self.row_matrix = new_matrix(layout.ROW_COLUMNS, 2 * sizes.frames)
        self.out = Out()

    def segments(self, block: bytes, rows: memoryview, count: int) -> None:
        row = 0
        while row < count:
            row, used, _ = self.streams.feed(block, rows, count, row, self.chunks)
            self.take_chunks(block, self.chunks, used)

    def finish(self) -> Out:
        why = layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            used, why = self.streams.finish(self.chunks)
            self.take_chunks(b"", self.chunks, used)
        self.out.segments_given_up = self.streams.segments_given_up
        matrix, rows = self.streams.take_parts()
        for row in range(rows):
            part = columns(matrix, layout.PART_COLUMNS, row)
            law(part[0] not in self.out.parts, "a part comes twice", part)
            self.out.parts[part[0]] = part
        most = self.sizes.held + (256 << 10) + (2048 << 10) + 16 * 1448
        law(len(self.streams.heap) <= max(most, 64 << 10), "reassembly keeps", len(self.streams.heap), "limit", most)
        return self.out

    def take_chunks(self, block: bytes, chunks: memoryview, count: int, heap: bytes | None = None) -> None:
        row, why = 0, layout.WHY_DONE
        buffer = self.streams.heap if heap is None else heap
        slots = max(self.streams.slots, self.slots_of(chunks, count)) if heap is not None else self.streams.slots
        while row < count or why != layout.WHY_DONE:
            row, frames, why = self.frames.feed(block, buffer, chunks, count, row, slots, self.frame_rows)
            if frames:
                self.take_frames(block, frames)
        matrix, rows = self.frames.take_framed_parts()
        for at in range(rows):
            framed_part = columns(matrix, layout.FRAMING_COLUMNS, at)
            law(framed_part[0] not in self.out.framed_parts, "a part comes twice", framed_part)
            self.out.framed_parts[framed_part[0]] = framed_part

    @staticmethod
    def slots_of(chunks: memoryview, count: int) -> int:
        return 1 + max((chunks[layout.CHUNK_SLOT, row] for row in range(count)), default=0)

    def take_frames(self, block: bytes, count: int) -> None:
        heap, frames = self.frames.heap_memory, self.frame_rows
        self.out.frames += count
        entries, errors = WALKER.walk(block, heap, frames, count, self.values)
        law(entries + errors <= len(block) + len(heap), entries, "entries and", errors, "errors of fewer bytes")
        row = 0
        while row < count:
            row, used, _ = self.exchanges.feed(
                frames, self.values, row, count, self.frames.request_capacity, self.row_matrix, 0, 2 * self.sizes.frames
            )
            self.out.rows += [columns(self.row_matrix, layout.ROW_COLUMNS, at) for at in range(used)]
        if WALKER.strings_full():
            texts = list(WALKER.texts())
            WALKER.clear_strings()
            self.exchanges.renumber(texts, WALKER.strings.number)


def filled(columns: Iterable[Iterable[int]], rows: int) -> memoryview:
    """A matrix `m[column, row]` of these columns, as `layout.matrix` makes an empty one."""
    data = bytearray().join(array("q", column) for column in columns)
    return memoryview(data).cast("q", shape=[len(data) // (8 * rows), rows])


def columns(matrix: memoryview, count: int, row: int) -> tuple[int, ...]:
    return tuple([matrix[column, row] for column in range(count)])


def check_same(one: Out, other: Out, how: str) -> None:
    """Two ways gave the same; else says what differs and no more."""
    for word, mine, theirs in (
        ("framed_parts", one.framed_parts, other.framed_parts),
        ("parts", one.parts, other.parts),
    ):
        apart = {number: (mine.get(number), theirs.get(number)) for number in {*mine, *theirs}}
        apart = {number: pair for number, pair in apart.items() if pair[0] != pair[1]}
        law(not apart, word, "differ", how, apart)
    left = set(one.rows) ^ set(other.rows)
    law(len(one.rows) == len(other.rows) and not left, "rows differ", how, left)


def check_framed_parts(out: Out) -> None:
    """Stream bytes = framed + skipped; requests and replies are as many as rows; no exchange has two rows."""
    asked: dict[int, int] = {}
    silent: dict[int, int] = {}
    by_status: dict[tuple[int, int], int] = {}
    seen = set()
    for row in out.rows:
        identity = (row[layout.ROW_PART], row[layout.ROW_EXCHANGE])
        law(identity not in seen, "two rows of one exchange", row)
        seen.add(identity)
        if row[layout.ROW_TOKEN] == 1:
            continue
        part, status = row[layout.ROW_PART], row[layout.ROW_STATUS]
        by_status[part, status] = by_status.get((part, status), 0) + 1
        if status != layout.STATUS_ORPHAN_REPLY:
            asked[part] = asked.get(part, 0) + 1
        if status == layout.STATUS_NO_REPLY_EXPECTED:
            silent[part] = silent.get(part, 0) + 1
    for part, framed_part in out.framed_parts.items():
        for side in (0, 1):
            skipped = framed_part[layout.FRAMING_SKIPPED + side : layout.FRAMING_FLOW : 2]
            framed, stream = framed_part[layout.FRAMING_FRAMED + side], framed_part[layout.FRAMING_STREAM + side]
            law(min(skipped) >= 0 and framed >= 0, "bytes below zero", framed_part)
            law(stream == framed + sum(skipped), "bytes that are neither framed nor skipped", framed_part)
        written = asked.get(part, 0)
        law(
            written - silent.get(part, 0) <= framed_part[layout.FRAMING_REQUESTS] <= written,
            "requests without a row",
            framed_part,
        )
        law(
            framed_part[layout.FRAMING_REPLIES] == by_status.get((part, layout.STATUS_ANSWERED), 0),
            "replies",
            framed_part,
        )
        law(
            framed_part[layout.FRAMING_ORPHANS] == by_status.get((part, layout.STATUS_ORPHAN_REPLY), 0),
            "orphans",
            framed_part,
        )


def check_parts(out: Out) -> None:
    """What reassembly handed on is what framing got, and no more than was sent."""
    law(
        set(out.framed_parts) == set(out.parts), "parts and framed_parts differ", set(out.framed_parts) ^ set(out.parts)
    )
    for number, part in out.parts.items():
        for side in (0, 1):
            stream = part[layout.PART_STREAM + side]
            law(stream == out.framed_parts[number][layout.FRAMING_STREAM + side], "bytes lost before framing", part)
            law(0 <= stream <= part[layout.PART_BYTES + side], "more bytes than were sent", part)
            law(part[layout.PART_GAPS + side] <= part[layout.PART_GAP_BYTES + side], "gaps without bytes", part)
