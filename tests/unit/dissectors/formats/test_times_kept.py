"""Packets of a stretch of time stay in the matrix, in their order."""

from __future__ import annotations

from dissectors import layout
from dissectors.formats.times_kept import keep_times
from dissectors.matrix import new_matrix


def rows_of(times: list[int]) -> memoryview:
    packets = new_matrix(layout.PACKET_COLUMNS, len(times))
    for row, time in enumerate(times):
        packets[layout.PACKET_NUMBER, row] = row + 1
        packets[layout.PACKET_TIME, row] = time
    return packets


def told(packets: memoryview, rows: int) -> list[tuple[int, int]]:
    return [(packets[layout.PACKET_TIME, row], packets[layout.PACKET_NUMBER, row]) for row in range(rows)]


def test_times_within_or_without_are_kept() -> None:
    packets = rows_of([5, 9, 7, layout.UNKNOWN, 8])
    assert keep_times(packets, 5, 7, 9, True) == 2
    assert told(packets, 2) == [(7, 3), (8, 5)]
    packets = rows_of([5, 9, 7, layout.UNKNOWN, 8])
    assert keep_times(packets, 5, 7, 9, False) == 3
    assert told(packets, 3) == [(5, 1), (9, 2), (layout.UNKNOWN, 4)]
