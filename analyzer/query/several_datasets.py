"""Several exported datasets as one: the rows of all, with their captures numbered on.

Connections do not go on from one to the other: one that was open between them is a connection of each. Datasets that have a
capture in common are refused, as its rows would count twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

from analyzer.base import temp_folders
from analyzer.base.filters import Filters
from analyzer.base.tables import TABLES
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.exported import Exported, is_dataset, known, read_exported
from analyzer.query.hours import Hours
from analyzer.query.partitions import MERGED
from analyzer.query.table_views import NEAR

View = str | Callable[[], str]


def open_datasets(places: Sequence[str], *, unsafe_sql: bool = False, **options: Any) -> Dataset:
    """Opens exported directories, at least two; arguments as those of `open_dataset`. Raises DatasetError, StorageError."""
    if strangers := [place for place in places if not is_dataset(place)]:
        raise DatasetError(f"{strangers[0]} is no dataset and {places[0]} is one; name captures or datasets, not both")
    with ExitStack() as undone:
        temporary = temp_folders.make(options.pop("temp_directory", None))
        undone.callback(temp_folders.remove, temporary)
        filters = options.pop("filters", None) or Filters()
        if filters.waits_for_captures:
            filters = known([read_exported(place, temporary, Filters()) for place in places], filters)
        found = []
        for place in places:
            found.append(read_exported(place, temporary, filters))
            undone.callback(found[-1].close)
        first_files = _first_files(places, found)
        tables = list(dict.fromkeys(name for each in found for name in each.views))
        views = {name: partial(_together, name, found, first_files) for name in tables}
        cleanup = undone.pop_all()
        try:
            return Dataset(
                views,
                cleanup=cleanup.close,
                temp_directory=temporary,
                hours=_hours(found),
                files_in=None if unsafe_sql else [place for each in found for place in each.files_in],
                filters=filters,
                **options,
            )
        except BaseException:
            cleanup.close()
            raise


def _first_files(places: Sequence[str], found: Sequence[Exported]) -> list[int]:
    """The number of the first capture of each dataset among those of all. Raises DatasetError."""
    views: dict[str, View] = {f"captures_{place}": each.views["captures"] for place, each in enumerate(found)}
    firsts: list[int] = []
    known: dict[tuple[Any, ...], int] = {}
    following = 0
    with Dataset(views, threads=1) as dataset:
        for place in range(len(found)):
            firsts.append(following)
            rows = dataset.query(
                f"SELECT file, path, bytes, packets, first_time_ns, last_time_ns FROM captures_{place}"
            )
            following += 1 + max((row["file"] for row in rows), default=-1)
            for row in rows:
                # The same bytes and packets are the same capture, whatever it is called.
                same = (row["bytes"], row["packets"], row["first_time_ns"], row["last_time_ns"])
                if row["packets"] and known.setdefault(same, place) != place:
                    raise DatasetError(
                        f"{row['path']} is in {places[known[same]]} and in {places[place]}; its rows would count twice"
                    )
    return firsts


def _together(name: str, found: Sequence[Exported], first_files: Sequence[int]) -> str:
    """SQL of a table of all datasets; of NEAR and a table the rows of about the time, or all where a dataset has few."""
    table = name.removeprefix(NEAR)
    numbers = [column.name for column in TABLES[table] if column.name == "file" or column.name.endswith("_file")]
    parts = []
    for each, first in zip(found, first_files, strict=True):
        view = each.views.get(name) or each.views.get(table)
        if view is None:
            continue
        shifted = ", ".join(f"CAST({column} + {first} AS INTEGER) AS {column}" for column in numbers)
        rows = view if isinstance(view, str) else view()
        parts.append(f"SELECT *{f' REPLACE ({shifted})' if numbers else ''} FROM ({rows})")
    rows = " UNION ALL BY NAME ".join(parts)
    return MERGED[table].format(rows=rows) if table in MERGED else rows


def _hours(found: Sequence[Exported]) -> Hours | None:
    """The sums that all datasets have."""
    known = [each.hours.files if each.hours else {} for each in found]
    shared = [name for name in known[0] if all(name in files for files in known)]

    def together(name: str) -> list[Path]:
        return [path for files in known for path in files[name]()]

    return Hours({name: cache(partial(together, name)) for name in shared}) if shared else None
