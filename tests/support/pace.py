"""CPU time on a machine of any speed: for tests of what must not grow with the square of its rows, or takes many times as long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

# What so many additions took on the machine on which limits were chosen: a virtual one of a few years ago, without other work.
ADDITIONS = 1_000_000
THEIR_SECONDS = 0.05


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fails where the block takes more CPU time than that machine would in so many seconds."""
    begin = time.process_time()
    total = 0
    for number in range(ADDITIONS):
        total += number
    pace = max((time.process_time() - begin) / THEIR_SECONDS, 1)
    begin = time.process_time()
    yield
    taken = time.process_time() - begin
    assert taken < seconds * pace, f"{taken:.1f} s, where {seconds} s are {seconds * pace:.1f} s here"
