"""Rows of a metric as sections read them: many of them take little memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import duckdb


class MetricRows(Sequence[dict[str, Any]]):
    """Rows by name of column. A dictionary is made when a row is read: of 40 columns it takes three times what its values take, and
    of a hundred thousand clients a table shows the first thousand."""

    def __init__(self, names: Sequence[str], values: Sequence[tuple[Any, ...]]) -> None:
        self._names = tuple(names)
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = self._names
        return (dict(zip(names, values, strict=True)) for values in self._values)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> MetricRows: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | MetricRows:
        if isinstance(at, slice):
            return MetricRows(self._names, self._values[at])
        return dict(zip(self._names, self._values[at], strict=True))


def fetched(result: duckdb.DuckDBPyConnection, most: int | None = None) -> MetricRows:
    """The rows of an answer of the engine, or the first `most` that were not taken yet."""
    names = [column[0] for column in result.description or ()]
    return MetricRows(names, result.fetchall() if most is None else result.fetchmany(most))
