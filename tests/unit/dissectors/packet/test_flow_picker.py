"""Packets of chosen flows: by addresses, ports and time, in both directions, and no others."""

from __future__ import annotations

from collections.abc import Iterable

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.packet.flow_picker import FlowPicker

ONE = (0, 1, 50_000, 0, 2, 9_092)
COLUMNS = (
    layout.SEGMENT_SRC_HIGH, layout.SEGMENT_SRC_LOW, layout.SEGMENT_SRC_PORT, layout.SEGMENT_DST_HIGH, layout.SEGMENT_DST_LOW,
    layout.SEGMENT_DST_PORT,
)  # fmt: skip


def picked(
    packets: Iterable[int], segments: Iterable[tuple[int, int, tuple[int, ...]]], others: bool = False
) -> tuple[list[int], int]:
    """Rows for packets with these numbers, and segments (number, time, flow); ONE is wanted from 10 to 20 ns."""
    numbers, found = list(packets), list(segments)
    rows, read = new_matrix(layout.PACKET_COLUMNS, len(numbers) + 1), new_matrix(layout.SEGMENT_COLUMNS, len(found) + 1)
    for at, number in enumerate(numbers):
        rows[layout.PACKET_NUMBER, at] = number
    for at, (number, time, flow) in enumerate(found):
        read[layout.SEGMENT_NUMBER, at], read[layout.SEGMENT_TIME, at] = number, time
        for column, value in zip(COLUMNS, flow, strict=True):
            read[column, at] = value
    back = (*ONE[3:], *ONE[:3])
    return FlowPicker({ONE: ((10, 20),), back: ((10, 20),)}).pick(rows, 0, read, len(found), others)


def test_a_flow_is_its_addresses_ports_and_time() -> None:
    flows = [
        ONE,
        (0, 1, 50_000, 0, 3, 9_092),
        (1, 1, 50_000, 0, 2, 9_092),
        (0, 1, 50_001, 0, 2, 9_092),
        (*ONE[3:], *ONE[:3]),
    ]
    assert picked(range(1, 6), [(n, 15, flow) for n, flow in enumerate(flows, 1)]) == ([0, 4], 5)
    assert picked(range(1, 5), [(n, time, ONE) for n, time in enumerate((9, 10, 20, 21), 1)]) == ([1, 2], 4)
    assert picked([1], [(1, layout.UNKNOWN, ONE)]) == ([0], 1), "a packet without a time"


def test_packets_without_a_segment_are_passed_over_or_taken() -> None:
    segments = [(4, 15, ONE), (8, 15, (0, 9, 9_092, 0, 9, 50_000))]
    assert picked([2, 4, 6, 8, 9], segments) == ([1], 4)
    assert picked([2, 4, 6, 8, 9], segments, others=True) == ([0, 1, 2], 4)
