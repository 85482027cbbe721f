"""Reassembly against a map of bytes, and laws that hold for any input however it is cut into batches."""

from __future__ import annotations

import random

import pytest
from effort import one_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from segment_rows import BROKER, CLIENT, FIN, RST, STAGES, SYN, Outcome, Runner, Segment, number_and_time, run
from stream_judge import check_bytes, check_causal, check_losses, check_shape, converse, copy, rounds, shuffled

from dissectors import layout
from dissectors.layout import CHUNK_GAP

ROUNDS = {"built": 400, "plain": 25}
WINDOW_SEGMENTS, WINDOW_NS = 64, 20_000_000


# ---- tests ----


def test_shuffling_inside_the_window_changes_no_byte(stage: str) -> None:
    for rng in rounds(stage, 1):
        repeats = rng.choice(["any", "same", "none"])
        made = converse(rng, rng.randrange(5, 60), syn=True, end=rng.choice(["fin", "none", "rst"]), repeats=repeats)
        captured = number_and_time(shuffled(rng, made.wire, rng.choice([0, 2, 7])), rng.choice([1_000, 1_000_000]))
        out = run(captured, batch=1, stage=stage)
        assert len(out.parts) == 1
        assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
        if captured[-1].flags & RST or not any(one.flags & RST for one in captured):
            assert (out.stream(0), out.stream(1)) == tuple(map(bytes, made.streams))
            check_bytes(out, captured, made.starts)
        check_shape(out, captured)
        if repeats != "any":  # a copy that joins several segments may have too high an ACK number for the first of them
            check_causal(out, captured, made.starts)


def test_shuffled_starts_in_mid_flight_change_no_byte(stage: str) -> None:
    for rng in rounds(stage, 2):
        made = converse(rng, rng.randrange(5, 60), syn=False, end=rng.choice(["fin", "none"]))
        captured = number_and_time(shuffled(rng, made.wire, rng.choice([0, 2, 5])), rng.choice([1_000, 1_000_000]))
        out = run(captured, batch=1, stage=stage)
        sides = (0, 1) if out.parts[0][layout.PART_A_PORT] == CLIENT[2] else (1, 0)
        assert (out.stream(sides[0]), out.stream(sides[1])) == tuple(map(bytes, made.streams))
        check_shape(out, captured)


@pytest.mark.slow
def test_losses_become_gaps_and_nothing_else_is_lost(stage: str) -> None:
    lost = 0
    for rng in rounds(stage, 3):
        repeats = rng.choice(["any", "none"])
        made = converse(rng, rng.randrange(50, 400), syn=True, end=rng.choice(["fin", "none"]), repeats=repeats)
        loss = rng.choice([0.01, 0.05, 0.3])
        kept = [one for i, one in enumerate(made.wire) if i < 3 or rng.random() > loss]
        captured = number_and_time(shuffled(rng, kept, rng.choice([0, 3])), rng.choice([1_000, 300_000, 5_000_000]))
        out = run(captured, batch=1, stage=stage)
        check_shape(out, captured)
        check_bytes(out, captured, made.starts)
        if repeats == "none":  # a repeated copy whose first one is lost may have a misleading ACK number
            check_causal(out, captured, made.starts)
        check_losses(out, captured)
        lost += sum(e.detail == layout.GAP_LOST for e in out.events[0] if e.kind == CHUNK_GAP)
    assert lost > 2 * ROUNDS[stage]


@pytest.mark.slow
def test_conflicting_and_cut_copies_the_first_counts(stage: str) -> None:
    conflicts = 0
    for rng in rounds(stage, 4):
        made = converse(rng, rng.randrange(20, 100), syn=True, end="none")
        wire = [copy(one) for one in made.wire]
        for one in wire:
            if rng.random() < 0.2:
                one.data = rng.randbytes(len(one.data))
            if rng.random() < 0.2:
                one.captured = rng.randint(0, len(one.data))
        captured = number_and_time(shuffled(rng, wire, 6))
        out = run(captured, batch=1, stage=stage)
        check_shape(out, captured)
        check_bytes(out, captured, made.starts)
        conflicts += sum(out.parts[0][layout.PART_CONFLICTS : layout.PART_CONFLICTS + 2])
    assert conflicts >= ROUNDS[stage] / 20


def busy_capture(rng: random.Random) -> list[Segment]:
    """Several connections at once, lossy, shuffled, some tuples used again."""
    queues = []
    for port in range(rng.randrange(1, 6)):
        queue: list[Segment] = []
        for _ in range(rng.randrange(1, 3)):
            made = converse(rng, rng.randrange(5, 80), syn=rng.random() < 0.7, end=rng.choice(["fin", "rst", "none"]))
            kept = [one for one in made.wire if rng.random() > 0.05]
            queue += shuffled(rng, kept, 3)
        for one in queue:
            one.src, one.dst = ((end[0], end[1], end[2] + (port if end == CLIENT else 0)) for end in (one.src, one.dst))
        queues.append(queue)
    mixed = []
    while queues:
        queue = rng.choice(queues)
        mixed += queue[:1]
        del queue[:1]
        queues = [queue for queue in queues if queue]
    return number_and_time(mixed, rng.choice([1_000, 1_000_000]))


def by_tuple(out: Outcome) -> dict[tuple[int, ...], list[object]]:
    """Events and statistics of each tuple, in order, without what numbers the parts."""
    told: dict[tuple[int, ...], list[object]] = {}
    for number in sorted(out.parts):
        part = out.parts[number]
        events = [(e.kind, e.side, e.data, e.length, e.time, e.number, e.seq) for e in out.events[number]]
        ports = tuple(sorted(part[layout.PART_A_PORT : layout.PART_B_PORT + 1]))
        told.setdefault(ports, []).append((part[1:], events))
    return told


@pytest.mark.slow
def test_batches_full_outputs_and_full_heaps_change_nothing(stage: str) -> None:
    interrupted = 0
    for rng in rounds(stage, 5)[:150]:
        captured = busy_capture(rng)
        whole = run(captured, chunk_rows=50_000, stage=stage)
        check_shape(whole, captured)
        assert run(captured, batch=1, stage=stage) == whole
        assert run(captured, batch=rng.randrange(2, 50), chunk_rows=4, stage=stage) == whole
        tiny = run(captured, chunk_rows=rng.randrange(4, 9), heap_bytes=rng.choice([1, 4096]), stage=stage)
        assert tiny == whole
        interrupted += tiny.calls
    assert interrupted > 1000


@pytest.mark.slow
def test_other_connections_change_nothing(stage: str) -> None:
    for rng in rounds(stage, 6)[:150]:
        captured = busy_capture(rng)
        together = by_tuple(run(captured, stage=stage))
        for ports, told in together.items():
            alone = [one for one in captured if {one.src[2], one.dst[2]} == set(ports)]
            assert by_tuple(run(alone, stage=stage)) == {ports: told}


@pytest.mark.slow
def test_both_builds_agree() -> None:
    for rng in rounds("plain", 7):
        captured = busy_capture(rng)
        limits = {"max_buffered_bytes_per_side": 4096, "max_connections": 3}
        assert run(captured, stage="built", **limits) == run(captured, stage="plain", **limits)


# ---- anything at all ----

ANYTHING = st.builds(
    lambda *values: values,
    st.booleans(),
    st.one_of(st.integers(0, 40), st.sampled_from([2**16, 2**24, 2**31, 2**31 + 1, 2**32 - 30])),
    st.one_of(st.none(), st.integers(0, 60), st.sampled_from([2**24, 2**31, 2**32 - 1])),
    st.sampled_from([0, 0, 0, 0, 0, 0, SYN, FIN, RST, SYN | FIN, SYN | RST, FIN | RST, 8]),
    st.binary(max_size=12),
    st.integers(0, 12),
    st.sampled_from([0, 1_000, 30_000_000, -50_000_000]),
    st.sampled_from([0, 100]),
)


@pytest.mark.slow
@settings(
    max_examples=300 // one_in(3),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(ANYTHING, max_size=120), st.integers(1, 20), st.integers(4, 12), st.booleans())
def test_no_input_breaks_a_law(
    stage: str, chosen: list[tuple[int, ...]], batch: int, chunk_rows: int, tight: bool
) -> None:
    base, clock, segments = 2**32 - 25, 10**9, []
    for back, seq, ack, flags, data, cut, step, window in chosen:
        clock += step
        src, dst = (BROKER, CLIENT) if back else (CLIENT, BROKER)
        captured = min(cut, len(data))
        segments.append(
            Segment(src, dst, base + seq, None if ack is None else base + ack, flags, data, captured, clock, window)
        )
    number_and_time(segments)
    limits = {"max_buffered_bytes_per_side": 3072, "reorder_segments": 5, "heap_bytes": 2048} if tight else {}
    whole = run(segments, chunk_rows=1000, stage=stage, **limits)
    check_shape(whole, segments)
    assert run(segments, batch=batch, chunk_rows=chunk_rows, stage=stage, **limits) == whole


def test_the_limit_is_the_limit(stage: str) -> None:
    """Behind a hole that nobody fills: pages in use never exceed the limit by more than one segment, and are not copied
    to a larger place: the arena keeps its size."""
    limit = 64 << 10
    one = STAGES[stage].Reassembly(seed=1, max_buffered_bytes=limit, max_buffered_bytes_per_side=limit, heap_bytes=4096)
    size = len(one.heap)
    assert size <= limit + 4096 + (1024 << 10)
    runner = Runner(one)
    segments = [Segment(CLIENT, BROKER, -1, None, SYN)]
    segments += [Segment(CLIENT, BROKER, 10 + 1000 * n, 1, 0, bytes(1000)) for n in range(300)]
    runner.feed(number_and_time(segments))
    assert len(one.heap) == size
    assert one.record_count <= 256
    out = runner.finish()
    assert out.parts[0][layout.PART_STREAM] == 300_000
    assert any(event.detail == layout.GAP_LIMIT for event in out.events[0] if event.kind == CHUNK_GAP)


def test_nothing_is_kept_after_the_end(stage: str) -> None:
    """All pages come back: the same work again needs no more memory."""
    one = STAGES[stage].Reassembly(seed=1)
    sizes = []
    for _ in range(4):
        runner = Runner(one)
        for rng in rounds(stage, 8)[:10]:
            runner.feed(busy_capture(rng))
        runner.finish()
        sizes.append((one.record_count, one.slots))
    assert sizes[1:] == sizes[:1] * 3
