"""Datasets that were exported: a directory here or in object storage with a manifest and a Parquet file or directory per table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.base import temp_folders
from analyzer.base.filters import Filters
from analyzer.base.storage.addresses import StorageError
from analyzer.base.tables import TABLES
from analyzer.base.text import file_text
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.hours import SUM_NAMES, Hours, beside
from analyzer.query.manifest import MANIFEST, MOST_BYTES, checked
from analyzer.query.table_directories import Folder, folder, table_files
from analyzer.query.table_views import NEAR, no_rows, null_column, parquet

# No glob of a table looks below a name that begins so. What a dataset that grows keeps for itself lies there, and files whose rows
# do not count (`growing`).
OWN = "_kanalyze"
HIDDEN = f"{OWN}/hidden"
# Tables whose files tell the moments of exchanges. A question for a time reads those of its time alone.
OF_EXCHANGES = ("exchanges", "entries", "errors", "batches")


def hidden(name: str) -> str:
    """The name of a table's file while its rows do not count. All are in one directory: where the last object of one is taken away
    clients of storage put another in its place."""
    return f"{HIDDEN}/{name.replace('/', '~')}"


def _plain(name: str) -> str:
    """The reverse."""
    return name.removeprefix(f"{HIDDEN}/").replace("~", "/")


class _Told(NamedTuple):
    """What a manifest says: rows of each table; `files`: their names by table, None where the directories tell them; `spans`: of
    each file of a table the first and the last moment, ns, where its rows have one."""

    rows: dict[str, int]
    files: dict[str, list[str]] | None = None
    moving: bool = False
    spans: dict[str, dict[str, tuple[int | None, int | None]]] = {}  # noqa: RUF012 (never changed)

    def near(self, table: str, names: Sequence[str], filters: Filters) -> list[str]:
        """Those of the files that may have rows within the time that the filters leave."""
        spans = self.spans.get(table, {})
        return [name for name in names if _overlaps(*spans.get(name, (None, None)), filters)]


def _overlaps(first: int | None, last: int | None, filters: Filters) -> bool:
    if first is None or last is None:
        return True
    return (filters.from_ns is None or last >= filters.from_ns) and (filters.to_ns is None or first < filters.to_ns)


def is_dataset(place: Path | str) -> bool:
    """Whether a place is a directory that `kanalyze export` or `kanalyze spark` wrote: it has a manifest, or Parquet files of a
    table. Raises StorageError when storage does not answer.
    """
    try:
        where = folder(place)
    except StorageError:
        return False  # `expand` says what is wrong with it
    return where.holds(MANIFEST) or any(table_files(where, table) for table in TABLES)


class Exported(NamedTuple):
    """An exported directory. `views`: SQL of its tables as `Dataset` takes it, which reads files in `files_in`: directories, and
    files by themselves; `close` removes what was copied."""

    views: dict[str, str | Callable[[], str]]
    hours: Hours | None
    files_in: tuple[Path, ...]
    close: Callable[[], None]


def open_dataset(place: Path | str, *, unsafe_sql: bool = False, **options: Any) -> Dataset:
    """Opens an exported directory, here or in object storage; `options` are keyword arguments of Dataset. With `unsafe_sql` SQL of
    a person may read files beside those of the dataset.

    Missing columns are null, so exports of other versions can be read. A table in storage is copied to the temporary
    directory when it is first read. Raises DatasetError, StorageError.
    """
    temporary = temp_folders.make(options.pop("temp_directory", None))
    try:
        filters = options.pop("filters", None) or Filters()
        if filters.waits_for_captures:
            filters = known([read_exported(place, temporary, Filters())], filters)
        found = read_exported(place, temporary, filters)

        def cleanup() -> None:
            found.close()
            temp_folders.remove(temporary)

        files_in = None if unsafe_sql else found.files_in
        return Dataset(
            found.views,
            cleanup=cleanup,
            temp_directory=temporary,
            hours=found.hours,
            files_in=files_in,
            filters=filters,
            **options,
        )
    except BaseException:
        temp_folders.remove(temporary)
        raise


def known(found: Sequence[Exported], filters: Filters) -> Filters:
    """The filters with moments as numbers, for the captures of these datasets, which it closes. Raises MomentError,
    DatasetError."""
    with ExitStack() as closed:
        for each in found:
            closed.callback(each.close)
        return filters.at(*_time_of(found))


def _time_of(found: Sequence[Exported]) -> tuple[int | None, int | None]:
    """The first and the last moment of all their captures."""
    with Dataset(
        {f"captures_{place}": each.views["captures"] for place, each in enumerate(found)}, threads=1
    ) as dataset:
        rows = " UNION ALL ".join(
            f"SELECT first_time_ns, last_time_ns FROM captures_{place}" for place in range(len(found))
        )
        (span,) = dataset.query(f"SELECT min(first_time_ns) AS first, max(last_time_ns) AS last FROM ({rows})")
    return span["first"], span["last"]


def read_exported(place: Path | str, temporary: Path, filters: Filters) -> Exported:
    """What an exported directory holds; copies go below `temporary`. Raises DatasetError, StorageError."""
    where = folder(place, temporary)
    if file_text(str(where)) != str(where):
        raise DatasetError(
            f"{file_text(str(where))}: the name is not UTF-8, which Parquet files cannot be read from; rename it"
        )
    told = _check_manifest(where)
    counts = told.rows
    if told.files is not None:
        files = {table: _where_they_are(where, names, told.moving) for table, names in told.files.items() if names}
    else:
        # Google's storage shows no folders: what the manifest names is looked for in them.
        files = {
            table: found for table in (*TABLES, *SUM_NAMES) if (found := table_files(where, table, table in counts))
        }
    files_in = (
        (temporary,) if where.is_remote else _places(Path(place), [name for each in files.values() for name in each])
    )
    sums = {name: files.pop(name) for name in SUM_NAMES if name in files}
    hours = _hours(where, sums, told, filters, files.get("exchanges", []))
    if not files:
        raise DatasetError(f"{where}: contains no tables of kanalyze, expected exchanges.parquet and others")
    for table, rows in counts.items():
        if rows and table in TABLES and table not in files:
            raise DatasetError(f"{where}: {table} is missing, the manifest says it has {rows:,} rows; export again")
    # Without rows nothing is planned for it (`Dataset.is_logged`).
    if counts.get("log_requests") == 0:
        files.pop("log_requests", None)
    late = {table: partial(_completed, where, table, names, counts.get(table)) for table, names in files.items()}
    for table in OF_EXCHANGES:
        names = files.get(table, [])
        near = told.near(table, [_plain(name) for name in names], filters)
        if len(near) < len(names):
            kept = [name for name in names if _plain(name) in set(near)]
            late[f"{NEAR}{table}"] = partial(_completed, where, table, kept, None)
    views: dict[str, str | Callable[[], str]] = dict(late)
    if not where.is_remote:
        views = {table: sql() for table, sql in late.items()}
    return Exported(views, hours, files_in, where.close)


def _places(place: Path, names: Iterable[str]) -> tuple[Path, ...]:
    """A directory of this machine, and those of its files that lie elsewhere: links may name them."""
    below = os.path.realpath(place) + os.sep
    elsewhere = (path for name in names if not os.path.realpath(path := place / name).startswith(below))
    return (place, *elsewhere)


def _hours(
    where: Folder, sums: Mapping[str, Sequence[str]], told: _Told, filters: Filters, exchanges: Sequence[str]
) -> Hours | None:
    """The sums of a dataset that each file of exchanges has: an older kanalyze wrote fewer. None without any."""
    files = {}
    for name, names in sums.items():
        near = set(told.near(name, [_plain(each) for each in names], filters))
        if near and {_plain(each) for each in names} == {beside(_plain(each), name) for each in exchanges}:
            files[name] = cache(partial(where.local_paths, [each for each in names if _plain(each) in near]))
    return Hours(files) if files else None


def _where_they_are(where: Folder, names: Sequence[str], moving: bool) -> list[str]:
    """The names of files of a dataset that grows: they may be on their way from one place to the other."""
    if where.is_remote and not moving:
        return list(names)
    return [name if where.holds(name) else hidden(name) for name in names]


def _check_manifest(where: Folder) -> _Told:
    """What a manifest says. It is written last: where there should be one and is none, files may be missing."""
    if where.names().get(MANIFEST) is not False:
        where.check_answers()
        if where.is_remote or any(where.names().get(table) for table in TABLES):
            raise DatasetError(f"{where}: no {MANIFEST}, so the export is unfinished or failed; export again")
        return _Told({})
    told = checked(where.read(MANIFEST, MOST_BYTES), where)
    counts: dict[str, int] = told.get("tables") or {}
    written: dict[str, list[dict[str, Any]]] = told.get("files") or {}
    spans = {
        table: {file["file"]: (file.get("first_time_ns"), file.get("last_time_ns")) for file in files}
        for table, files in written.items()
    }
    files = None
    if "runs" in told:
        files = {table: [file["file"] for file in written[table]] for table in (*TABLES, *SUM_NAMES) if table in counts}
    return _Told(counts, files, bool(told.get("moving")), spans)


def _completed(where: Folder, table: str, names: Sequence[str], rows: int | None) -> str:
    """SQL for a table of an export, with exactly the columns of `TABLES`. Raises DatasetError when the manifest has another
    number of `rows`."""
    import pyarrow.parquet

    present: set[str] = set()
    held = 0
    paths = where.local_paths(names)
    for name, path in zip(names, paths, strict=True):
        try:
            about = pyarrow.parquet.read_metadata(path)
        except (OSError, pyarrow.ArrowException) as error:
            raise DatasetError(f"{where}/{name}: not a Parquet file that can be read") from error
        held += about.num_rows
        present.update(about.schema.to_arrow_schema().names)
    if rows is not None and held != rows:
        raise DatasetError(f"{where}: {table} has {held:,} rows, and the manifest says {rows:,}; export again")
    if not paths:
        return no_rows(table)
    columns = (f'"{name}"' if name in present else null_column(name, kind) for name, kind, _ in TABLES[table])
    return f"SELECT {', '.join(columns)} FROM ({parquet(paths)})"
