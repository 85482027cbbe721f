"""All tables of a dataset as files in a new directory, here or in object storage, and the manifest that makes it a dataset.

As CSV or JSON lines a table is one file, TABLE.csv. As Parquet it is a directory, TABLE/part-00000.parquet and so on, as
`kanalyze spark` writes it. DuckDB writes these files itself: rows never pass through Python, and all its threads share a file.
A large export is cut into slices of time, the same for all tables: a file of a large table with a moment in its rows is a slice,
so that a question for a time reads a few files, and of a file few row groups. Within a file, and in tables without a moment, rows
are in the order in which they were captured, in a slice replies without a request last. The manifest, written last, names the
files of each table in the order of time, their rows and the first and last moment in them.
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from analyzer.base import temp_folders
from analyzer.base.filters import literal
from analyzer.base.outputs import PUBLIC, full_disk, new_file
from analyzer.base.storage.addresses import Address, StorageError, is_storage_uri, parse_address
from analyzer.base.storage.objects import object_writer, remove_object
from analyzer.base.tables import TABLES
from analyzer.base.text import file_text
from analyzer.query.export import Rows, in_files, write
from analyzer.query.manifest import MANIFEST, PARQUET
from analyzer.query.table_directories import folder
from analyzer.query.table_views import null_column
from analyzer.version import VERSION

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

# Level 1 of zstd makes files a fifth smaller than lz4 for a twentieth more time; level 3 takes as much time again and saves little.
# Bloom filters would cost a twentieth, and the engine writes none for keys, the columns that people search. By default the engine
# tries a dictionary of up to 24,576 values, a fifth of a row group; for ids and moments, which do not repeat, it now stops sooner.
# With `parquet_version v2` the engine writes DELTA_BINARY_PACKED for every integer without a dictionary. Of 150 MB of packets
# exchanges became 3 % smaller, entries 26 % larger (zstd finds where a key, a hash, repeats), all tables together 2 % larger.
COPY_OPTIONS = (
    "format parquet, compression zstd, compression_level 1, dictionary_size_limit 4000, "
    "write_bloom_filter false, return_stats"
)
# A slice of time has at most so many exchanges (four row groups of DuckDB's size), unless a single second has more.
SLICE_ROWS = 500_000
SECOND_NS = 1_000_000_000
_PIECE_BYTES = 1 << 20
# The moment of a row, for tables that have one: the first of these whose columns the table has.
MOMENTS = (("request_time_ns", "response_time_ns"), ("time_ns",), ("begin_ns",), ("first_time_ns",))


class Written(NamedTuple):
    """One file of a table, by its name below the dataset's directory. The moments are the least and the greatest that its rows have
    (in the columns of `MOMENTS`), ns since the epoch; null: no row has one.
    """

    file: str
    rows: int
    first_time_ns: int | None = None
    last_time_ns: int | None = None


def check_free(to: Path | str) -> None:
    """Raises FileExistsError when a directory, here or in object storage, holds anything; NotADirectoryError when it, or
    what it shall lie in, is a file; StorageError when storage does not answer.
    """
    if not is_storage_uri(str(to)):
        there = next((path for path in (Path(to), *Path(to).parents) if path.exists()), None)
        if there and not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is a file; name a new directory", str(there))
    # What a killed run left is removed by this one.
    if any(not temp_folders.is_of_a_run(name) for name in folder(to).names()):
        raise FileExistsError(errno.EEXIST, "is not empty; name a new directory", str(to))


def export(dataset: Dataset, to: Path | str, form: str) -> dict[str, int]:
    """Writes every table into a directory, here or in object storage, and last of all the manifest that makes it a dataset.

    Answers the rows of each table. `FileExistsError` when the directory holds anything, `NotADirectoryError` when it is a
    file, StorageError when storage does not take it. What a failed run wrote is removed.
    """
    check_free(to)
    stored = isinstance(to, str) and is_storage_uri(to)
    target = _Bucket(parse_address(str(to))) if stored else _Directory(Path(to))
    files: dict[str, list[Written]] = {}
    try:
        borders = _borders(dataset) if form == PARQUET else []
        for table in TABLES:
            with target.naming(), dataset.asking(f"table {table.replace('_', ' ')}"):
                if form == PARQUET:
                    files[table] = target.take(dataset, table, borders)
                else:
                    files[table] = [_in_one(dataset, table, form, target)]
        inputs = [row["path"] for row in dataset.query("select path from captures order by file")]
        with target.naming(), target.writing(MANIFEST) as sink:
            sink.write(manifest(inputs, form, files).encode())
        target.finish()
    except BaseException:
        target.undo()
        raise
    return {table: sum(file.rows for file in written) for table, written in files.items()}


def manifest(inputs: list[str], form: str, files: Mapping[str, list[Written]]) -> str:
    """What an exported directory says of itself: who wrote it, from which inputs, in which format; rows and files per table."""
    told = {
        "kanalyze": VERSION,
        "format": form,
        "inputs": inputs,
        "tables": {table: sum(file.rows for file in written) for table, written in files.items()},
        "files": {table: [file._asdict() for file in written] for table, written in files.items()},
    }
    return json.dumps(told, indent=2) + "\n"


def _in_one(dataset: Dataset, table: str, form: str, target: _Directory | _Bucket) -> Written:
    name = f"{table}.{form}"
    with target.writing(name) as sink:
        return Written(name, write(Rows(dataset, in_files(table, form)), form, sink))


def _borders(dataset: Dataset) -> list[int]:
    """The moments between slices of time, ns since the epoch, each a full second; none where all exchanges are one slice."""
    second = f"{_first_known(_moments('exchanges'))} // {SECOND_NS}"
    seconds = dataset.query(
        f"select {second} as second, count(*) as rows from exchanges group by second order by second"
    )
    borders: list[int] = []
    held = 0
    for row in seconds:
        if held and held + row["rows"] > SLICE_ROWS and row["second"] is not None:
            borders.append(row["second"] * SECOND_NS)
            held = 0
        held += row["rows"]
    return borders


def _moments(table: str) -> tuple[str, ...]:
    """The columns whose first value that is not null is the moment of a row; none for a table without."""
    names = {column.name for column in TABLES[table]}
    return next((columns for columns in MOMENTS if names.issuperset(columns)), ())


def _first_known(columns: Sequence[str]) -> str:
    return f"coalesce({', '.join((*columns, 'null'))})"


def _slices(dataset: Dataset, table: str, borders: list[int]) -> list[str]:
    """A SELECT for each file of a table.

    The condition is about a single column, whose statistics tell the engine which row groups lie in other slices: else each
    slice would read all rows. Rows without it (replies without a request) are asked for apart, if there are any.
    """
    every = f"select * from {table}"
    if not borders or not _moments(table):
        return [every]
    column, *others = _moments(table)
    (told,) = dataset.query(f"select count(*) as rows, count({column}) as timed from {table}")
    if told["rows"] <= SLICE_ROWS:
        return [every]
    spans = list(pairwise((None, *borders, None)))
    slices = [f"{every} where {_within(column, *span)}" for span in spans]
    if told["timed"] == told["rows"]:
        return slices
    other = _first_known(others)
    untimed = [f"({_within(other, *span)}{'' if span[0] else f' or {other} is null'})" for span in spans]
    return [
        f"{rows} union all {every} where {column} is null and {apart}"
        for rows, apart in zip(slices, untimed, strict=True)
    ]


def _within(moment: str, begin: int | None, end: int | None) -> str:
    limits = ((begin, ">="), (end, "<"))
    return " and ".join(f"{moment} {sign} {limit}" for limit, sign in limits if limit is not None)


def _copied(dataset: Dataset, table: str, below: Path, borders: list[int]) -> list[Written]:
    """Writes the files of a table to the directory `below/table`, whose name is text."""
    (below / table).mkdir()
    files = []
    for number, rows in enumerate(_slices(dataset, table, borders)):
        name = f"{table}/part-{number:05}.parquet"
        files.append(copy_rows(dataset, table, rows, below, name))
    return files


def copy_rows(dataset: Dataset, table: str, rows: str, below: Path, name: str) -> Written:
    """Writes rows of a table, the result of a SELECT, as the Parquet file `below/name`, whose name is text."""
    place = literal(str((below / name).absolute()))
    made = in_files(table, PARQUET, f"({rows} union all by name {_no_rows(table)}) as made")
    (row,) = dataset.query(f"copy ({made}) to {place} ({COPY_OPTIONS})")
    return Written(name, row["count"], *_span(row["column_statistics"]))


def _no_rows(table: str) -> str:
    """A SELECT without rows, which DuckDB finds out only when it runs. So it declares every column as one that may be null, as in
    the other files of the table.
    """
    # Texts may be of an ENUM type (`analyzer.run.repeated_texts`): the engine writes its numbers as they are.
    columns = (f'null as "{name}"' if kind == "string" else null_column(name, kind) for name, kind, _ in TABLES[table])
    return f"select {', '.join(columns)} from range(0)"


def _span(statistics: Mapping[str, Mapping[str, str]]) -> tuple[int | None, int | None]:
    """The first and the last moment of a file, as DuckDB tells them when it has written it."""
    columns = next((columns for columns in MOMENTS if f'"{columns[0]}"' in statistics), ())
    told = [statistics[f'"{column}"'] for column in columns]
    first = min((int(each["min"]) for each in told if "min" in each), default=None)
    return first, max((int(each["max"]) for each in told if "max" in each), default=None)


class _Directory:
    """A directory of this machine, new or empty; one that was there is kept when the export fails. What is written lies in a hidden
    one inside until all is there: a run that is killed leaves nothing else, and the next one removes that."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._existed = path.exists()
        path.mkdir(parents=True, exist_ok=True)
        self._hidden = temp_folders.make_beside(path.absolute() / MANIFEST)
        self._made = self._hidden / "made"
        self._made.mkdir()
        self._moved: list[Path] = []

    def naming(self) -> AbstractContextManager[None]:
        """Where errors of a full disk say whose it is."""
        return full_disk(self._made, file_text(str(self._path)))

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        return new_file(self._made / name, PUBLIC)

    def take(self, dataset: Dataset, table: str, borders: list[int]) -> list[Written]:
        if file_text(str(self._made)) == str(self._made):
            return _copied(dataset, table, self._made, borders)
        # DuckDB opens files by names that are text only.
        with _staging(dataset) as below:
            files = _copied(dataset, table, below, borders)
            shutil.move(below / table, self._made / table)
            return files

    def finish(self) -> None:
        """Moves all to its place; the manifest, which makes a dataset of it, last."""
        for each in sorted(self._made.iterdir(), key=lambda each: each.name == MANIFEST):
            each.rename(self._path / each.name)
            self._moved.append(self._path / each.name)
        temp_folders.remove(self._hidden)

    def undo(self) -> None:
        """Removes what was begun."""
        temp_folders.remove(self._hidden)
        for path in self._moved:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        if not self._existed:
            self._path.rmdir()


class _Bucket:
    """A place in object storage: it is there when something lies in it. DuckDB writes to a temporary directory, from which files
    are taken one after the other."""

    def __init__(self, at: Address) -> None:
        self._at = at
        self._begun: list[str] = []

    def naming(self) -> AbstractContextManager[None]:
        """Storage names itself."""
        return nullcontext()

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        self._begun.append(name)
        return object_writer(self._at.inside(name))

    def take(self, dataset: Dataset, table: str, borders: list[int]) -> list[Written]:
        with _staging(dataset) as below:
            files = _copied(dataset, table, below, borders)
            for file in files:
                with (below / file.file).open("rb") as source, self.writing(file.file) as sink:
                    shutil.copyfileobj(source, sink, _PIECE_BYTES)
            return files

    def finish(self) -> None:
        """All is where it should be."""

    def undo(self) -> None:
        """Removes what was begun, as far as storage lets us: what ended the export is what a person must hear."""
        for name in self._begun:
            with suppress(StorageError):
                remove_object(self._at.inside(name))


@contextmanager
def _staging(dataset: Dataset) -> Iterator[Path]:
    """A temporary directory beside the other temporary files of the dataset."""
    below = temp_folders.make(dataset.temp_directory)
    try:
        yield below
    finally:
        temp_folders.remove(below)
