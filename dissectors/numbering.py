"""Numbers the columns of a matrix in the order in which they are declared, one line a column."""

from __future__ import annotations


class Numbering:
    """Gives out column numbers from `first` on. `count` is the number that comes next: at the end, the number of columns."""

    def __init__(self, first: int = 0) -> None:
        self.count = first

    def column(self) -> int:
        """One column."""
        return self.columns(1)

    def pair(self) -> int:
        """Two columns: that of side 0, whose number is returned, and that of side 1 right after it."""
        return self.columns(2)

    def columns(self, number: int) -> int:
        """So many columns in a row; returns the number of the first."""
        first = self.count
        self.count += number
        return first
