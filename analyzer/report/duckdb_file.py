"""Tables, metrics and findings as one DuckDB file, which needs nothing beside it.

Schema `main` has the final tables and `findings`; schema `metrics` a table for each metric, grouped as it is by default. Tables
have the columns that SQL finds in addition (`analyzer.base.tables.more_in_sql`) as generated columns, which take no room. DuckDB
moves the rows of tables and metrics itself; none passes through Python.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base import temp_folders
from analyzer.base.filters import literal
from analyzer.base.outputs import PUBLIC, Output, new_file
from analyzer.base.storage.addresses import is_storage_uri, parse_address
from analyzer.base.storage.objects import find_object
from analyzer.base.tables import TABLES, more_in_sql
from analyzer.base.text import file_text
from analyzer.query import metrics
from analyzer.query.export import quoted
from analyzer.query.run_findings import find
from analyzer.report.finding_rows import as_table

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

ENDING = ".duckdb"
# Any DuckDB since 1.1 opens it.
_ATTACH = "ATTACH {place} AS exported (STORAGE_VERSION 'v1.0.0', BLOCK_SIZE {block_bytes})"
# Each column of a hundred tables takes a block at least, so that small blocks make a small file of a small capture. Of a large one
# (measured: 870,000 packets) they make a file that is 39 % larger, and slower to read.
_SMALL_BLOCK_BYTES, _BLOCK_BYTES = 16_384, 262_144
_FEW_PACKETS = 200_000
_PIECE_BYTES = 1 << 20


class Counts(NamedTuple):
    """What a file holds: rows of each table, how many metrics and findings."""

    tables: dict[str, int]
    metrics: int
    findings: int


def check_free(to: str) -> None:
    """Raises FileExistsError when there is something at the place of the file, here or in object storage; StorageError when
    storage does not answer.
    """
    there = find_object(parse_address(to)) if is_storage_uri(to) else Path(to).exists() or Path(to).is_symlink()
    if there:
        raise FileExistsError(errno.EEXIST, "is already there; name a new file", to)


def export(dataset: Dataset, to: str) -> Counts:
    """Writes the file. FileExistsError when there is one, OSError when it cannot be written, StorageError when storage does not
    take it. What a failed run wrote is removed.
    """
    check_free(to)
    with _finished_at(dataset, to) as path:
        dataset.query(_ATTACH.format(place=literal(str(path)), block_bytes=_block_bytes(dataset)))
        try:
            return _write(dataset)
        finally:
            dataset.query("DETACH exported")


def _block_bytes(dataset: Dataset) -> int:
    (captured,) = dataset.query("SELECT coalesce(sum(packets), 0) AS packets FROM captures")
    return _SMALL_BLOCK_BYTES if captured["packets"] < _FEW_PACKETS else _BLOCK_BYTES


def _write(dataset: Dataset) -> Counts:
    rows = {table: _copy(dataset, f"exported.{table}", f"SELECT * FROM {table}", table) for table in TABLES}
    dataset.query("CREATE SCHEMA exported.metrics")
    for name in metrics.names():
        _copy(dataset, f"exported.metrics.{name}", dataset.settings.folded(metrics.text(name)))
    return Counts(rows, len(metrics.names()), _copy_findings(dataset))


def _copy_findings(dataset: Dataset) -> int:
    import duckdb  # noqa: F401 (what lets connections read Arrow tables)

    connection = dataset.connection()
    connection.register("found", as_table(find(dataset)))
    try:
        return _copy(dataset, "exported.findings", "SELECT * FROM found", "findings")
    finally:
        connection.unregister("found")


def _copy(dataset: Dataset, name: str, select: str, table: str = "") -> int:
    """Creates a table with the columns of a SELECT and those that SQL finds in addition, and fills it; answers its rows."""
    rows = f"SELECT * FROM (\n{select}\n) AS rows"
    kinds = {row["column_name"]: row["column_type"] for row in dataset.query(f"DESCRIBE {rows}")}
    columns = [f"{quoted(column)} {kind}" for column, kind in kinds.items()]
    columns += [f"{column} AS ({sql}) VIRTUAL" for column, sql in more_in_sql(table, kinds).items()]
    dataset.query(f"CREATE TABLE {name} ({', '.join(columns)})")
    (counted,) = dataset.query(f"INSERT INTO {name} BY NAME {rows}")
    return int(counted["Count"])


@contextmanager
def _finished_at(dataset: Dataset, to: str) -> Iterator[Path]:
    """A path for DuckDB, whose file is at `to` when all went well, and nowhere when not."""
    if not is_storage_uri(to):
        Path(to).parent.mkdir(parents=True, exist_ok=True)
    with Output(to, temp_dir=dataset.temp_directory).file() as path:
        if file_text(str(path)) == str(path):
            yield path
            return
        # DuckDB opens local files by names that are text only.
        below = temp_folders.make(dataset.temp_directory)
        try:
            yield below / f"tables{ENDING}"
            with (below / f"tables{ENDING}").open("rb") as source, new_file(path, PUBLIC) as sink:
                shutil.copyfileobj(source, sink, _PIECE_BYTES)
        finally:
            temp_folders.remove(below)
