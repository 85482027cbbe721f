"""Final tables as a dataset of Parquet files that `kanalyze DIR` reads: TABLE/part-*.parquet, and a manifest, written last.

Executors write the files themselves, to whatever `analyzer.base.storage` reaches: Spark needs no jar for it. A
file is named after the partition that it holds, so a task that runs twice writes the same file twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from analyzer.base import temp_folders
from analyzer.base.storage.addresses import is_storage_uri, parse_address
from analyzer.base.storage.objects import find_object, list_folder, object_writer
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.query.dataset import Dataset
from analyzer.query.days import DAY_NS, day_directory
from analyzer.query.export_tables import Written, copy_rows, manifest
from analyzer.query.exported import hidden
from analyzer.query.hours import SUMS, beside, worth_writing, write_sums
from analyzer.query.manifest import MANIFEST, PARQUET
from analyzer.query.table_views import parquet
from analyzer.spark.dataflow import partition_number
from analyzer.spark.rows import FINAL, PIECE_BYTES, conform, files, keep, tuples
from analyzer.spark.session import SparkError, told
from analyzer.spark.stages import room

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from analyzer.spark.final import Final
    from analyzer.spark.job import Tables

    Tell = Callable[[str], None]

STORED = "file string, rows bigint, bytes bigint"
GROUP_ROWS = 65_536
GROUP_BYTES = 32 << 20
# The large table, which has a directory for each day (UTC) where captures span several.
BY_DAY = "exchanges"
OF_SUMS = "exchanges"
# Those by topic need the entries of a file's exchanges. Some of these are in other files: rows that moved.
SUM_NAMES = tuple(sums.name for sums in SUMS if not sums.of_topics)
DAY = f"coalesce(request_time_ns, response_time_ns) div {DAY_NS}"


class Stored(NamedTuple):
    """A file that an executor stored, by its name below the dataset's directory."""

    file: str
    rows: int
    bytes: int


def check_free(place: str) -> None:
    """Raises SparkError when there is anything at a place, StorageError when nobody can get there."""
    if is_storage_uri(place):
        names = {entry.address.key.rpartition("/")[2] for entry in list_folder(parse_address(place))}
    else:
        folder = Path(place)
        if folder.exists() and not folder.is_dir():
            raise SparkError(f"{place} is a file; name a new directory")
        names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if names and names <= {*TABLES, *SUM_NAMES}:
        raise SparkError(
            f"{place} holds tables and no {MANIFEST}, as a run leaves them that is under way, failed or was killed; "
            "if none is at work there, remove them, or name a new directory"
        )
    if names:
        raise SparkError(f"{place} is not empty; name a new directory")


def write(tables: Tables, place: str, tell: Tell = lambda _: None) -> dict[str, int]:
    """Writes every final table below `place` (a URI or a path, new or empty) and then the manifest; answers their rows.

    Exchanges of captures of several days have a directory for each. `tell` hears a line of each table. Raises SparkError for
    what went wrong on executors, OSError for the place.
    """
    check_free(place)
    if not is_storage_uri(place):
        place = str(Path(place).absolute())
    files = _write_filtered(tables, place) if tables.filtered else _write_files(tables, place)
    counts = {table: sum(file.rows for file in written) for table, written in files.items()}
    for table, rows in counts.items():
        tell(f"{table}: {rows:,} rows written")
    with _writing(place, MANIFEST) as out:
        out.write(manifest(tables.inputs, PARQUET, files).encode())
    if not tables.filtered:
        tables.written(place)
    return counts


def _write_files(tables: Tables, place: str) -> dict[str, list[Written]]:
    """The files of final tables, as they were made, and of exchanges the sums that are much shorter."""
    exchanges = tables.final.files[OF_SUMS]
    names = worth_writing(tables.final.sums, sum(file.rows for file in exchanges)) if exchanges else []

    def store(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return store_files(batches, place, names)

    with told():
        found = tables.final.frame.select("table", "task", "batch").mapInArrow(store, STORED).collect()
    stored = [Stored(*row) for row in found]
    _check(stored, place)
    rows = {file.file: file.rows for file in stored}
    sums = {
        name: [file._replace(file=to, rows=rows[to]) for file in exchanges for to in (beside(file.file, name),)]
        for name in names
    }
    made = {table: written or [_write_empty(table, place)] for table, written in tables.final.files.items()}
    return made | sums


def write_hidden(final: Final, place: str) -> None:
    """Writes final tables that are added to a dataset that grows, hidden. Raises SparkError, and OSError for the place."""

    def store(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name, _, pieces in files(tuples(batches)):
            yield _as_row(_store(pieces, hidden(name.removeprefix(FINAL)), place))

    with told():
        found = final.frame.select("table", "task", "batch").mapInArrow(store, STORED).collect()
    _check([Stored(*row) for row in found], place)


def store_files(
    batches: Iterable[pa.RecordBatch], place: str, sums: Collection[str] = SUM_NAMES
) -> Iterator[pa.RecordBatch]:
    """Runs on an executor: files out of rows of `rows.SHAPE`, each under its name, and those sums of exchanges."""
    for name, _, pieces in files(tuples(batches)):
        file = name.removeprefix(FINAL)
        if sums and file.startswith(f"{OF_SUMS}/"):
            yield from _with_sums(pieces, file, place, sums)
        else:
            yield _as_row(_store(pieces, file, place))


def _with_sums(pieces: Iterable[bytes], file: str, place: str, names: Collection[str]) -> Iterator[pa.RecordBatch]:
    """A file of exchanges, and its sums of these names."""
    folder = temp_folders.make(room(None))
    try:
        path = folder / file
        path.parent.mkdir(parents=True)
        keep(pieces, path)
        counted = write_sums([file], folder, None, threads=1, names=names)
        for name, rows in ((file, 0), *((beside(file, sums), rows) for sums, rows in counted.items())):
            yield _as_row(_store_from(folder, name, rows, place))
    finally:
        temp_folders.remove(folder)


def _store_from(folder: Path, file: str, rows: int, place: str) -> Stored:
    with (folder / file).open("rb") as source:
        return _store(iter(partial(source.read, PIECE_BYTES), b""), file, place)._replace(rows=rows)


def _store(pieces: Iterable[bytes], file: str, place: str) -> Stored:
    size = 0
    with _writing(place, file) as out:
        for piece in pieces:
            out.write(piece)
            size += len(piece)
    return Stored(file, 0, size)


def _as_row(file: Stored) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([value]) for value in file], names=list(Stored._fields))


def _check(written: Iterable[Stored], place: str) -> None:
    """Executors may have written to disks of their own, which nobody else sees."""
    for file in written:
        if _size(place, file.file) != file.bytes:
            raise SparkError(
                f"{place}/{file.file} was written, but is not visible here; choose a place that all machines share"
            )


def _write_empty(table: str, place: str) -> Written:
    return Written(_store_rows((), table, f"{table}/part-00000.parquet", place).file, 0)


def _write_filtered(tables: Tables, place: str) -> dict[str, list[Written]]:
    """What filters leave of the tables: whether a row stays may depend on rows of other runs."""
    found = {}
    for table in TABLES:
        stored = _write_table(tables[table], table, place, tables.several_days and table == BY_DAY)
        found[table] = [Written(file.file, file.rows) for file in stored] or [_write_empty(table, place)]
    return found


def _write_table(rows: DataFrame, table: str, place: str, by_day: bool) -> list[Stored]:
    columns = [f"`{column.name}`" for column in TABLES[table]]
    chosen = rows.selectExpr(*columns, f"{DAY if by_day else 'CAST(NULL AS bigint)'} AS day")
    if by_day:
        chosen = chosen.sortWithinPartitions("day")

    def store(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return store_partition(batches, partition_number(), table, place)

    with told():
        files = [Stored(*row) for row in chosen.mapInArrow(store, STORED).collect()]
    _check(files, place)
    return files


def store_partition(batches: Iterable[pa.RecordBatch], number: int, table: str, place: str) -> Iterator[pa.RecordBatch]:
    """Runs on an executor: one partition as one file, or one for each day; the last column is the day."""
    part = f"part-{number:05}.parquet"
    schema = arrow_schema(table)
    pieces = (piece for batch in batches for piece in _days(batch))
    for day, of_day in groupby(pieces, key=itemgetter(0)):
        yield _as_row(_store_rows((conform(rows, schema) for _, rows in of_day), table, f"{table}/{day}{part}", place))


def _days(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The batch, which is sorted by its last column, in pieces of one day, each with the directory of the day."""
    days = batch.column(batch.num_columns - 1).to_pylist()
    rows = batch.select(range(batch.num_columns - 1))
    start = 0
    for day, same in groupby(days):
        count = sum(1 for _ in same)
        yield ("" if day is None else f"{day_directory(day)}/"), rows.slice(start, count)
        start += count


def _store_rows(batches: Iterable[pa.RecordBatch], table: str, file: str, place: str) -> Stored:
    """Writes rows of a table as a file. DuckDB makes it, as all files of tables, so that its Parquet schema is theirs."""
    import pyarrow.parquet as pq

    folder = temp_folders.make(room(None))
    try:
        made = folder / "made.parquet"
        with pq.ParquetWriter(made, arrow_schema(table), compression="zstd") as writer:
            for rows in _row_groups(batches):
                writer.write_table(rows)
        (folder / file).parent.mkdir(parents=True)
        with Dataset({"made": parquet([made])}, threads=1) as dataset:
            written = copy_rows(dataset, table, "SELECT * FROM made", folder, file)
        return _store_from(folder, file, written.rows, place)
    finally:
        temp_folders.remove(folder)


def _row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in pieces of some size, however small the batches are."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= GROUP_ROWS or sum(each.nbytes for each in waiting) >= GROUP_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


@contextmanager
def _writing(place: str, file: str) -> Iterator[Any]:
    """A binary stream that becomes the file when the block ends well."""
    if is_storage_uri(place):
        with object_writer(parse_address(f"{place}/{file}")) as stream:
            yield stream
        return
    path = Path(place) / file
    path.parent.mkdir(parents=True, exist_ok=True)
    # No reader takes a file with this name for a part of a table.
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with beside.open("wb") as stream:
            yield stream
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _size(place: str, file: str) -> int | None:
    """Bytes of a file; None when it is not there."""
    if is_storage_uri(place):
        found = find_object(parse_address(f"{place}/{file}"))
        return found.size_bytes if found else None
    path = Path(place) / file
    return path.stat().st_size if path.exists() else None
