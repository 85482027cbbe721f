"""Rows with names, as pandas, Polars and Arrow know them: moments as timestamps, durations as durations, words as categories.

Arrow does the work: `typed` gives its columns their types, and pandas and Polars take them over.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analyzer.base.tables import TABLES, is_key, is_moment, is_word
from analyzer.base.text import exchange_id
from analyzer.notebook.shown_text import html_table
from analyzer.report.format import duration, moment, safe, things

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# Rows that a notebook shows.
SHOWN_ROWS = 20
_DOCUMENTED = frozenset(column.name for columns in TABLES.values() for column in columns)


class Convertible:
    """What has rows: `to_pandas`, `to_polars` and `to_arrow` give them types, `to_pylist` gives plain numbers.

    A moment is a timestamp in UTC, to the nanosecond; other columns whose names end in `_ns` or `_ms` are durations; words of a
    small set, such as `status`, are categories. Numbers of bytes, keys, and timestamps in messages (`_timestamp_ms`) are
    integers. Null stays null.
    """

    def _plain(self) -> pyarrow.Table:
        """The rows with the types of docs/tables.md."""
        raise NotImplementedError

    def _has_type(self, column: str) -> bool:
        """Whether a column is what its name says."""
        del column
        return True

    @cached_property
    def _typed(self) -> pyarrow.Table:
        return typed(self._plain(), self._has_type)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table: timestamp[ns, UTC], duration[ns], duration[ms], dictionaries."""
        return self._typed

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame: datetime64[ns, UTC], timedelta64, category; Int64 and the like, and boolean, which know null.

        Raises ModuleNotFoundError where pandas is not installed.
        """
        pandas = _imported("pandas")
        nullable = {
            "int8": pandas.Int8Dtype(),
            "int16": pandas.Int16Dtype(),
            "int32": pandas.Int32Dtype(),
            "int64": pandas.Int64Dtype(),
            "bool": pandas.BooleanDtype(),
        }
        return self._typed.to_pandas(types_mapper=lambda kind: nullable.get(str(kind)))

    def to_polars(self) -> polars.DataFrame:
        """A Polars DataFrame: Datetime("ns", "UTC"), Duration, Categorical. Raises ModuleNotFoundError where Polars is not
        installed.
        """
        return _imported("polars").from_arrow(self._typed)

    def to_pylist(self) -> list[dict[str, Any]]:
        """Dictionaries of plain values: moments and durations are whole numbers of ns, keys are numbers."""
        rows: list[dict[str, Any]] = self._plain().to_pylist()
        return rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow table, for any library that takes Arrow streams: DuckDB, Polars, pandas."""
        return self._typed.__arrow_c_stream__(requested_schema)


class Frame(Convertible):
    """A table, a metric, or the answer to a SELECT; see `Convertible`. `len` is the number of rows."""

    def __init__(self, table: pyarrow.Table, is_ours: bool = True) -> None:
        """`is_ours`: names follow our rules. In the answer to anybody's SELECT only the names of documented columns do."""
        self._table = table
        self._is_ours = is_ours

    def _plain(self) -> pyarrow.Table:
        return self._table

    def _has_type(self, column: str) -> bool:
        return self._is_ours or column in _DOCUMENTED

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __repr__(self) -> str:
        return f"<Frame of {things(len(self), 'row')}: {safe(', '.join(self.columns))}>"

    def _repr_html_(self) -> str:
        shown = self._table.slice(0, SHOWN_ROWS).to_pylist()
        caption = things(len(self), "row") + (f", the first {SHOWN_ROWS} are shown" if len(self) > SHOWN_ROWS else "")
        rows = ([_cell(name, value, self._has_type(name)) for name, value in row.items()] for row in shown)
        return html_table(self.columns, rows, caption)


def typed(table: pyarrow.Table, has_type: Callable[[str], bool]) -> pyarrow.Table:
    """The table with types that say what its columns are, where `has_type` says that a column is what its name says."""
    import pyarrow

    columns = [
        _typed(name, column) if has_type(name) else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pyarrow.Table.from_arrays(columns, names=table.column_names)


def _typed(name: str, column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    import pyarrow
    import pyarrow.compute

    if name.endswith("_ns") and pyarrow.types.is_floating(column.type):
        column = pyarrow.compute.round(column).cast(pyarrow.int64())
    if name.endswith("_ns") and column.type == pyarrow.int64():
        return column.cast(pyarrow.timestamp("ns", "UTC") if is_moment(name) else pyarrow.duration("ns"))
    if _is_ms(name) and pyarrow.types.is_integer(column.type):
        return column.cast(pyarrow.int64()).cast(pyarrow.duration("ms"))
    return column.dictionary_encode() if is_word(name) and column.type == pyarrow.string() else column


def _is_ms(name: str) -> bool:
    """Whether a column holds durations in ms; `_timestamp_ms` are not, and nor are they moments: some values are marks."""
    return name.endswith("_ms") and not name.endswith("timestamp_ms")


def _cell(name: str, value: Any, has_type: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        if is_key(name):
            return exchange_id(value)
        if has_type and name.endswith("_ns"):
            return moment(value, 9) if is_moment(name) else duration(value)
        if has_type and _is_ms(name):
            return duration(value * 1_000_000)
    return safe(value) if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else safe(str(value))


def _imported(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"to_{name} needs {name}, which is not installed: pip install {name}", name=name
        ) from None
