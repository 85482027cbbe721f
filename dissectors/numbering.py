"""Numbers the columns of a matrix in the order in which they are declared, one line a column; names of numbered constants."""

from __future__ import annotations

from collections.abc import Mapping


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


def words(table: Mapping[str, int], prefix: str) -> tuple[str, ...]:
    """The names of a table's constants that begin with `prefix`, without it and in lower case: word 0, word 1 and so on.

    Raises ValueError when their numbers have gaps or come twice.
    """
    by_number = {number: name for name, number in table.items() if name.startswith(prefix)}
    if sorted(by_number) != list(range(sum(name.startswith(prefix) for name in table))):
        raise ValueError(f"the constants {prefix}... are not numbered 0, 1, 2 and so on")
    return tuple(by_number[number].removeprefix(prefix).lower() for number in range(len(by_number)))
