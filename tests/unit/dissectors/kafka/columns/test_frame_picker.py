"""Rows of facts that share their values."""

from __future__ import annotations

import pytest

from dissectors.kafka.columns.frame_picker import FactRows
from dissectors.matrix import new_matrix


def test_rows_share_the_values_that_are_one_object() -> None:
    rows, one, other = FactRows(), ("a", 1), ("b", None)
    for turn in range(2):  # what was taken is gone
        for number, values in enumerate((one, other, one, one)):
            rows.add(number + turn, -number, values)
        assert rows.rows == 4
        assert rows.distinct == [one, other]
        shared = new_matrix(2, 2)
        shared[0, 0], shared[1, 0], shared[0, 1], shared[1, 1] = 10, 11, 20, 21
        matrix = new_matrix(4, 4)
        rows.take(shared, matrix)
        assert matrix.tolist() == [
            [turn + number for number in range(4)],
            [0, -1, -2, -3],
            [10, 20, 10, 10],
            [11, 21, 11, 11],
        ]
        assert (rows.rows, rows.distinct) == (0, [])


def test_values_that_are_gone_are_not_taken_for_new_ones() -> None:
    """Python gives the id of an object that is gone to another one."""
    rows = FactRows()
    for number in range(1000):
        rows.add(number, 0, (number,) * 3)
    assert [values[0] for values in rows.distinct] == list(range(1000))


@pytest.mark.parametrize("shape", [(2, 1, 4, 2), (2, 2, 3, 2), (2, 2, 4, 1)])
def test_matrices_without_room_are_refused(shape: tuple[int, int, int, int]) -> None:
    rows = FactRows()
    for number in range(2):
        rows.add(number, 0, (number, 0))
    with pytest.raises(ValueError, match="are needed"):
        rows.take(new_matrix(*shape[:2]), new_matrix(*shape[2:]))
    assert rows.rows == 2
