"""Captures that begin within messages, of connections whose segments have a few bytes each: telnet-like proxies, fuzzers, links
with an absurd MTU. No chunk has a header in one piece, and no handshake tells where a message begins.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from effort import also_long, one_in
from mutation_table import TIMES, nanoseconds
from mutations import SYN, Frame, Segment, cut, segments
from one_base import Row, rows_of

PLACES = ("request_packet", "response_packet", "muted_ns", *TIMES)
CHANCE = random.Random(4)
# The least and the most bytes of a segment.
WAYS = dict(
    also_long(
        [("1 to 3", (1, 3)), ("9 bytes", (9, 9)), ("30 bytes", (30, 30))],
        [("1 byte", (1, 1)), ("2 bytes", (2, 2)), ("3 bytes", (3, 3))],
    )
)


def begun_late(begin: int) -> Iterator[Segment]:
    """No SYN, and of the first message of each side the first `begin` bytes are missing."""
    seen = set()
    for one in segments():
        if one.data and (one.flow, one.side) not in seen:
            seen.add((one.flow, one.side))
            one = one.moved(min(begin, len(one.data)), len(one.data))
        if not one.flags & SYN:
            yield one


def written(path: Path, all_of_it: Iterator[Segment]) -> Path:
    path.write_bytes(nanoseconds([Frame(one.frame(), one.time) for one in all_of_it]))
    return path


def counted(rows: list[Row]) -> Counter[str]:
    return Counter(str([(name, value) for name, value in row.items() if name not in PLACES]) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("size", WAYS.values(), ids=WAYS)
def test_all_that_is_whole_is_read(size: tuple[int, int], tmp_path: Path) -> None:
    # Of equal sizes both places by make test-all.
    for begin in (1, 17)[:: one_in(2 if size[0] == size[1] else 1)]:
        whole = counted(rows_of(written(tmp_path / "whole.pcap", begun_late(begin))))
        pieces = (
            piece for one in begun_late(begin) for piece in (cut(one, CHANCE.randint(*size)) if one.data else [one])
        )
        found = counted(rows_of(written(tmp_path / "pieces.pcap", pieces)))
        assert whole.total() > 280
        assert not found - whole
        # Of a request whose first byte alone is missing a whole segment shows the rest.
        assert (whole - found).total() <= 1
