"""An honest conversation, what a capture may do to it, and a map of bytes that judges what reassembly makes of it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain

from segment_rows import BROKER, CLIENT, FIN, MASK, RST, SYN, Outcome, Segment

from dissectors import layout
from dissectors.layout import CHUNK_DATA, CHUNK_GAP

ROUNDS = {"built": 400, "plain": 25}
WINDOW_SEGMENTS, WINDOW_NS = 64, 20_000_000


# ---- an honest conversation, and what a capture may do to it ----


@dataclass
class Made:
    """A conversation: the segments that went over the wire, and both streams."""

    starts: tuple[int, int]
    wire: list[Segment] = field(default_factory=list)
    streams: tuple[bytearray, bytearray] = field(default_factory=lambda: (bytearray(), bytearray()))
    ends: list[bool] = field(default_factory=lambda: [False, False])

    def send(self, side: int, begin: int, end: int, flags: int = 0, ack: int | None = -1) -> Segment:
        """A segment of bytes [begin, end) of the stream; `ack` -1: all that the other side has sent so far."""
        ends = ((CLIENT, BROKER), (BROKER, CLIENT))[side]
        if ack == -1:
            ack = len(self.streams[1 - side]) + self.ends[1 - side]
        one = Segment(
            *ends,
            self.starts[side] + begin,
            None if ack is None else self.starts[1 - side] + ack,
            flags,
            bytes(self.streams[side][begin:end]),
        )
        self.wire.append(one)
        return one


def converse(rng: random.Random, steps: int, *, syn: bool, end: str, repeats: str = "any") -> Made:
    """Both sides send, acknowledge (at once or later), repeat themselves, and end by FIN or RST or not at all.

    `repeats`: "any" bytes again, the "same" segments again, or "none".
    """
    made = Made(tuple(rng.choice([rng.randrange(2**32), 2**32 - rng.randrange(1, 400)]) for _ in "ab"))  # type: ignore[arg-type]
    if syn:
        made.send(0, -1, -1, SYN, None)
        made.send(1, -1, -1, SYN, 0)
        made.send(0, 0, 0, 0, 0)
    sent: tuple[list[tuple[int, int]], ...] = ([], [])
    acked = [0, 0]  # what each side has acknowledged of the other
    for _ in range(steps):
        side = rng.randrange(2)
        mine = made.streams[side]
        acked[side] = rng.randint(acked[side], len(made.streams[1 - side]))
        what = rng.random()
        if what < 0.6:
            begin = len(mine)
            mine += rng.randbytes(rng.choice([1, 2, 5, 17, 60, 1400 if rng.random() < 0.05 else 9]))
            made.send(side, begin, len(mine), ack=acked[side])
            sent[side].append((begin, len(mine)))
        elif what < 0.75 and mine and repeats == "any":
            begin = max(0, len(mine) - rng.randrange(1, 200))
            made.send(side, begin, rng.randint(begin + 1, min(len(mine), begin + 1460)), ack=acked[side])
        elif what < 0.75 and mine and repeats == "same":
            begin, end_ = rng.choice(sent[side][-9:])
            made.send(side, begin, end_, ack=acked[side])
        else:
            made.send(side, len(mine), len(mine), ack=acked[side])
    if end == "fin":
        for side in rng.sample([0, 1], 2):
            made.send(side, len(made.streams[side]), len(made.streams[side]), FIN)
            made.ends[side] = True
        made.send(0, len(made.streams[0]) + 1, len(made.streams[0]) + 1)
    elif end == "rst":
        side = rng.randrange(2)
        made.send(side, len(made.streams[side]), len(made.streams[side]), RST)
    return made


def shuffled(rng: random.Random, wire: list[Segment], reach: int) -> list[Segment]:
    """No segment moves by more than `reach` places."""
    order = sorted(range(len(wire)), key=lambda i: i + rng.uniform(0, reach))
    return [copy(wire[i]) for i in order]


def copy(one: Segment) -> Segment:
    return Segment(one.src, one.dst, one.seq, one.ack, one.flags, one.data, one.captured)


# ---- the judge: a map from stream offset to the first copy of each byte ----

NEVER, CUT = -2, -1  # owners of a byte that no segment had, and of one whose first copy was cut off


@dataclass
class Naive:
    """Of each stream offset: the byte of its first copy in capture order, and the number of the packet that had it."""

    data: bytearray
    owner: list[int]


def naive(captured: list[Segment], side: int, start: int) -> Naive:
    seen = Naive(bytearray(), [])
    src = (CLIENT, BROKER)[side]
    for one in captured:
        if one.src != src or one.flags & RST:
            continue
        offset = (one.seq - start) & MASK
        offset -= (offset > 2**31) << 32
        offset += one.flags & SYN != 0
        there = len(one.data) if one.captured is None else one.captured
        more = offset + len(one.data) - len(seen.owner)
        if one.data and more > 0:
            seen.data += bytes(more)
            seen.owner += [NEVER] * more
        for i in range(max(0, -offset), len(one.data)):
            if seen.owner[offset + i] == NEVER:
                seen.data[offset + i] = one.data[i]
                seen.owner[offset + i] = one.number if i < there else CUT
    return seen


def check_bytes(out: Outcome, captured: list[Segment], starts: tuple[int, int]) -> None:
    """Every byte handed on is the first copy; every gap had no copy when it was declared; nothing else is missing."""
    times = {one.number: one.time for one in captured}
    for side in (0, 1):
        seen = naive(captured, side, starts[side])
        end = 0
        for event in out.events[0]:
            if event.side != side or event.kind not in (CHUNK_DATA, CHUNK_GAP):
                continue
            begin, end = end, end + event.length
            owners = seen.owner[begin:end] + [NEVER] * (end - max(begin, len(seen.owner)))
            if event.kind == CHUNK_DATA:
                assert len(event.data) == event.length
                assert event.data == seen.data[begin:end], (side, begin, event)
                assert set(owners) == {event.number}, (side, begin, event)
                assert event.time == times[event.number]
            elif event.detail == layout.GAP_CUT:
                assert set(owners) == {CUT}, (side, begin, event)
            else:
                assert all(owner < 0 or owner > event.at for owner in owners), (side, begin, event)
        beyond = [offset for offset in range(end, len(seen.owner)) if seen.owner[offset] != NEVER]
        assert not beyond, (side, beyond[0], end)


def check_shape(out: Outcome, captured: list[Segment]) -> None:
    """OPEN first, CLOSE last, streams without a seam, at most one END a side and nothing after it, exact counts."""
    totals: Counter[str] = Counter()
    for number, events in out.events.items():
        part = out.parts[number]
        assert [event.kind for event in events].count(layout.CHUNK_OPEN) == 1
        assert events[0].kind == layout.CHUNK_OPEN
        assert events[-1].kind == layout.CHUNK_CLOSE
        for side in (0, 1):
            mine = [e for e in events[1:-1] if e.side == side]
            place = part[layout.PART_START_SEQ + side]
            for event in mine[:-1]:
                assert event.kind != layout.CHUNK_END
            for event in mine:
                if place != layout.UNKNOWN:
                    assert event.seq == place & MASK
                    place += event.length
                else:
                    assert event.kind == layout.CHUNK_END
            data = sum(e.length for e in mine if e.kind == CHUNK_DATA)
            gaps = [e.length for e in mine if e.kind == CHUNK_GAP]
            assert all(length > 0 for length in gaps)
            assert part[layout.PART_STREAM + side] == data
            assert part[layout.PART_GAPS + side] == len(gaps)
            assert part[layout.PART_GAP_BYTES + side] == sum(gaps)
            totals["packets"] += part[layout.PART_PACKETS + side]
            totals["duplicates"] += part[layout.PART_DUPLICATES + side]
            totals["bytes"] += part[layout.PART_BYTES + side]
            totals["zero"] += part[layout.PART_ZERO_WINDOW + side]
    assert totals["packets"] == len(captured)
    assert totals["duplicates"] == 0
    assert totals["bytes"] == sum(len(one.data) for one in captured)
    assert totals["zero"] == sum(one.window == 0 and not one.flags & (SYN | RST) for one in captured)


def check_causal(out: Outcome, captured: list[Segment], starts: tuple[int, int]) -> None:
    """When bytes of one side come out, all that their packet acknowledges has come out of the other.

    Bytes were first sent no later than any segment that ends behind them, so the lowest ACK number of those counts:
    their own copy may be a repeated one.
    """
    done = [0, 0]
    for event in out.events[0]:
        if event.kind == CHUNK_DATA:
            end, brought_by = event.seq + event.length, captured[event.number - 1]
            until_now = captured[: event.at]
            # The packet that brought the bytes comes first: its ACK number is nearly always low enough.
            assert any(
                (one.ack - starts[1 - event.side]) & MASK <= done[1 - event.side] + 1
                for one in chain(until_now[event.number - 1 : event.number], until_now)
                if one.src == brought_by.src and one.ack is not None and (one.seq + len(one.data) - end) & MASK < 2**31
            ), event
        if event.kind in (CHUNK_DATA, CHUNK_GAP):
            done[event.side] += event.length


def check_losses(out: Outcome, captured: list[Segment]) -> None:
    """A hole is lost only after an ACK that covers it and the whole window behind that ACK."""
    for event in out.events[0]:
        if event.kind == CHUNK_GAP and event.detail == layout.GAP_LOST:
            first = next(
                one
                for one in captured
                if one.src == (BROKER, CLIENT)[event.side]
                and one.ack is not None
                and 0 < (one.ack - event.seq) & MASK < 2**31
            )
            now = captured[min(event.at, len(captured)) - 1]
            assert now.number - first.number >= WINDOW_SEGMENTS
            assert now.time - first.time >= WINDOW_NS


def rounds(stage: str, seed: int) -> list[random.Random]:
    return [random.Random(seed * 10_000 + i) for i in range(ROUNDS[stage])]
