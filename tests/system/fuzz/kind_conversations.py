"""Conversations as reassembly hands them on: frames right and wrong, cut anywhere, with gaps, junk and SASL tokens."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from struct import pack

import material
from damage_bytes import ODD_32, SAME_SIZE
from damage_bytes import damage as damage_bytes
from kind_messages import wrong_length
from kinds import law
from stages import MIB, Out, Road, Sizes, check_framed_parts, check_same, filled

from dissectors import layout

# One connection: (began with a SYN, events); an event is (CHUNK_ kind, side, bytes, length, CHUNK_DETAIL, ns since the last).
Event = tuple[int, int, bytes, int, int, int]
Input = tuple[bool, tuple[Event, ...]]

JUNK = (
    b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),
    b"AMQP\x00\x00\x09\x01", b"*1\r\n$4\r\nPING\r\n", b"\x10\x0e\x00\x04MQTT\x04\x02\x00<\x00\x02ab", bytes(64),
    b"\xff" * 64, b"\x00\x00\x00\x10" * 16, b"\x60\x48\x06\x06\x2b\x06\x01\x05\x05\x02",
)  # fmt: skip
STEPS_NS = (0, 1_000, 1_000_000, 40_000_000_000, -1_000, -40_000_000_000)
HANDSHAKE = pack(">hhih", 17, 0, 0, 1) + b"c" + pack(">h", 5) + b"PLAIN"
ACCEPTED = pack(">ihih", 0, 0, 1, 5) + b"PLAIN"
SIZES = (
    Sizes(frames=64, chunks=64), Sizes(frames=264), Sizes(max_frame=100, frames=64), Sizes(arena=16 * 4096, frames=33),
    Sizes(max_frame=2 * MIB, arena=64 * 4096, frames=1032), Sizes(ports=(9092,), frames=264),
)  # fmt: skip
PORTS = 40_000 * 65536 + 9092
START_NS = 1_700_000_000_000_000_000


class Conversations:
    """Every byte is framed or skipped, every request has one end, and full outputs in between change nothing."""

    name = "conversations"
    round_inputs = 24

    def make(self, chance: Random) -> Input:
        stream = Conversation(chance).messages()
        if chance.random() < 0.3:
            stream.insert(chance.randrange(len(stream) + 1), (chance.randrange(2), chance.choice(JUNK)))
        events: list[Event] = []
        for side, data in stream:
            for piece in pieces(data, chance):
                gap = chance.random()
                if gap < 0.02:  # lost: these bytes, or many more
                    length = len(piece) if chance.random() < 0.8 else chance.choice(ODD_32) or 1
                    events.append((layout.CHUNK_GAP, side, b"", length, chance.randint(1, 4), 0))
                elif gap < 0.99:
                    events.append((layout.CHUNK_DATA, side, piece, len(piece), 0, chance.choice(STEPS_NS)))
        if len(events) > 1 and chance.random() < 0.1:
            at = chance.randrange(len(events) - 1)
            events[at], events[at + 1] = events[at + 1], events[at]
        if chance.random() < 0.3:
            events.append((layout.CHUNK_END, chance.randrange(2), b"", 0, chance.choice((1, 2)), 0))
        return chance.random() < 0.5, tuple(events)

    def check(self, inputs: Sequence[Input]) -> None:
        # What the inputs are decides how they are run, so that a kept input runs as it did.
        chance = Random(sum(len(events) for _, events in inputs))
        sizes = chance.choice(SIZES)
        whole = run(inputs, sizes, batch=1 << 30)
        check_framed_parts(whole)
        self.check_bytes(inputs, whole)
        if sizes.arena >= 16 * MIB:  # else it depends on the batches which frame finds the arena full
            again = run(
                inputs, Sizes(frames=chance.choice((3, 5, 17)), max_frame=sizes.max_frame, ports=sizes.ports), batch=7
            )
            check_same(whole, again, "in small batches")

    @staticmethod
    def check_bytes(inputs: Sequence[Input], out: Out) -> None:
        for part, (_, events) in enumerate(inputs):
            for side in (0, 1):
                fed = sum(event[3] for event in events if event[0] == layout.CHUNK_DATA and event[1] == side)
                stream = out.framed_parts[part][layout.FRAMING_STREAM + side]
                law(stream == fed, "bytes in", fed, "bytes out", stream)


class Conversation:
    """Requests and their replies in the order of a broker, some of them damaged."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.correlation = chance.choice((0, 1, 1000, 0x7FFFFFF0, -1))

    def messages(self) -> list[tuple[int, bytes]]:
        chance, found = self.chance, []
        if chance.random() < 0.1:
            found += self.login()
        waiting: list[bytes] = []
        for _ in range(chance.choice((1, 1, 2, 4, 8))):
            request, reply = chance.choice(material.pairs())
            self.correlation += chance.choice((1, 1, 1, 1, 0, -1, 1 << 20))
            stamp = pack(">I", self.correlation & 0xFFFFFFFF)
            found.append((0, self.framed(request, 4, stamp)))
            waiting.append(self.framed(reply, 0, stamp))
            while waiting and chance.random() < 0.7:
                found.append((1, waiting.pop(0 if chance.random() < 0.95 else -1)))
        if chance.random() < 0.7:
            found += [(1, reply) for reply in waiting]
        return found[chance.randrange(len(found)) :] if chance.random() < 0.2 else found

    def framed(self, whole: material.Whole, at: int, stamp: bytes) -> bytes:
        chance, data = self.chance, bytearray(whole.frame)
        data[at : at + 4] = stamp
        if chance.random() < 0.15:
            if whole.lengths and chance.random() < 0.5:
                wrong_length(data, chance.choice(whole.lengths), chance)
            else:
                damage_bytes(data, chance)
        size = len(data)
        if chance.random() < 0.03:
            size = chance.choice((size - 1, size + 1, *ODD_32))
        return pack(">I", size & 0xFFFFFFFF) + data

    def login(self) -> list[tuple[int, bytes]]:
        chance = self.chance
        found = [(0, HANDSHAKE), (1, ACCEPTED)]
        for _ in range(chance.randint(1, 3)):
            found += [
                (0, chance.randbytes(chance.choice((0, 1, 20, 200)))),
                (1, chance.randbytes(chance.choice((0, 4, 60)))),
            ]
        return [(side, pack(">I", len(data)) + data) for side, data in found]


def pieces(data: bytes, chance: Random) -> list[bytes]:
    """The bytes as segments carry them: whole, cut at a few places, or in small steps."""
    if chance.random() < 0.05 and data:
        damaged = bytearray(data)
        damage_bytes(damaged, chance, SAME_SIZE)
        data = bytes(damaged)
    if chance.random() < 0.5 or len(data) < 2:
        return [data] if data else []
    size = chance.choice((1, 3, 4, 5, 8, 13, 100, 536, 1448))
    if len(data) > 200 * size:
        size = len(data) // 7
    return [data[at : at + size] for at in range(0, len(data), size)]


def run(inputs: Sequence[Input], sizes: Sizes, batch: int) -> Out:
    """All connections, interleaved event by event; part numbers are the places of the inputs."""
    block, heap = bytearray(b"\xff"), bytearray(b"\xff")
    rows: list[tuple[int, ...]] = []  # CHUNK_ columns in their order
    clocks = [START_NS + slot for slot in range(len(inputs))]
    sequences = [[1000, 5000] for _ in inputs]
    for slot, (syn, _) in enumerate(inputs):
        rows.append((layout.CHUNK_OPEN, slot, 0, 0, int(syn), PORTS, clocks[slot], slot, 77 + slot, slot))
    for step in range(max(len(events) for _, events in inputs)):
        for slot, (_, events) in enumerate(inputs):
            if step >= len(events):
                continue
            kind, side, data, length, detail, after = events[step]
            clocks[slot] += after
            store, buffer = (heap, 1) if (step + slot) % 5 == 0 else (block, 0)
            place, seq = len(store), sequences[slot][side]
            store += data
            rows.append((kind, slot, side, buffer, place, length, clocks[slot], len(rows), seq & 0xFFFFFFFF, detail))
            sequences[slot][side] += length
    rows += [(layout.CHUNK_CLOSE, slot, 0, 0, 0, 0, clocks[slot], len(rows), 0, 0) for slot in range(len(inputs))]
    of_the_way = (layout.UNKNOWN, layout.UNKNOWN, 0, 0, 0, 0, layout.UNKNOWN)
    rows = [(*row, *of_the_way) for row in rows]
    road = Road(sizes)
    for begin in range(0, len(rows), batch):
        some = rows[begin : begin + batch]
        road.take_chunks(bytes(block), filled(zip(*some, strict=True), len(some)), len(some), bytes(heap))
    return road.out
