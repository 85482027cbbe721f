"""Damaged segments: whatever garbage with a wrong checksum lies between right segments, the streams are those without it."""

from __future__ import annotations

import random

import pytest
from segment_rows import FIN, RST, SYN, Conversation, Outcome, Segment, run
from stream_judge import ROUNDS, converse, copy

from dissectors import layout
from dissectors.layout import CHUNK_DATA, CHUNK_GAP, GAP_LOST, GAP_UNACKED
from dissectors.problems import PROBLEM_DAMAGED_SEGMENT

RIGHT, WRONG = {"checksum": layout.CHECKSUM_RIGHT}, {"checksum": layout.CHECKSUM_WRONG}
LARGE = bytes(range(256)) * 12


def begun() -> Conversation:
    """A connection of which both sides have shown right checksums."""
    return Conversation().shake().c(0, b"request", **RIGHT).b(0, b"reply", ack=7, **RIGHT)


def counts(out: Outcome, column: int = layout.PART_DAMAGED) -> tuple[int, int]:
    return out.parts[0][column], out.parts[0][column + 1]


def test_a_right_copy_behind_a_damaged_one_counts(stage: str) -> None:
    conversation = (
        begun().c(7, b"GARBAGE", ack=5, **WRONG).b(5, b"", ack=7).c(7, b"correct", ack=5, **RIGHT).b(5, b"!", ack=14)
    )
    out = conversation.run(stage=stage)
    assert (out.stream(0), out.stream(1)) == (b"requestcorrect", b"reply!")
    assert counts(out) == (1, 0)
    assert [row[: layout.PROBLEM_NUMBER + 1] for row in out.problems] == [(PROBLEM_DAMAGED_SEGMENT, 0, 6)]
    assert [event.number for event in out.events[0] if event.data == b"correct"] == [8]
    for column in (layout.PART_RETRANSMITTED, layout.PART_REORDERED, layout.PART_CONFLICTS, layout.PART_DUPLICATES):
        assert counts(out, column) == (0, 0)


@pytest.mark.parametrize("size", [1, 700, 1024, 1025, 3072])
def test_the_right_copy_may_be_cut_otherwise(stage: str, size: int) -> None:
    """Damaged bytes lie in pages of 1,024; a page goes when a better copy of any byte of it comes."""
    conversation = begun().c(7, LARGE[::-1], ack=5, **WRONG)
    for begin in range(0, len(LARGE), size):
        conversation.c(7 + begin, LARGE[begin : begin + size], ack=5, **RIGHT)
    out = conversation.b(5, ack=7 + len(LARGE)).run(stage=stage)
    assert out.stream(0) == b"request" + LARGE
    assert counts(out) == (1, 0)


def test_a_damaged_one_behind_the_right_copy_counts_for_nothing(stage: str) -> None:
    conversation = (
        begun().c(7, b"correct", ack=5, **RIGHT).c(7, b"GARBAGE", ack=999, flags=FIN, **WRONG).b(5, b"!", ack=14)
    )
    out = conversation.c(14, b"more", ack=6, **RIGHT).run(stage=stage)
    assert (out.stream(0), out.stream(1)) == (b"requestcorrectmore", b"reply!")
    assert counts(out) == (1, 0)


def test_what_the_peer_acknowledges_was_taken(stage: str) -> None:
    """The checksum of segments that a network card put together is wrong. Nothing is late, and nothing is said."""
    conversation = begun().c(7, b"large", ack=5, **WRONG).c(12, b"next", ack=5, **RIGHT).b(5, b"reply", ack=16, **RIGHT)
    out = conversation.c(16, b"last", ack=10, **RIGHT).run(stage=stage)
    assert (out.stream(0), out.stream(1)) == (b"requestlargenextlast", b"replyreply")
    assert counts(out) == counts(out, layout.PART_REORDERED) == (0, 0)
    assert out.problems == []


def test_what_nobody_acknowledges_never_was(stage: str) -> None:
    """Bytes behind it are behind a hole; at the end of the stream there is none."""
    out = begun().c(7, b"GARBAGE", ack=5, **WRONG).c(14, b"next", ack=5, **RIGHT).run(stage=stage)
    assert out.story() == [(0, b"request"), (1, b"reply"), (0, "gap", 7, GAP_UNACKED), (0, b"next")]
    out = begun().c(7, b"GARBAGE", ack=5, **WRONG).run(stage=stage)
    assert out.story() == [(0, b"request"), (1, b"reply")]
    assert counts(out) == (1, 0)


def test_a_hole_before_a_damaged_one_is_given_up_as_any(stage: str) -> None:
    conversation = begun().c(9, b"GARBAGE", ack=5, **WRONG).b(5, b"!", ack=9).c(9, b"correct", ack=6, **RIGHT)
    for _ in range(70):
        conversation.b(6, ack=16)
    out = conversation.run(stage=stage)
    assert out.story()[2:] == [(0, "gap", 2, GAP_LOST), (1, b"!"), (0, b"correct")]


@pytest.mark.parametrize("flags", [SYN, RST, FIN])
def test_a_damaged_segment_begins_and_ends_nothing(stage: str, flags: int) -> None:
    conversation = begun().c(7, ack=5, flags=flags, **WRONG).c(7, b"more", ack=5, **RIGHT).b(5, b"!", ack=11, **RIGHT)
    out = conversation.run(stage=stage)
    assert out.story() == [(0, b"request"), (1, b"reply"), (0, b"more"), (1, b"!")]
    assert counts(out) == (1, 0)


@pytest.mark.parametrize("checksum", [layout.CHECKSUM_UNKNOWN, layout.CHECKSUM_WRONG])
def test_a_side_without_right_checksums_is_believed(stage: str, checksum: int) -> None:
    conversation = Conversation().shake()
    for at in range(0, 30, 3):
        conversation.c(at, b"abc", ack=0, checksum=checksum)
    out = conversation.run(stage=stage)
    assert out.story() == [(0, b"abc")] * 10
    assert counts(out) == (0, 0)


def test_one_direction_alone_waits_for_nothing(stage: str) -> None:
    conversation = Conversation().c(0, b"one", **RIGHT).c(3, b"two", **WRONG).c(6, b"six", **RIGHT)
    out = conversation.run(stage=stage)
    assert out.stream(0) == b"onetwosix"


def test_damaged_bytes_keep_within_the_limits(stage: str) -> None:
    conversation = begun()
    for at in range(0, 300_000, 1_000):
        conversation.c(8 + at, bytes(1_000), ack=5, **WRONG)
    limits = {"max_buffered_bytes": 100 << 10, "max_buffered_bytes_per_side": 50 << 10, "heap_bytes": 8 << 10}
    out = conversation.c(7, b"x", ack=5, **RIGHT).run(stage=stage, **limits)
    assert out.stream(0).startswith(b"requestx")
    assert counts(out)[0] == 300


def per_byte(out: Outcome) -> list[list[tuple[int, int]]]:
    """Of each side (byte, time of its packet) in order; a byte of a gap is -1."""
    found: list[list[tuple[int, int]]] = [[], []]
    for part in out.events.values():
        for event in part:
            if event.kind == CHUNK_DATA:
                found[event.side] += [(byte, event.time) for byte in event.data]
            elif event.kind == CHUNK_GAP:
                found[event.side] += [(-1, 0)] * event.length
    return found


def garbage(rng: random.Random, one: Segment) -> Segment:
    """A damaged copy: any field of it may be wrong, and its bytes are."""
    bad = copy(one)
    bad.time, bad.checksum = one.time, layout.CHECKSUM_WRONG
    bad.data = rng.randbytes(rng.choice([len(one.data), len(one.data), rng.randrange(3_000)]))
    bad.seq += rng.choice([0, 0, 0, 3, -3, 1 << 30])
    bad.flags ^= rng.choice([0, 0, FIN, RST, SYN])
    if bad.ack is not None:
        bad.ack += rng.choice([0, 0, 1, -1, 1 << 20])
    return bad


def test_random_garbage_changes_no_byte_and_no_time(stage: str) -> None:
    damaged = 0
    for number in range(ROUNDS[stage]):
        rng = random.Random(number)
        made = converse(rng, rng.randrange(3, 40), syn=True, end=rng.choice(["fin", "rst", "none"]))
        wire = [*map(copy, made.wire)]
        for place, one in enumerate(wire):
            one.time = 1_000_000_000 + 10_000_000 * place
            one.checksum = rng.choice([layout.CHECKSUM_RIGHT, layout.CHECKSUM_RIGHT, layout.CHECKSUM_UNKNOWN])
        for one in wire[:2]:
            one.checksum = layout.CHECKSUM_RIGHT
        with_garbage = []
        for place, one in enumerate(wire):
            bad = [garbage(rng, one) for _ in range(rng.choice([0, 0, 1, 2]) if place >= 3 else 0)]
            cut = rng.randrange(len(bad) + 1)
            with_garbage += [*bad[:cut], one, *bad[cut:]]
        for segments in (wire, with_garbage):
            for packet, one in enumerate(segments, 1):
                one.number = packet
        plain = run([copy_all(one) for one in wire], stage=stage)
        out = run(with_garbage, stage=stage, batch=rng.choice([1, 7, 1 << 30]), chunk_rows=rng.choice([4, 64]))
        assert len(out.parts) == len(plain.parts) == 1, number
        assert per_byte(out) == per_byte(plain), number
        counted = sum(counts(out))
        assert counted <= len(with_garbage) - len(wire), number
        damaged += counted
    assert damaged > 3 * ROUNDS[stage]


def copy_all(one: Segment) -> Segment:
    return Segment(**vars(one))
