"""SQL of `resolve` where it is run over a part of all rows: with results as Parquet files, and results of others as views."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.filters import literal
from analyzer.base.memory import question_memory_bytes
from analyzer.base.tables import SQL_TYPES, TABLES
from analyzer.query.dataset import Dataset
from analyzer.query.export_tables import COPY_OPTIONS, copy_rows
from analyzer.query.table_views import parquet
from analyzer.run.raw_views import COMPUTED_ONCE

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.names.name_table import Names

# Name of a view -> its rows, a Parquet file: what travels between the processes that resolve.
Tables = dict[str, bytes]

# Several such processes share a machine.
MOST_MEMORY_BYTES = 1 << 30
# The order of the rows of a file, where it is not the order in which messages were read.
_TIMES = {"exchanges": "coalesce(request_time_ns, response_time_ns), exchange"}


@contextmanager
def opened(
    views: Mapping[str, str],
    folder: Path,
    options: Options,
    materialized: Collection[str] = COMPUTED_ONCE,
    types: Mapping[str, str] | None = None,
    names: Names | None = None,
) -> Iterator[Dataset]:
    """The views as a database of one thread, which spills below `folder`; those in `materialized` are computed once, `types` are
    the types that they name, and `names` those of addresses."""
    memory = options.memory_bytes or min(question_memory_bytes(), MOST_MEMORY_BYTES)
    with Dataset(
        views,
        materialized=materialized,
        types=types,
        names=names,
        threads=1,
        memory_bytes=memory,
        temp_directory=folder,
    ) as dataset:
        yield dataset


def given(tables: Tables, folder: Path) -> dict[str, str]:
    """Views of tables that came from elsewhere, materialized as files in `folder`."""
    folder.mkdir(exist_ok=True)
    for name, data in tables.items():
        (folder / f"{name}.parquet").write_bytes(data)
    return {name: parquet([folder / f"{name}.parquet"]) for name in tables}


class Part(NamedTuple):
    """Rows of a final table as a Parquet file, with the first and the last moment in them (`export_tables.Written`)."""

    data: bytes
    rows: int
    first_time_ns: int | None
    last_time_ns: int | None


def copied(dataset: Dataset, sql: str, path: Path) -> int:
    """Writes the rows of a SELECT into a Parquet file and returns how many there are."""
    (found,) = dataset.query(f"COPY ({sql}) TO {literal(str(path))} ({COPY_OPTIONS})")
    return int(found["count"])


def final(dataset: Dataset, table: str, path: Path, where: str = "true", source: str | None = None) -> Part | None:
    """The rows of a final table, written to `path`; None: there are none. `source`: the view that has the rows."""
    made = copy_rows(dataset, table, _final_rows(table, where, source), path.parent, path.name)
    return Part(path.read_bytes(), made.rows, made.first_time_ns, made.last_time_ns) if made.rows else None


def _final_rows(table: str, where: str, source: str | None) -> str:
    """SQL of the rows, with the columns and types that files of the table have."""
    # A text that is of an ENUM type is written as its number (`repeated_texts`).
    columns = ", ".join(
        f'"{name}"' if kind == "string" else f'CAST("{name}" AS {SQL_TYPES[kind]}) AS "{name}"'
        for name, kind, _ in TABLES[table]
    )
    order = f" ORDER BY {_TIMES[table]}" if table in _TIMES else ""
    return f"(SELECT {columns} FROM {source or f'all_{table}'} WHERE {where}{order})"
