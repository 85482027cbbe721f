"""Random segment schedules against the naive map of bytes: overlaps, wraps, conflicting and cut copies, loss, order.

KANALYZE_SCHEDULES says how many; each is made from its number alone, so that a failure can be seen again.
"""

from __future__ import annotations

import os
import random

import pytest
from segment_rows import Segment, number_and_time, run
from test_reassembly_laws import check_bytes, check_shape, converse, copy, shuffled

from dissectors import layout

SCHEDULES = int(os.environ.get("KANALYZE_SCHEDULES", "1500"))
FIRST = int(os.environ.get("KANALYZE_FIRST_SCHEDULE", "0"))


def schedule(number: int) -> tuple[list[Segment], tuple[int, int]]:
    """(segments in the order of capture, first sequence number of each side)."""
    rng = random.Random(number)
    made = converse(rng, rng.randrange(3, 45), syn=True, end=rng.choice(["fin", "none"]))
    loss, conflict, cut = (rng.choice([0, 0, 0.05, 0.3]) for _ in range(3))
    wire = []
    for place, sent in enumerate(made.wire):
        one = copy(sent)
        if place >= 3 and rng.random() < loss:
            continue
        if rng.random() < conflict:
            one.data = rng.randbytes(len(one.data))
        if rng.random() < cut:
            one.captured = rng.randint(0, len(one.data))
        wire.append(one)
    step = rng.choice([1_000, 300_000, 5_000_000])
    return number_and_time(shuffled(rng, wire, rng.choice([0, 2, 6])), step), made.starts


@pytest.mark.slow
def test_random_schedules_give_what_a_map_of_bytes_gives() -> None:
    wrapped = gaps = conflicts = 0
    for number in range(FIRST, FIRST + SCHEDULES):
        captured, starts = schedule(number)
        out = run(captured, batch=1, chunk_rows=16)
        assert len(out.parts) == 1, number
        check_shape(out, captured)
        check_bytes(out, captured, starts)
        part = out.parts[0]
        wrapped += any(start + sum(len(one.data) for one in captured) > 2**32 for start in starts)
        gaps += sum(part[layout.PART_GAPS : layout.PART_GAPS + 2])
        conflicts += sum(part[layout.PART_CONFLICTS : layout.PART_CONFLICTS + 2])
    assert min(wrapped, gaps, conflicts) > SCHEDULES // 50  # or these schedules would prove little
