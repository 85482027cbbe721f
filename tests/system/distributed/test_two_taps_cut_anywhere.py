"""Captures in which a tap sees each packet twice, out of the order of time, cut into tasks anywhere: what is a copy does not depend
on where a task begins.

KANALYZE_LONG=1 takes 200 cuts; the first is number KANALYZE_SEED (0).
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from effort import LONG
from mutation_table import nanoseconds
from mutations import Frame, again, damaged, segments
from test_tasks_cut_anywhere import SEED, compare

# Without it those that once lost a copy, some whose tasks begin with bytes sent again, and some others.
SEEDS = range(SEED, SEED + 200) if LONG else (1, 50, 5005)
PACKETS = 500


def two_taps(chance: Random) -> bytes:
    """Some of the base. A packet is seen up to 9 ms later by the second tap, which writes what it sees when it has `held` packets;
    some segments are sent again, or damaged on the way."""
    held = chance.choice((1, 5, 30, 100))
    squeezed = chance.choice((1, 20, 400))  # a busy network has more packets in that time
    begin = chance.randrange(len(segments()) - PACKETS)
    origin = segments()[begin].time
    seen: list[list[Frame]] = [[], []]
    for one in segments()[begin : begin + PACKETS]:
        time = origin + (one.time - origin) // squeezed
        sent = [one]
        if one.data and chance.random() < 0.05:
            sent.append(again(one))
        if one.data and chance.random() < 0.05:
            sent.insert(0, damaged(one, ip_id=9))
        for place, packet in enumerate(sent):
            at = time + 1_000 * place
            seen[0].append(Frame(packet.frame(), at))
            seen[1].append(Frame(packet.frame(), at + chance.randrange(9_000_000)))
    for tap in seen:
        tap.sort(key=lambda frame: frame.time)
    written = [(frame.time, frame) for frame in seen[0]]
    for first in range(0, len(seen[1]), held):
        some = seen[1][first : first + held]
        written += [(some[-1].time, frame) for frame in some]
    return nanoseconds([frame for _, frame in sorted(written, key=lambda each: each[0])])


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_is_one_in_any_task(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(two_taps(Random(seed)), tmp_path / "cut", seed, monkeypatch, most_cuts=16)
