"""Rows of a stage on their way to a raw table."""

from __future__ import annotations

from collections.abc import Callable

from dissectors.kafka.columns.exchanges import label
from dissectors.matrix import new_matrix


class RowMatrix:
    """A matrix that fills up and is emptied into a raw table, which takes a copy."""

    def __init__(self, columns: int, size: int) -> None:
        self.columns = columns
        self.size = size
        self.rows = 0
        self.matrix = new_matrix(columns, size)

    def label(self, frames: memoryview, matrix: memoryview, rows: int, columns: int, flush: Callable[[], None]) -> None:
        """Takes the entries or errors of a batch of frames, with the LABEL_ columns; `flush` empties it whenever it is full: a
        message with a million rows must not cost a second matrix as large."""
        row = 0
        while row < rows:
            if self.rows == self.size:
                flush()
            first, row = row, min(rows, row + self.size - self.rows)
            self.rows = label(frames, matrix, first, row, columns, self.matrix, self.rows)
