"""Rows of a stage on their way to a raw table."""

from __future__ import annotations

from dissectors.matrix import new_matrix


class RowMatrix:
    """A matrix that fills up and is emptied into a raw table, which takes a copy."""

    def __init__(self, columns: int, size: int) -> None:
        self.columns = columns
        self.size = size
        self.rows = 0
        self.matrix = new_matrix(columns, size)

    def reserve(self, rows: int) -> None:
        """Makes an empty matrix large enough for one batch of `rows`."""
        if rows > self.size:
            self.size = rows
            self.matrix = new_matrix(self.columns, rows)
