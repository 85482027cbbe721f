"""Matrices between stages: zeroed, of any size, and an answer for memory that is not there."""

from __future__ import annotations

import mmap

import pytest

from dissectors import layout
from dissectors.matrix import new_matrix


@pytest.mark.parametrize("rows", [1, 100, 100_000])
def test_a_matrix_is_zeroed_and_its_own(rows: int) -> None:
    one, other = new_matrix(3, rows), new_matrix(3, rows)
    one[2, rows - 1] = layout.UNKNOWN
    assert one[2, rows - 1] == layout.UNKNOWN
    assert other[2, rows - 1] == 0
    assert other.nbytes == 3 * 8 * rows


def test_memory_that_is_not_there_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line says for it which limits to lower; an OSError would be a full disk."""

    def none_left(*_: object, **__: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", none_left)
    with pytest.raises(MemoryError):
        new_matrix(10, 1_000_000)
