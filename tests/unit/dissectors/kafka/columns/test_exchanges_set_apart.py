"""Exchanges that were not answered, failed or were throttled leave in row groups of their own: no row is lost, none of these
stays behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dissectors import layout
from dissectors.kafka.columns.exchanges import set_apart
from dissectors.matrix import new_matrix

STATUSES = st.sampled_from((layout.STATUS_ANSWERED, layout.STATUS_PENDING))
VALUES = st.sampled_from((layout.UNKNOWN, -1, 0, 1, 89))


def row_of(matrix: memoryview, at: int) -> tuple[int, ...]:
    return tuple(matrix[column, at] for column in range(layout.ROW_COLUMNS))


def is_notable(row: tuple[int, ...]) -> bool:
    failed, throttled = row[layout.ROW_ERROR_CODE] not in (0, layout.UNKNOWN), row[layout.ROW_THROTTLE_MS] > 0
    return row[layout.ROW_STATUS] != layout.STATUS_ANSWERED or failed or throttled


@given(st.lists(st.tuples(STATUSES, VALUES, VALUES), max_size=20), st.integers(0, 5))
def test_every_row_goes_where_it_belongs(given_rows: list[tuple[int, int, int]], before: int) -> None:
    rows, others = new_matrix(layout.ROW_COLUMNS, 20), new_matrix(layout.ROW_COLUMNS, 25)
    for at, (status, code, throttle_ms) in enumerate(given_rows):
        for column in range(layout.ROW_COLUMNS):
            rows[column, at] = 1_000 * at + column
        rows[layout.ROW_STATUS, at] = status
        rows[layout.ROW_ERROR_CODE, at], rows[layout.ROW_THROTTLE_MS, at] = code, throttle_ms
    every = [row_of(rows, at) for at in range(len(given_rows))]
    stayed, used = set_apart(rows, len(given_rows), others, before)
    assert sorted(row_of(rows, at) for at in range(stayed)) == sorted(row for row in every if not is_notable(row))
    assert sorted(row_of(others, at) for at in range(before, used)) == sorted(filter(is_notable, every))
    assert not any(any(row_of(others, at)) for at in range(before)), "rows that were there"
